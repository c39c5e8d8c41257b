# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a page says of other measurements is what the tool says where these are the answer; and what
else one could choose, as data and in words.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.trials import under
from model_analyzer.reports.alternatives import (
    Alternatives,
    Deployment,
    change_text,
    choices,
    choices_text,
)
from model_analyzer.reports.build import Summary
from model_analyzer.reports.headline import figures_of, gain_text
from model_analyzer.results.answer import AnswerVerdict, answer_of
from model_analyzer.results.ranking import Ranking, VariantResult, rank_across
from tests.budget_cases import CASES, limits_of, name_of, ranking_of
from tests.random_rankings import random_limits, random_records
from tests.sizes import small_and_full
from tests.unit.builders import (
    at_least,
    at_most,
    goal,
    measurement,
    objectives,
    one_round,
    ranking,
    record,
    summary_page,
    variant,
)

WITH_GAIN = (AnswerVerdict.RECOMMENDED, AnswerVerdict.EQUAL)


def part_of(ranked: Ranking, deployment: Deployment | None = None) -> Summary:
    (part,) = summary_page(ranked, deployment=deployment).parts
    return part


def said_at(wide: Ranking, made: Alternatives, at_limit: Ranking) -> tuple[str | None, str | None]:
    """The gain that a page of a `wide` limit has for the answer at another one, and that of the
    tool, where the page shows it.
    """
    places = {name_of(item): place for place, item in enumerate(wide.measured)}
    answer, default = answer_of(at_limit), at_limit.default
    if answer.gain is None or answer.verdict not in WITH_GAIN or default is None:
        return None, None
    base, row = places[name_of(default.best)], places[name_of(at_limit.results[0].best)]
    told = f"{'' if answer.gain.is_clear else '~'}{gain_text(answer.gain, sign='+')}"
    if answer.gain.at is not None:
        told = f"{told}|both {under(answer.gain.at)}"
    return made.gains[0].get(base, {}).get(row), told


@small_and_full("seeds", range(6), range(25))
def test_gains_at_every_limit_are_those_of_the_tool(seeds: Sequence[int]) -> None:
    for seed in seeds:
        records = random_records(seed)
        wide = ranking(*records, by=goal(*at_most(perf_latency_p99=1e6)))
        made = part_of(wide).alternatives
        for limit in random_limits(seed, records):
            at_limit = ranking(*records, by=goal(*at_most(perf_latency_p99=limit)))
            shown, told = said_at(wide, made, at_limit)
            assert shown == told, (seed, limit)


@pytest.mark.parametrize("name", CASES)
def test_gains_of_known_cases_are_those_of_the_tool(name: str) -> None:
    wide = ranking_of(CASES[name], 1e6)
    made = part_of(wide).alternatives
    for limit in limits_of(CASES[name]):
        shown, told = said_at(wide, made, ranking_of(CASES[name], limit))
        assert shown == told, limit


DEFAULT = variant("m_config_default", max_batch_size=1)
BEST = variant("m_config_0", max_batch_size=8)


def two(by: Goal | None = None) -> Ranking:
    return ranking(
        record(DEFAULT, one_round([10.0, 11.0] * 50), concurrency=1),
        record(BEST, one_round([5.0, 6.0] * 200), concurrency=1),
        record(BEST, one_round([15.0, 16.0] * 300), concurrency=4),
        by=by,
    )


def test_values_have_the_noise_of_the_figures() -> None:
    ranked = two(goal(*at_most(perf_latency_p99=40)))
    values = part_of(ranked).alternatives.values
    figures = {figure.label: figure for figure in figures_of(answer_of(ranked))}
    for tag, name in (("perf_throughput", "Throughput"), ("perf_latency_p99", "p99 Latency")):
        figure = figures[name]
        bounds = f" ({figure.interval})" if figure.interval else ""
        assert values[tag][0] == f"{figure.value}{bounds}"
        assert len(values[tag]) == 3


def test_the_page_of_goodput_has_gains_without_a_limit_to_move() -> None:
    by = goal(*at_most(perf_latency_p99=40), wished=objectives(perf_goodput=1))
    ranked = ranking(
        record(DEFAULT, one_round([10.0, 50.0] * 50)),
        record(BEST, one_round([5.0, 6.0] * 200)),
        by=by,
    )
    part = part_of(ranked)
    assert part.budget is None
    gain = answer_of(ranked).gain
    assert gain is not None
    made = part.alternatives
    assert made.default is not None
    assert made.gains[0][made.default][0] == gain_text(gain, sign="+")
    assert made.commands == ()


def test_each_variant_has_its_changes_and_files() -> None:
    texts = (("of the best", "its diff"), ("of the default", ""))
    made = part_of(two(), Deployment(configurations=texts)).alternatives
    assert made.variants == (
        ((("max_batch_size", "1", "8"),), "of the best", "its diff"),
        ((), "of the default", ""),
    )


def test_commands_take_a_limit_and_have_the_other_constraints() -> None:
    by = goal(*at_most(perf_latency_p99=40), *at_least(perf_throughput=5))
    made = part_of(two(by), Deployment(start="model-analyzer best -m m")).alternatives
    (limited, without), *_ = made.commands
    flags = ["--metric", "perf_throughput", "--constraint", "perf_throughput>5"]
    assert (
        shlex.split(limited)
        == shlex.split(without)
        == ["model-analyzer", "best", "-m", "m", *flags]
    )
    (limited, without), *_ = part_of(two(), Deployment(start="best")).alternatives.commands
    assert shlex.split(limited) == ["best", "--metric", "perf_throughput"]
    assert shlex.split(without)[-2:] == ["--constraint", "none"]
    assert part_of(two()).alternatives.commands == ()


def test_without_a_default_or_across_models_there_are_no_gains() -> None:
    alone = ranking(record(BEST, measurement(100, 5)))
    assert part_of(alone).alternatives.gains == ({},)
    across = rank_across([two()], Goal(models=(ModelGoal(),)), "all")[0]
    assert not any(part_of(across).alternatives.gains)


def test_a_gain_that_the_load_may_cause_is_that_at_a_common_load() -> None:
    ranked = ranking(
        record(DEFAULT, measurement(100, 5), concurrency=1),
        record(BEST, measurement(900, 9), concurrency=8),
        record(BEST, measurement(300, 6), concurrency=1),
    )
    made = part_of(ranked).alternatives
    assert made.default is not None
    assert made.gains[0][made.default] == {0: "+200|both at concurrency 1", 1: "+200"}
    apart = ranking(
        record(DEFAULT, measurement(100, 5), concurrency=1),
        record(BEST, measurement(900, 9), concurrency=8),
    )
    assert part_of(apart).alternatives.gains == ({1: {}},)


def test_of_very_many_measurements_only_the_leading_ones_have_noise() -> None:
    rows = [record(BEST, measurement(n, n / 10), concurrency=n) for n in range(1, 2100)]
    made = part_of(ranking(record(DEFAULT, measurement(1, 5)), *rows)).alternatives
    assert sum(map(len, made.gains[0].values())) < 2200


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
