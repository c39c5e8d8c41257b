# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Runs perf_analyzer until it gives a result worth keeping, or a reason why there is none."""

from __future__ import annotations

import logging
import os
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from model_analyzer.domain.measurements import ModelMeasurement, Notice, NoticeKind, Values
from model_analyzer.domain.protocols import Server
from model_analyzer.domain.secrets import masked_command
from model_analyzer.domain.settings import LoadGeneratorSettings, Protocol
from model_analyzer.domain.trials import Failure, FailureReason, Workload
from model_analyzer.runner.load.command import Window, build_command
from model_analyzer.runner.load.output import (
    Report,
    Verdict,
    composing_model,
    deciding_lines,
    judge,
    parse_composing_table,
    parse_report,
    parse_table,
)
from model_analyzer.runner.process import Process, describe_status
from model_analyzer.runner.runtime import Program

log = logging.getLogger(__name__)

_TABLE = "results.csv"
_OUTPUT = "output.txt"
_LOOK_S = 0.5
_CPU_PERCENT = 80.0

# Strict launches with larger and larger windows, before an unstable result is taken as it is.
_STRICT_LAUNCHES = 3

# What it says of a model of `--bls-composing-models` that got no request.
_NO_REQUESTS = "failed to find the requested model version"
_NO_REQUESTS_HINT = "is each of bls_composing_models called? One that gets no request breaks it"

# Requests needed in a window to claim a 99th percentile with 95 % confidence.
_REQUESTS_FOR_P99 = 299


@dataclass(frozen=True, slots=True)
class Reading:
    """What a perf_analyzer run told: one measurement for each workload."""

    models: tuple[ModelMeasurement, ...]
    notices: tuple[Notice, ...]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Ended:
    """One perf_analyzer that has ended (or was stopped: `stopped` says why)."""

    command: str
    status: int
    output: str
    table: Values | None
    composing: dict[str, Values]
    stopped: FailureReason | None

    @property
    def verdict(self) -> Verdict:
        return judge(self.status, self.output, has_table=self.table is not None)

    @property
    def report(self) -> Report:
        return parse_report(self.output)


