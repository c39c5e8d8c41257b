# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs perf_analyzer until it gives a usable result, or fails."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from model_analyzer.domain.measurements import (
    REQUESTS_FOR_P99,
    ModelMeasurement,
    Notice,
    NoticeKind,
)
from model_analyzer.domain.models import empty
from model_analyzer.domain.protocols import Server
from model_analyzer.domain.secrets import masked_command
from model_analyzer.domain.settings import LoadGeneratorSettings, Protocol
from model_analyzer.domain.statistics import ServerStatistics, counted_between
from model_analyzer.domain.trials import Failure, FailureReason, Workload
from model_analyzer.domain.windows import ENOUGH_REQUESTS, Window
from model_analyzer.domain.words import counted
from model_analyzer.errors import OutputError
from model_analyzer.runner.client.interface import has_fixed_shapes
from model_analyzer.runner.load.child import Child
from model_analyzer.runner.load.command import build_command
from model_analyzer.runner.load.ended import (
    EXPORT,
    OUTPUT,
    TABLE,
    Ended,
    collect,
    failure_of,
    no_tokens,
)
from model_analyzer.runner.load.genai_perf import build_genai_command
from model_analyzer.runner.load.output import (
    OutputVerdict,
    Report,
    deciding_lines,
    finite_number,
)
from model_analyzer.runner.process import Process, ReadyGuard
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.log import MAY_LACK_MEMORY, error_lines
from model_analyzer.runner.stubs import StubWatch

log = logging.getLogger(__name__)

_LOOK_S = 0.5

# perf_analyzer's own default
_STABILITY_PERCENT = 10.0

# The number of launches, each with a larger window, before an unstable result is accepted.
_STRICT_LAUNCHES = 3

# Results that a larger window may fix.
_TOO_SMALL = (OutputVerdict.TOO_SHORT, OutputVerdict.UNCOUNTED)

# The limit for output, tables and exports of one launch: ten times the longest ones (verbose).
_MOST_BYTES = 4 * 2**30

# Launches with uncounted requests that may be an accident of timing; more of them are a failure.
_UNCOUNTED_LAUNCHES = 2


