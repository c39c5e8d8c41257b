# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints that upstream wrote: see tests/golden/upstream/README.md."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.features.upstream.reader import UpstreamCheckpoint, read_upstream

GOLDEN = Path(__file__).parents[2] / "golden" / "upstream"
ALL = sorted(path.stem for path in GOLDEN.glob("*.ckpt"))

GPU = "GPU-2e70bd8d"


def raw(name: str) -> bytes:
    return (GOLDEN / f"{name}.ckpt").read_bytes()


def content(name: str) -> dict[str, Any]:
    part: dict[str, Any] = json.loads(raw(name))
    return part


def results(document: dict[str, Any]) -> dict[str, Any]:
    """Its measurements: models → variants → [run configuration, measurements]."""
    part: dict[str, Any] = document["ResultManager.results"]["_results"]
    return part


def read(name: str) -> UpstreamCheckpoint:
    return read_upstream(raw(name), f"{name}.ckpt")


def read_changed(name: str, change: Callable[[dict[str, Any]], object]) -> UpstreamCheckpoint:
    """The sample as it reads after `change` was made in it."""
    changed = content(name)
    change(changed)
    return read_upstream(json.dumps(changed).encode(), f"{name}.ckpt")


def record_at(checkpoint: UpstreamCheckpoint, index: int) -> TrialRecord:
    """A trial of the checkpoint, by its place."""
    return tuple(checkpoint.profile.records)[index]


def first_pair(document: dict[str, Any]) -> list[Any]:
    """Run configuration and measurements of the first variant."""
    pair: list[Any] = next(iter(next(iter(results(document).values())).values()))
    return pair


def first_measurement(document: dict[str, Any]) -> dict[str, Any]:
    part: dict[str, Any] = next(iter(first_pair(document)[1].values()))
    return part


def first_model(document: dict[str, Any]) -> dict[str, Any]:
    """The first model of the first run configuration."""
    part: dict[str, Any] = first_pair(document)[0]["_model_run_configs"][0]
    return part


def with_gpus(document: dict[str, Any]) -> None:
    """As on a machine with two GPUs, of which one is used."""
    document["MetricsManager.gpus"] = {
        "GPU-b": {"name": "big", "total_memory": 2_000_000_000},
        GPU: {"name": "small", "total_memory": 1_000_500_000},
    }
    document["ResultManager.server_only_data"] = {
        GPU: [["gpu_used_memory", {"_value": 3.5, "_timestamp": 0, "_device_uuid": GPU}]]
    }
    first_measurement(document)["_gpu_data"] = {
        uuid: [
            ["gpu_used_memory", {"_value": used, "_timestamp": 0, "_device_uuid": uuid}],
            ["gpu_utilization", {"_value": 50.0, "_timestamp": 0, "_device_uuid": uuid}],
        ]
        for uuid, used in ((GPU, 100.5), ("GPU-b", 200))
    }
