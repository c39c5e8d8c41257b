# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of a throughput that falls under more load: batches that cost more than they gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.numbers import number_text
from model_analyzer.domain.statistics import BatchStatistics, added
from model_analyzer.results.explain.chance import change_between, fell
from model_analyzer.results.explain.finding import AdvisedChange, Cause, Finding
from model_analyzer.results.explain.picture import VariantPicture
from model_analyzer.results.explain.situation import NEGLIGIBLE_MS
from model_analyzer.results.explain.texts import ms

# A batch size counts if it was executed so often; smaller batches are better if their inferences
# take at most this part of the time.
_OFTEN, _CHEAPER = 5, 0.7
# A throughput falls if it is at most this part of a better one under a lower load.
_FALLEN = 0.8


def large_batches(picture: VariantPicture) -> Iterator[Finding]:
    """Batches that cost more than they gain: with smaller ones, more requests are answered."""
    situation = picture.highest
    for station in situation.stations:
        best = _best_batch(picture, station.model)
        if best is None or station.batch <= best.size:
            continue
        own, other = station.execution_ms / station.batch, best.ms / best.count / best.size
        if other > _CHEAPER * own or own - other < NEGLIGIBLE_MS / station.batch:
            continue
        limit = station.variant.max_batch_size
        yield Finding(
            cause=Cause.LARGE_BATCHES,
            under=situation,
            weight=1 - other / own,
            evidence=(
                f"{situation.under}, an execution of {station.model} takes"
                f" {ms(station.execution_ms)} for {station.batch:.3g} inferences on average; one"
                f" of {best.size} takes {ms(best.ms / best.count)}",
                *_fallen(picture),
            ),
            advice=f"make max_batch_size {best.size} instead of {limit}",
            change=AdvisedChange(
                model=station.model,
                parameters={
                    "max_batch_size": best.size,
                    **_preferred_up_to(best.size, station.variant.config),
                },
            ),
        )


def _best_batch(picture: VariantPicture, model: str) -> BatchStatistics | None:
    """The batch size with the most inferences for its time, of those that were often executed."""
    counts = added(each.measurement.statistics for each in picture.loads).get(model)
    often = [each for each in counts.batches if each.count >= _OFTEN] if counts else []
    return min(often, key=lambda each: each.ms / each.count / each.size, default=None)


def _preferred_up_to(size: int, config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Preferred batch sizes that a lower limit allows."""
    preferred = config.get("dynamic_batching", {}).get("preferred_batch_size", ())
    if not preferred:
        return {}
    allowed = [each for each in preferred if int(each) <= size]
    return {"dynamic_batching": {"preferred_batch_size": allowed}}


def collapse(picture: VariantPicture) -> Iterator[Finding]:
    """A throughput that falls when the load rises."""
    best = max(picture.loads, key=lambda each: each.throughput)
    for text in _fallen(picture):
        yield Finding(
            cause=Cause.COLLAPSE,
            under=picture.highest,
            weight=1 - picture.highest.throughput / best.throughput,
            evidence=(text,),
            advice=f"keep the load at what it is {best.under}: let the client, a queue limit"
            " (max_queue_size) or a rate limiter hold back the rest",
        )


def _fallen(picture: VariantPicture) -> Iterator[str]:
    """That the throughput falls under the highest load, by more than noise."""
    high = picture.highest
    best = max(picture.loads, key=lambda each: each.throughput)
    change = change_between(best, high, DEFAULT_OBJECTIVE)
    if high.throughput < _FALLEN * best.throughput and fell(change):
        yield (
            f"the throughput falls from {number_text(best.throughput)} infer/s {best.under} to"
            f" {number_text(high.throughput)} infer/s {high.under}"
        )
