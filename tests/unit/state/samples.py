# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trials and outcomes to be kept, from the smallest to those with everything in them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from model_analyzer.domain.hardware import Device, Machine
from model_analyzer.domain.histograms import Histogram, JointHistogram, RequestTimes
from model_analyzer.domain.measurements import (
    BatchStatistics,
    Measurement,
    ModelMeasurement,
    ModelStatistics,
    Notice,
    NoticeKind,
    RequestCounts,
    ResourceUse,
)
from model_analyzer.domain.models import ModelVariant, freeze
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import (
    Failure,
    FailureReason,
    Load,
    LoadKind,
    ServerSetup,
    Trial,
    Workload,
)
from model_analyzer.state.checkpoint import load
from model_analyzer.state.profile_state import ProfileState

SECRETS = ("s3cr3t-token", "s3cr3t-header", "s3cr3t-second", "s3cr3t-password")


MACHINE = Machine(
    host="gpu1",
    devices=(
        Device(uuid="GPU-aaaa", name="A100", memory=80000.0),
        Device(uuid="GPU-bbbb", name="A100", memory=80000.0),
    ),
    driver="550.54",
    processor="CPU A",
    cores=2,
    niceness=15,
    threads="1",
)


def trial(
    concurrency: int = 1, *, flags: Mapping[str, Any] | None = None, name: str = "m_config_default"
) -> Trial:
    """A trial of model "m", which differs from others by its concurrency."""
    variant = ModelVariant(model="m", name=name, config=freeze({"name": "m"}), files="f")
    work = Workload(variant=variant, load=Load(value=concurrency), flags=freeze(flags or {}))
    return Trial(workloads=(work,), setup=ServerSetup())


def measurement(throughput: float = 100.0) -> Measurement:
    return Measurement(models=(ModelMeasurement(values={"perf_throughput": throughput}),))


def failure(message: str = "m did not load") -> Failure:
    return Failure(reason=FailureReason.MODEL_NOT_LOADED, message=message)


def rich_trial(concurrency: int = 4) -> Trial:
    """Two models, one of them with composing models, on a server with secrets in its setup."""
    parts = tuple(
        ModelVariant(
            model=model,
            name=f"{model}_config_{number}",
            config=freeze({"name": model, "instance_group": [{"count": number + 1}]}),
            files=f"files of {model}",
        )
        for model, number in (("größe", 0), ("模型", 3))
    )
    ensemble = ModelVariant(
        model="ensemble",
        name="ensemble_config_7",
        config=freeze(
            {
                "name": "ensemble",
                "ensemble_scheduling": {"step": [{"model_name": part.model} for part in parts]},
            }
        ),
        files="files of ensemble",
        composing=parts,
    )
    plain = ModelVariant(
        model="plain",
        name="plain_config_default",
        config=freeze(
            {
                "name": "plain",
                "max_batch_size": 8,
                "dynamic_batching": {
                    "preferred_batch_size": [4, 8],
                    "max_queue_delay_microseconds": 2**53 + 1,
                },
                "parameters": {"p": {"string_value": 'a "quoted"\nline\u2028 and \\ more'}},
                "input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": [-1, 4]}],
            }
        ),
        files="files of plain",
    )
    setup = ServerSetup(
        launch="local",
        version="2.51.0",
        protocol="http",
        devices=("A100", "A100"),
        flags=freeze({"backend-config": ["python,shm=1", "onnx,a=b"], "rate-limit": "off"}),
        environment=freeze(
            {"HF_TOKEN": SECRETS[0], "DB_PASSWORD": SECRETS[3], "LD_PRELOAD": "/lib/x.so"}
        ),
        container=freeze(
            {"image": "triton:1", "init": True, "environment": [f"API_TOKEN={SECRETS[0]}", "A=1"]}
        ),
        uncached=True,
    )
    return Trial(
        workloads=(
            Workload(
                variant=ensemble,
                load=Load(value=concurrency, batch_size=2),
                flags=freeze(
                    {
                        "http-header": (
                            f"Authorization: Bearer {SECRETS[1]}",
                            f"X-Other: {SECRETS[2]}",
                        ),
                        "shape": ["IN:4", "OUT:8"],
                        "percentile": 95,
                        "streaming": True,
                    }
                ),
                inputs="fingerprint of inputs",
            ),
            Workload(
                variant=plain,
                load=Load(kind=LoadKind.REQUEST_RATE, value=128),
                flags=freeze({}),
                times_tokens=True,
                genai_perf=freeze({"tokenizer": "/tokenizers/small"}),
            ),
        ),
        setup=setup,
    )


