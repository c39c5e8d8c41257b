# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When brute search stops increasing something: plateaus, failures and illegal combinations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from random import Random

import pytest

from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import Failure, FailureReason, Load, LoadKind, Trial
from model_analyzer.search.modes.brute import is_flat
from model_analyzer.search.refine import has_plateaued, measured_again
from tests.unit.search.surfaces import (
    Respond,
    batch_limit,
    client_batch,
    failure,
    flat,
    growing,
    instances,
    limits,
    load,
    measurement,
    model,
    search,
    searched,
    sequence,
    short_name,
    subject,
    variants,
    visits,
)

ONE_VARIANT = limits(disable=True)
ONE_LOAD = (1, 1)


def by_order(throughputs: Sequence[float]) -> Respond:
    """The n-th load of the doubling series gives the n-th throughput."""
    return lambda trial: measurement(throughputs[load(trial).bit_length() - 1])


def in_rounds(respond: Respond, seconds: float = 1.0) -> Respond:
    """The same answers, measured in rounds."""

    def answer(trial: Trial) -> Outcome:
        outcome = respond(trial)
        if not isinstance(outcome, Measurement):
            return outcome
        models = [replace(each, seconds=seconds) for each in outcome.models]
        return replace(outcome, models=tuple(models))

    return answer


def by_batch_limit(throughputs: Mapping[int, float]) -> Respond:
    return lambda trial: measurement(throughputs[batch_limit(trial)])


# -- loads -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("throughputs", "plateaued"),
    [
        ([], False),
        ([50], False),
        ([50, 50, 50], False),
        ([50, 50, 50, 52.5], True),
        ([50, 50, 50, 52.51], False),
        ([50, 35, 45, 51.5], True),
        ([50, 40, 30, 20], True),
        ([50, 60, 30, 20], False),
        ([1, 50, 50, 50, 52.5], True),
        ([50, 50, 50, 50, 80], False),
        ([0, 0, 0, 0], True),
        ([0, 0, 0, 1], False),
    ],
)
def test_four_values_that_gain_no_more_than_five_percent_are_a_plateau(
    throughputs: Sequence[float], plateaued: bool
) -> None:
    assert has_plateaued(throughputs, is_flat, is_noisy=False) is plateaued


@pytest.mark.parametrize(
    ("throughputs", "loads"),
    [
        ([50, 50, 50, 52.5, 99], [1, 2, 4, 8]),
        ([50, 50, 50, 52.51, 50, 50, 50, 99], [1, 2, 4, 8, 16, 32, 64]),
        ([50, 35, 45, 51.5, 99], [1, 2, 4, 8]),
        ([50, 40, 30, 20, 99], [1, 2, 4, 8]),
        ([10, 20, 40, 80, 80, 80, 80, 99], [1, 2, 4, 8, 16, 32, 64]),
        ([0, 0, 0, 0, 99], [1, 2, 4, 8]),
        ([0, 1, 1, 1, 1, 99], [1, 2, 4, 8, 16]),
    ],
)
def test_the_load_stops_growing_at_a_plateau(
    throughputs: Sequence[float], loads: list[int]
) -> None:
    # The objective is met equally by every load, so that the refinement adds nothing.
    target = subject(objective="perf_latency_avg")

    trials = sequence(search(target, ONE_VARIANT), by_order(throughputs))

    assert [load(trial) for trial in trials] == loads


def test_a_plateau_is_looked_for_in_each_client_batch_size_anew() -> None:
    target = subject(batch_sizes=(1, 2), objective="perf_latency_avg")

    trials = sequence(search(target, ONE_VARIANT), flat)

    assert [(client_batch(trial), load(trial)) for trial in trials] == [
        (size, value) for size in (1, 2) for value in (1, 2, 4, 8)
    ]


def test_listed_loads_are_all_measured_whatever_the_throughput() -> None:
    trials = sequence(search(subject(loads=(1, 2, 3, 4, 5, 6)), ONE_VARIANT), flat)

    assert [load(trial) for trial in trials] == [1, 2, 3, 4, 5, 6]


