# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs perf_analyzer until it gives a usable result, or fails; and measurements with
perf_analyzer's own care: it decides when its windows are stable; and measurements in rounds: one
run of perf_analyzer, as long as it was asked for.

The user's flags say how. An unstable or empty window is enlarged, as often as launches are allowed.
Latencies of open loads count from the times at which perf_analyzer had to send, if it can export
when it did.

Its windows need not be stable: how much they differ is part of the result. If possible, values come
from the times of all requests; otherwise, from perf_analyzer's table.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

import psutil

from model_analyzer.domain.arrivals import has_own_times, is_open, traffic_of
from model_analyzer.domain.flags import Flag
from model_analyzer.domain.measurements import (
    REQUESTS_FOR_P99,
    ModelMeasurement,
    Notice,
    NoticeKind,
    ServerStatistics,
    Values,
    counted_between,
    few_requests,
)
from model_analyzer.domain.models import empty
from model_analyzer.domain.protocols import Server
from model_analyzer.domain.slots import Overdue
from model_analyzer.domain.traffic import Traffic
from model_analyzer.domain.trials import Failure, Workload, workload_words
from model_analyzer.domain.windows import ENOUGH_REQUESTS, WINDOWS, Window
from model_analyzer.domain.words import counted
from model_analyzer.errors import unwritable, wrong
from model_analyzer.noise.first_look import in_flight, is_cold, is_short
from model_analyzer.noise.lag import is_late
from model_analyzer.noise.laws import DUE
from model_analyzer.reading.untrusted import read_regular
from model_analyzer.runner.load import schedule
from model_analyzer.runner.load.ended import Ended
from model_analyzer.runner.load.generators import (
    Generator,
    Indices,
    by_workload,
    joined_exports,
    joined_tables,
    joined_times,
    shares,
)
from model_analyzer.runner.load.launches import (
    MOST_VAIN,
    TOO_SMALL,
    UNCOUNTED_LAUNCHES,
    UNREADABLE,
    Launches,
    Reading,
    are_unreadable,
    commands_of,
    log_vain,
    names_of,
)
from model_analyzer.runner.load.logged_requests import InputFile, Replay, ReplayProblem, read_replay
from model_analyzer.runner.load.output import OutputVerdict, Report, finite_number
from model_analyzer.runner.load.profile_export import Export
from model_analyzer.runner.load.sampling import (
    Offered,
    evidence_of,
    latency_values,
    rates_of,
    sampled,
    token_metrics,
    whole_rate,
)
from model_analyzer.runner.load.time_limits import (
    AnsweringLimit,
    Bounds,
    ExportSizes,
    GivenLimit,
    Patience,
    RequestRates,
    RoundLimit,
    StallWatch,
    TimeLimit,
    end_of_budget,
)

_MS_PER_S, _NS_PER_S = 1000, 1e9

# Why a round is measured again.
_NO_REQUEST = "no request ended in the measurement"
_IN_A_WINDOW = {
    OutputVerdict.UNSTABLE: "no request ended in one of perf_analyzer's windows",
    OutputVerdict.UNCOUNTED: "the server counted no request in one of perf_analyzer's windows",
}
_FEW_REQUESTS = "few requests ended"
_SENT_LATE = "requests were sent late"
_SLOW = "requests take long"
_STALLED = "perf_analyzer waited in vain for answers"
# A round without a request is followed by one that is so many times as long, or as it should
# have been: requests count that begin and end in one of perf_analyzer's windows.
_GROWTH, _ROOMY = 3, 2

# A server that answers less than this share of the requests that are due will not keep up.
_HOPELESS = 1 / 3
# A server that answered none of so many requests, although there was time, stood still.
_UNANSWERED = 10

# The times of an open load last longer than a round: by a factor, and by seconds.
_LONGER, _MORE_S = 2.0, 5.0


