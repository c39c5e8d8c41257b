# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The rate that one server carries while its constraints hold.

The rate lies between the highest measured one that keeps all constraints and the next one, which
breaks one. Between the two, the logarithm of the constrained metric is taken as linear in the rate.
Queues grow faster than that, so the estimate is rather too low. Nothing is said beyond measured
rates.

A higher rate never makes latencies shorter, but disturbances of the machine make them longer. So a
rate that keeps the constraints speaks for all lower ones, even if one of these broke them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate, pairwise
from operator import attrgetter

from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.metrics import Better, metric_of
from model_analyzer.features.capacity.facts.points import Point, reaches_at
from model_analyzer.noise.noise_model import NoiseModel

# A division of two measured numbers is exact to this, so that 3 x 0.1 needs no fourth replica.
_EXACT = 1e-9

# By how much a point breaks a constraint, as a logarithm; negative or 0 if it keeps it.
_Excess = Callable[[Point], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """The requests per second that one server carries, with the 95 % interval.

    `low` is None if even the lowest measured rate may break a constraint, `high` if no measured
    rate surely breaks one. `first` is the constraint that breaks above the rate: None if the server
    does not keep up, or if nothing broke. The rate is between the measured rates `kept`, which
    keeps all constraints, and `broken`, which does not (None if nothing above was measured).
    """

    rate: float
    low: float | None
    high: float | None
    first: Constraint | None
    kept: float
    broken: float | None


class Keeps(Enum):
    """Whether a server keeps the constraints at a measured rate, given the 95 % intervals."""

    YES = "yes"
    NO = "NO"
    UNSURE = "not certain"


def carried(
    points: Sequence[Point],
    constraints: Sequence[Constraint],
    noise: NoiseModel,
    *,
    most: float | None = None,
) -> Carried | None:
    """What one server carries, from points in ascending order of their rates; None if all of them
    break a constraint, or if there is none. `most` is the highest throughput in requests per
    second that was measured under any load: no rate above it can be carried, unless it was
    measured (a client that falls behind its rate by a little does not count as broken).
    """
    curves = _curves(constraints)
    ends = {first: _end(points, excess) for first, excess in curves}
    known = {first: end for first, end in ends.items() if end is not None}
    keeping = rates_that_keep(points, constraints)
    if not keeping or len(known) < len(ends):
        return None
    first, (rate, broken) = min(known.items(), key=lambda item: (item[1][0], item[1][1] is None))
    kept = max(each for each in keeping if each <= rate)
    rate = min(rate, _limit(most, kept))
    lows = [_end(points, _shifted(excess, first, noise, 1)) for first, excess in curves]
    highs = [_end(points, _shifted(excess, first, noise, -1)) for first, excess in curves]
    closed = [end[0] for end in highs if end is not None and end[1] is not None]
    high = min(closed, default=None)
    if high is None and most is not None and most > rate:
        high = most
    return Carried(
        rate=rate,
        low=None if None in lows else min(rate, *(end[0] for end in lows if end is not None)),
        high=None if high is None else max(rate, min(high, _limit(most, kept))),
        first=None if broken is None else first,
        kept=kept,
        broken=broken,
    )


def is_as_good(other: Carried, first: Carried, needed: float) -> bool:
    """Whether a server that carries no more than the `first` is as good: as many of each serve the
    `needed` requests per second, their rates differ by noise only, and it is as sure to keep the
    constraints.
    """
    if replicas_for(needed, other.rate) != replicas_for(needed, first.rate):
        return False
    if first.low is None:
        return True
    if other.low is None:
        return False
    below = math.log(first.rate / first.low)
    above = 0.0 if other.high is None else math.log(other.high / other.rate)
    return math.log(first.rate / other.rate) <= math.hypot(below, above)


def replicas_for(rate: float, each: float) -> int:
    """The replicas that serve a rate if each serves `each` requests per second: at least one."""
    return max(1, math.ceil(rate / each * (1 - _EXACT)))


def _limit(most: float | None, kept: float) -> float:
    return math.inf if most is None else max(most, kept)


def rates_that_keep(
    points: Sequence[Point], constraints: Sequence[Constraint]
) -> tuple[float, ...]:
    """The measured rates that keep all constraints."""
    curves = _curves(constraints)
    return tuple(point.rate for point in points if all(excess(point) <= 0 for _, excess in curves))


def keeps_at(point: Point, constraints: Sequence[Constraint], noise: NoiseModel) -> Keeps:
    """Whether the measurements of a point show that it keeps all constraints, or breaks one."""
    curves = _curves(constraints)
    if any(_shifted(excess, first, noise, -1)(point) > 0 for first, excess in curves):
        return Keeps.NO
    are_kept = (_shifted(excess, first, noise, 1)(point) <= 0 for first, excess in curves)
    return Keeps.YES if all(are_kept) else Keeps.UNSURE


def _curves(constraints: Sequence[Constraint]) -> Sequence[tuple[Constraint | None, _Excess]]:
    """What a point must keep: up with its rate (None), and the constraints."""
    return [(None, attrgetter("backlog")), *((each, _excess(each)) for each in constraints)]


def _end(points: Sequence[Point], excess: _Excess) -> tuple[float, float | None] | None:
    """Up to which rate the points keep a constraint, and the measured rate that breaks it (None if
    none does). None if all break it.
    """
    values = _rising([(point.rate, excess(point)) for point in points])
    if not values or values[0][1] > 0:
        return None
    for (low, inside), (high, outside) in pairwise(values):
        if outside > 0:
            share = 0.0 if math.isinf(outside) else -inside / (outside - inside)
            return low + share * (high - low), high
    return values[-1][0], None


def _rising(values: Sequence[tuple[float, float]]) -> Sequence[tuple[float, float]]:
    """The values by rate, none above that of a higher rate."""
    lowest = list(accumulate((value for _, value in reversed(values)), min))
    return [(rate, value) for (rate, _), value in zip(values, reversed(lowest), strict=True)]


def _excess(constraint: Constraint) -> _Excess:
    def excess(point: Point) -> float:
        value = point.value(constraint.tag)
        assert value is not None, "a point has all constrained metrics"
        return _beyond(constraint, value)

    return excess


def _beyond(constraint: Constraint, value: float) -> float:
    """By how much a value breaks a constraint, as a logarithm where there is one."""
    distances = []
    for limit, sign in ((constraint.maximum, 1), (constraint.minimum, -1)):
        if limit is None:
            continue
        has_logarithm = limit > 0 and value > 0
        distances.append(sign * (math.log(value / limit) if has_logarithm else value - limit))
    return max(distances)


def _shifted(
    excess: _Excess, constraint: Constraint | None, noise: NoiseModel, sign: int
) -> _Excess:
    """The same with the noise of each point added (`sign` 1) or taken away (-1)."""

    def shifted(point: Point) -> float:
        if constraint is None:
            return excess(point)  # the backlog counts chance already
        below, above = reaches_at(point, constraint.tag, noise)
        is_above = (sign > 0) == (constraint.maximum is not None)
        return excess(point) + sign * (above if is_above else below)

    return shifted


def at_rate(points: Sequence[Point], tag: str, rate: float) -> float | None:
    """The metric at a rate between two measured ones; None outside of them, or if its values have
    no logarithm.
    """
    values = [(point.rate, point.value(tag) or 0.0) for point in points]
    if metric_of(tag).better is Better.LOWER:
        values = [*_rising(values)]
    for (low, below), (high, above) in pairwise(values):
        if low <= rate <= high and below > 0 and above > 0:
            share = (rate - low) / (high - low)
            return math.exp(math.log(below) + share * (math.log(above) - math.log(below)))
    return None