def test_listed_loads_are_cut_short_on_request() -> None:
    trials = searched(subject(loads=(1, 2, 3, 4, 5, 6)), flat, disable=True, early_exit=True)

    assert [load(trial) for trial in trials] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (LoadKind.CONCURRENCY, "No longer increasing concurrency as throughput has plateaued"),
        (LoadKind.REQUEST_RATE, "No longer increasing request rate as throughput has plateaued"),
    ],
)
def test_the_log_says_why_the_load_grows_no_more(kind: LoadKind, message: str, caplog) -> None:
    target = subject(loads=(1, 2, 3, 4, 5), load_kind=kind)

    with caplog.at_level("INFO"):
        searched(target, flat, disable=True, early_exit=True)

    assert caplog.messages.count(message) == 1


# -- failures and illegal combinations ---------------------------------------------------------


def test_a_failure_ends_the_loads_and_client_batch_sizes_of_its_variant() -> None:
    target = subject(loads=(1, 2, 3), batch_sizes=(1, 2))

    def fails_once(trial: Trial) -> Outcome:
        return failure() if (short_name(trial), load(trial)) == ("0", 2) else growing(trial)

    trials = searched(target, fails_once, instances=(1, 2), batch=(4, 4))

    whole = [(size, value) for size in (1, 2) for value in (1, 2, 3)]
    assert [(short_name(trial), client_batch(trial), load(trial)) for trial in trials] == [
        *(("default", *step) for step in whole),
        ("0", 1, 1),
        ("0", 1, 2),
        *(("1", *step) for step in whole),
    ]


@pytest.mark.parametrize(
    ("reason", "fails_at", "asked"),
    [
        ("REQUEST_FAILED", 2, [1, 2, 4]), ("MODEL_DIED", 2, [1, 2]),
        # nothing shows yet that it works at all
        ("REQUEST_FAILED", 1, [1]), ("MODEL_NOT_LOADED", 1, [1]),
    ],
)  # fmt: skip
def test_listed_loads_are_tried_after_a_failure_of_requests(
    caplog: pytest.LogCaptureFixture, reason: str, fails_at: int, asked: list[int]
) -> None:
    def respond(trial: Trial) -> Outcome:
        failed = Failure(reason=FailureReason[reason], message="")
        return failed if load(trial) == fails_at else growing(trial)

    trials = sequence(search(subject(loads=(1, 2, 4)), ONE_VARIANT), respond)

    assert [load(trial) for trial in trials] == asked
    assert (f"concurrency={fails_at}: further loads (" in caplog.text) == (len(asked) < 3)


def test_the_search_goes_on_after_a_default_that_fails() -> None:
    def default_fails(trial: Trial) -> Outcome:
        return failure() if short_name(trial) == "default" else growing(trial)

    trials = searched(respond=default_fails, instances=(1, 1), batch=(1, 2), concurrency=ONE_LOAD)

    assert visits(trials) == [("default", 1), ("0", 1), ("1", 1)]


def test_a_client_batch_above_the_batch_limit_is_never_sent() -> None:
    trials = searched(subject(batch_sizes=(1, 2, 4, 8, 16), loads=(1, 2)), disable=True)

    assert [(client_batch(trial), load(trial)) for trial in trials] == [
        (size, value) for size in (1, 2, 4, 8) for value in (1, 2)
    ]


def test_a_model_without_batching_takes_client_batches_of_one() -> None:
    target = subject(model(max_batch_size=0), batch_sizes=(1, 2), loads=(1,))

    trials = searched(target, disable=True)

    assert [client_batch(trial) for trial in trials] == [1]


def test_a_preferred_batch_above_the_batch_limit_is_never_tried() -> None:
    facts = model(dynamic_batching={"preferred_batch_size": [2, 4]})

    trials = searched(subject(facts, parameters={"max_batch_size": [2, 3, 4, 5]}, loads=(1,)))

    assert [batch_limit(trial) for trial in trials] == [8, 4, 5]