class RoundMeasuring:
    """Measures rounds, and remembers rates and sizes of requests for the next ones.

    `tell` is called if a round takes long.
    """

    def __init__(
        self, launches: Launches, sizes: ExportSizes, tell: Callable[[Overdue], None]
    ) -> None:
        self._tell = tell
        self._launches = launches
        self._sizes = sizes
        self._rates = RequestRates()

    def measure(
        self,
        workloads: Sequence[Workload],
        server: Server,
        asked_s: float,
        part: int,
        until: float = math.inf,
    ) -> tuple[Reading | Failure, Sequence[Ended]]:
        """The outcome of a round that lasts so many seconds, and the last launch. With 0, it
        is a first look: just long enough for some requests, and repeated once if they were sent
        late. If the first requests of a closed load could not be left out, it is repeated once,
        longer. `part` is the number of the round, which is given up at the time
        `until` (of the monotonic clock).
        """
        seconds, vain, uncounted, empty_s = self._wanted_s(workloads, asked_s), 0, 0, 0.0
        variants, unanswered = [work.variant for work in workloads], [0] * len(workloads)
        # a log or stages have their own length
        is_final, whole = any(has_own_times(work) for work in workloads), False
        may_repeat = not is_final and not asked_s
        for launch in range(1, self._launches.most + 1):
            earlier = server.statistics(variants)
            groups = [self._generators(work, seconds, part, whole=whole) for work in workloads]
            may_be_vain = vain < MOST_VAIN and launch < self._launches.most
            ended, has_stalled = self._launch(
                groups, server, earlier, seconds, until, watched=may_be_vain
            )
            if has_stalled or (may_be_vain and are_unreadable(_works(groups), ended)):
                vain += 1
                log_vain(workloads, _STALLED if has_stalled else UNREADABLE)
                continue
            uncounted += any(run.verdict is OutputVerdict.UNCOUNTED for run in ended)
            reading = self._reading(
                groups,
                ended,
                server,
                seconds,
                earlier,
                may_be_late=uncounted < UNCOUNTED_LAUNCHES,
            )
            if isinstance(reading, Failure):
                return reading, ended
            wanted_s = self._wanted_s(workloads, asked_s)
            if reading is None:
                next_s = self._longer_s(seconds, wanted_s)
                reason, empty_s = _silence(ended, seconds)
                unanswered = [_due_before(group, empty_s / 2) for group in groups]
                if len(workloads) == 1 and unanswered[0] >= _UNANSWERED and not whole:
                    # a longer load would only lengthen the queue of a server that is too slow
                    log.info(
                        "%s: %s, measuring until all are answered", names_of(workloads), reason
                    )
                    whole = is_final = True
                    continue
                if next_s <= seconds:
                    break
            elif whole and not _tells_enough(workloads[0], reading.models[0], seconds):
                reason, next_s = _SLOW, self._longer_s(seconds)
            elif not is_final and _are_short(groups, ended, seconds, wanted_s):
                reason, next_s, is_final = _FEW_REQUESTS, wanted_s, True
            elif may_repeat and launch < self._launches.most and _is_late(reading):
                # other programs may have delayed the client for a moment: that tells nothing
                reason, next_s, may_repeat = _SENT_LATE, seconds, False
            else:
                statistics = counted_between(earlier, server.statistics(variants))
                stood_still = _stood_still(workloads, reading, empty_s, unanswered)
                notices = (*reading.notices, *stood_still)
                return replace(reading, statistics=statistics, notices=notices), ended
            _log_again(workloads, next_s, reason)
            seconds = next_s
        return self._launches.gave_up(workloads, ended), ended

    def _longer_s(self, seconds: float, wanted_s: float = 0.0) -> float:
        """The length after a round of so many seconds that saw nothing, or too little."""
        return self._bounded(max(_GROWTH * seconds, _ROOMY * wanted_s))

    def _bounded(self, seconds: float) -> float:
        """The seconds, so that perf_analyzer ends within its time limit."""
        return min(seconds, self._launches.timeout_s / 2)

    def _wanted_s(self, workloads: Sequence[Workload], asked_s: float) -> float:
        """The length of a round, which is the same for all models of a trial."""
        if asked_s:
            return self._bounded(max(asked_s, *map(self._rates.least_s, workloads)))
        return self._bounded(max(map(self._rates.first_look_s, workloads)))

    def _generators(
        self, work: Workload, seconds: float, part: int, *, whole: bool
    ) -> Sequence[Generator]:
        """The perf_analyzers for a workload; those of an open load know when requests are due. A
        `whole` load is measured until all requests of these seconds are answered.
        """
        rate = self._rates.expected(work)
        exports = work.times_tokens or self._sizes.allow(work, rate, seconds)
        traffic = traffic_of(work)
        if traffic is None:
            return [Generator(work, Window.lasting(seconds), exports)]
        replay = self._replay(work, traffic)
        whole = whole or traffic.has_own_times
        # perf_analyzer sends until its windows end, which is somewhat later than asked for
        longer = seconds if whole else _LONGER * seconds + _MORE_S
        due = schedule.due_times(
            traffic,
            rate=work.load.value,
            seconds=longer,
            part=part,
            log=() if replay is None else replay.log.times,
            stratum_s=seconds,
        )
        parts = shares(due, traffic)
        if part == 0 and len(parts) < traffic.generators:
            log.info(
                "%s: %d requests are too few for %d generators, using %d",
                work.variant.name, len(due), traffic.generators, len(parts),
            )  # fmt: skip
        return [
            Generator(
                work,
                Window.of_requests(len(share))
                if whole
                else Window.lasting(seconds + schedule.LEAD_S),
                exports,
                due[share],
                whole,
                _inputs(replay, share, work.load.batch_size),
            )
            for share in parts
            if len(share)
        ]

    def _replay(self, work: Workload, traffic: Traffic) -> Replay | None:
        if not traffic.log:
            return None
        try:
            return read_replay(traffic, work.flags, self._launches.user_directory)
        except ReplayProblem as error:  # it has changed since the run began
            raise wrong("load", error.message) from None

    def _launch(
        self,
        groups: Sequence[Sequence[Generator]],
        server: Server,
        earlier: ServerStatistics,
        seconds: float,
        until: float,
        *,
        watched: bool,
    ) -> tuple[Sequence[Ended], bool]:
        """The launch, and whether it stalled, if it was `watched` for that."""
        generators = [*chain.from_iterable(groups)]
        bounds = Bounds(timeout_s=self._launches.timeout_s, until=until, tell=self._tell)
        limit = RoundLimit(generators, server, earlier, seconds, bounds)
        watch = StallWatch(generators, server) if watched else None
        ended = self._launches.launch(generators, server, limit, watch)
        self._sizes.learn_from(generators, ended)
        rates = limit.rates()
        for work in (each.work for each in generators if each.work.variant.model in rates):
            self._rates.learn(work, rates[work.variant.model])
        return ended, watch is not None and watch.has_stalled

    def _reading(
        self,
        groups: Sequence[Sequence[Generator]],
        ended: Sequence[Ended],
        server: Server,
        seconds: float,
        earlier: ServerStatistics,
        *,
        may_be_late: bool,
    ) -> Reading | Failure | None:
        """The reading, or a failure; None if the round was too short."""
        workloads = _works(groups)
        failure = self._launches.failure(workloads, ended, server, may_be_late=may_be_late)
        if failure is not None:
            return failure
        if any(run.verdict is not OutputVerdict.DONE for run in ended):
            return self._launches.without_responses(workloads, ended, server, earlier)
        models = []
        notices: list[Notice] = []
        for group, runs in zip(groups, by_workload(groups, ended), strict=True):
            work = group[0].work
            model = _measured(group, runs, seconds)
            if model is None:
                return None
            notices += schedule.remarks_on_sending(work, model.values)
            if in_flight(work) and is_cold(_ended_requests(runs), in_flight(work)):
                notices.append(_too_few(work, model.requests or 0))
            self._rates.learn(work, model.values["perf_throughput"] / work.load.batch_size)
            models.append(model)
        return Reading(tuple(models), tuple(notices), commands_of(ended), during=_during(ended))


def _silence(ended: Sequence[Ended], seconds: float) -> tuple[str, float]:
    """Why a round of so many seconds has no values, and how long nothing was answered."""
    for run in ended:
        if run.verdict in _IN_A_WINDOW:
            return _IN_A_WINDOW[run.verdict], seconds / WINDOWS
    return _NO_REQUEST, seconds


def _works(groups: Sequence[Sequence[Generator]]) -> Sequence[Workload]:
    """The workload of each perf_analyzer."""
    return [generator.work for generator in chain.from_iterable(groups)]


def _inputs(replay: Replay | None, share: Indices, batch_size: int) -> InputFile | None:
    """The inputs of these requests of a log, if it selects them."""
    if replay is None or replay.entries is None:
        return None
    return InputFile(replay.entries, replay.log.inputs[share], batch_size)


def _measured(
    generators: Sequence[Generator], runs: Sequence[Ended], seconds: float
) -> ModelMeasurement | None:
    """The measurement from the times of all requests, those of an open load when they were due;
    from the tables, if a generator exported none. None if a language model gave no token.
    """
    work = generators[0].work
    sent, moved, offered = _requests(generators, runs)
    export = sent if moved is None else moved.export
    measured = None
    if export is not None:
        measured = sampled(
            export,
            in_flight=in_flight(work),
            batch_size=work.load.batch_size,
            with_tokens=work.times_tokens,
            offered=offered,
        )
    if measured is None:
        reports = [run.report for run in runs]
        measured = ModelMeasurement(
            values={},
            requests=sum(report.requests or 0 for report in reports) or None,
            windows=reports[0].windows if len(runs) == 1 else (),
            seconds=seconds,
        )
    if work.times_tokens and "output_token_throughput" not in measured.values:
        return None
    values = {**joined_tables(runs), **measured.values}
    histograms = measured.histograms
    if moved is not None:
        values |= schedule.values_of_sending(moved)
        histograms = {**histograms, **schedule.histograms_of_sending(moved)}
    evidence = _evidence(generators, sent, moved)
    # rates that differ by intention are no noise
    windows = () if has_own_times(work) else measured.windows
    # of the server, so each generator says the same
    return replace(
        measured,
        values=values,
        histograms=histograms,
        windows=windows,
        composing=runs[0].composing,
        evidence=evidence,
    )


def _evidence(
    generators: Sequence[Generator], sent: Export | None, moved: schedule.IntendedTimes | None
) -> Values:
    is_whole = generators[0].whole
    if sent is None:
        due = [each.due for each in generators if each.due is not None]
        return {DUE: rate} if is_whole and (rate := whole_rate(due)) else {}
    rates = {} if moved is None else rates_of(sent, moved, is_whole=is_whole)
    return {**evidence_of(sent), **rates}


def _during(runs: Sequence[Ended]) -> tuple[float, float] | None:
    """The time in which all of them measured, in seconds; None if it is unknown for one of them."""
    bounds = [run.export.bounds for run in runs if run.export is not None]
    if len(bounds) < len(runs):
        return None
    begin, end = max(each[0] for each in bounds), min(each[-1] for each in bounds)
    return (begin / _NS_PER_S, end / _NS_PER_S) if begin < end else None


def _requests(
    generators: Sequence[Generator], runs: Sequence[Ended]
) -> tuple[Export | None, schedule.IntendedTimes | None, Offered | None]:
    """All requests of a workload, as they were sent; for an open load also at their intended times,
    and what was offered at a rate. None if not all requests are known.
    """
    exports = [run.export for run in runs if run.export is not None]
    if len(exports) < len(runs):
        return None, None, None
    is_whole = generators[0].whole
    parts = [
        schedule.intended(export, each.due)
        for export, each in zip(exports, generators, strict=True)
        if each.due is not None
    ]
    sent = joined_exports(exports, is_whole=is_whole)
    if not parts:
        return sent, None, None
    moved = joined_times(parts, is_whole=is_whole)
    work = generators[0].work
    rate: float = work.load.value
    if work.traffic is not None and work.traffic.has_own_times:
        rate = work.traffic.mean_rate
    # the times of a log are the same in every measurement
    return sent, moved, Offered(moved.due, rate, whole=is_whole) if rate else None


def _are_short(
    groups: Sequence[Sequence[Generator]], ended: Sequence[Ended], seconds: float, wanted_s: float
) -> bool:
    """Whether a round was too short for one of the workloads."""
    return any(
        is_short(seconds, wanted_s, _ended_requests(runs), in_flight(group[0].work))
        for group, runs in zip(groups, by_workload(groups, ended), strict=True)
    )


def _ended_requests(runs: Sequence[Ended]) -> int:
    """How many requests of a workload ended within perf_analyzer's windows."""
    return sum(
        run.report.requests or 0 if run.export is None else len(run.export.inside) for run in runs
    )


def _too_few(work: Workload, requests: int) -> Notice:
    return Notice(
        kind=NoticeKind.FEW_REQUESTS,
        text=f"{workload_words(work)}: only {counted(requests, 'request')} ended in the time that"
        " perf_analyzer_timeout allows. That is too few to leave out those that an idle server"
        " answered first, so latencies are too low: raise it, or use a lower load",
    )


def _due_before(generators: Sequence[Generator], seconds: float) -> int:
    """How many requests of an open load are due in so many seconds: bursts leave gaps."""
    end_ns = (schedule.LEAD_S + seconds) * _NS_PER_S
    return sum(int((each.due < end_ns).sum()) for each in generators if each.due is not None)


def _tells_enough(work: Workload, model: ModelMeasurement, seconds: float) -> bool:
    """Whether a whole load of so many seconds tells enough: the server is much too slow, or it
    answers soon. Otherwise, it may have answered only one batch of requests.
    """
    share = model.values["perf_throughput"] / (work.load.value * work.load.batch_size)
    p50_ms = model.values.get("perf_latency_p50", 0.0)
    return share < _HOPELESS or p50_ms / _MS_PER_S < seconds / 2


def _stood_still(
    workloads: Sequence[Workload], reading: Reading, empty_s: float, unanswered: Sequence[int]
) -> Iterator[Notice]:
    """A notice if nothing was answered for so long, although answers usually come much sooner:
    perf_analyzer gave no values of that time. So many requests of an open load were due in its
    first half; a closed one sends as soon as it has answers.
    """
    for work, model, due in zip(workloads, reading.models, unanswered, strict=True):
        if in_flight(work):
            due = int(empty_s / 2 * model.values["perf_throughput"] / work.load.batch_size)
        p99_ms = model.values.get("perf_latency_p99", math.inf)
        if due >= _UNANSWERED and p99_ms / _MS_PER_S < empty_s / 2:
            yield Notice(
                kind=NoticeKind.STOOD_STILL,
                text=f"{workload_words(work)}: no request was answered for {empty_s:.3g} s: the"
                " server stood still, and that is in no latency here. Look into its log, or replay"
                " a log of requests, which measures each of them",
            )


def _is_late(reading: Reading) -> bool:
    return any(is_late(model.values) for model in reading.models)


def _log_again(workloads: Sequence[Workload], seconds: float, reason: str) -> None:
    log.info("%s: %s, measuring for %.3g s", names_of(workloads), reason, seconds)


log = logging.getLogger(__name__)

# perf_analyzer's own default
_STABILITY_PERCENT = 10.0

# The number of launches, each with a larger window, before an unstable result is accepted; and so
# many seconds, if the user sized no window.
_STRICT_LAUNCHES, _STRICT_S = 3, 60.0

# The variant, the batch size and the conditions of a measurement.
_Kind = tuple[str, int, str]


