# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whether another measurement of the recommendation gives what was promised. Pure.

A promise is the value in the answer. The interval in which the other measurement has to lie covers
the errors of both: of the promise, and of the measurement that checks it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from statistics import NormalDist

from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome
from model_analyzer.domain.metrics import Better, metric_of
from model_analyzer.domain.profiles import Verdict
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.domain.words import number_text
from model_analyzer.noise.noise import Interval
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import pool
from model_analyzer.results.answer import Answer
from model_analyzer.results.ranking import Ranking

THROUGHPUT, P99 = "perf_throughput", "perf_latency_p99"

_CONFIDENCE = 0.95

# Only metrics of the requests: memory and the like depend on what else a server has done.
_PREFIX = "perf_"

# A promise that a value of half or twice as much would keep, too, is too vague to be checked.
_VAGUE = 4.0

# What happens on a machine for seconds may spoil one check: a value that is worse, or vague, is
# measured again, up to so many times in all.
_MOST_CHECKS = 3

# Failures that say nothing about the server.
OF_CLIENT = frozenset(
    {
        FailureReason.LOAD_GENERATOR_BUSY,
        FailureReason.LOAD_GENERATOR_LARGE,
        FailureReason.LOAD_GENERATOR_DIED,
        FailureReason.UNSTABLE,
        FailureReason.TIMEOUT,
        FailureReason.IMPOSSIBLE_VALUES,  # such as answers of a response cache only
    }
)


