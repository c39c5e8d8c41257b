# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How the requests of a load arrive at the server, and how long they are measured.

Users send requests without waiting for each other: their arrivals are an open load, close to a
Poisson process. A concurrency is a closed loop: a slow server gets fewer requests.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from model_analyzer.domain.flags import Flag, is_on
from model_analyzer.domain.models import is_decoupled
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import LoadKind, Workload

# Requests arrive at random around a rate.
RANDOM = frozenset({Arrivals.POISSON, Arrivals.GAMMA})

# perf_analyzer flags for arrivals, and for the length and stability of a measurement
_ARRIVAL_FLAGS = frozenset(
    {"request-distribution", "request-intervals", "async", "sync", "max-threads"}
)
_LENGTH_FLAGS = frozenset(
    {
        "measurement-mode", "measurement-interval", "measurement-request-count",
        "stability-percentage", "max-trials", "percentile",
    }
)  # fmt: skip


def arrivals_of(work: Workload) -> Arrivals:
    """How the requests of a workload arrive."""
    if work.load.kind is LoadKind.CONCURRENCY:
        return Arrivals.CLOSED
    traffic = traffic_of(work)
    return Arrivals.FILE if traffic is None else traffic.arrivals


def traffic_of(work: Workload) -> Traffic | None:
    """The traffic of an open load, from the configuration or from perf_analyzer's flags; None for a
    closed load, or if the times are in a file of perf_analyzer.
    """
    if work.traffic is not None or work.load.kind is not LoadKind.REQUEST_RATE:
        return work.traffic
    is_poisson = work.flags.get("request-distribution") == "poisson"
    return Traffic(arrivals=Arrivals.POISSON if is_poisson else Arrivals.CONSTANT)


def variation(work: Workload) -> float | None:
    """The coefficient of variation of the times between requests; None if it is unknown."""
    traffic, arrivals = traffic_of(work), arrivals_of(work)
    if arrivals is Arrivals.CONSTANT:
        return 0.0
    if traffic is None or arrivals not in RANDOM:
        return None
    return traffic.cv if arrivals is Arrivals.GAMMA else 1.0


def fewest_answers(work: Workload, seconds: float) -> float:
    """The number of answers that a rate gives at least in so many seconds, by chance: arrivals
    have a variance of cv² times their number.
    """
    expected, cv = work.load.value * seconds, variation(work)
    return expected - _DEVIATIONS * (1.0 if cv is None else cv) * math.sqrt(expected) - _AT_ENDS


def is_open(work: Workload) -> bool:
    """Whether requests are sent without waiting for answers to earlier ones."""
    return work.load.kind is not LoadKind.CONCURRENCY


def is_random(work: Workload) -> bool:
    """Whether requests arrive at random around a rate, so that queues build up by chance."""
    return arrivals_of(work) in RANDOM


def has_own_times(work: Workload) -> bool:
    """Whether its traffic says how many requests there are and how long they take."""
    return work.traffic is not None and work.traffic.has_own_times


def waits_in_client(work: Workload, *, in_rounds: bool) -> bool:
    """Whether requests of an open load that are due may wait for a free thread of perf_analyzer,
    because its threads wait for answers. Then they are sent late if the server is slow.

    In rounds, which a load with a traffic always has, perf_analyzer never waits for answers,
    whatever the user's flags say.
    """
    if in_rounds or work.traffic is not None or not is_open(work):
        return False
    return not is_on(work.flags.get("async")) and not is_decoupled(work.variant.config)


def without_load_flags(flags: Mapping[str, Flag]) -> Mapping[str, Flag]:
    """The perf_analyzer flags that say neither how requests arrive nor how long to measure."""
    others = {
        name: value
        for name, value in flags.items()
        if name not in _ARRIVAL_FLAGS and name not in _LENGTH_FLAGS
    }
    return MappingProxyType(others)


# Deviations of a count that chance explains, and requests at the ends of windows.
_DEVIATIONS, _AT_ENDS = 3.0, 3.0
