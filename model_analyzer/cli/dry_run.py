# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer profile --dry-run`: what the run would do. No server is started, nothing is
written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import Any

import click

from model_analyzer.cli.gpus import local_gpus
from model_analyzer.cli.launch import server_setups
from model_analyzer.cli.subjects import subjects_of
from model_analyzer.domain.goals import ModelGoal, Objective
from model_analyzer.domain.metrics import ALIASES, METRICS, Better
from model_analyzer.domain.models import ModelConfig, ModelFacts, ModelVariant, thaw
from model_analyzer.domain.profiles import Device
from model_analyzer.domain.settings import LaunchMode, ProfileSettings, ServerRestart
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.errors import EXIT_OK
from model_analyzer.runner.gpus import VISIBLE_DEVICES, cuda_environment
from model_analyzer.runner.load.command import Window
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.search.forecast import Forecast, Varied, forecast
from model_analyzer.search.plan import Subject

# What the estimate of time is made of, in seconds. perf_analyzer reports three windows that agree,
# and counts requests once a second.
_WINDOWS = 3
_COUNTED_WINDOW_S = 1.0
_AROUND_S = 0.5
_LOAD_S = 1.0
_START_S = 3.0


class _Incomplete(Exception):
    """A model whose configuration only a server can complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """What is known of a subject; without a forecast, `unknown` says why.

    `trial_s` is the time of one measurement; `starts` counts servers, and like all numbers of a
    plan is the most that there can be. None is unknown.
    """

    name: str
    goals: Mapping[str, ModelGoal]
    trial_s: float
    forecast: Forecast | None = None
    unknown: str = ""
    starts: int | None = None

    @property
    def seconds(self) -> float | None:
        found = self.forecast
        if found is None or found.most_trials is None or found.loads is None:
            return None
        if self.starts is None:
            return None
        return found.most_trials * self.trial_s + found.loads * _LOAD_S + self.starts * _START_S


def run(settings: ProfileSettings, remarks: Sequence[str], *, as_json: bool) -> int:
    """Prints what `profile` would do with these settings; the exit status."""
    for remark in remarks:
        click.echo(remark, err=True)
    with ExitStack() as stack:
        environment = dict(os.environ)
        local = local_gpus(settings, environment, stack)
        devices = local.devices if local else ()
        plans = [*_plans(settings, devices, environment)]
    observed = settings.monitors.always_gpus or not all(one.cpu_only for one in settings.models)
    idle_s = settings.monitors.idle_s if devices and observed else 0
    if as_json:
        click.echo(json.dumps(_document(plans, idle_s), indent=2))
    else:
        for line in _lines(plans, idle_s):
            click.echo(line)
    return EXIT_OK


def _plans(
    settings: ProfileSettings, devices: Sequence[Device], environment: Mapping[str, str]
) -> Iterator[_Plan]:
    """The plan of each subject, in the order of the run."""
    for_cuda = cuda_environment(devices, settings.monitors.gpus)
    setups = server_setups(settings, devices, for_cuda)
    facts, unknown = _facts(settings)
    goals = {model.name: model.goal for model in settings.models}
    trial_s = {model.name: _trial_s(model.perf_analyzer_flags) for model in settings.models}
    groups = [[*goals]] if settings.search.together else [[name] for name in goals]
    before: ServerSetup | None = None
    for names in groups:
        reasons = [unknown[name] for name in names if name in unknown]
        plan = _Plan(
            name=",".join(names),
            goals={name: goals[name] for name in names},
            trial_s=max(trial_s[name] for name in names),
        )
        if reasons:
            yield replace(plan, unknown="; ".join(reasons))
            continue
        chosen = tuple(model for model in settings.models if model.name in names)
        (subject,) = subjects_of(replace(settings, models=chosen), facts)
        setup = setups[names[0]]
        found = _forecast(subject, settings, devices)
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
        subject, settings.search, settings.quick, settings.optuna, best=settings.export.best
    )


def _facts(settings: ProfileSettings) -> tuple[Mapping[str, ModelFacts], Mapping[str, str]]:
    """What the files say about each model, and of the others why that is not enough."""
    path = None if settings.server.reload_disable else settings.repository.path
    if path is None:
        reason = "only the server knows its models, and none is asked in a dry run"
        return {}, {model.name: reason for model in settings.models}
    repository = ModelRepository(path)
    facts: dict[str, ModelFacts] = {}
    unknown: dict[str, str] = {}
    for model in settings.models:
        try:
            facts[model.name] = repository.facts(
                model.name, complete=_incomplete, calls=settings.bls_calls
            )
        except _Incomplete as error:
            unknown[model.name] = (
                f"a server has to complete the configuration of {error}, and none is started in a"
                " dry run"
            )
    return facts, unknown


def _incomplete(name: str, config: ModelConfig) -> ModelConfig:
    raise _Incomplete(name)


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


def _trial_s(flags: Mapping[str, Any]) -> float:
    window = Window.of(flags)
    is_timed = window.mode == "time_windows"
    return _WINDOWS * (window.length_ms / 1000 if is_timed else _COUNTED_WINDOW_S) + _AROUND_S


# -- as text -----------------------------------------------------------------------------------


def _lines(plans: Sequence[_Plan], idle_s: int) -> Iterator[str]:
    for plan in plans:
        yield from _told(plan)
        yield ""
    seconds = _total_seconds(plans, idle_s)
    if len(plans) > 1 and seconds is not None:
        yield f"All of it takes about {_minutes(seconds):g} minutes at most."
        yield ""
    yield from _assumptions(idle_s)


def _told(plan: _Plan) -> Iterator[str]:
    found = plan.forecast
    if found is None:
        yield f"{plan.name}: not known: {plan.unknown}"
        return
    yield f"{plan.name}: {found.mode.value} search"
    for name, goal in plan.goals.items():
        of = f" of {name}" if len(plan.goals) > 1 else ""
        yield f"  wished{of}: {', '.join(_wishes(goal.objectives))}"
        if goal.constraints:
            yield f"  required{of}: {', '.join(map(str, goal.constraints))}"
    for varied in found.varied:
        yield f"  varies {varied.model} {varied.parameter}: {_values(varied)}"
    size = "no bound" if found.size is None else f"{found.size} combinations"
    yield f"  space: {size}"
    yield f"  measurements: {_count(found)}"
    if found.variants is None:
        yield f"  time: about {plan.trial_s:g} s for each measurement"
        return
    kept = "" if found.is_exact else "at most "
    loads = "" if found.loads is None else f", loaded {kept}{found.loads} times"
    yield f"  variants: {kept}{found.variants}{loads}"
    starts = "not known" if plan.starts is None else f"{plan.starts}"
    yield f"  server starts: {starts}"
    if plan.seconds is None:
        yield f"  time: about {plan.trial_s:g} s for each measurement"
    else:
        yield f"  time: {kept}about {_minutes(plan.seconds):g} minutes"
    if found.trials is not None:
        yield ""
        yield from _table(found.trials)


def _count(found: Forecast) -> str:
    if found.trials is None:
        most = "" if found.most_trials is None else f"at most {found.most_trials}: "
        return f"{most}it decides as it goes"
    if found.is_exact:
        return f"{len(found.trials)}"
    more = (found.most_trials or 0) - len(found.trials)
    refined = f", and {more} to refine the load of the best" if more > 0 else ""
    return f"at most {len(found.trials)}, fewer where throughput stops growing{refined}"


def _table(trials: Sequence[Trial]) -> Iterator[str]:
    """A line for each variant with its loads, in the order of measuring."""
    loads: dict[str, list[str]] = {}
    for trial in trials:
        about = "; ".join(_size(work.variant) for work in trial.workloads)
        loads.setdefault(f"{trial.variants} ({about})", []).append(trial.loads)
    width = max(map(len, loads), default=0)
    for name, of_variant in loads.items():
        yield f"  {name:{width}}  {', '.join(_shortened(of_variant))}"


def _size(variant: ModelVariant) -> str:
    """Instances and batch limit of all that is served."""
    return ", ".join(
        " + ".join(f"{count}:{kind}" for count, kind in part.instances(gpus=0))
        + f" x {max(part.max_batch_size, 1)}"
        for part in variant.served
    )


def _shortened(loads: Sequence[str]) -> Iterator[str]:
    """The loads without a name that they share with the one before."""
    before = ""
    for load in loads:
        name, _, value = load.rpartition("=")
        yield value if name == before else load
        before = name


def _wishes(objectives: Sequence[Objective]) -> Iterator[str]:
    for objective in objectives:
        metric = METRICS[ALIASES.get(objective.tag, objective.tag)]
        way = "high" if metric.better is Better.HIGHER else "low"
        weight = f" (weight {objective.weight:g})" if len(objectives) > 1 else ""
        yield f"{way} {metric.header}{weight}"


def _values(varied: Varied) -> str:
    values = ", ".join(str(thaw(value)) for value in varied.values)
    return values if varied.is_bounded else f"{values}, …"


def _minutes(seconds: float) -> float:
    """Rounded up to a tenth: an estimate does not know better."""
    return -(-seconds // 6) / 10


def _assumptions(idle_s: int) -> Iterator[str]:
    yield (
        f"Times assume {_WINDOWS} windows for each measurement (as long as asked for, or"
        f" {_COUNTED_WINDOW_S:g} s where requests are counted) and {_AROUND_S:g} s around them,"
        f" {_LOAD_S:g} s for each load of a variant and {_START_S:g} s for each server; unstable"
        " measurements take longer. What a checkpoint holds is not measured again."
    )
    if idle_s:
        yield f"The idle server is observed for {idle_s} s before."


# -- for programs ------------------------------------------------------------------------------


def _document(plans: Sequence[_Plan], idle_s: int) -> Mapping[str, Any]:
    seconds = _total_seconds(plans, idle_s)
    return {
        "subjects": [_subject(plan) for plan in plans],
        "minutes": None if seconds is None else _minutes(seconds),
        "assumptions": {
            "windows_per_measurement": _WINDOWS,
            "seconds_of_counted_window": _COUNTED_WINDOW_S,
            "seconds_around_measurement": _AROUND_S,
            "seconds_per_load": _LOAD_S,
            "seconds_per_server_start": _START_S,
            "seconds_idle": idle_s,
        },
    }


def _subject(plan: _Plan) -> Mapping[str, Any]:
    about = {
        "models": [*plan.goals],
        "objectives": {
            name: {one.tag: one.weight for one in goal.objectives}
            for name, goal in plan.goals.items()
        },
        "constraints": {
            name: {one.tag: {"min": one.minimum, "max": one.maximum} for one in goal.constraints}
            for name, goal in plan.goals.items()
        },
        "seconds_per_measurement": plan.trial_s,
    }
    found = plan.forecast
    if found is None:
        return {**about, "unknown": plan.unknown}
    return {
        **about,
        "mode": found.mode.value,
        "dimensions": [
            {
                "model": one.model,
                "parameter": one.parameter,
                "values": thaw(one.values),
                "bounded": one.is_bounded,
            }
            for one in found.varied
        ],
        "size": found.size,
        "exact": found.is_exact,
        "most_measurements": found.most_trials,
        "variants": found.variants,
        "loads": found.loads,
        "server_starts": plan.starts,
        "minutes": None if plan.seconds is None else _minutes(plan.seconds),
        "trials": None if found.trials is None else [_trial(trial) for trial in found.trials],
    }


def _trial(trial: Trial) -> Sequence[Mapping[str, Any]]:
    return [
        {
            "model": work.variant.model,
            "variant": work.variant.name,
            "served": [_served(part) for part in work.variant.served],
            work.load.kind.value: work.load.value,
            "batch_size": work.load.batch_size,
        }
        for work in trial.workloads
    ]


def _served(part: ModelVariant) -> Mapping[str, Any]:
    return {
        "model": part.model,
        "instances": {kind: count for count, kind in part.instances(gpus=0)},
        "max_batch_size": part.max_batch_size,
    }


def _total_seconds(plans: Sequence[_Plan], idle_s: int) -> float | None:
    seconds = [plan.seconds for plan in plans]
    known = [one for one in seconds if one is not None]
    return sum(known) + idle_s if len(known) == len(seconds) else None
