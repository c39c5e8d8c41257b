# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Twelve models, each slow for a known reason, and six healthy ones: for `explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MODELS = Path(__file__).parent / "models"


@dataclass(frozen=True, kw_only=True)
class Served:
    """A model in the repository: what it does, and its configuration."""

    instances: int = 1
    max_batch_size: int = 0
    dims: str = "[ 4 ]"
    code: str = "prepared.py"
    extra: str = ""
    does: Mapping[str, float] = field(default_factory=dict)

    def write(self, directory: Path) -> None:
        (directory / "1").mkdir(parents=True)
        (directory / "1" / "model.py").write_text((MODELS / self.code).read_text())
        parameters = "".join(
            f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'
            for key, value in self.does.items()
        )
        (directory / "config.pbtxt").write_text(
            f'name: "{directory.name}"\nbackend: "python"\nmax_batch_size: {self.max_batch_size}\n'
            f'input [ {{ name: "INPUT" data_type: TYPE_FP32 dims: {self.dims} }} ]\n'
            f'output [ {{ name: "OUTPUT" data_type: TYPE_FP32 dims: {self.dims} }} ]\n'
            f"instance_group [ {{ count: {self.instances} kind: KIND_CPU }} ]\n"
            f"{parameters}{self.extra}\n"
        )


def _ensemble(*steps: str) -> str:
    """The configuration of an ensemble of these models, one after the other."""
    tensors = ["INPUT", *(f"after_{name}" for name in steps[:-1]), "OUTPUT"]
    step = ",\n".join(
        f'{{ model_name: "{name}" model_version: -1'
        f' input_map {{ key: "INPUT" value: "{tensors[place]}" }}'
        f' output_map {{ key: "OUTPUT" value: "{tensors[place + 1]}" }} }}'
        for place, name in enumerate(steps)
    )
    return (
        'name: "m"\nplatform: "ensemble"\n'
        'input [ { name: "INPUT" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
        'output [ { name: "OUTPUT" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
        f"ensemble_scheduling {{ step [ {step} ] }}\n"
    )


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model `m`, the models that it calls, its load, and the cause that `explain` must name; ""
    if it is healthy.
    """

    name: str
    cause: str = ""
    m: Served | None = None
    parts: Mapping[str, Served] = field(default_factory=dict)
    calls: bool = False
    loads: Mapping[str, Sequence[int]] = field(
        default_factory=lambda: {"concurrency": [1, 2, 4, 8]}
    )
    flags: Mapping[str, Any] = field(default_factory=dict)

    def config(self, directory: Path, interval_ms: int = 3000) -> dict[str, Any]:
        """Writes the model repository, and returns the configuration of a run."""
        models = directory / "models"
        for name, part in self.parts.items():
            part.write(models / name)
        if self.m is not None:
            self.m.write(models / "m")
        else:
            (models / "m" / "1").mkdir(parents=True)
            (models / "m" / "config.pbtxt").write_text(_ensemble(*self.parts))
        called = ["left", "right"] if self.calls else []
        return {
            "model_repository": str(models),
            "output_model_repository_path": str(directory / "output"),
            "override_output_model_repository": True,
            "checkpoint_directory": str(directory / "checkpoints"),
            "run_config_search_disable": True,
            "skip_summary_reports": True,
            "skip_detailed_reports": True,
            "profile_models": {"m": {"cpu_only": True, "parameters": dict(self.loads)}},
            **({"bls_composing_models": called} if called else {}),
            "perf_analyzer_flags": {
                "measurement-mode": "time_windows",
                "measurement-interval": interval_ms,
                "stability-percentage": 999,
                **self.flags,
            },
        }


def _waiting(ms: float, instances: int, **does: float) -> Served:
    return Served(instances=instances, does={"sleep_ms": ms, **does})


_LEFT_RIGHT = {"left": _waiting(20, 8), "right": _waiting(20, 8)}
_DELAYED = "dynamic_batching { max_queue_delay_microseconds: 100000 }"

SLOW = (
    Case(name="lock", cause="lock", m=_waiting(20, 4, slots=1)),
    Case(name="python loop", cause="single_core", m=Served(does={"spin_ms": 10})),
    Case(
        name="slow requests",
        cause="slow_requests",
        m=_waiting(10, 8, slow_share=0.03, slow_ms=200),
    ),
    Case(name="leak", cause="memory_growth", m=_waiting(10, 8, leak_kb=20)),
    Case(name="cold start", cause="cold_start", m=_waiting(10, 8, cold_s=30, cold_ms=90)),
    Case(
        name="serial calls",
        cause="serial_calls",
        m=Served(instances=8, code="caller.py"),
        parts=_LEFT_RIGHT,
        calls=True,
    ),
    Case(
        name="starved part",
        cause="composing_model",
        parts={"first": _waiting(5, 4), "second": _waiting(20, 1)},
    ),
    Case(
        name="large tensors",
        cause="tensors",
        m=Served(instances=4, dims="[ 1024, 1024 ]", does={"sleep_ms": 2}),
        loads={"concurrency": [1, 2, 4]},
    ),
    Case(name="too few instances", cause="too_few_instances", m=_waiting(20, 1)),
    Case(name="too many instances", cause="too_many_instances", m=_waiting(20, 8, slots=2)),
    Case(
        name="queue delay",
        cause="queue_delay",
        m=Served(instances=2, max_batch_size=16, extra=_DELAYED, does={"sleep_ms": 5}),
    ),
    Case(
        name="slow client",
        cause="client",
        m=_waiting(20, 8),
        loads={"request_rate": [50, 200]},
        flags={"max-threads": 2, "sync": True},
    ),
)

HEALTHY = (
    Case(name="enough instances", m=_waiting(20, 8)),
    Case(
        name="dynamic batches",
        m=Served(instances=2, max_batch_size=8, extra="dynamic_batching { }", does={"sleep_ms": 8}),
    ),
    Case(
        name="balanced ensemble",
        parts={"first": _waiting(10, 8), "second": _waiting(10, 8)},
    ),
    Case(
        name="calls at once",
        m=Served(instances=8, code="caller.py", does={"at_once": 1}),
        parts=_LEFT_RIGHT,
        calls=True,
    ),
    Case(
        name="computing",
        m=Served(instances=2, does={"spin_ms": 10}),
        loads={"concurrency": [1, 2]},
    ),
    Case(
        name="small tensors and a short model",
        m=_waiting(2, 4),
        loads={"concurrency": [1, 2, 4]},
    ),
)
