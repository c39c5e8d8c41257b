# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Laws of the server, of counts and of tokens, of times and of loads; no real measurement in the
repository breaks one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.measurements import Measurement, ModelStatistics, RequestCounts
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Failure, FailureReason, LoadKind, ServerSetup, Trial
from model_analyzer.noise.laws import ANSWERED, DUE, IMPOSSIBLE, RESPONSES, SENT, TOKENS, judged
from model_analyzer.noise.pooling import pooled_trials
from model_analyzer.state.checkpoint import read_file
from tests.unit.builders import known, measurement, one_round, trial, variant
from tests.unit.noise.laws.cases import doubt_of, executed, with_evidence


def server_times(infer: float, latency: float = 10.0) -> Measurement:
    return measurement(
        8000 / latency,
        perf_latency_avg=latency,
        perf_server_queue=1.0,
        perf_server_compute_infer=infer,
        requests=10_000,
    )


def test_the_parts_of_a_request_are_no_longer_than_the_request() -> None:
    assert doubt_of(trial(concurrency=8), server_times(9.0)) is None
    doubt = known(doubt_of(trial(concurrency=8), server_times(14.0)))
    assert (
        "queue and execution in the server take 15.0 ms, more than the whole request, 10.0 ms"
        in doubt.text
    )


@pytest.mark.parametrize(
    "config",
    [
        {"model_transaction_policy": {"decoupled": True}},
        {"response_cache": {"enable": True}},
        {"ensemble_scheduling": {"step": [{"model_name": "a"}, {"model_name": "b"}]}},
    ],
)
def test_parts_that_do_not_add_up_are_not_compared(config: dict[str, Any]) -> None:
    assert doubt_of(trial(variant(**config), concurrency=8), server_times(14.0)) is None


PYTHON: dict[str, Any] = {"backend": "python", "instance_group": [{"count": 2, "kind": "KIND_CPU"}]}


def busy(throughput: float, *, batch: int = 1) -> Measurement:
    """Executions of 20 ms."""
    return replace(
        measurement(throughput, requests=1000), statistics={"m": executed(1000, 20.0, batch=batch)}
    )


@pytest.mark.parametrize(("throughput", "batch"), [(100, 1), (104, 1), (400, 4)])
def test_instances_execute_what_is_answered(throughput: float, batch: int) -> None:
    assert doubt_of(trial(variant(**PYTHON)), busy(throughput, batch=batch)) is None


def test_more_answers_than_executions_are_doubtful_or_a_failure() -> None:
    doubt = known(doubt_of(trial(variant(**PYTHON)), busy(140)))
    assert doubt.text == (
        "m_config_0 at concurrency 1: 140 infer/sec would keep 2.80 instances of m busy,"
        " whose executions take 20.0 ms, but it has 2"
    )
    assert isinstance(judged(trial(variant(**PYTHON)), busy(300)), Failure)


@pytest.mark.parametrize(
    "config",
    [
        {**PYTHON, "backend": "vllm"},
        {**PYTHON, "backend": "tensorrtllm"},
        {**PYTHON, "instance_group": [{"count": 1, "kind": "KIND_MODEL"}]},
        {**PYTHON, "instance_group": [{"count": 1, "kind": "KIND_GPU"}]},  # of a remote server
        {**PYTHON, "model_transaction_policy": {"decoupled": True}},
        {**PYTHON, "sequence_batching": {"direct": {}}},
    ],
)
def test_unknown_instances_tell_nothing(config: dict[str, Any]) -> None:
    assert doubt_of(trial(variant(**config)), busy(300)) is None


