# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a configuration holds under its load: trends, leaks and stalls in samples. Pure.

Neighbours on a machine disturb a load for minutes, so samples that follow each other are alike. The
error of a trend counts them as fewer independent ones, by the autocorrelation of what the trend
leaves over (Santer et al. 2000). What other programs use of the processors is a regressor beside
the time, and outliers weigh less (Huber 1964).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from model_analyzer.domain.profiles import Verdict
from model_analyzer.domain.words import counted, with_error
from model_analyzer.noise.noise import Noise

# Names of the values of a sample, with their units. OTHERS is what other programs use of the
# processors.
LATENCY, P99, QUEUE, OTHERS = "latency_ms", "p99_ms", "queue_ms", "others_share"
MEMORY, FREE, GPU, GPU_FREE = "memory_mb", "memory_free_mb", "gpu_mb", "gpu_free_mb"

# What may leak: whose it is, and what is left.
_MEMORY = {MEMORY: ("the server and its stubs", FREE), GPU: ("the GPUs", GPU_FREE)}

# The start of a load is warm-up: a share of the whole time, up to so many seconds.
_WARM_SHARE, _WARM_S = 0.1, 30.0
_FEWEST = 8  # samples
# A loss of a smaller share over the whole time harms nobody, and one that is not so many times as
# large as the reach of its interval may be noise. If noise could hide a larger share, nothing was
# proven.
_HARMLESS, _CLEAR, _HIDDEN = 0.05, 1.4, 0.10
# A step describes the series if it leaves so much less over than a line. It is the largest of many,
# so it has to be clearer; and each level lasts for such a part of the time: others are transient.
_BETTER, _VERY_CLEAR, _LASTING = 0.75, 2.5, 5
# Memory that grows by less is no leak (MB per second, and MB); nor does one get slower than this
# share of its rate, as a cache does that fills.
_LEAST_RATE, _LEAST_MB, _GOES_ON = 0.2 / 60, 2.0, 0.5
# A stall: so many seconds without an answer, and so many deviations of what is usual. It is made of
# ticks with less than this share of the usual rate, that of so many ticks on each side.
_LEAST_STALL_S, _UNUSUAL, _SLOW, _AROUND = 0.3, 6.0, 0.8, 15
# Stalls are periodic if so many, which are alike by this factor, are this close to multiples of a
# period (seconds, or a share of it), and if that is unlikely to be chance.
_FEWEST_STALLS, _ALIKE, _JITTER_S, _JITTER, _CHANCE = 3, 1.4, 1.5, 0.0075, 0.1
# The samples at each end that are compared; the share of a loss that has to be seen, and that a
# reload has to give back.
_END, _HALF = 6, 0.5
_RESTORED, _NOT_RESTORED = ", a reload restores it", ", a reload does not restore it"
# Other programs that use more of the processors may be the reason for a loss.
_BUSY = 0.5

_DEVIATION = 1.4826  # of a normal distribution, by its median absolute deviation
_HUBER = 1.345

