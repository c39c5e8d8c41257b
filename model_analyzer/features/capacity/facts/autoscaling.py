# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How an autoscaler should follow the load, and a simulation of what it would do; and a load that
changes over time, for example over a day, and the replicas for it: a fixed number, or what an
autoscaler starts.

The simulation follows the documented algorithm of Kubernetes' HorizontalPodAutoscaler: every 15 s,
it compares the mean of a metric of the ready pods with its target.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from model_analyzer.domain.costs import Fleet
from model_analyzer.features.capacity.facts.points import Carried, replicas_for
from model_analyzer.features.capacity.facts.sizing import Demand

# The controller does nothing if the metric is within this share of its target.
TOLERANCE = 0.1

# How often the controller looks, and over which time the metric is a mean.
SYNC_S, METRIC_WINDOW_S = 15, 60

# Kubernetes' default: a shorter window would remove replicas in short pauses of the load.
_LEAST_DOWN_S = 300

# One replica and one in reserve.
_FEWEST = 2

# The largest load to plan for, as a share of the requested rate; and one replica in reserve.
_PEAK = 1.2

# Kubernetes allows no longer period, and no longer window.
_LONGEST_PERIOD_S, _LONGEST_WINDOW_S = 1800, 3600

# Replicas that may be added at once even if that more than doubles them.
ADDED_AT_ONCE = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Autoscaler:
    """The settings of an autoscaler: each replica should get `target` requests per second.

    A replica needs `startup_s` seconds until it answers (0 if unknown). At most twice the replicas
    are started within `up_period_s`; replicas are removed only if they were not needed for
    `down_window_s`.
    """

    target: float
    fewest: int
    most: int
    startup_s: float

    @property
    def up_period_s(self) -> int:
        """At least one look of the controller, and as long as a replica needs to start: until then,
        the metric does not show what was added last.
        """
        looks = max(1, math.ceil(self.startup_s / SYNC_S))
        return min(SYNC_S * looks, _LONGEST_PERIOD_S)

    @property
    def down_window_s(self) -> int:
        """A replica that is removed too early is missing for its start."""
        return min(max(_LEAST_DOWN_S, 2 * self.up_period_s), _LONGEST_WINDOW_S)


