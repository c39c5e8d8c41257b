# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of a long tail: few requests that are much slower than the others."""

from __future__ import annotations

from collections.abc import Iterator

from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.words import counted
from model_analyzer.results.explain.finding import Cause, Finding
from model_analyzer.results.explain.picture import Picture
from model_analyzer.results.explain.situation import Situation
from model_analyzer.results.explain.texts import ms, percent

# The p99 is so many times the median of a load without queue, and that many ms above it.
_FAR, _FAR_MS = 3.0, 5.0
# Slow requests in the model add that part to its average time.
_ADDED = 0.1
# That part of what they add to the average latency is in the executions; the rest may be overhead.
_INSIDE = 0.3


def slow_requests(picture: Picture) -> Iterator[Finding]:
    """Few requests that take much longer in the model, whatever the load."""
    situation = picture.calmest
    if not _has_tail(situation):
        return
    p50, p99 = situation.value("perf_latency_p50"), situation.value("perf_latency_p99")
    average, compute = situation.times.total, situation.times.compute
    # slow executions are part of the average time in the model, but not of the median
    added = average - p50
    if added < _ADDED * average or compute < p50 + _INSIDE * added:
        return
    yield Finding(
        cause=Cause.SLOW_REQUESTS,
        under=situation,
        weight=1 - p50 / p99,
        evidence=(
            f"{situation.under}, half of the requests take at most {ms(p50)}, but p99 is"
            f" {ms(p99)}, without waiting: the queue takes {ms(situation.times.queue)}",
            f"{_share_text(situation)}, and their time is in the executions: {ms(compute)} on"
            " average",
        ),
        advice="look for what happens in the model now and then: garbage collection, a cache that"
        " misses, a reconnect, a rare kind of input; log the time of each execution",
    )


def noise(picture: Picture) -> Iterator[Finding]:
    """Other programs on the machine."""
    measured = sum(len(each.runs) for each in picture.loads)
    disturbed = sum(each.disturbed for each in picture.loads)
    if 2 * disturbed <= measured:
        return
    yield Finding(
        cause=Cause.NOISE,
        under=picture.focus,
        weight=0.1,
        evidence=(
            f"other programs were busy during {disturbed} of {counted(measured, 'measurement')}",
        ),
        advice="stop them, and measure again with another --checkpoint-directory",
    )


def _has_tail(situation: Situation) -> bool:
    p50, p99 = situation.value("perf_latency_p50"), situation.value("perf_latency_p99")
    return p50 > 0 and p99 > _FAR * p50 and p99 - p50 > _FAR_MS


def _share_text(situation: Situation) -> str:
    """How many requests are nearer to the p99 than to the median, and from which latency on."""
    p50, p99 = situation.value("perf_latency_p50"), situation.value("perf_latency_p99")
    slow = (p50 + p99) / 2
    (model,) = situation.measurement.models
    histogram = model.histograms.get("perf_latency")
    if histogram is not None and not histogram.is_approximate:
        share = f"about {percent(1 - _share_below(histogram, slow))}"
    else:
        lower = [tail for tail in (5, 10) if situation.value(f"perf_latency_p{100 - tail}") < slow]
        share = f"1 to {lower[0]} %" if lower else "more than 10 %"
    return f"{share} of the requests take more than {ms(slow)}"


def _share_below(histogram: Histogram, latency: float) -> float:
    """The share of requests up to this latency (ms)."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        if histogram.quantile(middle) < latency:
            low = middle
        else:
            high = middle
    return low
