# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The Ray cluster of a soak: runs come and go, and its nodes stay, unless a fault kills them."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
from pathlib import Path
from types import TracebackType

import psutil

from conftest import Mark
from qa.cluster.local_cluster import LocalCluster
from qa.soaking.program import marked, parent_of, words_of

# Runs use two of them. The head is left for a second driver, which chooses it by its label.
_NODES = 3
SLOTS = 2
HEAD = "number=0"

SLOT, RAYLET = "slot", "raylet"

_SLOT = ("ray::_CpuWorker", "ray::_GpuWorker")


class RayNodes:
    """A context manager: within it, the cluster runs."""

    def __init__(self) -> None:
        self._mark = Mark(uuid.uuid4().hex)

    def __enter__(self) -> RayNodes:
        self.temporary = Path(tempfile.mkdtemp(prefix="soak-nodes-"))
        # its own sockets need short paths
        places = {"TMPDIR": str(self.temporary), "RAY_TMPDIR": "/tmp"}
        environment = {**os.environ, **self._mark.environment, **places}
        self._cluster = LocalCluster(_NODES, environment=environment)
        self._cluster.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cluster.__exit__(kind, error, trace)
        shutil.rmtree(self.temporary, ignore_errors=True)

    @property
    def address(self) -> str:
        return self._cluster.address

    def add_node(self) -> None:
        """Adds a node in place of one that was killed."""
        self._cluster.add_node()

    def slots(self) -> list[psutil.Process]:
        """The processes of slots, of all runs."""
        return [process for process in marked(self._mark) if _is_slot(process)]

    def find(self, role: str) -> list[psutil.Process]:
        """The processes of slots (SLOT), or their raylets (RAYLET), but for those of the head."""
        pairs = [(slot, parent_of(slot)) for slot in self.slots()]
        workers = [(slot, raylet) for slot, raylet in pairs if raylet and _is_worker(raylet)]
        if role == SLOT:
            return [slot for slot, _ in workers]
        return [*dict.fromkeys(raylet for _, raylet in workers)]


def _is_slot(process: psutil.Process) -> bool:
    words = words_of(process)
    return bool(words) and words[0].startswith(_SLOT)


def _is_worker(process: psutil.Process) -> bool:
    """Whether it is the raylet of a node other than the head."""
    words = words_of(process)
    return bool(words) and words[0].endswith("/raylet") and "--head" not in words
