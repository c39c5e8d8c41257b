# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stages of which the families are made: by a roofline, or by what was published of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.search.draws import Random, log_uniform
from benchmarks.search.machine import Floats
from benchmarks.search.simulated.server import SIZES, Stage, always


def roofline(
    *, least_ms: float, item_ms: float, weights_ms: float, traffic_ms: float, **more: Any
) -> Stage:
    """A chain of kernels that takes at least `least_ms`, or the time to move the weights and
    `traffic_ms` for each item, or `item_ms` of arithmetic for each item: whatever is longest, and
    a little more near to where they meet. Kernels that do not fill the GPU leave room for others.
    """
    memory, arithmetic = weights_ms + traffic_ms * SIZES, item_ms * SIZES
    compute = (least_ms**4 + memory**4 + arithmetic**4) ** 0.25
    occupancy = np.maximum(arithmetic, 0.7 * memory) / compute
    return Stage(compute_ms=compute, occupancy=np.clip(occupancy, 0.08, 1), **more)


def drawn_gpu_model(random: Random) -> Stage:
    """By a roofline, with a latency of about 1 to 6 ms."""
    least = log_uniform(random, 0.8, 6)
    item = least * log_uniform(random, 0.015, 0.12)
    return roofline(
        least_ms=least,
        item_ms=item,
        weights_ms=least * random.uniform(0.2, 1.0),
        traffic_ms=item * random.uniform(0.1, 0.6),
        launch_ms=always(least * random.uniform(0.05, 0.25)) + 0.002 * SIZES,
        copy_ms=0.02 + log_uniform(random, 0.003, 0.04) * SIZES,
        weights_mb=log_uniform(random, 100, 900),
        item_mb=log_uniform(random, 1, 12),
    )


def published(
    times_ms: Mapping[float, float] | Mapping[int, float], *, item_ms: float, **more: Any
) -> Stage:
    """A model whose times were published for some sizes of a batch: straight lines through these,
    also beyond the last. The occupancy is the share of the time that so many items need at the
    best rate.
    """
    sizes, times = np.asarray(list(times_ms)), np.asarray(list(times_ms.values()))
    slope = (times[-1] - times[-2]) / (sizes[-1] - sizes[-2])
    beyond = np.maximum(SIZES - sizes[-1], 0)
    compute: Floats = np.interp(SIZES, sizes, times) + slope * beyond
    occupancy = np.clip(item_ms * SIZES / compute, 0.1, 1)
    return Stage(compute_ms=compute, occupancy=occupancy, **more)
