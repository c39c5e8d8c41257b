# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The plan of a run, how long it takes, and both as JSON.

Forecasts of searches, before anything is measured.

The forecast of a brute search lists its trials, unless there are too many. Other searches choose
trials while they run: their forecasts have only the space and the limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice, pairwise
from typing import Any

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.goals import ModelGoal
from model_analyzer.domain.models import ModelVariant, VariantNames, empty, thaw
from model_analyzer.domain.settings import (
    Budget,
    LaunchMode,
    ModelSettings,
    SearchMode,
    SearchSettings,
    ServerRestart,
    ServerSettings,
)
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.domain.windows import WINDOWS, Window
from model_analyzer.domain.words import counted
from model_analyzer.noise.first_look import FIRST_LOOK_S
from model_analyzer.search.choose import mode_for, mode_of
from model_analyzer.search.modes.mode import ListedStrategy, RefiningMode
from model_analyzer.search.plan import PlannedSearch, Subject
from model_analyzer.search.refine import most_confirmed
from model_analyzer.search.trial_map import BATCH_LIMIT, INSTANCES, UNBOUNDED, Dimension
from model_analyzer.search.variants import other_parameters

# How many values of an unbounded dimension are shown, and of any other one.
_FIRST, _MOST_VALUES = 4, 1000

# Longer lists, which would take days to measure, are not made.
_MOST_TRIALS = 50_000

# Parameters of the client: changing them does not load another variant.
_CLIENT = ("batch_sizes", *(kind.value for kind in LoadKind))

_SIZES = (INSTANCES, BATCH_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Varied:
    """A parameter of a model and its values; if not `is_bounded`, more values follow."""

    model: str
    parameter: str
    values: Sequence[Any]
    is_bounded: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """The mode of a search, the parameters that it varies, and the number of combinations (`size`;
    None if unbounded).

    `trials` lists all possible trials in their order; None if the search chooses them, or if it
    `has_list` and there are too many. `is_exact` means that it measures exactly these, and at most
    `confirmed` of them again. `most_trials` is the limit; it may be higher than their number, since
    some trials depend on outcomes. `variants` is the largest number of different contents of a
    server, and `loads` of changes between them. Few searches exceed `usual_trials`, if there are.
    """

    mode: SearchMode
    varied: tuple[Varied, ...]
    size: int | None
    trials: tuple[Trial, ...] | None
    is_exact: bool
    most_trials: int | None
    variants: int | None
    loads: int | None
    usual_trials: int | None = None
    confirmed: int = 0
    has_list: bool = False


def forecast(subject: Subject, settings: SearchSettings, *, slots: int = 1) -> Forecast:
    """The forecast of the search for a `subject` that was checked, with so many `slots`."""
    mode = mode_for(subject, settings)
    if isinstance(mode, RefiningMode) and (listed := mode.listed()) is not None:
        return _listed(mode, listed)
    search = mode.search(VariantNames(), slots=slots)
    varied = [*map(_varied, mode.space.dimensions)]
    return _unlisted(mode_of(subject, settings), varied, search)


def _listed(mode: RefiningMode, search: ListedStrategy) -> Forecast:
    """The forecast of a search that lists its trials."""
    subject, settings = mode.subject, mode.settings
    kind = mode_of(subject, settings)
    trials = tuple(islice(search.trials(), _MOST_TRIALS + 1))
    varied = _shown(_values_of(subject, trials))
    if len(trials) > _MOST_TRIALS:
        most = search.most_trials
        return Forecast(
            mode=kind,
            # the rest of the list may have more sizes
            varied=tuple(
                replace(item, is_bounded=False) if item.parameter in _SIZES else item
                for item in varied
            ),
            size=most,
            trials=None,
            is_exact=False,
            most_trials=most + mode.most_refined,
            variants=None,
            loads=None,
            has_list=True,
        )
    contents = [trial.content for trial in trials]
    variants = len(set(contents))
    stops_early = settings.early_exit or not subject.lists_loads
    refined = mode.most_swept(min(settings.refined, variants - 1))
    loads = min(len(contents), 1) + sum(a != b for a, b in pairwise(contents))
    # the list leaves out loads where throughput no longer grows; other objectives may need them
    if refined or (mode.sweeps_loads and not subject.goal.is_for_throughput):
        loads += min(settings.refined + 1, variants)  # the best are loaded again
    confirmed = most_confirmed(subject, settings)
    if variants > 1:
        loads += confirmed  # in turn
    return Forecast(
        mode=kind,
        varied=tuple(varied),
        size=len(trials),
        trials=trials,
        is_exact=len(subject.models) > 1 or not stops_early,
        most_trials=len(trials) + refined + confirmed,
        variants=variants,
        loads=loads,
        confirmed=confirmed,
        has_list=True,
    )


def _unlisted(mode: SearchMode, varied: Sequence[Varied], search: PlannedSearch) -> Forecast:
    most = search.most_trials
    is_bounded = all(item.is_bounded for item in varied)
    # with the default
    contents = 1 + math.prod(len(item.values) for item in varied if item.parameter not in _CLIENT)
    return Forecast(
        mode=mode,
        varied=tuple(_shown(varied)),
        size=math.prod(len(item.values) for item in varied) if is_bounded else None,
        trials=None,
        is_exact=False,
        most_trials=most,
        usual_trials=search.usual_trials,
        variants=min(contents, most or contents) if is_bounded else most,
        loads=most,
    )


def _shown(varied: Iterable[Varied]) -> Iterator[Varied]:
    """Copies with the values that are shown. A load with its own times has no values."""
    for item in varied:
        if item.parameter != LoadKind.REQUEST_INTERVALS.value:
            values = tuple(item.values[:_MOST_VALUES])
            is_whole = len(values) == len(item.values)
            yield replace(item, values=values, is_bounded=item.is_bounded and is_whole)


def _varied(dimension: Dimension) -> Varied:
    """The dimension; without a bound that the user gave, with its first values."""
    is_bounded = not dimension.is_open or dimension.values[-1] < UNBOUNDED[1]
    return Varied(
        model=dimension.model,
        parameter=dimension.parameter,
        values=dimension.values if is_bounded else dimension.values[:_FIRST],
        is_bounded=is_bounded,
    )


def _values_of(subject: Subject, trials: Sequence[Trial]) -> Iterator[Varied]:
    """The values of the trials; those of the default count only if there is no other variant."""
    for index, model in enumerate(subject.models):
        works = [trial.workloads[index] for trial in trials]
        works = [work for work in works if not work.variant.is_default] or works
        for varied in model.varied.values():
            name = varied.facts.name
            parts = [part for work in works for part in work.variant.served if part.model == name]
            if parts:
                sizes = (
                    {sum(count for count, _ in part.instances(gpus=1)) for part in parts},
                    {part.max_batch_size for part in parts},
                )
                for parameter, values in zip(_SIZES, sizes, strict=True):
                    yield Varied(model=name, parameter=parameter, values=tuple(sorted(values)))
            for parameter, options in other_parameters(varied).items():
                yield Varied(model=name, parameter=parameter, values=options)
        batch_sizes = sorted({work.load.batch_size for work in works})
        yield Varied(model=model.facts.name, parameter="batch_sizes", values=tuple(batch_sizes))
        loads = sorted({work.load.value for work in works})
        kind = model.settings.load_kind.value
        yield Varied(model=model.facts.name, parameter=kind, values=tuple(loads))


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
