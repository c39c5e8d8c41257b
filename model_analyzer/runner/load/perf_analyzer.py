# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs perf_analyzer until it gives a usable result, or fails; and measurements with
perf_analyzer's own care: it decides when its windows are stable.

The user's flags say how. An unstable or empty window is enlarged, as often as launches are allowed.
Latencies of open loads count from the times at which perf_analyzer had to send, if it can export
when it did.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import psutil

from model_analyzer.domain.arrivals import is_open
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
from model_analyzer.domain.trials import Failure, Workload, workload_words
from model_analyzer.domain.windows import ENOUGH_REQUESTS, Window
from model_analyzer.errors import unwritable
from model_analyzer.reading.untrusted import read_regular
from model_analyzer.runner.load.ended import Ended
from model_analyzer.runner.load.generators import Generator
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
)
from model_analyzer.runner.load.output import OutputVerdict, Report, finite_number
from model_analyzer.runner.load.profile_export import Export
from model_analyzer.runner.load.rounds import RoundMeasuring
from model_analyzer.runner.load.sampling import evidence_of, latency_values, token_metrics
from model_analyzer.runner.load.schedule import (
    MOST_INTERVALS_BYTES,
    NOT_EXPORTED,
    intended,
    own_due_times,
    own_rate,
    remarks_on_sending,
    values_of_sending,
)
from model_analyzer.runner.load.time_limits import (
    AnsweringLimit,
    ExportSizes,
    GivenLimit,
    Patience,
    TimeLimit,
    end_of_budget,
)

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
        rate = own_rate(work, self._intervals(work))
        return rate is not None and self._sizes.allow(work, rate, window.seconds(rate))

    def _intervals(self, work: Workload) -> str:
        """The file with the times between requests; "" without any, or if it cannot be read."""
        path = work.flags.get("request-intervals")
        if not isinstance(path, str):
            return ""
        try:
            content = read_regular(
                self._launches.user_directory / path, most_bytes=MOST_INTERVALS_BYTES
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
        unknown = NOT_EXPORTED
        if work.genai_perf:
            unknown = "genai-perf does not tell when its requests were due"
        elif run.export is not None or own_rate(work, self._intervals(work)) is None:
            unknown = "it is not known when perf_analyzer had to send its requests"
        return remarks_on_sending(work, values, in_rounds=False, unknown=unknown)


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
    due = own_due_times(work, flags, len(export.requests), intervals)
    if due is None:
        return empty()
    period = export.reported
    moved = intended(export, due).ended_within(*period)
    if not moved.export.requests:
        return empty()
    tokens = token_metrics(moved.export, *period) if work.times_tokens else None
    return {**latency_values(moved.latencies), **(tokens or {}), **values_of_sending(moved)}


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
