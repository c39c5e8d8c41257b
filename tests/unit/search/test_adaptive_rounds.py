# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Adaptive search in rounds: which trials get further ones, how long, and what they count."""

from __future__ import annotations

import logging
import math
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import (
    Conclusion,
    Outlook,
    Profile,
    StopReason,
    TrialRecord,
)
from model_analyzer.domain.settings import AdaptiveSettings, SearchMode
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.pooling import pool
from model_analyzer.search.adaptive import stopping
from model_analyzer.search.adaptive.outcomes import relative_errors
from model_analyzer.search.adaptive.stopping import least_gain, most_trials
from tests.sizes import small_and_full
from tests.unit import builders
from tests.unit.search.surfaces import (
    instances,
    latency_within,
    limits,
    load,
    search,
    sequence,
    subject,
)

SPACE = limits(mode=SearchMode.ADAPTIVE, instances=(1, 4), batch=(1, 8), concurrency=(1, 64))
THROUGHPUT, P99 = "perf_throughput", "perf_latency_p99"


def one_round(trial: Trial) -> Measurement:
    """A server with two cores: latencies are log-normal, and 1 s are measured at first."""
    flight, count = load(trial), instances(trial)
    rate = 1000 * min(flight, 8 * count) / (8 + 6 * max(count - 2, 0))
    return lasting(trial, rate, rate, Random(trial.key))


def lasting(trial: Trial, rate: float, drifted: float, random: Random) -> Measurement:
    """A round of a server with this rate, which has drifted meanwhile."""
    seconds = trial.round_s or min(1.0, 150 / rate)
    average = 1000 * load(trial) / rate
    latencies = [
        average * math.exp(random.gauss(0, 0.2)) for _ in range(max(round(rate * seconds), 3))
    ]
    windows = [drifted * math.exp(random.gauss(0, 0.05)) for _ in range(8)]
    measured = builders.one_round(latencies, seconds, windows=windows)
    return replace(measured, duration_s=seconds + 0.2)


def by_configuration(trials: Sequence[Trial]) -> Sequence[Sequence[Trial]]:
    groups = defaultdict(list)
    for trial in trials:
        groups[trial.first.key].append(trial)
    return list(groups.values())


@pytest.mark.parametrize(
    ("most", "reason", "words"), [(14, StopReason.KEPT, "14 le"), (16, StopReason.LIMIT, "16 r")]
)
def test_a_limit_that_is_not_reached_is_not_called_so(
    most: int, reason: StopReason, words: str
) -> None:
    target = subject(in_rounds=True, constraints=[latency_within(5.0)])
    asked = search(target, SPACE, adaptive=AdaptiveSettings(max_trials=most))
    assert (len(sequence(asked, one_round)) == most) == (reason is StopReason.LIMIT)
    assert asked.conclusion is not None
    assert asked.conclusion.reason is reason
    assert f"measurement limit of {words}" in asked.conclusion.explanation


def test_a_search_whose_last_part_brought_nothing_ends_unless_the_user_sets_its_limit() -> None:
    space = replace(SPACE, max_concurrency=256)
    asked = search(subject(in_rounds=True), space)
    trials = sequence(asked, knee_at(9))

    assert asked.conclusion is not None
    assert asked.conclusion.reason is StopReason.STALLED
    assert "go on with --max-measurements" in asked.conclusion.explanation

    most = len(trials) + 8
    longer = search(subject(in_rounds=True), space, adaptive=AdaptiveSettings(max_trials=most))
    sequence(longer, knee_at(9))
    assert longer.conclusion is not None
    assert longer.conclusion.reason is not StopReason.STALLED


def test_a_search_goes_on_at_a_standstill_while_something_better_is_probable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outlook = Outlook(chance=0.6, gain=0.5, margin=0.03, feasible=True)
    monkeypatch.setattr(stopping, "_stated", lambda *_, **__: outlook)
    asked = search(subject(in_rounds=True), replace(SPACE, max_concurrency=256))

    sequence(asked, knee_at(9))

    assert asked.conclusion is not None
    assert asked.conclusion.reason is not StopReason.STALLED


@small_and_full("each", [9, 11], range(8, 13))
def test_the_recommended_load_is_near_the_one_from_which_throughput_grows_no_more(
    each: Sequence[int],
) -> None:
    for per_instance in each:
        asked = search(subject(in_rounds=True), SPACE)
        trials = sequence(asked, knee_at(per_instance))

        assert asked.conclusion is not None
        best = next(t for t in trials if t.first.key == asked.conclusion.recommended)
        assert load(best) <= 1.4 * per_instance * min(instances(best), 2)


