# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Causes that show over time: slow after loading, memory that grows, slower and slower; and causes
of a long tail: few requests that are much slower than the others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from statistics import fmean, median

from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.words import counted, number_text
from model_analyzer.results.explain.finding import (
    Cause,
    FoundCause,
    Wait,
    explained_wait,
    window_noise,
)
from model_analyzer.results.explain.situation import (
    NEGLIGIBLE_MS,
    Situation,
    VariantPicture,
    disturbance_ms,
    earliest,
    is_disturbed_much,
    latest,
    ms,
    noise_ms,
    percent,
)

# An early execution is slow if it takes so many times as long as later ones, and so many ms more.
_SLOW, _SLOW_MS = 1.5, 2.0
# A throughput rises within a measurement if it is so many times as high at the end.
_RISE = 2.0

# Memory that the server takes and never returns (MB): in each measurement, and in all of them.
_STEP_MB, _GROWTH_MB = 1.0, 16.0
# The fewest measurements that show a growth, and by which factor their growth for an inference may
# differ; fewer ones have to agree.
_RUNS, _EVEN = 3, 3.0
_FEW_RUNS, _EVEN_OF_FEW = 2, 1.15

# The part of its throughput that a variant loses with time; the logarithm of the factor in a
# measurement that is more than noise; and how far windows rise although it falls.
_LOST, _FALLS, _STEADY = 0.25, 0.05, 1.03
# Deviations of a window that are chance.
_DEVIATIONS = 2.0


def cold(picture: VariantPicture) -> tuple[Sequence[Situation], FoundCause | None]:
    """The measurements in which the model was still slow after loading, and what they show."""
    slow = [index for index, each in enumerate(picture.course) if _was_slow(each, picture, index)]
    if not slow or slow != list(range(len(slow))):
        return (), None
    early, late = picture.course[: len(slow)], picture.course[len(slow) :]
    evidence = []
    before = max(time for each in early if (time := _execution_ms(each)))
    after = min((time for each in late if (time := _execution_ms(each))), default=0.0)
    if after and before > _SLOW * after:
        seconds = sum(each.measurement.duration_s for each in early)
        evidence.append(
            f"an execution took {ms(before)} in the first"
            f" {seconds:.0f} s after loading, later {ms(after)}"
        )
    rising = next((each for each in early if _rises(each)), None)
    if rising is not None:
        first, last = _ends(rising)
        evidence.append(
            f"{rising.under}, the first windows had {number_text(first)} infer/s, the"
            f" last ones {number_text(last)}"
        )
    weight = 1 - after / before if after else 1 - _ratio(rising)
    return early, FoundCause(
        cause=Cause.COLD_START,
        under=picture.focus,
        weight=min(max(weight, 0.0), 1.0),
        evidence=tuple(evidence),
        advice="warm the model up before it gets requests (model_warmup in config.pbtxt, or work"
        " in initialize() of a Python model), and let a new replica serve only after that",
    )


def _was_slow(situation: Situation, picture: VariantPicture, index: int) -> bool:
    """Whether the model was slower in a measurement than in all later ones, or became faster
    within it.
    """
    if _rises(situation):
        return True
    own = _execution_ms(situation)
    later = [
        time
        for each in picture.course[index + 1 :]
        # larger batches and more executions at once take longer, never less
        if (time := _execution_ms(each)) and _batch(each) >= 0.9 * _batch(situation)
    ]
    own -= noise_ms(situation)
    return bool(later) and own > max(_SLOW * min(later), min(later) + _SLOW_MS)


def _execution_ms(situation: Situation) -> float:
    """The time of an execution, of all models together."""
    return sum(each.execution_ms * each.calls for each in situation.stations)


def _batch(situation: Situation) -> float:
    return fmean([each.batch for each in situation.stations] or [0.0])


