# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Small checkpoints of every kind, for the outputs of commands in tests/golden/outputs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from model_analyzer.domain.goals import Goal, Objective
from model_analyzer.domain.hardware import Device, Machine
from model_analyzer.domain.histograms import JointHistogram, RequestTimes
from model_analyzer.domain.measurements import Measurement, Notice, NoticeKind
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.slots import Lane
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import LoadKind, ServerSetup, Trial, Workload
from model_analyzer.state.profile_state import ProfileState
from tests.conftest import TESTS
from tests.features.capacity.replicas import closed_load, open_load
from tests.unit.builders import (
    at_least,
    at_most,
    conclusion,
    failure,
    goal,
    measurement,
    objectives,
    one_round,
    record,
    together,
    variant,
)
from tests.unit.results.explain.observed import model, observed

HOST = {"Processor": "CPU A", "Server": "2.51.0", "Memory": "64 GB"}


def _variant(number: int | None = None, name: str = "m", **config: Any) -> ModelVariant:
    """The default, or variant `number`, of a model with inputs."""
    suffix = "default" if number is None else number
    return variant(
        f"{name}_config_{suffix}", model=name, backend="python",
        input=[{"name": "IN", "data_type": "TYPE_FP32", "dims": [4]}], **config,
    )  # fmt: skip


def _instances(count: int, kind: str = "KIND_CPU") -> Mapping[str, Any]:
    return {"instance_group": [{"count": count, "kind": kind}]}


DEFAULT = _variant(max_batch_size=4)
BATCHED = _variant(0, max_batch_size=8, dynamic_batching={})
LARGE = _variant(1, max_batch_size=16, dynamic_batching={}, **_instances(2))


def _closed(factor: float = 1) -> tuple[TrialRecord, ...]:
    """Three variants, each under three loads; `factor` times as fast."""
    return tuple(
        record(of, _served(load, factor * rate * load**0.5, 300 + rate), concurrency=load)
        for of, rate in [(DEFAULT, 100), (BATCHED, 150), (LARGE, 160)]
        for load in (1, 2, 4)
    )


def _served(load: int, throughput: float, memory: float) -> Measurement:
    average = load * 1000 / throughput
    return measurement(
        throughput, average * 1.25, perf_latency_avg=average, perf_client_send_recv=0.2,
        perf_server_queue=average / 4, perf_server_compute_infer=average / 2,
        windows=[throughput * (1 + part / 500) for part in (-1, 0, 1)],
        requests=round(throughput * 10), host={"cpu_used_ram": memory},
    )  # fmt: skip


CLOSED = _closed()


def _kept(
    *records: TrialRecord,
    by: Goal | None = None,
    search: Mapping[str, Any] | None = None,
    subject: str = "m",
    best: TrialRecord | None = None,
    devices: Sequence[Device] = (),
    refused: Sequence[str] = (),
) -> Callable[[Path], None]:
    """Writes a checkpoint of these records into a directory."""

    def write(directory: Path) -> None:
        with ProfileState(directory) as state:
            state.describe(devices=devices, host=HOST, cores=8)
            if by is not None:
                state.record_search(
                    subject, search or {"search.mode": "brute"}, by, refused=refused
                )
            for each in records:
                state.record(each.trial, each.outcome)
            if best is not None:
                ended = conclusion(best.trial, len(records), by)
                state.record_conclusion(Lane(subject), ended)
            state.save()

    return write


def _imported(name: str) -> Callable[[Path], None]:
    def write(directory: Path) -> None:
        directory.mkdir(parents=True)
        shutil.copy(TESTS / "golden" / "upstream" / name, directory / "0.ckpt")

    return write


