# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Short ways to write what was observed of a model under several loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import (
    BatchStatistics,
    Measurement,
    ModelMeasurement,
    ModelStatistics,
    Notice,
    ResourceUse,
    Values,
)
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.traffic import Traffic
from model_analyzer.domain.trials import Failure, LoadKind, ServerSetup
from model_analyzer.results.explain.explain import Explanation, explain
from model_analyzer.results.explain.finding import FoundCause
from model_analyzer.results.explain.situation import Situation
from tests.unit.builders import goal, rank_one, record, variant

SECONDS = 10.0


def model(
    name: str = "m",
    count: int = 1,
    suffix: str = "config_default",
    kind: str = "KIND_CPU",
    **config: Any,
) -> Any:
    """A variant with so many instances."""
    return variant(
        f"{name}_{suffix}", model=name, instance_group=[{"count": count, "kind": kind}], **config
    )


def statistics(throughput: float, execution_ms: float, batch: int = 1) -> ModelStatistics:
    """The counts of a model in the time of a measurement."""
    executions = round(SECONDS * throughput / batch)
    return ModelStatistics(
        inferences=executions * batch,
        executions=executions,
        batches=(BatchStatistics(batch, executions, executions * execution_ms),),
    )


def observed(  # noqa: PLR0913 (each is an observation that a test may change)
    of: ModelVariant,
    load: int,
    throughput: float,
    execution_ms: float,
    *,
    queue: float = 0.0,
    outside: float = 0.2,
    copying: float = 0.0,
    batch: int = 1,
    cores: float | None = 0.1,
    client: float = 0.1,
    others: float | None = None,
    memory: tuple[float, float] = (100.0, 100.0),
    windows: Sequence[float] = (),
    latencies: Mapping[str, float] | None = None,
    histogram: Histogram | None = None,
    parts: Mapping[str, tuple[float, float, float | None]] | None = None,
    started: float | None = None,
    kind: LoadKind = LoadKind.CONCURRENCY,
    flags: Mapping[str, Any] | None = None,
    notices: Sequence[Notice] = (),
    gpu: float | None = None,
    traffic: Traffic | None = None,
    lag: float | None = None,
    batches: Mapping[int, tuple[int, float]] | None = None,
    requests: int | None = None,
) -> TrialRecord:
    """A measurement of a variant: its throughput, the time of an execution, and of a request in the
    queue and outside the model. `cores` are those that the server used, None if unknown. `parts`
    are the called models: calls for each request, time of an execution, time in the queue. `gpu` is
    the utilization of a GPU in percent; None if the server has no GPU. `lag` is the p99 of the
    client's; `batches` has the number and the time of executions by size.
    """
    average = queue + execution_ms + outside + copying
    own: Values = {
        "perf_server_queue": queue,
        "perf_server_compute_input": copying,
        "perf_server_compute_infer": execution_ms,
        "perf_server_compute_output": 0.0,
    }
    percentiles = {f"perf_latency_p{p}": average * (1 + p / 1000) for p in (50, 90, 95, 99)}
    if lag is not None:
        percentiles["perf_send_lag_p99"] = lag
    counts = {of.model: statistics(throughput, execution_ms, batch)}
    if batches is not None:
        sizes = [BatchStatistics(size, *batches[size]) for size in sorted(batches)]
        counts[of.model] = ModelStatistics(
            inferences=sum(each.size * each.count for each in sizes),
            executions=sum(each.count for each in sizes),
            batches=tuple(replace(each, ms=each.count * each.ms) for each in sizes),
        )
    composing: dict[str, Values] = {}
    for name, (calls, time, waiting) in (parts or {}).items():
        counts[name] = statistics(calls * throughput, time)
        if waiting is not None:  # else it is inside an inner ensemble
            composing[name] = {"perf_server_queue": waiting, "perf_server_compute_infer": time}
    measured = Measurement(
        models=(
            ModelMeasurement(
                values={
                    "perf_throughput": throughput,
                    "perf_latency_avg": average,
                    **percentiles,
                    **own,
                    **(latencies or {}),
                },
                requests=requests or max(round(SECONDS * throughput / batch), 1),
                windows=tuple(windows) or (throughput,) * 3,
                composing=composing,
                histograms={} if histogram is None else {"perf_latency": histogram},
            ),
        ),
        statistics=counts,
        resources=None
        if cores is None
        else ResourceUse(
            seconds=SECONDS,
            server_cpu_s=cores * SECONDS,
            client_cpu_s=client * SECONDS,
            memory_before=memory[0],
            memory_after=memory[1],
            other_cpu_s=None if others is None else others * SECONDS,
        ),
        gpus={} if gpu is None else {"GPU-1": {"gpu_utilization": gpu}},
        notices=tuple(notices),
        started=load * 20.0 if started is None else started,
        duration_s=SECONDS,
    )
    setup = None if gpu is None else ServerSetup(devices=("GPU-1",))
    return record(
        of, measured, concurrency=load, kind=kind, flags=flags or {}, setup=setup, traffic=traffic
    )


def explained(
    *records: TrialRecord, variant: str | None = None, cores: int | None = 4, name: str = "m"
) -> Explanation:
    """The explanation of these measurements."""
    ranking = rank_one(Profile(records=records), name, goal())
    return explain(ranking, variant, cores=cores)


def finding_of(cause: str, *records: TrialRecord, **options: Any) -> FoundCause:
    """The only finding, which is this cause."""
    (finding,) = explained(*records, **options).findings
    assert finding.cause.name == cause
    return finding


def names(*records: TrialRecord, **options: Any) -> list[str]:
    """The causes, the most important one first."""
    return [finding.cause.name for finding in explained(*records, **options).findings]


def repeated(measured: TrialRecord, number: int = 1) -> TrialRecord:
    """The outcome as this repetition of its trial."""
    return measured._replace(trial=replace(measured.trial, repetition=number))


def situation(measured: TrialRecord) -> Situation:
    """This load alone."""
    assert not isinstance(measured.outcome, Failure)
    return Situation(work=measured.trial.workloads[0], runs=(measured.outcome,))
