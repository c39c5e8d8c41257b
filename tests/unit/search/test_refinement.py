# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Refinement: the loads of the best variants, then the highest load that meets the constraints;
which trials of a search get further rounds at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

import pytest

from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchMode, SearchSettings
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.search.plan import Fork, Plan, PlannedSearch, Subject, doubling, recorded
from model_analyzer.search.refine import FINALISTS, best_trials, confirm, most_confirmed, refine
from tests.unit import builders
from tests.unit.search.surfaces import (
    Respond,
    batch_limit,
    client_batch,
    failure,
    growing,
    instances,
    latency_within,
    limits,
    load,
    measurement,
    model,
    search,
    searched,
    sequence,
    short_name,
    subject,
    visits,
)

# Without lists and with the search disabled, the default is the only variant.
ONE_VARIANT = limits(disable=True)


def latency_per_load(factor: float) -> Respond:
    """Throughput and latency grow with the load."""
    return lambda trial: measurement(100.0 * load(trial), latency=factor * load(trial))


def tried_after_the_sweep(
    trials: Sequence[Trial], *, least: int = 1, most: int = 1024
) -> list[int]:
    """The loads of a search over one variant, without those of the sweep before it."""
    loads = [load(trial) for trial in trials]
    swept = list(doubling(least, most))
    assert loads[: len(swept)] == swept
    return loads[len(swept) :]


# -- the boundary between passing and failing ------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "limit", "steps", "tried"),
    [
        (10, 95, 5, [12, 10, 9]),
        (10, 155, 5, [12, 14, 15]),
        (10, 25, 5, [3]),
        (1, 970, 5, [768, 896, 960, 992, 976]),
        (1, 970, 2, [768, 896]),
        (1, 970, 0, []),
        (10, 19, 5, []),
    ],
)
def test_the_highest_load_that_passes_is_found_by_halving(
    factor: float, limit: float, steps: int, tried: list[int]
) -> None:
    target = subject(constraints=[latency_within(limit)])

    trials = searched(target, latency_per_load(factor), disable=True, steps=steps)

    assert tried_after_the_sweep(trials) == tried


def test_a_request_rate_is_refined_like_a_concurrency() -> None:
    target = subject(constraints=[latency_within(95)], load_kind=LoadKind.REQUEST_RATE)
    respond = latency_per_load(1)
    rates = doubling(16, 8192)
    (searched,) = target.models
    default = VariantNames().default(searched.facts)
    trials = [target.trial(searched.workload(default, rate, 1)) for rate in rates]
    measured = measure_all(trials, respond)

    refinement = refine(target, measured, best=3, loads=rates, steps=5)
    trials = sequence(PlannedSearch(refinement, 5), respond)

    assert [load(trial) for trial in trials] == [96, 80, 88, 92, 94]
    assert {trial.workloads[0].load.kind for trial in trials} == {LoadKind.REQUEST_RATE}


@pytest.mark.parametrize(
    ("least", "limit", "tried"),
    [
        (1, 15, []),  # nothing lies between 1 and 2
        (2, 25, [3]),
        (4, 45, [6, 5]),
        (4, 75, [6, 7]),
    ],
)
def test_the_first_pair_of_loads_is_examined_too(
    least: int, limit: float, tried: list[int]
) -> None:
    target = subject(constraints=[latency_within(limit)])

    trials = searched(target, latency_per_load(10), disable=True, concurrency=(least, 64))

    assert tried_after_the_sweep(trials, least=least, most=64) == tried


@pytest.mark.parametrize("concurrency", [(1, 1024), (4, 64), (5, 16)])
def test_if_every_load_fails_nothing_below_the_smallest_is_tried(
    concurrency: tuple[int, int],
) -> None:
    target = subject(constraints=[latency_within(1)])

    trials = searched(target, latency_per_load(10), disable=True, concurrency=concurrency)

    assert tried_after_the_sweep(trials, least=concurrency[0], most=concurrency[1]) == []


def test_a_least_load_that_is_no_power_of_two_keeps_its_own_series() -> None:
    target = subject(constraints=[latency_within(75)])

    trials = searched(target, latency_per_load(10), disable=True, concurrency=(5, 16))

    assert [load(trial) for trial in trials] == [5, 10, 7, 8]