def _tokens(load: int, rate: float) -> Measurement:
    first = load * 200 / rate
    times = (RequestTimes(first * 5, first * (1 + part / 40), first / 5) for part in range(40))
    outcome = measurement(
        rate, first * 8, requests=2000, perf_latency_avg=first * 5,
        output_token_throughput=rate * 20, time_to_first_token_avg=first,
        time_to_first_token_p99=first * 2, inter_token_latency_avg=first / 5,
        inter_token_latency_p99=first / 2,
    )  # fmt: skip
    (only,) = outcome.models
    counted = replace(only, joint=JointHistogram.of(times), seconds=40 / rate, requests=40)
    return replace(outcome, models=(counted,))


def _on(machine: Machine, of: ModelVariant, rate: float) -> TrialRecord:
    gpus = {
        gpu.uuid: {"gpu_used_memory": 700.0, "gpu_utilization": 60.0, "gpu_power_usage": 90.0}
        for gpu in machine.devices
    }
    setup = ServerSetup(version="2.51.0", devices=tuple(gpu.name for gpu in machine.devices))
    outcome = replace(measurement(rate, 900 / rate, gpus=gpus, requests=5000), machine=machine)
    return record(of, outcome, setup=setup)


def _machine(host: str, gpu: str) -> Machine:
    device = Device(uuid=f"GPU-{host}", name=gpu, memory=24_000)
    return Machine(host=host, devices=(device,), driver="550.1", processor="X", cores=16)


BIG, SMALL = _machine("big", "NVIDIA H100"), _machine("small", "NVIDIA L4")
TOKENIZER, DECODER = (_variant(0, name, max_batch_size=8) for name in ("tokenizer", "decoder"))


def _chain(number: int | None, *parts: ModelVariant) -> ModelVariant:
    return variant(
        f"chain_config_{'default' if number is None else number}", model="chain",
        composing=parts, platform="ensemble",
        ensemble_scheduling={"step": [{"model_name": part.model} for part in parts]},
    )  # fmt: skip


def _pair(load: int, *rates: float) -> TrialRecord:
    """Two models that were measured together."""
    works = tuple(
        Workload(variant=_variant(0, name, max_batch_size=8), load=record(
            DEFAULT, measurement(), concurrency=load).trial.workloads[0].load, flags={})
        for name in ("a", "b")
    )  # fmt: skip
    values = ({"perf_throughput": rate, "perf_latency_p99": 1000 / rate} for rate in rates)
    return TrialRecord(trial=Trial(workloads=works, setup=ServerSetup()), outcome=together(*values))


def _several(directory: Path) -> None:
    with ProfileState(directory) as state:
        state.describe(devices=(), host=HOST, cores=8)
        for name, factor in (("a", 1), ("b", 3)):
            state.record_search(name, {"search.mode": "quick"}, goal(*at_most(perf_latency_p99=8)))
            for number, rate in ((None, 100 * factor), (0, 130 * factor)):
                of = _variant(number, name, max_batch_size=8 + (number is None))
                for load in (1, 2):
                    each = record(of, measurement(rate * load, 4.0 * load), concurrency=load)
                    state.record(each.trial, each.outcome)
        state.save()


SHAKY = Notice(kind=NoticeKind.UNSTABLE, text="the throughput did not settle: measure for longer")
FEW = Notice(kind=NoticeKind.FEW_REQUESTS, text="p99 rests on 120 requests: measure for longer")
LIMIT = goal(*at_most(perf_latency_p99=20))
POISSON = Traffic(arrivals=Arrivals.POISSON, seed=7)
ONE, TWO = model(max_batch_size=1), model(count=2, suffix="config_0", max_batch_size=1)

# The models in a checkpoint, and how they are analyzed, unless it is "m" alone.
MODELS: Mapping[str, Sequence[str]] = {
    "ensemble": ["chain"],
    "several_models": ["a,b"],
    "together": ["a,b", "--run-config-profile-models-concurrently-enable"],
    "upstream": ["add_sub"],
    "upstream_ensemble": ["ensemble_chain"],
}

write_base = _kept(*_closed(0.9), by=LIMIT)

