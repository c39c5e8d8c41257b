# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks the variants of a checkpoint again, for the goals of the run or for others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.app.delivery.files import write_variants
from model_analyzer.app.selection.asked_goals import goals_of, priced
from model_analyzer.app.selection.conditions import ranked
from model_analyzer.app.selection.subjects import chosen_subjects
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.reports.build import Statement, state_answer
from model_analyzer.reports.parameters import swept_table
from model_analyzer.reports.tables import Table, answer_table, hardware_table
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.answer import Answer, ModelAnswer, answer_of, by_model
from model_analyzer.results.effects import effects
from model_analyzer.results.selection import top_with_default
from model_analyzer.state.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True, kw_only=True)
class BestVariants:
    """The answers of a checkpoint, remarks about their goals, how many variants count, and the
    directory for these, if they are to be written.
    """

    answers: Sequence[Answer]
    remarks: Sequence[str]
    count: int
    directory: ExportDirectory | None

    @property
    def models(self) -> Sequence[ModelAnswer]:
        """The answers of each model, one for each kind of hardware."""
        return by_model(self.answers)

    def hardware(self, model: ModelAnswer) -> Table:
        """The best of each kind of hardware."""
        return hardware_table(model.answers)

    def statement(self, answer: Answer) -> tuple[Statement, Table]:
        """The answer in words, with a table of its best variants and the default."""
        results = top_with_default(answer.ranking, self.count)
        return (
            state_answer(answer, complete=True),
            answer_table(results, answer.ranking.goal),
        )

    def swept(self, answer: Answer) -> Table | None:
        """The best result for each value that the user swept."""
        return swept_table(effects(answer.ranking))

    def write(self, answer: Answer) -> Sequence[Path]:
        """Writes the best variants with their measurements; the paths of the configurations."""
        if self.directory is None:
            return ()
        return write_variants(self.directory, answer, self.count)


def best_variants(
    checkpoint: Checkpoint,
    asked: GoalOverride,
    *,
    count: int,
    model: str | None = None,
    conditions: int | None = None,
    directory: Path | None = None,
    prices: Path | None = None,
) -> BestVariants:
    """The `count` best variants of each model, or of one, by the goals that are asked for or else
    those of the run; `prices` is a file with prices of hardware. Raises CheckpointError or
    ConfigError where there is nothing to rank, and OutputError where `directory` cannot be written
    to.
    """
    profile = priced(checkpoint.profile, prices, asked)
    names = chosen_subjects(checkpoint, model, several=True)
    goals, remarks = goals_of(checkpoint, names, asked)
    return BestVariants(
        answers=[
            answer_of(ranking)
            for name, goal in goals.items()
            for ranking in ranked(profile, name, goal, conditions)
        ],
        remarks=remarks,
        count=count,
        directory=None if directory is None else ExportDirectory(directory, "--output-dir"),
    )
