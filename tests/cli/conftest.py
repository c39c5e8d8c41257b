# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The whole program, run on pretend servers and load generators."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from conftest import without_charts
from model_analyzer.cli.main import main


@dataclass
class Setting:
    """A directory with a configuration, in which the program is run again and again.

    `draws` tells whether charts are drawn, which takes a third of a run's time.
    """

    directory: Path
    program: str
    mark: Any
    config: dict[str, Any] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    draws: bool = False
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(
        self, *arguments: str, command: str = "profile", **changes: Any
    ) -> subprocess.Popen[str]:
        """Starts a command with the configuration and some changes of it."""
        path = self.directory / "config.yaml"
        path.write_text(yaml.safe_dump({**self.config, **changes}, sort_keys=False))
        environment = {**self.mark.environment, **self.environment}
        process = subprocess.Popen(
            [self.program, command, "-f", str(path), *arguments],
            cwd=self.directory,
            env=environment if self.draws else without_charts(environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.started.append(process)
        return process

    def profile(self, *arguments: str, **changes: Any) -> tuple[int, str]:
        """Exit status and output of a whole run, or of another command."""
        process = self.start(*arguments, **changes)
        output, _ = process.communicate(timeout=120)
        return process.returncode, output

    @property
    def checkpoints(self) -> list[str]:
        return sorted(path.name for path in (self.directory / "checkpoints").glob("*.ckpt"))

    @property
    def rows(self) -> list[list[str]]:
        """The rows of the table of measurements, without header."""
        text = (self.directory / "results" / "metrics-model-inference.csv").read_text()
        return [line.split(",") for line in text.splitlines()[1:] if line]

    def wait_until(self, condition: Callable[[], bool], within_s: float = 20) -> None:
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


# Commands that start nothing and change nothing of their process run in that of the tests: to start
# Python and to import takes longer than what they do.
_IN_PROCESS = {"checkpoint", "compare", "config", "report"}


@pytest.fixture
def run(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    """Runs the program with any arguments: status, standard output, standard error.

    Options are those of `subprocess.run`; with any, it is a process of its own.
    """

    def call(*arguments: str, **options: Any) -> tuple[int, str, str]:
        if not options and arguments[:1] and arguments[0] in _IN_PROCESS:
            monkeypatch.chdir(tmp_path)
            monkeypatch.setattr(sys, "argv", ["model-analyzer", *arguments])
            return in_process()
        done = subprocess.run(
            [program, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **options,
        )
        return done.returncode, done.stdout, done.stderr

    return call


def in_process() -> tuple[int, str, str]:
    """Runs `main` as a process would: status, standard output, standard error."""
    status = 0
    with StringOutput() as output, StringOutput() as errors:
        with fresh_logging(), redirect_stdout(output), redirect_stderr(errors):
            try:
                main()
            except SystemExit as end:
                status = int(end.code or 0)
        return status, output.text, errors.text


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
        super().__init__(io.BytesIO(), encoding="utf-8", newline="\n")

    @property
    def text(self) -> str:
        self.flush()
        return self.buffer.getvalue().decode()
