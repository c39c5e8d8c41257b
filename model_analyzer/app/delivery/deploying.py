# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How to deploy the answers of a checkpoint: for the pages that show them, and for the terminal."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.app.delivery.files import (
    configuration_difference,
    head_of,
    is_of_openai,
    masked_configurations,
)
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.settings import ProfileSettings, ReportSettings
from model_analyzer.reports.alternatives import Deployment, goal_flags
from model_analyzer.results.answer import Answer
from model_analyzer.results.ranking import Ranking

_NO_GOALS: Mapping[str, Goal] = {}

_MANIFEST = " --format kubernetes"

# Pages have the configurations of so many of the best variants.
_MOST_CONFIGURATIONS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploying:
    """What a command needs to give the same recommendation again: the `checkpoint` in a `directory`
    with a `prefix`, and where the goals and prices come from. `other_goals` has, by subject, each
    goal that differs from the goal in the checkpoint. `originals` are the configurations in the
    model repository, by model.
    """

    checkpoint: Path | None
    directory: Path
    prefix: str
    config_file: Path | None
    prices: Path | None
    originals: Mapping[str, ModelConfig]
    other_goals: Mapping[str, Goal]

    @classmethod
    def of_run(
        cls,
        checkpoint: Path | None,
        settings: ProfileSettings,
        originals: Mapping[str, ModelConfig],
        other_goals: Mapping[str, Goal] = _NO_GOALS,
    ) -> Deploying:
        """With the settings of `profile` or `analyze`."""
        return cls(
            checkpoint=checkpoint,
            directory=settings.checkpoint.directory,
            prefix=settings.checkpoint.prefix,
            config_file=settings.config_file,
            prices=settings.prices,
            originals=originals,
            other_goals=other_goals,
        )

    @classmethod
    def of_report(
        cls,
        checkpoint: Path | None,
        settings: ReportSettings,
        originals: Mapping[str, ModelConfig],
        other_goals: Mapping[str, Goal],
    ) -> Deploying:
        """With the settings of `report`."""
        return cls(
            checkpoint=checkpoint,
            directory=settings.checkpoint_directory if checkpoint is None else checkpoint.parent,
            prefix=settings.checkpoint_prefix,
            config_file=settings.config_file,
            prices=settings.prices,
            originals=originals,
            other_goals=other_goals,
        )

    def deployment(self, answer: Answer) -> Deployment:
        """How to use an answer, for its page, with masked secrets."""
        ranking = answer.ranking
        return Deployment(
            configuration=head_of(answer) + masked_configurations(answer.best)
            if answer.best
            else "",
            difference=configuration_difference(answer.best, ranking, self.originals, masks=True),
            command=self.command(answer),
            start=shlex.join(self._words(ranking)) if self._is_named(ranking) else "",
            configurations=tuple(
                (
                    masked_configurations(result),
                    configuration_difference(result, ranking, self.originals, masks=True),
                )
                for result in ranking.results[:_MOST_CONFIGURATIONS]
            ),
        )

    def command(self, answer: Answer) -> str:
        """The command that gives the same recommendation from the checkpoint; "" if there is none
        to deploy, or if the ranking is across models.
        """
        ranking = answer.ranking
        if not (self._is_named(ranking) and answer.is_met) or is_of_openai(ranking):
            return ""
        goal = self.other_goals.get(ranking.model)
        words = [*self._words(ranking)]
        if goal is not None and len(set(goal.models)) == 1:
            return f"{shlex.join(words)} {goal_flags(goal.models[0], ends=True)}{_MANIFEST}"
        if goal is not None and self.config_file is not None:
            words += ["-f", _short(self.config_file)]
        return f"{shlex.join(words)}{_MANIFEST}"

    def _is_named(self, ranking: Ranking) -> bool:
        """Whether a command can name the model of the ranking."""
        return self.checkpoint is not None and not ranking.is_across_models

    def _words(self, ranking: Ranking) -> Sequence[str]:
        """The beginning of the command, without the goals."""
        words = ["model-analyzer", "best", "-m", ranking.model]
        if self.checkpoint is not None and self.checkpoint.parent != self.directory:
            words.append(_short(self.checkpoint))
        else:
            words += ["-s", _short(self.directory)]
            if self.prefix:
                words += ["--checkpoint-prefix", self.prefix]
        if self.prices is not None:
            words += ["--prices", _short(self.prices)]
        if ranking.group is not None and len(ranking.groups) > 1:
            words += ["--conditions", str(ranking.group.number)]
        return words


def _short(path: Path) -> str:
    """The path relative to the current directory, if it is inside it."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative
