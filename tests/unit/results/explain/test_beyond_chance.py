# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""No cause for what chance, the arrivals or the load explain; and a cause for what they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.arrivals import fewest_answers
from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import Measurement, Notice, NoticeKind
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Load, LoadKind, Workload
from model_analyzer.results.explain.finding import explained_wait
from model_analyzer.results.explain.outside import tensors_of
from tests.unit.builders import variant
from tests.unit.results.explain.observed import (
    explained,
    finding_of,
    model,
    names,
    observed,
    repeated,
)

ONE, EIGHT = model(), model(count=8)
POISSON = Traffic(arrivals=Arrivals.POISSON)
RATE = LoadKind.REQUEST_RATE
BUSY = [Notice(kind=NoticeKind.BUSY_MACHINE, text="other programs used 60 %")]


def arriving(of: ModelVariant, rate: int, execution_ms: float, **more: Any) -> TrialRecord:
    """A measurement under Poisson arrivals, by default answered in full."""
    return observed(of, rate, rate, execution_ms, kind=RATE, traffic=POISSON, **more)


# -- the client -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arrivals", "is_chance"), [(Arrivals.POISSON, True), (Arrivals.CONSTANT, False)]
)
def test_a_random_rate_gives_more_or_fewer_requests_by_chance(
    arrivals: Arrivals, *, is_chance: bool
) -> None:
    work = Workload(variant=ONE, load=Load(kind=RATE, value=40), traffic=Traffic(arrivals=arrivals))

    assert (fewest_answers(work, 200 / 35.5) <= 200) is is_chance


def short(rate: float, **more: Any) -> TrialRecord:
    """200 requests of a rate of 40/s."""
    return observed(EIGHT, 40, rate, 20, kind=RATE, traffic=POISSON, requests=200, **more)


def test_a_client_is_late_only_beyond_chance() -> None:
    assert names(short(35.5)) == []
    assert names(short(25)) == ["CLIENT"]


def test_a_client_that_sent_in_time_is_not_the_limit() -> None:
    assert names(short(25, lag=0.5)) == []
    assert names(short(25, lag=40.0)) == ["CLIENT"]


# -- models that call others ----------------------------------------------------------------------

CALLS = {"left": (1.0, 20.0, 0.1), "right": (1.0, 25.0, 0.1)}


def ensemble(*parts: ModelVariant) -> ModelVariant:
    return variant(
        "m_config_default", composing=list(parts),
        ensemble_scheduling={"step": [{"model_name": part.model} for part in parts]},
    )  # fmt: skip


def test_as_many_instances_as_requests_in_flight_are_busy_without_a_bottleneck() -> None:
    of = ensemble(model("a", count=4), model("b", count=4))
    parts = {"a": (1.0, 1.0, 0.05), "b": (1.0, 94.0, 0.111)}
    records = [observed(of, load, load / 0.0957, 95.2, parts=parts) for load in (1, 2, 4)]

    assert names(*records) == []


def test_busy_parts_do_not_hide_calls_one_after_the_other() -> None:
    of = variant(
        "m_config_default", composing=[model("left", count=2), model("right", count=2)],
        instance_group=[{"count": 4}],
    )  # fmt: skip
    records = [observed(of, load, load / 0.046, 45.5, parts=CALLS) for load in (1, 2, 4)]

    assert names(*records) == ["SERIAL_CALLS"]


def test_several_parts_with_queues_are_no_single_bottleneck() -> None:
    of = ensemble(model("a"), model("b"))
    first = observed(of, 1, 24, 40, parts={"a": (1, 20, 0), "b": (1, 20, 0)})
    records = [first, observed(of, 8, 48, 160, parts={"a": (1, 20, 60), "b": (1, 20, 60)})]

    finding = finding_of("TOO_FEW_INSTANCES", *records)
    assert finding.advice.startswith("give a and b more instances")