@pytest.mark.parametrize(
    ("most", "limit", "loads"),
    [(1, 5, [1]), (1, 15, [1]), (2, 5, [1, 2]), (2, 15, [1, 2]), (2, 25, [1, 2])],
)
def test_one_or_two_loads_are_enough_for_a_refinement(
    most: int, limit: float, loads: list[int]
) -> None:
    target = subject(constraints=[latency_within(limit)])

    trials = searched(target, latency_per_load(10), disable=True, concurrency=(1, most))

    assert [load(trial) for trial in trials] == loads


def test_of_several_boundaries_the_highest_is_searched() -> None:
    target = subject(constraints=[latency_within(10)])
    failing = {4, 64, 128, 256, 512, 1024}

    def uneven(trial: Trial) -> Outcome:
        latency = 20.0 if load(trial) in failing or load(trial) > 40 else 5.0
        return measurement(100.0 * load(trial), latency=latency)

    trials = sequence(search(target, ONE_VARIANT), uneven)

    assert tried_after_the_sweep(trials) == [48, 40, 44, 42, 41]


def test_a_failing_lower_load_and_a_passing_higher_one_are_no_boundary() -> None:
    target = subject(constraints=[Constraint(tag="perf_throughput", minimum=450)])

    trials = sequence(search(target, ONE_VARIANT), latency_per_load(10))

    assert tried_after_the_sweep(trials) == []


def test_a_load_that_fails_to_run_counts_as_too_high() -> None:
    target = subject(constraints=[latency_within(155)])

    def twelve_fails(trial: Trial) -> Outcome:
        return failure() if load(trial) == 12 else latency_per_load(10)(trial)

    trials = sequence(search(target, ONE_VARIANT), twelve_fails)

    assert tried_after_the_sweep(trials) == [12, 10, 11]


def test_the_refinement_is_part_of_the_number_announced() -> None:
    asked = search(subject(constraints=[latency_within(970)]), ONE_VARIANT, best=1)

    trials = sequence(asked, latency_per_load(1))

    assert len(trials) == 11 + 5
    assert asked.most_trials is not None
    assert len(trials) <= asked.most_trials


def test_without_constraints_there_is_nothing_to_search_for() -> None:
    trials = sequence(search(subject(), ONE_VARIANT), latency_per_load(10))

    assert tried_after_the_sweep(trials) == []


def test_listed_loads_are_not_refined() -> None:
    target = subject(constraints=[latency_within(95)], loads=(1, 2, 4, 8, 16))

    trials = sequence(search(target, ONE_VARIANT), latency_per_load(10))

    assert [load(trial) for trial in trials] == [1, 2, 4, 8, 16]


# -- the sweep by objective --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("latencies", "loads"),
    [
        # 105 to 100 scores 0.0488, which is no gain
        ([105.0, 105.0, 105.0, 100.0, 1.0], [1, 2, 4, 8]),
        # 105.2 to 100 scores 0.0507; then nothing gets better
        ([105.2, 105.2, 105.2, 100.0, 100.0, 100.0, 100.0, 1.0], [1, 2, 4, 8, 16, 32, 64]),
        # the best of the last four counts, not the last
        ([105.2, 90.0, 105.2, 200.0, 200.0, 1.0], [1, 2, 4, 8, 16]),
    ],
)
def test_loads_go_on_after_the_plateau_of_throughput_while_the_objectives_gain(
    latencies: Sequence[float], loads: list[int]
) -> None:
    target = subject(objective="perf_latency_avg")

    def flat_throughput(trial: Trial) -> Outcome:
        return measurement(100.0, latency=latencies[load(trial).bit_length() - 1])

    trials = sequence(search(target, ONE_VARIANT), flat_throughput)

    assert [load(trial) for trial in trials] == loads


def test_loads_that_the_sweep_adds_are_part_of_the_boundary_search() -> None:
    target = subject(objective="perf_latency_p99", constraints=[latency_within(100)])

    def better_and_better_until_twenty(trial: Trial) -> Outcome:
        value = load(trial)
        return measurement(100.0, latency=100.0 / value if value <= 20 else 1000.0)

    trials = sequence(search(target, ONE_VARIANT), better_and_better_until_twenty)

    # the plateau of throughput is at 8; by objective it goes on until all of four are worse
    assert [load(trial) for trial in trials][:4] == [1, 2, 4, 8]
    assert [load(trial) for trial in trials][4:8] == [16, 32, 64, 128]
    assert [load(trial) for trial in trials][8:] == [24, 20, 22, 21]


