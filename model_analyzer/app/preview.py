# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Shows what a run would do, without starting a server or writing files; and checks a YAML file,
and the models that it names, without running anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from model_analyzer.app.bench.devices import Job
from model_analyzer.app.bench.searched_subjects import (
    Models,
    examined_subjects,
    fetched_for_user,
    with_complete_models,
)
from model_analyzer.app.bench.workplace import Preflight, preflight, unusable_output
from model_analyzer.app.resume import starting_point
from model_analyzer.config.resolve import check_file
from model_analyzer.config.sources import misspelled, read_environment, read_yaml
from model_analyzer.domain.models import group_name
from model_analyzer.domain.settings import (
    CheckpointSettings,
    ExecutorKind,
    LaunchMode,
    ProfileSettings,
)
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.forecast.run_plan import (
    Forecast,
    Plan,
    Resumed,
    document_of,
    forecast,
    server_starts,
    trial_seconds,
    within_budget,
)
from model_analyzer.search.plan import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The plan of each subject, in the order of the run; warnings; and problems. The run first
    observes the idle server for `idle_s` seconds. `resumed` is None for a fresh start.
    """

    plans: Sequence[Plan]
    warnings: Sequence[str]
    problems: Sequence[Problem]
    idle_s: float
    resumed: Resumed | None = None

    @property
    def document(self) -> Mapping[str, Any]:
        """The plans for programs."""
        return document_of(self.plans, self.idle_s, self.resumed)


def preview(job: Job) -> Preview:
    """The preview of a job; it has no plans if there are problems. Raises CheckpointError."""
    with ExitStack() as stack:
        job = fetched_for_user(job, stack)
        settings = job.settings
        checked = preflight(job, stack)
        has_gpus = bool(checked.devices.present)
        remarks: Sequence[str] = ()
        plans: Sequence[Plan] = ()
        resumed: Resumed | None = None
        problems = checked.problems or [*unusable_output(settings, job.places)]
        if not problems:
            subjects, remarks = _searched(job, checked.models)
            plans = tuple(_plans(settings, checked, subjects))
            resumed = _resumed(settings.checkpoint)
    return Preview(
        plans=plans,
        warnings=[*map(str, checked.warnings), *checked.remarks, *remarks],
        problems=problems,
        idle_s=settings.monitors.idle_s if has_gpus and settings.observes_idle else 0,
        resumed=resumed,
    )


def _resumed(settings: CheckpointSettings) -> Resumed | None:
    checkpoint = starting_point(settings)
    if checkpoint is None:
        return None
    measurements = sum(1 for _ in checkpoint.measurements())
    return Resumed(
        path=str(checkpoint.path),
        measurements=measurements,
        failures=len(checkpoint.records) - measurements,
    )


def _searched(job: Job, models: Models) -> tuple[Sequence[Subject], Sequence[str]]:
    """The subjects that are known without a server, and remarks about the search."""
    complete = with_complete_models(job.settings, models.unknown)
    return ((), ()) if complete is None else examined_subjects(complete, models.facts, job.places)


def _plans(
    settings: ProfileSettings, checked: Preflight, searched: Sequence[Subject]
) -> Iterator[Plan]:
    unknown = checked.models.unknown
    setups = checked.devices.setups
    goals = {model.name: model.goal for model in settings.models}
    of_models = {model.name: model for model in settings.models}
    groups = settings.subjects
    subjects = {subject.name: subject for subject in searched}
    previous: ServerSetup | None = None
    for names in groups:
        subject = subjects.get(group_name(names))
        plan = Plan(
            name=group_name(names),
            goals={name: goals[name] for name in names},
            trial_s=trial_seconds(
                [of_models[name] for name in names],
                own_s=0.0 if subject is None else subject.own_s,
            ),
            budget=settings.budget_of(names),
        )
        if subject is None:
            reasons = [unknown[name] for name in names if name in unknown]
            yield replace(plan, unknown="; ".join(reasons))
            continue
        setup = setups[names[0]]
        expected = _forecast(subject, settings, has_gpus=bool(checked.devices.present))
        expected = within_budget(expected, plan.budget, plan.trial_s)
        yield replace(
            plan,
            forecast=expected,
            replays={model.facts.name: model.replay for model in subject.models if model.replay},
            starts=server_starts(
                expected,
                settings.server,
                is_first=previous is None or previous.identity != setup.identity,
                on_gpus=checked.devices.shows_gpus,
            ),
        )
        previous = setup


def _forecast(subject: Subject, settings: ProfileSettings, *, has_gpus: bool) -> Forecast:
    # a remote server may have GPUs; on this machine, the driver shows all of them
    if not (has_gpus or settings.server.launch is LaunchMode.REMOTE):
        subject = subject.without_gpus()
    # a cluster may decide the number of slots: it is unknown then
    is_ray = settings.executor.kind is ExecutorKind.RAY
    slots = (is_ray and settings.executor.slots) or settings.server.count
    return forecast(subject, settings.search, slots=slots)


_LINE_AND_COLUMN = re.compile(r":(\d+):(\d+)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFile:
    """A file with its problems, remarks about it, and its relative paths by option. `missing` is
    what `profile` needs besides, on the command line or in the file.
    """

    name: str
    problems: Sequence[Problem] = ()
    remarks: Sequence[str] = ()
    missing: Sequence[Problem] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)

    @property
    def document(self) -> Mapping[str, Any]:
        """The same for programs."""
        return {
            "file": self.name,
            "valid": not self.problems,
            "problems": [_document(problem) for problem in self.problems],
            "remarks": list(self.remarks),
            "missing": [_document(problem) for problem in self.missing],
            "paths": {option: str(path) for option, path in self.paths.items()},
        }


def validate(name: str, environment: Mapping[str, str], *, with_models: bool) -> CheckedFile:
    """Checks the file `name`; `with_models`, also the models and GPUs that it names."""
    cwd = Path.cwd()
    unknown = [*misspelled(environment)]
    try:
        yaml = read_yaml(Path(name))
        resolved = check_file(yaml, cwd, environment=read_environment(environment))
    except ConfigError as error:
        problems = sorted(error.problems, key=_place)
        return CheckedFile(name=name, problems=problems, remarks=unknown)
    problems = []
    remarks = [*resolved.remarks, *unknown]
    if with_models:
        job = Job.of(resolved, environment)
        with ExitStack() as stack:
            checked = preflight(job, stack)
        problems = sorted(checked.problems, key=_place)
        problems = problems or [*unusable_output(job.settings, job.places)]
        remarks += [*map(str, checked.warnings), *checked.remarks]
        if not problems:
            try:
                remarks += _of_search(job, checked.models)
            except ConfigError as error:
                problems = sorted(error.problems, key=_place)
    return CheckedFile(
        name=name,
        problems=problems,
        remarks=remarks,
        missing=resolved.missing,
        paths=resolved.places.relative_paths(cwd),
    )


def _of_search(job: Job, models: Models) -> Sequence[str]:
    """Remarks about what the search will vary. Raises ConfigError if it cannot search."""
    settings = with_complete_models(job.settings, models.unknown)
    if settings is None:
        return ()
    _, remarks = examined_subjects(settings, models.facts, job.places)
    return remarks


def _place(problem: Problem) -> tuple[int, ...]:
    """Line and column of a problem; () for a problem of the whole file."""
    match = _LINE_AND_COLUMN.search(problem.where)
    return tuple(map(int, match.groups())) if match else ()


def _document(problem: Problem) -> Mapping[str, Any]:
    line, column = _place(problem) or (None, None)
    return {
        "where": problem.where,
        "line": line,
        "column": column,
        "what": problem.message,
        "hint": problem.hint or None,
    }
