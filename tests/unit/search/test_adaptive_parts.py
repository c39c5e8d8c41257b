# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an adaptive search concludes from: failures, smooth functions with noise, how long trials
take, what is left.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.trials import Failure, FailureReason
from model_analyzer.noise.ties import Comparison
from model_analyzer.search.adaptive.assessment import Assessment, success_chances
from model_analyzer.search.adaptive.candidates import (
    Prospect,
    Slack,
    expected_improvement,
    first_looks_s,
    loading_cost,
    outlook,
    relative_durations,
    round_durations,
    utility,
)
from model_analyzer.search.adaptive.outcomes import Outcomes
from model_analyzer.search.adaptive.queueing_model import Floats, Settings
from model_analyzer.search.adaptive.recommendation import recommendation
from model_analyzer.search.adaptive.regression import (
    Inputs,
    Likelihood,
    Prior,
    fit,
    update_particles,
)
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Points, Surrogate
from model_analyzer.search.trial_map import Coordinate
from tests.unit.builders import goal, measurement, trial

LOW, HIGH = (0,), (1,)


def points(*sizes: tuple[int, int], load: float = 16) -> Points:
    """Of one model, by instances and batch limit."""
    instances, batch = np.array(sizes, dtype=float).T[:, :, None]
    ones = np.ones(len(sizes))
    at = Settings(instances, batch, load * ones, ones, np.zeros_like(batch))
    return Points(at, np.zeros((len(sizes), 1)))


def failure(reason: FailureReason) -> Failure:
    return Failure(reason=reason, message="out of memory")


# -- failures ----------------------------------------------------------------------------------


def test_a_setting_larger_than_a_failed_one_does_not_load() -> None:
    sizes = [(1, 8), (2, 16), (3, 16), (2, 64), (4, 32), (5, 64)]
    chances = success_chances(points(*sizes), [1], {4: failure(FailureReason.MODEL_NOT_LOADED)})

    by_size = dict(zip(sizes, chances, strict=True))
    assert by_size[1, 8] > 0.9
    assert by_size[2, 16] > 0.9
    assert by_size[4, 32] == by_size[5, 64] == 0
    assert 0 < by_size[3, 16] < by_size[2, 16]
    # four instances of half the size, or two of twice the size: nobody knows
    assert 0.1 < by_size[2, 64] < 0.9


def test_failures_that_contradict_each_other_forbid_nothing() -> None:
    chances = success_chances(
        points((1, 1), (4, 8)), [1], {0: failure(FailureReason.MODEL_NOT_LOADED)}
    )

    assert chances[1] > 0


def test_a_failure_where_more_has_worked_says_nothing_about_others() -> None:
    sizes = [(1, 8), (2, 16), (1, 4), (2, 8)]
    chances = success_chances(points(*sizes), [1], {0: failure(FailureReason.MODEL_NOT_LOADED)})

    by_size = dict(zip(sizes, chances, strict=True))
    assert by_size[1, 4] > 0.9
    assert by_size[2, 8] > 0.9


# -- smooth functions --------------------------------------------------------------------------


def line(count: int) -> tuple[Inputs, Floats]:
    """A constant and a bump as features; values rise by 0.3 over the positions."""
    at = np.linspace(0, 1, count)
    bump = np.exp(-0.5 * ((at - 2) / 0.3) ** 2)
    return Inputs(at[:, None], np.stack([np.ones(count), bump], axis=1)), 0.3 * at


PRIOR = Prior(weights=np.array([3.0, 0.1]), amplitude=0.1, noise=0.02)


def test_drawn_functions_explain_the_values_and_differ_more_elsewhere_and_with_doubt() -> None:
    inputs, values = line(12)
    process = fit(inputs, values[None], PRIOR)
    far = Inputs(np.array([[2.0]]), np.array([[1.0, 1.0]]))
    generator = np.random.default_rng(0)

    def drawn(inflation: float, at: Inputs) -> Floats:
        rows = np.broadcast_to(values, (200, len(values)))
        return process.draw(rows, np.full(200, inflation), at, generator)

    here = drawn(1, inputs)
    assert here.mean(axis=0) == pytest.approx(values, abs=0.03)
    assert drawn(1, far).std() > 2 * here.std(axis=0).max()
    assert drawn(8, far).std() > 2 * drawn(1, far).std()
    assert drawn(8, inputs).std(axis=0).max() < 0.1


