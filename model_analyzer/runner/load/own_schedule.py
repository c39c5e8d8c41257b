# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When requests are due that perf_analyzer sends at times of its own. Pure.

With the user's measurement flags, or a file of intervals, perf_analyzer makes the schedule. It can
be computed again: constant arrivals have a fixed distance, random ones always come from the same
seed, and a file is sent from its begin, again and again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.flags import Flag, sequences, whole
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.domain.windows import DEFAULT_INTERVAL_MS
from model_analyzer.runner.load.schedule import Times

# The limit of a file: enough for millions of intervals.
MOST_INTERVALS_BYTES = 16 * 2**20

# perf_analyzer's own defaults: windows at most, threads at a rate
_MOST_WINDOWS, _THREADS = 10, 4
# The seed of a C++ `std::mt19937` without any.
_SEED = 5489
# A time between requests in a file, as C++ reads it: what follows the number does not count.
_INTERVAL = re.compile(r"\s*\+?(\d{1,15})")
_NS_PER_US, _NS_PER_MS, _NS_PER_S = 1000, 1_000_000, 1e9


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
