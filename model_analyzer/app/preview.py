# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Shows what a run would do, without starting a server or writing files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.models import Models, fetched_for_user
from model_analyzer.app.bench.preflight import Preflight, preflight
from model_analyzer.app.bench.searched_subjects import examined_subjects, with_complete_models
from model_analyzer.app.bench.workplace import unusable_output
from model_analyzer.app.resume import starting_point
from model_analyzer.domain.models import group_name
from model_analyzer.domain.settings import (
    CheckpointSettings,
    ExecutorKind,
    LaunchMode,
    ProfileSettings,
)
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import Problem
from model_analyzer.forecast.run_plan import (
    Plan,
    Resumed,
    document_of,
    server_starts,
    trial_seconds,
    within_budget,
)
from model_analyzer.forecast.searches import Forecast, forecast
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
