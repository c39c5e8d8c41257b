# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The zoo judges a run by what is true: its formulas, and the faults that it finds."""

from __future__ import annotations

from typing import Any

import pytest

from qa.zoo.judge import judge_capacity, judge_explanation, judge_run, judge_surfaces
from qa.zoo.truth import Truth, kinds, value_range

TRUTH = Truth(about="", throughput="served(0.02)", best="2 * 2 / 0.02")


def names(load: int, **changes: Any) -> dict[str, Any]:
    return {"load": load, "size": 1, "instances": 1, "limit": 1, "dynamic": False, **changes}


def measured(load: int, value: float, average_ms: float, **changes: Any) -> dict[str, Any]:
    percentiles = {f"perf_latency_p{n}": average_ms for n in (50, 90, 95, 99)}
    return {
        "loads": [{"model": "m", "kind": "concurrency", "value": load, "batch_size": 1}],
        "intervals": {"perf_throughput": {"low": value * 0.99, "high": value * 1.01}},
        "metrics": {"perf_throughput": value, "perf_latency_avg": average_ms, **percentiles},
        "models": [{"composing": {"a": {"perf_throughput": value}}}],
        "notices": [],
        "doubts": [],
        "instalments": 1,
        "requests": 1000,
        "duration_s": 1.0,
        **changes,
    }