def autoscaler_of(
    carried: Carried, demand: Demand, *, loading_s: float | None, lowest: float | None = None
) -> Autoscaler:
    """The autoscaler for a demand. `lowest` is the lowest rate to expect, None if unknown.

    It settles at the replicas that the sizing has. The headroom is at least the controller's
    tolerance: within it, the controller adds no replicas.
    """
    margin = 1 + max(demand.headroom, TOLERANCE)
    low = 0 if lowest is None else replicas_for(lowest * margin, carried.rate)
    fewest = max(_FEWEST, low)
    return Autoscaler(
        target=carried.rate / margin,
        fewest=fewest,
        most=max(fewest, replicas_for(_PEAK * demand.rate * margin, carried.rate) + 1),
        startup_s=loading_s or 0.0,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What the controller does at a time: the `wanted` replicas, and those that are `ready`."""

    at_s: float
    load: float
    wanted: int
    ready: int


def simulated(
    scaler: Autoscaler, load: Callable[[float], float], *, until_s: float, replicas: int
) -> Iterator[Moment]:
    """The moments at which the controller looks, from 0 s on; `load` gives the requests per second
    at a time, also before 0. It starts with so many ready `replicas`.
    """
    pods = _Pods(running=replicas)
    recommendations: deque[tuple[float, int]] = deque()
    at_s = 0.0
    while at_s <= until_s:
        ready = pods.ready(at_s)
        recommended = _recommended(scaler, _mean(load, at_s), ready, pods.number)
        recommendations.append((at_s, recommended))
        while recommendations[0][0] <= at_s - scaler.down_window_s:
            recommendations.popleft()
        wanted = recommended
        if wanted < pods.number:
            wanted = min(pods.number, max(each for _, each in recommendations))
        before = pods.before(at_s, scaler.up_period_s)
        wanted = min(wanted, max(2 * before, before + ADDED_AT_ONCE))
        wanted = max(scaler.fewest, min(wanted, scaler.most))
        pods.resize(wanted, at_s, scaler.startup_s)
        yield Moment(at_s=at_s, load=load(at_s), wanted=wanted, ready=ready)
        at_s += SYNC_S


@dataclass(slots=True)
class _Pods:
    """The pods: those that are `running`, and those that start, with the time at which they are
    ready, in order; and how many there were over time.
    """

    running: int
    starting: deque[tuple[float, int]] = field(default_factory=deque)
    counts: deque[tuple[float, int]] = field(default_factory=deque)

    @property
    def number(self) -> int:
        return self.running + sum(count for _, count in self.starting)

    def ready(self, at_s: float) -> int:
        while self.starting and self.starting[0][0] <= at_s:
            self.running += self.starting.popleft()[1]
        return self.running

    def before(self, at_s: float, period_s: float) -> int:
        """The fewest pods since a period ago."""
        while self.counts and self.counts[0][0] <= at_s - period_s:
            self.counts.popleft()
        return min([count for _, count in self.counts], default=self.number)

    def resize(self, wanted: int, at_s: float, startup_s: float) -> None:
        number = self.number
        self.counts.append((at_s, number))
        if wanted > number:
            self.starting.append((at_s + startup_s, wanted - number))
        surplus = max(0, number - wanted)
        while surplus and self.starting:  # those that started last go first
            ready_at_s, count = self.starting.pop()
            removed = min(count, surplus)
            surplus -= removed
            if removed < count:
                self.starting.append((ready_at_s, count - removed))
        self.running -= surplus


def _mean(load: Callable[[float], float], at_s: float) -> float:
    """The load as the metric shows it: a mean over the last minute."""
    times = [at_s - past for past in range(0, METRIC_WINDOW_S, SYNC_S)]
    return sum(map(load, times)) / len(times)


def _recommended(scaler: Autoscaler, load: float, ready: int, pods: int) -> int:
    """The replicas by the algorithm of the controller. Pods that are not ready count as idle when
    replicas would be added, and do not count otherwise.
    """
    if not ready:
        return pods
    ratio = load / ready / scaler.target
    if abs(ratio - 1) <= TOLERANCE:
        return pods
    if ratio > 1 and pods > ready:
        ratio = load / pods / scaler.target
        return pods if ratio <= 1 + TOLERANCE else math.ceil(ratio * pods)
    return math.ceil(ratio * ready)


@dataclass(frozen=True, kw_only=True)
class LoadTrace:
    """Requests per second over time: each of `rates` holds from its time on (seconds from the first
    one, ascending) to the next; the last one as long as the one before. `labels` are the times as
    the user wrote them. There are at least two.
    """

    times_s: tuple[float, ...]
    rates: tuple[float, ...]
    labels: tuple[str, ...]

    @cached_property
    def end_s(self) -> float:
        return 2 * self.times_s[-1] - self.times_s[-2]

    @property
    def peak(self) -> float:
        return max(self.rates)

    @property
    def lowest(self) -> float:
        return min(self.rates)

    @property
    def requests(self) -> float:
        """The requests of the whole time."""
        ends = (*self.times_s[1:], self.end_s)
        parts = zip(self.rates, self.times_s, ends, strict=True)
        return math.fsum(rate * (end - start) for rate, start, end in parts)

    def index(self, at_s: float) -> int:
        """The index of the rate at a time; times before the first have the first."""
        return max(0, bisect_right(self.times_s, at_s) - 1)

    def rate(self, at_s: float) -> float:
        return self.rates[self.index(at_s)]


# Periods to show.
_PERIODS = 24

_HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """A part of the trace, from its first row: the highest rate in it, the replicas that this rate
    needs, and the most that the autoscaler has.
    """

    label: str
    rate: float
    needed: int
    autoscaled: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DayPlan:
    """Replicas over a trace of `hours`.

    `fixed` replicas serve the peak all the time. `autoscaled` are the replicas of the autoscaler,
    each for an equal part of the time; for `short_s` seconds, those that are ready carry less than
    the load, which has so many `requests`.
    """

    hours: float
    requests: float
    fixed: int
    autoscaled: tuple[int, ...]
    short_s: float
    periods: tuple[Period, ...]

    @property
    def fixed_hours(self) -> float:
        """The replica-hours of the fixed number."""
        return self.fixed * self.hours

    @property
    def autoscaled_hours(self) -> float:
        """The replica-hours of the autoscaler."""
        return sum(self.autoscaled) * self.hours / len(self.autoscaled)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayCost:
    """What the fixed number of replicas, and those of the autoscaler, cost over a trace."""

    fixed: Decimal
    autoscaled: Decimal


def day_cost(day: DayPlan, fleet: Fleet) -> DayCost | None:
    """The cost of both, on whole nodes of the same type; None if the prices are unknown."""
    if fleet.price is None:
        return None
    part = Decimal(repr(day.hours)) / len(day.autoscaled)
    amounts = (
        (fleet.amount(replicas) or Decimal()) * count
        for replicas, count in Counter(day.autoscaled).items()
    )
    return DayCost(
        fixed=(fleet.amount(day.fixed) or Decimal()) * Decimal(repr(day.hours)),
        autoscaled=sum(amounts, Decimal()) * part,
    )


def day_plan(trace: LoadTrace, carried: Carried, demand: Demand, scaler: Autoscaler) -> DayPlan:
    """The plan for a trace. The `demand` is its peak."""
    fixed = replicas_for(demand.with_headroom, carried.rate)
    first = replicas_for(trace.rates[0] / scaler.target, 1)
    replicas = max(scaler.fewest, min(first, scaler.most))
    moments = list(
        simulated(scaler, trace.rate, until_s=max(0.0, trace.end_s - SYNC_S), replicas=replicas)
    )
    short = [moment for moment in moments if moment.load > moment.ready * carried.rate]
    hours = trace.end_s / _HOUR_S
    share = hours / len(moments)  # of each moment
    return DayPlan(
        hours=hours,
        requests=trace.requests,
        fixed=fixed,
        autoscaled=tuple(moment.wanted for moment in moments),
        short_s=len(short) * share * _HOUR_S,
        periods=tuple(_periods(trace, carried, demand, moments)),
    )


def _periods(
    trace: LoadTrace, carried: Carried, demand: Demand, moments: Sequence[Moment]
) -> Iterator[Period]:
    size = -(-len(trace.rates) // _PERIODS)
    for start in range(0, len(trace.rates), size):
        rate = max(trace.rates[start : start + size])
        until_s = [*trace.times_s, trace.end_s][min(start + size, len(trace.rates))]
        within = [each for each in moments if trace.times_s[start] <= each.at_s < until_s]
        yield Period(
            label=trace.labels[start],
            rate=rate,
            needed=replicas_for(rate * (1 + demand.headroom), carried.rate),
            autoscaled=max((each.wanted for each in within), default=0),
        )