def test_a_value_that_the_others_contradict_is_not_believed_by_all() -> None:
    inputs, values = line(5)
    values[2] -= 0.3
    process = fit(inputs, values[None], PRIOR)

    rows = np.broadcast_to(values, (200, len(values)))
    drawn = process.draw(rows, np.ones(200), inputs, np.random.default_rng(0))

    doubted = drawn[:, 2] > values[2] + 0.1
    assert 0.01 < doubted.mean() < 0.99


def test_a_value_counts_by_its_own_noise() -> None:
    inputs, values = line(5)
    values[2] += 0.04

    def at_the_third(relative: float) -> float:
        noise = np.array([1.0, 1.0, relative, 1.0, 1.0])
        process = fit(inputs, values[None], PRIOR, noise)
        rows = np.broadcast_to(values, (200, len(values)))
        drawn = process.draw(rows, np.ones(200), inputs, np.random.default_rng(0))
        return float(drawn[:, 2].mean())

    smooth = 0.15
    exact, usual, rough = map(at_the_third, (0.3, 1.0, 4.0))
    assert smooth < rough < usual < exact < values[2] + 0.005


@pytest.mark.parametrize(("counts", "doublings"), [(5, 8), (1000, 21)])
def test_memory_is_learnt_in_any_range_of_sizes(counts: int, doublings: int) -> None:
    random = np.random.default_rng(0)

    def drawn(count: int) -> Points:
        limits = 2 ** random.integers(0, doublings, count)
        return points(*zip(random.integers(1, counts + 1, count), limits, strict=True))

    def memory(at: Points) -> Floats:
        instances, batch = at.settings.instances[:, 0], at.settings.batch[:, 0]
        return np.asarray(500 + 100 * instances + 0.5 * instances * batch)

    here, there = drawn(24), drawn(50)
    surrogate = Surrogate(1, is_open=False, seed=0)

    surrogate.learn(here, {THROUGHPUT: np.full(24, 100.0), "cpu_used_ram": memory(here)})
    predicted = np.median(surrogate.predict(there).values["cpu_used_ram"], axis=0)

    assert predicted == pytest.approx(memory(there), abs=0.02 * float(np.ptp(memory(here))))


def test_an_open_load_is_never_predicted_to_answer_more_than_is_sent() -> None:
    here = points((1, 1), (2, 1), (1, 8), (2, 8), load=200)
    surrogate = Surrogate(1, is_open=True, seed=0)
    # first looks, whose noise is 3 %
    surrogate.learn(here, {THROUGHPUT: np.array([199.0, 206.0, 201.0, 204.0])})
    predicted = surrogate.predict(points((1, 2), (2, 4), (4, 8), load=200)).values[THROUGHPUT]
    assert 190 < np.median(predicted) <= predicted.max() <= 200 * (1 + 1e-9)


# -- how long trials take ----------------------------------------------------------------------

REQUESTS = np.array([0.1, 0.2, 0.4, 0.8])
WANTED = np.array([0.0, 0.5, 1.0])


def test_durations_show_the_cost_of_slow_requests() -> None:
    relative = relative_durations(WANTED, REQUESTS, 2 + 3 * REQUESTS)

    assert relative * (2 + 3 * REQUESTS).mean() == pytest.approx([2, 3.5, 5])


@pytest.mark.parametrize(
    "spent",
    [
        pytest.param([0.0, 0.0, 0.0, 0.0], id="unknown"),
        pytest.param([2.5, 2.0, 2.6, 2.4], id="by chance"),
        pytest.param([3.0, 2.5, 2.2, 2.0], id="the other way"),
        pytest.param([2.0, 9.0], id="only two"),
    ],
)
def test_durations_without_information_count_as_equal(spent: list[float]) -> None:
    relative = relative_durations(WANTED, REQUESTS[: len(spent)], np.array(spent))

    assert relative == pytest.approx([1, 1, 1])


def test_predictions_far_from_measurements_are_bounded() -> None:
    assert relative_durations(np.array([0.0, 99.0]), REQUESTS, 10 * REQUESTS).tolist() == [0.5, 4.0]


