# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is compared with what.

Rules, and what decides about them.

The page of a comparison, as data: what changed, and its charts.

Pairs of measurements: their intervals may be looked at after every pair.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import pytest

from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.features.compare.comparison_page import (
    ComparedModel,
    ComparisonPage,
    comparison_page,
    render_comparison,
)
from model_analyzer.features.compare.comparison_report import ComparisonReport, Side
from model_analyzer.features.compare.facts.comparison import (
    ComparedPair,
    Ground,
    ModelComparison,
    Pairs,
    Rule,
    Status,
    compare,
    conclusion,
    judge,
    verdict,
)
from model_analyzer.features.compare.live import known_changes
from model_analyzer.noise.noise import Interval
from model_analyzer.results.change import Change, ChangeVerdict
from model_analyzer.results.ranking import Ranking
from tests.drawn import NOT_DRAWN, svg_of
from tests.unit.builders import failure, measurement, ranking, record, trial, variant

TAGS = ("perf_throughput", "perf_latency_p99")
LOADS = (1, 2, 4, 8)


def size(number: int, *, files: str = "files") -> ModelVariant:
    return variant(f"m_config_{number}", files=files, max_batch_size=2**number)


def run(
    seed: int,
    *,
    faster: float = 1,
    noise: float = 0.01,
    files: str = "files",
    variants: Sequence[int] = (0, 1, 2),
) -> Ranking:
    """Three variants under four loads, measured in three windows each."""
    random = Random(seed)
    records: list[TrialRecord] = []
    for number in variants:
        for load in LOADS:
            true = 100 * (number + 1) * load * faster
            windows = [true * random.gauss(1, noise) for _ in range(3)]
            latency = 1000 * load / true * random.gauss(1, noise)
            outcome = measurement(sum(windows) / 3, latency, windows=windows)
            records.append(record(size(number, files=files), outcome, concurrency=load))
    return ranking(*records)


def best_verdicts(of: ModelComparison) -> list[ChangeVerdict]:
    assert of.best is not None
    return [verdict(tag, of.best.changes[tag]) for tag in TAGS]


def test_a_slower_model_is_worse_by_every_metric() -> None:
    comparison = compare(run(1), run(2, faster=0.85), TAGS)

    assert best_verdicts(comparison) == [ChangeVerdict.WORSE, ChangeVerdict.WORSE]
    assert [verdict(tag, comparison.overall[tag]) for tag in TAGS] == [
        ChangeVerdict.WORSE,
        ChangeVerdict.WORSE,
    ]
    assert comparison.overall["perf_throughput"].percent == pytest.approx(-15, abs=1)
    assert len(comparison.trials) == 12


def test_an_unchanged_model_differs_in_one_case_of_twenty() -> None:
    comparisons = [compare(run(100 + seed), run(200 + seed), TAGS) for seed in range(30)]

    best = [judgement for of in comparisons for judgement in best_verdicts(of)]
    overall = [verdict(tag, of.overall[tag]) for of in comparisons for tag in TAGS]
    assert best.count(ChangeVerdict.SAME) >= 54
    assert overall.count(ChangeVerdict.SAME) >= 54


def test_trials_are_common_even_if_files_differ() -> None:
    """It is for changes of the model that people compare."""
    comparison = compare(run(1), run(2, files="others", variants=(1, 2)), TAGS)

    assert {pair.new.trial.variants for pair in comparison.trials} == {"m_config_1", "m_config_2"}
    assert all(pair.base.trial.loads == pair.new.trial.loads for pair in comparison.trials)


def test_the_name_of_a_variant_does_not_matter_but_its_configuration() -> None:
    base = ranking(record(variant("m_config_7", max_batch_size=1), measurement(1)))
    new = ranking(
        record(variant("m_config_0", max_batch_size=1), measurement(2)),
        record(variant("m_config_7", max_batch_size=9), measurement(3)),
    )
    (pair,) = compare(base, new, TAGS).trials

    assert pair.new.trial.variants == "m_config_0"


