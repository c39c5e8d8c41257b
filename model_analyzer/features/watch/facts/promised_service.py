# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a checkpoint promises of a deployed variant: what one server was measured to do, by the rate
of its requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from model_analyzer.domain.arrivals import is_open, variation
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.noise.noise import Interval
from model_analyzer.noise.noise_model import USUAL_ERROR, NoiseModel
from model_analyzer.results.answer import Answer

# Times of a request in the server; that with the most noise comes first.
_QUEUE = ("perf_server_queue",)
_COMPUTE = ("perf_server_compute_infer", "perf_server_compute_input", "perf_server_compute_output")

# What differs from a measured load by less than this share is like it.
_NEAR = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPoint:
    """One measured load: `rate` answered requests per second of `size` inferences each; the times
    of a request in the queue and computed, in ms, as far as their noise reaches; the inferences of
    an execution; and how requests arrived (see `variation`). None if unknown.
    """

    item: MeasuredTrial
    rate: float
    size: int
    is_open: bool
    cv: float | None
    queue: Interval | None
    compute: Interval | None
    batch: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredNear:
    """What was measured at rates like this one, None where that is unknown; `item` is nearest."""

    queue: Interval | None
    compute: Interval | None
    batch: Interval | None
    item: MeasuredTrial


@dataclass(frozen=True, slots=True, kw_only=True)
class PromisedService:
    """What one server with a `variant` of one model is promised to do.

    `points` are all its measured loads, by rate. `carries` is the rate of requests beyond which a
    server breaks its constraints, or its knee; None if it is unknown. `share` is the part of the
    model in the requests to all that were measured together. The server was `triton` of this
    version, with so many `gpus`.
    """

    variant: ModelVariant
    points: Sequence[LoadPoint]
    carries: float | None
    share: float
    triton: str
    gpus: int

    @property
    def sizes(self) -> Sequence[int]:
        return sorted({point.size for point in self.points})

    @property
    def cv(self) -> float | None:
        """Of the most bursty arrivals that were measured; None if there was no open load."""
        known = [point.cv for point in self.points if point.is_open and point.cv is not None]
        return max(known, default=None)

    def of_size(self, size: float) -> Sequence[LoadPoint]:
        """The loads with requests like those of this size."""
        return [point for point in self.points if abs(point.size - size) <= _NEAR * size]

    def at(self, rate: float, size: float, batch: float) -> MeasuredNear | None:
        """What was measured just below and above a rate; outside of the rates, at the nearest one.
        Computing times of executions as large as the `batch` count, too. Only open loads tell of
        queues: in others, no more requests wait than their concurrency.
        """
        points = self.of_size(size)
        if not points:
            return None
        near = [*_around(points, rate)]
        open_ones = [point for point in points if point.is_open]
        is_within = bool(open_ones) and rate <= (1 + _NEAR) * open_ones[-1].rate
        ordered = sorted(points, key=lambda point: point.batch or 0.0)
        larger = [point for point in ordered if (point.batch or 0.0) >= batch] or ordered[-1:]
        batches = [point.batch for point in near if point.batch]
        return MeasuredNear(
            queue=_hull(point.queue for point in _around(open_ones, rate)) if is_within else None,
            compute=_hull(point.compute for point in (*near, larger[0])),
            batch=Interval(low=min(batches), high=max(batches)) if batches else None,
            item=min(near, key=lambda point: abs(point.rate - rate)).item,
        )


def promised_services(answer: Answer, carries: float | None) -> Iterator[PromisedService]:
    """A promise for each model that is measured together; none without an answer."""
    if answer.best is None:
        return
    trial, best = answer.best.best.trial, answer.best.best.measurement
    same = [item for item in answer.ranking.measured if item.trial.content == trial.content]
    rates = [model.values.get("perf_throughput", 0.0) for model in best.models]
    for index, work in enumerate(trial.workloads):
        points = _points(same, index, answer.ranking.noise_model)
        yield PromisedService(
            variant=work.variant, points=sorted(points, key=lambda point: point.rate),
            carries=carries if len(rates) == 1 else None, share=rates[index] / (sum(rates) or 1.0),
            triton=trial.setup.version, gpus=trial.gpus,
        )  # fmt: skip


def _points(
    measured: Sequence[MeasuredTrial], index: int, noise: NoiseModel
) -> Iterator[LoadPoint]:
    """The loads of the model at `index` of these trials."""
    for item in measured:
        work = item.trial.workloads[index]
        throughput = item.measurement.model_value(index, "perf_throughput")
        statistics = item.measurement.statistics.get(work.variant.model)
        if throughput:
            yield LoadPoint(
                item=item, rate=throughput / work.load.batch_size, size=work.load.batch_size,
                is_open=is_open(work), cv=variation(work),
                queue=_reach(item, index, _QUEUE, noise),
                compute=_reach(item, index, _COMPUTE, noise),
                batch=None if statistics is None else statistics.mean_batch,
            )  # fmt: skip


def _reach(
    item: MeasuredTrial, index: int, tags: Sequence[str], noise: NoiseModel
) -> Interval | None:
    """The sum of some times, as far as repetitions and noise reach; None if it is unknown."""
    first = item.measurement.model_value(index, tags[0])
    if first is None:
        return None
    sums = [sum(run.model_value(index, tag) or 0.0 for tag in tags) for run in item.runs]
    error = noise.interval(item.runs, tags[0], index)
    factor = error.high / first if error is not None and first else 1 + USUAL_ERROR
    return Interval(low=min(sums) / factor, high=max(sums) * factor)


def _around(points: Sequence[LoadPoint], rate: float) -> Sequence[LoadPoint]:
    """Of points by ascending rate, the last one below a rate and the first one above."""
    above = [point for point in points if point.rate > rate]
    return [*points[: len(points) - len(above)][-1:], *above[:1]]


def _hull(intervals: Iterable[Interval | None]) -> Interval | None:
    """The interval that contains all of them; None if none is known."""
    known = [each for each in intervals if each is not None]
    if not known:
        return None
    return Interval(low=min(each.low for each in known), high=max(each.high for each in known))
