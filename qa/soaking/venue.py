# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Where the rounds of a soak take place: on this machine, or on a Ray cluster on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from qa.soaking import cluster_faults, faults
from qa.soaking.faults import Fault
from qa.soaking.ray_nodes import SLOTS, RayNodes
from qa.soaking.scene import Scene, Task

FAULTS = {"local": faults.FAULTS, "ray": cluster_faults.FAULTS}


@dataclass(frozen=True)
class Venue:
    """`faults` are those that are possible there. Rounds take turns with the `tasks`. `nodes` are
    those of the cluster, if there is one. `patience` is how much slower than usual the machine is.
    """

    faults: Mapping[str, Fault]
    tasks: Sequence[Task]
    nodes: RayNodes | None = None
    patience: float = 1.0

    def task(self, number: int) -> Task:
        """That of a round, from 1."""
        return self.tasks[(number - 1) % len(self.tasks)]

    def scene(self, directory: Path, closes: ExitStack, number: int) -> Scene:
        """The scene of a round."""
        return Scene(directory, closes, self.task(number), self.nodes, self.patience)


def on_one_machine() -> Venue:
    task = Task(_listed(loads=3, instances=2), trials=6, outcomes=18, settles_s=15.0)
    return Venue(faults.FAULTS, [task])


def on_cluster(nodes: RayNodes) -> Venue:
    slots = {
        "executor": "ray",
        "ray_address": nodes.address,
        "slots": SLOTS,
        "slots_per_host": SLOTS,
    }
    tasks = [
        Task({**settings, **slots}, trials=trials, outcomes=trials, settles_s=5.0)
        for settings, trials in (
            (_listed(loads=8, instances=3), 24),
            (_searched("quick"), 8),
            (_searched("adaptive"), 8),
        )
    ]
    return Venue(cluster_faults.FAULTS, tasks, nodes)


# Trials are measured in rounds of a second or less.
_COMMON = {
    "export_path": "exported",
    "skip_detailed_reports": True,
    "perf_analyzer_timeout": 20,
}


def _listed(*, loads: int, instances: int) -> Mapping[str, Any]:
    """Variants with so many instances at most, each under all loads."""
    counts = [*range(1, instances + 1)]
    return {
        **_COMMON,
        "run_config_search_mode": "brute",
        "profile_models": {
            "add_sub": {
                "cpu_only": True,
                "parameters": {"concurrency": [*range(1, loads + 1)]},
                "model_config_parameters": {
                    "instance_group": [[{"kind": "KIND_CPU", "count": counts}]],
                },
            }
        },
    }


def _searched(mode: str) -> Mapping[str, Any]:
    """A search that decides for itself."""
    return {
        **_COMMON,
        "run_config_search_mode": mode,
        "profile_models": {"add_sub": {"cpu_only": True}},
        "run_config_search_max_concurrency": 16,
        "run_config_search_max_instance_count": 3,
        "run_config_search_max_model_batch_size": 4,
    }