def test_without_common_trials_only_throughput_can_be_judged() -> None:
    comparison = compare(run(1, variants=(0,)), run(2, variants=(1,)), TAGS)

    assert comparison.trials == ()
    assert best_verdicts(comparison) == [ChangeVerdict.BETTER, ChangeVerdict.UNKNOWN]


def test_measurements_taken_over_from_the_base_are_left_out() -> None:
    base = run(1)
    comparison = compare(base, base, TAGS)

    assert (comparison.trials, comparison.taken_over) == ((), 12)
    assert best_verdicts(comparison) == [ChangeVerdict.SAME, ChangeVerdict.SAME]
    assert comparison.overall["perf_throughput"].interval is None


def test_the_trial_that_got_worst_comes_first() -> None:
    variants = [size(number) for number in range(3)]
    base = ranking(*(record(changed, measurement(100, 1)) for changed in variants))
    new = ranking(
        *(
            record(changed, measurement(rate, 1))
            for changed, rate in zip(variants, (90, 70, 120), strict=True)
        )
    )

    shown = compare(base, new, TAGS).trials
    assert [pair.new.measurement.value("perf_throughput") for pair in shown] == [70, 90, 120]
    shown = compare(new, base, ["perf_latency_p99"]).trials
    assert len(shown) == 3


def test_the_windows_of_one_measurement_do_not_hide_the_noise_between_runs() -> None:
    """Windows that agree to a thousandth, and runs that are apart by a tenth."""
    random = Random(5)

    def noisy() -> Ranking:
        records = []
        for number in range(3):
            for load in LOADS:
                rate = 100 * random.gauss(1, 0.1)
                windows = [rate * random.gauss(1, 0.001) for _ in range(3)]
                records.append(
                    record(size(number), measurement(rate, windows=windows), concurrency=load)
                )
        return ranking(*records)

    comparison = compare(noisy(), noisy(), ["perf_throughput"])
    judged = [
        verdict("perf_throughput", pair.changes["perf_throughput"]) for pair in comparison.trials
    ]
    assert judged.count(ChangeVerdict.UNKNOWN) >= 11


THROUGHPUT, LATENCY = "perf_throughput", "perf_latency_p99"


def changed(percent: float | None, *interval: float) -> Change:
    between = Interval(low=interval[0], high=interval[1]) if interval else None
    return Change(base=100, new=30, percent=percent, interval=between)


def comparison(
    best: Change, overall: Change | None = None, value: Interval | None = None
) -> ModelComparison:
    """A model whose metrics all changed so."""
    (item,) = ranking(record(variant(), measurement(1))).measured
    tags = (THROUGHPUT, LATENCY)
    pair = ComparedPair(
        base=item,
        new=item,
        changes=dict.fromkeys(tags, best),
        new_values=dict.fromkeys(tags, value),
    )
    overall = overall or changed(None)
    return ModelComparison(
        model="m",
        tags=tags,
        best=pair,
        trials=(),
        taken_over=0,
        overall=dict.fromkeys(tags, overall),
    )


def status(rule: str, of: ModelComparison, *, strict: bool = False) -> Status:
    return judge(Rule.parse(rule), of, strict=strict).status


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("perf_throughput<-3%", Rule(tag=THROUGHPUT, is_below=True, bound=-3, is_change=True)),
        (" perf_latency_p99 > 5 % ", Rule(tag=LATENCY, is_below=False, bound=5, is_change=True)),
        ("perf_latency_p99>20", Rule(tag=LATENCY, is_below=False, bound=20, is_change=False)),
    ],
)
def test_rules_are_read(text: str, rule: Rule) -> None:
    assert Rule.parse(text) == rule
    assert Rule.parse(str(rule)) == rule


@pytest.mark.parametrize(
    "text", ["", "perf_throughput", "a<", "a<b", "a=3", "a<nan", "a>inf%", "a<3%%"]
)
def test_an_invalid_rule_is_reported(text: str) -> None:
    with pytest.raises(ValueError, match="is not a rule: write, for example,"):
        Rule.parse(text)


def test_a_value_below_zero_is_a_change_without_its_percent_sign() -> None:
    with pytest.raises(ValueError, match="never below 0: write perf_throughput<-3% for a change"):
        Rule.parse("perf_throughput < -3")


