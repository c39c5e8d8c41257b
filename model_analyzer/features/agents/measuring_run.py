# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run that an agent has started: `profile` in a child, its progress, and its end."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.features.agents.borders import CONFIG
from model_analyzer.features.monitoring.facts.told_progress import ToldProgress
from model_analyzer.reading.untrusted import read_ends
from model_analyzer.runner.process import Process

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