class PerfAnalyzer:
    """The load generator: one perf_analyzer for each workload, started together."""

    def __init__(
        self,
        program: Program,
        settings: LoadGeneratorSettings,
        protocol: Protocol,
        *,
        work_directory: Path,
        user_directory: Path,
    ) -> None:
        self._program = program
        self._settings = settings
        self._protocol = protocol
        self._most_cpu_percent = settings.most_cpu_percent or _CPU_PERCENT * (os.cpu_count() or 1)
        self._work_directory = work_directory
        self._user_directory = user_directory
        # enlarged windows that proved stable, by what is loaded: the next load starts with them
        self._learned: dict[tuple[str, int], Window] = {}

    def generate(self, workloads: Sequence[Workload], server: Server) -> Reading | Failure:
        windows = [self._learned.get(_kind(work), Window.of(work.flags)) for work in workloads]
        unstable = 0
        for launch in range(1, self._settings.max_launches + 1):
            ended = self._launch(workloads, windows, server)
            failure = self._failure(workloads, ended, server)
            if failure is not None:
                return failure
            if all(one.verdict is Verdict.DONE for one in ended):
                self._learn(workloads, windows)
                return self._reading(workloads, windows, ended)
            unstable += any(one.verdict is Verdict.UNSTABLE for one in ended)
            is_last = launch + 1 == self._settings.max_launches or unstable >= _STRICT_LAUNCHES
            for index, (work, one) in enumerate(zip(workloads, ended, strict=True)):
                if one.verdict is not Verdict.DONE:
                    windows[index] = self._enlarge(work, windows[index], one, accept=is_last)
        return self._gave_up(workloads, ended)

    def _enlarge(self, work: Workload, window: Window, ended: _Ended, *, accept: bool) -> Window:
        rates = ended.report.windows
        rate = sum(rates) / len(rates) / work.load.batch_size if rates else 0.0
        larger = window.enlarged(rate)
        log.info(
            "%s: measurement window is %s, increased to %s",
            work.variant.name,
            "too small" if ended.verdict is Verdict.TOO_SHORT else "not stable",
            larger,
        )
        return replace(larger, accepting=accept and ended.verdict is Verdict.UNSTABLE)

    def _learn(self, workloads: Sequence[Workload], windows: Sequence[Window]) -> None:
        """Keeps the windows that gave stable results, and none that was taken as it was."""
        for work, window in zip(workloads, windows, strict=True):
            if not window.accepting:
                self._learned[_kind(work)] = window

    def _launch(
        self, workloads: Sequence[Workload], windows: Sequence[Window], server: Server
    ) -> list[_Ended]:
        """Starts one perf_analyzer for each workload, and waits for all of them."""
        with ExitStack() as stack:
            directories = [
                Path(stack.enter_context(tempfile.TemporaryDirectory(dir=self._work_directory)))
                for _ in workloads
            ]
            commands = [
                build_command(
                    self._program.path,
                    work,
                    endpoint=server.endpoint(self._protocol),
                    protocol=self._protocol,
                    table=_TABLE,
                    window=window,
                    user_directory=self._user_directory,
                )
                for work, window in zip(workloads, windows, strict=True)
            ]
            processes = [
                stack.enter_context(
                    Process(
                        command,
                        environment=self._program.environment,
                        output=directory / _OUTPUT,
                        directory=directory,
                    )
                )
                for command, directory in zip(commands, directories, strict=True)
            ]
            log.debug("%s", "\n".join(map(masked_command, commands)))
            stopped = self._wait(processes, server)
            return [
                _collect(masked_command(command), process, directory, stopped)
                for command, process, directory in zip(
                    commands, processes, directories, strict=True
                )
            ]

    def _wait(self, processes: Sequence[Process], server: Server) -> FailureReason | None:
        """Waits for all to end; kills them when time is up or the server is gone."""
        deadline = time.monotonic() + self._settings.timeout_s
        reason = None
        for process in processes:
            usage = _CpuUsage(process)
            while reason is None and process.wait(_LOOK_S) is None:
                if not server.is_alive:
                    reason = FailureReason.SERVER_DIED
                elif time.monotonic() > deadline:
                    reason = FailureReason.TIMEOUT
                elif usage.percent() > self._most_cpu_percent:
                    reason = FailureReason.LOAD_GENERATOR_BUSY
        if reason is not None:
            for process in processes:
                process.kill()
        return reason

    def _failure(
        self, workloads: Sequence[Workload], ended: Sequence[_Ended], server: Server
    ) -> Failure | None:
        """The failure that no larger window would mend, if there is one."""
        for work, one in zip(workloads, ended, strict=True):
            if one.stopped is None and one.verdict is not Verdict.FAILED:
                continue
            name, commands = work.variant.name, tuple(each.command for each in ended)
            if one.stopped is FailureReason.SERVER_DIED or not server.is_alive:
                return Failure(
                    reason=FailureReason.SERVER_DIED,
                    message=f"the server died while {name} was measured",
                    log=server.log_tail(),
                    commands=commands,
                )
            if one.stopped is FailureReason.TIMEOUT:
                return Failure(
                    reason=FailureReason.TIMEOUT,
                    message=f"perf_analyzer did not finish within {self._settings.timeout_s} s",
                    log=deciding_lines(one.output),
                    hint="the model may hang; --perf-analyzer-timeout gives it more time",
                    commands=commands,
                )
            if one.stopped is FailureReason.LOAD_GENERATOR_BUSY:
                return Failure(
                    reason=FailureReason.LOAD_GENERATOR_BUSY,
                    message=f"perf_analyzer used more than {self._most_cpu_percent:.0f} % CPU while"
                    f" it measured {name}",
                    hint="--perf-analyzer-cpu-util allows it more",
                    commands=commands,
                )
            return _failed(name, one, commands)
        return None

    def _reading(
        self, workloads: Sequence[Workload], windows: Sequence[Window], ended: Sequence[_Ended]
    ) -> Reading:
        models, notices = [], []
        for work, window, one in zip(workloads, windows, ended, strict=True):
            report = one.report
            models.append(
                ModelMeasurement(
                    values=one.table or {},
                    requests=report.requests,
                    windows=report.windows,
                    composing=one.composing,
                )
            )
            if window.accepting:
                notices.append(_unstable(work, report))
            if report.requests is not None and report.requests < _REQUESTS_FOR_P99:
                notices.append(_few_requests(work, report.requests))
        commands = tuple(one.command for one in ended)
        return Reading(tuple(models), tuple(notices), commands)

    def _gave_up(self, workloads: Sequence[Workload], ended: Sequence[_Ended]) -> Failure:
        names = ",".join(work.variant.name for work in workloads)
        too_short = any(one.verdict is Verdict.TOO_SHORT for one in ended)
        return Failure(
            reason=FailureReason.NO_REQUESTS if too_short else FailureReason.UNSTABLE,
            message=f"{names}: no usable measurement in {self._settings.max_launches} launches",
            log=deciding_lines(ended[0].output),
            hint="set a larger measurement-interval in perf_analyzer_flags",
            commands=tuple(one.command for one in ended),
        )