class CarefulMeasuring:
    """Measures with windows that the user or perf_analyzer chose, and remembers larger ones. `tell`
    is called if that takes long.
    """

    def __init__(
        self, launches: Launches, sizes: ExportSizes, tell: Callable[[Overdue], None]
    ) -> None:
        self._launches = launches
        self._sizes = sizes
        self._tell = tell
        # enlarged windows that were stable: later loads of the same kind start with them
        self._learned: dict[_Kind, Window] = {}

    def measure(
        self, workloads: Sequence[Workload], server: Server
    ) -> tuple[Reading | Failure, Sequence[Ended]]:
        """The outcome, and the last launch."""
        windows = [self._learned.get(_kind(work), Window.of(work.flags)) for work in workloads]
        variants = [work.variant for work in workloads]
        unstable = uncounted = vain = 0
        began = time.monotonic()
        for launch in range(1, self._launches.most + 1):
            earlier = server.statistics(variants)
            generators = [
                Generator(work, window, exports=work.times_tokens or self._may_export(work, window))
                for work, window in zip(workloads, windows, strict=True)
            ]
            limit = Patience(self._limit(generators, server, earlier), began, self._tell)
            ended = self._launches.launch(generators, server, limit)
            self._sizes.learn_from(generators, ended)
            may_be_vain = vain < MOST_VAIN and launch < self._launches.most
            if may_be_vain and are_unreadable(workloads, ended):
                vain += 1
                log_vain(workloads, UNREADABLE)
                continue
            uncounted += any(run.verdict is OutputVerdict.UNCOUNTED for run in ended)
            may_be_late = uncounted < UNCOUNTED_LAUNCHES
            outcome = self._outcome(workloads, windows, ended, server, may_be_late=may_be_late)
            if isinstance(outcome, Reading):
                statistics = counted_between(earlier, server.statistics(variants))
                outcome = replace(outcome, statistics=statistics)
                if launch < self._launches.most and self._fill(workloads, windows, ended):
                    continue
            if outcome is None:
                outcome = self._launches.without_responses(workloads, ended, server, earlier)
            if outcome is not None:
                break
            unstable += any(run.verdict is OutputVerdict.UNSTABLE for run in ended)
            has_taken_long = not _is_sized(workloads) and time.monotonic() - began > _STRICT_S
            is_last = (
                launch + 1 == self._launches.most or unstable >= _STRICT_LAUNCHES or has_taken_long
            )
            for index, (work, run) in enumerate(zip(workloads, ended, strict=True)):
                if run.verdict is not OutputVerdict.DONE:
                    windows[index] = self._enlarge(work, windows[index], run, accept=is_last)
        else:
            outcome = self._launches.gave_up(workloads, ended)
        return outcome, ended

    def _limit(
        self, generators: Sequence[Generator], server: Server, earlier: ServerStatistics
    ) -> TimeLimit:
        """The time limit of a launch: that of the user alone, if the user sized a window."""
        timeout_s = self._launches.timeout_s
        if _is_sized(each.work for each in generators):
            return GivenLimit(timeout_s)
        return AnsweringLimit(generators, server, earlier, timeout_s)

    def _may_export(self, work: Workload, window: Window) -> bool:
        """Whether perf_analyzer can export when it sent the requests of an open load; or how long a
        number of requests took, since its own table rounds that up to whole seconds.
        """
        if work.genai_perf:
            return False
        if not is_open(work):
            return window.total is not None and self._sizes.allow_number(work, window.total)
        rate = schedule.own_rate(work, self._intervals(work))
        return rate is not None and self._sizes.allow(work, rate, window.seconds(rate))

    def _intervals(self, work: Workload) -> str:
        """The file with the times between requests; "" without any, or if it cannot be read."""
        path = work.flags.get("request-intervals")
        if not isinstance(path, str):
            return ""
        try:
            content = read_regular(
                self._launches.user_directory / path, most_bytes=schedule.MOST_INTERVALS_BYTES
            )
        except OSError:
            return ""  # it has changed since the run began, or is larger than any that is useful
        return content.decode(errors="replace")

    def _fill(
        self, workloads: Sequence[Workload], windows: list[Window], ended: Sequence[Ended]
    ) -> bool:
        """Enlarges windows with few requests, unless the user gave their size or they were enlarged
        for that before; returns whether there are any.
        """
        is_changed = False
        for index, (work, run) in enumerate(zip(workloads, ended, strict=True)):
            window = windows[index]
            is_kept = window.accepting or window.is_set_by(work.flags)
            if is_kept or not run.report.has_few_requests:
                continue
            rate = run.report.requests_per_s(work.load.batch_size)
            larger = window.filled(rate, timeout_s=self._launches.timeout_s)
            if larger != window:
                _log_larger(work, f"holds fewer than {ENOUGH_REQUESTS} requests", larger)
                windows[index], is_changed = larger, True
        return is_changed

    def _enlarge(self, work: Workload, window: Window, ended: Ended, *, accept: bool) -> Window:
        larger = window.enlarged(ended.report.requests_per_s(work.load.batch_size))
        reason = "is too small" if ended.verdict in TOO_SMALL else "is not stable"
        _log_larger(work, reason, larger)
        return replace(larger, accepting=accept and ended.verdict is OutputVerdict.UNSTABLE)

    def _learn(
        self, workloads: Sequence[Workload], windows: Sequence[Window], ended: Sequence[Ended]
    ) -> None:
        """Stores the windows that gave stable results."""
        for work, window, run in zip(workloads, windows, ended, strict=True):
            if not _is_unstable(work, window, run):
                self._learned[_kind(work)] = replace(window, accepting=False)

    def _outcome(
        self,
        workloads: Sequence[Workload],
        windows: Sequence[Window],
        ended: Sequence[Ended],
        server: Server,
        *,
        may_be_late: bool,
    ) -> Reading | Failure | None:
        """The reading, or a failure; None if a larger window may fix the result."""
        failure = self._launches.failure(workloads, ended, server, may_be_late=may_be_late)
        if failure is not None:
            return failure
        if all(run.verdict is OutputVerdict.DONE for run in ended):
            self._learn(workloads, windows, ended)
            return self._reading(workloads, windows, ended)
        return None

    def _reading(
        self, workloads: Sequence[Workload], windows: Sequence[Window], ended: Sequence[Ended]
    ) -> Reading:
        models, notices = [], []
        for work, window, run in zip(workloads, windows, ended, strict=True):
            report = run.report
            tokens = run.tokens if work.times_tokens else None
            values = {**(run.table or {}), **(tokens or {})}
            if run.export is not None and window.total is not None:
                values["perf_throughput"] = run.export.requests_per_s * work.load.batch_size
            if is_open(work) and run.export is not None:
                flags = {**work.flags, **window.flags}
                values |= corrected(work, flags, run.export, self._intervals(work))
            models.append(
                ModelMeasurement(
                    values=values,
                    requests=report.requests,
                    windows=report.windows,
                    composing=run.composing,
                    evidence={} if run.export is None else evidence_of(run.export),
                )
            )
            if _is_unstable(work, window, run):
                notices.append(_unstable(work, report))
            notices += self._on_sending(work, values, run)
            notices += _few_requests(work, window, report)
        return Reading(tuple(models), tuple(notices), commands_of(ended))

    def _on_sending(self, work: Workload, values: Values, run: Ended) -> Iterator[Notice]:
        unknown = schedule.NOT_EXPORTED
        if work.genai_perf:
            unknown = "genai-perf does not tell when its requests were due"
        elif run.export is not None or schedule.own_rate(work, self._intervals(work)) is None:
            unknown = "it is not known when perf_analyzer had to send its requests"
        return schedule.remarks_on_sending(work, values, in_rounds=False, unknown=unknown)


