# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The directory of one round: a small model, its configuration, and the runs in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from conftest import Mark, without_charts
from qa.soaking.checks import Outcome, kept
from qa.soaking.program import RUN, Program, leftovers, ports
from qa.soaking.ray_nodes import RayNodes

_ROOT = Path(__file__).parents[2]
_MODEL = _ROOT / "model_analyzer" / "starter" / "model_repository" / "add_sub"
COMMAND = Path(sys.executable).with_name("model-analyzer")


@dataclass(frozen=True)
class Task:
    """What the runs of a round do: their settings, and at least so many different trials without a
    fault. With repetitions, they have about so many outcomes. Nothing of a run is left `settles_s`
    seconds after it.
    """

    settings: Mapping[str, Any]
    trials: int
    outcomes: int
    settles_s: float


class Scene:
    """Runs work in `work`; their output is in its parent `directory`. `mends` reverts the changes
    of a fault before the next run; `closes` cleans up at the end of the round. `nodes` are those of
    the cluster, if there is one. Limits of time are longer by the factor `patience`.
    """

    def __init__(
        self,
        directory: Path,
        closes: ExitStack,
        task: Task,
        nodes: RayNodes | None,
        patience: float,
    ) -> None:
        self.patience = patience
        self.directory = directory
        self.work = directory / "work"
        self.closes = closes
        self.mends = ExitStack()
        self.prefix: Sequence[str] = ()  # words before the command of the program
        self.mark = Mark(uuid.uuid4().hex)
        self.task = task
        self.nodes = nodes
        self.programs: list[Program] = []
        self.ports: set[int] = set()
        self.longest_left_s = 0.0  # until nothing was left of a run
        self.owners: set[int] = set()  # of shared memory: programs and slots

    def set_up(self) -> None:
        """Writes model and configuration, after the fault has prepared its disk."""
        shutil.copytree(_MODEL, self.work / "models" / "add_sub")
        self.config.write_text(yaml.safe_dump({"model_repository": "models", **self.task.settings}))

    @property
    def config(self) -> Path:
        return self.work / "config.yaml"

    @property
    def checkpoints(self) -> Path:
        return self.work / "checkpoints"

    @property
    def journal(self) -> Path:
        return self.checkpoints / "journal"

    @property
    def temporary(self) -> Path:
        return self.work / "tmp"

    @property
    def environment(self) -> dict[str, str]:
        environment = without_charts(self.mark.environment)
        return {**environment, "TMPDIR": str(self.temporary)}

    def start(self, name: str, *options: str, is_separate: bool = False) -> Program:
        """Starts a run, whose name no other one of the round may have. With `is_separate`, its
        checkpoints are not those of the round.
        """
        assert name not in {program.name for program in self.programs}, name
        self.temporary.mkdir(exist_ok=True)
        command = [COMMAND, "profile", "-f", self.config.name, "--progress", "json", *options]
        program = Program(
            [*self.prefix, *map(str, command)],
            directory=self.work,
            environment={**self.environment, RUN: name},
            logs=self.directory / name,
            is_separate=is_separate,
        )
        self.programs.append(program)
        self.owners.add(program.pid)
        return program

    def run(self, *words: str) -> tuple[int, str, str]:
        """Exit status, output and errors of a command."""
        done = subprocess.run(
            [str(COMMAND), *words],
            cwd=self.work, env=self.environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        return done.returncode, done.stdout, done.stderr

    def note_ports(self) -> None:
        if (
            self.nodes is None
        ):  # Ray opens ports all the time, and may take one that has become free
            self.ports |= ports(self.mark)

    def leftovers(self) -> list[str]:
        """What the runs have left: processes, shared memory and ports."""
        slots = [] if self.nodes is None else self.nodes.slots()
        return [
            *leftovers(self.mark, self.owners, self.ports),
            *(f"slot left: {process.pid}" for process in slots),
        ]

    def temporary_files(self) -> list[Path]:
        places = [self.temporary, *([self.nodes.temporary] if self.nodes is not None else [])]
        files = [path for place in places for path in place.iterdir()]
        return [*files, *self.work.rglob("*.tmp")]

    def note_slots(self) -> None:
        if self.nodes is not None:
            self.owners |= {process.pid for process in self.nodes.slots()}

    @property
    def acknowledged(self) -> list[Outcome]:
        """The outcomes that all runs with the checkpoints of this round have acknowledged."""
        programs = [program for program in self.programs if not program.is_separate]
        return [outcome for program in programs for outcome in program.acknowledged]

    def kept(self) -> list[Outcome]:
        """The outcomes in the checkpoint directory, as the program reads it; empty if it cannot."""
        status, output, _ = self.run("checkpoint", "export", "--format", "json")
        return kept(output) if status == 0 else []
