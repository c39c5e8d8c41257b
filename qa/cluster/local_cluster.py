# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A Ray cluster with several nodes on this machine, in a program of its own: nodes.py.

Ray's processes inherit the environment of that program, and not that of the runs.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import psutil

_PROGRAM = Path(__file__).with_name("nodes.py")
_ENDS_S = 120.0


class LocalCluster:
    """A context manager: within it, the cluster runs, with so many nodes."""

    def __init__(self, nodes: int, *, environment: Mapping[str, str] | None = None) -> None:
        self._nodes = nodes
        self._environment = environment

    def __enter__(self) -> LocalCluster:
        self._program = subprocess.Popen(
            [sys.executable, str(_PROGRAM), str(self._nodes)],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,  # an interrupt is for the runs
        )
        self.address = self._answer()
        return self

    def __exit__(self, *_: object) -> None:
        self._program.communicate("", timeout=_ENDS_S)

    def add_node(self) -> None:
        """Adds a node, as in place of one that was killed; returns when it is there."""
        assert self._program.stdin is not None
        self._program.stdin.write("\n")
        self._program.stdin.flush()
        self._answer()

    def _answer(self) -> str:
        assert self._program.stdout is not None
        line = self._program.stdout.readline()
        if not line:
            raise RuntimeError("the Ray cluster has ended, or does not start")
        return line.strip()


def raylets(address: str) -> list[psutil.Process]:
    """The raylets of the nodes of the cluster at this address, the head first."""
    processes = [process for process in psutil.process_iter() if _is_raylet(process, address)]
    return sorted(processes, key=psutil.Process.create_time)


def _is_raylet(process: psutil.Process, address: str) -> bool:
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    return bool(words) and words[0].endswith("/raylet") and f"--gcs-address={address}" in words
