# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of a bad latency or throughput, and what was found in the measurements."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.models import empty
from model_analyzer.results.explain.situation import Situation


class Cause(Enum):
    """Why requests are slow, or more of them are not answered: with its name in words."""

    COLD_START = "cold start"
    MEMORY_GROWTH = "memory keeps growing"
    SLOWING_DOWN = "slower and slower under load"
    CLIENT = "the client is the limit"
    TENSORS = "large tensors"
    COMPOSING_MODEL = "one composing model is the bottleneck"
    SERIAL_CALLS = "calls of other models one after the other"
    QUEUE_DELAY = "queue delay too long"
    QUEUE_POLICY = "Triton lets requests wait: its queue has a policy"
    BATCHES = "batches are not filled"
    LARGE_BATCHES = "large batches are slower"
    ARRIVALS = "requests arrive in bursts"
    HELD_BACK = "requests wait although instances are free"
    TOO_FEW_INSTANCES = "too few instances"
    TOO_MANY_INSTANCES = "too many instances"
    LOCK = "instances wait for each other"
    COLLAPSE = "the throughput falls under more load"
    SINGLE_CORE = "each execution computes on one core"
    MACHINE_FULL = "the machine is full"
    GPU_FULL = "the GPU is always busy"
    SLOW_REQUESTS = "some requests are slow in the model"
    NOISE = "noise of the machine"


# A cause that explains others: these are only consequences of it.
_LIMITS = {Cause.TOO_FEW_INSTANCES, Cause.SINGLE_CORE, Cause.MACHINE_FULL, Cause.GPU_FULL}
CONSEQUENCES: Mapping[Cause, Set[Cause]] = MappingProxyType(
    {
        Cause.CLIENT: {Cause.NOISE, Cause.MACHINE_FULL},
        Cause.TENSORS: {
            *_LIMITS, Cause.CLIENT, Cause.TOO_MANY_INSTANCES, Cause.LOCK, Cause.COLLAPSE,
        },
        Cause.MEMORY_GROWTH: {Cause.SLOWING_DOWN},
        Cause.COMPOSING_MODEL: {
            Cause.TOO_FEW_INSTANCES, Cause.SERIAL_CALLS, Cause.BATCHES, Cause.ARRIVALS,
        },
        Cause.SERIAL_CALLS: {Cause.TOO_FEW_INSTANCES, Cause.ARRIVALS},
        Cause.QUEUE_DELAY: {
            Cause.BATCHES, Cause.ARRIVALS, Cause.TOO_FEW_INSTANCES, Cause.HELD_BACK,
        },
        Cause.QUEUE_POLICY: {Cause.HELD_BACK, Cause.ARRIVALS, Cause.SLOW_REQUESTS},
        Cause.HELD_BACK: {Cause.ARRIVALS, Cause.TOO_FEW_INSTANCES, Cause.COMPOSING_MODEL},
        # whether a batch takes less than its requests one by one is not known: more instances help
        Cause.BATCHES: {Cause.MACHINE_FULL, Cause.GPU_FULL},
        Cause.LARGE_BATCHES: {
            *_LIMITS, Cause.LOCK, Cause.TOO_MANY_INSTANCES, Cause.COLLAPSE,
            Cause.COMPOSING_MODEL,
        },
        Cause.SLOW_REQUESTS: {Cause.HELD_BACK},
        Cause.LOCK: {
            Cause.TOO_FEW_INSTANCES, Cause.SINGLE_CORE, Cause.TOO_MANY_INSTANCES,
            Cause.COMPOSING_MODEL, Cause.COLLAPSE,
        },
        Cause.TOO_MANY_INSTANCES: {*_LIMITS, Cause.COMPOSING_MODEL, Cause.COLLAPSE},
        Cause.SINGLE_CORE: {Cause.TOO_FEW_INSTANCES},
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedChange:
    """A change that tests an advice: `parameters` of the configuration of a `model` (the variant's
    own or one that it calls), and perf_analyzer's `flags`.
    """

    model: str
    parameters: Mapping[str, Any] = field(default_factory=empty)
    flags: Mapping[str, Any] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCause:
    """A cause, the measured numbers that speak for it, and what to do about it.

    `under` is the load under which it shows most. `weight` is the share (0 to 1) of the latency or
    of the lost throughput that it stands for. `change` tests the advice; None if that takes more
    than another configuration.
    """

    cause: Cause
    under: Situation
    weight: float
    evidence: tuple[str, ...]
    advice: str
    change: AdvisedChange | None = None
