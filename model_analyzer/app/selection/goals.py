# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The goals by which measurements in a checkpoint are judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Goal, GoalOverride, ModelGoal
from model_analyzer.domain.groups import group_members
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.state.checkpoint import Checkpoint


def goals_of(
    checkpoint: Checkpoint,
    subjects: Sequence[str],
    asked: GoalOverride,
    settings: ReportSettings | None = None,
) -> tuple[Mapping[str, Goal], Sequence[str]]:
    """The goal of each subject: what the command line asked for, then the YAML file (`settings`),
    then the run that is in the checkpoint, then the default. And remarks about what the run
    decided.
    """
    goals = {}
    of_run: dict[str, str] = {}
    for subject in subjects:
        names = group_members(subject)
        run = checkpoint.goal_of(subject)
        known = run.models if run is not None and len(run.models) == len(names) else None
        models = []
        for index, name in enumerate(names):
            base = ModelGoal() if known is None else known[index]
            in_file = settings.asked_goal(name) if settings is not None else GoalOverride()
            models.append(asked.over(in_file.over(base)))
            given = asked.over(in_file.over(ModelGoal(objectives=())))
            of_run[name] = _text_of_run(models[-1], given)
        goals[subject] = Goal(models=tuple(models))
    if len(set(of_run.values())) == 1:
        of_run = {"": next(iter(of_run.values()))}
    remarks = [
        f"goals of the run{f' for {name}' if name else ''}: {text}"
        for name, text in of_run.items()
        if text
    ]
    return goals, remarks


def _text_of_run(goal: ModelGoal, given: ModelGoal) -> str:
    """What of a goal was not given but comes from the run; "" where that is the default."""
    wishes = () if given.objectives else goal.objectives
    bounds = [bound for bound in goal.constraints if bound not in given.constraints]
    weighting = f"weighting {goal.weighting:g}" if goal.weighting != given.weighting else ""
    is_default = [wish.tag for wish in wishes] in ([], [DEFAULT_OBJECTIVE])
    if is_default and not (bounds or weighting):
        return ""
    texts = []
    for wish in wishes:
        weight = f" (weight {wish.weight:g})" if len(wishes) > 1 else ""
        texts.append(f"{METRICS[ALIASES.get(wish.tag, wish.tag)].name}{weight}")
    return "; ".join(filter(None, (", ".join(texts), *map(str, bounds), weighting)))
