# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Pairs of measurements: their intervals may be looked at after every pair."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from model_analyzer.domain.trials import ServerSetup
from model_analyzer.features.compare.facts.comparison import Pairs, Rule, conclusion
from model_analyzer.features.compare.live import known_changes
from tests.unit.builders import trial, variant

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
