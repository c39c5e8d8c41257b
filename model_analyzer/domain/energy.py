# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Energy of GPUs, from counters that grow as they use it. What is unknown has no value, never 0."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from model_analyzer.domain.measurements import ModelMeasurement, Values
from model_analyzer.domain.metrics import METRICS

METERED_POWER, ENERGY_PER_INFERENCE = "gpu_metered_power", "energy_per_inference"

# The counter of each GPU in joules, by UUID, at a time in seconds.
Reading = tuple[float, Mapping[str, float]]


def metered_power(readings: Sequence[Reading]) -> Mapping[str, float]:
    """The mean power of each GPU in watts, by UUID, from readings in order of time.

    A GPU is left out if it has no counter (MIG, GPUs before Volta), if a reading lacks it, if its
    counter fell (the driver was loaded again, or the counter wrapped around), or if it stood still:
    no GPU uses nothing.
    """
    if len(readings) < 2:
        return {}
    (first_s, first), (last_s, last) = readings[0], readings[-1]
    if last_s <= first_s:
        return {}
    return {
        uuid: (last[uuid] - first[uuid]) / (last_s - first_s)
        for uuid in first
        if _grows([counters.get(uuid) for _, counters in readings])
    }


def _grows(counter: Sequence[float | None]) -> bool:
    """Whether the counter is known at each reading, never falls, and has grown."""
    known = [value for value in counter if value is not None]
    is_known = len(known) == len(counter) and all(a <= b for a, b in pairwise(known))
    return is_known and known[0] < known[-1]


def energy_per_inference(
    gpus: Mapping[str, Values], models: Sequence[ModelMeasurement]
) -> float | None:
    """The energy of all GPUs for an inference of any model, in joules; None if it is unknown for
    one of the GPUs, or without a GPU.
    """
    power = total_power(gpus)
    throughput = sum(model.values.get("perf_throughput", 0.0) for model in models)
    return None if power is None or throughput <= 0 else power / throughput


def total_power(gpus: Mapping[str, Values]) -> float | None:
    """The metered power of all GPUs together; None if it is unknown for one, or without a GPU."""
    powers = [values.get(METERED_POWER) for values in gpus.values()]
    known = [power for power in powers if power is not None]
    if not known or len(known) < len(powers):
        return None
    return METRICS[METERED_POWER].over_gpus.apply(known)