@pytest.mark.parametrize("batch", [1, 4])
def test_what_the_cache_of_an_ensemble_answers_keeps_no_part_busy(batch: int) -> None:
    part = variant("part_config_0", model="part", **{**PYTHON, "max_batch_size": 8})
    steps: dict[str, Any] = {"ensemble_scheduling": {"step": [{"model_name": "part"}]}}
    ensemble = variant(composing=[part], response_cache={"enable": True}, max_batch_size=8, **steps)
    requests = RequestCounts(answered=1000, hits=990, misses=10)
    top = replace(executed(10 * batch, 40.0, batch=batch), requests=requests)
    made = replace(
        measurement(9000, requests=1000),
        statistics={"m": top, "part": executed(10 * batch, 20.0, batch=batch)},
    )
    load = trial(ensemble, batch_size=batch)

    assert doubt_of(load, made) is None
    # each request in a hundred takes 20 ms
    busier = replace(made, models=(replace(made.models[0], values={"perf_throughput": 90_000.0}),))
    assert "instances of part busy" in str(doubt_of(load, busier))


def test_a_group_has_its_instances_on_each_gpu() -> None:
    config: dict[str, Any] = {
        **PYTHON,
        "instance_group": [{"count": 1, "kind": "KIND_GPU"}, {"kind": "KIND_CPU"}],
    }
    setup = ServerSetup(devices=("A", "A"))
    assert doubt_of(trial(variant(**config), setup=setup), busy(150)) is None
    assert doubt_of(trial(variant(**config), setup=setup), busy(210)) is not None


@pytest.mark.parametrize(
    ("policy", "is_doubtful"),
    [
        ({"latest": {"num_versions": 2}}, False),
        ({"specific": {"versions": [1, 3]}}, False),
        ({"specific": {"versions": [3]}}, True),
        ({"all": {}}, False),
    ],
)
def test_each_version_has_its_instances(policy: dict[str, Any], is_doubtful: bool) -> None:
    of = variant(**PYTHON, version_policy=policy)
    assert (doubt_of(trial(of), busy(200)) is not None) == is_doubtful


def test_the_models_of_an_ensemble_are_judged() -> None:
    part = variant("part_config_0", model="part", **PYTHON)
    steps: dict[str, Any] = {"ensemble_scheduling": {"step": [{"model_name": "part"}]}}
    ensemble = variant(composing=[part], **steps)
    made = replace(busy(300), statistics={"m": executed(1000, 40), "part": executed(1000, 20)})
    outcome = judged(trial(ensemble), made)
    assert isinstance(outcome, Failure)
    assert "6.00 instances of part" in outcome.message


_CACHED = variant(response_cache={"enable": True})


def served(
    requests: int | None, inferences: int, *, failed: int = 0, hits: int = 0, part_failed: int = 0
) -> Measurement:
    """So many requests by the client, and what the server counted for it."""
    own = RequestCounts(answered=inferences + hits, failed=failed, hits=hits)
    parts = RequestCounts(answered=99, failed=part_failed)
    return replace(
        measurement(100, 9, requests=requests),
        statistics={
            "m": ModelStatistics(inferences=inferences, executions=1, requests=own),
            "part": ModelStatistics(inferences=99, executions=99, requests=parts),
        },
    )


@pytest.mark.parametrize(
    ("requests", "inferences", "batch_size"),
    [(100, 100, 1), (100, 130, 1), (100, 97, 1), (2, 0, 1), (50, 400, 8), (None, 5, 1)],
)
def test_what_was_executed_at_least_so_often_as_answered_is_believed(
    requests: int | None, inferences: int, batch_size: int
) -> None:
    """The server counts longer than the client, and the last ones late."""
    of = trial(batch_size=batch_size)
    assert doubt_of(of, served(requests, inferences)) is None


def test_a_variant_that_the_cache_answered_is_a_failure() -> None:
    outcome = judged(trial(), served(1000, 0, hits=1003))

    assert isinstance(outcome, Failure)
    assert outcome.reason is FailureReason.IMPOSSIBLE_VALUES
    assert outcome.message == (
        "m_config_0 at concurrency 1: the model was not executed, since the response cache"
        " answered all 1,003 requests"
    )
    assert "response_cache: off" in outcome.hint


def test_a_variant_that_was_to_keep_its_cache_is_doubtful_if_it_was_not_executed() -> None:
    doubt = known(doubt_of(trial(_CACHED), served(1000, 0, hits=1000)))
    assert not doubt.gross
    assert doubt_of(trial(_CACHED), served(1000, 10, hits=990)) is None