def test_a_caller_that_waits_for_a_starved_part_is_no_lock() -> None:
    of = variant("m_config_default", composing=[model("slow")], instance_group=[{"count": 8}])
    records = [
        observed(of, load, 49, 20.0 * load, parts={"slow": (1.0, 20.0, 20.0 * (load - 1))})
        for load in (1, 2, 4, 8)
    ]

    assert names(*records) == ["COMPOSING_MODEL"]


def test_a_lock_in_a_part_is_no_bottleneck_that_more_instances_would_help() -> None:
    of = ensemble(model("a", count=8), model("b", count=4))

    def under(load: int) -> TrialRecord:
        time = 20.0 * min(load, 4)
        waiting = 20.0 * max(load - 4, 0)
        parts = {"a": (1.0, 1.0, 0.0), "b": (1.0, time, waiting)}
        return observed(of, load, 49, time + waiting, parts=parts)

    finding = finding_of("LOCK", *map(under, (1, 2, 4, 8)))
    assert finding.evidence[0].startswith("an execution of b takes 20.0 ms")


# -- queues ---------------------------------------------------------------------------------------


def test_a_queue_that_these_arrivals_explain_is_usual_at_moderate_loads() -> None:
    # a deterministic service at 60 % waits 0.75 of its time
    assert names(arriving(ONE, 30, 20, queue=15.0)) == []
    assert names(arriving(ONE, 43, 20, queue=62.0)) == ["ARRIVALS"]


def test_the_explained_wait_is_that_of_queueing_theory() -> None:
    situation = explained(arriving(ONE, 30, 20, queue=15.0)).situation
    assert situation.top is not None

    wait = explained_wait(situation, situation.top)

    assert wait is not None
    assert wait.usual == pytest.approx(20 * 0.6 / (2 * (1 - 0.6)), rel=0.25)
    assert wait.longest > wait.usual


def test_requests_that_wait_longer_than_arrivals_explain_waited_for_something_else() -> None:
    four = model(count=4)
    slow = {"perf_latency_p50": 20.5, "perf_latency_p90": 90.0, "perf_latency_p99": 310.0}
    record = arriving(four, 60, 22, queue=42.0, latencies=slow)

    finding = finding_of("SLOW_REQUESTS", record)
    assert "stood still" in finding.evidence[2]


@pytest.mark.parametrize("count", [2, 4])
def test_requests_that_wait_for_a_resource_are_held_back(count: int) -> None:
    group = [{"count": count, "rate_limiter": {"resources": [{"name": "R", "count": 1}]}}]
    of = variant("m_config_default", instance_group=group)
    records = [observed(of, load, 49, 20, queue=20.0 * (load - 1)) for load in (1, 2, 4, 8)]

    finding = finding_of("HELD_BACK", *records)
    assert "rate_limiter" in finding.evidence[1]


@pytest.mark.parametrize(
    ("batching", "slots"),
    [({"oldest": {"max_candidate_sequences": 2}}, 2), ({"direct": {}}, 3), ({}, 3)],
)
def test_sequences_without_a_slot_are_held_back(batching, slots: int) -> None:
    """Of eight sequences, those without a slot wait for the end of another one."""
    of = model(max_batch_size=3, sequence_batching=batching)
    slow = {"perf_latency_p50": 107.0, "perf_latency_p90": 300.0, "perf_latency_p99": 485.0}
    sent = observed(of, 80, 78, 4.5, queue=133.0, latencies=slow, kind=LoadKind.REQUEST_RATE,
                    flags={"num-of-sequences": "8"})  # fmt: skip

    finding = finding_of("HELD_BACK", sent)
    assert f"8 sequences at once, and slots for {slots}" in finding.evidence[1]


def test_sequences_with_slots_are_not_held_back() -> None:
    of = model(max_batch_size=8, sequence_batching={"direct": {}})
    sent = observed(of, 80, 78, 4.5, queue=133.0, kind=LoadKind.REQUEST_RATE,
                    flags={"num-of-sequences": "8"})  # fmt: skip

    assert "HELD_BACK" not in names(sent)


