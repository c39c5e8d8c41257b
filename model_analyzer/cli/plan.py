# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a run would do, as text and as JSON, with an estimate of its time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from model_analyzer.domain.goals import ModelGoal, Objective
from model_analyzer.domain.metrics import ALIASES, METRICS, Better
from model_analyzer.domain.models import ModelVariant, thaw
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.words import counted
from model_analyzer.runner.load.command import Window
from model_analyzer.search.forecast import Forecast, Varied

# What the estimate of time is made of, in seconds. perf_analyzer reports three windows that agree,
# and counts requests once a second.
_WINDOWS = 3
_COUNTED_WINDOW_S = 1.0
_AROUND_S = 0.5
LOAD_S = 1.0
_START_S = 3.0

# How far from that a run may end up: a search that decides as it goes may end early, and unstable
# measurements are repeated in larger windows.
_EARLY = 1 / 3
_UNSTABLE = 2.0

# A line has no more values of a parameter.
_MOST_VALUES = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is known of a subject; without a forecast, `unknown` says why.

    `trial_s` is the time of one measurement; `starts` counts servers, and like all numbers of a
    plan is the most that there can be. None is unknown. `budget_s` bounds the seconds of measuring,
    if there is a bound.
    """

    name: str
    goals: Mapping[str, ModelGoal]
    trial_s: float
    forecast: Forecast | None = None
    unknown: str = ""
    starts: int | None = None
    budget_s: float | None = None

    @property
    def seconds(self) -> float | None:
        found = self.forecast
        if found is None or found.most_trials is None or found.loads is None:
            return None
        if self.starts is None:
            return None
        seconds = found.most_trials * self.trial_s + found.loads * LOAD_S + self.starts * _START_S
        if self.budget_s is None:
            return seconds
        first_s = self.trial_s + LOAD_S + _START_S
        return min(seconds, max(self.budget_s, first_s))


def within_budget(found: Forecast, budget_s: float | None, trial_s: float) -> Forecast:
    """The forecast of a search that measures nothing that would not end within the budget, but for
    the first.
    """
    if budget_s is None:
        return found
    fitting = max(int(budget_s / trial_s), 1)

    def bounded(number: int | None) -> int:
        return fitting if number is None else min(number, fitting)

    return replace(
        found,
        most_trials=bounded(found.most_trials),
        variants=bounded(found.variants),
        loads=bounded(found.loads),
    )


def seconds_of_trial(flags: Mapping[str, Any]) -> float:
    """How long one measurement takes with these perf_analyzer flags."""
    window = Window.of(flags)
    is_timed = window.mode == "time_windows"
    return _WINDOWS * (window.length_ms / 1000 if is_timed else _COUNTED_WINDOW_S) + _AROUND_S


@dataclass(frozen=True, slots=True)
class _Range:
    """Minutes that a run may take: an estimate, whose ends are no bounds, either."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"roughly {self.low:g} to {self.high:g} minutes"


def _range(plans: Sequence[Plan], idle_s: float = 0) -> _Range | None:
    """What all plans take together; None where that of one is not known."""
    low, high = idle_s, idle_s
    for plan in plans:
        seconds, found = plan.seconds, plan.forecast
        if seconds is None or found is None:
            return None
        low += seconds if found.is_exact else seconds * _EARLY
        within = seconds * _UNSTABLE
        # a budget holds, but for the first measurement
        high += within if plan.budget_s is None else max(min(within, plan.budget_s), seconds)
    return _Range(_minutes(low), _minutes(high))


# -- as text -----------------------------------------------------------------------------------


def lines_of(plans: Sequence[Plan], idle_s: float) -> Iterator[str]:
    """The plans for people; the idle server is observed for `idle_s` seconds."""
    for plan in plans:
        yield from _told(plan)
        yield ""
    together = _range(plans, idle_s)
    if len(plans) > 1 and together is not None:
        yield f"All of it takes {together}."
        yield ""
    yield from _assumptions(idle_s)


def _told(plan: Plan) -> Iterator[str]:
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
    size = "no bound" if found.size is None else counted(found.size, "combination")
    yield f"  space: {size}"
    yield f"  measurements: {_count(found)}"
    if found.variants is None:
        yield f"  time: about {plan.trial_s:g} s for each measurement"
        return
    kept = "" if found.is_exact else "at most "
    loads = "" if found.loads is None else f", loaded {kept}{counted(found.loads, 'time')}"
    yield f"  variants: {kept}{found.variants}{loads}"
    starts = "not known" if plan.starts is None else f"{plan.starts}"
    yield f"  server starts: {starts}"
    minutes = _range([plan])
    if minutes is None:
        yield f"  time: about {plan.trial_s:g} s for each measurement"
    else:
        yield f"  time: {minutes}"
    if found.trials is not None:
        yield ""
        yield from _table(found.trials)


def _count(found: Forecast) -> str:
    if found.trials is None and found.mode is SearchMode.BRUTE:
        return f"at most {found.most_trials}, too many to list them"
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
    values = [str(thaw(value)) for value in varied.values]
    last = values[-1:] if varied.is_bounded else []
    if len(values) > _MOST_VALUES or not varied.is_bounded:
        values = [*values[: _MOST_VALUES - 2], "…", *last]
    return ", ".join(values)


def _minutes(seconds: float) -> float:
    """Rounded up to a tenth: an estimate does not know better."""
    return -(-seconds // 6) / 10


def _assumptions(idle_s: float) -> Iterator[str]:
    yield (
        f"Times assume {_WINDOWS} windows for each measurement (as long as asked for, or"
        f" {_COUNTED_WINDOW_S:g} s where requests are counted) and {_AROUND_S:g} s around them,"
        f" {LOAD_S:g} s for each load of a variant and {_START_S:g} s for each server. The lower"
        " end is for a search that ends early, the upper one for measurements that are repeated"
        " since they were not stable; neither is a bound. What a checkpoint holds is not measured"
        " again."
    )
    if idle_s:
        yield f"The idle server is observed for {idle_s:g} s before."


# -- for programs ------------------------------------------------------------------------------


def document_of(plans: Sequence[Plan], idle_s: float) -> Mapping[str, Any]:
    """The same for programs."""
    seconds = _total_seconds(plans, idle_s)
    return {
        "subjects": [_subject(plan) for plan in plans],
        "minutes": None if seconds is None else _minutes(seconds),
        **_range_document(_range(plans, idle_s)),
        "assumptions": {
            "windows_per_measurement": _WINDOWS,
            "seconds_of_counted_window": _COUNTED_WINDOW_S,
            "seconds_around_measurement": _AROUND_S,
            "seconds_per_load": LOAD_S,
            "seconds_per_server_start": _START_S,
            "seconds_idle": idle_s,
        },
    }


def _subject(plan: Plan) -> Mapping[str, Any]:
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
        **_range_document(_range([plan])),
        "trials": None if found.trials is None else [_trial(trial) for trial in found.trials],
    }


def _range_document(minutes: _Range | None) -> Mapping[str, Any]:
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


def _total_seconds(plans: Sequence[Plan], idle_s: float) -> float | None:
    seconds = [plan.seconds for plan in plans]
    known = [one for one in seconds if one is not None]
    return sum(known) + idle_s if len(known) == len(seconds) else None
