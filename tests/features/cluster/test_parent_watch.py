# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A slot ends with its node: tried with real processes, the node being a plain one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from model_analyzer.features.cluster.slot_worker import ParentWatch
from tests.adapter.test_leftovers import until

# a slot with a server behind a guard: it says who it is, and then computes without a pause
SLOT = """
import os, sys
from pathlib import Path
from model_analyzer.features.cluster.slot_worker import ParentWatch
from model_analyzer.runner.workspace import shm_prefix
from model_analyzer.runner.process import Process
if sys.argv[2] == "without pidfd":
    def refuse(pid): raise OSError("not implemented")
    os.pidfd_open = refuse
prefix = shm_prefix("0123abcf")
server = Process(["/bin/sh", "-c", "trap '' TERM; echo > /dev/shm/" + prefix + "x; sleep 300 & wait"],
                 environment=dict(os.environ), output=Path(sys.argv[1]), shm_prefix=prefix)
while not Path("/dev/shm", prefix + "x").exists():
    pass
with ParentWatch():
    print(os.getpid(), "/dev/shm/" + prefix + "x", flush=True)
    while True:
        pass
"""  # noqa: E501

NODE = """
import subprocess, sys
subprocess.run([sys.executable, "-c", *sys.argv[1:]])
"""


@pytest.mark.parametrize("kernel", ["with pidfd", "without pidfd"])
def test_a_slot_ends_with_its_servers_when_its_node_is_killed(
    tmp_path: Path, mark, kernel: str
) -> None:
    node = subprocess.Popen(
        [sys.executable, "-c", NODE, SLOT, str(tmp_path / "output"), kernel],
        env=mark.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert node.stdout is not None
    slot, region = node.stdout.readline().split()
    assert int(slot) in mark.processes()
    assert Path(region).exists()

    node.send_signal(signal.SIGKILL)
    node.communicate()

    assert mark.gone()
    until(lambda: not Path(region).exists())


def test_nothing_happens_while_the_parent_lives() -> None:
    ended: list[int] = []
    descriptors = len(os.listdir("/proc/self/fd"))

    with ParentWatch(lambda: ended.append(1)):
        assert len(os.listdir("/proc/self/fd")) > descriptors

    assert not ended
    assert len(os.listdir("/proc/self/fd")) == descriptors
