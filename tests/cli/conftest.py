# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The whole program, run on pretend servers and load generators."""

from __future__ import annotations

import faulthandler
import gc
import io
import logging
import os
import select
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import yaml

from conftest import without_charts
from model_analyzer.cli.main import main
from model_analyzer.runner.timings import Timings

# how busy this machine is says nothing about the program
PATIENT = Timings(dying_s=60, busy_share=2.0)


@dataclass
class Setting:
    """A directory with a configuration, in which the program is run again and again.

    `draws` tells whether charts are drawn, which takes a third of a run's time. `timings` are those
    of runs in the process of the tests.
    """

    directory: Path
    program: str
    mark: Any
    config: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    draws: bool = False
    timings: Timings = PATIENT
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(
        self,
        *arguments: str,
        command: str = "profile",
        preexec_fn: Callable[[], None] | None = None,
        **changes: Any,
    ) -> subprocess.Popen[str]:
        """Starts a command with the configuration and some changes of it."""
        path = self._configure(changes)
        process = subprocess.Popen(
            [self.program, *command.split(), "-f", str(path), *arguments],
            cwd=self.directory,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=preexec_fn,
        )
        self.started.append(process)
        return process

    def profile(self, *arguments: str, command: str = "profile", **changes: Any) -> tuple[int, str]:
        """Exit status and output (both streams) of a whole run, or of another command.

        It runs in the process of the tests, unlike with `start`: to start Python and to import
        takes longer than most runs on pretend programs.
        """
        path = self._configure(changes)
        with StringOutput() as output:
            status = in_process(
                [*command.split(), "-f", str(path), *arguments],
                self.variables,
                self.directory,
                output,
                output,
                self.timings,
            )
            return status, output.text

    def succeeds(self, *arguments: str, command: str = "profile", **changes: Any) -> str:
        return self.fails(0, *arguments, command=command, **changes)

    def fails(self, status: int, *arguments: str, command: str = "profile", **changes: Any) -> str:
        """The output of a run that has to end with this status."""
        ended, output = self.profile(*arguments, command=command, **changes)
        assert ended == status, output
        return output

    def _configure(self, changes: dict[str, Any]) -> Path:
        path = self.directory / "config.yaml"
        path.write_text(yaml.safe_dump({**self.config, **changes}, sort_keys=False))
        return path

    @property
    def variables(self) -> dict[str, str]:
        """The environment of the program."""
        environment = {**self.mark.environment, **self.environment}
        return environment if self.draws else without_charts(environment)

    @property
    def checkpoints(self) -> list[str]:
        return sorted(path.name for path in (self.directory / "checkpoints").glob("*.ckpt"))

    @property
    def rows(self) -> list[list[str]]:
        """The rows of the table of measurements, without header."""
        text = (self.directory / "results" / "metrics-model-inference.csv").read_text()
        return [line.split(",") for line in text.splitlines()[1:] if line]

    def send(self, process: subprocess.Popen[str], number: signal.Signals, says: str) -> str:
        """Sends a signal and waits until the program says that it came: two that wait may be one.

        Gives what the program has written until then.
        """
        process.send_signal(number)
        assert process.stdout is not None
        written = b""
        while says.encode() not in written:
            assert select.select([process.stdout], [], [], 180)[0], written
            part = os.read(process.stdout.fileno(), 65536)
            assert part, written
            written += part
        return written.decode()

    def interrupt(self, process: subprocess.Popen[str], times: int) -> str:
        return "".join(
            self.send(process, signal.SIGINT, f"Received SIGINT {number}/3")
            for number in range(1, times + 1)
        )

    def wait_until(self, condition: Callable[[], bool], within_s: float = 180) -> None:
        deadline = time.monotonic() + within_s
        while not condition():
            assert time.monotonic() < deadline, "did not happen in time"
            time.sleep(0.01)


@pytest.fixture
def setting(tmp_path: Path, program: str, pretend, make_model, mark) -> Iterator[Setting]:
    """A model `m` on pretend programs: five variants, each under two loads."""
    made = Setting(
        tmp_path,
        program,
        mark,
        {
            "model_repository": str(make_model("m")),
            "profile_models": {"m": {"cpu_only": True}},
            "triton_server_path": str(pretend.tritonserver()),
            "perf_analyzer_path": str(pretend.perf_analyzer()),
            "override_output_model_repository": True,
            "run_config_search_max_instance_count": 2,
            "run_config_search_max_model_batch_size": 2,
            "run_config_search_max_concurrency": 2,
            # in rounds, how often the best are measured again depends on their noise
            "measurement": "perf_analyzer",
            # drawing them would take longer than everything else
            "skip_detailed_reports": True,
        },
    )
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
            process.communicate()
        assert process.stdout is not None
        process.stdout.close()
    assert mark.gone(), "processes were left behind"


