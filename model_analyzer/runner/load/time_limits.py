# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long a launch of perf_analyzer may take; and what was learned about workloads: their request
rates, and the sizes of their requests.

Windows that the user sized have the time limit of the user; those of perf_analyzer's own size have
it as long as the server answers requests. A round is given up after a bounded multiple of its
length, unless the server's counts show that requests take long; or sooner, if perf_analyzer waits
in vain for answers.
"""

from __future__ import annotations

import math
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any, Protocol

from model_analyzer.domain.measurements import ServerStatistics, counted_between
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.protocols import Server
from model_analyzer.domain.slots import Overdue
from model_analyzer.domain.trials import FailureReason, LoadKind, Workload, workload_words
from model_analyzer.domain.words import counted
from model_analyzer.noise.first_look import (
    FIRST_LOOK_S,
    first_look_s,
    given_up_s,
    in_flight,
    least_s,
    overdue_s,
    reached_rate,
)
from model_analyzer.runner.load.ended import Ended, Stop
from model_analyzer.runner.load.generators import Generator
from model_analyzer.runner.load.output import OutputVerdict
from model_analyzer.runner.load.schedule import threads

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


# It is given up if the server, whose requests take long, is then silent for longer than between two
# answers, by a factor; in seconds, for at least so long.
_LONGER, _SILENT_S = 3.0, 10.0

# A server that answers no request for so many seconds hangs, if nobody said that one takes long.
_UNANSWERED_S = given_up_s(1.0)

# A place in flight answers so many requests beside those of the windows: for the warm-up, and after
# the last window.
_WAVES = 2

# Users hear of a measurement in windows first after so many seconds, and then at least so often.
_TOLD_FIRST_S, _TOLD_EVERY_S = 30.0, 60.0

# What is left of a budget is at least so much.
_LEAST_LEFT_S = 10.0

_NS_PER_S = 1e9

_BUDGET_HINT = "give a larger --budget and run again: then it is measured"
_HANG_HINT = (
    "the model may hang. If a request takes as long as that, set measurement-interval in"
    " perf_analyzer_flags: then only --perf-analyzer-timeout ends it"
)


def end_of_budget(left_s: float | None) -> float:
    """When the budget ends (by the monotonic clock), of which so much is left; None is no limit. A
    launch takes some time by itself, so there is always a little left.
    """
    return math.inf if left_s is None else time.monotonic() + max(left_s, _LEAST_LEFT_S)


class TimeLimit(Protocol):
    """The time limit of a launch that begins when it is made."""

    def look(self) -> Stop | None:
        """The reason to end the launch now, if there is one."""


class GivenLimit:
    """The user's time limit, in seconds."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began = time.monotonic()

    def look(self) -> Stop | None:
        is_over = time.monotonic() - self._began > self._seconds
        return _timed_out(self._seconds) if is_over else None


class AnsweringLimit:
    """The user's time limit, in seconds, for as long as the server answers requests.

    `earlier` are the counts of the server before the launch of these `generators`.
    """

    def __init__(
        self,
        generators: Sequence[Generator],
        server: Server,
        earlier: ServerStatistics,
        seconds: float,
    ) -> None:
        self._given = GivenLimit(seconds)
        self._server = server
        self._variants = [each.work.variant for each in generators]
        self._words = " and ".join(dict.fromkeys(workload_words(each.work) for each in generators))
        self._counts = earlier
        self._began = self._last = time.monotonic()
        self._check = self._began + _UNANSWERED_S

    def look(self) -> Stop | None:
        now = time.monotonic()
        if now > self._check:
            counts = self._server.statistics(self._variants)
            if counts != self._counts or not counts:  # not every server counts
                self._counts, self._last = counts, now
            self._check = self._last + _UNANSWERED_S
            if now > self._check:
                text = (
                    f"{self._words}: given up after {now - self._began:.0f} s (the server answered"
                    f" no request for {_UNANSWERED_S:.0f} s)"
                )
                return Stop(FailureReason.TIMEOUT, text, _HANG_HINT)
            # often enough to see when it fell silent
            self._check = min(self._check, now + _UNANSWERED_S / 4)
        return self._given.look()