def test_a_cache_that_was_to_be_off_is_no_excuse() -> None:
    off: Trial = trial(_CACHED, setup=ServerSetup(uncached=True))
    assert isinstance(judged(off, served(1000, 0, hits=1000)), Failure)


def test_answers_that_the_server_knows_nothing_of_are_doubtful() -> None:
    doubt = known(doubt_of(trial(), served(1000, 400)))
    assert not doubt.gross
    assert "1,000 requests were answered, but the server counted only 400 requests" in doubt.text


def test_a_server_that_counts_nothing_says_nothing() -> None:
    assert doubt_of(trial(), served(1000, 0)) is None


def test_inferences_are_compared_as_requests() -> None:
    assert doubt_of(trial(batch_size=8), served(1000, 1000)) is not None


def test_counts_of_earlier_versions_are_unknown() -> None:
    unknown = replace(
        measurement(100, 9, requests=1000),
        statistics={"m": ModelStatistics(inferences=1, executions=1)},
    )
    assert doubt_of(trial(), unknown) is None


def test_failures_that_the_client_did_not_see_are_doubtful() -> None:
    doubt = known(doubt_of(trial(), served(100, 100, failed=5)))
    assert doubt.sentence == (
        "Doubtful: m_config_0 at concurrency 1: 5 of 105 requests to m failed on the"
        " server, and perf_analyzer got no error; find out which other clients use the server,"
        " or whether it dropped sequences that waited for longer than"
        " max_sequence_idle_microseconds."
    )


def test_failures_of_a_called_model_are_named() -> None:
    whole = variant(composing=[variant("part_config_0", model="part")])
    doubt = known(doubt_of(trial(whole), served(100, 100, part_failed=1)))
    assert "1 of 100 requests to part failed on the server" in doubt.text
    assert "hide its errors" in doubt.hint


def test_a_token_is_a_response() -> None:
    tokens = with_evidence(measurement(11, requests=200), TOKENS, 3.0)
    assert doubt_of(trial(), with_evidence(tokens, RESPONSES, 3.0)) is None
    assert doubt_of(trial(), tokens) is None


def test_an_empty_answer_at_the_end_is_no_token() -> None:
    """Found by models that stream numbers: 43.7 tokens/sec instead of 32.8."""
    tokens = with_evidence(measurement(10.93, requests=200), TOKENS, 4.0)
    doubt = known(doubt_of(trial(), with_evidence(tokens, RESPONSES, 3.0)))
    assert doubt.text == (
        "m_config_0 at concurrency 1: a request has 4.00 tokens, but perf_analyzer counted"
        " 3.00 responses for each"
    )


def test_latencies_that_rise_are_believed() -> None:
    rising = measurement(100, 9, perf_latency_p50=5, perf_latency_p90=9.05)
    assert doubt_of(trial(), rising) is None


def test_a_percentile_below_a_lower_one_is_doubtful() -> None:
    doubt = known(doubt_of(trial(), measurement(100, 9, perf_latency_p90=10)))
    assert not doubt.gross
    assert doubt.sentence == (
        "Doubtful: m_config_0 at concurrency 1: p99 Latency is 9.00 ms, less than p90"
        " Latency, 10.0 ms; measure it again (--measurement auto takes the times of single"
        " requests)."
    )


@pytest.mark.parametrize("p99", [-1.0, 0.0])
def test_a_latency_that_is_not_positive_is_a_failure(p99: float) -> None:
    outcome = judged(trial(), measurement(100, p99))
    assert isinstance(outcome, Failure)
    assert outcome.reason is FailureReason.IMPOSSIBLE_VALUES
    assert f"p99 Latency is {p99:g} ms" in outcome.message
    assert outcome.hint


