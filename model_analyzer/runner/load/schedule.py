# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The times at which the requests of an open load are due: those that we choose, reproducible by a
seed, and those at which perf_analyzer itself has to send. Pure.

When the requests of an open load should have been sent. Pure.

A client that falls behind sends late, and a latency from the moment of sending hides that wait:
users have it, too ("coordinated omission"). So the latencies of open loads count from the intended
times.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.arrivals import is_open
from model_analyzer.domain.flags import Flag, sequences, whole
from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import Notice, NoticeKind, Values
from model_analyzer.domain.metrics import PERCENTILES
from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.domain.trials import LoadKind, Workload, workload_words
from model_analyzer.domain.windows import DEFAULT_INTERVAL_MS
from model_analyzer.noise.lag import SEND_LAG, SENT_LATENCY, advice_on_lag, is_late
from model_analyzer.runner.load.profile_export import Export

# Nanoseconds from the beginning of the load, ascending.
Times = npt.NDArray[np.int64]

_NS_PER_S = 1e9


def due_times(
    traffic: Traffic,
    *,
    rate: float,
    seconds: float,
    part: int = 0,
    log: Sequence[int] | Times = (),
    stratum_s: float = math.inf,
) -> Times:
    """When requests are due that arrive at `rate` per second on average, for so many seconds.

    In each stratum of so many seconds, and in each stage, that is the rate exactly: a short part of
    a random load would have a load by chance. Each `part` of a load (a round, for example)
    has other times, unless they are those of a log. Stages and a `log` (its times in nanoseconds,
    ascending, from 0) have their own rates and length.
    """
    random = np.random.default_rng([traffic.seed, part])
    match traffic.arrivals:
        case Arrivals.REPLAY:
            return np.round(np.asarray(log, dtype=np.int64) / traffic.speed).astype(np.int64)
        case Arrivals.STAGES:
            return _in_stages(traffic.stages, random)
        case Arrivals.CONSTANT:
            gaps = np.full(_count(rate * seconds), 1 / rate)
        case _:
            cv = traffic.cv if traffic.arrivals is Arrivals.GAMMA else 1.0
            # with this shape, a gamma distribution has this coefficient of variation
            shape = 1 / cv**2
            gaps = random.gamma(shape, 1 / (rate * shape), _count(rate * seconds))
            gaps = _stratified(gaps, 1 / rate, _count(rate * min(stratum_s, seconds)))
    return _nanoseconds(np.cumsum(gaps))


def _stratified(gaps: npt.NDArray[np.float64], mean: float, size: int) -> npt.NDArray[np.float64]:
    """The gaps, with this mean in each group of `size`; a last group that is smaller stays."""
    whole = len(gaps) // size * size
    groups = gaps[:whole].reshape(-1, size)
    scaled = groups * (mean / groups.mean(axis=1, keepdims=True))
    return np.concatenate([scaled.ravel(), gaps[whole:]])


def _count(expected: float) -> int:
    return max(round(expected), 2)


def _in_stages(stages: Sequence[Stage], random: np.random.Generator) -> Times:
    """Poisson arrivals: given their number, they are independent and uniform in their stage."""
    ends = np.cumsum([stage.seconds for stage in stages])
    due = np.rint(np.cumsum([stage.rate * stage.seconds for stage in stages]))
    counts = np.diff(due, prepend=0).astype(int)
    times = [
        np.sort(random.uniform(end - stage.seconds, end, count))
        for stage, end, count in zip(stages, ends, counts, strict=True)
    ]
    return _nanoseconds(np.concatenate(times))


def _nanoseconds(seconds: npt.NDArray[np.float64]) -> Times:
    return np.round(seconds * _NS_PER_S).astype(np.int64)


# The limit of a file: enough for millions of intervals.
MOST_INTERVALS_BYTES = 16 * 2**20

