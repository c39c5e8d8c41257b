# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Launches of perf_analyzer: one for each workload at the same time, watched until all end; and a
running perf_analyzer, which is watched until it ends.
"""

from __future__ import annotations

import logging
import math
import os
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from model_analyzer.domain.measurements import (
    ModelMeasurement,
    Notice,
    ServerStatistics,
    Values,
    counted_between,
)
from model_analyzer.domain.models import (
    ModelVariant,
    empty,
    group_name,
    is_decoupled,
    is_openai,
    sequence_idle_s,
)
from model_analyzer.domain.protocols import Route, Server
from model_analyzer.domain.secrets import masked_command
from model_analyzer.domain.settings import LoadGeneratorSettings, Protocol
from model_analyzer.domain.trials import Failure, FailureReason, Workload
from model_analyzer.errors import OutputError
from model_analyzer.noise.first_look import in_flight
from model_analyzer.reading.untrusted import open_regular
from model_analyzer.runner.client.interface import has_fixed_shapes
from model_analyzer.runner.host import read_group
from model_analyzer.runner.load.command import build_command, build_genai_command
from model_analyzer.runner.load.ended import (
    EXPORT,
    OUTPUT,
    TABLE,
    Ended,
    Stop,
    collect,
    failed_answers,
    failure_of,
    no_tokens,
    without_responses,
)
from model_analyzer.runner.load.generators import Generator, with_own_ids
from model_analyzer.runner.load.output import (
    OutputVerdict,
    deciding_lines,
    is_loaded,
    stream_failed,
    why_not_loaded,
)
from model_analyzer.runner.load.schedule import intervals_text
from model_analyzer.runner.load.time_limits import StallWatch, TimeLimit
from model_analyzer.runner.load.token_stream import CHAT, usual_request
from model_analyzer.runner.process import Process, ReadyGuard
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.log import MAY_LACK_MEMORY, error_lines
from model_analyzer.runner.stubs import StubWatch, stubs_among

_CPU_PERCENT = 80.0

# It ends sooner after the error of a request, unless it waits forever.
_ENDING_S = 5.0

# The size of a piece of output to read at once, and its overlap with the next piece.
_LOOKED_AT, _LONGEST_LINE = 2**20, 2**14

# How often the server is asked: the first and the last answer are seen so much too late.
LOOK_S = 0.05

_Count = tuple[float, int]


class Child:
    """A running perf_analyzer that measures the variant `name`, and the reasons to stop it.

    With an embedded server, its CPU time and memory include the model: then there is no default CPU
    limit, and none of memory.
    """

    def __init__(
        self,
        name: str,
        process: Process,
        command: str,
        directory: Path,
        route: Route,
        stubs: StubWatch,
        *,
        most_cpu_percent: float | None,
        most_bytes: int,
    ) -> None:
        self._name = name
        self.process = process
        self.command = command
        self.directory = directory
        self.stubs = stubs
        self.embeds_server = route.load_timeout_s is not None
        usual = math.inf if self.embeds_server else _CPU_PERCENT * (os.cpu_count() or 1)
        self._most_cpu_percent = most_cpu_percent or usual
        self._most_bytes = most_bytes
        self._looked_at = 0
        self._loads_until = time.monotonic() + (route.load_timeout_s or 0)
        self._is_loading = self.embeds_server
        self._used = (time.monotonic(), 0.0)
        self._failed_at = 0.0

    def trouble(self, most_memory: float) -> Stop | None:
        """The reason to stop it, which may use so many bytes of memory, or None."""
        if _bytes_below(self.directory) > self._most_bytes:
            return Stop(
                FailureReason.NO_RESULT,
                f"perf_analyzer was stopped: it wrote more than {_gib(self._most_bytes)} for"
                f" {self._name}",
                "use fewer verbose flags or a shorter measurement-interval",
            )
        if self._is_loading:
            return self._trouble_of_loading()
        if self.stubs.death():
            return Stop(FailureReason.MODEL_DIED)
        if self._waits_in_vain():
            return Stop(
                FailureReason.REQUEST_FAILED,
                f"{self._name}: the model answered a request with an error in its stream, after"
                " which perf_analyzer never ends",
                "send one such request by hand to see the error: perf_analyzer does not show it",
            )
        cpu_percent, memory = self._use()
        if cpu_percent > self._most_cpu_percent:
            return Stop(
                FailureReason.LOAD_GENERATOR_BUSY,
                f"perf_analyzer used too much CPU while it measured {self._name}",
                "raise --perf-analyzer-cpu-util",
            )
        if memory > most_memory and not self.embeds_server:
            return Stop(
                FailureReason.LOAD_GENERATOR_LARGE,
                f"perf_analyzer was stopped: it used more than {_gib(most_memory)} of memory"
                f" while it measured {self._name}, half of what was free before",
                "it keeps all requests in memory: measure for less time, with smaller inputs or a"
                " lower load, or where more memory is free",
            )
        return None

    def _trouble_of_loading(self) -> Stop | None:
        if self._failed_to_load():
            return Stop(FailureReason.MODEL_NOT_LOADED)
        if self._is_loading and time.monotonic() > self._loads_until:
            return Stop(
                FailureReason.LOAD_TIMEOUT,
                f"{self._name} was not loaded in time",
                "raise --model-load-timeout",
            )
        if not self._is_loading:
            self.stubs = StubWatch([stub.pid for stub in stubs_among(self.process.tree())])
        return None

    def _waits_in_vain(self) -> bool:
        """Whether it said some seconds ago that a request failed, and still runs."""
        with open_regular(self.directory / OUTPUT) as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(max(size - _LONGEST_LINE, 0))
            if not stream_failed(file.read(_LONGEST_LINE).decode(errors="replace")):
                return False
        self._failed_at = self._failed_at or time.monotonic()
        return time.monotonic() - self._failed_at > _ENDING_S

    def _failed_to_load(self) -> bool:
        """Whether its new output says that the model could not be loaded; also notes if it is."""
        with open_regular(self.directory / OUTPUT) as file:
            size = os.fstat(file.fileno()).st_size
            while self._is_loading and self._looked_at < size:
                file.seek(max(self._looked_at - _LONGEST_LINE, 0))
                output = file.read(_LOOKED_AT).decode(errors="replace")
                self._looked_at = file.tell()
                self._is_loading = not is_loaded(output)
                if self._is_loading and why_not_loaded(output):
                    return True
        return False

    def _use(self) -> tuple[float, int]:
        """The CPU use of the process tree since the last call, in percent, and its memory in bytes;
        0 if less than a second has passed.
        """
        time_s, (last_time_s, last_used_s) = time.monotonic(), self._used
        if time_s - last_time_s < 1:
            return 0.0, 0
        tree = self.process.tree()
        used_s = sum(map(_cpu_seconds, tree))
        self._used = (time_s, used_s)
        percent = (used_s - last_used_s) / (time_s - last_time_s) * 100
        return percent, sum(map(_memory, tree))


def _bytes_below(directory: Path) -> int:
    """The size of the files below a directory on disk."""
    sizes = (
        os.lstat(os.path.join(root, name)).st_blocks * 512
        for root, _, names in os.walk(directory)
        for name in names
    )
    try:
        return sum(sizes)
    except FileNotFoundError:
        return 0  # it has just been removed


def most_memory_of_each(count: int) -> float:
    """The bytes of memory that each of so many perf_analyzers may use: together half of what is
    free on this machine, and in this container. The server, its models, and the reading of exports
    need the rest.
    """
    group = read_group()
    free = [psutil.virtual_memory().available]
    if group.memory is not None:
        free.append(max(group.memory - group.memory_used, 0))
    return min(free) / 2 / count


def _gib(size: float) -> str:
    return f"{size / 2**30:.3g} GiB"


def _memory(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0  # it has just ended


def _cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0  # it has just ended
    return float(times.user + times.system)


class AnswerWatch:
    """Sees when the first and the last requests of a load were answered, in the statistics of the
    server. Without these, the table stays as it is.
    """

    def __init__(self, generators: Sequence[Generator], server: Server) -> None:
        self._server = server
        self._variants: dict[str, ModelVariant] = {}
        # all requests of a model, which several generators may send
        self._requests: Counter[str] = Counter()
        for each in generators:
            if each.window.total and not each.exports:
                self._variants[each.work.variant.model] = each.work.variant
                self._requests[each.work.variant.model] += each.window.total
        self._seen = dict(self._inferences())
        self._first: dict[str, _Count] = {}
        self._last: dict[str, _Count] = {}

    @property
    def is_needed(self) -> bool:
        """Whether there is such a load."""
        return bool(self._variants)

    def look(self, now: float) -> None:
        """Asks the server, at a time in seconds."""
        for model, count in self._inferences().items():
            if count != self._seen.get(model):
                self._last[model] = now, count
                self._first.setdefault(model, (now, count))
                self._seen[model] = count

    def corrected(self, generator: Generator, table: Values | None) -> Values | None:
        """The table of a generator, with its part of the inferences per second between the first
        answer and the last one.
        """
        model, requests = generator.work.variant.model, generator.window.total
        if table is None or requests is None or generator.exports or model not in self._last:
            return table
        (begin, before), (end, after) = self._first[model], self._last[model]
        if end <= begin or after <= before:  # too short to see, or the server was restarted
            return table
        rate = (after - before) / (end - begin)
        return {**table, "perf_throughput": rate * requests / self._requests[model]}

    def _inferences(self) -> Mapping[str, int]:
        if not self._variants:
            return {}
        statistics = self._server.statistics([*self._variants.values()])
        return {name: statistics[name].inferences for name in self._variants if name in statistics}


log = logging.getLogger(__name__)

_LOOK_S = 0.5

# The files with the times between requests, and with their inputs.
INTERVALS, INPUTS = "intervals.txt", "inputs.json"

# The limit for output, tables and exports of one launch: ten times the longest ones (verbose).
MOST_BYTES = 4 * 2**30

# Results that a larger window may fix.
TOO_SMALL = (OutputVerdict.TOO_SHORT, OutputVerdict.UNCOUNTED)

# More requests than an accident of timing explains.
_SOME = 5

# Of a stream of numbers, perf_analyzer exports random memory as the last response; if that is no
# number, it exports nothing (`profile_export`). The next time, the memory has other contents.
UNREADABLE = "perf_analyzer could not export the responses"
# So many launches in vain may be an accident.
MOST_VAIN = 2

# Launches with uncounted requests that may be an accident of timing; more of them are a failure.
UNCOUNTED_LAUNCHES = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of a perf_analyzer run: a measurement for each workload, and the statistics of the
    server. The windows of all workloads lie `during` these times, in seconds since the epoch; None
    if they are unknown.
    """

    models: tuple[ModelMeasurement, ...]
    notices: tuple[Notice, ...]
    commands: tuple[str, ...]
    statistics: ServerStatistics = field(default_factory=empty)
    during: tuple[float, float] | None = None