def test_short_executions_leave_no_instance_free() -> None:
    """Between two executions of a millisecond, an instance is as good as busy."""
    records = [observed(model(count=4), load, 400 * min(load, 4), 1.0, queue=1.5 * (load > 4))
               for load in (1, 4, 16)]  # fmt: skip

    assert "HELD_BACK" not in names(*records)


def test_a_delay_is_judged_by_the_load_that_is_explained() -> None:
    of = model(count=2, max_batch_size=8, dynamic_batching={"max_queue_delay_microseconds": 30_000})
    records = [observed(of, 1, 19, 20, queue=30.0), observed(of, 16, 700, 20, queue=2.0, batch=8)]

    assert names(*records) == []


# -- time and load --------------------------------------------------------------------------------


def test_what_becomes_slower_with_time_is_no_lock() -> None:
    four = model(count=4)
    windows = {1: (80, 70, 62), 2: (110, 98, 90), 4: (158, 142, 128), 8: (118, 110, 102)}
    times = {1: 13.8, 2: 19.8, 4: 27.8, 8: 36.0}
    records = [
        observed(four, load, windows[load][1], times[load], windows=windows[load],
                 queue=36.0 * (load > 4))
        for load in windows
    ]  # fmt: skip

    assert names(*records)[0] == "SLOWING_DOWN"


def test_the_first_load_measured_again_tells_time_from_load() -> None:
    four = model(count=4)
    records = [observed(four, load, 49, 20.0 * min(load, 4)) for load in (1, 2, 4)]
    again = observed(four, 1, 49, 20.0, started=200)
    slow = observed(four, 1, 14, 70.0, started=200)

    assert names(*records, repeated(again)) == ["LOCK"]
    assert names(*records, repeated(slow)) == ["SLOWING_DOWN"]


def test_the_highest_load_measured_first_tells_time_from_load() -> None:
    four = model(count=4)
    records = [observed(four, load, 49, 20.0 * min(load, 4)) for load in (1, 2, 4)]
    fresh = observed(four, 4, 180, 21.0, started=200)
    later = observed(four, 1, 35, 28.0, started=300)

    assert names(*records, repeated(fresh), repeated(later)) == ["SLOWING_DOWN"]


def test_windows_that_fall_by_the_chance_of_slow_requests_show_nothing() -> None:
    slow = {"perf_latency_p50": 13.0, "perf_latency_p95": 14.0, "perf_latency_p99": 173.0}
    records = [
        observed(EIGHT, load, 58 * load, 16, windows=(61 * load, 57 * load, 55 * load),
                 latencies=slow)
        for load in (1, 2, 4)
    ]  # fmt: skip

    assert names(*records) == ["SLOW_REQUESTS"]


@pytest.mark.parametrize(("requests", "causes"), [(17, []), (170, ["SLOWING_DOWN"])])
def test_windows_of_few_requests_that_fall_show_nothing(requests, causes) -> None:
    of = model(model_transaction_policy={"decoupled": True})
    records = [
        observed(of, load, 16.7, 60 * load, windows=windows, requests=requests)
        for load, windows in ((2, (18.8, 17.5, 16.5)), (4, (18.5, 16.7, 14.8)))
    ]

    assert names(*records) == causes


# -- throughput that falls ------------------------------------------------------------------------


def test_batches_above_a_size_that_cost_more_than_they_gain() -> None:
    of = model(max_batch_size=16, dynamic_batching={})
    records = [
        observed(of, 4, 145, 27, batch=4, batches={1: (20, 20.0), 4: (360, 27.0)}),
        observed(of, 16, 36, 220, queue=220, batches={4: (5, 27.0), 8: (40, 230.0)}),
    ]

    finding = finding_of("LARGE_BATCHES", *records)
    assert "the throughput falls from 145 infer/s" in finding.evidence[1]
    assert finding.change is not None
    assert finding.change.parameters == {"max_batch_size": 4}


def test_a_throughput_that_falls_with_the_load_is_told() -> None:
    records = [observed(ONE, 1, 49, 20), observed(ONE, 8, 30, 33, queue=230)]

    assert "COLLAPSE" in names(*records)
    assert "COLLAPSE" not in names(records[0], observed(ONE, 8, 47, 21, queue=147))