def test_tokens_may_come_together_but_not_backwards() -> None:
    tokens: dict[str, Any] = {"time_to_first_token_avg": 5, "inter_token_latency_min": 0}
    assert doubt_of(trial(), measurement(100, 9, **tokens)) is None
    tokens |= {"inter_token_latency_min": -2, "inter_token_latency_max": 3}
    doubt = known(doubt_of(trial(), measurement(100, 9, **tokens)))
    assert "Min Inter Token Latency is -2 ms" in doubt.text


def test_the_smallest_time_is_not_above_the_largest() -> None:
    times: dict[str, Any] = {"time_to_first_token_avg": 5, "time_to_first_token_min": 7}
    doubt = known(doubt_of(trial(), measurement(100, 9, **times, time_to_first_token_max=6)))
    assert "less than Min Time To First Token" in doubt.text


def test_an_average_has_to_fit_the_percentiles() -> None:
    low = measurement(50, perf_latency_p50=50, perf_latency_avg=20, requests=1000)
    doubt = known(doubt_of(trial(), low))
    assert doubt.law == "averages fit"
    fitting = one_round([1.0] * 60 + [99.0] * 40, 4.02)
    assert doubt_of(trial(), fitting) is None


def test_a_single_impossible_request_is_a_doubt_and_many_are_a_failure() -> None:
    clean = one_round([10.0] * 100)
    doubt = known(doubt_of(trial(), with_evidence(clean, IMPOSSIBLE, 0.002)))
    assert "0.2 % of the requests were answered before they were sent" in doubt.text
    assert isinstance(judged(trial(), with_evidence(clean, IMPOSSIBLE, 0.5)), Failure)


def test_no_latency_is_longer_than_the_measurement() -> None:
    slow = replace(one_round([900.0] * 100, 90.0), duration_s=0.9, loading_s=0.2)
    outcome = judged(trial(), slow)
    assert isinstance(outcome, Failure)
    assert "p99 latency is 900 ms, but measuring took only 0.700 s" in outcome.message
    assert doubt_of(trial(), replace(slow, duration_s=1.5)) is None


DECOUPLED = variant(model_transaction_policy={"decoupled": True})


def closed(in_flight: float, *, requests: int | None = 1000) -> Measurement:
    """A measurement of 10 ms latency with so many requests in flight."""
    return measurement(100 * in_flight, perf_latency_avg=10, requests=requests)


@pytest.mark.parametrize("in_flight", [6.2, 8.0, 8.7])
def test_the_concurrency_is_in_flight(in_flight: float) -> None:
    assert doubt_of(trial(concurrency=8), closed(in_flight)) is None


def test_more_requests_in_flight_than_there_are_is_doubtful() -> None:
    doubt = known(doubt_of(trial(concurrency=8), closed(12)))
    assert not doubt.gross
    assert doubt.text == (
        "m_config_0 at concurrency 8: 1,200 infer/sec with an average latency of 10.0 ms"
        " mean 12.0 requests in flight, but there were 8"
    )
    gross = known(doubt_of(trial(concurrency=8), closed(20)))
    assert gross.gross


def test_fewer_requests_in_flight_name_the_client() -> None:
    doubt = known(doubt_of(trial(concurrency=8), closed(4)))
    assert not doubt.gross
    assert "on average only 4.00 of 8 requests in flight" in doubt.text
    assert doubt_of(trial(DECOUPLED, concurrency=8), closed(4)) is None


def test_a_request_counts_as_one_whatever_its_batch() -> None:
    batches = measurement(3200, perf_latency_avg=10, requests=1000)
    assert doubt_of(trial(concurrency=8, batch_size=4), batches) is None


def test_few_requests_may_deviate_by_those_in_flight() -> None:
    assert doubt_of(trial(concurrency=8), closed(7.2 * 0.8, requests=36)) is None
    assert doubt_of(trial(concurrency=8), closed(7.2 * 0.8, requests=3600)) is not None


