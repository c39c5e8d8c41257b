# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The goals that rank the measurements in a checkpoint, and the prices that they are about."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from model_analyzer.app.selection.subjects import measured_subjects
from model_analyzer.config.price_files import read_prices
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Goal, GoalOverride, ModelGoal
from model_analyzer.domain.goodput import GOODPUT, WITHOUT_LIMITS, has_request_limits
from model_analyzer.domain.metrics import Source, metric_of
from model_analyzer.domain.model_names import group_members
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.errors import wrong
from model_analyzer.state.checkpoint import Checkpoint


def goals_of(
    checkpoint: Checkpoint,
    subjects: Sequence[str],
    flags: GoalOverride,
    settings: ReportSettings | None = None,
) -> tuple[Mapping[str, Goal], Sequence[str]]:
    """The goal of each subject, and remarks about parts that come from the run in the checkpoint.
    Each part comes from the first of: the command line (`flags`), the YAML file (`settings`), the
    run, the default. Raises ConfigError for goodput without latency constraints.
    """
    goals = {}
    of_run: dict[str, str] = {}
    for subject in subjects:
        names = group_members(subject)
        run = checkpoint.goal_of(subject)
        run_goals = run.models if run is not None and len(run.models) == len(names) else None
        models = []
        for index, name in enumerate(names):
            base = ModelGoal() if run_goals is None else run_goals[index]
            in_file = settings.asked_goal(name) if settings is not None else GoalOverride()
            models.append(flags.over(in_file.over(base)))
            given = flags.over(in_file.over(ModelGoal(objectives=())))
            of_run[name] = _text_of_run(models[-1], given)
        goals[subject] = Goal(models=tuple(models))
        require_limits(goals[subject], goals[subject].tags)
    if len(set(of_run.values())) == 1:
        of_run = {"": next(iter(of_run.values()))}
    remarks = [
        f"goals of the run{f' for {name}' if name else ''}: {text}"
        for name, text in of_run.items()
        if text
    ]
    return goals, remarks


def other_goals(checkpoint: Checkpoint, goals: Mapping[str, Goal]) -> Mapping[str, Goal]:
    """The goals that differ from those of the run in the checkpoint, by subject."""
    return {subject: goal for subject, goal in goals.items() if checkpoint.goal_of(subject) != goal}


def wishes_of_runs(checkpoint: Checkpoint) -> Sequence[str]:
    """What the runs of a checkpoint wished for, each metric once; none for plain throughput."""
    goals = filter(None, map(checkpoint.goal_of, measured_subjects(checkpoint)))
    return tuple(dict.fromkeys(tag for goal in goals for tag in goal.wishes_first(())))


def completed_records(checkpoint: Checkpoint) -> Iterator[tuple[str, TrialRecord]]:
    """Each record with its key, and with the metrics that follow from the goal of its run."""
    completions = {
        models: checkpoint.profile.completion(checkpoint.goal_of(models) or Goal(models=()))
        for models in checkpoint.records.models()
    }
    for key, record in checkpoint.records.items():
        complete = completions[record.trial.models]
        yield key, record._replace(outcome=complete(record.trial, record.outcome))


def given_or_of_run(
    checkpoint: Checkpoint, given: Mapping[str, Goal | None]
) -> tuple[Mapping[str, Goal], Sequence[str]]:
    """The goal of each subject: the `given` one as it is, or else, if that is None, the goal of the
    run in the checkpoint, with remarks as from `goals_of`.
    """
    others = [subject for subject, goal in given.items() if goal is None]
    of_run, remarks = goals_of(checkpoint, others, GoalOverride())
    return {subject: goal or of_run[subject] for subject, goal in given.items()}, remarks


def require_limits(goal: Goal, tags: Iterable[str]) -> None:
    """Raises ConfigError if goodput is one of the metrics to show, but the goal has no latency
    constraint.
    """
    if GOODPUT in tags and not has_request_limits(goal):
        raise wrong(
            "--metric",
            WITHOUT_LIMITS,
            "give --latency-budget, or --constraint 'perf_latency_p99<50'",
        )


def _text_of_run(goal: ModelGoal, given: ModelGoal) -> str:
    """The parts of a goal that come from the run, not from the user; "" if they are the default."""
    of_run = replace(
        goal,
        objectives=() if given.objectives else goal.objectives,
        constraints=tuple(bound for bound in goal.constraints if bound not in given.constraints),
        weighting=1 if goal.weighting == given.weighting else goal.weighting,
    )
    text = goal_text(of_run)
    return "" if text == metric_of(DEFAULT_OBJECTIVE).name else text


def goal_text(goal: ModelGoal) -> str:
    """What is wished for and required of a model, in words."""
    objectives, texts = goal.objectives, []
    for objective in objectives:
        weight = f" (weight {objective.weight:g})" if len(objectives) > 1 else ""
        texts.append(f"{metric_of(objective.tag).name}{weight}")
    weighting = f"weighting {goal.weighting:g}" if goal.weighting != 1 else ""
    return "; ".join(filter(None, (", ".join(texts), *map(str, goal.constraints), weighting)))


def priced(profile: Profile, path: Path | None, asked: GoalOverride) -> Profile:
    """The profile with the prices in a file, if there is one. Raises ConfigError for a file that is
    not valid, or if a goal that is `asked` for is about costs, and there are no prices.
    """
    if path is not None:
        return replace(profile, prices=read_prices(path))
    tags = [each.tag for each in asked.objectives or ()]
    tags += [each.tag for each in (*(asked.constraints or ()), *asked.bounds)]
    costs = [tag for tag in tags if metric_of(tag).source is Source.PRICES]
    if costs:
        raise wrong("--prices", f"{costs[0]} needs prices of the hardware: give a file with them")
    return profile
