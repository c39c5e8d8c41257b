# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Serves the tools to one client, until it closes the connection; and a run that an agent has
started: `profile` in a child, its progress, and its end.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

import anyio
from jsonschema import Draft202012Validator
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from model_analyzer import __version__
from model_analyzer.config.kinds import Duration
from model_analyzer.config.nodes import Node
from model_analyzer.config.options import OPTIONS
from model_analyzer.domain.foreign_json import depth, parse_json
from model_analyzer.domain.secrets import masked_text
from model_analyzer.domain.words import one_line, shortened
from model_analyzer.errors import ModelAnalyzerError, wrong
from model_analyzer.features.agents.agent_tools import (
    LIMITS,
    TOOLS,
    AgentTool,
    brief,
    further,
    in_words_of_tools,
    line_of,
    shown,
    too_long,
)
from model_analyzer.features.agents.borders import (
    CONFIG,
    DEFAULT_PLACES,
    Borders,
    with_keys,
    written,
)
from model_analyzer.features.monitoring.facts.told_progress import ToldProgress
from model_analyzer.reading.untrusted import read_ends, read_regular
from model_analyzer.runner.process import Process
from model_analyzer.runner.workspace import Workspace

# Seconds between the first signal, after which a run finishes its last measurement and its files,
# and the second one, which ends that measurement, too (docs/resuming.md).
LAST_MEASUREMENT_S = 60.0

# What a run has to save if this process ends.
_FAREWELL_S = 60.0

_OUTPUT, _ERRORS = "output", "errors"
_MOST_LOG = 16 * 2**10
_LOG_LINES = 8


def child(words: Sequence[str], directory: Path, farewell_s: float = 0) -> Process:
    """One of our commands in a directory of its own, from which Python imports nothing else."""
    for name in (_OUTPUT, _ERRORS):
        (directory / name).touch()
    return Process(
        [sys.executable, "-m", "model_analyzer", *words],
        environment=os.environ,
        output=directory / _OUTPUT,
        errors=directory / _ERRORS,
        directory=directory,
        farewell_s=farewell_s,
    )


def output_of(directory: Path) -> Path:
    """The standard output of its `child`."""
    return directory / _OUTPUT


def complaints_of(directory: Path) -> Sequence[str]:
    """The last lines that its `child` wrote for people."""
    lines = read_ends(directory / _ERRORS, most_bytes=_MOST_LOG).splitlines()
    return [line.removeprefix("model-analyzer: ") for line in lines if line.strip()][-_LOG_LINES:]


class MeasuringRun:
    """A context manager. It ends as after one Ctrl-C, also if this process is killed."""

    def __init__(self, directory: Path, config: Mapping[str, Any], duration_s: float) -> None:
        self.directory = directory
        self.config = config
        self.checkpoints: str = config["checkpoint_directory"]
        self.duration_s = duration_s
        self._began = time.monotonic()
        self._ended_after: float | None = None
        self._due = _signals(duration_s)
        self._progress = ToldProgress()
        self._read = 0
        words = ("profile", "-f", CONFIG, "--progress", "json")
        self._process = child(words, directory, _FAREWELL_S)

    def __enter__(self) -> MeasuringRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()

    @property
    def elapsed_s(self) -> float:
        """The time that it has taken, in all."""
        return self._elapsed_s if self._ended_after is None else self._ended_after

    @property
    def _elapsed_s(self) -> float:
        return time.monotonic() - self._began

    @property
    def is_running(self) -> bool:
        """Whether it had not ended when somebody last had a `look`."""
        return self._ended_after is None

    def look(self) -> None:
        """Sees whether it has ended, and stops it when its time is over."""
        if self.is_running and not self._process.is_running:
            self._ended_after = self._elapsed_s
        while self.is_running and self._due and self._due[0][0] <= self._elapsed_s:
            self._process.send(self._due.pop(0)[1])

    def stop(self) -> None:
        """Lets it finish its measurement, as one Ctrl-C does. Stopping twice is fine."""
        if not self.is_stopped:
            self._due = _signals(self._elapsed_s)
            self.look()

    @property
    def is_stopped(self) -> bool:
        """Whether it got a signal to end, because somebody asked for it or its time was over."""
        return len(self._due) < len(_signals(0))

    @property
    def document(self) -> Mapping[str, Any]:
        """Where it is, for an agent."""
        self.look()
        self._take_progress()
        state = "stopping" if self.is_stopped else "running"
        document = {
            "state": state if self.is_running else "ended",
            "elapsed_s": round(self.elapsed_s, 1),
            "duration_s": self.duration_s,
            "stopped": self.is_stopped,
            "checkpoint_directory": self.checkpoints,
            **self._progress.document,
        }
        status = self._process.status
        return document if not status else {**document, "log": [*complaints_of(self.directory)]}

    @property
    def line(self) -> str:
        """The same in a sentence or two."""
        told = self._progress.document
        answers = " ".join(answer["sentence"] for answer in told["answers"])
        done = f"{told['trials_done']} trials done, {told['trials_failed']} failed."
        if self.is_running:
            state = "ends with its measurement" if self.is_stopped else "goes on"
            return f"The run {state}. {answers or done}"
        complaint = " ".join(complaints_of(self.directory)[-1:])
        return f"The run has ended. {answers or complaint or done}"

    def _take_progress(self) -> None:
        """Reads the complete lines that have been written since the last time."""
        with open(output_of(self.directory), "rb") as file:
            file.seek(self._read)
            lines = file.read().split(b"\n")[:-1]
        for line in lines:
            self._read += len(line) + 1
            self._progress.take(parse_json(line))