def results(*measurements: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The results of a model with two instances and batches of two, measured at these loads."""
    model = {
        "model": "m",
        "instances": [{"count": 2, "kind": "CPU"}],
        "max_batch_size": 2,
        "dynamic_batching": True,
        "composing": [],
        "configuration": {"dynamic_batching": {"max_queue_delay_microseconds": "500"}},
    }
    best = max(measurements, key=lambda each: each["metrics"]["perf_throughput"])
    document = {
        "variants": [{"variant": "m_config_0", "models": [model], "measurements": measurements}],
        "recommended": {"variant": "m_config_0", "undecided": [], **best},
        "conclusion": None,
        "failures": [],
    }
    return {
        "metrics": {"perf_throughput": {"better": "higher"}},
        "models": [{**document, **changes}],
    }


RIGHT = (measured(1, 50, 20), measured(8, 200, 40))


@pytest.mark.parametrize(
    ("names", "low", "high"),
    [
        (names(1), 50, 50),
        (names(8), 50, 50),
        (names(8, instances=3), 150, 150),
        (names(4, size=2), 100, 100),
        # eight in flight fill two batches of two twice; four may take turns in pairs
        (names(8, instances=2, limit=2, dynamic=True), 200, 200),
        (names(4, instances=2, limit=2, dynamic=True), 100, 200),
        # a batch of four holds two requests of two inferences
        (names(4, size=2, limit=4, dynamic=True), 200, 200),
        (names(1, limit=4, dynamic=True), 50, 50),
    ],
)
def test_a_formula_gives_what_a_busy_server_answers(
    names: dict[str, Any], low: float, high: float
) -> None:
    assert value_range("served(0.02)", names) == pytest.approx((low, high))


def test_a_formula_may_limit_the_places_or_name_parts() -> None:
    assert value_range("served(0.02, places=1)", names(8, instances=4)) == (50, 50)
    assert value_range("(1, parts['a'] / 2)", {"parts": {"a": 4}}) == (1, 2)
    assert value_range(12.5, {}) == (12.5, 12.5)


def test_right_results_have_no_fault() -> None:
    assert list(judge_run(TRUTH, results(*RIGHT))) == []


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        # from a cache, for example
        (measured(8, 6773, 1.18), "perf_throughput 6773, true is 200"),
        (measured(8, 120, 66), "perf_throughput 120, true is 200"),
        (measured(8, 200, 20), "throughput x latency = 4 in flight, not 8"),
        (measured(8, 200, -1), "percentiles [-1, -1, -1, -1]"),
        (measured(8, 200, 40, duration_s=63.0), "took 63 s"),
    ],
)
def test_a_wrong_measurement_is_named(wrong: dict[str, Any], fault: str) -> None:
    faults = list(judge_run(Truth(about="", throughput="served(0.02)"), results(wrong)))

    assert f"m_config_0 at concurrency 8: {fault}" in faults


SENTENCE = "m_config_0 at concurrency 8 gives 1,200 \N{PLUS-MINUS SIGN} 60 infer/sec at p99 31 ms."
PAGE = """<h1>m</h1><p>m<wbr>_config<wbr>_0 at concurrency 8</p><script>9</script>
<p>1,200 &#177; 60 infer/sec</p> <p>p99 31 ms</p>"""


def judged(page: str = PAGE, told: str = SENTENCE, lines: str = "", **changes: Any) -> list[str]:
    recommended = {
        "variant": "m_config_0",
        "satisfies_constraints": True,
        "gain_over_default": {"percent": 90.0},
        **changes,
    }
    model = {
        "sentence": SENTENCE,
        "changes": lines,
        "default": "m_config_default",
        "recommended": recommended,
    }
    return list(judge_surfaces(model, [told], page))


def test_surfaces_that_tell_another_answer_are_named() -> None:
    assert judged() == []
    (other,) = judged(told="m_config_1 at concurrency 8 gives …")
    assert other.startswith("the progress ends with another answer")
    (old,) = judged(page=PAGE.replace("1,200", "1,190"))
    assert old.startswith("the page lacks '1,200")
    (without,) = judged(gain_over_default=None)
    assert without.startswith("no word about the default")
    (long,) = judged(lines=60 * "word ")
    assert long == "the answer has 73 words"


def test_an_interval_that_holds_the_true_value_is_no_fault() -> None:
    unsure = {"perf_throughput": {"low": 150, "high": 210}}

    assert list(judge_run(TRUTH, results(measured(8, 180, 44, intervals=unsure)))) == []


def test_a_busy_machine_explains_what_is_too_low_only() -> None:
    busy = [{"kind": "busy machine", "text": "…"}]

    assert list(judge_run(TRUTH, results(measured(8, 120, 66, notices=busy)))) == []
    assert list(judge_run(TRUTH, results(measured(8, 250, 32, notices=busy))))


def test_a_poor_recommendation_is_a_fault_unless_the_answer_is_unsure() -> None:
    poor = results(measured(1, 50, 20))
    fault = "recommends m_config_0 at concurrency 1, which has 50 infer/s; the best has 200"
    assert list(judge_run(TRUTH, poor)) == [fault]

    for said in ({"chance_percent": 74.0}, {"chance_percent": 3.0}):
        unsure = results(measured(1, 50, 20), conclusion=said)
        assert list(judge_run(TRUTH, unsure)) == ([] if said["chance_percent"] > 10 else [fault])
    assert list(judge_run(TRUTH, results(*RIGHT, recommended=None))) == ["recommends nothing"]


def test_failures_are_faults_unless_the_truth_expects_them() -> None:
    failure = {"variant": "m_config_3", "reason": "REQUEST_FAILED", "message": "out of memory"}
    failed = results(*RIGHT, failures=[failure])

    assert list(judge_run(TRUTH, failed)) == ["failed: m_config_3: REQUEST_FAILED: out of memory"]
    assert list(judge_run(Truth(about="", failures=["out of mem"]), failed)) == []


def test_doubts_are_faults_unless_the_truth_expects_them() -> None:
    doubt = {"law": "requests in flight", "text": "only 2 of 8 requests in flight"}
    doubted = results(measured(8, 200, 10, doubts=[doubt]))

    text = "requests in flight: only 2 of 8 requests in flight"
    assert list(judge_run(TRUTH, doubted)) == [f"doubt: {text}"]
    # and what is doubted is no fault of its own
    assert list(judge_run(Truth(about="", doubts=["in flight"]), doubted)) == []


def test_calls_of_composing_models_are_counted() -> None:
    once, twice = (Truth(about="", calls={"a": calls}) for calls in (1, 2))

    assert list(judge_run(once, results(*RIGHT))) == []
    assert list(judge_run(twice, results(RIGHT[0]))) == [
        "m_config_0 at concurrency 1: a is called 1 times for a request, not 2"
    ]


def explained(*causes: str, queue_ms: float = 5.0) -> dict[str, Any]:
    hardware = {
        "causes": [{"cause": cause} for cause in causes],
        "average_ms": {"queue": queue_ms, "compute": 15.0, "outputs": None},
        "metrics": {"perf_latency_avg": 20.0},
    }
    return {"hardware": [hardware]}


def test_the_first_cause_and_the_parts_of_a_request_are_judged() -> None:
    lock = Truth(about="", causes=["lock"])

    assert list(judge_explanation(lock, explained("noise", "lock", "tensors"))) == []
    assert list(judge_explanation(lock, explained("tensors"))) == [
        "first cause tensors, true is lock"
    ]
    assert list(judge_explanation(TRUTH, explained("lock"))) == ["first cause lock, true is none"]
    assert list(judge_explanation(TRUTH, explained(queue_ms=30.0))) == [
        "the parts of a request take 45 ms of 20"
    ]


def test_times_of_a_request_may_be_unknown() -> None:
    (hardware,) = explained()["hardware"]

    assert list(judge_explanation(TRUTH, {"hardware": [{**hardware, "average_ms": None}]})) == []


def test_replicas_are_judged() -> None:
    truth = Truth(about="", capacity={"rate": 60, "replicas": [2]})
    answers = ({"replicas": 2}, {"replicas": 5}, None)
    faults = [
        list(judge_capacity(truth, {"hardware": [{"answer": answer, "missing": []}]}))
        for answer in answers
    ]

    assert faults == [
        [],
        ["5 replicas, true are [2]"],
        ["no answer, and nothing is said to be missing"],
    ]


def test_there_are_forty_kinds_with_a_truth_and_ten_run_often() -> None:
    zoo = kinds()

    assert len(zoo) >= 40
    assert len([kind for kind in zoo if kind.truth.often]) == 10
    assert all(kind.truth.about for kind in zoo)


def test_a_kind_that_does_not_exist_is_named() -> None:
    with pytest.raises(SystemExit, match="no kind okapi: there are bare, "):
        kinds(["plain", "okapi"])