@pytest.fixture
def run(program: str, tmp_path: Path) -> Callable[..., tuple[int, str, str]]:
    """Runs the program with any arguments: status, standard output, standard error.

    It runs in the process of the tests, with the variables of `env`. Other options are those of
    `subprocess.run`; with any, it is a process of its own.
    """

    def call(
        *arguments: str, env: dict[str, str] | None = None, **options: Any
    ) -> tuple[int, str, str]:
        if not options:
            environment = dict(os.environ) if env is None else env
            with StringOutput() as output, StringOutput() as errors:
                status = in_process(arguments, environment, tmp_path, output, errors)
                return status, output.text, errors.text
        done = subprocess.run(
            [program, *arguments],
            cwd=tmp_path,
            env=env,
            capture_output=True,
            text=True,
            timeout=180,
            check=False,
            **options,
        )
        return done.returncode, done.stdout, done.stderr

    return call


def output_of(ended: tuple[int, str, str], status: int = 0) -> str:
    """Standard output of a command that has to end with this status."""
    assert ended[0] == status, ended[2]
    return ended[1]


def error_of(ended: tuple[int, str, str], status: int = 0) -> str:
    """Standard error of a command that has to end with this status."""
    assert ended[0] == status, ended[2]
    return ended[2]


def in_process(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    directory: Path,
    output: StringOutput,
    errors: StringOutput,
    timings: Timings = PATIENT,
) -> int:
    """Runs `main` as a process of its own would; the exit status."""
    with (
        patch.dict(os.environ, environment, clear=True),
        patch.object(sys, "argv", ["model-analyzer", *arguments]),
        chdir(directory),
        python_path(environment.get("PYTHONPATH", "")),
        own_signals(),
        fresh_logging(),
        ends_within(600),
        sockets_left_open() if "DOCKER_HOST" in environment else nullcontext(),
        redirect_stdout(output),
        redirect_stderr(errors),
    ):
        try:
            main(timings)
        except SystemExit as end:
            return int(end.code or 0)
    return 0


@contextmanager
def sockets_left_open() -> Iterator[None]:
    """The client of Docker leaves its socket to the end of the process where no engine answers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
        gc.collect()


@contextmanager
def chdir(directory: Path) -> Iterator[None]:
    before = os.open(".", os.O_RDONLY)
    os.chdir(directory)
    try:
        yield
    finally:
        os.fchdir(before)
        os.close(before)


@contextmanager
def python_path(value: str) -> Iterator[None]:
    """Inside, modules of these directories take the place of those that are imported already."""
    paths = [path for path in value.split(os.pathsep) if path and path not in sys.path]
    names = {file.stem for path in paths for file in Path(path).iterdir()}
    before = {
        name: module for name, module in sys.modules.items() if name.partition(".")[0] in names
    }
    for name in before:
        del sys.modules[name]
    sys.path[:0] = paths
    try:
        yield
    finally:
        del sys.path[: len(paths)]
        for name in [name for name in sys.modules if name.partition(".")[0] in names]:
            del sys.modules[name]
        sys.modules.update(before)


@contextmanager
def own_signals() -> Iterator[None]:
    """Gives signals back to those who had them before."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)
    before = {number: signal.getsignal(number) for number in numbers}
    hook = sys.unraisablehook
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        wakeup = signal.set_wakeup_fd(-1)
        if wakeup >= 0:
            os.close(wakeup)
        sys.unraisablehook = hook


@contextmanager
def ends_within(seconds: float) -> Iterator[None]:
    """A run that hangs tells where, and ends the process of the tests."""
    assert sys.__stderr__ is not None
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


@contextmanager
def fresh_logging() -> Iterator[None]:
    """Logging as in a new process: without the handlers of pytest, and those of earlier runs."""
    loggers = [logging.getLogger(), logging.getLogger("model_analyzer")]
    before = [(logger.handlers, logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers, logger.propagate = [], True
    loggers[0].setLevel(logging.WARNING)
    loggers[1].setLevel(logging.NOTSET)
    try:
        yield
    finally:
        for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
            logger.handlers, logger.propagate = handlers, propagate
            logger.setLevel(level)


class StringOutput(io.TextIOWrapper):
    """Standard output that is kept; programs may write bytes to its `buffer`, too."""

    def __init__(self) -> None:
        self._kept = io.BytesIO()
        super().__init__(self._kept, encoding="utf-8", newline="\n")

    @property
    def text(self) -> str:
        self.flush()
        return self._kept.getvalue().decode()