class _CpuUsage:
    """CPU percent of a process and its children between two looks at least a second apart."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._last = (time.monotonic(), 0.0)

    def percent(self) -> float:
        now, (then, before) = time.monotonic(), self._last
        if now - then < 1:
            return 0.0
        used = sum(map(_cpu_seconds, self._process.tree()))
        self._last = (now, used)
        return (used - before) / (now - then) * 100


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0  # it has just ended
    return float(times.user + times.system)


def _collect(
    command: str, process: Process, directory: Path, stopped: FailureReason | None
) -> _Ended:
    status = process.status
    table, composing = None, {}
    for path in sorted(directory.glob(f"*{_TABLE}")):
        text = path.read_text(errors="replace")
        model = composing_model(path.name, _TABLE)
        if path.name == _TABLE:
            table = parse_table(text)
        elif model is not None:
            values = parse_composing_table(text)
            if values:
                composing[model] = values
    return _Ended(
        command=command,
        status=137 if status is None else status,
        output=(directory / _OUTPUT).read_text(errors="replace"),
        table=table,
        composing=composing,
        stopped=stopped,
    )


def _failed(name: str, one: _Ended, commands: tuple[str, ...]) -> Failure:
    lines = deciding_lines(one.output)
    if one.status > 128 or one.status < 0:
        return Failure(
            reason=FailureReason.LOAD_GENERATOR_DIED,
            message=f"perf_analyzer was {describe_status(one.status)} while it measured {name}",
            log=lines,
            commands=commands,
        )
    if one.status == 0:
        return Failure(
            reason=FailureReason.NO_RESULT,
            message=f"perf_analyzer ended without a result for {name}",
            log=lines,
            hint="a latency-threshold that the load exceeds gives none",
            commands=commands,
        )
    # "Failed to maintain …" is always the same; what the request met follows it
    told = [line for line in lines if not line.startswith("Failed to maintain")]
    reason = (told or list(lines) or [describe_status(one.status)])[0]
    return Failure(
        reason=FailureReason.REQUEST_FAILED,
        message=f"{name}: perf_analyzer failed: {reason}",
        log=lines,
        hint=_NO_REQUESTS_HINT if _NO_REQUESTS in reason else "",
        commands=commands,
    )


def _unstable(work: Workload, report: Report) -> Notice:
    return Notice(
        kind=NoticeKind.UNSTABLE,
        text=f"{work.variant.name} at {work.load}: windows differ by ±{report.spread:.0%};"
        " the machine may be busy, or the window too small",
    )


def _few_requests(work: Workload, requests: int) -> Notice:
    return Notice(
        kind=NoticeKind.FEW_REQUESTS,
        text=f"{work.variant.name} at {work.load}: p99 rests on {requests} requests,"
        f" {_REQUESTS_FOR_P99} are needed to be 95 % sure of it",
    )


def _kind(work: Workload) -> tuple[str, int]:
    return work.variant.identity, work.load.batch_size
