# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the options of a run were written: for what only the machine or the models show."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from model_analyzer.config.table import Given


@dataclass(frozen=True, slots=True)
class Places:
    """The places (`FILE:LINE:COLUMN`, flag or variable) of options: those of all models, and by
    name what each model has of its own.
    """

    given: Given = field(default_factory=Given)

    def of(self, option: str, model: str) -> str:
        """Where the option of a model was written, for this model or for all; else where the model
        was named.
        """
        own = self._models.get(model, {})
        return own.get(option) or self.given.where.get(option) or own.get("") or f"model {model}"

    def of_all(self, option: str) -> str:
        """Where an option that models do not have was written."""
        return self.given.where.get(option, option)

    def relative_paths(self, cwd: Path) -> Mapping[str, Path]:
        """Options whose path was written without the directory that it is meant from, with what
        it is from `cwd`.
        """
        return {
            option: cwd / os.path.normpath(value)
            for option, value in self.given.values.items()
            if isinstance(value, Path) and not value.is_absolute()
        }

    @property
    def _models(self) -> Mapping[str, Mapping[str, str]]:
        """By model the place of its name, under "", and those of its options."""
        found = {}
        for entry in self.given.values.get("profile_models") or ():
            parameters = entry.given.values.get("parameters")
            in_parameters = parameters.where if parameters else {}
            found[entry.name] = {"": entry.where, **entry.given.where, **in_parameters}
        return found