# -- tensors --------------------------------------------------------------------------------------


def sizes(flags: Mapping[str, Any], *inputs: Mapping[str, Any]) -> tuple[int, bool]:
    work = Workload(variant=model(input=inputs), load=Load(value=1, batch_size=2), flags=flags)
    request, _, are_known = tensors_of(work)
    return request, are_known


def tensor(name: str, dims: Sequence[int], kind: str = "TYPE_FP32") -> Mapping[str, Any]:
    return {"name": name, "data_type": kind, "dims": dims}


def test_free_dimensions_are_those_of_the_flag() -> None:
    flags = {"shape": ("A:3,224", "B:10")}
    assert sizes(flags, tensor("A", [3, -1]), tensor("B", [5])) == (2 * 4 * (3 * 224 + 5), True)
    assert sizes({}, tensor("A", [3, -1]), tensor("B", [5])) == (40, False)
    assert sizes({}, tensor("TEXT", [1], "TYPE_STRING")) == (0, False)


def test_tensors_of_unknown_size_are_large_if_copying_them_takes_long() -> None:
    of = model(input=[tensor("A", [-1])], output=[tensor("B", [-1])])

    assert names(observed(of, 1, 60, 2, copying=4, outside=10)) == ["TENSORS"]
    assert names(observed(of, 1, 60, 2, copying=0.1, outside=10)) == []
    shaped = observed(of, 1, 60, 2, copying=0.1, outside=10, flags={"shape": "A:1000000"})
    assert names(shaped) == ["TENSORS"]


# -- noise ----------------------------------------------------------------------------------------


def test_noise_counts_by_what_it_may_explain() -> None:
    """Other programs make computing slower, and waiting hardly."""
    waiting = observed(EIGHT, 4, 190, 20, cores=0.1, others=1.0, notices=BUSY)
    computing = observed(EIGHT, 4, 190, 20, cores=2.0, others=1.0, notices=BUSY)

    assert names(waiting) == []
    finding = finding_of("NOISE", computing)
    # 10.5 ms of computing for a request, with a quarter of the cores taken
    assert finding.weight == pytest.approx(10.5 / 3 / 20.2, rel=0.1)


@pytest.mark.parametrize(
    ("cores", "explained_ms"),
    [(0.1, 1.2), (0.95, 9.5)],  # it waits, and the fastest take 11 ms; or it computes
)
def test_noise_explains_what_an_average_request_takes_longer(cores, explained_ms) -> None:
    latencies = Histogram.of([11.0] * 50 + [13.4] * 50)
    (finding,) = explained(
        observed(ONE, 1, 82, 12, cores=cores, others=3.2, notices=BUSY, histogram=latencies)
    ).findings

    assert finding.cause.name == "NOISE"
    assert finding.weight == pytest.approx(explained_ms / 12.2, rel=0.3)


def test_executions_that_noise_makes_slower_are_no_lock() -> None:
    four = model(count=4)
    first = observed(four, 1, 95, 10, cores=0.95)
    crowded = observed(four, 4, 100, 40, cores=1.9, others=2.0, notices=BUSY)

    assert names(first, crowded)[0] == "NOISE"


def test_instances_that_gain_nothing_because_others_have_the_cores_share_no_lock() -> None:
    more = model(count=2, suffix="config_0")
    alone = [observed(ONE, load, 49, 20, queue=20.0 * (load - 1), cores=0.95, others=3.0,
                      notices=BUSY) for load in (1, 4)]  # fmt: skip
    tested = observed(more, 4, 49, 40, queue=40, cores=0.97, others=3.0, notices=BUSY, started=200)

    assert "LOCK" not in names(*alone, tested, variant="m_config_default")


# -- tested advice --------------------------------------------------------------------------------