def rich_measurement() -> Measurement:
    """A measurement in which no field is empty."""
    return Measurement(
        models=(
            ModelMeasurement(
                values=freeze({"perf_throughput": 1234.5678, "perf_latency_p99": 0.1 + 0.2}),
                requests=12345,
                windows=(1230.0, 1240.25, 1233.125),
                composing=freeze(
                    {"größe": {"perf_throughput": 1.5}, "模型": {"perf_server_queue": 1e-9}}
                ),
            ),
            ModelMeasurement(values=freeze({"perf_throughput": 0.0}), requests=None),
        ),
        gpus=freeze(
            {"GPU-aaaa": {"gpu_used_memory": 1024.5}, "GPU-bbbb": {"gpu_utilization": 99.9}}
        ),
        host=freeze({"cpu_used_ram": 2048.0}),
        statistics={
            "ensemble": ModelStatistics(
                inferences=20,
                executions=10,
                batches=(BatchStatistics(2, 10, 98.765432),),
                requests=RequestCounts(answered=14, failed=1, hits=4, misses=10),
            ),
            "größe": ModelStatistics(
                inferences=20,
                executions=6,
                batches=(BatchStatistics(2, 2, 4.25), BatchStatistics(4, 4, 12.000001)),
            ),
            "模型": ModelStatistics(inferences=0, executions=0),
        },
        notices=(
            Notice(kind=NoticeKind.UNSTABLE, text="the windows differ by 12 %: “noisy” neighbour?"),
            Notice(kind=NoticeKind.FEW_REQUESTS, text="use a longer window\t🙂"),
        ),
        commands=("perf_analyzer -m ensemble -b 2", "perf_analyzer -m plain"),
        started=1_700_000_000.125,
        duration_s=12.5,
        loading_s=1.25,
        resources=ResourceUse(
            seconds=11.25,
            server_cpu_s=9.5,
            client_cpu_s=1.125,
            memory_before=120.5,
            memory_after=121.0,
            other_cpu_s=0.25,
        ),
        machine=MACHINE,
    )


def rich_round() -> Measurement:
    """The same, measured in a round."""
    measured = rich_measurement()
    first, second = measured.models
    histograms = {"perf_latency": Histogram.of([0.3, 0.3, 12.5], clustering=2.5)}
    joint = JointHistogram.of([RequestTimes(12.5, 0.3, 1.5), RequestTimes(0.3, 0.3, None)])
    first = replace(first, seconds=10.003, histograms=histograms, joint=joint)
    return replace(measured, models=(first, replace(second, seconds=9.5)))


def rich_failure() -> Failure:
    """A failure in which no field is empty."""
    return Failure(
        reason=FailureReason.SERVER_DIED,
        message="tritonserver ended with signal 11 while “plain” was measured",
        log=("E0101 first line", 'second "line" with \\ and ü', ""),
        hint="look at the server's log",
        commands=("perf_analyzer -m plain",),
        started=1_700_000_100.5,
        duration_s=0.25,
        machine=MACHINE,
    )


def several(count: int) -> Sequence[Trial]:
    """Trials that differ by their concurrency: 1, 2, …"""
    return [trial(concurrency) for concurrency in range(1, count + 1)]


def record(directory: Path, *concurrencies: int, prefix: str = "", save: bool = True) -> None:
    """A run that measures trials with these concurrencies."""
    with ProfileState(directory, prefix=prefix) as state:
        for concurrency in concurrencies:
            state.record(trial(concurrency), measurement(concurrency))
        if save:
            state.save()


def store(directory: Path, records: Iterable[TrialRecord]) -> None:
    """A checkpoint of these."""
    with ProfileState(directory) as state:
        for each in records:
            state.record(each.trial, each.outcome)
        state.save()


def concurrencies(directory: Path) -> list[int]:
    """What a later run finds."""
    loaded = load(directory)
    assert loaded.damage == ()
    return [record.trial.workloads[0].load.value for record in loaded.profile.records]


def entries(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_bytes().splitlines()]


def files(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}
