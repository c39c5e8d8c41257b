# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of models for `explain`, each with its true cause, known by how it is made.

The models wait, so that the speed of the machine matters little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from model_analyzer.domain.models import empty

_QA = Path(__file__).parent.parent
WORKER, CALLER = _QA / "models" / "does.py", _QA / "zoo" / "models" / "caller.py"
SEED = 40


@dataclass(frozen=True, kw_only=True)
class Part:
    """A model: what it does, and its configuration."""

    count: int = 1
    batch: int = 0
    dims: str = "[ 4 ]"
    out: str = ""
    group: str = ""
    extra: str = ""
    calls: str = ""
    does: Mapping[str, object] = field(default_factory=empty)

    def write(self, directory: Path) -> None:
        """Writes it into a repository."""
        (directory / "1").mkdir(parents=True)
        code = CALLER if self.calls else WORKER
        (directory / "1" / "model.py").write_text(code.read_text())
        does = {**self.does, **({"calls": self.calls} if self.calls else {"made": 1})}
        parameters = "".join(
            f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n'
            for key, value in does.items()
        )
        (directory / "config.pbtxt").write_text(
            f'name: "{directory.name}"\nbackend: "python"\nmax_batch_size: {self.batch}\n'
            f'input [ {{ name: "INPUT" data_type: TYPE_FP32 dims: {self.dims} }} ]\n'
            f'output [ {{ name: "OUTPUT" data_type: TYPE_FP32 dims: {self.out or self.dims} }} ]\n'
            f"instance_group [ {{ count: {self.count} kind: KIND_CPU {self.group} }} ]\n"
            f"{parameters}{self.extra}\n"
        )


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A model `m`, or an ensemble of this name with `steps` (model, input, output), the models that
    it calls, and its load. `cause` is what `explain` has to name first: "" if it is healthy,
    several with a `|` if they say the same of this model.
    """

    name: str
    cause: str = ""
    m: Part | None = None
    parts: Mapping[str, Part] = field(default_factory=empty)
    steps: Sequence[tuple[str, str, str]] = ()
    loads: Sequence[int] = (1, 2, 4, 8)
    load: Mapping[str, Any] = field(default_factory=empty)
    flags: Mapping[str, Any] = field(default_factory=empty)
    server: Mapping[str, Any] = field(default_factory=empty)
    options: Mapping[str, Any] = field(default_factory=empty)

    def write(self, directory: Path, window_ms: int = 1500) -> dict[str, Any]:
        """Writes the model repository; returns the configuration of a run."""
        models = directory / "models"
        for name, part in self.parts.items():
            part.write(models / name)
        if self.m is not None:
            self.m.write(models / "m")
        else:
            (models / "m" / "1").mkdir(parents=True)
            (models / "m" / "config.pbtxt").write_text(self._ensemble())
        parameters = {} if self.load else {"concurrency": list(self.loads)}
        calls = list(self.parts) if self.m is not None and self.parts else []
        # a `load` is measured in rounds
        windows = {
            "measurement-mode": "time_windows",
            "measurement-interval": window_ms,
            "stability-percentage": 999,
        }
        return {
            "model_repository": str(models),
            "output_model_repository_path": str(directory / "output"),
            "override_output_model_repository": True,
            "checkpoint_directory": str(directory / "checkpoints"),
            "run_config_search_disable": True,
            "skip_summary_reports": True,
            "skip_detailed_reports": True,
            "profile_models": {"m": {"cpu_only": True, "parameters": parameters}},
            **({"load": dict(self.load)} if self.load else {}),
            **({"bls_composing_models": calls} if calls else {}),
            **({"triton_server_flags": dict(self.server)} if self.server else {}),
            "perf_analyzer_flags": {**({} if self.load else windows), **self.flags},
            **self.options,
        }

    def _ensemble(self) -> str:
        dims = next(iter(self.parts.values())).dims
        batch = next(iter(self.parts.values())).batch
        step = ",\n".join(
            f'{{ model_name: "{name}" model_version: -1'
            f' input_map {{ key: "INPUT" value: "{source}" }}'
            f' output_map {{ key: "OUTPUT" value: "{target}" }} }}'
            for name, source, target in self.steps
        )
        outputs = {"OUTPUT", *(to for _, _, to in self.steps if to.startswith("OUTPUT"))}
        output = ", ".join(
            f'{{ name: "{name}" data_type: TYPE_FP32 dims: {dims} }}' for name in sorted(outputs)
        )
        return (
            f'name: "m"\nplatform: "ensemble"\nmax_batch_size: {batch}\n'
            f'input [ {{ name: "INPUT" data_type: TYPE_FP32 dims: {dims} }} ]\n'
            f"output [ {output} ]\n"
            f"ensemble_scheduling {{ step [ {step} ] }}\n"
        )


def waits(ms: float, count: int, **does: object) -> Part:
    """A model with so many instances that waits in each execution."""
    return Part(count=count, does={"sleep_ms": ms, **does})


def batches(ms: float, count: int, batch: int, extra: str = "", **does: object) -> Part:
    """The same with batches that Triton makes."""
    extra = extra or "dynamic_batching { }"
    return Part(count=count, batch=batch, extra=extra, does={"sleep_ms": ms, **does})


def delayed(us: int, preferred: str = "") -> str:
    sizes = f"preferred_batch_size: [ {preferred} ]" if preferred else ""
    return f"dynamic_batching {{ {sizes} max_queue_delay_microseconds: {us} }}"


CHAIN = (("a", "INPUT", "middle"), ("b", "middle", "OUTPUT"))
CHAIN_3 = (("a", "INPUT", "one"), ("b", "one", "two"), ("c", "two", "OUTPUT"))
BRANCHES = (("a", "INPUT", "one"), ("b", "one", "OUTPUT"), ("c", "one", "OUTPUT_2"))
RESOURCE = 'rate_limiter { resources [ { name: "R" global: true count: 1 } ] }'
DECOUPLED = "model_transaction_policy { decoupled: true }"
CONTROLS = (
    'control_input [ { name: "START" control [ { kind: CONTROL_SEQUENCE_START'
    " fp32_false_true: [ 0, 1 ] } ] } ]"
)
POISSON_FLAGS = {"request-distribution": "poisson", "async": "true"}


def rate(value: int) -> Mapping[str, Any]:
    return measured(request_rate=[value])


def measured(**parameters: Sequence[int]) -> Mapping[str, Any]:
    return {"profile_models": {"m": {"cpu_only": True, "parameters": parameters}}}


SLOW = (
    # instances that share something
    Kind(name="lock around half", cause="lock|too_many_instances",
         m=waits(8, 6, slots=1, slot_ms=16)),
    Kind(name="two connections", cause="too_many_instances|lock",
         m=waits(2, 6, slots=2, slot_ms=24)),
    Kind(name="lock in a part", cause="lock",
         parts={"a": waits(6, 8), "b": waits(1, 8, slots=1, slot_ms=18)}, steps=CHAIN),
    Kind(name="a crowd is slower", cause="too_many_instances|lock|collapse",
         m=waits(10, 8, crowd=1.5)),
    # slow now and then
    Kind(name="every 40th", cause="slow_requests", m=waits(12, 8, every=40, every_ms=160)),
    Kind(name="every 50th, a little", cause="slow_requests", m=waits(20, 8, every=50, every_ms=90)),
    Kind(name="every 30th, constant rate", cause="slow_requests",
         m=waits(15, 4, every=30, every_ms=200), load={"arrivals": "constant", "rate": 60}),
    Kind(name="stands still", cause="slow_requests", m=waits(15, 8, pause_s=1.2, pause_ms=250)),
    Kind(name="stands still, Poisson", cause="slow_requests",
         m=waits(20, 4, pause_s=2.0, pause_ms=300), load={"arrivals": "poisson", "rate": 60}),
    Kind(name="slow part now and then", cause="slow_requests",
         parts={"a": waits(6, 8), "b": waits(8, 8, every=40, every_ms=150)}, steps=CHAIN),
    # over time
    Kind(name="leak", cause="memory_growth", m=waits(8, 8, leak_kb=30)),
    Kind(name="more work each time", cause="slowing_down", m=waits(10, 4, grow_ms=0.05)),
    Kind(name="first requests", cause="cold_start", m=waits(12, 8, first=12, first_ms=250)),
    Kind(name="cold in a part", cause="cold_start",
         parts={"a": waits(5, 8), "b": waits(10, 8, first=15, first_ms=200)}, steps=CHAIN),
    # callers
    Kind(name="four calls", cause="serial_calls", m=Part(count=8, calls="a,b,c,d"),
         parts={name: waits(12, 8) for name in "abcd"}),
    Kind(name="one model three times", cause="serial_calls", m=Part(count=8, calls="a,a,a"),
         parts={"a": waits(15, 12)}),
    Kind(name="two calls, busy parts", cause="serial_calls", m=Part(count=4, calls="a,b"),
         parts={"a": waits(25, 2), "b": waits(20, 2)}, loads=(1, 2, 4)),
    Kind(name="calls at once, one starved", cause="composing_model",
         m=Part(count=8, calls="a,b", does={"at_once": 1}),
         parts={"a": waits(10, 8), "b": waits(24, 1)}),
    Kind(name="few callers", cause="too_few_instances",
         m=Part(count=1, calls="a", does={"at_once": 1}), parts={"a": waits(24, 8)}),
    # ensembles
    Kind(name="starved first", cause="composing_model",
         parts={"a": waits(26, 1), "b": waits(6, 8)}, steps=CHAIN),
    Kind(name="starved branch", cause="composing_model",
         parts={"a": waits(4, 8), "b": waits(22, 1), "c": waits(6, 8)}, steps=BRANCHES),
    Kind(name="heavy preprocessing", cause="composing_model",
         parts={"a": waits(30, 2), "b": waits(4, 4), "c": waits(3, 4)}, steps=CHAIN_3,
         loads=(1, 2, 4, 8, 12)),
    Kind(name="delay in a part", cause="queue_delay",
         parts={"a": batches(4, 4, 16, delayed(90_000)), "b": batches(5, 4, 16)}, steps=CHAIN),
    # batches
    Kind(name="long delay", cause="queue_delay", m=batches(6, 2, 32, delayed(60_000))),
    Kind(name="preferred sizes never fill", cause="queue_delay",
         m=batches(5, 2, 64, delayed(80_000, "32, 64"))),
    Kind(name="slow above batches of 4", cause="large_batches",
         m=batches(20, 1, 16, cliff=4, cliff_ms=280), loads=(1, 2, 4, 8, 16)),
    Kind(name="no batches", cause="batches", m=Part(count=1, batch=16, does={"sleep_ms": 18})),
    # instances
    Kind(name="two instances", cause="too_few_instances", m=waits(25, 2), loads=(1, 2, 4, 8, 16)),
    Kind(name="computing", cause="single_core", m=Part(does={"spin_ms": 12}), loads=(1, 2, 4)),
    Kind(name="one resource for four", cause="held_back",
         m=Part(count=4, group=RESOURCE, does={"sleep_ms": 20}),
         server={"rate-limit": "execution_count"}),
    Kind(name="few sequences", cause="held_back|too_few_instances",
         m=Part(count=4, batch=1, does={"sleep_ms": 12},
                extra=f"sequence_batching {{ direct {{ }} {CONTROLS}"
                      " max_sequence_idle_microseconds: 60000000 }"),
         loads=(1, 4, 10), flags={"sequence-length": 20}),
    # arrivals and clients
    Kind(name="Poisson at 85 %", cause="arrivals", m=waits(20, 1),
         load={"arrivals": "poisson", "rate": 42}),
    Kind(name="bursts at 60 %", cause="arrivals", m=waits(20, 2),
         load={"arrivals": "gamma", "cv": 3, "rate": 60}),
    Kind(name="three threads", cause="client", m=waits(25, 16), options=rate(300),
         flags={"max-threads": 3, "sync": True}),
    # tensors
    Kind(name="large answer", cause="tensors",
         m=Part(count=4, out="[ 1000000 ]", does={"sleep_ms": 1, "floats": 1000000}), loads=(1, 2)),
    Kind(name="large free input", cause="tensors",
         m=Part(count=4, dims="[ -1 ]", does={"sleep_ms": 1}), loads=(1, 2),
         flags={"shape": "INPUT:1000000"}),
)  # fmt: skip

HEALTHY = (
    Kind(name="one request at a time", m=waits(30, 1), loads=(1,)),
    Kind(name="light load", m=waits(18, 4), loads=(1, 2, 3)),
    Kind(name="Poisson at 60 %", m=waits(20, 1), load={"arrivals": "poisson", "rate": 30}),
    Kind(name="Poisson, two at 50 %", m=waits(25, 2), load={"arrivals": "poisson", "rate": 40}),
    Kind(name="perf_analyzer's Poisson", m=waits(20, 4), options=rate(40), flags=POISSON_FLAGS),
    Kind(name="small bursts", m=waits(15, 8), load={"arrivals": "gamma", "cv": 2, "rate": 80}),
    Kind(name="constant rate", m=waits(22, 3), load={"arrivals": "constant", "rate": 80}),
    Kind(name="low rate", m=waits(40, 2), options=rate(12)),
    Kind(name="chain of busy parts", parts={"a": waits(25, 4), "b": waits(60, 4)}, steps=CHAIN,
         loads=(1, 2, 4)),
    Kind(name="uneven chain", parts={"a": waits(3, 8), "b": waits(90, 8)}, steps=CHAIN),
    Kind(name="branches", parts={"a": waits(4, 8), "b": waits(30, 8), "c": waits(28, 8)},
         steps=BRANCHES),
    Kind(name="chain of batches", parts={"a": batches(8, 2, 8), "b": batches(12, 2, 8)},
         steps=CHAIN),
    Kind(name="answers in parts",
         m=Part(count=8, extra=DECOUPLED, does={"answers": 4, "gap_ms": 6}),
         flags={"streaming": True}),
    Kind(name="one answer, decoupled",
         m=Part(count=4, extra=DECOUPLED, does={"answers": 1, "gap_ms": 25}), loads=(1, 2, 4),
         flags={"streaming": True}),
    Kind(name="sequences", m=Part(count=4, batch=8, does={"sleep_ms": 15},
                                  extra=f"sequence_batching {{ oldest {{ }} {CONTROLS} }}"),
         loads=(1, 2, 4), flags={"sequence-length": 20}),
    Kind(name="one call", m=Part(count=8, calls="a"), parts={"a": waits(25, 8)}),
    Kind(name="three calls at once", m=Part(count=8, calls="a,b,c", does={"at_once": 1}),
         parts={"a": waits(20, 8), "b": waits(24, 8), "c": waits(8, 8)}),
    Kind(name="full batches", m=batches(20, 2, 8), loads=(1, 4, 16)),
    Kind(name="batches that grow", m=batches(6, 2, 16, item_ms=2), loads=(1, 4, 16)),
    Kind(name="a delay that fills", m=batches(25, 2, 8, delayed(5000)), loads=(4, 8, 16)),
    Kind(name="uniform times", m=waits(20, 8, random=2)),
    Kind(name="uniform times, Poisson", m=waits(20, 4, random=2),
         load={"arrivals": "poisson", "rate": 60}),
    Kind(name="one millisecond", m=waits(1, 4), loads=(1, 2, 4)),
    Kind(name="a tensor of 100 kB", m=Part(count=4, dims="[ 160, 160 ]", does={"sleep_ms": 12}),
         loads=(1, 2, 4)),
    Kind(name="free dimension", m=Part(count=8, dims="[ -1 ]", does={"sleep_ms": 14}),
         flags={"shape": "INPUT:64"}),
    Kind(name="a cache that fills once", m=waits(14, 8, keep_mb=6)),
    Kind(name="resources for all", m=Part(count=8, does={"sleep_ms": 16},
         group='rate_limiter { resources [ { name: "R" count: 1 } ] }'),
         server={"rate-limit": "execution_count", "rate-limit-resource": "R:8"}),
    Kind(name="levels", m=batches(20, 4, 4, "dynamic_batching { priority_levels: 2"
                                  " default_priority_level: 1 }"), loads=(1, 4, 8)),
)  # fmt: skip

# Made when the rules were finished: half of them healthy, too.
LATER = (
    Kind(name="every 25th, Poisson", cause="slow_requests", m=waits(12, 6, every=25, every_ms=180),
         load={"arrivals": "poisson", "rate": 70}),
    Kind(name="delay, Poisson", cause="queue_delay", m=batches(8, 3, 32, delayed(70_000)),
         load={"arrivals": "poisson", "rate": 60}),
    Kind(name="resource in a part", cause="held_back",
         parts={"a": Part(count=6, group=RESOURCE, does={"sleep_ms": 18}), "b": waits(5, 8)},
         steps=CHAIN, server={"rate-limit": "execution_count"}),
    Kind(name="large batches in a part", cause="large_batches",
         parts={"a": batches(4, 4, 16), "b": batches(15, 1, 16, cliff=4, cliff_ms=240)},
         steps=CHAIN, loads=(1, 2, 4, 8, 16)),
    Kind(name="leak in a part", cause="memory_growth",
         parts={"a": waits(5, 8), "b": waits(6, 8, leak_kb=40)}, steps=CHAIN),
    Kind(name="two starved parts", cause="too_few_instances",
         parts={"a": waits(20, 1), "b": waits(20, 1), "c": waits(3, 8)}, steps=CHAIN_3),
    Kind(name="a crowd in a part", cause="too_many_instances|lock|collapse",
         parts={"a": waits(4, 8), "b": waits(8, 8, crowd=1.2)}, steps=CHAIN),
    Kind(name="calls of a slow and a fast model", cause="serial_calls",
         m=Part(count=8, calls="a,b,b"), parts={"a": waits(18, 8), "b": waits(8, 12)}),
    Kind(name="chain, Poisson at 40 %", parts={"a": waits(10, 4), "b": waits(20, 3)}, steps=CHAIN,
         load={"arrivals": "poisson", "rate": 60}),
    Kind(name="uniform branches", steps=BRANCHES,
         parts={"a": waits(5, 8), "b": waits(20, 8, random=2), "c": waits(20, 8, random=2)}),
    Kind(name="calls at once, constant rate", m=Part(count=6, calls="a,b", does={"at_once": 1}),
         parts={"a": waits(18, 6), "b": waits(15, 6)}, load={"arrivals": "constant", "rate": 70}),
    Kind(name="batches, Poisson", m=batches(15, 3, 8, delayed(1000)),
         load={"arrivals": "poisson", "rate": 80}),
    Kind(name="a slow model, few requests", m=waits(180, 4), loads=(1, 2, 4)),
    Kind(name="bursts, many instances", m=waits(10, 12),
         load={"arrivals": "gamma", "cv": 3, "rate": 120}),
    Kind(name="as many sequences as slots", loads=(1, 2, 4),
         m=Part(count=4, batch=1, does={"sleep_ms": 14},
                extra=f"sequence_batching {{ direct {{ }} {CONTROLS} }}"),
         flags={"sequence-length": 20}),
    Kind(name="decoupled, rate", m=Part(count=4, extra=DECOUPLED, does={"answers": 3, "gap_ms": 5}),
         options=rate(60), flags={"streaming": True}),
)  # fmt: skip

# Made without knowing the rules, which were finished: the second half is healthy.
FRESH = (
    # An eighth of the requests, or 2 % if all instances are busy, is eight times as slow.
    Kind(name="one weak instance", cause="slow_requests", m=waits(12, 8, weak_ms=84)),
    Kind(name="batches, every 30th", cause="slow_requests",
         m=batches(15, 4, 8, every=30, every_ms=200)),
    Kind(name="lock in a called model", cause="lock",
         m=Part(count=8, calls="a,b", does={"at_once": 1}),
         parts={"a": waits(1, 8, slots=1, slot_ms=18), "b": waits(6, 8)}),
    # The lock is held 77 % of the time: a request waits 27 ms for it, not for an instance.
    Kind(name="lock, Poisson", cause="lock", m=waits(4, 16, slots=1, slot_ms=16),
         load={"arrivals": "poisson", "rate": [10, 30, 48]}),
    Kind(name="two of six have the resource", cause="held_back",
         m=Part(count=6, does={"sleep_ms": 20},
                group='rate_limiter { resources [ { name: "R" count: 2 },'
                      ' { name: "S" count: 1 } ] }'),
         server={"rate-limit": "execution_count", "rate-limit-resource": ["R:5", "S:6"]}),
    Kind(name="one resource for two parts", cause="held_back",
         parts={"a": Part(count=4, group=RESOURCE, does={"sleep_ms": 14}),
                "b": Part(count=4, group=RESOURCE, does={"sleep_ms": 12})},
         steps=CHAIN, server={"rate-limit": "execution_count"}),
    # The instance works a third of the time; six of eight sequences wait for the end of another.
    Kind(name="sequences wait, rate", cause="held_back",
         m=Part(count=1, batch=8, does={"sleep_ms": 4},
                extra=f"sequence_batching {{ oldest {{ max_candidate_sequences: 2 }} {CONTROLS}"
                      " max_sequence_idle_microseconds: 60000000 }"),
         options=rate(80),
         flags={"num-of-sequences": 8, "sequence-length": 4, "streaming": True,
                "async": "true"}),
    # Eight requests need 130 ms to arrive.
    Kind(name="preferred size, bursts", cause="queue_delay",
         m=batches(5, 3, 16, delayed(60_000, "8")),
         load={"arrivals": "gamma", "cv": 2, "rate": 60}),
    Kind(name="delay in a called model", cause="queue_delay",
         m=Part(count=8, batch=16, calls="a,b", does={"at_once": 1}),
         parts={"a": batches(5, 4, 16, delayed(70_000)),
                "b": Part(count=8, batch=16, does={"sleep_ms": 10})}),
    # Batches of two never need more than 20 ms. Once three requests wait, there are always more.
    Kind(name="large batches, Poisson", cause="large_batches",
         m=batches(10, 1, 32, cliff=2, cliff_ms=190),
         load={"arrivals": "poisson", "rate": [15, 60]}),
    Kind(name="no batches of two", cause="batches",
         m=Part(count=2, batch=16, does={"sleep_ms": 20}),
         options=measured(batch_sizes=[2], concurrency=[1, 2, 4, 8])),
    # 55 of 50 requests per second
    Kind(name="too slow for its rate", cause="too_few_instances", m=waits(40, 2),
         load={"arrivals": "constant", "rate": [20, 55]}),
    Kind(name="last part, constant rate", cause="composing_model",
         parts={"a": waits(5, 8), "b": waits(5, 8), "c": waits(40, 2)}, steps=CHAIN_3,
         load={"arrivals": "constant", "rate": [20, 55]}),
    Kind(name="perf_analyzer, Poisson, 76 %", cause="arrivals", m=waits(20, 1), options=rate(38),
         flags={**POISSON_FLAGS, "measurement-interval": 4000}),
    # Two threads get 111 answers per second, the instances give 800.
    Kind(name="two threads for a chain", cause="client",
         parts={"a": waits(8, 8), "b": waits(10, 8)}, steps=CHAIN, options=rate(200),
         flags={"max-threads": 2, "sync": True}),
    Kind(name="large inputs in batches", cause="tensors",
         m=Part(count=4, batch=8, dims="[ 150000 ]", out="[ 4 ]",
                does={"sleep_ms": 1, "floats": 4}),
         options=measured(batch_sizes=[8], concurrency=[1, 2])),
    Kind(name="leak, constant rates", cause="memory_growth", m=waits(10, 4, leak_kb=60),
         load={"arrivals": "constant", "rate": [40, 60, 80]}),
    Kind(name="a part slows down", cause="slowing_down",
         parts={"a": waits(5, 8), "b": waits(8, 4, grow_ms=0.06)}, steps=CHAIN, loads=(1, 2, 4)),
    # Cold for about 15 s: longer than the first load is measured.
    Kind(name="cold called model", cause="cold_start",
         m=Part(count=8, calls="a,b", does={"at_once": 1}),
         parts={"a": waits(10, 4, first=16, first_ms=250), "b": waits(8, 8)}, loads=(1, 2, 4)),
    Kind(name="three calls, Poisson", cause="serial_calls", m=Part(count=10, calls="a,b,c"),
         parts={name: waits(15, 8) for name in "abc"}, load={"arrivals": "poisson", "rate": 60}),
    Kind(name="batches of the client", m=Part(count=4, batch=8, does={"sleep_ms": 5, "item_ms": 3}),
         options=measured(batch_sizes=[1, 4], concurrency=[1, 2, 4])),
    # Eight requests hold the lock a quarter of the time.
    Kind(name="a lock held shortly", m=waits(30, 8, slots=1, slot_ms=1)),
    Kind(name="a tail", m=waits(20, 8, random=3)),
    Kind(name="stages", m=waits(15, 8),
         load={"stages": [{"rate": 30, "for": "4s"}, {"rate": 90, "for": "4s"}]}),
    Kind(name="two instance groups", loads=(1, 2, 4),
         m=Part(count=2, does={"sleep_ms": 18},
                extra='instance_group [ { name: "more" count: 2 kind: KIND_CPU } ]')),
    Kind(name="levels, Poisson",
         m=batches(12, 4, 8, "dynamic_batching { priority_levels: 3 default_priority_level: 2"
                             " default_queue_policy { max_queue_size: 100 } }"),
         load={"arrivals": "poisson", "rate": 100}),
    Kind(name="rate limiter, no resources", steps=CHAIN, loads=(1, 2, 4),
         parts={"a": Part(count=4, group="rate_limiter { priority: 1 }", does={"sleep_ms": 14}),
                "b": Part(count=4, group="rate_limiter { priority: 2 }", does={"sleep_ms": 22})},
         server={"rate-limit": "execution_count"}),
    # A request finds all instances busy in 0.1 % of the cases.
    Kind(name="a slow model, Poisson", m=waits(250, 10), load={"arrivals": "poisson", "rate": 12}),
    Kind(name="two milliseconds, rate", m=waits(2, 4), options=rate(100), flags={"async": "true"}),
    Kind(name="a fast chain", parts={name: waits(3, 4) for name in "abc"}, steps=CHAIN_3,
         loads=(1, 2, 4)),
    Kind(name="sequences with room, rate",
         m=Part(count=4, batch=8, does={"sleep_ms": 8},
                extra="sequence_batching { oldest { max_candidate_sequences: 32 }"
                      f" {CONTROLS} }}"),
         options=rate(60),
         flags={"num-of-sequences": 8, "sequence-length": 20, "streaming": True}),
    Kind(name="calls of models with batches", loads=(1, 2, 4),
         m=Part(count=8, batch=8, calls="a,b", does={"at_once": 1}),
         parts={"a": batches(15, 4, 8), "b": batches(10, 4, 8)}),
    Kind(name="decoupled, Poisson",
         m=Part(count=6, extra=DECOUPLED, does={"answers": 2, "gap_ms": 8}),
         load={"arrivals": "poisson", "rate": 40}, flags={"streaming": True}),
    # Half as many instances of `a`, in a fifth of the time: 40 % busy.
    Kind(name="fewer of the fast part", parts={"a": waits(10, 4), "b": waits(40, 8)}, steps=CHAIN),
    Kind(name="a short delay in each part", steps=CHAIN, loads=(1, 2, 4),
         parts={"a": batches(20, 4, 8, delayed(500)), "b": batches(25, 4, 8, delayed(500))}),
    # The instances would be busy a quarter of the time without batches.
    Kind(name="bursts into batches", m=batches(20, 8, 16),
         load={"arrivals": "gamma", "cv": 2, "rate": 100}),
    Kind(name="cold, but warmed up", loads=(1, 2, 4),
         m=Part(count=4, does={"sleep_ms": 10, "first": 3, "first_ms": 300},
                extra='model_warmup [ { name: "w" batch_size: 1 count: 5 inputs { key: "INPUT"'
                      " value: { data_type: TYPE_FP32 dims: 4 zero_data: true } } } ]")),
    Kind(name="computes a little", m=Part(count=4, does={"sleep_ms": 20, "spin_ms": 2}),
         loads=(1, 2, 4)),
    # 0.25 % of the requests are three times as slow.
    Kind(name="rare and short", m=waits(20, 8, every=400, every_ms=40)),
    Kind(name="rates up to a half", m=waits(22, 2),
         load={"arrivals": "poisson", "rate": [15, 30, 45]}),
)  # fmt: skip

KINDS = (*SLOW, *HEALTHY, *LATER, *FRESH)


def looked_at() -> Sequence[Kind]:
    """The kinds that the rules may be made with, drawn at random."""
    draw = Random(SEED)
    return [*draw.sample(SLOW, len(SLOW) - 20), *draw.sample(HEALTHY, len(HEALTHY) - 20)]


def judged() -> Sequence[Kind]:
    """The other kinds, half of them healthy: to be judged by once, when the rules are made."""
    seen = looked_at()
    return [kind for kind in (*SLOW, *HEALTHY) if kind not in seen]