def test_the_log_names_a_variant_for_each_trial_at_most(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO"):
        trials = sequence(search(subject(in_rounds=True), SPACE), knee_at(9))

    named = [text for text in caplog.messages if text.startswith(("Creating", "Found existing"))]
    assert len(named) <= len(trials)


def knee_at(per_instance: int) -> Callable[[Trial], Measurement]:
    """The same server, whose throughput grows up to so many requests for each instance, and drifts
    by 1.5 % between rounds.
    """

    def answer(trial: Trial) -> Measurement:
        flight, count = load(trial), instances(trial)
        rate = 1000 * min(flight, per_instance * count) / (8 + 6 * max(count - 2, 0))
        random = Random(f"{trial.key} {per_instance}")
        return lasting(trial, rate, rate * math.exp(random.gauss(0, 0.015)), random)

    return answer


@pytest.mark.parametrize("constraints", [(), [latency_within(14.0)]])
def test_only_what_may_win_gets_further_rounds(constraints: Sequence[Constraint]) -> None:
    asked = search(subject(in_rounds=True, constraints=constraints), SPACE)

    groups = by_configuration(sequence(asked, one_round))

    def is_hopeless(trial: Trial) -> bool:
        values = one_round(trial).totals
        misses = any(values[each.tag] > 1.5 * (each.maximum or 0) for each in constraints)
        return misses or values[THROUGHPUT] < 0.6 * one_round(best[0]).totals[THROUGHPUT]

    assert asked.conclusion is not None
    (best,) = [group for group in groups if group[0].key == asked.conclusion.recommended]
    assert len(best) >= 2
    hopeless = [group for group in groups if is_hopeless(group[0])]
    assert hopeless
    assert all(len(group) == 1 for group in hopeless)


@small_and_full("seeds", [4], range(4, 8))
def test_a_tie_in_the_log_is_one_by_its_own_measurements(seeds: Sequence[int], caplog) -> None:
    """Predictions may call trials equal that measured far apart, if these are noisy."""
    counted = 0
    for seed in seeds:
        caplog.clear()
        with caplog.at_level(logging.INFO):
            throughput, _ = noisy_search(seed)
        (best,) = re.findall(r"Recommended: (.*), measured ", caplog.text)
        ties = re.findall(r"(?:Ties with it|Within noise of it, but .*): (m_.*)\.", caplog.text)
        assert all(abs(throughput[name] / throughput[best] - 1) < 0.035 for name in ties)
        undecided = re.findall(
            r"Cannot be told apart from it yet: (m_.*), measured (\d+) % (\w+) ", caplog.text
        )
        for name, percent, word in undecided:
            gain = 100 * (throughput[name] / throughput[best] - 1)
            assert abs(gain) == pytest.approx(int(percent), abs=0.6)
            assert word == ("better" if gain > 0 else "worse")
        counted += len(undecided)
    assert counted


@small_and_full(
    "adaptive",
    AdaptiveSettings(budget_s=16.0),
    *(AdaptiveSettings(budget_s=seconds) for seconds in (9.0, 31.0)),
    *(AdaptiveSettings(max_trials=most) for most in (4, 9)),
)
@small_and_full("constraints", [latency_within(14.0)], ())
def test_within_any_limit_the_answer_is_repeated_and_the_default_measured_under_its_load(
    adaptive: AdaptiveSettings, constraints: Sequence[Constraint]
) -> None:
    asked = search(subject(in_rounds=True, constraints=constraints), SPACE, adaptive=adaptive)

    trials = sequence(asked, one_round)

    conclusion = asked.conclusion
    assert conclusion is not None
    best = [trial for trial in trials if trial.first.key == conclusion.recommended]
    assert len(best) >= 2
    loads = {trial.load for trial in trials if trial.variants == "m_config_default"}
    assert best[0].load in loads or len(loads) > 1
    assert sum(one_round(trial).duration_s for trial in trials) <= (adaptive.budget_s or math.inf)
    records = tuple(TrialRecord(trial=trial, outcome=one_round(trial)) for trial in trials)
    profile = Profile(records=records, conclusions={subject().lane: conclusion})
    assert builders.rank_one(profile, "m", subject(constraints=constraints).goal).conclusion


@pytest.mark.parametrize(("drift", "is_noisy"), [(0.02, False), (0.5, True)])
def test_a_conclusion_says_that_a_machine_is_too_noisy(
    drift: float, is_noisy: bool, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        concluded = noisy_search(0, drift)[1]

    assert bool(concluded.doubt) == is_noisy
    found = re.search(
        r"too noisy to tell the recommended configuration from m_config_.* \(± (\d+) %\): stop",
        concluded.doubt,
    )
    assert bool(found) == is_noisy
    assert found is None or int(found[1]) >= 30
    assert not is_noisy or concluded.doubt in caplog.messages


def noisy_search(seed: int, drift: float = 0.15) -> tuple[dict[str, float], Conclusion]:
    """A search with such drift: the pooled throughput of each trial by its name, and its end."""
    measured: dict[str, list[Measurement]] = defaultdict(list)

    def noisy(trial: Trial) -> Measurement:
        factor = math.exp(Random(f"{trial.key} {trial.repetition} {seed}").gauss(0, drift))
        steady = one_round(trial)
        model = steady.models[0]
        values = {**model.values, THROUGHPUT: factor * model.values[THROUGHPUT]}
        windows = tuple(factor * rate for rate in model.windows)
        outcome = replace(steady, models=(replace(model, values=values, windows=windows),))
        measured[str(trial.first)].append(outcome)
        return outcome

    asked = search(subject(in_rounds=True), SPACE)
    sequence(asked, noisy)
    assert asked.conclusion is not None
    return {
        name: pool(runs).totals[THROUGHPUT] for name, runs in measured.items()
    }, asked.conclusion


@pytest.mark.parametrize(("constraints", "least_s"), [((), 1), ([latency_within(14.0)], 2)])
def test_further_rounds_are_longer(constraints: Sequence[Constraint], least_s: float) -> None:
    trials = sequence(search(subject(in_rounds=True, constraints=constraints), SPACE), one_round)

    for first, *further in by_configuration(trials):
        assert first.round_s == 0
        lengths = [trial.round_s or 0.0 for trial in further]
        assert all(length >= least_s for length in lengths)
        assert lengths == sorted(lengths)


def test_questions_are_the_same_when_answers_are_replayed() -> None:
    target = subject(in_rounds=True)
    answers: dict[str, Measurement] = {}

    def remembered(trial: Trial) -> Measurement:
        return answers.setdefault(trial.key, one_round(trial))

    first = sequence(search(target, SPACE), remembered)
    replayed = sequence(search(target, SPACE), lambda trial: answers[trial.key])

    assert [(trial.key, trial.round_s) for trial in replayed] == [
        (trial.key, trial.round_s) for trial in first
    ]


def test_measurements_of_an_earlier_version_are_continued_in_rounds() -> None:
    """Its checkpoints have first measurements in perf_analyzer's own windows."""

    def careful_at_first(trial: Trial) -> Measurement:
        measured = one_round(trial)
        if trial.repetition:
            return measured
        model = replace(measured.models[0], seconds=0.0, histograms={}, requests=1000)
        return replace(measured, models=(model,))

    asked = search(subject(in_rounds=True), SPACE)
    trials = sequence(asked, careful_at_first)

    assert asked.conclusion is not None
    assert all(trial.round_s == 2 for trial in trials if trial.repetition == 1)


def test_a_long_round_counts_more_than_a_short_one() -> None:
    runs = [[made(n)] for n in (100, 100, 100, 10_000)]
    for tag in (THROUGHPUT, P99):
        *short, long = relative_errors(runs, tag, 0)
        assert short == pytest.approx([1.0] * 3, rel=0.7)
        assert long < 0.9 * min(short)


def test_measurements_in_own_windows_all_count_the_same() -> None:
    runs = [[builders.measurement(100, windows=(90, 100, 110))], [builders.measurement(100)] * 2]
    assert relative_errors(runs, THROUGHPUT, 0).tolist() == [1, 1, 1]
    mixed = relative_errors([*runs, [made(100)], [made(10_000)]], THROUGHPUT, 0)
    assert mixed[:3].tolist() == [1, 1, 1]
    assert mixed[4] < mixed[3]


def test_metrics_without_noise_count_the_same() -> None:
    runs = [[made(100)], [made(1000)]]
    assert relative_errors(runs, "cpu_used_ram", 0).tolist() == [1, 1]


def made(requests: int) -> Measurement:
    random = np.random.default_rng(requests)
    rates = 100 * np.exp(random.normal(0, 0.5 / math.sqrt(requests / 8), 8))
    latencies = 10 * np.exp(random.normal(0, 0.3, requests))
    return builders.one_round(latencies.tolist(), requests / 100, windows=rates.tolist())


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.0, 0.01), (16.0, 0.01), (1.5, 0.005), (12.0, 0.0075), (90.0, 0.02)]
)
def test_a_short_measurement_is_worth_a_smaller_gain(seconds: float, expected: float) -> None:
    outcome = replace(made(100), duration_s=seconds)
    records = [TrialRecord(trial=builders.trial(builders.variant()), outcome=outcome)]
    assert least_gain(records) == pytest.approx(expected)


def test_rounds_may_be_more() -> None:
    default = AdaptiveSettings()
    assert most_trials(440, default) == 26
    assert most_trials(440, default, in_rounds=True) == 39
    assert most_trials(440, AdaptiveSettings(max_trials=7), in_rounds=True) == 7
