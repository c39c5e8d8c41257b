# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Each cause from measurements as such a model gives them, and none for healthy models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import pytest

from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import Measurement, Notice, NoticeKind
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.trials import LoadKind
from model_analyzer.results.explain.explain import explain
from model_analyzer.results.explain.situation import Situation
from model_analyzer.results.time_parts import TimePart
from tests.unit.builders import at_most, failure, goal, rank_one, record, variant
from tests.unit.results.explain.observed import (
    explained,
    finding_of,
    model,
    names,
    observed,
    repeated,
)

ONE = model()
EIGHT = model(count=8)
TENSOR = [{"name": "IN", "data_type": "TYPE_FP32", "dims": [1024, 1024]}]


def sleeping(count: int, loads: Sequence[int] = (1, 2, 4, 8)) -> list[TrialRecord]:
    """A model that waits 20 ms in each execution, and needs no core."""
    of = model(count=count)
    records = []
    for load in loads:
        running = min(load, count)
        queue = 20.0 * (load - running) / running
        records.append(observed(of, load, 49.5 * running, 20.0, queue=queue))
    return records


def test_enough_instances_are_nothing_unusual() -> None:
    assert names(*sleeping(8)) == []


def test_a_single_instance_of_a_model_that_waits_is_too_few() -> None:
    finding = finding_of("TOO_FEW_INSTANCES", *sleeping(1))
    assert "at concurrency 8, 1 instance worked 99 % of the time" in finding.evidence[0]
    assert finding.change is not None
    assert finding.change.parameters["instance_group"] == [{"count": 2, "kind": "KIND_CPU"}]


def test_a_model_that_computes_on_one_core_needs_an_instance_for_each() -> None:
    records = [observed(ONE, load, 99, 10, queue=10.0 * (load - 1), cores=1.0) for load in (1, 4)]

    finding = finding_of("SINGLE_CORE", *records)
    assert "an instance for each core (4)" in finding.advice


def test_a_model_that_waits_does_not_compute_whatever_other_programs_do() -> None:
    records = [
        observed(ONE, load, 120, 8, queue=8.0 * (load - 1), cores=0.13, others=3.5)
        for load in (1, 4)
    ]

    causes = names(*records)
    assert "TOO_FEW_INSTANCES" in causes
    assert "SINGLE_CORE" not in causes


def test_a_full_machine_is_no_fault_of_the_instances() -> None:
    of = model(count=4)
    records = [
        observed(of, 4, 390, 10, cores=3.9, client=0.05),
        observed(of, 16, 390, 10, queue=30, cores=3.9, client=0.05),
    ]

    assert names(*records) == ["MACHINE_FULL"]


def on_gpu(count: int, *, utilization: float) -> list[TrialRecord]:
    """A model that executes 1000 requests a second on a GPU, however many instances share it."""
    of = model(count=count, kind="KIND_GPU")
    return [
        observed(
            of, load, 1000, min(load, count), queue=max(load - count, 0), gpu=utilization, cores=0.5
        )
        for load in (1, 4, 32)
    ]


def test_a_gpu_without_a_free_moment_needs_no_more_instances() -> None:
    finding = finding_of("GPU_FULL", *on_gpu(1, utilization=99.0))
    assert "the GPU was busy 99 % of the time" in finding.evidence
    assert finding.change is None, "there is no other configuration to test"


@pytest.mark.parametrize("utilization", [60.0, None])
def test_instances_are_too_few_if_the_gpu_has_free_moments_or_nobody_knows(utilization) -> None:
    assert names(*on_gpu(1, utilization=utilization)) == ["TOO_FEW_INSTANCES"]


def test_a_busy_gpu_says_nothing_about_a_model_on_cpus() -> None:
    records = [
        observed(ONE, load, 49, 20, queue=20.0 * (load - 1), gpu=99.0, cores=0.1) for load in (1, 8)
    ]

    assert names(*records) == ["TOO_FEW_INSTANCES"]


