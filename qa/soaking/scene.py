# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The directory of one round: a small model, its configuration, and the runs in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

import yaml

from conftest import Mark, without_charts
from qa.soaking.checks import Outcome, kept
from qa.soaking.program import Program, ports

_ROOT = Path(__file__).parents[2]
_MODEL = _ROOT / "model_analyzer" / "starter" / "model_repository" / "add_sub"
COMMAND = Path(sys.executable).with_name("model-analyzer")

# Two variants under three loads, in instalments of a second or less.
_SETTINGS = {
    "model_repository": "models",
    "profile_models": {
        "add_sub": {
            "cpu_only": True,
            "parameters": {"concurrency": [1, 2, 3]},
            "model_config_parameters": {
                "instance_group": [[{"kind": "KIND_CPU", "count": [1, 2]}]],
            },
        }
    },
    "export_path": "exported",
    "skip_detailed_reports": True,
    "perf_analyzer_timeout": 20,
}


class Scene:
    """Runs work in `work`; their output is in its parent `directory`. `mends` reverts the changes
    of a fault before the next run; `closes` cleans up at the end of the round.
    """

    def __init__(self, directory: Path, closes: ExitStack) -> None:
        self.directory = directory
        self.work = directory / "work"
        self.closes = closes
        self.mends = ExitStack()
        self.prefix: Sequence[str] = ()  # words before the command of the program
        self.mark = Mark(uuid.uuid4().hex)
        self.programs: list[Program] = []
        self.ports: set[int] = set()

    def set_up(self) -> None:
        """Writes model and configuration, after the fault has prepared its disk."""
        shutil.copytree(_MODEL, self.work / "models" / "add_sub")
        (self.work / "config.yaml").write_text(yaml.safe_dump(_SETTINGS))

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

    def start(self, name: str, *options: str) -> Program:
        self.temporary.mkdir(exist_ok=True)
        command = [COMMAND, "profile", "-f", "config.yaml", "--progress", "json", *options]
        program = Program(
            [*self.prefix, *map(str, command)],
            directory=self.work,
            environment=self.environment,
            logs=self.directory / name,
        )
        self.programs.append(program)
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
        self.ports |= ports(self.mark)

    @property
    def acknowledged(self) -> list[Outcome]:
        """The outcomes that all runs in this scene have acknowledged, in order."""
        return [outcome for program in self.programs for outcome in program.acknowledged]

    def kept(self) -> list[Outcome]:
        """The outcomes in the checkpoint directory, as the program reads it; empty if it cannot."""
        status, output, _ = self.run("checkpoint", "export", "--format", "json")
        return kept(output) if status == 0 else []
