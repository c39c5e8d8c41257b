# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which measurements say how a server behaves for independent users, at which rate; and the rate
that one server carries while its constraints hold.

A percentile at a rate comes from an open load: Poisson arrivals, sent in time, enough requests.
Every other measurement lacks something, which is named.

The rate lies between the highest measured one that keeps all constraints and the next one, which
breaks one. Between the two, the logarithm of the constrained metric is taken as linear in the rate.
Queues grow faster than that, so the estimate is rather too low. Nothing is said beyond measured
rates.

A higher rate never makes latencies shorter, but disturbances of the machine make them longer. So a
rate that keeps the constraints speaks for all lower ones, even if one of these broke them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import accumulate, pairwise
from operator import attrgetter
from statistics import fmean

from model_analyzer.domain.arrivals import arrivals_of, waits_in_client
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Constraint
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS, Better, canonical, metric_of
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.traffic import Arrivals
from model_analyzer.domain.trials import Failure, Load, LoadKind
from model_analyzer.noise.lag import SEND_LAG
from model_analyzer.noise.noise import Noise
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import in_rounds, is_replaced, pool

# If the throughput is below the rate by more than this share, the server does not keep up.
_FALLEN_BEHIND = 0.05

# A constraint that is missed by more than this share is not missed by noise.
_CLEARLY = 0.1

# The confidence that so many requests contain some beyond a percentile.
_CONFIDENCE = 0.95

# The degrees of freedom of an error that many requests tell, and the percentile below a tail.
_MANY, _LOWER = 60.0, 90

_PERCENTILE = re.compile(r".*_p(\d+)")


class Lack(Enum):
    """Why a measurement does not tell a percentile at a rate; the most useful one first."""

    FEW_REQUESTS = "too few requests"
    NO_METRIC = "a constrained metric was not measured"
    LATE_CLIENT = "sent by few threads, without async: a late request is not counted as late"
    CONSTANT = "requests at equal distances: those of independent users come in bursts"
    GAMMA = "requests in bursts, which several replicas share otherwise than one"
    OTHER_BATCH = "another client batch size"
    FAILED = "the measurement failed"
    FILE = "the requests have their own times: they have no single rate"
    CLOSED = "a fixed concurrency: a slow server gets fewer requests"