def test_instances_that_share_a_busy_gpu_are_too_many_and_no_lock() -> None:
    finding = finding_of("TOO_MANY_INSTANCES", *on_gpu(4, utilization=100.0))
    assert "the GPU was busy 100 % of the time" in finding.evidence
    assert finding.advice.startswith("use fewer instances: 1 instead of 4")


def test_more_instances_that_share_a_busy_gpu_show_no_lock() -> None:
    more = model(count=4, suffix="config_0", kind="KIND_GPU")
    shared = observed(more, 4, 1000, 4, gpu=100.0, started=400)

    assert names(*on_gpu(1, utilization=90.0)[:2], shared, variant="m_config_default") == []


def test_executions_that_take_longer_together_share_a_lock() -> None:
    of = model(count=4)
    records = [observed(of, load, 49, 20.0 * load) for load in (1, 2, 4)]
    records.append(observed(of, 8, 49, 80, queue=80))

    finding = finding_of("LOCK", *records)
    assert "20.0 ms at concurrency 1, and 80.0 ms at concurrency 8" in finding.evidence[0]


def test_instances_that_share_two_places_are_too_many() -> None:
    of = model(count=8)
    records = [
        observed(of, load, 49 * min(load, 2), 20 * max(load / 2, 1)) for load in (1, 2, 4, 8)
    ]

    finding = finding_of("TOO_MANY_INSTANCES", *records)
    assert finding.advice.startswith("use fewer instances: 2 instead of 8")


def test_instances_that_compete_for_cores_are_too_many() -> None:
    of = model(count=8)
    records = [observed(of, 1, 95, 10, cores=1), observed(of, 8, 195, 40, cores=1.9)]

    finding = finding_of("TOO_MANY_INSTANCES", *records, cores=2)
    assert "95 % of 2 cores" in finding.evidence[1].replace("100 %", "95 %")


def test_what_was_measured_with_more_instances_tells_a_lock_from_too_few() -> None:
    more = model(count=4, suffix="config_0")
    alone = [observed(ONE, load, 49, 20, queue=20.0 * (load - 1)) for load in (1, 4)]
    no_gain = observed(more, 4, 49.5, 80, started=200)
    gain = observed(more, 4, 190, 20, started=200)

    assert names(*alone, no_gain, variant="m_config_default") == ["LOCK"]
    assert names(*alone, gain, variant="m_config_default") == ["TOO_FEW_INSTANCES"]


def test_the_right_number_of_instances_is_no_lock() -> None:
    """A third instance makes each execution slower, but the second one was worth it."""
    best, more = model(count=2, suffix="config_1"), model(count=3, suffix="config_2")
    records = [
        observed(ONE, 4, 70, 14, queue=43),
        observed(best, 4, 140, 14, queue=14, started=200),
        observed(more, 4, 110, 27, queue=9, started=400),
    ]

    assert names(*records) == []


def test_fewer_instances_that_were_better_are_told() -> None:
    fewer = model(count=2, suffix="config_0")
    records = [observed(EIGHT, 8, 95, 80), observed(fewer, 8, 150, 13, queue=40, started=400)]

    finding = finding_of("TOO_MANY_INSTANCES", *records, variant="m_config_default")
    assert "m_config_0 with 6 instances fewer has 150 infer/s" in finding.evidence[0]


def test_a_configuration_that_is_worse_by_the_goal_is_no_advice() -> None:
    """It has more throughput, but misses the limit of the p99."""
    fewer = model(count=2, suffix="config_0")
    records = [observed(EIGHT, 8, 95, 80), observed(fewer, 8, 150, 13, queue=100, started=400)]
    profile = Profile(records=tuple(records))

    free, limited = (
        explain(rank_one(profile, "m", goal(*limits)), "m_config_default")
        for limits in ((), at_most(perf_latency_p99=100))
    )

    assert "use the configuration of m_config_0" in [each.advice for each in free.findings]
    assert not any("m_config_0" in each.advice for each in limited.findings)