def test_illegal_combinations_are_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        trials = searched(subject(batch_sizes=(16,), loads=(1,)), disable=True)

    assert trials == []
    assert [text for text in caplog.messages if "illegal" in text] == [
        "Skipping illegal run configuration: m_config_default: client batch size=16, concurrency=1"
        " (the client batch size 16 is above max_batch_size 8)"
    ]


# -- client batch sizes ------------------------------------------------------------------------


def test_client_batch_sizes_stop_growing_at_a_plateau(caplog: pytest.LogCaptureFixture) -> None:
    target = subject(model(max_batch_size=64), batch_sizes=(1, 2, 3, 4, 5, 6))

    with caplog.at_level("INFO"):
        trials = searched(target, flat, disable=True, concurrency=ONE_LOAD)

    assert [client_batch(trial) for trial in trials] == [1, 2, 3, 4]
    assert "No longer increasing client batch size as throughput has plateaued" in caplog.messages


@pytest.mark.parametrize(("last", "goes_on"), [(105.0, False), (105.1, True)])
def test_client_batch_sizes_are_judged_by_the_best_load_of_each(last: float, goes_on: bool) -> None:
    target = subject(model(max_batch_size=64), batch_sizes=(1, 2, 3, 4, 5))

    def best_is_the_first_load(trial: Trial) -> Outcome:
        if load(trial) == 2:
            return measurement(1.0)
        return measurement(last if client_batch(trial) == 4 else 100.0)

    trials = searched(target, best_is_the_first_load, disable=True, concurrency=(1, 2))

    assert (5 in map(client_batch, trials)) is goes_on


@pytest.mark.parametrize(("early_exit", "tried"), [(False, [1, 2, 3, 4, 5]), (True, [1, 2, 3, 4])])
def test_with_listed_loads_client_batch_sizes_stop_only_on_request(
    early_exit: bool, tried: list[int]
) -> None:
    target = subject(batch_sizes=(1, 2, 3, 4, 5), loads=(1,))

    trials = searched(target, flat, disable=True, early_exit=early_exit)

    assert [client_batch(trial) for trial in trials] == tried


# -- batch limits and instance counts ----------------------------------------------------------


@pytest.mark.parametrize(
    ("throughputs", "tried"),
    [
        ({8: 1, 1: 10, 2: 10, 4: 99}, [1, 2]),
        ({8: 1, 1: 10, 2: 9, 4: 99}, [1, 2]),
        ({8: 1, 1: 10, 2: 10.001, 4: 10.002}, [1, 2, 4]),
        ({8: 1, 1: 10, 2: 20, 4: 20}, [1, 2, 4]),
    ],
)
def test_the_batch_limit_grows_as_long_as_throughput_rises_at_all(
    throughputs: Mapping[int, float], tried: list[int]
) -> None:
    _, *swept = searched(
        respond=by_batch_limit(throughputs), instances=(1, 1), batch=(1, 4), concurrency=ONE_LOAD
    )

    assert [batch_limit(trial) for trial in swept] == tried


def test_the_batch_limit_is_judged_by_the_best_load_of_each_variant() -> None:
    peaks = {8: (1.0, 1.0), 1: (50.0, 10.0), 2: (40.0, 51.0), 4: (1.0, 1.0)}

    def peak(trial: Trial) -> Outcome:
        return measurement(peaks[batch_limit(trial)][load(trial) - 1])

    trials = searched(respond=peak, instances=(1, 1), batch=(1, 4), concurrency=(1, 2))

    assert [batch_limit(trial) for trial in variants(trials)[1:]] == [1, 2, 4]