def _is_sized(workloads: Iterable[Workload]) -> bool:
    """Whether the user sized a window."""
    return any(Window.of(work.flags) != Window() for work in workloads)


def _unstable(work: Workload, report: Report) -> Notice:
    return Notice(
        kind=NoticeKind.UNSTABLE,
        text=f"{workload_words(work)}: windows differ by {100 * report.spread:.0f} %;"
        " the machine may be busy, or the window too short",
    )


def _few_requests(work: Workload, window: Window, report: Report) -> Iterator[Notice]:
    """A notice if the requests are too few for latencies, or even for the throughput."""
    if report.requests is None or report.requests >= REQUESTS_FOR_P99:
        return
    text = few_requests(work, report.requests)
    if report.has_few_requests:
        text += (
            f". One request more changes the throughput by {100 / max(report.requests, 1):.0f} %:"
            f" set {window.size_flag} in perf_analyzer_flags to more than {window.size}"
        )
    yield Notice(kind=NoticeKind.FEW_REQUESTS, text=text)


def _is_unstable(work: Workload, window: Window, run: Ended) -> bool:
    """Whether the result was accepted although its windows differ more than they should."""
    percent = finite_number(str(work.flags.get("stability-percentage"))) or _STABILITY_PERCENT
    return window.accepting and not run.report.is_steady(percent)


