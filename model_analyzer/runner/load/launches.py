# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Launches of perf_analyzer: one for each workload at the same time, watched until all end."""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil

from model_analyzer.domain.measurements import (
    ModelMeasurement,
    Notice,
    ServerStatistics,
    counted_between,
)
from model_analyzer.domain.models import empty, group_name, is_decoupled, is_openai, sequence_idle_s
from model_analyzer.domain.protocols import Route, Server
from model_analyzer.domain.secrets import masked_command
from model_analyzer.domain.settings import LoadGeneratorSettings, Protocol
from model_analyzer.domain.trials import Failure, FailureReason, Workload
from model_analyzer.errors import OutputError
from model_analyzer.noise.first_look import in_flight
from model_analyzer.runner.client.interface import has_fixed_shapes
from model_analyzer.runner.load.child import LOOK_S, AnswerWatch, Child, most_memory_of_each
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
from model_analyzer.runner.load.output import OutputVerdict, deciding_lines
from model_analyzer.runner.load.schedule import intervals_text
from model_analyzer.runner.load.time_limits import StallWatch, TimeLimit
from model_analyzer.runner.load.token_stream import CHAT, usual_request
from model_analyzer.runner.process import Process, ReadyGuard
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.log import MAY_LACK_MEMORY, error_lines
from model_analyzer.runner.stubs import StubWatch

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