@pytest.mark.parametrize(("seconds", "is_doubtful"), [(1.5, False), (150.0, True)])
def test_long_waits_may_count_at_one_end_only(seconds: float, is_doubtful: bool) -> None:
    """Of 8 sequences, some wait a second for a slot."""
    (model,) = closed(11, requests=round(100 * seconds)).models
    values = {**model.values, "perf_latency_p99": 1000.0}
    uneven = Measurement(models=(replace(model, values=values, seconds=seconds),))
    assert (doubt_of(trial(concurrency=8), uneven) is not None) is is_doubtful


def open_load(
    answered: float, p99: float, *, requests: int = 400, seconds: float = 10.0
) -> Measurement:
    made = one_round([p99] * requests, seconds)
    (model,) = made.models
    values = {**model.values, "perf_throughput": answered}
    return replace(made, models=(replace(model, values=values),))


def at_rate(rate: int, arrivals: Arrivals = Arrivals.CONSTANT) -> Trial:
    made = trial(concurrency=rate, kind=LoadKind.REQUEST_RATE)
    (work,) = made.workloads
    return replace(made, workloads=(replace(work, traffic=Traffic(arrivals=arrivals)),))


@pytest.mark.parametrize(
    ("answered", "p99"),
    [(40.0, 20.0), (38.5, 20.0), (30.0, 2500.0)],  # an overloaded server has long latencies
)
def test_an_open_load_is_answered(answered: float, p99: float) -> None:
    assert doubt_of(at_rate(40), open_load(answered, p99)) is None


def test_requests_that_neither_wait_nor_were_answered_were_not_sent() -> None:
    lost = with_evidence(open_load(30.0, 20.0), DUE, 40.0)
    lost = with_evidence(with_evidence(lost, SENT, 31.0), ANSWERED, 30.0)
    doubt = known(doubt_of(at_rate(40), lost))
    assert doubt.text == (
        "m_config_0 at 40 requests/sec with constant arrivals: 40.0 requests/sec were due, 31.0"
        " were sent and 30.0 were answered, although p99 latency is only 20.0 ms"
    )


def test_no_more_is_answered_than_was_due() -> None:
    doubt = known(doubt_of(at_rate(40), open_load(50.0, 20.0)))
    assert "more than there were" in doubt.text


def test_random_arrivals_deviate_unless_their_number_is_known() -> None:
    by_chance = open_load(35.9, 20.0, requests=194, seconds=5.4)
    poisson = at_rate(40, Arrivals.POISSON)
    assert doubt_of(poisson, by_chance) is None
    assert doubt_of(poisson, with_evidence(by_chance, DUE, 40.0)) is not None


def test_a_replayed_log_has_the_rate_of_its_times() -> None:
    """Found by requests too large to be exported: their rate was that of whole seconds."""
    log = trial(concurrency=0, kind=LoadKind.REQUEST_INTERVALS)
    (work,) = log.workloads
    log = replace(log, workloads=(replace(work, traffic=Traffic(arrivals=Arrivals.REPLAY)),))
    rounded = with_evidence(open_load(78.5, 40.0, requests=550, seconds=6.0), DUE, 91.8)
    doubt = known(doubt_of(log, rounded))
    assert "91.8 requests/sec were due and 78.5 were answered" in doubt.text


_GOLDEN = Path(__file__).parents[3] / "golden"
# A simulated server, whose own times have nothing to do with its latencies.
_SIMULATED = {"rounds": {"parts of a request"}}

_CHECKPOINTS = sorted(_GOLDEN.rglob("*.ckpt"))


@pytest.mark.parametrize("path", _CHECKPOINTS, ids=lambda path: str(path.relative_to(_GOLDEN)))
def test_no_golden_measurement_breaks_a_law(path: Path) -> None:
    profile = read_file(path).profile
    measured = [record.outcome for record in profile.records]
    measured += [item.measurement for item in pooled_trials(profile.measured)]
    doubts = {
        doubt.law for each in measured if isinstance(each, Measurement) for doubt in each.doubts
    }
    assert doubts <= _SIMULATED.get(path.parent.name, set())
    failures = [failed.failure.reason for failed in profile.failed]
    assert FailureReason.IMPOSSIBLE_VALUES not in failures