# perf_analyzer's own defaults: windows at most, threads at a rate
_MOST_WINDOWS, _THREADS = 10, 4
# The seed of a C++ `std::mt19937` without any.
_SEED = 5489
# A time between requests in a file, as C++ reads it: what follows the number does not count.
_INTERVAL = re.compile(r"\s*\+?(\d{1,15})")
_NS_PER_US, _NS_PER_MS = 1000, 1_000_000


def own_due_times(
    work: Workload, flags: Mapping[str, Flag], count: int, intervals: str = ""
) -> Times | None:
    """When the first `count` requests of an open load are due (ns), if perf_analyzer gets these
    `flags`; None if that is not known. `intervals` is the text of the file in the flags.
    """
    if work.load.kind is LoadKind.REQUEST_INTERVALS:
        gaps = _gaps(intervals)
        return None if gaps is None else _repeated(gaps, count)
    rate = work.load.value
    match flags.get("request-distribution", "constant"):
        case "constant":
            gap = int(1 / rate * _NS_PER_S)
            return np.arange(1, count + 1, dtype=np.int64) * gap
        case "poisson":
            windows = whole(flags, "max-trials", _MOST_WINDOWS)
            interval_ms = whole(flags, "measurement-interval", DEFAULT_INTERVAL_MS)
            least_ns = windows * interval_ms * _NS_PER_MS
            return _random(rate, count, least_ns, _senders(work, flags))
    return None


def own_rate(work: Workload, intervals: str = "") -> float | None:
    """The requests per second that perf_analyzer sends; None if that is not known."""
    if work.load.kind is LoadKind.REQUEST_RATE:
        return float(work.load.value)
    gaps = _gaps(intervals)
    return None if gaps is None or not gaps.any() else float(_NS_PER_S / gaps.mean())


@lru_cache(maxsize=4)  # before and after each launch, and the same file for each variant
def _gaps(intervals: str) -> npt.NDArray[np.int64] | None:
    """The times between requests (ns) of a file with microseconds; None if it has other lines."""
    matches = [_INTERVAL.match(line) for line in intervals.splitlines()]
    gaps = [int(match[1]) * _NS_PER_US for match in matches if match is not None]
    if not gaps or len(gaps) < len(matches):
        return None
    return np.array(gaps, dtype=np.int64)


