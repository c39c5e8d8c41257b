# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Constraints that a share of the points of a simulated surface meets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from benchmarks.search.simulated.source import Simulated
from benchmarks.search.surface import AVERAGE, MEMORY, P99, THROUGHPUT, Surface
from benchmarks.search.truth import Truth
from model_analyzer.domain.goals import Constraint

Limit = Callable[[Surface], Surface]

# Shares of the points that constraints are to leave.
_LEAST, _MIDDLE, _MOST = 0.05, 0.075, 0.10

# Numbers of milliseconds that a person would choose.
_ROUND = sorted(
    digits * 10**power
    for digits in (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 7.5, 8)
    for power in range(-1, 4)
)


def _p99(surface: Surface) -> Surface:
    """Throughput within a tight p99."""
    return surface.within(_tight(surface, P99))


def _round(surface: Surface) -> Surface:
    """The same with a round number: times are stretched a little, so that it is as tight."""
    bound = _tight(surface, P99).maximum
    assert bound is not None
    number = min(_ROUND, key=lambda value: abs(np.log(value / bound)))
    assert isinstance(surface.source, Simulated)
    stretched = replace(surface, source=replace(surface.source, scale=number / bound))
    return stretched.within(Constraint(tag=P99, maximum=number))


def _average(surface: Surface) -> Surface:
    """Throughput within a tight average latency."""
    return surface.within(_tight(surface, AVERAGE))


def _productive(surface: Surface) -> Surface:
    """The lowest p99 with much throughput."""
    surface = replace(surface, options={**surface.options, "objectives": {P99: 1}})
    return surface.within(_tight(surface, THROUGHPUT))


def _small(surface: Surface) -> Surface:
    """Throughput within a p99 that some points meet, and a memory limit that few of those meet."""
    truth = Truth(surface)
    candidates = []
    for part in (0.2, 0.25, 0.3, 0.4, 0.5):
        share = part * truth.feasible  # of what loads
        latency = truth.limit_apart(P99, 0.9 * share, 1.1 * share)
        within = Truth(surface.within(latency))
        if len(set(within.metric(MEMORY))) > 1:
            candidates.append(surface.within(latency, within.limit(MEMORY, _MIDDLE)))
    # memories come in few steps: the share that was asked for may not be among what they leave
    return min(candidates, key=lambda candidate: abs(Truth(candidate).feasible - _MIDDLE))


def _tight(surface: Surface, tag: str) -> Constraint:
    return Truth(surface).limit_apart(tag, _LEAST, _MOST)


LIMITS: Mapping[str, Limit] = {
    "p99": _p99,
    "round": _round,
    "avg": _average,
    "productive": _productive,
    "small": _small,
}