def _ends(situation: Situation) -> tuple[float, float]:
    """The throughput in the first third of the windows, and in the last one."""
    (model,) = situation.measurement.models
    windows = model.windows
    third = max(len(windows) // 3, 1)
    return median(windows[:third]), median(windows[-third:])


def _has_windows(situation: Situation) -> bool:
    return situation.is_closed and len(situation.measurement.models[0].windows) >= 3


def _ratio(situation: Situation | None) -> float:
    if situation is None:
        return 1.0
    first, last = _ends(situation)
    return first / last if last else 1.0


def _rises(situation: Situation) -> bool:
    """Whether the throughput multiplied within a measurement, and never fell again."""
    if not _has_windows(situation) or not situation.stations:
        return False
    windows = situation.measurement.models[0].windows
    is_rising = all(later > 0.8 * max(windows[: place + 1]) for place, later in enumerate(windows))
    latency = situation.times.total
    first, last = _ends(situation)
    return is_rising and last > _RISE * first and latency > _SLOW_MS


def growth(picture: VariantPicture) -> Iterator[FoundCause]:
    """Memory that grows with the requests."""
    uses = [
        (use, top.inferences)
        for each in picture.course
        if (use := each.measurement.resources) is not None
        and (top := each.measurement.statistics.get(each.variant.model)) is not None
    ]
    # in the first one, everything takes its memory; after it, former models may still return theirs
    uses = list(dropwhile(lambda use: use[0].growth < 0, uses[1:]))
    steps = [use.growth for use, _ in uses]
    if len(steps) < _FEW_RUNS or min(steps) < _STEP_MB or sum(steps) < _GROWTH_MB:
        return
    # memory for more requests at the same time is taken once, whatever their number
    rates = [use.growth / max(count, 1) for use, count in uses]
    if max(rates) > (_EVEN if len(steps) >= _RUNS else _EVEN_OF_FEW) * min(rates):
        return
    inferences = sum(count for _, count in uses)
    each_kb = 1000 * sum(steps) / max(inferences, 1)
    first, last = uses[0][0].memory_before, uses[-1][0].memory_after
    yield FoundCause(
        cause=Cause.MEMORY_GROWTH,
        under=picture.focus,
        weight=0.6,
        evidence=(
            f"the server's memory grew from {number_text(first)} to {number_text(last)} MB over"
            f" {inferences} inferences, in each of {len(steps)} measurements: {each_kb:.1f} kB for"
            " an inference",
        ),
        advice="look for what the model keeps after a request (lists, caches without a limit);"
        " until that is fixed, restart the replica before its memory is full",
    )


def slowing(picture: VariantPicture) -> Iterator[FoundCause]:
    """Executions that become slower with time, under the same load: in most measurements, or in
    one that was repeated after others.
    """
    closed = [each for each in picture.course if _has_windows(each) and not is_disturbed_much(each)]
    falling = [each for each in closed if _falls(each)]
    lost = 1 - math.exp(-sum(map(_log_fall, falling)))
    evidence = []
    if len(falling) > 1 and 3 * len(falling) >= 2 * len(closed) and lost > _LOST:
        first, last = _ends(falling[-1])
        evidence.append(
            f"{falling[-1].under}, the throughput fell from {number_text(first)} to"
            f" {number_text(last)} infer/s within the measurement; it fell in {len(falling)} of"
            f" {counted(len(closed), 'measurement')}"
        )
    evidence += list(_repeated(picture))
    if not evidence:
        return
    yield FoundCause(
        cause=Cause.SLOWING_DOWN,
        under=falling[-1] if falling else picture.lowest,
        weight=max(lost, _LOST),
        evidence=tuple(evidence),
        advice="look for clocks that are throttled (temperature or power limit: nvidia-smi -q -d"
        " PERFORMANCE), and for work in the model that grows with the requests so far",
    )


def _repeated(picture: VariantPicture) -> Iterator[str]:
    """That the lowest load was slower after the others; or that the highest one was faster when it
    was measured before them.
    """
    for situation, (sooner, later) in (
        (picture.lowest, (earliest, latest)),
        (picture.highest, (latest, earliest)),
    ):
        fast, slow = (_execution_ms(choose(situation)) for choose in (sooner, later))
        noise = noise_ms(later(situation))
        if fast and slow - noise > max(fast / (1 - _LOST), fast + NEGLIGIBLE_MS):
            yield (
                f"{situation.under}, an execution took {ms(slow)} after other loads, and {ms(fast)}"
                " before them"
            )


def slowdown(picture: VariantPicture, low: Situation, high: Situation) -> float:
    """How many times as long an execution takes under the `high` load only because time has passed
    since the `low` one: by what the measurements in between lost within themselves.
    """
    begin, end = (each.measurement.started for each in (low, high))
    between = [
        each
        for each in picture.course
        if begin <= each.measurement.started <= end and _has_windows(each)
    ]
    if begin >= end or len(between) < 2:
        return 1.0
    falls = [_log_fall(each) if _falls(each) else 0.0 for each in between]
    return math.exp(sum(falls) - (falls[0] + falls[-1]) / 2)


def _falls(situation: Situation) -> bool:
    """Whether the throughput fell from window to window."""
    windows = situation.measurement.models[0].windows
    is_falling = all(
        later < _STEADY * min(windows[: place + 1]) for place, later in enumerate(windows)
    )
    # a difference of two windows
    noise = max(window_noise(situation), _one_request(situation))
    chance = _DEVIATIONS * math.sqrt(2) * noise
    return is_falling and _log_fall(situation) > max(_FALLS, chance)


def _one_request(situation: Situation) -> float:
    """One request, as a fraction of those in a third of the windows; 0 if their number is unknown.
    Which window a request counts in is chance.
    """
    windows = len(situation.measurement.models[0].windows)
    third = max(windows // 3, 1)
    return windows / third / situation.requests if situation.requests else 0.0


def _log_fall(situation: Situation) -> float:
    """The logarithm of the factor by which the throughput fell from the beginning of a measurement
    to its end, by its first and last windows; negative if it rose.
    """
    first, last = _ends(situation)
    windows = len(situation.measurement.models[0].windows)
    apart = windows - max(windows // 3, 1)
    return math.log(first / last) * windows / apart if first > 0 and last > 0 else 0.0


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