def test_a_failure_ends_the_added_loads() -> None:
    target = subject(objective="perf_latency_avg")

    def fails_at_sixteen(trial: Trial) -> Outcome:
        value = load(trial)
        return failure() if value == 16 else measurement(100.0, latency=100.0 / value)

    trials = sequence(search(target, ONE_VARIANT), fails_at_sixteen)

    assert [load(trial) for trial in trials] == [1, 2, 4, 8, 16]


# -- which variants ----------------------------------------------------------------------------


def by_instances(throughputs: Mapping[int, float]) -> Respond:
    """Throughput by instance count (the default has none listed and counts as one)."""

    def respond(trial: Trial) -> Outcome:
        if short_name(trial) == "default":
            return measurement(1.0 * load(trial), latency=10.0 * load(trial))
        return measurement(throughputs[instances(trial)] * load(trial), latency=10.0 * load(trial))

    return respond


def test_the_best_variants_are_refined_in_order_of_merit_and_the_default_at_the_end() -> None:
    target = subject(constraints=[latency_within(95)])
    respond = by_instances({1: 10.0, 2: 40.0, 3: 20.0, 4: 30.0})

    trials = searched(target, respond, best=2, instances=(1, 4), batch=(8, 8), concurrency=(1, 16))

    swept = 5 * 5
    assert visits(trials[swept:]) == [
        (name, value) for name in ("1", "3", "default") for value in (12, 10, 9)
    ]


def test_a_default_among_the_best_is_refined_once() -> None:
    target = subject(constraints=[latency_within(95)])

    trials = searched(
        target, by_instances({1: 10.0}), best=3, instances=(1, 1), batch=(8, 8), concurrency=(1, 16)
    )

    assert visits(trials[10:]) == [
        (name, value) for name in ("0", "default") for value in (12, 10, 9)
    ]


def test_a_variant_is_refined_with_the_client_batch_size_of_its_best() -> None:
    target = subject(constraints=[latency_within(95)], batch_sizes=(1, 4, 8))

    def best_with_four(trial: Trial) -> Outcome:
        factor = {1: 1.0, 4: 9.0, 8: 2.0}[client_batch(trial)]
        slow = 10.0 if client_batch(trial) == 4 else 1.0
        return measurement(factor * load(trial), latency=slow * load(trial))

    trials = searched(target, best_with_four, disable=True, concurrency=(1, 16))

    assert [(client_batch(trial), load(trial)) for trial in trials[15:]] == [
        (4, 12),
        (4, 10),
        (4, 9),
    ]


@pytest.mark.parametrize(
    ("values", "best", "chosen"),
    [
        # those that meet the constraint come first, whatever the others give
        ({1: (999.0, 6.0), 2: (10.0, 1.0), 3: (20.0, 1.0)}, 3, ["2", "1", "0"]),
        ({1: (999.0, 9.0), 2: (10.0, 1.0), 3: (20.0, 6.0)}, 2, ["1", "2"]),
        # if none meets it, the nearest come first
        ({1: (999.0, 9.0), 2: (10.0, 7.0), 3: (20.0, 8.0)}, 2, ["1", "2"]),
        # if all meet it, the objective decides
        ({1: (10.0, 1.0), 2: (30.0, 5.0), 3: (20.0, 2.0)}, 2, ["1", "2"]),
    ],
)
def test_variants_that_meet_the_constraints_are_the_best(
    values: Mapping[int, tuple[float, float]], best: int, chosen: list[str]
) -> None:
    target = subject(constraints=[latency_within(5)])
    names = VariantNames()
    (searched,) = target.models
    tried = [
        names.variant(searched.facts, {"instance_group": [{"count": count}]}) for count in values
    ]
    trials = [target.trial(searched.workload(variant, 1, 1)) for variant in tried]

    def respond(trial: Trial) -> Outcome:
        throughput, latency = values[instances(trial)]
        return measurement(throughput, latency=latency)

    ordered = best_trials(target.goal, measure_all(trials, respond), best)

    assert [trial.variants for trial in ordered] == [f"m_config_{number}" for number in chosen]


def test_a_default_that_fails_the_constraints_is_refined_all_the_same() -> None:
    target = subject(constraints=[latency_within(45)])

    def slow_default(trial: Trial) -> Outcome:
        factor = 10.0 if batch_limit(trial) == 4 else 20.0
        return measurement(100.0 * load(trial), latency=factor * load(trial))

    trials = searched(target, slow_default, instances=(1, 1), batch=(4, 4), concurrency=(1, 16))

    assert visits(trials[10:]) == [("0", 6), ("0", 5), ("default", 3)]


