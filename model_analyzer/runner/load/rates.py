# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What was learned about workloads: their request rates, and the sizes of their requests."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.noise.first_look import (
    FIRST_LOOK_S,
    first_look_s,
    in_flight,
    least_s,
    reached_rate,
)
from model_analyzer.runner.load.ended import Ended
from model_analyzer.runner.load.generators import Generator
from model_analyzer.runner.load.output import OutputVerdict

# The size of a request in an export: a part of fixed size, and each number or text as text.
_REQUEST_BYTES, _VALUE_BYTES = 200, 20

# The limits of an export, in bytes: writing it must not take much of the time, nor of the memory.
_MOST_BYTES_PER_S, _MOST_BYTES = 10e6, 64e6
# The rate of requests that is assumed as long as nothing is known.
_ASSUMED_RATE = 4000.0

# Fewer variants do not show how fast another one is.
_ENOUGH_VARIANTS = 3

# Requests per second by load.
_Rates = dict[int, float]


class RequestRates:
    """The requests per second of workloads, learned from their measurements."""

    def __init__(self) -> None:
        # by kind of load of a model, and then by variant
        self._rates: dict[object, dict[str, _Rates]] = defaultdict(lambda: defaultdict(dict))

    def learn(self, work: Workload, rate: float) -> None:
        if rate > 0:
            self._rates[_kind(work)][work.variant.identity][work.load.value] = rate

    def expected(self, work: Workload) -> float | None:
        """The rate that a workload reaches at least, as a rule; None if nothing is known."""
        rate = reached_rate(
            self._rates[_kind(work)].get(work.variant.identity, {}), work.load.value
        )
        if work.load.kind is LoadKind.REQUEST_RATE:
            return min(float(work.load.value), math.inf if rate is None else rate)
        return rate

    def likely(self, work: Workload) -> float | None:
        """The rate that half of the variants of the model reach; None if few are known."""
        variants = self._rates[_kind(work)].values()
        known = [reached_rate(rates, work.load.value) for rates in variants]
        rates = [rate for rate in known if rate is not None]
        return median(rates) if len(rates) >= _ENOUGH_VARIANTS else None

    def first_look_s(self, work: Workload) -> float:
        """The length of a first look at a workload. If its variant is new, it is never longer than
        usual: it may be faster than others.
        """
        rate = self.expected(work)
        if rate is not None:
            return first_look_s(rate, in_flight(work))
        likely = self.likely(work)
        if likely is None:
            return FIRST_LOOK_S
        return min(first_look_s(likely, in_flight(work)), FIRST_LOOK_S)

    def least_s(self, work: Workload) -> float:
        """The least length of a round of a workload; 0 if its rate is unknown."""
        rate = self.expected(work)
        return 0.0 if rate is None else least_s(rate, in_flight(work))


def _kind(work: Workload) -> object:
    return work.variant.model, work.load.kind, work.load.batch_size


class ExportSizes:
    """The bytes of a request in an export, by model: estimated, and then as exported."""

    def __init__(self) -> None:
        self._known: dict[str, float] = {}

    def learn_from(self, generators: Sequence[Generator], ended: Sequence[Ended]) -> None:
        """Learns from the exports of all generators that have ended."""
        for each, run in zip(generators, ended, strict=True):
            if each.exports and run.verdict is OutputVerdict.DONE:
                requests = 0 if run.export is None else len(run.export.requests)
                self.learn(each.work, run.export_bytes / requests if requests else math.inf)

    def allow(self, work: Workload, rate: float | None, seconds: float) -> bool:
        """Whether requests that are sent for so many seconds can be exported, at this rate per
        second (None: unknown).
        """
        bytes_per_s = self.expected(work) * (_ASSUMED_RATE if rate is None else rate)
        return bytes_per_s <= _MOST_BYTES_PER_S and bytes_per_s * seconds <= _MOST_BYTES

    def allow_number(self, work: Workload, requests: int) -> bool:
        """Whether so many requests can be exported, however fast they are."""
        return self.expected(work) * requests <= _MOST_BYTES

    def learn(self, work: Workload, size: float) -> None:
        """`size` is infinite if the requests of the model cannot be exported."""
        self._known[work.variant.model] = size

    def expected(self, work: Workload) -> float:
        model = work.variant.model
        return self._known[model] if model in self._known else _estimate(work)


def _estimate(work: Workload) -> float:
    """perf_analyzer writes every number of all inputs and outputs. Free dimensions count as one."""
    config = work.variant.config
    tensors: Sequence[Mapping[str, Any]] = (*config.get("input", ()), *config.get("output", ()))
    numbers = sum(
        math.prod(max(int(size), 1) for size in tensor.get("dims", ())) for tensor in tensors
    )
    return _REQUEST_BYTES + _VALUE_BYTES * numbers * work.load.batch_size