def _signals(after_s: float) -> list[tuple[float, signal.Signals]]:
    """What stops a run, and when it is sent, in seconds."""
    return [(after_s, signal.SIGINT), (after_s + LAST_MEASUREMENT_S, signal.SIGTERM)]


log = logging.getLogger(__name__)

_INSTRUCTIONS = """\
Finds the configuration of a Triton model worth deploying, by measuring. In this order: doctor, \
validate, plan, start (with a small duration), status until it has ended, answer. Then what_if for \
other goals (it measures nothing), explain, and start again with the same checkpoint directory to \
continue. Never tell a number without its interval, and repeat what an answer says is not certain. \
Nothing else may use the machine while a run measures."""

# An adaptive search ends by itself, so early that files can be written, too. It counts the seconds
# of measurements, and a run takes some before, between and after them.
_AROUND_SEARCH_S, _SHARE_OF_SEARCH = 4.0, 0.95

# The end of a child is looked for so often.
_LOOK_S = 0.1
# A command that measures nothing takes seconds; one that loads models may take minutes.
_MOST_S, _MOST_LOADING_S = 120.0, 900.0
# A message that is larger ends the connection, an argument that is deeper is refused.
_MOST_BYTES, _DEEPEST = 4 * 2**20, 40
_MOST_OUTPUT = 64 * 2**20
_BLOCK = 2**16
_MOST_CHARACTERS = 2000

_CHECKPOINTS = "checkpoint_directory"
_TOOLS = {tool.name: tool for tool in TOOLS}


def serve(borders: Borders, budget_s: float) -> None:
    """Serves standard input and output until the input ends; a run is stopped then."""
    with Workspace() as directory, ExitStack() as stack:
        anyio.run(_serve, Desk(borders, budget_s, directory, stack))


async def _serve(desk: Desk) -> None:
    async def listed(*_: object) -> types.ListToolsResult:
        tools = [
            types.Tool(name=tool.name, description=tool.about, input_schema=tool.schema)
            for tool in TOOLS
        ]
        return types.ListToolsResult(tools=tools)

    async def called(_: object, asked: types.CallToolRequestParams) -> types.CallToolResult:
        try:
            answered = await desk.answer(asked.name, asked.arguments or {})
        except ModelAnalyzerError as error:
            text = shortened(masked_text(in_words_of_tools(str(error))), _MOST_CHARACTERS)
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
        line, document = map(in_words_of_tools, answered)
        texts = [one_line(masked_text(line)), json.dumps(document)]
        content: list[Any] = [types.TextContent(text=text) for text in texts]
        return types.CallToolResult(content=content, structured_content=document)

    server = Server[Any](
        "model-analyzer",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.watch)
        # the library's own reader is a thread, which neither a signal nor a size would end
        lines = cast("anyio.AsyncFile[str]", _lines(0))
        async with stdio_server(stdin=lines) as (reader, writer):
            await server.run(reader, writer, server.create_initialization_options())
        await desk.close()
        tasks.cancel_scope.cancel()


