# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which ends of model processes are deaths, on a pretend process table; which models and servers
lose something if they are killed.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import psutil
import pytest

from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.server.life import acts_at_end, acts_when_unloaded
from model_analyzer.runner.server.triton import LoadWatch
from model_analyzer.runner.stubs import ProcessState, StubWatch

KILLED, EXITED_WITH_3 = 9, 3 << 8
LIMIT_S = 10.0


class Machine:
    """A process table, and time that goes by when it is told to, or slept.

    `collects` holds what happens while somebody sleeps: processes that vanish at a time.
    """

    def __init__(self, *pids: int) -> None:
        self.now = 100.0
        self.table = {pid: ProcessState(started=pid, is_zombie=False, status=0) for pid in pids}
        self.collects: dict[int, float] = {}

    def watch(self) -> StubWatch:
        return StubWatch(
            list(self.table),
            read=self.table.get,
            model_of=lambda pid: f"m{pid}" if not self.table[pid].is_zombie else "",
            clock=lambda: self.now,
            sleep=self.sleep,
        )

    def end(self, pid: int, status: int = KILLED) -> None:
        self.table[pid] = ProcessState(started=pid, is_zombie=True, status=status)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        for pid, moment in self.collects.items():
            if self.now >= moment:
                self.table.pop(pid, None)


def looks(machine: Machine, watch: StubWatch, seconds: float) -> str:
    """What a look every half second comes to, within so many."""
    end = machine.now + seconds
    while not (death := watch.death()) and machine.now < end:
        machine.sleep(0.5)
    return death


def test_running_stubs_are_not_reported() -> None:
    machine = Machine(1, 2, 3)

    assert looks(machine, machine.watch(), 600) == ""


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (KILLED, " (killed by SIGKILL)"),
        (11 | 0x80, " (killed by SIGSEGV)"),  # it left a core file
        (EXITED_WITH_3, " (exit status 3)"),
        (0, ""),  # or not ours to see
    ],
)
def test_a_dead_one_of_several_is_noticed_in_time_with_its_model(status: int, words: str) -> None:
    machine = Machine(1, 2, 3)
    watch = machine.watch()
    assert looks(machine, watch, 5) == ""

    machine.end(2, status)
    began = machine.now
    death = looks(machine, watch, LIMIT_S)

    said = "the Python backend process of model m2 died during the measurement"
    assert death == said + words
    assert machine.now - began < LIMIT_S


def test_one_that_was_dead_before_is_noticed_without_a_name() -> None:
    machine = Machine(1)
    machine.end(1)

    death = looks(machine, machine.watch(), LIMIT_S)

    assert death == "a Python backend process died before the measurement (killed by SIGKILL)"


def test_stubs_that_are_unloaded_in_sequence_are_not_deaths() -> None:
    """Each is a zombie for a moment, on a busy machine for seconds."""
    machine = Machine(1, 2, 3)
    watch = machine.watch()

    for pid, seconds in ((3, 0.5), (1, 1.5), (2, 3)):
        machine.end(pid, 0)
        assert looks(machine, watch, seconds) == ""
        del machine.table[pid]
    assert looks(machine, watch, 60) == ""


def test_a_process_that_has_got_the_number_of_another_is_not_watched() -> None:
    machine = Machine(1)
    watch = machine.watch()

    machine.table[1] = ProcessState(started=7, is_zombie=True, status=KILLED)

    assert looks(machine, watch, 60) == ""


def test_a_stub_that_ended_last_is_waited_for() -> None:
    machine = Machine(1, 2)
    watch = machine.watch()
    machine.end(2)

    assert "m2 died" in watch.final_death()
    assert machine.now - 100 < LIMIT_S


def test_a_stub_that_the_server_collects_has_not_died() -> None:
    machine = Machine(1, 2)
    watch = machine.watch()
    machine.end(2)
    machine.collects[2] = machine.now + 1.3

    assert watch.final_death() == ""
    assert machine.now - 100 < 2


def test_nothing_is_waited_for_where_all_live() -> None:
    machine = Machine(1, 2)

    assert machine.watch().final_death() == ""
    assert machine.now == 100