_UNITS = (("days", 86_400), ("h", 3600), ("min", 60), ("s", 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Some seconds under load. `begin` is in seconds since the epoch, `run` the number of the
    server's start. `ticks` are parts of about a second: how long, and how many requests were
    answered. `values` are those that are known, by name.
    """

    begin: float
    run: int
    ticks: Sequence[tuple[float, float]]
    values: Mapping[str, float]

    @property
    def seconds(self) -> float:
        return sum(seconds for seconds, _ in self.ticks)

    @property
    def rate(self) -> float:
        """Requests per second."""
        return sum(requests for _, requests in self.ticks) / self.seconds


class SoakResult(NamedTuple):
    """What samples prove, in words and numbers, and whether a reload could tell more."""

    verdict: Verdict
    sentence: str
    numbers: Mapping[str, float]
    may_be_restored: bool = False


def judged(samples: Sequence[Sample], after: Sequence[Sample] = (), *, is_open: bool) -> SoakResult:
    """Whether a load holds: by its throughput; an open load, which does not depend on the server,
    by its latency. `after` are samples after a reload, if there was one.
    """
    series = _Series(samples)
    lasted, numbers = span(series.seconds), {"seconds": round(series.seconds, 1)}
    if len(series.samples) < _FEWEST:
        sentence = f"whether it holds: {lasted} are too short"
        return SoakResult(Verdict.UNKNOWN, sentence, numbers)
    speeds, later = ([_speed(each, is_open) for each in part] for part in (series.samples, after))
    others = float(np.median(series.known(OTHERS) or [0.0]))
    trend, step = series.trend(speeds, disturbed=True), series.step(speeds)
    change, amount = _percent(trend.slope, trend.reach, "+"), _percent(-trend.slope, trend.reach)
    loses, lost = trend.is_loss(series.seconds), trend.slope * series.since_start
    if step.left < _BETTER * trend.left and step.is_loss(1.0, _VERY_CLEAR):
        loses, lost = True, step.slope
        amount = f"{-100 * math.expm1(lost):.2g} % after {span(step.at)}"
    reload = _reload(lost, speeds, later) if loses else ""
    losses = [f"{'slows down' if is_open else 'loses'} {amount}{reload}"] if loses else []
    leaks, why = [*_leaks(series, after)], ""
    if losses and others > _BUSY and reload != _RESTORED:
        why = f"other programs use {100 * others:.0f} % of the processors; it {losses.pop()}"
    elif not losses and (trend.reach - trend.slope) * series.seconds > _HIDDEN:
        why = f"the noise of {lasted} is too large ({change})"
    stalls, period = series.stalls()
    longest = f"{max((seconds for _, seconds in stalls), default=0.0):.2g}"
    periodic = [] if period is None else [f"stands still {longest} s every {span(period)}"]
    verdict, texts = Verdict.FAILED, [*losses, *leaks, *periodic]
    if not texts and why:
        verdict, texts = Verdict.UNKNOWN, [f"whether it holds: {why}"]
    elif not texts:
        verdict, texts = Verdict.PASSED, [f"held for {lasted}: {change}"]
    if stalls and period is None:
        texts.append(f"stood still {counted(len(stalls), 'time')}, for up to {longest} s")
    numbers |= {
        "change_percent_per_hour": 360_000 * trend.slope,
        "change_percent_per_hour_error": 360_000 * trend.reach,
        "stalls": len(stalls),
    }
    for name in filter(series.known, (LATENCY, P99, QUEUE, *_MEMORY)):
        numbers[f"{name}_first"], numbers[f"{name}_last"] = _ends(series.known(name))
    return SoakResult(verdict, "; ".join(texts), numbers, loses or bool(leaks))


def _leaks(series: _Series, after: Sequence[Sample]) -> Iterator[str]:
    """The memory that grows and goes on growing, in words."""
    for name, (owner, rest) in _MEMORY.items():
        if not (values := series.known(name)):
            continue
        trend, last = (series.trend(values, share, disturbed=False) for share in (2 / 3, 1 / 3))
        least = max(trend.reach, _LEAST_RATE, _LEAST_MB / (2 / 3 * series.seconds))
        if trend.slope > least and last.slope > _GOES_ON * trend.slope:
            rate = with_error(60 * trend.slope, 60 * trend.reach)
            free = series.known(rest)[-1:]
            full = "".join(f": full in {span(mb / trend.slope)} at this limit" for mb in free)
            later = [each.values[name] for each in after if name in each.values]
            reload = _reload(trend.slope * series.since_start, values, later)
            yield f"memory of {owner} grows {rate} MB/min{full}{reload}"


class _Trend(NamedTuple):
    """A change per second, or in a step `at` a time; and half its 95 % interval. `left` is the sum
    of squares that it leaves over. `seen` is the change if other programs are not considered.
    """

    slope: float
    reach: float
    left: float
    seen: float
    at: float = 0.0

    def is_loss(self, seconds: float, clear: float = _CLEAR) -> bool:
        """Whether so much is lost that it is neither noise nor harmless, nor unseen: others that
        leave just then could hide it, but that is rarely true.
        """
        is_seen = -self.seen > -self.slope * _HALF
        return is_seen and -self.slope > max(clear * self.reach, _HARMLESS / seconds)


class _Series:
    """The samples of a load in order of time, without warm-up. Times are in seconds under load."""

    def __init__(self, samples: Sequence[Sample]) -> None:
        self.seconds = sum(each.seconds for each in samples)
        self.samples: list[Sample] = []
        warm_s, elapsed, times = min(_WARM_SHARE * self.seconds, _WARM_S), 0.0, []
        began: dict[int, float] = {}
        for each in samples:
            if elapsed - began.setdefault(each.run, elapsed) >= warm_s:
                self.samples.append(each)
                times.append(elapsed + each.seconds / 2)
            elapsed += each.seconds
        self._times = np.array(times)

    @property
    def since_start(self) -> float:
        """The time since the last start of the server: what a run that was killed lost, or leaked,
        is gone.
        """
        return sum(each.seconds for each in self.samples if each.run == self.samples[-1].run)

    def known(self, name: str) -> Sequence[float]:
        """The value of each sample; empty if one lacks it."""
        values = [each.values[name] for each in self.samples if name in each.values]
        return values if len(values) == len(self.samples) else ()

    def trend(self, values: Sequence[float], last: float = 1.0, *, disturbed: bool) -> _Trend:
        """The trend of the values of samples, of the `last` share of the time. If they are
        `disturbed`, other programs make them lower.
        """
        used = self._times >= self._times[-1] - last * (self._times[-1] - self._times[0])
        return self._fitted(self._times, values, used, disturbed=disturbed)

    def step(self, values: Sequence[float]) -> _Trend:
        """The step that describes values best, which other programs disturb."""
        edge = len(values) // _LASTING
        steps = (
            self._fitted(self._times > at, values, disturbed=True)._replace(at=float(at))
            for at in self._times[edge:-edge]
        )
        return min(steps, key=lambda step: step.left)

    def _fitted(
        self, column: Any, values: Sequence[float], used: Any = slice(None), *, disturbed: bool
    ) -> _Trend:
        """Each start of the server has a level of its own."""
        runs = np.array([each.run for each in self.samples])[used]
        others = np.array([each.values.get(OTHERS, 0.0) for each in self.samples])[used]
        levels, y = [runs == run for run in np.unique(runs)], np.array(values)[used]
        alone, _ = _fitted([*levels, column[used]], y)
        if disturbed and others.any():
            trend, effect = _fitted([*levels, others, column[used]], y)
            if effect < 0:
                return trend._replace(seen=alone.slope)
        return alone

    def stalls(self) -> tuple[Sequence[tuple[float, float]], float | None]:
        """When the server did nothing of what it usually does, and how long. If that is periodic,
        only these, and the period.
        """
        seconds, requests = np.array([tick for each in self.samples for tick in each.ticks]).T
        middles, rates = np.cumsum(seconds) - seconds / 2, requests / seconds
        around = [slice(max(tick - _AROUND, 0), tick + _AROUND + 1) for tick in range(len(rates))]
        usual = np.array([np.median(rates[part]) for part in around])
        lost = seconds - requests / np.maximum(usual, 1e-9)
        least = max(_LEAST_STALL_S, _UNUSUAL * _DEVIATION * float(np.median(np.abs(lost))))
        slow = np.flatnonzero(lost > (1 - _SLOW) * seconds)
        groups = np.split(slow, np.flatnonzero(np.diff(slow) > 1) + 1)
        found = [
            (float(np.average(middles[group], weights=lost[group])), float(lost[group].sum()))
            for group in groups
            # still all the time, but in the ticks in which it began and ended
            if lost[group].sum() > max(least, 0.9 * seconds[group[1:-1]].sum())
        ]
        return _periodic(found, self.seconds)


def _periodic(
    found: Sequence[tuple[float, float]], end: float
) -> tuple[Sequence[tuple[float, float]], float | None]:
    """The stalls with the same period, and the period, unless they may have one by chance."""
    best, best_period, least = found, None, _CHANCE
    for (one, length), (other, _) in combinations(found, 2):
        period = other - one
        near = max(_JITTER_S, _JITTER * period)
        alike = [each for each in found if length / _ALIKE < each[1] < length * _ALIKE]
        # the stall at each multiple
        regular = {
            round((each[0] - one) / period): each
            for each in alike
            if abs((each[0] - one + period / 2) % period - period / 2) <= near < period / 8
        }
        # at most so many pairs that might begin a period have as many further stalls by chance
        places, further = int(one / period) + int((end - one) / period) - 1, len(regular) - 2
        hit = (len(alike) - 2) * 2 * near / end
        pairs = math.comb(len(alike), 2)
        chance = pairs * math.comb(max(places, 0), max(further, 0)) * hit ** max(further, 0)
        if len(regular) >= _FEWEST_STALLS and chance < least:
            best, best_period, least = [*regular.values()], period, chance
    return best, best_period


def _fitted(columns: Sequence[Any], y: Any) -> tuple[_Trend, float]:
    """The trend of the last column in a robust linear regression, and the effect of the column
    before it.
    """
    matrix, weights = np.stack(columns, 1).astype(float), np.ones(len(y))
    for _ in range(10):
        roots = np.sqrt(weights)
        coefficients = np.linalg.lstsq(matrix * roots[:, None], y * roots, rcond=None)[0]
        rest = y - matrix @ coefficients
        limit = _HUBER * _DEVIATION * float(np.median(np.abs(rest)))
        weights = np.minimum(1.0, max(limit, 1e-12) / np.maximum(np.abs(rest), 1e-12))
    rest = rest * np.sqrt(weights)
    left, (count, used) = float(rest @ rest), matrix.shape
    alike = float(rest[1:] @ rest[:-1]) / left if left else 0.0
    alike = min(max(alike + (1 + 3 * alike) / count, 0.0), 0.95)  # without its usual bias
    independent = count * (1 - alike) / (1 + alike)
    inverse = float(np.linalg.pinv((matrix * weights[:, None]).T @ matrix)[-1, -1])
    variance = left / max(count - used, 1) * max(inverse, 0.0) * count / independent
    noise = Noise(math.sqrt(variance), max(independent - used, 1.0))
    slope, effect = float(coefficients[-1]), float(coefficients[-2])
    return _Trend(slope, noise.reach, left, slope), effect


def _reload(change: float, before: Sequence[float], after: Sequence[float]) -> str:
    """What a reload did about a change, from values before and after it; "" if there was none."""
    if not after:
        return ""
    given_back = (_ends(before)[1] - float(np.median(after))) / change
    return _RESTORED if given_back >= _HALF else _NOT_RESTORED


def _ends(values: Sequence[float]) -> tuple[float, float]:
    return float(np.median(values[:_END])), float(np.median(values[-_END:]))


def _speed(sample: Sample, is_open: bool) -> float:
    """The logarithm of what is judged."""
    speed = 1 / sample.values[LATENCY] if is_open and LATENCY in sample.values else sample.rate
    return math.log(max(speed, 1e-9))


def _percent(slope: float, reach: float, sign: str = "") -> str:
    """A trend of a logarithm in percent per minute, or per hour if it is small."""
    unit, seconds = ("min", 60) if 60 * max(abs(slope), reach) >= 0.001 else ("h", 3600)
    return f"{with_error(100 * seconds * slope, 100 * seconds * reach, sign=sign)} %/{unit}"


def span(seconds: float) -> str:
    """A time in one unit: `40 s`, `15 min`, `5 h`, `3 days`."""
    unit, length = next(each for each in _UNITS if seconds >= 1.5 * each[1] or each[1] == 1)
    return f"{seconds / length:.0f} {unit}"