def test_a_tested_advice_is_not_dropped_because_it_ranks_lower_by_chance() -> None:
    """At a constant rate, 59.9 is not less than 60.0/s; but its p99 is a third."""
    slow = model(max_batch_size=16, dynamic_batching={"max_queue_delay_microseconds": 60_000})
    at_once = model(
        suffix="config_0", max_batch_size=16, dynamic_batching={"max_queue_delay_microseconds": 0}
    )
    at_60 = partial(observed, load=60, kind=LoadKind.REQUEST_RATE)
    records = [
        at_60(slow, throughput=60.0, execution_ms=6, queue=33),
        at_60(at_once, throughput=59.9, execution_ms=6, queue=0.1, started=400),
    ]

    assert "QUEUE_DELAY" in names(*records, variant="m_config_default")


def test_one_instance_fewer_is_told_as_one() -> None:
    own, fewer = model(count=2), model(count=1, suffix="config_0")
    records = [observed(own, 8, 95, 80), observed(fewer, 8, 150, 13, queue=40, started=400)]

    (finding,) = explained(*records, variant="m_config_default").findings
    assert "m_config_0 with 1 instance fewer has 150 infer/s" in finding.evidence[0]


def test_a_delay_for_batches_that_never_fill_is_too_long() -> None:
    of = model(max_batch_size=16, dynamic_batching={"max_queue_delay_microseconds": 100_000})
    records = [observed(of, 1, 9.5, 5, queue=100), observed(of, 4, 38, 6, queue=98, batch=4)]

    finding = finding_of("QUEUE_DELAY", *records)
    assert "max_queue_delay_microseconds is 100000" in finding.evidence[1]


@pytest.mark.parametrize(
    "policy", [{"priority_levels": 2}, {"default_queue_policy": {"max_queue_size": 4}}]
)
def test_a_queue_with_a_policy_lets_requests_wait_although_the_instance_is_free(policy) -> None:
    late = model(max_batch_size=4, dynamic_batching=policy)
    plain = model(max_batch_size=4, dynamic_batching={})

    finding = finding_of("QUEUE_POLICY", observed(late, 1, 18, 20, queue=35))
    assert next(iter(policy)) in finding.evidence[1]
    assert next(iter(policy)) in finding.advice
    assert "QUEUE_POLICY" not in names(observed(plain, 1, 18, 20, queue=35))
    assert "QUEUE_POLICY" not in names(observed(late, 1, 49, 20))
    assert "QUEUE_POLICY" not in names(observed(late, 8, 49, 20, queue=140)), "they wait in turn"


def test_a_model_that_could_batch_but_does_not() -> None:
    of = model(max_batch_size=8)
    records = [observed(of, load, 49, 20, queue=20.0 * (load - 1)) for load in (1, 8)]

    finding, other = explained(*records).findings
    assert finding.cause.name == "BATCHES"
    assert finding.change is not None
    assert finding.change.parameters == {"dynamic_batching": {}}
    assert other.cause.name == "TOO_FEW_INSTANCES", "it helps if batches gain nothing"


def test_a_model_that_computes_and_does_not_batch_needs_an_instance_for_each_core() -> None:
    of = model(max_batch_size=8)
    records = [observed(of, load, 49, 20, queue=20.0 * (load - 1), cores=0.95) for load in (1, 8)]

    assert names(*records) == ["BATCHES", "SINGLE_CORE"]


def test_requests_that_come_at_random_wait_for_each_other() -> None:
    users = {"request-distribution": "poisson", "async": "true"}
    record = observed(ONE, 35, 35, 20, queue=25, kind=LoadKind.REQUEST_RATE, flags=users)

    assert names(record) == ["ARRIVALS"]