# What writes each checkpoint into a directory.
CHECKPOINTS: Mapping[str, Callable[[Path], None]] = {
    "closed": _kept(*CLOSED, by=LIMIT, search={"search.mode": "adaptive"}, best=CLOSED[8]),
    "no_constraints": _kept(*CLOSED),
    "nothing_meets": _kept(*CLOSED, by=goal(*at_most(perf_latency_p99=2))),
    "default_is_best": _kept(*CLOSED[:3], by=LIMIT, best=CLOSED[1]),
    "two_constraints": _kept(
        *CLOSED,
        by=goal(*at_most(perf_latency_p99=20), *at_least(perf_throughput=170),
                wished=objectives(perf_latency_p99=2, cpu_used_ram=1)),
    ),
    "open_loads": _kept(
        closed_load(2, 90), open_load(60, 12), open_load(80, 20), open_load(100, 200),
        record(BATCHED, measurement(50, 9, requests=9000, perf_send_lag_p99=0.3),
               kind=LoadKind.REQUEST_RATE, concurrency=50, traffic=POISSON),
        by=goal(*at_most(perf_latency_p99=50)),
    ),
    "llm": _kept(
        *(record(of, _tokens(load, rate), concurrency=load)
          for of, rates in ((DEFAULT, (10, 25)), (BATCHED, (12, 36)))
          for load, rate in zip((1, 4), rates, strict=True)),
        by=goal(*at_most(time_to_first_token_p99=50),
                wished=[Objective(tag="perf_goodput"), Objective(tag="output_token_throughput")]),
    ),
    "ensemble": _kept(
        record(_chain(None, TOKENIZER, DECODER), measurement(50, 30), concurrency=2),
        record(_chain(0, TOKENIZER, replace(DECODER, name="decoder_config_1",
               config=LARGE.config)), measurement(80, 22), concurrency=2),
        by=LIMIT, subject="chain",
    ),
    "failures": _kept(
        *CLOSED[:4],
        *(record(LARGE, failure("m did not load: out of memory"), concurrency=load)
          for load in (1, 2)),
        record(BATCHED, failure("perf_analyzer took too long"), concurrency=8),
        by=LIMIT, refused=["8 instances: more than the memory of the machine"],
    ),
    "all_failed": _kept(record(DEFAULT, failure()), record(BATCHED, failure()), by=LIMIT),
    "two_kinds": _kept(
        _on(SMALL, DEFAULT, 100), _on(SMALL, BATCHED, 150),
        _on(BIG, DEFAULT, 300), _on(BIG, BATCHED, 900),
        by=LIMIT, devices=[*SMALL.devices, *BIG.devices],
    ),
    "upstream": _imported("plain.ckpt"),
    "upstream_ensemble": _imported("ensemble.ckpt"),
    "rounds": _kept(
        *(record(of, one_round([base + step / 10 for step in range(200)], 2.0),
                 concurrency=2, repetition=number)
          for of, base in ((DEFAULT, 10.0), (BATCHED, 7.0)) for number in range(3)),
        by=LIMIT,
    ),
    "doubtful": _kept(
        record(DEFAULT, measurement(100, 10, notices=[SHAKY], windows=[60, 100, 140])),
        record(BATCHED, measurement(104, 10, notices=[FEW], windows=[90, 104, 118])),
        by=LIMIT,
    ),
    "several_models": _several,
    "together": _kept(_pair(1, 100, 80), _pair(2, 150, 110), _pair(4, 170, 90), subject="a,b",
                      by=Goal(models=(*LIMIT.models, *goal(weighting=3).models))),
    "swept": _kept(
        *(record(_variant(number, max_batch_size=4,
                          parameters={"steps": {"string_value": str(steps)}}),
                 measurement(2000 / steps, steps / 2, requests=3000))
          for number, steps in ((None, 40), (0, 20), (1, 10))),
        by=LIMIT,
    ),
    "queueing": _kept(
        observed(ONE, 1, 49, 20, queue=0), observed(ONE, 8, 49.5, 20, queue=140),
        observed(TWO, 1, 48, 20, queue=0), observed(TWO, 8, 98, 20, queue=60),
    ),
}  # fmt: skip