@pytest.mark.parametrize(
    ("best", "expected", "strictly"),
    [
        (changed(-10, -12, -8), Status.FAILED, Status.FAILED),
        (changed(-10, -20, 1), Status.UNCERTAIN, Status.FAILED),
        (changed(-1, -4, 2), Status.UNCERTAIN, Status.PASSED),
        (changed(-1, -2, 2), Status.PASSED, Status.PASSED),
        (changed(8), Status.UNCERTAIN, Status.PASSED),
        (changed(-8), Status.UNCERTAIN, Status.FAILED),
        (changed(None), Status.UNCERTAIN, Status.FAILED),
    ],
)
def test_a_change_breaks_a_rule_if_certain_or_if_strict_as_measured(
    best: Change, expected: Status, strictly: Status
) -> None:
    assert status("perf_throughput<-3%", comparison(best)) is expected
    assert status("perf_throughput<-3%", comparison(best), strict=True) is strictly


def test_if_the_best_is_uncertain_the_common_trials_may_break_a_rule() -> None:
    unsure, sure = changed(-10, -20, 1), changed(-10, -11, -9)
    judgement = judge(Rule.parse("perf_throughput<-3%"), comparison(unsure, sure), strict=False)

    assert (judgement.status, judgement.ground) == (Status.FAILED, Ground.TRIALS)
    kept = changed(4, 3, 5)
    assert status("perf_throughput<-3%", comparison(kept, sure)) is Status.PASSED


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, Status.FAILED),
        (Interval(low=25, high=35), Status.FAILED),
        (Interval(low=15, high=45), Status.UNCERTAIN),
    ],
)
def test_a_bound_is_about_the_new_best(value: Interval | None, expected: Status) -> None:
    of = comparison(changed(0, 0, 0), value=value)

    assert status("perf_latency_p99>20", of) is expected
    assert status("perf_latency_p99>50", of) is Status.PASSED
    assert status("perf_latency_p99>20", of, strict=True) is Status.FAILED


def test_a_model_that_only_fails_breaks_every_rule() -> None:
    of = ModelComparison(
        model="m", tags=(THROUGHPUT,), best=None, trials=(), taken_over=0, overall={}
    )

    judgement = judge(Rule.parse("perf_throughput<-90%"), of, strict=False)
    assert (judgement.status, judgement.ground) == (Status.FAILED, Ground.FAILURES)


def records(factor: float = 1, *, instances: int = 1, loads: int = 8) -> list[TrialRecord]:
    """A configuration with different loads, measured `factor` times as fast."""
    config: dict[str, Any] = {
        "instance_group": [{"count": instances, "kind": "KIND_CPU"}],
        "max_batch_size": 4 * instances,
    }
    if instances > 1:
        config["dynamic_batching"] = {}
    of = variant(f"m_config_{instances}", **config)
    return [
        record(
            of,
            measurement(100 * load * factor, 5 / factor, windows=[100 * load * factor] * 3),
            concurrency=load,
        )
        for load in range(1, loads + 1)
    ]


def page_of(*pairs: tuple[Ranking, Ranking], rule: str = "") -> ComparisonPage:
    comparisons = [compare(base, new, TAGS) for base, new in pairs]
    rules = [Rule.parse(rule)] if rule else []
    return comparison_page(
        ComparisonReport(
            base=Side(name="old", uuid="", time=""),
            new=Side(name="<new>", uuid="", time=""),
            differences=(("processor", "A", "B"),),
            remarks=("a remark",),
            comparisons=tuple(comparisons),
            rankings=pairs,
            judgements=tuple(
                judge(each, comparison, strict=False)
                for comparison in comparisons
                for each in rules
            ),
        )
    )


def model_of(base: Sequence[TrialRecord], new: Sequence[TrialRecord]) -> ComparedModel:
    (model,) = page_of((ranking(*base), ranking(*new))).models
    return model


