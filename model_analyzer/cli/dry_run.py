# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer profile --dry-run`: what the run would do. No server is started, nothing is
written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

from model_analyzer.cli.echo import echo
from model_analyzer.cli.launch import server_setups
from model_analyzer.cli.plan import Plan, document_of, lines_of, seconds_of_trial, within_budget
from model_analyzer.cli.preflight import Preflight, preflight
from model_analyzer.cli.subjects import subjects_of
from model_analyzer.config.resolve import Resolved
from model_analyzer.domain.profiles import Device
from model_analyzer.domain.settings import LaunchMode, ProfileSettings, ServerRestart
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import EXIT_OK
from model_analyzer.runner.gpus import VISIBLE_DEVICES, cuda_environment
from model_analyzer.search.forecast import Forecast, forecast
from model_analyzer.search.plan import Subject


def run(resolved: Resolved[ProfileSettings], *, as_json: bool) -> int:
    """Prints what `profile` would do with these settings; the exit status."""
    settings = resolved.settings
    for remark in resolved.remarks:
        echo(remark, err=True)
    with ExitStack() as stack:
        checked = preflight(settings, resolved.places, dict(os.environ), stack)
        for warning in checked.warnings:
            echo(str(warning), err=True)
        checked.raise_any()
        devices = checked.gpus.devices if checked.gpus else ()
        plans = [*_plans(settings, checked, devices)]
    observed = settings.monitors.always_gpus or not all(one.cpu_only for one in settings.models)
    idle_s = settings.monitors.idle_s if devices and observed else 0
    if as_json:
        echo(json.dumps(document_of(plans, idle_s), indent=2))
    else:
        for line in lines_of(plans, idle_s):
            echo(line)
    return EXIT_OK


def _plans(
    settings: ProfileSettings, checked: Preflight, devices: Sequence[Device]
) -> Iterator[Plan]:
    """The plan of each subject, in the order of the run."""
    for_cuda = cuda_environment(devices, settings.monitors.gpus)
    setups = server_setups(settings, devices, for_cuda)
    facts, unknown = checked.models.facts, checked.models.unknown
    goals = {model.name: model.goal for model in settings.models}
    trial_s = {model.name: seconds_of_trial(model.perf_analyzer_flags) for model in settings.models}
    groups = [[*goals]] if settings.search.together else [[name] for name in goals]
    whole = {name for names in groups if unknown.keys().isdisjoint(names) for name in names}
    models = tuple(model for model in settings.models if model.name in whole)
    known = subjects_of(replace(settings, models=models), facts) if models else ()
    subjects = {one.name: one for one in known}
    before: ServerSetup | None = None
    for names in groups:
        plan = Plan(
            name=",".join(names),
            goals={name: goals[name] for name in names},
            trial_s=max(trial_s[name] for name in names),
            budget_s=settings.adaptive.budget_s,
        )
        if plan.name not in subjects:
            reasons = [unknown[name] for name in names if name in unknown]
            yield replace(plan, unknown="; ".join(reasons))
            continue
        setup = setups[names[0]]
        found = _forecast(subjects[plan.name], settings, devices)
        found = within_budget(found, plan.budget_s, plan.trial_s)
        yield replace(
            plan,
            forecast=found,
            starts=_starts(
                found,
                settings,
                is_first=before is None or before.identity != setup.identity,
                on_gpus=bool(for_cuda.get(VISIBLE_DEVICES)),
            ),
        )
        before = setup


def _forecast(subject: Subject, settings: ProfileSettings, devices: Sequence[Device]) -> Forecast:
    # a remote server may have GPUs; here, what the driver does not show is not there
    if not (devices or settings.server.launch is LaunchMode.REMOTE):
        subject = subject.without_gpus()
    return forecast(
        subject,
        settings.search,
        settings.quick,
        settings.optuna,
        settings.adaptive,
        best=settings.export.best,
    )


def _starts(
    found: Forecast, settings: ProfileSettings, *, is_first: bool, on_gpus: bool
) -> int | None:
    """How many servers are started for a subject at most; failed loads may add to it."""
    match settings.server.launch, settings.server.restart:
        case LaunchMode.REMOTE, _:
            return 0
        case LaunchMode.C_API, _:
            return found.most_trials  # each measurement has its own
        case _, ServerRestart.NEVER:
            return int(is_first)
        case _, ServerRestart.VARIANT:
            return found.loads
    return found.loads if on_gpus else 1