async def _lines(descriptor: int) -> AsyncIterator[str]:
    """The lines of an input, until it ends or a line is too large."""
    rest = b""
    while len(rest) <= _MOST_BYTES:
        try:
            await anyio.wait_readable(descriptor)
        except PermissionError:
            pass  # a regular file is always readable
        block = os.read(descriptor, _BLOCK)
        if not block:
            return
        *lines, rest = (rest + block).split(b"\n")
        for line in lines:
            yield line.decode(errors="replace")
    log.error("a message is larger than %d MiB: closing the connection", _MOST_BYTES // 2**20)


class Desk:
    """Answers calls: one command at a time, and one run. Runs and commands have directories of
    their own below `directory`; `stack` ends a run with this process.
    """

    def __init__(
        self, borders: Borders, budget_s: float, directory: Path, stack: ExitStack
    ) -> None:
        self._borders = borders
        self._budget_s = budget_s
        self._directory = directory
        self._stack = stack
        self._run: MeasuringRun | None = None
        self._spent_s = 0.0  # by runs before the latest
        self._one_at_a_time = anyio.Lock()

    async def answer(
        self, name: str, arguments: Mapping[str, Any]
    ) -> tuple[str, Mapping[str, Any]]:
        """The answer of a tool in a line, and as a document. Raises ModelAnalyzerError with what is
        wrong about the call.
        """
        tool = _TOOLS.get(name)
        if tool is None:
            raise wrong("", f"there is no tool {shortened(name, 40)!r}, only {', '.join(_TOOLS)}")
        _check(tool, arguments)
        if name == "status":
            return await self._status(arguments.get("wait_s", 0))
        if name == "stop":
            return await self._stop()
        async with self._one_at_a_time:
            if name == "start":
                return self._start(arguments)
            return await self._command(tool, arguments)

    async def watch(self) -> None:
        """Ends a run whose time is over."""
        while True:
            await anyio.sleep(_LOOK_S)
            if self._run is not None:
                self._run.look()

    async def close(self) -> None:
        """Stops a run, and waits for its end."""
        if self._run is not None:
            self._run.stop()
            await self._wait(LAST_MEASUREMENT_S * 2)

    def _start(self, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        if self._is_measuring:
            raise wrong("start", "a run is measuring: wait for its end, or stop it")
        left_s = self._budget_left_s
        asked_s = Duration().parse(Node(arguments["duration"], "duration"))
        duration_s = min(asked_s, left_s)
        if duration_s < 1:
            raise wrong("duration", f"at least 1 s, and {left_s:g} s of the budget are left")
        config = dict(self._borders.config(arguments["config"]))
        if "adaptive" in (config.get("search"), config.get("run_config_search_mode")):
            measuring_s = _SHARE_OF_SEARCH * duration_s - _AROUND_SEARCH_S
            config.setdefault("budget", max(measuring_s, duration_s / 2))
        directory = self._new_directory(written(config))
        if self._run is not None:
            self._spent_s += self._run.elapsed_s
            self._stack.close()  # it has ended
        self._run = MeasuringRun(directory, config, duration_s)
        self._stack.enter_context(self._run)
        document = {"started": True, "duration_s": duration_s, "budget_left_s": left_s - duration_s}
        cut = "" if duration_s == asked_s else ", which is all that is left of the budget"
        return f"Started, for at most {duration_s:.3g} s{cut}.", document

    async def _status(self, wait_s: float) -> tuple[str, Mapping[str, Any]]:
        if self._run is None:
            document: dict[str, Any] = {"state": "none"}
            line = "No run was started."
        else:
            await self._wait(wait_s)
            document = dict(self._run.document)
            line = f"{self._run.line} {self._budget_left_s:.0f} s of the budget are left."
        return line, {**document, "budget_left_s": round(self._budget_left_s, 1)}

    async def _stop(self) -> tuple[str, Mapping[str, Any]]:
        if self._run is None or not self._is_measuring:
            raise wrong("stop", "no run is measuring")
        self._run.stop()
        return await self._status(1)

    async def _wait(self, most_s: float) -> None:
        with anyio.move_on_after(most_s):
            while self._is_measuring:
                await anyio.sleep(_LOOK_S)

    @property
    def _is_measuring(self) -> bool:
        return self._run is not None and self._run.is_running

    @property
    def _budget_left_s(self) -> float:
        latest_s = 0.0 if self._run is None else self._run.elapsed_s
        return max(self._budget_s - self._spent_s - latest_s, 0.0)

    async def _command(
        self, tool: AgentTool, arguments: Mapping[str, Any]
    ) -> tuple[str, Mapping[str, Any]]:
        if tool.loads and self._is_measuring:
            raise wrong(tool.name, "this would disturb the run that is measuring: wait, or stop it")
        config = written(self._borders.config(arguments["config"])) if "config" in arguments else ""
        directory = self._new_directory(config)
        words = [*tool.command(self._with_default(tool, arguments), self._borders)]
        if config and CONFIG not in words:
            words += ["-f", CONFIG]
        limit_s = _MOST_LOADING_S if tool.loads else _MOST_S
        with child(words, directory) as process, anyio.move_on_after(limit_s):
            while process.is_running:
                await anyio.sleep(_LOOK_S)
        text = read_regular(output_of(directory), most_bytes=_MOST_OUTPUT)
        if not text.startswith(b"{"):
            reason = "; ".join(complaints_of(directory)) or f"no answer within {limit_s:g} s"
            raise ModelAnalyzerError(with_keys(reason, config))
        document = parse_json(with_keys(text.decode(), config))
        short = brief(document) if tool.is_brief(arguments) else shown(document)
        short["advice"] = [*self._advice(tool, document, arguments)]
        return line_of(short, complaints_of(directory)), short

    def _advice(
        self, tool: AgentTool, document: Mapping[str, Any], arguments: Mapping[str, Any]
    ) -> Iterator[str]:
        """What an agent should do after this."""
        left_s, run = self._budget_left_s, self._run
        if tool.name == "plan":
            yield from too_long(document, left_s)
        place = arguments.get(_CHECKPOINTS)
        if tool.name != "answer" or run is None:
            return
        if place is None or self._borders.path(place, _CHECKPOINTS) == run.checkpoints:
            limits = {each.key: each.default for each in OPTIONS if each.key in LIMITS}
            allowed = {**limits, **run.config}
            for model in document["models"]:
                yield from further(model, allowed, left_s, stopped=run.is_stopped)

    def _with_default(self, tool: AgentTool, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments; where none says it, with the directory that the last run wrote to, unless
        the person who started the server did.
        """
        option = next(option for option in OPTIONS if option.key == _CHECKPOINTS)
        if _CHECKPOINTS not in tool.takes or option.variable in os.environ:
            return arguments
        latest = DEFAULT_PLACES[_CHECKPOINTS] if self._run is None else self._run.checkpoints
        return {_CHECKPOINTS: latest, **arguments}

    def _new_directory(self, config: str) -> Path:
        """A directory for a child, with its file of options."""
        directory = Path(tempfile.mkdtemp(dir=self._directory))
        (directory / CONFIG).write_text(config, encoding="utf-8")
        return directory


def _check(tool: AgentTool, arguments: Mapping[str, Any]) -> None:
    """Raises ConfigError for arguments that do not fit the schema."""
    if depth(arguments) > _DEEPEST:
        raise wrong(tool.name, "arguments are nested too deeply")
    errors = sorted(Draft202012Validator(tool.schema).iter_errors(arguments), key=str)
    if errors:
        told = [f"{each.json_path}: {shortened(each.message, 200)}" for each in errors]
        raise wrong(tool.name, "; ".join(told))
