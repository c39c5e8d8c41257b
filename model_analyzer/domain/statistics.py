# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics that a server counts for each model: requests, inferences, executions, batch sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from functools import reduce

from model_analyzer.domain.models import empty


@dataclass(frozen=True, slots=True)
class BatchStatistics:
    """Executions with a batch of `size` inferences: their number and total time."""

    size: int
    count: int
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCounts:
    """The requests of one model: those that were `answered`, also with an error of its code, and
    those that `failed`; and of the answered ones, those that the response cache answered (`hits`),
    or looked up in vain (`misses`). Requests that a full queue refused are in none of them.
    """

    answered: int = 0
    failed: int = 0
    hits: int = 0
    misses: int = 0

    @property
    def hit_rate(self) -> float | None:
        """The percentage of lookups that the cache answered; None without any."""
        lookups = self.hits + self.misses
        return 100 * self.hits / lookups if lookups else None

    def combined(self, other: RequestCounts, sign: int) -> RequestCounts:
        """The sum with other counts, or the difference from them."""
        return RequestCounts(
            answered=self.answered + sign * other.answered,
            failed=self.failed + sign * other.failed,
            hits=self.hits + sign * other.hits,
            misses=self.misses + sign * other.misses,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatistics:
    """Statistics of one model. An execution computes a batch of inferences; `batches` has each size
    once, in ascending order. For an ensemble, each request is an execution. `requests` is None in
    measurements of versions that did not store it.
    """

    inferences: int
    executions: int
    batches: tuple[BatchStatistics, ...] = ()
    requests: RequestCounts | None = None

    @property
    def mean_batch(self) -> float | None:
        """Inferences for each execution, if there was one."""
        return self.inferences / self.executions if self.executions else None

    @property
    def served(self) -> float:
        """The inferences with those that the response cache answered: each lookup in vain stands
        for as many as were executed on average.
        """
        if self.requests is None or not (self.requests.hits and self.requests.misses):
            return self.inferences
        return self.inferences * (1 + self.requests.hits / self.requests.misses)

    @property
    def busy_ms(self) -> float:
        """The time that all executions took, one after the other."""
        return sum(batch.ms for batch in self.batches)

    def __add__(self, other: ModelStatistics) -> ModelStatistics:
        return self._combined(other, 1)

    def since(self, before: ModelStatistics) -> ModelStatistics | None:
        """The difference from `before`; None if a counter fell (the server was restarted)."""
        rest = self._combined(before, -1)
        numbers: list[float] = [rest.inferences, rest.executions]
        numbers += [number for batch in rest.batches for number in (batch.count, batch.ms)]
        if rest.requests is not None:
            numbers += astuple(rest.requests)
        if min(numbers) < 0:
            return None
        batches = tuple(batch for batch in rest.batches if batch.count)
        return replace(rest, batches=batches)

    def _combined(self, other: ModelStatistics, sign: int) -> ModelStatistics:
        mine = {batch.size: batch for batch in self.batches}
        others = {batch.size: batch for batch in other.batches}
        none = BatchStatistics(0, 0, 0.0)
        return ModelStatistics(
            inferences=self.inferences + sign * other.inferences,
            executions=self.executions + sign * other.executions,
            batches=tuple(
                BatchStatistics(
                    size,
                    mine.get(size, none).count + sign * others.get(size, none).count,
                    # as exact as the server counts: to the nanosecond
                    round(mine.get(size, none).ms + sign * others.get(size, none).ms, 6),
                )
                for size in sorted({*mine, *others})
            ),
            requests=None
            if self.requests is None or other.requests is None
            else self.requests.combined(other.requests, sign),
        )


# The statistics of each model by its name; empty if the server provides none.
ServerStatistics = Mapping[str, ModelStatistics]


def counted_between(before: ServerStatistics, after: ServerStatistics) -> ServerStatistics:
    """The statistics from one reading to the next; empty if the server was restarted in between, or
    if a reading is missing.
    """
    if before.keys() != after.keys():
        return empty()
    counted = {name: after[name].since(before[name]) for name in after}
    complete = {name: model for name, model in counted.items() if model is not None}
    return complete if len(complete) == len(counted) else empty()


def added(several: Iterable[ServerStatistics]) -> ServerStatistics:
    """The counts of several measurements together."""
    models: dict[str, list[ModelStatistics]] = {}
    for statistics in several:
        for name, model in statistics.items():
            models.setdefault(name, []).append(model)
    return {name: reduce(ModelStatistics.__add__, counts) for name, counts in models.items()}
