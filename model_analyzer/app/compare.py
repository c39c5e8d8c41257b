# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What changed between two checkpoints, and whether that is allowed."""

from __future__ import annotations

from collections.abc import Sequence

from model_analyzer.app.selection.subjects import measured_subjects
from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.errors import CheckpointError
from model_analyzer.reports.comparison_report import ComparisonReport, Side, comparison_remarks
from model_analyzer.results.comparison import compare
from model_analyzer.results.gate import Rule, judge
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.mismatch import checkpoint_differences


def comparison(
    base: tuple[str, Checkpoint],
    new: tuple[str, Checkpoint],
    goal: ModelGoal,
    tags: Sequence[str],
    rules: Sequence[Rule],
    *,
    strict: bool,
) -> ComparisonReport:
    """What changed from one checkpoint to the other, each with the name it was called by.

    `goal` judges every model, `tags` are the metrics to compare, and `rules` say what must not
    change. Raises CheckpointError where there is nothing to compare.
    """
    before, after = (_rankings(checkpoint, goal) for _, checkpoint in (base, new))
    before = {model: ranking for model, ranking in before.items() if ranking.results}
    common = [model for model in before if model in after]
    if not common:
        raise CheckpointError(
            f"nothing to compare: {base[0]} has measurements of {_names(before)}, {new[0]} has"
            f" outcomes of {_names(after)}"
        )
    comparisons = [compare(before[model], after[model], tags) for model in common]
    trials = [
        (one.best.base.trial, one.best.new.trial) for one in comparisons if one.best is not None
    ]
    remarks = [text for comparison in comparisons for text in comparison_remarks(comparison)]
    for names, where in ((before, "BASE"), (after, "NEW")):
        alone = [model for model in names if model not in common]
        if alone:
            remarks.append(f"only in {where}, so not compared: {', '.join(alone)}")
    return ComparisonReport(
        base=_side(*base),
        new=_side(*new),
        differences=tuple(
            (difference.what, difference.then, difference.now)
            for difference in checkpoint_differences(base[1], new[1], trials)
        ),
        remarks=tuple(remarks),
        comparisons=tuple(comparisons),
        judgements=tuple(
            judge(rule, comparison, strict=strict) for comparison in comparisons for rule in rules
        ),
    )


def _rankings(checkpoint: Checkpoint, goal: ModelGoal) -> dict[str, Ranking]:
    """By name of the model, or the names of those measured together."""
    return {
        model: rank(checkpoint.profile, model, Goal(models=(goal,) * count))
        for model, count in measured_subjects(checkpoint).items()
    }


def _names(models: Sequence[str] | dict[str, Ranking]) -> str:
    return ", ".join(models) or "nothing"


def _side(name: str, checkpoint: Checkpoint) -> Side:
    return Side(name=name, uuid=checkpoint.header.uuid, time=checkpoint.header.time)