def test_the_batch_limit_starts_anew_at_each_instance_count(caplog) -> None:
    with caplog.at_level("INFO"):
        trials = searched(respond=flat, instances=(1, 3), batch=(1, 8), concurrency=ONE_LOAD)

    assert [(instances(trial), batch_limit(trial)) for trial in trials[1:]] == [
        (count, size) for count in (1, 2, 3) for size in (1, 2)
    ]
    message = "No longer increasing max_batch_size because throughput has plateaued"
    assert caplog.messages.count(message) == 3


def test_listed_loads_do_not_keep_the_batch_limit_growing() -> None:
    trials = searched(subject(loads=(1,)), flat, instances=(1, 1), batch=(1, 8))

    assert [batch_limit(trial) for trial in trials[1:]] == [1, 2]


def test_a_variant_without_a_measurement_ends_the_batch_limits_of_its_instance_count() -> None:
    def two_instances_fail(trial: Trial) -> Outcome:
        return failure() if instances(trial) == 2 else growing(trial)

    trials = searched(
        respond=two_instances_fail, instances=(1, 3), batch=(1, 8), concurrency=ONE_LOAD
    )

    assert [(instances(trial), batch_limit(trial)) for trial in trials[1:]] == [
        *((1, size) for size in (1, 2, 4, 8)),
        (2, 1),
        *((3, size) for size in (1, 2, 4, 8)),
    ]


def test_a_variant_that_fails_at_a_high_load_counts_with_what_it_measured() -> None:
    def high_load_fails(trial: Trial) -> Outcome:
        return failure() if load(trial) == 2 else growing(trial)

    trials = searched(subject(loads=(1, 2)), high_load_fails, instances=(1, 1), batch=(1, 4))

    assert [batch_limit(trial) for trial in variants(trials)[1:]] == [1, 2, 4]


def test_the_instance_count_never_stops_growing() -> None:
    where = limits(instances=(1, 5), batch=(1, 1), concurrency=ONE_LOAD)

    def the_more_the_worse(trial: Trial) -> Outcome:
        return measurement(100.0 / instances(trial))

    trials = sequence(search(subject(), where), the_more_the_worse)

    assert [instances(trial) for trial in trials[1:]] == [1, 2, 3, 4, 5]
    assert [
        instances(trial) for trial in sequence(search(subject(), where), lambda _: failure())[1:]
    ] == [1, 2, 3, 4, 5]


def test_illegal_batch_limits_are_skipped_and_are_no_plateau() -> None:
    target = subject(batch_sizes=(4,))

    trials = searched(target, instances=(1, 1), batch=(1, 16), concurrency=ONE_LOAD)

    assert [batch_limit(trial) for trial in variants(trials)] == [8, 4, 8, 16]


def test_the_batch_limit_grows_once_even_without_any_throughput() -> None:
    trials = searched(
        respond=lambda _: measurement(0.0), instances=(1, 1), batch=(1, 4), concurrency=ONE_LOAD
    )

    assert [batch_limit(trial) for trial in variants(trials)] == [8, 1, 2]


# -- rounds, which are noisy ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("throughputs", "loads"),
    [
        ([50, 50, 50, 50, 50, 99], [1, 2, 4, 8, 16]),
        ([50, 50, 50, 50, 53, 50, 50, 50, 50, 99], [1, 2, 4, 8, 16, 32, 64, 128, 256]),
        ([10, 20, 40, 80, 80, 80, 80, 80, 99], [1, 2, 4, 8, 16, 32, 64, 128]),
    ],
)
def test_a_plateau_of_rounds_lasts_for_another_load(
    throughputs: Sequence[float], loads: list[int]
) -> None:
    target = subject(objective="perf_latency_avg")

    trials = sequence(search(target, ONE_VARIANT), in_rounds(by_order(throughputs)))

    assert [load(trial) for trial in trials] == loads


def test_noise_of_five_percent_does_not_hide_growth() -> None:
    """Three doublings add 12 %; the noise is 5 % with 95 % confidence."""
    random = Random(7)
    stopped = {True: 0, False: 0}
    for _ in range(1000):
        noisy = [100 * 1.04**step * random.gauss(1, 0.025) for step in range(6)]
        for is_noisy in stopped:
            ends = range(4, len(noisy) + 1)
            stopped[is_noisy] += any(
                has_plateaued(noisy[:end], is_flat, is_noisy=is_noisy) for end in ends
            )
    assert stopped[True] < 10
    assert stopped[False] > 4 * stopped[True]


