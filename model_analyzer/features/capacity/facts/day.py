# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A load that changes over time, for example over a day, and the replicas for it: a fixed number,
or what an autoscaler starts.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from model_analyzer.domain.costs import Fleet
from model_analyzer.features.capacity.facts.autoscaling import SYNC_S, Autoscaler, Moment, simulated
from model_analyzer.features.capacity.facts.points import Carried, replicas_for
from model_analyzer.features.capacity.facts.sizing import Demand


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