def _random(rate: int, count: int, least_ns: int, senders: int) -> Times:
    """Poisson arrivals. perf_analyzer makes them for so many ns at least, equally many for each of
    its senders, and then begins again.
    """
    random = np.random.RandomState(_SEED)
    made = count + senders
    # C++ makes a number from 0 to 1 of two 32-bit numbers, the lower one first
    numbers = np.frombuffer(random.bytes(8 * made), dtype="<u8") / 2.0**64
    gaps = (-np.log(1 - numbers) / rate * _NS_PER_S).astype(np.int64)
    reached = int(np.searchsorted(np.cumsum(gaps), least_ns)) + 1
    return _repeated(gaps[: -(-reached // senders) * senders], count)


def _repeated(gaps: npt.NDArray[np.int64], count: int) -> Times:
    return np.cumsum(np.resize(gaps, count))


def _senders(work: Workload, flags: Mapping[str, Flag]) -> int:
    """The number of threads, or of sequences, that send in turn."""
    if "sequence_batching" in work.variant.config:
        return sequences(flags)
    return threads(flags)


def threads(flags: Mapping[str, Flag]) -> int:
    """The number of threads that perf_analyzer starts for an open load, at most."""
    return whole(flags, "max-threads", _THREADS)


_DECIMALS = 6
_US_PER_S = 1_000_000
# Before the first request: perf_analyzer loses answers that come before it has begun to collect
# them, which takes it longer, the longer the file is.
LEAD_S = 0.05
# After the last request: longer than any measurement lasts, so perf_analyzer does not begin again.
_NEVER_US = 24 * 3600 * _US_PER_S


# Why it is usually not known when requests were sent.
NOT_EXPORTED = (
    "perf_analyzer exported no times of its requests, which takes too long with large tensors"
)


@dataclass(frozen=True)
class IntendedTimes:
    """An export whose requests are `sent` at their intended times, and how much later each one was
    really sent (ms), in the same order; and when requests were `due`, answered or not.
    """

    export: Export
    lags: npt.NDArray[np.float64]
    due: Times

    @cached_property
    def latencies(self) -> npt.NDArray[np.float64]:
        """How long each request took from its intended time on (ms)."""
        return (self.export.requests.ended - self.export.requests.sent) / _NS_PER_MS

    @property
    def sent_latencies(self) -> npt.NDArray[np.float64]:
        """How long each request took from the moment of sending on (ms)."""
        return self.latencies - self.lags

    def ended_within(self, begin: int, end: int) -> IntendedTimes:
        """The part of it that ended within a period (ns)."""
        requests = self.export.requests
        ended = requests.ended_within(begin, end)
        export = replace(self.export, requests=requests.take(ended))
        return replace(self, export=export, lags=self.lags[ended])


def intervals_text(due: Times) -> str:
    """The file of perf_analyzer for requests that are due at these times: microseconds between two
    requests. The first ones are later by `LEAD_S`. It begins again at the end of the file: after
    the last request, it waits.
    """
    # rounded times, not rounded intervals: errors must not add up
    times = np.round(due / _NS_PER_US).astype(np.int64)
    gaps = np.diff(times, prepend=0)
    gaps[0] += round(LEAD_S * _US_PER_S)
    return "\n".join(map(str, [*gaps.tolist(), _NEVER_US])) + "\n"


def intended(export: Export, due: Times) -> IntendedTimes:
    """The requests with the times at which they were due, as they are sent in this order.

    The earliest one, compared with its time, was sent on time. Requests beyond `due` are left out.
    """
    order = np.argsort(export.requests.sent, kind="stable")[: len(due)]
    requests = export.requests.take(order)
    origin = int(requests.sent[0])
    offsets = requests.sent - origin - due[: len(requests)]
    lags = offsets - offsets.min()
    order = np.argsort(requests.ended, kind="stable")
    return IntendedTimes(
        replace(export, requests=replace(requests, sent=requests.sent - lags).take(order)),
        lags[order] / _NS_PER_MS,
        due + (origin + int(offsets.min())),
    )


def values_of_sending(moved: IntendedTimes) -> Values:
    """What the client did: how late it sent, and the latency from the moment of sending (ms)."""
    return {
        SEND_LAG: round(float(np.percentile(moved.lags, 99)), _DECIMALS),
        SENT_LATENCY: round(float(np.percentile(moved.sent_latencies, 99)), _DECIMALS),
    }


def histograms_of_sending(moved: IntendedTimes) -> Mapping[str, Histogram]:
    """The histograms of the same two, with which rounds are pooled."""
    return {
        PERCENTILES[SEND_LAG][0]: Histogram.of(moved.lags.tolist()),
        PERCENTILES[SENT_LATENCY][0]: Histogram.of(moved.sent_latencies.tolist()),
    }


def remarks_on_sending(
    work: Workload,
    values: Values,
    *,
    in_rounds: bool = True,
    unknown: str = NOT_EXPORTED,
) -> Iterator[Notice]:
    """A notice if the client of an open load sent so late that its lag is a part of the latencies;
    or, if it is not known when requests were due or sent, with the reason.
    """
    if is_late(values):
        advice = advice_on_lag(work, in_rounds=in_rounds)
        yield Notice(
            kind=NoticeKind.CLIENT_LAGGED,
            text=f"{workload_words(work)}: one request in a hundred was sent more"
            f" than {values[SEND_LAG]:,.1f} ms late, and its latency contains that: {advice}",
        )
    elif is_open(work) and SEND_LAG not in values:
        yield Notice(
            kind=NoticeKind.LAG_UNKNOWN,
            text=f"{workload_words(work)}: {unknown}; so latencies count from the"
            " moment of sending, and it is not known whether requests were sent late",
        )
