# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The plan of a run, how long it takes, and both as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.goals import ModelGoal
from model_analyzer.domain.models import ModelVariant, empty, thaw
from model_analyzer.domain.settings import (
    Budget,
    LaunchMode,
    ModelSettings,
    ServerRestart,
    ServerSettings,
)
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.windows import WINDOWS, Window
from model_analyzer.domain.words import counted
from model_analyzer.forecast.searches import Forecast
from model_analyzer.noise.first_look import FIRST_LOOK_S

# Assumed durations (s): around a measurement, of loading a variant and of starting a server; and of
# a window in which requests are counted, since perf_analyzer does that once a second.
AROUND_S, LOAD_S, START_S, COUNTED_WINDOW_S = 0.5, 1.0, 3.0, 1.0

# How far a run may be from its estimate: a search that chooses trials may end early, and unstable
# measurements are repeated with larger windows.
_EARLY = 1 / 3
_UNSTABLE = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The plan for a subject. Without a forecast, `unknown` is the reason.

    `trial_s` is the duration of a measurement, and `starts` the number of server starts. All
    numbers are upper bounds; None means unknown. `replays` say what the logs of models send, and
    how their times were read.
    """

    name: str
    goals: Mapping[str, ModelGoal]
    trial_s: float
    forecast: Forecast | None = None
    unknown: str = ""
    starts: int | None = None
    budget: Budget = field(default_factory=Budget)
    replays: Mapping[str, str] = field(default_factory=empty)

    @property
    def seconds(self) -> float | None:
        """The duration of all measurements, loads and starts."""
        forecast = self.forecast
        if forecast is None or forecast.most_trials is None or forecast.loads is None:
            return None
        if self.starts is None:
            return None
        seconds = (
            forecast.most_trials * self.trial_s + forecast.loads * LOAD_S + self.starts * START_S
        )
        return self.budget.bounded(seconds, self.trial_s + LOAD_S + START_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resumed:
    """What a run resumes from: the file, and how many measurements and failures it has."""

    path: str
    measurements: int
    failures: int

    def __str__(self) -> str:
        failures = f" and {counted(self.failures, 'failure')}" if self.failures else ""
        return f"{self.path} with {counted(self.measurements, 'measurement')}{failures}"


@dataclass(frozen=True, slots=True)
class Minutes:
    """The estimated range of a run's duration; the real one may be outside."""

    low: float
    high: float

    def __str__(self) -> str:
        if self.high < 1:
            return "less than a minute"
        return f"roughly {self.low:g} to {self.high:g} minutes"


def trial_seconds(models: Sequence[ModelSettings], *, own_s: float = 0.0) -> float:
    """The duration of a measurement of these models together. `own_s` is the length of their load,
    if it has one of its own (a log, or stages).
    """
    if own_s:
        return own_s + AROUND_S
    if all(model.in_rounds for model in models):
        return FIRST_LOOK_S + AROUND_S
    return max(_careful_seconds(model.perf_analyzer_flags) for model in models)


def _careful_seconds(flags: Mapping[str, Flag]) -> float:
    window = Window.of(flags)
    return WINDOWS * (window.size / 1000 if window.is_timed else COUNTED_WINDOW_S) + AROUND_S


def within_budget(forecast: Forecast, budget: Budget, trial_s: float) -> Forecast:
    """The forecast, limited to the measurements (of `trial_s` each) that fit into the budget."""
    fitting = budget.trials(trial_s)
    if fitting is None:
        return forecast

    def bounded(number: int | None) -> int:
        return fitting if number is None else min(number, fitting)

    return replace(
        forecast,
        most_trials=bounded(forecast.most_trials),
        variants=bounded(forecast.variants),
        loads=bounded(forecast.loads),
    )


def server_starts(
    forecast: Forecast, settings: ServerSettings, *, is_first: bool, on_gpus: bool
) -> int | None:
    """The largest number of server starts for a subject if no load fails; None if unknown.

    `is_first` means that no server with the same setup runs yet, `on_gpus` that it has GPUs.
    """
    match settings.launch:
        case LaunchMode.REMOTE:
            return 0
        case LaunchMode.C_API:
            return forecast.most_trials  # each measurement has its own
    if settings.restart is ServerRestart.NEVER:
        return int(is_first)
    return forecast.loads if settings.restart.renews(keeps_memory=on_gpus) else 1