def test_changes_of_the_best_configuration_are_in_the_words_of_a_configuration() -> None:
    changes = model_of(records(), [*records(), *records(1.5, instances=2)]).changes
    assert changes == (
        ("variant", "m_config_1", "m_config_2"),
        ("instances", "1:CPU", "2:CPU"),
        ("dynamic_batching", "off", "on"),
        ("max_batch_size", "4", "8"),
    )


def test_the_same_best_configuration_has_no_changes() -> None:
    assert model_of(records(), records(0.9)).changes == ()


def test_another_load_is_a_change() -> None:
    assert model_of(records(loads=4), records(loads=8)).changes == (
        ("load", "concurrency 4", "concurrency 8"),
    )


def test_each_metric_has_a_dumbbell_for_each_common_trial() -> None:
    charts = model_of(records(), records(0.9)).charts
    assert [chart.name for chart in charts] == [
        "change_of_perf_throughput",
        "change_of_perf_latency_p99",
        "fronts_of_throughput_v_latency",
    ]
    dumbbells = charts[0].spec["data"]["values"]
    assert len(dumbbells) == 8
    assert {point["verdict"] for point in dumbbells} == {"worse"}
    assert all(point["low"] <= point["percent"] <= point["high"] for point in dumbbells)
    assert " of 8 trials" not in charts[0].caption


def test_the_largest_regressions_are_drawn_if_there_are_many_trials() -> None:
    chart = model_of(records(loads=50), records(0.9, loads=50)).charts[0]
    assert len(chart.spec["data"]["values"]) == 40
    assert "40 of 50 trials: the largest regressions" in chart.caption


def test_wide_intervals_do_not_hide_the_changes() -> None:
    base, new = (
        [
            record(variant(), measurement(rate, 5, windows=[1, rate, 300]), concurrency=load)
            for load in range(1, 9)
        ]
        for rate in (100, 102)
    )
    chart = model_of(base, new).charts[0]
    assert "cut at the edge of the chart" in chart.caption
    low, high = chart.spec["layer"][0]["encoding"]["x"]["scale"]["domain"]
    assert high - low < 100


def test_both_fronts_are_in_one_chart() -> None:
    points = model_of(records(), records(0.9)).charts[-1].spec["data"]["values"]
    assert {(point["side"], point["part"]) for point in points} == {
        (side, part) for side in ("BASE", "NEW") for part in ("front", "point")
    }
    assert sum(point["best"] for point in points) == 2


def test_charts_can_be_drawn() -> None:
    for chart in model_of(records(), records(0.9)).charts:
        assert svg_of(chart).startswith("<svg")


def test_rules_give_the_result() -> None:
    pair = ranking(*records()), ranking(*records(0.8))
    assert page_of(pair, rule="perf_throughput<-3%").state == "bad"
    assert page_of(pair, rule="perf_throughput<-50%").state == "good"
    page = page_of(pair)
    assert (page.state, page.result) == ("open", "No rules were checked; worse: m")
    assert page.rules is None


def test_several_models_have_an_overview() -> None:
    pair = ranking(*records()), ranking(*records(0.9))
    dead = ranking(record(variant("m_config_1"), failure(), concurrency=1))
    overview = page_of(pair, (pair[0], dead)).overview
    assert overview is not None
    assert [row[2] for row in overview.rows] == ["worse", "only failures"]


def test_texts_are_never_markup() -> None:
    page = page_of((ranking(*records()), ranking(*records(0.9))))
    html = render_comparison(page, NOT_DRAWN)
    assert "<new>" not in html
    assert "&lt;new&gt;" in html
    assert "default-src" in html


def test_a_rule_that_is_not_certain_is_no_success() -> None:
    def noisy(throughput: float) -> Ranking:
        windows = [0.7 * throughput, throughput, 1.3 * throughput]
        return ranking(record(variant(), measurement(throughput, 5, windows=windows)))

    page = page_of((noisy(100), noisy(95)), rule="perf_throughput<-3%")
    assert (page.state, page.result) == ("open", "Not certain: 1 of 1 rule cannot be decided")


RATE, P99 = "perf_throughput", "perf_latency_p99"


