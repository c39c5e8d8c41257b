# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Looks at the slots and servers of a round all the time: two servers never share a slot."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping

from qa.soaking.program import find, run_of
from qa.soaking.ray_nodes import SLOTS
from qa.soaking.scene import Scene

_PAUSE_S = 0.2


class Census:
    """A context manager: within it, a thread looks five times a second, if the scene has a cluster.
    It notes the processes of slots, and `findings`: the kinds of excess.
    """

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.findings: set[str] = set()

    def __enter__(self) -> Census:
        if self._scene.nodes is not None:
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_PAUSE_S):
            self._scene.note_slots()
            servers = find("tritonserver", self._scene.mark)
            runs = filter(None, map(run_of, servers))
            self.findings |= {*excess(Counter(runs), SLOTS)}


def excess(servers: Mapping[str, int], slots: int) -> list[str]:
    """Findings about the number of servers of each run, at one moment."""
    problems = []
    if len(servers) > 1:
        problems.append(f"servers of {' and '.join(sorted(servers))} at the same time")
    for run, count in servers.items():
        if count > slots:
            problems.append(f"{run}: {count} servers on {slots} slots")
    return problems