def test_a_batch_limit_of_rounds_is_passed_once_without_growth() -> None:
    throughputs = {8: 30.0, 1: 10.0, 2: 9.9, 4: 20.0, 16: 29.0}

    trials = searched(
        respond=in_rounds(by_batch_limit(throughputs)),
        instances=(1, 1),
        batch=(1, 16),
        concurrency=ONE_LOAD,
    )

    assert [batch_limit(trial) for trial in trials] == [8, 1, 2, 4, 8, 16]


def test_the_sweep_by_objective_looks_twice_at_rounds() -> None:
    latencies = [105.0, 105.0, 105.0, 105.0, 80.0, 80.0, 80.0, 80.0, 80.0, 1.0]

    def flat_throughput(trial: Trial) -> Outcome:
        return measurement(100.0, latency=latencies[load(trial).bit_length() - 1])

    target = subject(objective="perf_latency_avg")

    trials = sequence(search(target, ONE_VARIANT), in_rounds(flat_throughput))

    assert [load(trial) for trial in trials] == [1, 2, 4, 8, 16, 32, 64, 128, 256]


def test_a_further_round_is_as_long_as_all_before_together() -> None:
    (trial, *_) = sequence(search(subject(in_rounds=True), ONE_VARIANT), flat)

    def measured(*seconds: float) -> list[Measurement]:
        return [
            Measurement(models=(ModelMeasurement(values={}, seconds=each),)) for each in seconds
        ]

    assert measured_again(trial, 0, []).round_s == 0
    assert measured_again(trial, 1, measured(0.36)).round_s == 2
    again = measured_again(trial, 2, measured(1.5, 2.0))
    assert (again.repetition, again.round_s) == (2, 3.5)
    assert measured_again(trial, 5, measured(20.0)).round_s == 15
    # 2 waves of 64 requests, and a tenth more, at 3 requests per second
    slow = replace(trial.workloads[0], load=Load(kind=LoadKind.CONCURRENCY, value=64))
    (once,) = measured(10.0)
    once = Measurement(models=(replace(once.models[0], requests=30),))
    assert measured_again(replace(trial, workloads=(slow,)), 1, [once]).round_s == (
        pytest.approx(2.2 * 64 / 3)
    )
    careful = replace(trial, round_s=None)
    assert measured_again(careful, 2, measured(0.0)).round_s is None
    poisson = replace(
        trial.workloads[0],
        load=Load(kind=LoadKind.REQUEST_RATE, value=50),
        traffic=Traffic(arrivals=Arrivals.POISSON),
    )
    random = replace(trial, workloads=(poisson,))
    assert measured_again(random, 1, measured(1.5)).round_s == 3
    assert measured_again(random, 2, measured(1.5, 3.0)).round_s == 9
    assert measured_again(random, 5, measured(40.0)).round_s == 60


@pytest.mark.parametrize(("rate", "seconds"), [(5000, 1.0), (800, 1.25), (100, 2.0)])
def test_a_further_round_of_a_fast_model_is_shorter_if_throughput_alone_counts(
    rate: int, seconds: float
) -> None:
    (trial, *_) = sequence(search(subject(in_rounds=True), ONE_VARIANT), flat)
    model = ModelMeasurement(values={}, seconds=0.5, requests=rate // 2)
    once = Measurement(models=(model,))

    assert measured_again(trial, 1, [once], by_throughput=True).round_s == pytest.approx(seconds)
    assert measured_again(trial, 1, [once]).round_s == 2
    longer = Measurement(models=(replace(model, seconds=3.0, requests=3 * rate),))
    assert measured_again(trial, 2, [longer], by_throughput=True).round_s == 3