def pairs(ratio: float, spread: float, count: int, seed: int = 1, tag: str = RATE) -> Pairs:
    """A new side that is `ratio` times the base, with noise of this spread."""
    draws = random.Random(seed)
    values = [(100.0, 100 * ratio * draws.lognormvariate(0, spread)) for _ in range(count)]
    return Pairs(values={tag: values}, intervals=1)


def as_they_come(whole: Pairs) -> Iterator[Pairs]:
    (tag,) = whole.values
    for count in range(1, len(whole.values[tag]) + 1):
        yield Pairs(values={tag: whole.values[tag][:count]}, intervals=whole.intervals)


def test_equal_servers_are_rarely_told_apart_however_often_one_looks() -> None:
    wrong = 0
    for seed in range(200):
        intervals = [each.change(RATE).interval for each in as_they_come(pairs(1, 0.1, 40, seed))]
        wrong += any(each is not None and not each.low <= 0 <= each.high for each in intervals)

    assert wrong <= 10  # 5 %; expected are fewer, since nobody looks for ever


def test_a_difference_of_a_twentieth_is_found_while_the_spread_is_as_large() -> None:
    found = 0
    for seed in range(100):
        decided = (
            each for each in as_they_come(pairs(0.95, 0.05, 60, seed)) if each.is_decided([])
        )
        last = next(decided, None)
        found += last is not None and "is worse" in conclusion(last)

    assert found >= 95


def test_more_metrics_and_models_make_wider_intervals() -> None:
    one = pairs(1, 0.1, 20)
    several = Pairs(values=one.values, intervals=6)

    narrow, wide = one.change(RATE).interval, several.change(RATE).interval

    assert narrow is not None
    assert wide is not None
    assert wide.low < narrow.low < narrow.high < wide.high


def test_a_few_pairs_tell_nothing() -> None:
    few = pairs(0.5, 0.01, 4)

    assert few.change(RATE).interval is None
    assert few.change(RATE).percent == pytest.approx(-50, abs=1)
    assert not few.is_decided([])
    assert conclusion(few) == "Throughput is not known yet"
    assert Pairs(values={RATE: []}, intervals=1).change(RATE).percent is None


@pytest.mark.parametrize(
    ("ratio", "spread", "is_decided", "says"),
    [
        (1.0, 0.02, True, "has no difference larger than"),
        (0.97, 0.01, True, "is worse, -"),
        (1.2, 0.02, True, "is better, +"),
        (1.0, 0.4, False, "has no difference larger than"),
    ],
    ids=["same", "worse", "better", "noisy"],
)
def test_without_rules_it_ends_when_a_change_is_certain_or_small(
    ratio: float, spread: float, is_decided: bool, says: str
) -> None:
    found = pairs(ratio, spread, 30)

    assert found.is_decided([]) is is_decided
    assert says in conclusion(found)


def test_with_rules_it_ends_when_they_are_decided() -> None:
    slower = pairs(0.93, 0.02, 30)

    assert slower.is_decided([Rule.parse("perf_throughput<-3%")])
    assert slower.is_decided([Rule.parse("perf_throughput<-20%")])
    assert not slower.is_decided([Rule.parse("perf_throughput<-7%")])
    assert slower.is_decided([Rule.parse("perf_throughput<98")])
    # one that is broken is enough
    assert slower.is_decided([Rule.parse("perf_throughput<-7%"), Rule.parse("perf_throughput<-3%")])


def test_what_is_known_of_two_versions_is_told_for_models_that_it_touches() -> None:
    plain = trial(variant(instance_group=[{"count": 1}]))
    ensemble = trial(variant(ensemble_scheduling={"step": []}))

    of_plain, of_ensemble = (
        [*known_changes("2.41.0", "2.51.0", each)] for each in (plain, ensemble)
    )

    assert of_plain == [
        "known between Triton 2.41 and 2.51: from 2.48 on, nv_inference_request_failure has a"
        " series for each reason (before, one)"
    ]
    assert any("loading an ensemble" in text for text in of_ensemble)
    assert not [*known_changes("2.50.0", "2.51.0", ensemble)]
    over_http = trial(plain.workloads[0].variant, setup=ServerSetup(protocol="http"))
    assert any("404" in text for text in known_changes("2.51.0", "2.41.0", over_http))