def test_a_variant_that_fails_under_its_only_load_is_refined_too() -> None:
    """Two instances give more, but a quick search keeps them too busy for the constraint."""
    target = subject(constraints=[latency_within(45)])
    names = VariantNames()
    (searched,) = target.models
    tried = [names.variant(searched.facts, {"instance_group": [{"count": n}]}) for n in (1, 2)]
    trials = [target.trial(searched.workload(tried[n], load, 1)) for n, load in ((0, 4), (1, 8))]

    def respond(trial: Trial) -> Outcome:
        return measurement(100.0 * instances(trial) * load(trial), latency=10.0 * load(trial))

    refinement = refine(target, measure_all(trials, respond), best=2, loads=doubling(1, 8), steps=0)
    added = sequence(PlannedSearch(refinement, None), respond)

    assert (instances(added[-1]), load(added[-1])) == (2, 4)


def test_a_default_that_meets_no_constraint_is_still_chosen() -> None:
    target = subject(constraints=[latency_within(5)])
    names = VariantNames()
    (searched,) = target.models
    other = names.variant(searched.facts, {"instance_group": [{"count": 2}]})
    trials = [
        target.trial(searched.workload(variant, 1, 1))
        for variant in (names.default(searched.facts), other)
    ]

    def only_the_other_passes(trial: Trial) -> Outcome:
        return measurement(100.0, latency=9.0 if short_name(trial) == "default" else 1.0)

    chosen = best_trials(target.goal, measure_all(trials, only_the_other_passes), 1)

    assert [trial.variants for trial in chosen] == ["m_config_0", "m_config_default"]


def test_without_any_measurement_there_is_nothing_to_refine() -> None:
    target = subject(constraints=[latency_within(45)])

    trials = sequence(search(target, ONE_VARIANT), lambda _: failure())

    assert visits(trials) == [("default", 1)]


def measure_all(trials: Iterable[Trial], respond: Respond) -> list[TrialRecord]:
    return [TrialRecord(trial=trial, outcome=respond(trial)) for trial in trials]


def test_a_load_that_failed_before_is_not_tried_again() -> None:
    target = subject(model(max_batch_size=0), constraints=[latency_within(45)])

    def second_fails(trial: Trial) -> Outcome:
        return failure() if load(trial) == 2 else growing(trial)

    trials = searched(target, second_fails, instances=(1, 1), concurrency=(1, 2))

    assert visits(trials) == [("default", 1), ("default", 2), ("0", 1), ("0", 2)]


SEARCHED, DISABLED = limits(), limits(disable=True)


class Server:
    """Answers with these throughputs by load, and latencies around `load` ms."""

    def __init__(self, rates: Mapping[int, float]) -> None:
        self._rates = rates

    def __call__(self, trial: Trial) -> Outcome:
        random = Random(trial.key)
        rate, seconds = self._rates[load(trial)], trial.round_s or 1.0
        latencies = [
            load(trial) * random.lognormvariate(0, 0.1) for _ in range(int(rate * seconds))
        ]
        windows = [rate * random.lognormvariate(0, 0.02) for _ in range(8)]
        return builders.one_round(latencies, seconds, windows=windows)


def asked(rates: Mapping[int, float], **of_subject: Any) -> list[tuple[int, int]]:
    """The load and the number of the round of each trial."""
    target = subject(in_rounds=True, **of_subject)
    trials = sequence(confirmed(target, *rates), Server(rates))
    return [(load(trial), trial.repetition) for trial in trials]


def confirmed(target: Subject, *loads: int, settings: SearchSettings = SEARCHED) -> PlannedSearch:
    """A search that measures each load once, then confirms the best."""
    (searched,) = target.models
    variant = builders.variant()

    def plan() -> Plan:
        records = []
        for value in loads:
            trial = target.trial(searched.workload(variant, value, 1))
            records.append((yield from recorded(trial)))
        return (yield from confirm(target, settings, records))

    return PlannedSearch(plan(), None)


def test_the_clear_winner_is_measured_once() -> None:
    assert asked({1: 100, 2: 200, 4: 400, 8: 800}) == [(1, 0), (2, 0), (4, 0), (8, 0)]