class Launches:
    """Starts perf_analyzers, and genai-perf for workloads with its flags.

    The user's paths are relative to `user_directory`. `guards` may have a guard ready for a
    program. If it writes more than `most_bytes`, it is stopped.
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
        guards: ReadyGuard | None = None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._program = program
        self._settings = settings
        self._protocol = protocol
        self._work_directory = work_directory
        self.user_directory = user_directory
        self._genai_perf = genai_perf
        self._guards = guards or ReadyGuard()
        self._most_bytes = most_bytes
        self._running: Sequence[Child] = ()

    @property
    def most(self) -> int:
        """The limit of launches for one measurement."""
        return self._settings.max_launches

    @property
    def timeout_s(self) -> int:
        """The time limit of a launch."""
        return self._settings.timeout_s

    def processes(self) -> Sequence[psutil.Process]:
        """All running processes, with an embedded server."""
        return [process for child in self._running for process in child.process.tree()]

    def launch(
        self,
        generators: Sequence[Generator],
        server: Server,
        limit: TimeLimit,
        watch: StallWatch | None = None,
    ) -> list[Ended]:
        """Starts all generators at the same time, and waits for them; ends them at their time
        limit, or if they stall.
        """
        generators = [*map(_for_openai, with_own_ids(generators))]
        stubs = StubWatch(server.stubs())
        answers = AnswerWatch(generators, server)
        with self._in_place(), ExitStack() as stack:
            children = []
            for generator in generators:
                directory = stack.enter_context(
                    tempfile.TemporaryDirectory(dir=self._work_directory)
                )
                child = self._start(generator, server, Path(directory), stubs)
                stack.enter_context(child.process)
                children.append(child)
            self._running = children
            try:
                stopped = self._wait(children, server, limit, watch, answers)
            finally:
                self._running = ()
            self._guards.prepare()
            ended = [
                collect(
                    child.directory,
                    child.command,
                    child.process.status,
                    embedded=child.embeds_server,
                    stopped=stopped,
                    death=child.stubs.final_death(),
                    idle_s=sequence_idle_s(generator.work.variant.config),
                    is_openai=is_openai(generator.work.variant.config),
                )
                for generator, child in zip(generators, children, strict=True)
            ]
        return [
            replace(run, table=answers.corrected(generator, run.table))
            for generator, run in zip(generators, ended, strict=True)
        ]

    def _start(
        self, generator: Generator, server: Server, directory: Path, stubs: StubWatch
    ) -> Child:
        if generator.due is not None:
            (directory / INTERVALS).write_text(intervals_text(generator.due))
        if generator.inputs is not None:
            with open(directory / INPUTS, "wb") as file:
                file.writelines(generator.inputs)
        route = server.route(generator.work.variant, self._protocol)
        program, command = self._command(generator, route, directory)
        log.debug("%s", masked_command(command))
        # the checkpoint has the path of the program once
        shown = masked_command([Path(command[0]).name, *command[1:]])
        process = Process(
            command,
            environment={**program.environment, **_bound_at_start(route), **route.environment},
            output=directory / OUTPUT,
            directory=directory,
            guard=self._guards.take(),
        )
        return Child(
            generator.work.variant.name,
            process,
            shown,
            directory,
            route,
            stubs,
            most_cpu_percent=self._settings.most_cpu_percent,
            most_bytes=self._most_bytes,
        )

    def _command(
        self, generator: Generator, route: Route, directory: Path
    ) -> tuple[Program, list[str]]:
        """The program for a workload, and its command; its files are in a `directory`."""
        work, window = generator.work, generator.window
        if work.genai_perf and self._genai_perf is not None:
            return self._genai_perf, build_genai_command(
                self._genai_perf.path,
                work,
                reached_by=route.flags,
                table=TABLE,
                window=window,
                user_directory=self.user_directory,
            )
        return self._program, build_command(
            self._program.path,
            work,
            reached_by=route.flags,
            table=TABLE,
            export=EXPORT if generator.exports else None,
            intervals=None if generator.due is None else str(directory / INTERVALS),
            inputs=None if generator.inputs is None else str(directory / INPUTS),
            # models with fixed shapes were warmed up after loading; a server embedded in
            # perf_analyzer 2.51 loses its model during a warm-up
            warm_up=self._program.warms_up
            and route.load_timeout_s is None
            and not has_fixed_shapes(work.variant.config),
            window=window,
            user_directory=self.user_directory,
        )

    def _wait(
        self,
        children: Sequence[Child],
        server: Server,
        limit: TimeLimit,
        watch: StallWatch | None,
        answers: AnswerWatch,
    ) -> Stop | None:
        """Waits for all to end; kills them if there is a reason to, such as a time limit."""
        stop = None
        most_memory = most_memory_of_each(len(children))  # while they start
        look_s = LOOK_S if answers.is_needed else _LOOK_S
        for child in children:
            while stop is None and child.process.wait(look_s) is None:
                answers.look(time.monotonic())
                if not server.is_alive:
                    stop = Stop(FailureReason.SERVER_DIED)
                elif watch is not None and watch.look():
                    stop = Stop(FailureReason.TIMEOUT)
                else:
                    stop = limit.look() or child.trouble(most_memory)
        if stop is not None:
            for child in children:
                child.process.kill()
        return stop

    def failure(
        self,
        workloads: Sequence[Workload],
        ended: Sequence[Ended],
        server: Server,
        *,
        may_be_late: bool,
    ) -> Failure | None:
        """The failure of a launch that no larger window may fix, if it has failed.

        `may_be_late`: the server may have counted uncounted requests too late.
        """
        final = [OutputVerdict.FAILED, *(() if may_be_late else (OutputVerdict.UNCOUNTED,))]
        for work, run in zip(workloads, ended, strict=True):
            if run.stopped is not None or run.death or run.verdict in final:
                failure = self._failure(work.variant.name, run, server)
                return replace(failure, commands=commands_of(ended))
            if run.export is not None and run.export.errors:
                failure = failed_answers(work.variant.name, run.export.errors)
                return replace(failure, commands=commands_of(ended))
            if _is_unreadable(work, run):
                return replace(no_tokens(work.variant.name, run), commands=commands_of(ended))
        return None

    def without_responses(
        self,
        workloads: Sequence[Workload],
        ended: Sequence[Ended],
        server: Server,
        earlier: ServerStatistics,
    ) -> Failure | None:
        """The failure of a launch without any request in its windows, although the server has ended
        more since its `earlier` counts than were in flight.
        """
        silent = [
            (work, run)
            for work, run in zip(workloads, ended, strict=True)
            if run.verdict is OutputVerdict.TOO_SHORT and is_decoupled(work.variant.config)
        ]
        if not silent:
            return None
        counts = counted_between(earlier, server.statistics([work.variant for work in workloads]))
        for work, run in silent:
            model = counts.get(work.variant.model)
            answered = 0 if model is None else model.inferences // work.load.batch_size
            if answered > _SOME + 2 * in_flight(work):
                failure = without_responses(work.variant.name, answered, run)
                return replace(failure, commands=commands_of(ended))
        return None

    def gave_up(self, workloads: Sequence[Workload], ended: Sequence[Ended]) -> Failure:
        """The failure of a measurement that all launches did not make."""
        too_short = any(run.verdict in TOO_SMALL for run in ended)
        return Failure(
            reason=FailureReason.NO_REQUESTS if too_short else FailureReason.UNSTABLE,
            message=f"{names_of(workloads)}: no usable measurement in {self.most} launches",
            log=deciding_lines(ended[0].output),
            hint="set a larger measurement-interval in perf_analyzer_flags",
            commands=commands_of(ended),
        )

    def _failure(self, name: str, run: Ended, server: Server) -> Failure:
        stop = run.stopped or Stop(FailureReason.NO_RESULT)
        if stop.reason is FailureReason.SERVER_DIED or not server.is_alive:
            return Failure(
                reason=FailureReason.SERVER_DIED,
                message=f"the server died during the measurement of {name}",
                log=server.log_tail(),
                hint=MAY_LACK_MEMORY,
            )
        log_lines = deciding_lines(run.output)
        if run.death:
            return Failure(
                reason=FailureReason.MODEL_DIED,
                message=run.death,
                log=(*log_lines, *server.log_tail()),
                hint=MAY_LACK_MEMORY,
            )
        if not stop.message:
            return failure_of(name, run)
        if stop.reason is FailureReason.LOAD_TIMEOUT:
            log_lines = error_lines(run.output.splitlines())
        return Failure(reason=stop.reason, message=stop.message, log=log_lines, hint=stop.hint)

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


def _for_openai(generator: Generator) -> Generator:
    """The generator, for a model behind OpenAI's API with a request, if the user gives none; and
    with an export, without which answers that failed would not be noticed.
    """
    work = generator.work
    if not is_openai(work.variant.config):
        return generator
    inputs = generator.inputs
    if inputs is None and "input-data" not in work.flags:
        inputs = [usual_request(work.variant.model, str(work.flags.get("endpoint", CHAT)))]
    return replace(generator, inputs=inputs, exports=True)


def _bound_at_start(route: Route) -> Mapping[str, str]:
    """The environment with which a program finds its functions when it starts, not when it first
    calls them.

    A thread of perf_analyzer that looks one up just when its load begins may miss the signal to
    begin, and never send. An embedded server may have functions that do not exist, and never call
    them.
    """
    return {"LD_BIND_NOW": "1"} if route.load_timeout_s is None else {}


def are_unreadable(workloads: Iterable[Workload], ended: Iterable[Ended]) -> bool:
    """Whether responses that have to be timed were counted, but not exported, by any of them."""
    return any(map(_is_unreadable, workloads, ended))


def _is_unreadable(work: Workload, run: Ended) -> bool:
    return work.times_tokens and run.verdict is OutputVerdict.DONE and not run.has_tokens


def log_vain(workloads: Sequence[Workload], why: str) -> None:
    """Says that a launch in vain is repeated."""
    log.info("%s: %s, measuring again", names_of(workloads), why)


def names_of(workloads: Sequence[Workload]) -> str:
    """The variants of a trial, as in tables."""
    return group_name(work.variant.name for work in workloads)


def commands_of(ended: Sequence[Ended]) -> tuple[str, ...]:
    """The commands of a launch."""
    return tuple(run.command for run in ended)