def _log_larger(work: Workload, reason: str, larger: Window) -> None:
    log.info("%s: measurement window %s, increased to %s", work.variant.name, reason, larger)


def _kind(work: Workload) -> _Kind:
    return work.variant.identity, work.load.batch_size, work.client_setup


def corrected(
    work: Workload, flags: Mapping[str, Flag], export: Export, intervals: str = ""
) -> Values:
    """The latencies of the requests in the windows that perf_analyzer reports, from the times at
    which they were due, and how late they were sent; nothing if these times are not known.

    `flags` are those that perf_analyzer got, `intervals` is the text of the file in them.
    """
    due = schedule.own_due_times(work, flags, len(export.requests), intervals)
    if due is None:
        return empty()
    period = export.reported
    moved = schedule.intended(export, due).ended_within(*period)
    if not moved.export.requests:
        return empty()
    tokens = token_metrics(moved.export, *period) if work.times_tokens else None
    return {
        **latency_values(moved.latencies),
        **(tokens or {}),
        **schedule.values_of_sending(moved),
    }


class PerfAnalyzer:
    """The load generator: starts one perf_analyzer for each workload, at the same time.

    `transcript` receives the command and the output of the last launch of each trial. `tell` is
    called if a measurement takes much longer than expected.
    """

    def __init__(
        self,
        launches: Launches,
        *,
        transcript: Callable[[str], None] | None = None,
        tell: Callable[[Overdue], None] = lambda _: None,
    ) -> None:
        self._launches = launches
        sizes = ExportSizes()
        self._careful = CarefulMeasuring(launches, sizes, tell)
        self._rounds = RoundMeasuring(launches, sizes, tell)
        self._transcript = transcript

    def processes(self) -> Sequence[psutil.Process]:
        """All running processes, with an embedded server."""
        return self._launches.processes()

    def generate(
        self,
        workloads: Sequence[Workload],
        server: Server,
        round_s: float | None = None,
        part: int = 0,
        limit_s: float | None = None,
    ) -> Reading | Failure:
        if round_s is None:
            outcome, ended = self._careful.measure(workloads, server)
        else:
            outcome, ended = self._rounds.measure(
                workloads, server, round_s, part, end_of_budget(limit_s)
            )
        if self._transcript is not None:
            for run in ended:
                self._transcript(run.transcript)
        return outcome


class Transcript:
    """Appends texts to a file. Raises OutputError if it cannot be written."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.add("")

    def add(self, text: str) -> None:
        try:
            with open(self._path, "a", encoding="utf-8") as file:
                file.write(f"{text}\n" if text else "")
        except OSError as error:
            raise unwritable(self._path, error, "--perf-output-path") from error