def load_watch(
    table: Mapping[int, ProcessState], end: threading.Event, collected_s: float
) -> LoadWatch:
    return LoadWatch(
        lambda: list(table), end.set, read=table.get, look_s=0.001, collected_s=collected_s
    )


def test_a_stub_that_dies_during_a_load_ends_the_server() -> None:
    ended = threading.Event()
    table = {1: ProcessState(started=1, is_zombie=False, status=0)}

    with load_watch(table, ended, 0.01) as watch:
        table[2] = ProcessState(started=2, is_zombie=True, status=KILLED)
        assert ended.wait(60)

    assert watch.has_ended_it


def test_stubs_that_run_or_are_collected_do_not_end_a_server_that_loads() -> None:
    ended = threading.Event()
    table = {
        1: ProcessState(started=1, is_zombie=False, status=0),
        2: ProcessState(started=2, is_zombie=True, status=KILLED),
    }

    with load_watch(table, ended, 3600) as watch:
        del table[2]
        assert not ended.wait(0.05)

    assert not watch.has_ended_it


PLAIN = "import numpy as np\n\n\nclass TritonPythonModel:\n    def execute(self, requests): ...\n"
PYTHON: Mapping[str, Any] = {"name": "m", "backend": "python"}


def model(directory: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return directory


def test_a_python_model_without_an_end_does_nothing(tmp_path: Path) -> None:
    directory = model(tmp_path, {"1/model.py": PLAIN, "2/model.py": PLAIN, "2/net.py": "x = 1"})

    assert not acts_when_unloaded(directory, PYTHON)


@pytest.mark.parametrize(
    "source",
    [
        PLAIN + "\n    def finalize(self):\n        self.file.close()\n",
        PLAIN + "\n    def __del__(self): ...\n",
        "import atexit\n" + PLAIN,
        PLAIN.replace("TritonPythonModel:", "TritonPythonModel(Base):"),
        "from mine import TritonPythonModel\n",
    ],
)
def test_a_python_model_with_an_end_may_act(tmp_path: Path, source: str) -> None:
    assert acts_when_unloaded(model(tmp_path, {"1/model.py": source}), PYTHON)


def test_a_module_of_the_model_may_act(tmp_path: Path) -> None:
    directory = model(tmp_path, {"1/model.py": PLAIN, "1/net.py": "import atexit\n"})

    assert acts_when_unloaded(directory, PYTHON)


def test_what_cannot_be_read_may_act(tmp_path: Path) -> None:
    assert acts_when_unloaded(tmp_path / "missing", PYTHON)
    assert acts_when_unloaded(model(tmp_path, {"1/model.pyc": ""}), PYTHON)
    other = {**PYTHON, "default_model_filename": "other.py"}
    assert acts_when_unloaded(model(tmp_path, {"1/model.py": PLAIN}), other)


def test_only_python_models_show_what_they_do(tmp_path: Path) -> None:
    assert acts_when_unloaded(tmp_path, {"backend": "onnxruntime"})
    assert not acts_when_unloaded(tmp_path, {"ensemble_scheduling": {"step": ()}})


class Named:
    """A process of which only name and number are known."""

    def __init__(self, pid: int, name: str) -> None:
        self.pid = pid
        self._name = name

    def name(self) -> str:
        return self._name


def tree(*names: str) -> list[psutil.Process]:
    return [cast(psutil.Process, Named(pid, name)) for pid, name in enumerate(names)]


STUB = "triton_python_backend_stub"[:15]


def test_a_server_alone_loses_nothing() -> None:
    assert not acts_at_end(tree("tritonserver", STUB, STUB), ServerSetup())


@pytest.mark.parametrize(
    ("names", "setup"),
    [
        (["nsys", "tritonserver"], ServerSetup()),
        (["python3"], ServerSetup()),
        ([], ServerSetup()),
        (["tritonserver"], ServerSetup(flags={"trace-config": "triton,file=/tmp/trace"})),
        (["tritonserver"], ServerSetup(environment={"LD_PRELOAD": "libprofiler.so"})),
    ],
)
def test_a_server_with_something_around_it_may_write(names: list[str], setup: ServerSetup) -> None:
    assert acts_at_end(tree(*names), setup)