def test_a_client_with_too_few_threads_is_the_limit() -> None:
    flags = {"max-threads": "2", "sync": "true"}
    records = [
        observed(EIGHT, rate, min(rate, 95), 20, kind=LoadKind.REQUEST_RATE, flags=flags)
        for rate in (50, 200)
    ]

    finding = finding_of("CLIENT", *records)
    assert "of 200 requests/s, 95.0 were answered" in finding.evidence[0]


def test_a_client_that_sends_without_waiting_needs_a_faster_machine() -> None:
    late = observed(EIGHT, 200, 95, 20, kind=LoadKind.REQUEST_RATE, flags={"max-threads": "2"})
    assert isinstance(late.outcome, Measurement)
    (measured,) = late.outcome.models
    one_round = late._replace(
        outcome=replace(late.outcome, models=(replace(measured, seconds=1.0),))
    )

    finding = finding_of("CLIENT", one_round)
    assert len(finding.evidence) == 1
    assert "machine" in finding.advice
    assert finding.change is None


def test_a_client_that_takes_the_cores_is_the_limit() -> None:
    records = [
        observed(ONE, 1, 1500, 0.1, outside=0.5, cores=0.5, client=0.4),
        observed(ONE, 8, 3000, 0.2, outside=2.3, cores=0.9, client=1.0),
    ]

    assert names(*records, cores=2) == ["CLIENT"]


@pytest.mark.parametrize(("version", "needs"), [("2.51.0", False), ("2.68.0", True), ("", True)])
def test_large_tensors_take_the_time(version: str, needs: bool) -> None:
    of = model(input=TENSOR, output=TENSOR)
    records = [
        each._replace(trial=replace(each.trial, setup=replace(each.trial.setup, version=version)))
        for each in (
            observed(of, 1, 60, 2, copying=4, outside=10),
            observed(of, 4, 70, 4, outside=50),
        )
    ]

    finding = finding_of("TENSORS", *records)
    assert finding.evidence[0] == "a request has 4.2 MB, a response 4.2 MB"
    assert ("--allow-client-shm=true" in finding.advice) is needs


def test_the_busiest_part_of_an_ensemble_limits_it() -> None:
    parts = [model("fast", count=4), model("slow")]
    of = variant(
        "m_config_default", composing=parts,
        ensemble_scheduling={"step": [{"model_name": "fast"}, {"model_name": "slow"}]},
    )  # fmt: skip
    records = [
        observed(of, load, 33, 35, parts={"fast": (1, 5, 0), "slow": (1, 30, 30.0 * (load - 1))})
        for load in (1, 8)
    ]

    finding = finding_of("COMPOSING_MODEL", *records)
    assert "1 instance of slow worked 99 % of the time, those of fast 4 %" in finding.evidence[0]
    assert finding.change is not None
    assert finding.change.model == "slow"


def test_a_part_inside_an_inner_ensemble_limits_it_although_its_queue_is_unknown() -> None:
    def chain(*models: str) -> list[Mapping[str, object]]:
        ends = [str(number) for number in range(len(models) + 1)]
        maps = zip(models, ends, ends[1:], strict=False)
        return [
            {"model_name": name, "input_map": {"X": start}, "output_map": {"Y": end}}
            for name, start, end in maps
        ]

    inner = variant(
        "inner_config_default", model="inner", composing=[model("fast"), model("slow")],
        ensemble_scheduling={"step": chain("fast", "slow")},
    )  # fmt: skip
    of = variant(
        "m_config_default",
        composing=[inner, model("fast")],
        ensemble_scheduling={"step": chain("inner", "fast")},
    )
    parts = {"fast": (2, 5, 1), "slow": (1, 30, None)}
    explanation = explained(observed(of, 4, 33, 40, outside=80, parts=parts))

    (finding,) = explanation.findings
    assert finding.cause.name == "COMPOSING_MODEL"
    assert finding.evidence == (
        "at concurrency 4, 1 instance of slow worked 99 % of the time, those of fast 33 %",
        "a request waits up to 78.0 ms for slow, of 120 ms",
    )
    assert TimePart.OUTSIDE not in explanation.situation.times.parts


