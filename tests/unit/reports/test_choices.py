# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What else one could choose, as data and in words."""

from __future__ import annotations

import pytest

from model_analyzer.domain.goals import Goal
from model_analyzer.reports.alternatives import change_text, choices, choices_text
from model_analyzer.results.ranking import Ranking, VariantResult
from tests.unit.builders import at_most, goal, measurement, objectives, ranking, record, variant

P99 = "perf_latency_p99"


def measured(*points: tuple[float, float], by: Goal | None = None) -> Ranking:
    """A ranking of one configuration with these throughputs and latencies."""
    return ranking(
        *(
            record(variant(), measurement(rate, p99), concurrency=number)
            for number, (rate, p99) in enumerate(points, 1)
        ),
        by=by,
    )


def test_a_little_less_throughput_for_a_much_lower_latency_is_a_choice() -> None:
    ranked = measured((1000, 40), (950, 20), (780, 4), (700, 1), (990, 39))
    (choice,) = choices(ranked, P99, ranked.columns.of(P99))
    assert (choice.objective, choice.other) == (0.95, 0.5)
    assert choices_text(ranked) == (
        "m_config_0 at concurrency 2: 5 % less throughput, half the p99 Latency"
        " (950 infer/sec, 20.0 ms)",
    )


def test_what_misses_the_constraints_is_no_choice() -> None:
    by = goal(*at_most(perf_latency_p99=30, cpu_used_ram=1))
    ranked = ranking(
        record(variant(), measurement(1000, 20)),
        record(variant(), measurement(990, 10, host={"cpu_used_ram": 2.0}), concurrency=2),
        by=by,
    )
    assert choices(ranked, P99, ranked.columns.of(P99)) == ()
    ranked = measured((1000, 40), (900, 35), by=goal(*at_most(perf_latency_p99=1)))
    assert choices(ranked, P99, ranked.columns.of(P99)) == ()


def test_a_higher_objective_at_a_worse_latency_is_a_choice() -> None:
    """The recommendation of a ranking may be one of less throughput: the values decide."""
    ranked = measured((1000, 40), (900, 10))
    first = ranked.results[0]
    lower = Ranking(
        model="m",
        goal=ranked.goal,
        results=(
            VariantResult(
                variants=first.variants,
                measured=tuple(reversed(first.measured)),
                passes=True,
                noise_model=first.noise_model,
            ),
        ),
        failed=(),
    )
    assert choices_text(lower) == (
        "m_config_0 at concurrency 1: 11 % more throughput, 4.0 times the p99 Latency"
        " (1,000 infer/sec, 40.0 ms)",
    )


def test_for_the_lowest_latency_throughput_is_the_other_side() -> None:
    by = goal(wished=objectives(perf_latency_p99=1))
    ranked = measured((100, 10), (200, 11), by=by)
    assert choices_text(ranked) == (
        "m_config_0 at concurrency 2: 10 % higher p99 Latency, twice the throughput"
        " (11.0 ms, 200 infer/sec)",
    )


def test_without_a_single_objective_or_a_latency_there_are_no_choices() -> None:
    both = goal(wished=objectives(perf_throughput=1, perf_latency_p99=1))
    assert choices_text(measured((1000, 40), (950, 20), by=both)) == ()
    assert choices_text(ranking()) == ()
    assert choices_text(ranking(record(variant(), measurement(10)))) == ()


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.95, "5 % less throughput"),
        (1.02, "2 % more throughput"),
        (1.001, "the same throughput"),
        (0.52, "half the throughput"),
        (0.33, "a third of the throughput"),
        (0.25, "a quarter of the throughput"),
        (0.1, "10 % of the throughput"),
        (2.1, "twice the throughput"),
        (1.6, "1.6 times the throughput"),
    ],
)
def test_changes_are_in_words(ratio: float, text: str) -> None:
    assert change_text("perf_throughput", ratio) == text


def test_what_is_no_rate_is_higher_or_lower() -> None:
    assert change_text("cpu_used_ram", 1.12) == "12 % higher RAM Usage"
    assert change_text(P99, 0.8) == "20 % lower p99 Latency"