def test_a_slow_model_needs_a_longer_first_look() -> None:
    load, request_s = np.array([1.0, 64.0, 64.0, 235.0]), np.array([0.001, 0.01, 0.2, 0.8])

    lengths = first_looks_s(load, request_s)

    # at least 0.36 s; three times what is in flight, and ten more; at most 10.8 s
    assert lengths == pytest.approx([0.36, 0.36, 202 * 0.2 / 64, 715 * 0.8 / 235])
    # and the last request has to be answered
    assert (round_durations(lengths, request_s) > lengths + request_s).all()


def test_an_open_load_has_no_requests_in_flight_at_first() -> None:
    assert first_looks_s(np.array([10.0, 500.0]), np.zeros(2)) == pytest.approx([1.08, 0.36])


@pytest.mark.parametrize(
    ("loading_s", "measuring_s", "expected"),
    [
        pytest.param([], [2.0, 2.0], 0.15, id="nothing loaded yet"),
        pytest.param([0.0, 0.0], [2.0, 2.0], 0.15, id="nobody took the time"),
        pytest.param([1.0], [0.0], 0.15, id="nobody took that of measuring"),
        pytest.param([1.0, 3.0, 2.0], [4.0, 4.0], (0.15 + 1.5) / 4, id="half a measurement each"),
        pytest.param([0.001, 0.0, 2.0], [4.0, 4.0], (0.15 + 0.5) / 2, id="most were loaded"),
        pytest.param([2.0, 2.0, 90.0], [4.0, 4.0], (0.15 + 1.5) / 4, id="one trial was retried"),
        pytest.param([90.0, 90.0], [2.0, 2.0], 30.0, id="very long"),
    ],
)
def test_the_cost_of_loading_a_variant(
    loading_s: list[float], measuring_s: list[float], expected: float
) -> None:
    assert loading_cost(np.array(loading_s), np.array(measuring_s)) == pytest.approx(expected)


# -- what is left ------------------------------------------------------------------------------


def test_only_settings_that_may_load_and_meet_the_constraints_remain() -> None:
    # two predictions, three trials: the first is the reference
    of = Prospect(
        score=np.array([[0.0, 0.2, 0.5], [0.0, 0.2, 0.5]]),
        shortfall=np.array([[0.0, 0.0, 3.0], [0.0, 4.0, 3.0]]),
        noise=0.02,
        slacks=(),
    )

    ties = np.zeros(3)
    assert expected_improvement(of, 0, ties, is_answered=True) == pytest.approx([0, 0.1, 0])
    assert outlook(of, np.ones(3), 0, ties, is_feasible=True, margin=0.03).chance == 0.5
    never = np.array([1.0, 0.0, 1.0])
    # what is recommended is better than the reference itself
    assert outlook(of, np.ones(3), 1, ties, is_feasible=True, margin=0.03).chance == 0
    assert outlook(of, never, 0, ties, is_feasible=True, margin=0.03).chance == 0


def test_a_lead_within_a_tie_is_no_gain() -> None:
    of = Prospect(
        score=np.array([[0.0, 0.02, 0.0], [0.0, 0.06, 0.02]]),
        shortfall=np.zeros((2, 3)),
        noise=0.02,
        slacks=(),
    )

    ties = np.array([0.0, 0.03, 0.0])
    gains = expected_improvement(of, 0, ties, is_answered=True)
    assert gains == pytest.approx([0, 0.03, 0.01])
    assert outlook(of, np.ones(3), 0, ties, is_feasible=True, margin=0.05).gain == 0.03
    assert outlook(of, np.ones(3), 0, np.zeros(3), is_feasible=True, margin=0.05).gain == 0.04