def test_those_that_may_be_the_best_are_measured_again_in_turn() -> None:
    trials = asked({1: 100, 2: 795, 4: 400, 8: 800})
    first, again = trials[:4], trials[4:]
    assert [repetition for _, repetition in first] == [0] * 4
    assert {value for value, _ in again} == {2, 8}
    assert [repetition for _, repetition in again] == sorted(r for _, r in again)
    assert max(repetition for _, repetition in again) <= 3


def test_there_are_few_finalists() -> None:
    rates = dict.fromkeys((1, 2, 3, 4, 5, 6, 7, 8), 500.0)
    again = [value for value, repetition in asked(rates) if repetition]
    assert len(again) <= most_confirmed(subject(in_rounds=True), SEARCHED)
    assert len(set(again)) <= FINALISTS + 2


def test_what_is_near_to_a_bound_is_measured_again() -> None:
    rates = {1: 100, 2: 200, 4: 400, 8: 800}
    far, near = (asked(rates, constraints=[latency_within(bound)]) for bound in (6.5, 5.1))
    assert [value for value, repetition in far if repetition] == []
    again = {value for value, repetition in near if repetition}
    assert 4 in again
    assert again <= {2, 4}


def test_nothing_is_measured_again_if_nothing_can_meet_the_constraints() -> None:
    rates = {1: 100, 2: 200, 4: 400, 8: 800}
    trials = asked(rates, constraints=[latency_within(0.1)])
    assert all(not repetition for _, repetition in trials)


def test_measurements_in_own_windows_are_not_repeated() -> None:
    trials = sequence(confirmed(subject(), 1, 2), Server({1: 500, 2: 500}))
    assert [trial.repetition for trial in trials] == [0, 0]


def test_nothing_is_measured_again_where_nothing_is_searched() -> None:
    asked_for = confirmed(subject(in_rounds=True), 1, 2, settings=DISABLED)
    trials = sequence(asked_for, Server({1: 500, 2: 500}))
    assert [trial.repetition for trial in trials] == [0, 0]


def test_failures_are_not_measured_again() -> None:
    asked_for = confirmed(subject(in_rounds=True), 1, 2)
    trials = sequence(asked_for, lambda trial: failure())
    assert all(trial.repetition == 0 for trial in trials)


def test_a_finalist_that_fails_is_no_longer_one() -> None:
    server = Server({1: 500, 2: 500})

    def answer(trial: Trial) -> Outcome:
        return failure() if trial.repetition and load(trial) == 2 else server(trial)

    trials = sequence(confirmed(subject(in_rounds=True), 1, 2), answer)
    assert [trial.repetition for trial in trials if load(trial) == 2] == [0, 1]


def test_a_trial_with_two_names_has_one_measurement() -> None:
    target = subject(in_rounds=True)
    server = Server({1: 500, 2: 500})
    trials = [builders.trial(concurrency=value) for value in (1, 1, 2)]
    records = [TrialRecord(trial=trial, outcome=server(trial)) for trial in trials]
    again = next(confirm(target, SEARCHED, records))
    assert isinstance(again, Fork)
    asked = [next(branch) for branch in again.branches if branch]
    assert [trial.repetition for trial in asked if isinstance(trial, Trial)] == [1, 1]


@pytest.mark.parametrize("mode", [SearchMode.QUICK, SearchMode.BRUTE])
def test_every_search_confirms_its_best(mode: SearchMode) -> None:
    def server(trial: Trial) -> Outcome:
        return Server({load(trial): 500.0})(trial)

    trials = searched(
        subject(in_rounds=True),
        server,
        mode=mode,
        instances=(1, 2),
        batch=(1, 2),
        concurrency=(1, 4),
    )
    first = [trial for trial in trials if not trial.repetition]
    assert trials[: len(first)] == first
    assert len(trials) > len(first)


def test_a_single_configuration_under_a_rate_gets_more_than_a_first_look() -> None:
    def repetitions(kind: LoadKind, rate: int) -> list[int]:
        target = subject(in_rounds=True, load_kind=kind)
        trials = sequence(confirmed(target, rate, settings=DISABLED), Server({rate: rate}))
        return [trial.repetition for trial in trials]

    assert repetitions(LoadKind.REQUEST_RATE, 40) == [0, 1, 2, 3]
    assert repetitions(LoadKind.REQUEST_RATE, 400) == [0]
    assert repetitions(LoadKind.CONCURRENCY, 40) == [0]
