# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What running servers count, read again and again: differences of counters are what happened.

Counts of a model are sums over its versions and GPUs: `answered` and `failed` requests,
`inferences`, `executions`, `hits` of the cache; `request_us`, `queue_us` and `compute_us`, times of
all requests; `first_ms`, times of the `firsts`, the first responses of streams; `failed:REASON`,
and `version:N` for what each version answered. Gauges of a server are `cpu` (0 to 1), `gpus`, and
in bytes `memory`, `memory_total`, `gpu_memory`, `gpu_memory_total`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import correlation, fmean, linear_regression, median
from typing import NamedTuple

from model_analyzer.noise.noise import Interval, Noise, around

Counts = Mapping[str, float]

# What is estimated of a replica: one count by another, and the factor to its unit. As Triton counts
# it, each request of a batch has the computing time of the batch.
RATIOS: Mapping[str, tuple[str, str, float]] = {
    "requests_per_s": ("requests", "seconds", 1),
    "inferences_per_request": ("inferences", "computed", 1),
    "mean_batch": ("inferences", "executions", 1),
    "in_flight": ("request_us", "seconds", 1e-6),  # Little's law
    "queue_ms": ("queue_us", "computed", 1e-3),
    "compute_ms": ("compute_us", "computed", 1e-3),
    "first_response_ms": ("first_ms", "firsts", 1),
    "failed_share": ("broken", "requests", 1),
    "cache_share": ("hits", "answered", 1),
}

# Of the windows, so many may be on the other side of a limit: one in four is chance.
_MOST_OTHERS = 0.25

# The correlation of a value with time from which it climbs; that of a single step is up to 0.87.
_STRAIGHT, _FEWEST_POINTS = 0.93, 10

# The median of the square of a normal number, whose mean is 1.
_MEDIAN = 0.455


class Look(NamedTuple):
    """What a server tells `at` a time (in seconds): counts by model, and gauges; `why_not` says why
    it told nothing.
    """

    at: float
    server: str
    models: Mapping[str, Counts]
    gauges: Counts
    why_not: str = ""


class Span(NamedTuple):
    """What a server counted for a model between two times."""

    began: float
    ended: float
    counts: Counts

    def number(self, name: str) -> float:
        """A count, or one that follows from others; 0 if there is none."""
        of = self.counts.get
        match name:
            case "seconds":
                return self.ended - self.began
            case "requests":
                return of("answered", 0.0) + of("failed", 0.0)
            case "computed":  # not answered by the cache
                return of("answered", 0.0) - of("hits", 0.0)
            case "broken":  # clients may cancel what they like
                return of("failed", 0.0) - of("failed:CANCELED", 0.0)
        return of(name, 0.0)

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.number("requests") / self.number("seconds")


def spans_of(looks: Sequence[Look], model: str) -> Iterator[Span]:
    """What one server counted between its looks. Where a count fell, the server was restarted or
    the model unloaded: nothing is known of that time.
    """
    known = [(look.at, look.models[model]) for look in looks if model in look.models]
    for (began, before), (ended, after) in pairwise(known):
        grown = {name: count - before.get(name, 0.0) for name, count in after.items()}
        if ended > began and before.keys() <= after.keys() and min(grown.values()) >= 0:
            yield Span(began, ended, grown)


