# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares two checkpoints and judges the changes by the rules of `--fail-on`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from pathlib import Path

from model_analyzer.app.selection import goal_text, goals_of, measured_subjects, require_limits
from model_analyzer.config.goal_kinds import Tag
from model_analyzer.config.nodes import Node
from model_analyzer.domain.goals import Goal, GoalOverride
from model_analyzer.domain.hardware import WITHOUT_GPU, with_place
from model_analyzer.errors import CheckpointError, wrong
from model_analyzer.features.compare.comparison_page import comparison_page, render_comparison
from model_analyzer.features.compare.comparison_report import (
    ComparisonReport,
    Side,
    comparison_remarks,
)
from model_analyzer.features.compare.facts.comparison import Rule, compare, judge
from model_analyzer.reports.images import Images
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.find import LATEST
from model_analyzer.state.mismatch import checkpoint_differences


def parse_rule(text: str) -> Rule:
    """A rule of --fail-on. Raises ConfigError where it is not one."""
    try:
        rule = Rule.parse(text)
    except ValueError as error:
        raise wrong("--fail-on", str(error)) from error
    return replace(rule, tag=Tag().parse(Node(rule.tag, "--fail-on")))


def parse_metrics(text: str) -> list[str]:
    """The metrics of --metrics. Raises ConfigError where there is no such metric."""
    return [Tag().parse(Node(tag.strip(), "--metrics")) for tag in text.split(",")]


def checkpoint_place(text: str, directory: Path) -> tuple[str, Path]:
    """Which checkpoint of which directory BASE or NEW is: a directory, DIR@WHICH, or WHICH in
    `directory`.
    """
    path, at, which = text.rpartition("@")
    if os.path.isdir(whole := os.path.expanduser(text)):
        return LATEST, Path(whole)
    if at and os.path.isdir(part := os.path.expanduser(path)):
        return which, Path(part)
    return text, directory


def comparison(
    base: tuple[str, Checkpoint],
    new: tuple[str, Checkpoint],
    asked: GoalOverride,
    tags: Sequence[str],
    rules: Sequence[Rule],
    *,
    strict: bool,
) -> ComparisonReport:
    """The changes from one checkpoint to the other; each comes with the name that the user gave.

    Both sides are ranked by the goal of the new one's run, with the parts that are `asked` for in
    place of its own. `rules` are the regressions to detect, and `tags` the metrics to compare
    beside those of the goal and of the rules. Each kind of hardware is compared with the same kind.
    Raises CheckpointError if the checkpoints have no model in common, and ConfigError for goodput
    without latency constraints.
    """
    tags = [*tags, *(rule.tag for rule in rules)]
    goals, remarks_on_goals = _goals(base[1], new[1], asked)
    for goal in goals.values():
        require_limits(goal, tags)
    base_rankings, new_rankings = (_rankings(checkpoint, goals) for _, checkpoint in (base, new))
    base_rankings = [ranking for ranking in base_rankings if ranking.results]
    pairs = [*_pairs(base_rankings, new_rankings)]
    if not pairs:
        raise CheckpointError(
            f"nothing to compare: {base[0]} has measurements of {_names(base_rankings)}, {new[0]}"
            f" has outcomes of {_names(new_rankings)}"
        )
    comparisons = [
        compare(of_base, of_new, [*of_base.goal.wishes_first(tags)]) for of_base, of_new in pairs
    ]
    trials = [
        (comparison.best.base.trial, comparison.best.new.trial)
        for comparison in comparisons
        if comparison.best is not None
    ]
    remarks = (
        ["BASE and NEW are the same checkpoint, so they show no change"]
        if base[1].holds_same_as(new[1])
        else [text for comparison in comparisons for text in comparison_remarks(comparison)]
    )
    remarks += remarks_on_goals
    remarks += _unmatched("BASE", base_rankings, {id(of_base) for of_base, _ in pairs})
    remarks += _unmatched("NEW", new_rankings, {id(of_new) for _, of_new in pairs})
    return ComparisonReport(
        base=_side(*base),
        new=_side(*new),
        differences=tuple(
            (difference.subject, difference.then, difference.now)
            for difference in checkpoint_differences(base[1], new[1], trials)
        ),
        remarks=tuple(remarks),
        comparisons=tuple(comparisons),
        rankings=tuple(pairs),
        judgements=tuple(
            judge(rule, comparison, strict=strict) for comparison in comparisons for rule in rules
        ),
    )


def page_of(report: ComparisonReport) -> tuple[str, Sequence[str]]:
    """The comparison as an HTML page, and remarks about images that are missing in it."""
    page = comparison_page(report)
    with Images() as images:
        drawings = images.svg(page.charts, "the comparison")
        return render_comparison(page, drawings), images.remarks()


def _pairs(base: Sequence[Ranking], new: Sequence[Ranking]) -> Iterator[tuple[Ranking, Ranking]]:
    """The rankings of the same model on the same kind of hardware. If each side has one kind, these
    may differ: then the difference is reported.
    """
    for of_base in base:
        for of_new in new:
            are_single = not of_base.hardware and not of_new.hardware
            if of_base.model == of_new.model and (are_single or of_base.kind == of_new.kind):
                yield of_base, of_new


def _unmatched(side: str, rankings: Iterable[Ranking], compared: Set[int]) -> Iterator[str]:
    unmatched = [ranking for ranking in rankings if id(ranking) not in compared]
    if unmatched:
        yield f"only in {side}, so not compared: {_names(unmatched)}"


def _goals(
    base: Checkpoint, new: Checkpoint, asked: GoalOverride
) -> tuple[Mapping[str, Goal], Sequence[str]]:
    """The goal of each measured model or group, and remarks on those that come from a run."""
    in_base, in_new = measured_subjects(base), measured_subjects(new)
    goals, remarks = goals_of(new, [*in_new], asked)
    others, more = goals_of(base, [name for name in in_base if name not in in_new], asked)
    both = [name for name in in_base if name in in_new]
    of_base, _ = goals_of(base, both, asked)
    differing = [
        f"{name} was measured with other goals in BASE:"
        f" {', '.join(map(goal_text, of_base[name].models))}"
        for name in both
        if of_base[name] != goals[name]
    ]
    return {**goals, **others}, [*remarks, *more, *differing]


def _rankings(checkpoint: Checkpoint, goals: Mapping[str, Goal]) -> Sequence[Ranking]:
    """The rankings of each measured model or group, one for each kind of hardware."""
    return [
        ranking
        for model in measured_subjects(checkpoint)
        for ranking in rank(checkpoint.profile, model, goals[model])
    ]


def _names(rankings: Iterable[Ranking]) -> str:
    return ", ".join(map(_name, rankings)) or "nothing"


def _name(ranking: Ranking) -> str:
    has_gpus = ranking.kind != WITHOUT_GPU
    return with_place(ranking.model, ranking.kind if has_gpus else ranking.hardware)


def _side(name: str, checkpoint: Checkpoint) -> Side:
    return Side(name=name, uuid=checkpoint.header.uuid, time=checkpoint.header.time)
