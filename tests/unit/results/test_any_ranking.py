# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for the recommendation of every ranking, whatever was measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import MeasuredTrial, TrialRecord
from model_analyzer.noise.repetitions import pooled_by_trial
from model_analyzer.noise.ties import chance_to_meet, cost
from model_analyzer.results.ranking import NO_GAIN, Ranking
from tests.random_rankings import random_limits, random_records
from tests.sizes import small_and_full
from tests.unit.builders import at_most, goal, ranking

# What is cheaper may be so much worse, if its latency is also much shorter (docs/results.md).
MOST_FOR_CHEAPER = 0.03


def faults_of(seed: int) -> Iterator[str]:
    """What is wrong with the recommendations of random measurements, at limits that are relaxed."""
    records = random_records(seed)
    before: MeasuredTrial | None = None
    for limit in random_limits(seed, records):
        ranked = ranking(*records, by=goal(*at_most(perf_latency_p99=limit)))
        if not ranked.any_passes:
            continue
        first, chances = ranked.results[0].best, chances_of(ranked.goal, records)
        if before is not None and (fall := 1 - throughput(first) / throughput(before)) > 0:
            surer = chances[first.trial.first.key] / chances[before.trial.first.key]
            is_surer = surer**2 * (1 - fall) >= 1  # the exchange that docs/results.md names
            is_cheaper = costs(first) < costs(before) and fall <= MOST_FOR_CHEAPER
            is_default = ranked.results[0].is_default and 100 * fall < NO_GAIN
            if not (is_surer or is_cheaper or is_default):
                yield f"seed {seed}: at most {limit:.4g} ms, {fall:.2%} less"
        before = first
        for better in better_in_everything(ranked, chances):
            yield f"seed {seed}: at most {limit:.4g} ms, {name(better)} beats {name(first)}"


def better_in_everything(ranked: Ranking, chances: Mapping[str, float]) -> Iterator[MeasuredTrial]:
    """The trials that beat the recommended one by the goal, and in no margin, cost or chance are
    worse. One that is better by nothing that counts is no reason not to keep the default.
    """
    first = ranked.results[0].best
    least = NO_GAIN if ranked.results[0].is_default else 0
    by = ranked.goal
    for item in ranked.measured:
        if (
            by.passes(item.measurement)
            and by.gain_percent(item.measurement, first.measurement) > least
            and p99(item) <= p99(first)
            and all(own <= its for own, its in zip(costs(item), costs(first), strict=True))
            and chances[item.trial.first.key] >= chances[first.trial.first.key]
        ):
            yield item


def chances_of(by: Goal, records: Sequence[TrialRecord]) -> Mapping[str, float]:
    """The chance of each trial to meet the constraints, by its key."""
    measured = [
        MeasuredTrial(trial=record.trial, measurement=record.outcome)
        for record in records
        if isinstance(record.outcome, Measurement)
    ]
    runs = {key: item.runs for (_, key), item in pooled_by_trial(measured).items()}
    chance = chance_to_meet(by, runs)
    return {key: chance(key) for key in runs}


def throughput(item: MeasuredTrial) -> float:
    value = item.measurement.value("perf_throughput")
    assert value is not None
    return value


def p99(item: MeasuredTrial) -> float:
    value = item.measurement.value("perf_latency_p99")
    assert value is not None
    return value


def costs(item: MeasuredTrial) -> tuple[float, ...]:
    return cost(item.trial, item.measurement)


def name(item: MeasuredTrial) -> str:
    return f"{item.trial.variants} at {item.trial.workloads[0].load.value}"


@small_and_full("seeds", range(40), *(range(n, n + 500) for n in range(1000, 11_000, 500)))
def test_nothing_beats_a_recommendation_and_a_relaxed_limit_costs_nothing(
    seeds: Sequence[int],
) -> None:
    assert [fault for seed in seeds for fault in faults_of(seed)] == []