# -- what is recommended -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("predicted", "measured", "expected"),
    [
        pytest.param(0.015, 0.02, HIGH, id="both prefer the higher load"),
        pytest.param(0.015, -0.05, LOW, id="they contradict each other"),
        pytest.param(0.005, 0.005, LOW, id="a tie"),
    ],
)
def test_a_higher_load_is_recommended_only_if_measurements_do_not_contradict(
    predicted: float, measured: float, expected: Coordinate
) -> None:
    rates = {HIGH: 1000 * (1 + measured), LOW: 1000.0}
    runs = {
        at: [measurement(rate, windows=[(1 + off) * rate for off in (-0.02, 0, 0.02)])]
        for at, rate in rates.items()
    }
    outcomes = SimpleNamespace(
        feasible=sorted(rates, key=lambda at: -rates[at]),
        comparison=Comparison(goal(), runs),
        tried={LOW: trial(concurrency=29), HIGH: trial(concurrency=45)},
        lattice=SimpleNamespace(variant=lambda _: ()),
    )
    leads = {HIGH: predicted, LOW: 0.0}
    assessment = SimpleNamespace(
        utility=leads.__getitem__,
        feasibility_of=lambda _: 1.0,
        lead=lambda a, b: leads[a] - leads[b],
    )
    first, *_ = recommendation(cast(Outcomes, outcomes), cast(Assessment, assessment))
    assert first == expected


@pytest.mark.parametrize(
    ("average", "times", "expected"),
    [
        pytest.param(10.0, 1, [0.84, 0.16], id="on the bound: as the next one is"),
        pytest.param(9.5, 1, [0.98, 0.5], id="the next one may be as far outside"),
        pytest.param(9.5, 2, [1.0, 0.84], id="the more often it was measured, the less it moves"),
        pytest.param(11.0, 1, [0.16, 0.0], id="outside, it has to come back"),
    ],
)
def test_the_mean_may_break_a_constraint_after_another_measurement(
    average: float, times: int, expected: list[float]
) -> None:
    limit = Constraint(tag="perf_latency_avg", maximum=10.0)
    # two predictions in which the only trial keeps, and breaks it, by 5 %
    slack = Slack(0, limit, np.array([[0.05], [-0.05]]), noise=0.05)
    nothing = np.zeros((2, 1))
    mean = Measurement(models=(ModelMeasurement(values={"perf_latency_avg": average}),))

    remains_feasible = Prospect(nothing, nothing, 0.05, (slack,)).remains_feasible(0, mean, times)

    assert remains_feasible == pytest.approx(expected, abs=0.005)


def test_a_better_score_is_worth_some_doubt_about_the_constraints() -> None:
    assert utility(0.3, 0.5) > utility(0.0, 1.0) > utility(0.3, 0.1)
    assert utility(0.0, 0.0) > utility(-2.0, 1.0)


UNKNOWNS = 15


def after(likelihood: Likelihood, *, times: int, seed: int) -> Floats:
    """The particles after so many passes."""
    generator = np.random.default_rng(seed)
    particles: Floats = generator.standard_normal((384, UNKNOWNS))
    value: Floats = np.zeros(len(particles))
    for _ in range(times):
        particles, value = update_particles(particles, value, likelihood, generator)
    return particles


@pytest.mark.parametrize("seed", range(3))
def test_a_known_sum_leaves_its_parts_unknown(seed: int) -> None:
    def likelihood(particles: Floats) -> Floats:
        return np.asarray(-0.5 * ((particles[:, 0] + particles[:, 1] - 2) / 0.05) ** 2)

    particles = after(likelihood, times=8, seed=seed)
    total, apart = particles[:, 0] + particles[:, 1], particles[:, 0] - particles[:, 1]
    assert total.mean() == pytest.approx(2, abs=0.02)
    assert total.std() == pytest.approx(0.05, rel=0.3)
    assert apart.std() == pytest.approx(np.sqrt(2), rel=0.25)
    assert particles[:, 2:].std(axis=0) == pytest.approx(np.ones(UNKNOWNS - 2), rel=0.3)


@pytest.mark.parametrize("seed", range(3))
def test_separate_explanations_live_on(seed: int) -> None:
    def likelihood(particles: Floats) -> Floats:
        return np.asarray(-0.5 * ((np.abs(particles[:, 0]) - 1.5) / 0.1) ** 2)

    first = after(likelihood, times=8, seed=seed)[:, 0]
    assert np.abs(first).mean() == pytest.approx(1.5, abs=0.1)
    assert 0.25 < (first > 0).mean() < 0.75


def test_metrics_that_are_not_measured_keep_their_prior() -> None:
    particles = after(lambda particles: np.zeros(len(particles)), times=5, seed=0)
    assert particles.mean() == pytest.approx(0, abs=0.05)
    assert particles.std() == pytest.approx(1, abs=0.05)