def test_what_was_measured_without_an_effect_is_ruled_out() -> None:
    parts = [model("a"), model("b", count=8)]
    of = ensemble(*parts)
    more = replace(ensemble(model("a", count=2, suffix="config_0"), parts[1]), name="m_config_0")
    waiting = {"a": (1.0, 20.0, 140.0), "b": (1.0, 1.0, 0.0)}
    records = [observed(of, 8, 49, 160, parts=waiting)]
    tested = observed(more, 8, 49, 160, parts=waiting, started=400)

    assert names(*records) == ["COMPOSING_MODEL"]
    explanation = explained(*records, tested, variant="m_config_default")
    assert explanation.findings == ()
    assert [each.finding.cause.name for each in explanation.ruled_out] == ["COMPOSING_MODEL"]


def test_a_first_look_is_no_sure_explanation() -> None:
    def looked(requests: int) -> bool:
        seen = arriving(ONE, 30, 20, queue=15.0, requests=requests)
        assert isinstance(seen.outcome, Measurement)
        (measured,) = seen.outcome.models
        outcome = replace(seen.outcome, models=(replace(measured, seconds=2.0),))
        return explained(seen._replace(outcome=outcome)).situation.is_first_look

    assert looked(60)
    assert not looked(400)


# -- parts of a request ---------------------------------------------------------------------------


def step(name: str, source: str, target: str) -> Mapping[str, Any]:
    return {"model_name": name, "input_map": {"IN": source}, "output_map": {"OUT": target}}


def test_steps_at_the_same_time_do_not_add_up() -> None:
    parts = [model(name, count=4) for name in ("first", "left", "right")]
    steps = [step("first", "IN", "x"), step("left", "x", "y"), step("right", "x", "OUT")]
    of = variant("m_config_default", composing=parts, ensemble_scheduling={"step": steps})
    times = {"first": (1.0, 4.0, 0.1), "left": (1.0, 28.0, 0.2), "right": (1.0, 30.0, 0.3)}
    record = observed(of, 1, 28, 34.2, outside=0.5, parts=times)

    found = explained(record).situation.times

    assert (found.queue, found.compute) == pytest.approx((0.4, 34.0))
    assert found.total == pytest.approx(34.7)


def test_times_of_a_decoupled_model_are_not_known() -> None:
    of = model(model_transaction_policy={"decoupled": True}, input=[tensor("A", [1000, 1000])])
    explanation = explained(observed(of, 1, 9, 0.7, outside=108.3))

    assert not explanation.situation.times.are_known
    assert explanation.situation.times.total == pytest.approx(109)
    assert explanation.findings == ()


@pytest.mark.parametrize("uncached", [True, False])
def test_times_of_a_cached_model_are_known_if_it_was_measured_without_its_cache(
    uncached: bool,
) -> None:
    record = observed(model(response_cache={"enable": True}), 1, 48, 20.0)
    trial = replace(record.trial, setup=replace(record.trial.setup, uncached=uncached))

    times = explained(TrialRecord(trial=trial, outcome=record.outcome)).situation.times

    assert times.are_known is uncached
    assert times.compute == pytest.approx(20.0 if uncached else 0.0)


@pytest.mark.parametrize("uncached", [True, False])
def test_times_of_steps_are_not_those_of_an_ensemble_whose_cache_answers(uncached: bool) -> None:
    of = ensemble(model("a"))
    of = replace(of, config={**of.config, "response_cache": {"enable": True}})
    record = observed(of, 1, 48, 20.0, parts={"a": (1.0, 19.9, 0.1)})
    trial = replace(record.trial, setup=replace(record.trial.setup, uncached=uncached))

    times = explained(TrialRecord(trial=trial, outcome=record.outcome)).situation.times

    assert times.are_known is uncached


def test_parts_that_are_equally_busy_limit_together_wherever_the_queue_is() -> None:
    of = ensemble(model("a"), model("b"), model("c", count=8))
    parts = {"a": (1.0, 20.0, 116.0), "b": (1.0, 20.0, 2.7), "c": (1.0, 4.0, 0.1)}

    finding_of("TOO_FEW_INSTANCES", observed(of, 8, 49, 163, parts=parts))