# The variant, the batch size and the conditions of a measurement.
_Kind = tuple[str, int, str]


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of a perf_analyzer run: a measurement for each workload, and the statistics of the
    server.
    """

    models: tuple[ModelMeasurement, ...]
    notices: tuple[Notice, ...]
    commands: tuple[str, ...]
    statistics: ServerStatistics = field(default_factory=empty)


class PerfAnalyzer:
    """The load generator: starts one perf_analyzer for each workload, at the same time.

    Workloads with genai-perf flags run with `genai_perf`. `transcript` receives the command and the
    output of the last launch of each trial. `guards` may have a guard ready for it. A program that
    writes more than `most_bytes` is stopped.
    """

    def __init__(
        self,
        program: Program,
        settings: LoadGeneratorSettings,
        protocol: Protocol,
        *,
        work_directory: Path,
        user_directory: Path,
        genai_perf: Program | None = None,
        transcript: Callable[[str], None] | None = None,
        guards: ReadyGuard | None = None,
        most_bytes: int = _MOST_BYTES,
    ) -> None:
        self._program = program
        self._settings = settings
        self._protocol = protocol
        self._work_directory = work_directory
        self._user_directory = user_directory
        self._genai_perf = genai_perf
        self._transcript = transcript
        self._guards = guards or ReadyGuard()
        self._most_bytes = most_bytes
        self._running: Sequence[Child] = ()
        # enlarged windows that were stable: later loads of the same kind start with them
        self._learned: dict[_Kind, Window] = {}

    def processes(self) -> Sequence[psutil.Process]:
        """All running processes, with an embedded server."""
        return [process for child in self._running for process in child.process.tree()]

    def generate(self, workloads: Sequence[Workload], server: Server) -> Reading | Failure:
        windows = [self._learned.get(_kind(work), Window.of(work.flags)) for work in workloads]
        variants = [work.variant for work in workloads]
        unstable = uncounted = 0
        for launch in range(1, self._settings.max_launches + 1):
            earlier = server.statistics(variants)
            with self._in_place():
                ended = self._launch(workloads, windows, server)
            uncounted += any(run.verdict is OutputVerdict.UNCOUNTED for run in ended)
            may_be_late = uncounted < _UNCOUNTED_LAUNCHES
            outcome = self._outcome(workloads, windows, ended, server, may_be_late=may_be_late)
            if isinstance(outcome, Reading):
                statistics = counted_between(earlier, server.statistics(variants))
                outcome = replace(outcome, statistics=statistics)
                if launch < self._settings.max_launches and self._fill(workloads, windows, ended):
                    continue
            if outcome is not None:
                break
            unstable += any(run.verdict is OutputVerdict.UNSTABLE for run in ended)
            is_last = launch + 1 == self._settings.max_launches or unstable >= _STRICT_LAUNCHES
            for index, (work, run) in enumerate(zip(workloads, ended, strict=True)):
                if run.verdict is not OutputVerdict.DONE:
                    windows[index] = self._enlarge(work, windows[index], run, accept=is_last)
        else:
            outcome = self._gave_up(workloads, ended)
        if self._transcript is not None:
            for run in ended:
                self._transcript(run.transcript)
        return outcome

    @contextmanager
    def _in_place(self) -> Iterator[None]:
        """A block that raises OutputError if the directory for temporary files is removed."""
        try:
            yield
        except FileNotFoundError as error:
            is_below = Path(error.filename or "").is_relative_to(self._work_directory)
            if self._work_directory.exists() and not is_below:
                raise
            raise OutputError(
                f"{self._work_directory}, the directory for temporary files, was removed during"
                " the run; run the same command again to resume"
            ) from error

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
            larger = window.filled(rate, timeout_s=self._settings.timeout_s)
            if larger != window:
                _log_larger(work, f"holds fewer than {ENOUGH_REQUESTS} requests", larger)
                windows[index], is_changed = larger, True
        return is_changed

    def _enlarge(self, work: Workload, window: Window, ended: Ended, *, accept: bool) -> Window:
        larger = window.enlarged(ended.report.requests_per_s(work.load.batch_size))
        reason = "is too small" if ended.verdict in _TOO_SMALL else "is not stable"
        _log_larger(work, reason, larger)
        return replace(larger, accepting=accept and ended.verdict is OutputVerdict.UNSTABLE)

    def _learn(
        self, workloads: Sequence[Workload], windows: Sequence[Window], ended: Sequence[Ended]
    ) -> None:
        """Stores the windows that gave stable results."""
        for work, window, run in zip(workloads, windows, ended, strict=True):
            if not _is_unstable(work, window, run):
                self._learned[_kind(work)] = replace(window, accepting=False)

    def _launch(
        self, workloads: Sequence[Workload], windows: Sequence[Window], server: Server
    ) -> list[Ended]:
        """Starts one perf_analyzer for each workload, and waits for all of them."""
        stubs = StubWatch(server.stubs())
        with ExitStack() as stack:
            children = []
            for work, window in zip(workloads, windows, strict=True):
                directory = stack.enter_context(
                    tempfile.TemporaryDirectory(dir=self._work_directory)
                )
                child = self._start(work, window, server, Path(directory), stubs)
                stack.enter_context(child.process)
                children.append(child)
            self._running = children
            try:
                stopped = self._wait(children, server)
            finally:
                self._running = ()
            self._guards.prepare()
            return [
                collect(
                    child.directory,
                    child.command,
                    child.process.status,
                    embedded=child.embeds_server,
                    stopped=stopped,
                    death=child.stubs.final_death(),
                )
                for child in children
            ]

    def _start(
        self, work: Workload, window: Window, server: Server, directory: Path, stubs: StubWatch
    ) -> Child:
        route = server.route(work.variant, self._protocol)
        if work.genai_perf and self._genai_perf is not None:
            program = self._genai_perf
            command = build_genai_command(
                program.path,
                work,
                reached_by=route.flags,
                table=TABLE,
                window=window,
                user_directory=self._user_directory,
            )
        else:
            program = self._program
            command = build_command(
                program.path,
                work,
                reached_by=route.flags,
                table=TABLE,
                export=EXPORT if work.times_tokens else None,
                # models with fixed shapes were warmed up after loading; a server embedded in
                # perf_analyzer 2.51 loses its model during a warm-up
                warm_up=route.load_timeout_s is None and not has_fixed_shapes(work.variant.config),
                window=window,
                user_directory=self._user_directory,
            )
        log.debug("%s", masked_command(command))
        # the checkpoint has the path of the program once
        shown = masked_command([Path(command[0]).name, *command[1:]])
        process = Process(
            command,
            environment={**program.environment, **route.environment},
            output=directory / OUTPUT,
            directory=directory,
            guard=self._guards.take(),
        )
        return Child(
            process,
            shown,
            directory,
            route,
            stubs,
            self._settings.most_cpu_percent,
            self._most_bytes,
        )

    def _wait(self, children: Sequence[Child], server: Server) -> FailureReason | None:
        """Waits for all to end; kills them at the deadline, or if the server dies."""
        deadline = time.monotonic() + self._settings.timeout_s
        reason = None
        for child in children:
            while reason is None and child.process.wait(_LOOK_S) is None:
                if not server.is_alive:
                    reason = FailureReason.SERVER_DIED
                elif time.monotonic() > deadline:
                    reason = FailureReason.TIMEOUT
                else:
                    reason = child.trouble()
        if reason is not None:
            for child in children:
                child.process.kill()
        return reason

    def _outcome(
        self,
        workloads: Sequence[Workload],
        windows: Sequence[Window],
        ended: Sequence[Ended],
        server: Server,
        *,
        may_be_late: bool,
    ) -> Reading | Failure | None:
        """The reading, or a failure; None if a larger window may fix the result.

        `may_be_late`: the server may have counted uncounted requests too late.
        """
        commands = tuple(run.command for run in ended)
        final = (
            {OutputVerdict.FAILED}
            if may_be_late
            else {OutputVerdict.FAILED, OutputVerdict.UNCOUNTED}
        )
        for work, run in zip(workloads, ended, strict=True):
            if run.stopped is not None or run.death or run.verdict in final:
                return replace(self._failure(work.variant.name, run, server), commands=commands)
            if run.verdict is OutputVerdict.DONE and work.times_tokens and run.tokens is None:
                return replace(no_tokens(work.variant.name, run), commands=commands)
        if all(run.verdict is OutputVerdict.DONE for run in ended):
            self._learn(workloads, windows, ended)
            return self._reading(workloads, windows, ended)
        return None

    def _failure(self, name: str, run: Ended, server: Server) -> Failure:
        if run.stopped is FailureReason.SERVER_DIED or not server.is_alive:
            return Failure(
                reason=FailureReason.SERVER_DIED,
                message=f"the server died during the measurement of {name}",
                log=server.log_tail(),
                hint=MAY_LACK_MEMORY,
            )
        if run.death:
            return Failure(
                reason=FailureReason.MODEL_DIED,
                message=run.death,
                log=(*deciding_lines(run.output), *server.log_tail()),
                hint=MAY_LACK_MEMORY,
            )
        log_lines = deciding_lines(run.output)
        match run.stopped:
            case FailureReason.TIMEOUT:
                message = f"perf_analyzer did not finish within {self._settings.timeout_s} s"
                advice = "the model may hang; otherwise raise --perf-analyzer-timeout"
            case FailureReason.LOAD_TIMEOUT:
                message, advice = f"{name} was not loaded in time", "raise --model-load-timeout"
                log_lines = error_lines(run.output.splitlines())
            case FailureReason.NO_RESULT:
                size = f"{self._most_bytes / 2**30:.3g} GiB"
                message = f"perf_analyzer was stopped: it wrote more than {size} for {name}"
                advice = "use fewer verbose flags or a shorter measurement-interval"
            case FailureReason.LOAD_GENERATOR_BUSY:
                message = f"perf_analyzer used too much CPU while it measured {name}"
                advice = "raise --perf-analyzer-cpu-util"
            case _:
                return failure_of(name, run)
        return Failure(reason=run.stopped, message=message, log=log_lines, hint=advice)

    def _reading(
        self, workloads: Sequence[Workload], windows: Sequence[Window], ended: Sequence[Ended]
    ) -> Reading:
        models, notices = [], []
        for work, window, run in zip(workloads, windows, ended, strict=True):
            report = run.report
            models.append(
                ModelMeasurement(
                    values={**(run.table or {}), **(run.tokens or {})},
                    requests=report.requests,
                    windows=report.windows,
                    composing=run.composing,
                )
            )
            if _is_unstable(work, window, run):
                notices.append(_unstable(work, report))
            notices += _few_requests(work, window, report)
        commands = tuple(run.command for run in ended)
        return Reading(tuple(models), tuple(notices), commands)

    def _gave_up(self, workloads: Sequence[Workload], ended: Sequence[Ended]) -> Failure:
        names = ",".join(work.variant.name for work in workloads)
        too_short = any(run.verdict in _TOO_SMALL for run in ended)
        return Failure(
            reason=FailureReason.NO_REQUESTS if too_short else FailureReason.UNSTABLE,
            message=f"{names}: no usable measurement in {self._settings.max_launches} launches",
            log=deciding_lines(ended[0].output),
            hint="set a larger measurement-interval in perf_analyzer_flags",
            commands=tuple(run.command for run in ended),
        )


def _unstable(work: Workload, report: Report) -> Notice:
    return Notice(
        kind=NoticeKind.UNSTABLE,
        text=f"{work.variant.name} at {work.load}: windows differ by {100 * report.spread:.0f} %;"
        " the machine may be busy, or the window too short",
    )


def _few_requests(work: Workload, window: Window, report: Report) -> Iterator[Notice]:
    """A notice if the requests are too few for latencies, or even for the throughput."""
    if report.requests is None or report.requests >= REQUESTS_FOR_P99:
        return
    requests = counted(report.requests, "request")
    text = (
        f"{work.variant.name} at {work.load}: p99 is based on {requests};"
        f" {REQUESTS_FOR_P99} are needed for 95 % confidence"
    )
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
    return work.variant.identity, work.load.batch_size, work.conditions
