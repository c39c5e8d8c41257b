# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes of a long tail: few requests that are much slower than the others."""

from __future__ import annotations

from collections.abc import Iterator

from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.words import counted
from model_analyzer.results.explain.finding import Cause, FoundCause, Wait, explained_wait
from model_analyzer.results.explain.situation import (
    NEGLIGIBLE_MS,
    Situation,
    VariantPicture,
    disturbance_ms,
    ms,
    noise_ms,
    percent,
)

# The p99 is so many times the median of a load without queue, and that many ms above it.
_FAR, _FAR_MS = 3.0, 5.0
# Slow requests, and other programs, add that part to the average time at least.
_ADDED, _NOISE = 0.03, 0.05
# That part of what they add to the average latency is in the executions; the rest may be overhead.
_INSIDE = 0.3
# Requests that wait so many times as long as the arrivals explain wait for something else: times of
# executions that vary as much as arrivals double the wait.
_BEYOND = 2.0


def slow_requests(picture: VariantPicture) -> Iterator[FoundCause]:
    """Few requests that take much longer in the model, whatever the load."""
    situation = picture.calm
    tail = _tail(situation)
    if tail is None:
        return
    (p50, p99), p90 = tail, situation.value("perf_latency_p90")
    average, times = situation.times.total, situation.times
    standing = _standing(situation)
    # slow executions are part of the average time in the model, but not of the median
    added, inside = average - p50, times.compute
    if standing is not None:
        inside += times.queue - standing.longest
    # other programs would make more requests slower than the slowest few
    noise = noise_ms(situation) if p90 is None else min(noise_ms(situation), p90 - p50)
    if added < max(_ADDED * average, noise) or inside < p50 + _INSIDE * added:
        return
    yield FoundCause(
        cause=Cause.SLOW_REQUESTS,
        under=situation,
        weight=1 - p50 / p99,
        evidence=(
            f"{situation.under}, half of the requests take at most {ms(p50)}, but p99 is {ms(p99)}",
            f"{_share_text(situation, (p50 + p99) / 2)}, and their time is in the model:"
            f" {ms(times.compute)} of executing on average, and {ms(times.queue)} in the queue",
            *(
                []
                if standing is None
                else [
                    f"these arrivals explain {ms(standing.usual)} in the queue: the instances"
                    " stood still meanwhile"
                ]
            ),
        ),
        advice="look for what happens in the model now and then: garbage collection, a cache that"
        " misses, a reconnect, a rare kind of input; log the time of each execution",
    )


def _standing(situation: Situation) -> Wait | None:
    """The wait that the arrivals explain, if requests wait much longer; None otherwise. Sequences
    without a slot wait for the end of another one.
    """
    top = situation.top
    wait = None if top is None or situation.lacks_slots else explained_wait(situation, top)
    if wait is None or situation.times.queue < max(_BEYOND * wait.longest, NEGLIGIBLE_MS):
        return None
    return wait


def noise(picture: VariantPicture) -> Iterator[FoundCause]:
    """Other programs on the machine, by the time that they may explain."""
    measured = sum(len(each.runs) for each in picture.loads)
    disturbed = sum(each.disturbed for each in picture.loads)
    situation = max(picture.loads, key=_noise_share)
    share, use = _noise_share(situation), situation.measurement.resources
    is_known, is_often = use is not None and use.other_cpu_s is not None, 2 * disturbed > measured
    has_tail = any(map(_tail, picture.loads))
    if share < _NOISE and not (is_often and (has_tail or not is_known)):
        return
    yield FoundCause(
        cause=Cause.NOISE,
        under=situation,
        weight=max(share, _NOISE),
        evidence=(
            f"other programs were busy during {disturbed} of {counted(measured, 'measurement')}",
            *(
                [
                    f"{situation.under}, they may explain {ms(disturbance_ms(situation))} of"
                    f" {ms(situation.times.total)} on average, and some slow requests"
                ]
                if is_known
                else []
            ),
        ),
        advice="stop them, and measure again with another --checkpoint-directory",
    )


def _noise_share(situation: Situation) -> float:
    """The part of an average request that other programs may explain."""
    return min(situation.times.share(disturbance_ms(situation)), 1.0)


def _tail(situation: Situation) -> tuple[float, float] | None:
    """The p50 and the p99 if they are far apart; None if they are not, or unknown."""
    p50, p99 = situation.value("perf_latency_p50"), situation.value("perf_latency_p99")
    if not p50 or p99 is None:
        return None
    return (p50, p99) if p99 > _FAR * p50 and p99 - p50 > _FAR_MS else None


def _share_text(situation: Situation, slow: float) -> str:
    """How many requests take more than `slow` ms."""
    (model,) = situation.measurement.models
    histogram = model.histograms.get("perf_latency")
    if histogram is not None and not histogram.is_approximate:
        share = f"about {percent(1 - _share_below(histogram, slow))}"
    else:
        lower = [
            tail
            for tail in (5, 10)
            if (value := situation.value(f"perf_latency_p{100 - tail}")) is not None
            and value < slow
        ]
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
