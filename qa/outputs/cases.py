# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Forty faults that a configuration may have, and forty models whose configurations are right."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

_BATCHES: Mapping[str, Any] = {"max_batch_size": 8, "dynamic_batching": {}}
_INSTANCES: Mapping[str, Any] = {"instance_group": [{"count": 2, "kind": "KIND_CPU"}]}


@dataclass(frozen=True, kw_only=True)
class Case:
    """A model of a `kind`, whose altered configuration (`changes`) has a `fault`, "" for none.
    Whatever its configuration, it has a `habit`.
    """

    name: str
    kind: str = "numbers"
    fault: str = ""
    habit: str = ""
    data_type: str = "FP32"
    changes: Mapping[str, Any] = field(default_factory=lambda: _BATCHES)

    def write(self, models: Path) -> None:
        """Adds the model to a repository."""
        is_other = self.kind in ("stream", "calls")
        directory = models / self.name
        (directory / "1").mkdir(parents=True)
        shutil.copy(
            HERE / "models" / ("stream.py" if is_other else "model.py"),
            directory / "1" / "model.py",
        )
        (directory / "config.pbtxt").write_text(self.config)

    @property
    def config(self) -> str:
        given, answered, dims, rows = {
            "numbers": (self._input, self.data_type, "8", 1),
            "calls": ("FP32", "FP32", "8", 1),
            "free": ("FP32", "FP32", "-1", 1),
            "flag": ("FP32", "BOOL", "8", 1),
            "text": ("STRING", "STRING", "1", 1),
            "stream": ("STRING", "STRING", "1", 0),
            "sum": ("INT32", "INT32", "1", 1),
        }[self.kind]
        shape = "1" if self.kind == "flag" else dims
        # otherwise the batcher mixes only requests of equal shapes
        ragged = " allow_ragged_batch: true" if self.kind == "free" else ""
        beside = (
            ', { name: "BESIDE" data_type: TYPE_FP64 dims: [ 1 ] }'
            if self.kind not in ("stream", "calls")
            else ""
        )
        lines = [
            f'name: "{self.name}" backend: "python" max_batch_size: {rows}',
            f'input [ {{ name: "INPUT" data_type: TYPE_{given} dims: [ {dims} ]{ragged} }} ]',
            f'output [ {{ name: "OUTPUT" data_type: TYPE_{answered} dims: [ {shape} ] }}{beside} ]',
            "instance_group [ { count: 1 kind: KIND_CPU } ]",
            *(
                f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}'
                for key, value in (
                    ("kind", self.kind),
                    ("fault", self.fault),
                    ("habit", self.habit),
                )
            ),
        ]
        if self.kind == "stream":
            lines.append("model_transaction_policy { decoupled: true }")
        if self.kind == "sum":
            lines.append(
                "sequence_batching { max_sequence_idle_microseconds: 5000000 control_input ["
                '{ name: "START" control [ { kind: CONTROL_SEQUENCE_START'
                " int32_false_true: [ 0, 1 ] } ] }, "
                '{ name: "CORRID" control [ { kind: CONTROL_SEQUENCE_CORRID'
                " data_type: TYPE_UINT64 } ] } ] }"
            )
        return "\n".join(lines) + "\n"

    @property
    def _input(self) -> str:
        return "FP32" if self.data_type.startswith("FP") else self.data_type

    @property
    def flags(self) -> Mapping[str, Any]:
        """perf_analyzer's flags: sizes of free dimensions."""
        return {"shape": ["INPUT:24"]} if self.kind == "free" else {}


def _batched(*faults: str, **more: Any) -> Sequence[Case]:
    return [Case(name=_name(fault, more), fault=fault, **more) for fault in faults]


def _name(fault: str, more: Mapping[str, Any]) -> str:
    return "_".join([more.get("kind", "numbers"), *fault.lower().split()])


_FEW = {"changes": _INSTANCES}
_ONE_BY_ONE = {"changes": {"max_batch_size": 8}}  # without a batcher, batches are the client's

FAULTS: Sequence[Case] = (
    *_batched(
        "requests swapped", "rows reversed", "rows rotated", "first row for all", "last row twice",
        "batch mean", "batch maximum", "rows past four zero", "NaN in a batch", "rows sorted",
        "columns turned", "previous answer", "previous row", "every seventh zero",
        "cache by first element", "cache by rounded input", "cache by shape", "other version",
        "other order",
        "quantized", "two decimals", "eight bits of mantissa",
    ),
    Case(name="fp64_half_precision", fault="half precision", data_type="FP64"),
    Case(name="fp16_three_percent", fault="three percent", data_type="FP16"),
    *_batched("shared scratch", "other instance", "slow start", **_FEW),
    *_batched("off by one", "eight bits", data_type="INT32"),
    *_batched("padding kept", "padding in the mean", "padding to eight", kind="free"),
    *_batched("flags of later rows inverted", kind="flag"),
    *_batched("truncated at 64", "blank at the end", "cache by length", "cache by prefix",
              kind="text"),
    *_batched("one state for all", kind="sum", **_ONE_BY_ONE),
    *_batched("chunk lost", kind="stream", **_FEW),
    *_batched("parallel steps swapped", kind="calls", **_FEW),
)  # fmt: skip

_HABITS = ("", "rounding", "random", "time", "count", "process", "loaded", "all random")


def _healthy(name: str, **more: Any) -> Case:
    return Case(name=f"healthy_{name}", **more)


HEALTHY: Sequence[Case] = (
    *(_healthy(f"batches_{habit or 'plain'}".replace(" ", "_"), habit=habit) for habit in _HABITS),
    *(
        _healthy(f"instances_{habit or 'plain'}".replace(" ", "_"), habit=habit, **_FEW)
        for habit in _HABITS
    ),
    *(
        _healthy(f"{kind}_{habit or 'plain'}", kind=kind, habit=habit)
        for kind in ("free", "text", "flag")
        for habit in ("", "random", "time", "process")
    ),
    *(
        _healthy(f"{data_type.lower()}_{habit or 'plain'}", data_type=data_type, habit=habit)
        for data_type in ("INT32", "FP64")
        for habit in ("", "count")
    ),
    _healthy("fp16_plain", data_type="FP16"),
    _healthy("fp16_rounding", data_type="FP16", habit="half rounding"),
    _healthy("client_batches", **_ONE_BY_ONE),
    _healthy("sum_plain", kind="sum", **_FEW),
    _healthy("sum_random", kind="sum", habit="random", **_ONE_BY_ONE),
    _healthy("stream_plain", kind="stream", **_FEW),
    _healthy("calls_plain", kind="calls", **_FEW),
    _healthy("full_queue", changes={
        "max_batch_size": 8,
        "dynamic_batching": {"default_queue_policy": {"max_queue_size": 8}},
    }),
)  # fmt: skip
PART = Case(name="part")
