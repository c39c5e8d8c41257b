# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Selects parts of a checkpoint for a command: subjects (models, and groups of models), the goals
that rank them, prices, and the group of conditions.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from model_analyzer.app.bench.devices import server_setups
from model_analyzer.app.bench.searched_subjects import inputs_of
from model_analyzer.config.given_options import GivenOptions
from model_analyzer.config.sources import read_prices
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Goal, GoalOverride, ModelGoal
from model_analyzer.domain.goodput import GOODPUT, WITHOUT_LIMITS, has_request_limits
from model_analyzer.domain.metrics import Source, metric_of
from model_analyzer.domain.models import group_members, group_name
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.settings import ModelSettings, ProfileSettings, ReportSettings
from model_analyzer.domain.trials import client_setup_of
from model_analyzer.errors import (
    CheckpointError,
    ConfigError,
    RepositoryError,
    UnusableCheckpoint,
    wrong,
)
from model_analyzer.reports.tables import Table
from model_analyzer.results.conditions import Group, Intended, differences
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.state.checkpoint import Checkpoint


def measured_subjects(checkpoint: Checkpoint) -> Mapping[str, int]:
    """The name of each subject with its number of models. If a group was measured in several
    orders, its last order counts.
    """
    last = {models: place for place, models in enumerate(checkpoint.records.models())}
    newest = {
        frozenset(group_members(models)): models for models in sorted(last, key=last.__getitem__)
    }
    subjects = dict.fromkeys(newest[frozenset(group_members(models))] for models in last)
    return {models: len(group_members(models)) for models in subjects}


def chosen_subjects(checkpoint: Checkpoint, model: str | None, *, several: bool) -> Sequence[str]:
    """The subject of the model, or all of them, where there may be `several`."""
    if model is not None:
        return [subject_of(checkpoint, model)]
    names = list(measured_subjects(checkpoint))
    if not names:
        raise CheckpointError(f"{checkpoint.path}: no measurements")
    if len(names) > 1 and not several:
        raise wrong("--model", f"several models were measured: choose one of {', '.join(names)}")
    return names


def subject_of(checkpoint: Checkpoint, model: str) -> str:
    """The subject with this name; or else the only subject that contains the model, in a group or
    as a composing model. Raises CheckpointError if there is none, or several.
    """
    subjects = measured_subjects(checkpoint)
    for name in (model, group_name([model])):
        if name in subjects:
            return name
    members = set(group_members(model))
    within = [name for name in subjects if members == set(group_members(name))]
    within = within or [name for name in subjects if members <= set(group_members(name))]
    within = within or [
        record.trial.models
        for record in checkpoint.profile.records
        for work in record.trial.workloads
        if model in {part.model for part in work.variant.with_parts()}
    ]
    match list(dict.fromkeys(within)):
        case [only]:
            return only
        case []:
            raise UnusableCheckpoint(
                f"{checkpoint.path}: model {model!r} was not measured;"
                f" measured: {', '.join(subjects)}"
            )
        case several:
            raise UnusableCheckpoint(
                f"{checkpoint.path}: model {model!r} was measured only in groups: choose one of"
                f" {', '.join(several)}"
            )


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
    """The objectives and constraints of a model, in words."""
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


log = logging.getLogger(__name__)


def ranked(
    profile: Profile,
    model: str,
    goal: Goal,
    conditions: int | None,
    run: ProfileSettings | None = None,
) -> Sequence[Ranking]:
    """The rankings of a model, one for each kind of hardware. `conditions` is the number of the
    only group of conditions to rank; None means those of the `run`, if it has measurements under
    them. Raises ConfigError if the number does not exist.
    """
    selected = conditions or (None if run is None else _intended(run, group_members(model)))
    try:
        return rank(profile, model, goal, conditions=selected)
    except ValueError as error:
        raise wrong("--conditions", f"{model}: {error}") from error


def default_rankings(checkpoint: Checkpoint) -> Sequence[Ranking]:
    """The rankings of each model by the default goal, one for each kind of hardware."""
    return [
        ranking
        for model, count in measured_subjects(checkpoint).items()
        for ranking in rank(checkpoint.profile, model, Goal(models=(ModelGoal(),) * count))
    ]


def conditions_tables(rankings: Iterable[Ranking]) -> Iterator[tuple[str, Table]]:
    """Each model that was measured under several conditions, with a table of them."""
    chosen: dict[str, dict[str, Group]] = {}
    groups: dict[str, Sequence[Group]] = {}
    for ranking in rankings:
        if ranking.group is not None and len(ranking.groups) > 1:
            chosen.setdefault(ranking.model, {})[ranking.kind] = ranking.group
            groups[ranking.model] = ranking.groups
    for model, by_kind in chosen.items():
        has_kinds = len({group.kind for group in groups[model]}) > 1
        yield (
            model,
            Table(
                headers=(
                    "Number",
                    *(["Hardware"] if has_kinds else []),
                    "Measurements",
                    "Of the current model",
                    "Different in",
                ),
                rows=tuple(
                    (
                        group.number,
                        *([group.kind] if has_kinds else []),
                        group.measurements,
                        group.current,
                        _difference(group, by_kind.get(group.kind)),
                    )
                    for group in groups[model]
                ),
            ),
        )


def _difference(group: Group, chosen: Group | None) -> str:
    """How a group differs from the one that is ranked on its kind of hardware."""
    if group is chosen:
        return "ranked by default"
    if chosen is None:
        return "older version of the model"
    parts = differences(group.sample, chosen.sample)
    return ", ".join(f"{part.subject} {part.then or 'not set'}" for part in parts)


def run_of(config_file: Path | None) -> ProfileSettings | None:
    """The settings of `profile` with this file; None if it is not a valid file for `profile`."""
    if config_file is None:
        return None
    try:
        return GivenOptions.of_file(config_file, os.environ, Path.cwd()).profile().settings
    except ConfigError as error:
        log.debug("%s is not a configuration for profile: %s", config_file, error)
        return None


def _intended(run: ProfileSettings, names: Sequence[str]) -> Intended | None:
    """The conditions of these models in the run; None if it does not measure all of them."""
    chosen = run.without_patterns(names)
    models: dict[str, ModelSettings] = {model.name: model for model in chosen.models}
    if not all(name in models for name in names):
        return None
    return Intended(
        setup=server_setups(chosen, (), {})[names[0]],
        clients=tuple(
            client_setup_of(
                models[name].perf_analyzer_flags, _inputs(models[name]), models[name].traffic
            )
            for name in names
        ),
        any_cache=not all(models[name].keeps_cache for name in names),
    )


def _inputs(model: ModelSettings) -> str:
    """The fingerprint of the input files; "" if they do not exist any more."""
    try:
        return inputs_of(model)
    except RepositoryError:
        return ""
