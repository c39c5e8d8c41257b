# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What travels between rooms is a value: nobody can change it on the way; all that is known so far,
as a value.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import pytest

from model_analyzer.domain import goals, measurements, metrics, models, profiles, settings, trials
from model_analyzer.domain.measurements import BatchStatistics, Measurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import Budget
from tests.unit.builders import (
    at_most,
    failure,
    goal,
    measurement,
    one_round,
    record,
    trial,
    variant,
)

MODULES = (goals, measurements, metrics, models, profiles, settings, trials)
NOUNS = {
    thing
    for module in MODULES
    for thing in vars(module).values()
    if isinstance(thing, type) and is_dataclass(thing) and thing.__module__ == module.__name__
} - {VariantNames, BatchStatistics, Budget}  # the one that counts, and rows of numbers


@pytest.mark.parametrize("noun", sorted(NOUNS, key=str))
def test_a_noun_is_frozen_and_built_by_keyword(noun: type) -> None:
    assert noun.__dataclass_params__.frozen  # type: ignore[attr-defined]
    assert all(field.kw_only for field in fields(noun))


def test_there_are_nouns_to_look_at() -> None:
    assert len(NOUNS) > 20


ZERO = variant("m_config_0", max_batch_size=1)
ONE = variant("m_config_1", max_batch_size=2)


def test_a_profile_separates_measurements_and_failures_in_their_order() -> None:
    profile = Profile(
        records=(
            record(ONE, measurement(1)),
            record(ZERO, failure("first")),
            record(ZERO, measurement(2), concurrency=2),
            record(ONE, failure("second"), concurrency=2),
        )
    )
    assert [item.measurement.value("perf_throughput") for item in profile.measured] == [1, 2]
    assert [item.failure.message for item in profile.failed] == ["first", "second"]


def test_variants_are_listed_once_in_the_order_of_their_first_trial() -> None:
    profile = Profile(
        records=(
            record(ONE, measurement(1)),
            record(ZERO, failure()),
            record(ONE, measurement(1), concurrency=2),
        )
    )
    assert profile.variants == (ONE, ZERO)


def test_two_names_of_equal_content_are_two_variants() -> None:
    default = variant("m_config_default", max_batch_size=1)
    assert default.identity == ZERO.identity
    profile = Profile(records=(record(default, measurement(1)), record(ZERO, measurement(1))))
    assert [each.name for each in profile.variants] == ["m_config_default", "m_config_0"]


def test_an_empty_profile_holds_nothing() -> None:
    assert (Profile().measured, Profile().failed, Profile().variants) == ((), (), ())


def test_measurements_are_completed_with_goodput_and_failures_stay_as_they_are() -> None:
    complete = Profile().completion(goal(*at_most(perf_latency_p99=10)))
    failed = failure()

    completed = complete(trial(), one_round([5.0, 5.0, 5.0, 20.0]))

    assert isinstance(completed, Measurement)
    assert completed.totals["perf_goodput"] == 3
    assert complete(trial(), failed) is failed