@dataclass(frozen=True, kw_only=True)
class Point:
    """What one server does at a `rate` of requests per second: one measurement, or several that are
    pooled.
    """

    rate: float
    batch_size: int
    runs: tuple[Measurement, ...]

    @cached_property
    def pooled(self) -> Measurement:
        """All runs as one measurement."""
        return pool(self.runs)

    def value(self, tag: str) -> float | None:
        """The value of all runs together; None if it was not measured."""
        return self.pooled.value(tag)

    @property
    def requests(self) -> int | None:
        """The requests behind all runs; None if unknown."""
        counts = [run.models[0].requests for run in self.runs]
        known = [count for count in counts if count is not None]
        return sum(known) if len(known) == len(counts) else None

    @property
    def answered(self) -> float | None:
        """The requests per second that were answered."""
        throughput = self.value(DEFAULT_OBJECTIVE)
        return None if throughput is None else throughput / self.batch_size

    @property
    def backlog(self) -> float:
        """By how much (as a logarithm) fewer requests were answered than chance explains; negative
        if the server keeps up.
        """
        answered = self.answered
        if not answered:
            return math.inf
        by_chance = 2 / math.sqrt(self.requests or 1)
        return math.log(self.rate / answered) - max(_FALLEN_BEHIND, by_chance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """The outcomes of one variant: `points` by ascending rate, and the rates of the outcomes that
    tell no percentile (`unfit`), by what they lack.
    """

    points: tuple[Point, ...]
    unfit: Mapping[Lack, Sequence[float]]


def loads_of(
    records: Sequence[TrialRecord], batch_size: int, constraints: Sequence[Constraint]
) -> Loads:
    """The outcomes of one variant for requests of `batch_size` inferences.

    Repetitions at the same rate are one point; together they may have enough requests. Measurements
    in perf_analyzer's own windows replace earlier rounds.
    """
    by_rate: dict[float, list[TrialRecord]] = {}
    unfit: dict[Lack, list[float]] = {}
    for record in records:
        rate = record.trial.workloads[0].load.value
        lack = _lack(record, batch_size, constraints)
        if lack is None:
            by_rate.setdefault(rate, []).append(record)
        else:
            unfit.setdefault(lack, []).append(rate)
    points = []
    for at, same in sorted(by_rate.items()):
        point = Point(rate=at, batch_size=batch_size, runs=tuple(_counted(same)))
        if (point.requests or 0) < requests_needed(constraints):
            unfit.setdefault(Lack.FEW_REQUESTS, []).append(at)
        else:
            points.append(point)
    return Loads(points=tuple(points), unfit=unfit)


def _lack(record: TrialRecord, batch_size: int, constraints: Sequence[Constraint]) -> Lack | None:
    """What one outcome lacks, apart from requests."""
    (work,) = record.trial.workloads
    if work.load.batch_size != batch_size:
        return Lack.OTHER_BATCH
    match arrivals_of(work):
        case Arrivals.CLOSED:
            return Lack.CLOSED
        case Arrivals.FILE | Arrivals.REPLAY | Arrivals.STAGES:
            return Lack.FILE
        case Arrivals.CONSTANT:
            return Lack.CONSTANT
        case Arrivals.GAMMA:
            return Lack.GAMMA
    if isinstance(record.outcome, Failure):
        return Lack.LATE_CLIENT if waits_in_client(work, in_rounds=False) else Lack.FAILED
    waits = waits_in_client(work, in_rounds=record.outcome.is_round)
    if waits and record.outcome.value(SEND_LAG) is None:  # else, latencies contain the waiting
        return Lack.LATE_CLIENT
    unmeasured = (record.outcome.value(constraint.tag) is None for constraint in constraints)
    return Lack.NO_METRIC if any(unmeasured) else None


def requests_needed(constraints: Sequence[Constraint]) -> int:
    """The requests that the highest constrained percentile needs, so that some are beyond it."""
    shares = [share for each in constraints if (share := _share_beyond(each.tag)) is not None]
    if not shares:
        return 1
    return math.ceil(math.log(1 - _CONFIDENCE) / math.log(1 - min(shares)))


def _share_beyond(tag: str) -> float | None:
    """The share of requests beyond a percentile; None if the metric is none."""
    match = _PERCENTILE.fullmatch(canonical(tag))
    return None if match is None else 1 - int(match[1]) / 100


def closed_loads(records: Sequence[TrialRecord], batch_size: int) -> Mapping[int, float]:
    """The throughput by concurrency, ascending, in inferences per second."""
    by_value: dict[int, list[float]] = {}
    for load, throughputs in _throughputs(records):
        if load.kind is LoadKind.CONCURRENCY and load.batch_size == batch_size:
            by_value.setdefault(load.value, []).extend(throughputs)
    return {value: fmean(each) for value, each in sorted(by_value.items()) if each}


def broken_when_idle(
    records: Sequence[TrialRecord], batch_size: int, constraints: Sequence[Constraint]
) -> tuple[Constraint, float] | None:
    """A constraint that every concurrency clearly breaks, also a single request in flight, and the
    best value: then no rate keeps it either. (A single request alone proves nothing: a server may
    let it wait for others.)
    """
    closed = [
        record
        for record in records
        if (load := record.trial.workloads[0].load).kind is LoadKind.CONCURRENCY
        and load.batch_size == batch_size
    ]
    runs = _counted(closed)
    is_idle = any(
        record.trial.workloads[0].load.value == 1 and record.outcome in runs for record in closed
    )
    for constraint in constraints if is_idle else ():
        values = [run.value(constraint.tag) for run in runs]
        known = [value for value in values if value is not None]
        if len(known) == len(runs) and all(constraint.excess(value) > _CLEARLY for value in known):
            return constraint, min(known, key=constraint.excess)
    return None


def highest_throughput(records: Sequence[TrialRecord]) -> float | None:
    """The most inferences per second that the variant ever gave, in all rounds of a trial
    together or in one other measurement.
    """
    every = (each for _, throughputs in _throughputs(records) for each in throughputs)
    return max(every, default=None)


def _throughputs(records: Sequence[TrialRecord]) -> Iterator[tuple[Load, Sequence[float]]]:
    """The throughputs of each trial under its load: one of all its rounds together, otherwise
    one of each measurement.
    """
    by_trial: dict[str, list[TrialRecord]] = {}
    for record in records:
        by_trial.setdefault(record.trial.first.key, []).append(record)
    for same in by_trial.values():
        runs = _counted(same)
        whole = [pool(runs)] if in_rounds(runs) else runs
        values = [run.value(DEFAULT_OBJECTIVE) for run in whole]
        yield same[0].trial.workloads[0].load, [value for value in values if value]


def _counted(records: Sequence[TrialRecord]) -> Sequence[Measurement]:
    """The measurements of these, without rounds that a later measurement replaces."""
    runs = [record.outcome for record in records if isinstance(record.outcome, Measurement)]
    return [run for run in runs if not is_replaced(run, runs)]


def reaches_at(point: Point, tag: str, model: NoiseModel) -> tuple[float, float]:
    """How far (as a logarithm) the 95 % interval of a metric reaches below and above its value at a
    point. That of rounds may be lopsided: a short measurement has not seen the longest queue.
    """
    value = point.value(tag)
    interval = model.interval(point.runs, tag) if in_rounds(point.runs) else None
    if interval is None or not value or value <= 0:
        reach = _noise_at(point, tag, model).reach
        return reach, reach
    return math.log(value / interval.low), math.log(interval.high / value)


def _noise_at(point: Point, tag: str, model: NoiseModel) -> Noise:
    """The noise of a metric at a point: from its repetitions, otherwise from its own tail."""
    known = model.of(point.runs, tag)
    if known is not None:
        return known
    usual = model.expected_deviation(tag)
    sampled = _tail_error(point, tag)
    if sampled is None:
        return usual
    return Noise(error=math.hypot(sampled, usual.error), freedom=_MANY)


def _tail_error(point: Point, tag: str) -> float | None:
    """The sampling error of a percentile, as a logarithm; None if the metric is none.

    The tail is taken as exponential. Requests that are in the server together see the same queue,
    so they count as one.
    """
    beyond = _share_beyond(tag)
    value, requests = point.value(tag), point.requests
    if beyond is None or not value or not requests or value <= 0:
        return None
    together = 1 + point.rate * value / 1000
    independent = max(requests / together, 1.0)
    return _scale(point, tag, value, beyond) * math.sqrt((1 - beyond) / (beyond * independent))


def _scale(point: Point, tag: str, value: float, beyond: float) -> float:
    """The mean of the exponential tail, as a share of the percentile."""
    lower = f"{tag.rpartition('_p')[0]}_p{_LOWER}"
    median = point.value(lower) if lower in METRICS and lower != tag else None
    if median is None:
        return 1 / -math.log(beyond)
    return max(value - median, 0.0) / value / math.log((1 - _LOWER / 100) / beyond)


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