def joined(spans: Sequence[Span], seconds: float) -> Iterator[Span]:
    """The spans, put together to windows of at least so many seconds, without a shorter rest."""
    part: list[Span] = []
    for span in spans:
        if part and span.began > part[-1].ended:  # a gap
            part = []
        part.append(span)
        if span.ended - part[0].began >= 0.999 * seconds:
            names = {name for each in part for name in each.counts}
            counts = {name: sum(each.number(name) for each in part) for name in names}
            yield Span(part[0].began, span.ended, counts)
            part = []


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value over several `windows`, with its 95 % interval (None if it is unknown)."""

    value: float
    interval: Interval | None
    windows: Sequence[float] = ()

    def is_above(self, limit: float) -> bool:
        """Whether it is for certain, and lastingly: most windows are above the limit, too."""
        below = sum(value <= limit for value in self.windows)
        is_certain = self.interval is not None and self.interval.low > limit
        return is_certain and below <= _MOST_OTHERS * len(self.windows)


def ratio(spans: Sequence[Span], top: str, bottom: str, scale: float = 1.0) -> Estimate | None:
    """One count by another, over all spans; None if there is nothing to divide by."""
    pairs = [(scale * span.number(top), span.number(bottom)) for span in spans]
    above, below = math.fsum(pair[0] for pair in pairs), math.fsum(pair[1] for pair in pairs)
    if below <= 0:
        return None
    value, count, noise = above / below, len(pairs), None
    if count > 1 and above > 0:
        squares = math.fsum((up - value * down) ** 2 for up, down in pairs)
        noise = Noise(math.sqrt(squares * count / (count - 1)) / above, count - 1.0)
    return Estimate(value, around(value, noise), [up / down for up, down in pairs if down > 0])


class Rise(NamedTuple):
    """How a value grows: by second, from first to last, and the `last` value."""

    slope: float
    grown: float
    last: float

    def seconds_to(self, limit: float) -> float:
        """When it reaches a limit if it goes on."""
        return max(limit - self.last, 0.0) / self.slope


def climb(points: Sequence[tuple[float, float]]) -> Rise | None:
    """How points (seconds, value) climb; None unless nearly all of their spread is a line: a single
    step never is.
    """
    if len(points) < _FEWEST_POINTS or len({value for _, value in points}) == 1:
        return None
    times, values = zip(*points, strict=True)
    slope, start = linear_regression(times, values)
    if correlation(times, values) < _STRAIGHT:
        return None
    return Rise(slope, slope * (times[-1] - times[0]), start + slope * times[-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaSeen:
    """What one server showed of a model: the newest `windows`, which are judged, `every` window,
    the short `spans` of those that are judged, and gauges of the whole time.
    """

    server: str
    windows: Sequence[Span]
    every: Sequence[Span]
    spans: Sequence[Span]
    gauges: Sequence[tuple[float, Counts]]

    def total(self, name: str) -> float:
        return math.fsum(span.number(name) for span in self.windows)

    def of(self, name: str) -> Estimate | None:
        """One of `RATIOS`; None if it is unknown."""
        return ratio(self.windows, *RATIOS[name])

    def value(self, name: str) -> float:
        """The same without its error; 0 if it is unknown."""
        estimate = self.of(name)
        return 0.0 if estimate is None else estimate.value

    def parts(self, kind: str) -> Mapping[str, float]:
        """The counts of each version or reason of failure that is not 0, highest first."""
        names = sorted({name for span in self.windows for name in span.counts})
        totals = {name: self.total(name) for name in names if name.startswith(f"{kind}:")}
        ordered = sorted(totals.items(), key=lambda item: -item[1])
        return {name.partition(":")[2]: total for name, total in ordered if total}

    def gauge(self, name: str) -> float | None:
        """The median of a gauge; None if the server does not export it."""
        values = [gauges[name] for _, gauges in self.gauges if name in gauges]
        return median(values) if values else None


def cv_of(replicas: Sequence[ReplicaSeen]) -> Estimate | None:
    """The coefficient of variation of the times between requests, from the numbers of neighbouring
    moments: slow changes of the rate do not count. None with too few requests.
    """
    squares, rates = [], []
    for replica in replicas:
        # long moments: answers come in batches, which is no burst
        seconds = 20 * max(replica.value("mean_batch"), 1.0) / replica.value("requests_per_s")
        for first, second in pairwise(joined(replica.spans, seconds)):
            if second.began == first.ended:
                length = (second.ended - first.began) / 2  # readings are not always on time
                squares.append((second.rate - first.rate) ** 2 / 2 * length)
                rates.append((first.rate + second.rate) / 2)
    if len(squares) < 8:
        return None
    whole, usual = fmean(squares) / fmean(rates), median(squares) / _MEDIAN / fmean(rates)
    # neighbouring differences share a moment; and a single burst is no burstiness
    reach = Noise(math.sqrt(3 / len(squares)), math.inf).reach
    low, high = min(whole * math.exp(-reach), usual), whole * math.exp(reach)
    return Estimate(math.sqrt(whole), Interval(low=math.sqrt(low), high=math.sqrt(high)))