class Patience:
    """A time limit that tells how long a measurement in windows takes, which began at `began`.

    It tells after some seconds, then each time after twice as long, and at least every minute.
    """

    def __init__(self, limit: TimeLimit, began: float, tell: Callable[[Overdue], None]) -> None:
        self._limit = limit
        self._began = began
        self._tell = tell
        self._next_s = _TOLD_FIRST_S
        while self._next_s < time.monotonic() - began:
            self._wait_longer()

    def look(self) -> Stop | None:
        for_s = time.monotonic() - self._began
        if for_s > self._next_s:
            self._wait_longer()
            self._tell(Overdue(for_s=for_s, expected_s=None, limit_s=None))
        return self._limit.look()

    def _wait_longer(self) -> None:
        self._next_s += min(self._next_s, _TOLD_EVERY_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What no round of a measurement may exceed: the user's limit for perf_analyzer, and the
    time (of the monotonic clock) at which the budget ends. `tell` is called when it takes long.
    """

    timeout_s: float
    until: float
    tell: Callable[[Overdue], None]


class RoundLimit:
    """The time limit of a round of these `generators` that is `seconds` long.

    `earlier` are the counts of the server before it. They are compared with new ones only when it
    takes long: that is work beside the measurement.
    """

    def __init__(
        self,
        generators: Sequence[Generator],
        server: Server,
        earlier: ServerStatistics,
        seconds: float,
        bounds: Bounds,
    ) -> None:
        self._server = server
        self._earlier = earlier
        self._bounds = bounds
        self._words = " and ".join(dict.fromkeys(workload_words(each.work) for each in generators))
        self._variants = [each.work.variant for each in generators]
        self._sizes = {each.work.variant.model: each.work.load.batch_size for each in generators}
        self._closed = {each.work.variant.model for each in generators if in_flight(each.work)}
        # the requests beside those of the windows, by model
        self._others: dict[str, int] = defaultdict(int)
        for each in generators:
            due = 0 if each.due is None else len(each.due)
            self._others[each.work.variant.model] += due or _WAVES * in_flight(each.work)
        last_due = [
            float(each.due[-1]) / _NS_PER_S
            for each in generators
            if each.whole and each.due is not None
        ]
        self._expected_s = max([seconds, *last_due])
        self._began = time.monotonic()
        self._tell_s = overdue_s(self._expected_s)
        self._limit_s = self._check_s = self._bounded(self._expected_s)
        self._count = 0.0  # the requests that were answered when the server was last asked

    def look(self) -> Stop | None:
        elapsed_s = time.monotonic() - self._began
        if elapsed_s > self._check_s and (stop := self._stop(elapsed_s)) is not None:
            return stop
        if elapsed_s > self._tell_s:
            self._tell_s = max(self._limit_s, elapsed_s)
            self._count = sum(self._answered().values())
            self._bounds.tell(
                Overdue(for_s=elapsed_s, expected_s=self._expected_s, limit_s=self._limit_s)
            )
        return None

    def rates(self) -> Mapping[str, float]:
        """The requests per second that the server answers in closed loops, by model, if the launch
        took long: there may be none in its windows.
        """
        elapsed_s = time.monotonic() - self._began
        if elapsed_s <= overdue_s(self._expected_s):
            return {}
        answered = self._answered()
        return {name: answered[name] / elapsed_s for name in self._closed if answered.get(name)}

    def _stop(self, elapsed_s: float) -> Stop | None:
        """The reason to give up, unless the server goes on answering requests that take long."""
        answered = self._answered()
        count, earlier_count = sum(answered.values()), self._count
        self._count = count
        is_over_budget = self._began + elapsed_s > self._bounds.until
        if count > earlier_count and not is_over_budget:
            others_s = [
                self._others[model] * elapsed_s / own for model, own in answered.items() if own
            ]
            self._limit_s = self._bounded(max(self._expected_s, *others_s))
            silent_s = max(_SILENT_S, _LONGER * elapsed_s / count)
            self._check_s = min(self._limit_s, elapsed_s + silent_s)
            if elapsed_s <= self._limit_s:
                return None
        facts = self._facts(answered)
        if is_over_budget:
            text = f"{self._words}: the time budget ended after {elapsed_s:.0f} s ({facts})"
            return Stop(FailureReason.BUDGET, text, _BUDGET_HINT)
        if elapsed_s > self._bounds.timeout_s:
            return _timed_out(self._bounds.timeout_s)
        text = f"{self._words}: given up after {elapsed_s:.0f} s ({facts})"
        return Stop(FailureReason.TIMEOUT, text, _HANG_HINT)

    def _facts(self, answered: Mapping[str, float]) -> str:
        """What was expected, and what the server did, for the user."""
        expected = f"{self._expected_s:.2g} s expected"
        if not answered:
            return expected
        count = counted(round(sum(answered.values())), "request")
        return f"{expected}; the server answered {count}"

    def _bounded(self, expected_s: float) -> float:
        """The limit of a launch that is expected to last so long."""
        left_s = self._bounds.until - self._began
        return min(given_up_s(expected_s), self._bounds.timeout_s, left_s)

    def _answered(self) -> dict[str, float]:
        """The requests that the server answered since the launch, by model; empty if unknown."""
        counts = counted_between(self._earlier, self._server.statistics(self._variants))
        return {
            model: counts[model].inferences / size
            for model, size in self._sizes.items()
            if model in counts
        }


def _timed_out(seconds: float) -> Stop:
    return Stop(
        FailureReason.TIMEOUT,
        f"perf_analyzer did not finish within {seconds:g} s",
        "the model may hang; otherwise raise --perf-analyzer-timeout",
    )


# How often the server is asked: seldom, since that is work beside the measurement.
_EVERY_S = 1.0
# A server is silent for longer than between two answers of this load, by a factor; in seconds, for
# at least so long.
_STALLED_LONGER, _STALLED_S = 5.0, 10.0


class StallWatch:
    """Notices a perf_analyzer that waits in vain for the last answers of its load.

    Where each request has its time, perf_analyzer sends so many requests and ends with the last
    answer. It may lose an answer that comes before it begins to collect them, and a thread of it
    may miss the signal to begin. Then the server has answered all requests, or all but those of a
    thread; any other number means that it is slow. Without statistics, nothing is noticed.
    """

    def __init__(self, generators: Sequence[Generator], server: Server) -> None:
        self._server = server
        self._variants: list[ModelVariant] = []
        self._sizes: dict[str, int] = {}
        # by model, for each generator: its requests, and the threads that send them
        self._requests: dict[str, list[tuple[int, int]]] = defaultdict(list)
        last_due = 0
        for each in generators:
            if each.window.total and each.due is not None:
                name = each.work.variant.model
                self._variants.append(each.work.variant)
                self._sizes[name] = each.work.load.batch_size
                self._requests[name].append((len(each.due), threads(each.work.flags)))
                last_due = max(last_due, int(each.due[-1]))
        self._begin = self._counts = self._inferences()
        self._looked = self._answered = time.monotonic()
        self._all_due = self._looked + last_due / _NS_PER_S
        self._longest_s = 0.0
        self.has_stalled = False

    def look(self) -> bool:
        """Whether it waits in vain, from now on also in `has_stalled`."""
        now = time.monotonic()
        if not self._variants or now - self._looked < _EVERY_S:
            return False
        self._looked = now
        counts = self._inferences()
        if counts != self._counts:
            self._longest_s = max(self._longest_s, now - self._answered)
            self._counts, self._answered = counts, now
        is_silent = now - self._answered > max(_STALLED_S, _STALLED_LONGER * self._longest_s)
        self.has_stalled = is_silent and now > self._all_due and self._misses_threads()
        return self.has_stalled

    def _inferences(self) -> Mapping[str, int]:
        if not self._variants:
            return {}
        statistics = self._server.statistics(self._variants)
        return {name: statistics[name].inferences for name in self._sizes if name in statistics}

    def _misses_threads(self) -> bool:
        """Whether each model has answered all its requests, or all but those of a thread."""
        return all(
            name in self._counts
            and name in self._begin
            and _is_share(
                sum(count for count, _ in requests)
                - (self._counts[name] - self._begin[name]) / self._sizes[name],
                requests,
            )
            for name, requests in self._requests.items()
        )


def _is_share(missing: float, requests: Sequence[tuple[int, int]]) -> bool:
    """Whether none are missing, or as many as a thread of one of the generators sends."""
    return missing <= 0 or any(
        missing in (count // senders, -(-count // senders)) for count, senders in requests
    )