class Kept(Enum):
    """How a value compares with the promised one."""

    WITHIN = "within"
    WORSE = "worse"
    BETTER = "better"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promise:
    """A promised value of the metric `tag`, and that of the check. If the promise is true, the
    check lies in `expected`, as do those of all promises together, with 95 % confidence.
    """

    tag: str
    promised: float
    found: float
    expected: Interval

    @property
    def kept(self) -> Kept:
        if self.expected.low <= self.found <= self.expected.high:
            return Kept.WITHIN
        is_higher = self.found > self.expected.high
        is_better = is_higher == (metric_of(self.tag).better is Better.HIGHER)
        return Kept.BETTER if is_better else Kept.WORSE

    @property
    def is_vague(self) -> bool:
        return self.expected.high > _VAGUE * self.expected.low

    def __str__(self) -> str:
        metric = metric_of(self.tag)
        low, high = (number_text(end) for end in (self.expected.low, self.expected.high))
        return (
            f"{metric.name} {number_text(self.found)} {metric.unit}, promised"
            f" {number_text(self.promised)} ({low} to {high})"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What a deployed server showed: the outcomes under the load of the promise; the seconds until
    it was ready, and the milliseconds of its first answer, None if unknown; and how its
    configurations are `different` from the recommended ones, in words.
    """

    outcomes: Sequence[Outcome]
    ready_s: float | None = None
    first_ms: float | None = None
    different: Sequence[str] = ()

    @property
    def extras(self) -> Iterator[tuple[str, float, str]]:
        """What stands beside the promises: names for programs, numbers, words."""
        if self.ready_s is not None:
            yield "ready_s", self.ready_s, f"ready after {number_text(self.ready_s)} s"
        if self.first_ms is not None:
            words = f"first request {number_text(self.first_ms)} ms"
            yield "first_request_ms", self.first_ms, words
        last = self.outcomes[-1]
        used = last.resources if isinstance(last, Measurement) else None
        if used is not None:
            memory = used.memory_after
            yield "memory_mb", memory, f"{number_text(memory)} MB of memory"
        if (times := len(self.outcomes)) > 1:
            yield "times_measured", times, f"measured {times} times"


def judged(answer: Answer, check: Check, url: str = "") -> tuple[Verdict, str, Mapping[str, float]]:
    """The verdict on what was checked, in words and numbers."""
    server = f"the server at {url}" if url else "a plain server with the written files"
    extras = [*check.extras]
    numbers = {name: number for name, number, _ in extras}
    failure = next((each for each in check.outcomes if isinstance(each, Failure)), None)
    if failure is not None:
        verdict = Verdict.UNKNOWN if failure.reason in OF_CLIENT else Verdict.FAILED
        return verdict, f"{server} was not measured: {failure.message}", numbers
    kept = promises(answer.ranking, [*_measured(check.outcomes)])
    for promise in kept:
        numbers |= dict(numbers_of(promise))
    words = "; ".join([*map(str, kept), *(text for _, _, text in extras)])
    if check.different:
        other = f"{server} has other configurations: {', '.join(check.different)}"
        return Verdict.FAILED, f"{other}; {words}", numbers
    if not kept:
        return Verdict.UNKNOWN, f"{server}: no promised value has a known error; {words}", numbers
    if any(promise.kept is Kept.WORSE for promise in kept):
        return Verdict.FAILED, f"{server} is worse than measured: {words}", numbers
    if kept[0].is_vague:
        return Verdict.UNKNOWN, f"the noise is too large to tell: {server} gives {words}", numbers
    how = "is better than" if any(each.kept is Kept.BETTER for each in kept) else "performs as"
    return Verdict.PASSED, f"{server} {how} measured: {words}", numbers


def may_be_chance(answer: Answer, outcomes: Sequence[Outcome]) -> bool:
    """Whether a further check could change the verdict: all of them count as one, with their
    differences as noise.
    """
    checks = [*_measured(outcomes)]
    if len(checks) < len(outcomes) or len(checks) >= _MOST_CHECKS:
        return False
    kept = promises(answer.ranking, checks)
    return any(each.kept is Kept.WORSE for each in kept) or (bool(kept) and kept[0].is_vague)


def promises(ranking: Ranking, measured: Sequence[Measurement]) -> Sequence[Promise]:
    """The promises of the recommendation, of throughput, p99 and the metrics of the goal, beside
    checks: measurements of the same configuration under the same load, which count as one. A value
    that either lacks is left out.
    """
    best, check = ranking.results[0].best, pool(measured)
    tags = [
        tag for tag in dict.fromkeys((THROUGHPUT, P99, *ranking.goal.tags))
        if tag.startswith(_PREFIX)
        and best.measurement.value(tag)
        and check.value(tag)
    ]  # fmt: skip
    checks = [_like_round(run) for run in measured]
    runs = [_like_round(run) for run in best.runs]
    others = [
        [_like_round(run) for run in item.runs] for item in ranking.measured if item is not best
    ]
    noise = NoiseModel([runs, checks, *others])
    found = []
    for tag in tags:
        of_promise, of_check = noise.interval(runs, tag), noise.interval(checks, tag)
        promised, value = best.measurement.value(tag), check.value(tag)
        if of_promise is None or of_check is None or not promised or not value:
            continue
        widened = _widening(len(tags))
        below = math.hypot(_reach(of_promise.low, promised), _reach(value, of_check.high))
        above = math.hypot(_reach(promised, of_promise.high), _reach(of_check.low, value))
        found.append(
            Promise(
                tag=tag,
                promised=promised,
                found=value,
                expected=Interval(
                    low=promised * math.exp(-widened * below),
                    high=promised * math.exp(widened * above),
                ),
            )
        )
    return found


def _measured(outcomes: Sequence[Outcome]) -> Iterator[Measurement]:
    return (each for each in outcomes if isinstance(each, Measurement))


def numbers_of(promise: Promise) -> Iterator[tuple[str, float]]:
    """Its numbers, with names for programs."""
    yield f"{promise.tag}_promised", promise.promised
    yield f"{promise.tag}_verified", promise.found
    yield f"{promise.tag}_low", promise.expected.low
    yield f"{promise.tag}_high", promise.expected.high


def _reach(low: float, high: float) -> float:
    """How far an end of an interval is from its value, as a logarithm."""
    return max(math.log(high / low), 0.0) if low > 0 else math.inf


def _widening(count: int) -> float:
    """The factor from the interval of one value to that of each of `count`, which hold together."""
    usual, wanted = (
        NormalDist().inv_cdf(1 - (1 - _CONFIDENCE) / 2 / share) for share in (1, max(count, 1))
    )
    return wanted / usual


def _like_round(run: Measurement) -> Measurement:
    """The measurement as a round: of these, the error of every percentile is known."""
    return replace(run, models=tuple(map(_of_a_time, run.models)))


def _of_a_time(model: ModelMeasurement) -> ModelMeasurement:
    rate = model.values.get(THROUGHPUT, 0.0)
    if model.seconds or not rate:
        return model
    return replace(model, seconds=(model.requests or 0) / rate)