def test_steps_at_the_same_time_are_not_added_up() -> None:
    steps = [
        {"model_name": "left", "input_map": {"X": "X"}, "output_map": {"Y": "L"}},
        {"model_name": "right", "input_map": {"X": "X"}, "output_map": {"Y": "R"}},
        {"model_name": "last", "input_map": {"L": "L", "R": "R"}, "output_map": {"Y": "Y"}},
    ]
    parts = [model("left", count=8), model("right", count=8), model("last", count=8)]
    of = variant("m_config_default", composing=parts, ensemble_scheduling={"step": steps})
    calls = {"left": (1.0, 30.0, 0.5), "right": (1.0, 20.0, 0.2), "last": (1.0, 3.0, 0.1)}
    record = observed(of, 1, 28, 34.7, parts=calls)
    assert isinstance(record.outcome, Measurement)
    times = Situation(work=record.trial.workloads[0], runs=(record.outcome,)).times

    assert times.queue == pytest.approx(0.6)
    assert times.compute == pytest.approx(33.0)
    assert times.total == pytest.approx(record.outcome.value("perf_latency_avg"))


def test_parts_are_never_longer_than_the_request() -> None:
    record = observed(ONE, 1, 28, 34.7)
    assert isinstance(record.outcome, Measurement)
    (measured,) = record.outcome.models
    values = {**measured.values, "perf_latency_avg": 30.0}
    outcome = replace(record.outcome, models=(replace(measured, values=values),))
    times = Situation(work=record.trial.workloads[0], runs=(outcome,)).times

    assert times.total == pytest.approx(30.0)
    assert times.outside == 0.0


def test_calls_one_after_the_other_are_told_from_calls_at_once() -> None:
    parts = [model("left", count=8), model("right", count=8)]
    of = variant("m_config_default", composing=parts, instance_group=[{"count": 8}])
    calls = {"left": (1.0, 20.0, 0.2), "right": (1.0, 20.0, 0.2)}
    serial = [observed(of, load, 24 * load, 41, parts=calls) for load in (1, 8)]
    at_once = [observed(of, load, 45 * load, 21, parts=calls) for load in (1, 8)]

    assert names(*serial) == ["SERIAL_CALLS"]
    assert names(*at_once) == []


def test_slow_first_seconds_are_a_cold_start_and_nothing_else() -> None:
    records = [
        observed(EIGHT, 1, 9, 100),
        observed(EIGHT, 2, 40, 50, windows=(20, 20, 90)),
        observed(EIGHT, 4, 380, 10),
        observed(EIGHT, 8, 760, 10),
    ]

    finding = finding_of("COLD_START", *records)
    assert "took 100 ms in the first 20 s after loading, later 10.0 ms" in finding.evidence[0]


def growing(*steps: float) -> list[TrialRecord]:
    """A model whose server takes so many MB in each measurement, under doubled loads."""
    records, memory = [], 100.0
    for place, step in enumerate(steps):
        load = 2**place
        taken = (memory, memory + step)
        records.append(observed(EIGHT, load, 90 * load, 10, memory=taken))
        memory += step
    return records


def test_memory_that_grows_with_the_inferences_is_told() -> None:
    finding = finding_of("MEMORY_GROWTH", *growing(9, 18, 36, 72))
    assert "from 109 to 235 MB over 12600 inferences" in finding.evidence[0]
    assert "10.0 kB for an inference" in finding.evidence[0]


def test_memory_that_former_models_return_does_not_hide_a_growth() -> None:
    assert names(*growing(-250, -27, 64, 128)) == ["MEMORY_GROWTH"]


@pytest.mark.parametrize(
    "steps",
    [(9, 18), (9, 18, 18), (40, 0, 0.5, 0), (40, 30, 30, 30), (5, 6, 12, 0.2)],
    ids=["one measurement", "uneven", "only at first", "once for each load", "not in each"],
)
def test_memory_that_is_taken_once_is_no_growth(steps: tuple[float, ...]) -> None:
    assert names(*growing(*steps)) == []


