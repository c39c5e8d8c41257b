# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the user wrote each option: for problems that only the machine or the models reveal."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from model_analyzer.config.goal_kinds import SHORTHANDS
from model_analyzer.config.table import Given
from model_analyzer.domain.models import entry_for

# The options that make the goal of a model.
_GOAL_KEYS = ("objectives", "constraints", "weighting", *SHORTHANDS)


@dataclass(frozen=True, slots=True)
class Places:
    """The place (`FILE:LINE:COLUMN`, flag or variable) of each option: the global options, and the
    options of each model or pattern.
    """

    given: Given = field(default_factory=Given)

    def for_model(self, option: str, model: str) -> str:
        """The place of an option of a model: its own, or else the global one, or else the place of
        the model's name.
        """
        own = self._models.get(entry_for(model, self._models) or "", {})
        return own.get(option) or self.given.where.get(option) or own.get("") or f"model {model}"

    def for_all(self, option: str) -> str:
        """The place of a global option."""
        return self.given.where.get(option, option)

    def has_goal(self, model: str = "") -> bool:
        """Whether the user gave a part of a goal: for this model, or for all."""
        own = self._models.get(entry_for(model, self._models) or "", {})
        return any(key in own or key in self.given.where for key in _GOAL_KEYS)

    def relative_paths(self, cwd: Path) -> Mapping[str, Path]:
        """Options with a relative path, and that path from `cwd`."""
        return {
            option: cwd / os.path.normpath(value)
            for option, value in self.given.values.items()
            if isinstance(value, Path) and not value.is_absolute()
        }

    @property
    def _models(self) -> Mapping[str, Mapping[str, str]]:
        """By model: the places of its options, and under "" the place of its name."""
        places = {}
        for entry in self.given.values.get("profile_models") or ():
            parameters = entry.given.values.get("parameters")
            in_parameters = parameters.where if parameters else {}
            places[entry.name] = {"": entry.where, **entry.given.where, **in_parameters}
        return places