def duration(plans: Sequence[Plan], idle_s: float = 0) -> Minutes | None:
    """The duration of all plans, after `idle_s` seconds; None if one of them is unknown."""
    low, high = idle_s, idle_s
    for plan in plans:
        seconds, forecast = plan.seconds, plan.forecast
        if seconds is None or forecast is None:
            return None
        is_exact = forecast.is_exact and not forecast.confirmed
        low += seconds if is_exact else seconds * _EARLY
        high += plan.budget.bounded(seconds * _UNSTABLE, seconds)
    return Minutes(in_minutes(low), in_minutes(high))


def total_seconds(plans: Sequence[Plan], idle_s: float) -> float | None:
    """The longest duration of all plans, after `idle_s` seconds; None if one of them is unknown."""
    total = idle_s
    for plan in plans:
        if plan.seconds is None:
            return None
        total += plan.seconds
    return total


def in_minutes(seconds: float) -> float:
    """The minutes, rounded up to a tenth: an estimate is not more exact."""
    return -(-seconds // 6) / 10


def document_of(
    plans: Sequence[Plan], idle_s: float, resumed: Resumed | None = None
) -> Mapping[str, Any]:
    """The plans of a run, after `idle_s` seconds of observing the idle server."""
    seconds = total_seconds(plans, idle_s)
    return {
        "subjects": [_subject(plan) for plan in plans],
        "minutes": None if seconds is None else in_minutes(seconds),
        **_range_document(duration(plans, idle_s)),
        "resumes_from": None if resumed is None else asdict(resumed),
        "assumptions": {
            "seconds_of_instalment": FIRST_LOOK_S,
            "windows_per_measurement": WINDOWS,
            "seconds_of_counted_window": COUNTED_WINDOW_S,
            "seconds_around_measurement": AROUND_S,
            "seconds_per_load": LOAD_S,
            "seconds_per_server_start": START_S,
            "seconds_idle": idle_s,
        },
    }


def _subject(plan: Plan) -> Mapping[str, Any]:
    return {
        "models": [*plan.goals],
        "objectives": {name: _objectives(goal) for name, goal in plan.goals.items()},
        "constraints": {name: _constraints(goal) for name, goal in plan.goals.items()},
        "seconds_per_measurement": plan.trial_s,
        **({"replays": dict(plan.replays)} if plan.replays else {}),
        **({"unknown": plan.unknown} if plan.forecast is None else _forecast(plan, plan.forecast)),
    }


def _objectives(goal: ModelGoal) -> Mapping[str, Any]:
    return {objective.tag: objective.weight for objective in goal.objectives}


def _constraints(goal: ModelGoal) -> Mapping[str, Any]:
    return {
        constraint.tag: {"min": constraint.minimum, "max": constraint.maximum}
        for constraint in goal.constraints
    }


def _forecast(plan: Plan, forecast: Forecast) -> Mapping[str, Any]:
    return {
        "mode": forecast.mode.value,
        "dimensions": [
            {
                "model": varied.model,
                "parameter": varied.parameter,
                "values": thaw(varied.values),
                "bounded": varied.is_bounded,
            }
            for varied in forecast.varied
        ],
        "size": forecast.size,
        "exact": forecast.is_exact,
        "most_measurements": forecast.most_trials,
        "variants": forecast.variants,
        "loads": forecast.loads,
        "server_starts": plan.starts,
        "minutes": None if plan.seconds is None else in_minutes(plan.seconds),
        **_range_document(duration([plan])),
        "trials": None if forecast.trials is None else [_trial(trial) for trial in forecast.trials],
    }


def _range_document(minutes: Minutes | None) -> Mapping[str, Any]:
    return {
        "minutes_low": None if minutes is None else minutes.low,
        "minutes_high": None if minutes is None else minutes.high,
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