def test_a_throughput_that_falls_under_each_load_is_told() -> None:
    windows = (100, 95, 80, 70, 60, 50)
    records = [observed(EIGHT, load, 75, 10, windows=windows) for load in (1, 2)]

    assert names(*records) == ["SLOWING_DOWN"]


def test_few_slow_requests_in_the_model_are_told_from_the_machine() -> None:
    slow = {"perf_latency_p50": 10.2, "perf_latency_p95": 10.9, "perf_latency_p99": 210.0}
    inside = [observed(EIGHT, load, 60 * load, 16, latencies=slow) for load in (1, 8)]
    outside = [observed(EIGHT, load, 60 * load, 10, outside=6.2, latencies=slow) for load in (1, 8)]

    assert names(*inside) == ["SLOW_REQUESTS"]
    assert names(*outside) == []


def test_the_share_of_slow_requests_is_that_beyond_a_latency_and_not_that_of_the_p99() -> None:
    latencies = {"perf_latency_p50": 10.2, "perf_latency_p95": 10.9, "perf_latency_p99": 210.0}
    histogram = Histogram.of([10.2] * 60 + [210.0] * 40)
    records = [
        observed(EIGHT, 1, 60, 16, latencies=latencies, histogram=each)
        for each in (None, histogram)
    ]
    of_percentiles, of_histogram = (explained(each).findings[0].evidence[1] for each in records)
    assert of_percentiles == (
        "1 to 5 % of the requests take more than 110 ms, and their time is in the model: 16.0 ms of"
        " executing on average, and 0 ms in the queue"
    )
    assert of_histogram.startswith("about 40 % of the requests take more than 110 ms")


def test_a_busy_machine_is_a_cause_of_its_own() -> None:
    notice = Notice(kind=NoticeKind.BUSY_MACHINE, text="other programs used 60 %")

    assert names(observed(EIGHT, 1, 49, 20, notices=[notice])) == ["NOISE"]


@pytest.mark.parametrize(
    ("busy", "evidence"), [(3, ["other programs were busy during 3 of 4 measurements"]), (2, [])]
)
def test_each_measurement_of_a_busy_machine_counts(busy: int, evidence: Sequence[str]) -> None:
    """Repetitions and rounds of one trial are several measurements."""
    notice = Notice(kind=NoticeKind.BUSY_MACHINE, text="other programs used 60 %")
    records = [
        repeated(observed(EIGHT, 1, 49, 20, notices=[notice] * (number < busy)), number)
        for number in range(4)
    ]

    findings = explained(*records).findings
    assert [text for finding in findings for text in finding.evidence] == evidence


def test_failures_of_the_variant_are_told_under_any_name_and_load() -> None:
    twin, other = model(count=8, suffix="config_7"), model(count=2, suffix="config_1")
    died = failure("the model died")
    records = [
        observed(EIGHT, 1, 49, 20),
        repeated(record(EIGHT, died, concurrency=1), 1),
        record(twin, died, concurrency=8),
        record(other, died, concurrency=8),
    ]

    failed = explained(*records).failed
    assert [(each.trial.variants, each.trial.repetition) for each in failed] == [
        (EIGHT.name, 1),
        (twin.name, 0),
    ]


def test_what_was_not_measured_is_told() -> None:
    explanation = explained(observed(EIGHT, 1, 49, 20, cores=None))

    assert explanation.findings == ()
    assert explanation.lacks == (
        "CPU time and memory of the server (locks, single cores, memory growth)",
        "other loads (contention, limits of throughput)",
    )


def test_only_measured_variants_are_explained() -> None:
    with pytest.raises(ValueError, match="variant 'x' was not measured; measured: m_config_def"):
        explained(*sleeping(1), variant="x")
