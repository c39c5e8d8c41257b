# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rules, and what decides about them."""

from __future__ import annotations

import pytest

from model_analyzer.features.compare.facts.comparison import (
    ComparedPair,
    Ground,
    ModelComparison,
    Rule,
    Status,
    judge,
)
from model_analyzer.noise.noise import Interval
from model_analyzer.results.change import Change
from tests.unit.builders import measurement, ranking, record, variant

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
