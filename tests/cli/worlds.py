# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A directory with all that the commands take, each command with right arguments, and what must
hold whenever one has ended. For what tests and tools/fuzz.py try from outside, as processes.
"""

from __future__ import annotations

import json
import os
import re
import resource
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import yaml

from conftest import without_charts
from model_analyzer.state.profile_state import ProfileState
from tests.conftest import TESTS, write_program
from tests.unit.state.samples import measurement, trial

PROGRAM = Path(sys.executable).with_name("model-analyzer")

# No command takes nearly as long, or as much memory; `profile` runs on pretend programs.
LIMIT_S = 120
MOST_BYTES = 2**30
_ADDRESSES_BYTES = 16 * 2**30

# What no command should ever print.
_BUGS = re.compile(r"Traceback \(most recent|Exception ignored|lost sys\.|Fatal Python error")

_COMPLAINT = re.compile(r"model-analyzer: \S")

# The commands, right for a world; of those that take a path, it can be replaced.
COMMANDS: Mapping[str, Sequence[str]] = {
    "profile": ["profile", "-f", "config.yaml"],
    "dry run": ["profile", "-f", "config.yaml", "--dry-run"],
    "dry run as JSON": ["profile", "-f", "config.yaml", "--dry-run", "--json"],
    "progress as JSON": ["profile", "-f", "config.yaml", "--progress", "json"],
    "doctor": ["doctor", "-f", "config.yaml", "--no-models"],
    "report": ["report", "-n", "m_config_default", "-e", "out"],
    "analyze": ["analyze", "--profile-models", "m", "-e", "out"],
    "best": ["best", "--format", "json"],
    "capacity": ["capacity", "--rate", "100"],
    "capacity as JSON": ["capacity", "--rate", "100", "--format", "json"],
    "explain": ["explain"],
    "explain as JSON": ["explain", "--format", "json"],
    "compare": ["compare", "checkpoints", "checkpoints"],
    "compare as JSON": ["compare", "checkpoints", "checkpoints", "--format", "json"],
    "list": ["checkpoint", "list"],
    "show": ["checkpoint", "show"],
    "trials": ["checkpoint", "trials"],
    "checkpoint best": ["checkpoint", "best"],
    "get": ["checkpoint", "metadata", "get"],
    "set": ["checkpoint", "metadata", "set", "owner", "me"],
    "verify": ["checkpoint", "verify"],
    "stats": ["checkpoint", "stats"],
    "merge": ["checkpoint", "merge", "checkpoints", "checkpoints", "--output-dir", "out"],
    "import": ["checkpoint", "import", "checkpoints/0.ckpt", "-s", "out"],
    "export": ["checkpoint", "export", "--format", "csv"],
    "upload": ["checkpoint", "upload", "--to", "out"],
    "download": ["checkpoint", "download", "--from", "checkpoints", "--output-dir", "out"],
    "init": ["init", "out"],
    "schema": ["config", "schema"],
    "validate": ["config", "validate", "config.yaml"],
    "config show": ["config", "show", "config.yaml"],
    "runtime show": ["runtime", "show"],
    "runtime remove": ["runtime", "remove"],
    "completion": ["completion", "bash"],
    "help": ["--help"],
    "version": ["--version"],
    "wrong usage": ["checkpoint", "trials", "--top-n", "x"],
    "wrong file": ["profile", "-f", "nowhere.yaml"],
}

_CONFIG = (
    'name: "m"\nbackend: "python"\nmax_batch_size: 8\n'
    'input [ { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
    'output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
)


@dataclass(frozen=True)
class World:
    """A directory, with `mine` beside it, which nothing may change."""

    directory: Path
    mine: Path

    @classmethod
    def make(cls, parent: Path) -> World:
        world = cls(parent / "world", parent / "mine")
        (world.mine / "inner").mkdir(parents=True)
        (world.mine / "file").write_text("mine\n")
        (world.mine / "inner" / "file").write_text("mine, too\n")
        version = world.directory / "models" / "m" / "1"
        version.mkdir(parents=True)
        (version / "model.py").write_text("# never run\n")
        (version.parent / "config.pbtxt").write_text(_CONFIG)
        (world.directory / "config.yaml").write_text(yaml.safe_dump(world._options()))
        with ProfileState(world.directory / "checkpoints") as state:
            for number in range(1, 3):
                state.record(trial(number), measurement(10.0 * number))
            state.save()
        return world

    def _options(self) -> Mapping[str, Any]:
        """A run of one trial on pretend programs."""
        fakes = TESTS / "fakes"
        plan = self.directory / "perf_analyzer.json"
        plan.write_text(json.dumps({"log": str(self.directory / "perf_analyzer.log")}))
        return {
            "model_repository": "models",
            "profile_models": {"m": {"cpu_only": True}},
            "triton_server_path": str(
                write_program(self.directory / "tritonserver", fakes / "tritonserver.py", {})
            ),
            "perf_analyzer_path": str(
                write_program(
                    self.directory / "perf_analyzer",
                    fakes / "perf_analyzer.py",
                    {"FAKE_PERF_ANALYZER": str(plan)},
                    flags="-I -S",
                )
            ),
            "override_output_model_repository": True,
            "run_config_search_disable": True,
            "concurrency": 1,
            "checkpoint_directory": "measured",
            "export_path": "out",
            "skip_detailed_reports": True,
        }

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.directory), "XDG_CACHE_HOME": str(self.directory / "cache")}
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("MODEL_ANALYZER_", "XDG_"))
        }
        return without_charts({**kept, **own})


@dataclass(frozen=True)
class Ended:
    """How a process ended; of streams that were not kept, the text is empty."""

    status: int
    output: str
    errors: str


Stream = int | IO[Any] | None


def run(
    world: World,
    arguments: Sequence[str | bytes],
    *,
    environment: Mapping[str, str] | None = None,
    stdin: Stream = subprocess.DEVNULL,
    stdout: Stream = None,
    stderr: Stream = None,
    prepare: Callable[[], None] | None = None,
) -> Ended:
    """Runs a command in the world, with limits of time and memory. Streams that are not given are
    kept; `prepare` is called in the new process.
    """

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES_BYTES, _ADDRESSES_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if prepare is not None:
            prepare()

    kept = {name: world.mine.parent / name for name in ("stdout", "stderr")}
    for path in kept.values():
        path.write_bytes(b"")
    with open(kept["stdout"], "ab") as out, open(kept["stderr"], "ab") as err:
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            cwd=world.directory,
            env=dict(environment or world.environment),
            stdin=stdin,
            stdout=out if stdout is None else stdout,
            stderr=err if stderr is None else stderr,
            preexec_fn=limited,
            start_new_session=True,
        )
    status, usage = _wait(process)
    texts = {name: path.read_text(errors="replace") for name, path in kept.items()}
    for text in texts.values():
        assert not _BUGS.search(text), text[-3000:]
    assert status is not None, f"{arguments} takes more than {LIMIT_S} s: {texts}"
    # the peak of a forked process begins with the memory of this one
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert usage < max(MOST_BYTES, own + MOST_BYTES // 4), (
        f"{arguments} took {usage / 2**20:.0f} MiB"
    )
    assert status in (0, 1, 2), f"status {status}: {texts}"
    return Ended(status, texts["stdout"], texts["stderr"])


def _wait(process: subprocess.Popen[bytes]) -> tuple[int | None, int]:
    """The status, None if it had to be killed, and the most bytes that it had in memory."""
    deadline = time.monotonic() + LIMIT_S
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_maxrss * 1024
        if time.monotonic() > deadline:
            os.killpg(process.pid, 9)
            process.wait()
            return None, 0
        time.sleep(0.005)


def assert_that_it_says_why(ended: Ended) -> None:
    """What did not work is told in lines of ours, or as usage."""
    if ended.status == 0:
        return
    lines = ended.errors.splitlines()
    messages = [line for line in lines if _COMPLAINT.match(line) or line.startswith("Error: ")]
    assert messages or ended.output.strip(), ended
    assert len(messages) < 20, ended
    assert all(line.isprintable() for line in messages), ended


def tree(directory: Path) -> Mapping[str, tuple[int, int, bytes]]:
    """Everything below it, as it is: kind, number and content."""
    entries = {}
    for path in sorted(directory.rglob("*")):
        status = path.lstat()
        is_file = stat.S_ISREG(status.st_mode)
        entries[str(path)] = (status.st_mode, status.st_ino, path.read_bytes() if is_file else b"")
    return entries
