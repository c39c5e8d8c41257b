# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Manual brute search: the default, then every combination of the listed parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import thaw
from model_analyzer.domain.trials import Trial
from tests.unit.search.surfaces import (
    batch_limit,
    config,
    failure,
    flat,
    growing,
    instances,
    limits,
    load,
    measurement,
    model,
    search,
    sequence,
    short_name,
    subject,
    variants,
    visits,
)


def counts(*values: int, kind: str = "KIND_GPU") -> list[Any]:
    """Alternatives of `instance_group`: one group each."""
    return [[{"count": value, "kind": kind}] for value in values]


def delays(*values: int) -> list[Any]:
    """Alternatives of `dynamic_batching` with a queue delay."""
    return [{"max_queue_delay_microseconds": value} for value in values]


def delay(trial: Trial) -> int:
    return int(config(trial)["dynamic_batching"]["max_queue_delay_microseconds"])


def test_the_first_parameter_is_the_outermost_and_the_batch_limit_the_innermost() -> None:
    target = subject(
        loads=(1,),
        parameters={
            "max_batch_size": [8, 2],
            "dynamic_batching": delays(200, 100),
            "instance_group": counts(2, 1),
        },
    )

    default, *swept = sequence(search(target, limits()), growing)

    assert short_name(default) == "default"
    assert [(delay(trial), instances(trial), batch_limit(trial)) for trial in swept] == [
        (200, 2, 8),
        (200, 2, 2),
        (200, 1, 8),
        (200, 1, 2),
        (100, 2, 8),
        (100, 2, 2),
        (100, 1, 8),
        (100, 1, 2),
    ]
    assert [short_name(trial) for trial in swept] == list("01234567")


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        (
            {
                "max_batch_size": [4, 16],
                "dynamic_batching": delays(100, 200),
                "instance_group": counts(1, 2),
            },
            9,
        ),
        ({"instance_group": counts(1, 2, 3, 4)}, 5),
        (
            {
                "dynamic_batching": [{}, None],
                "instance_group": [[{"count": 1, "kind": "KIND_GPU"}], [{"count": 1}]],
            },
            5,
        ),
        ({"max_batch_size": [4]}, 2),
        ({}, 1),
    ],
)
def test_the_default_is_tried_besides_every_combination(
    parameters: Mapping[str, Sequence[Any]], expected: int
) -> None:
    asked = search(subject(loads=(1,), parameters=parameters), limits(disable=True))

    trials = sequence(asked, growing)

    assert len(trials) == len(variants(trials)) == expected == asked.most_trials


def test_a_null_leaves_the_field_as_the_model_has_it() -> None:
    facts = model(dynamic_batching={"max_queue_delay_microseconds": 50})
    target = subject(
        facts,
        loads=(1,),
        parameters={"dynamic_batching": [None, {"preserve_ordering": True}]},
    )

    default, unchanged, merged = sequence(search(target, limits()), growing)

    assert config(unchanged) == config(default)
    assert thaw(config(merged)["dynamic_batching"]) == {
        "max_queue_delay_microseconds": 50,
        "preserve_ordering": True,
    }


def test_fields_that_are_not_listed_do_not_change() -> None:
    facts = model(max_batch_size=8, instance_group=[{"count": 3, "kind": "KIND_CPU"}])
    target = subject(facts, loads=(1,), parameters={"response_cache": [{"enable": True}]})

    default, variant = sequence(search(target, limits()), growing)

    assert thaw(config(variant)) == {**thaw(config(default)), "response_cache": {"enable": True}}


def test_all_variants_have_their_names_before_the_first_of_them_is_measured(
    caplog: pytest.LogCaptureFixture,
) -> None:
    target = subject(loads=(1,), parameters={"instance_group": counts(1, 2, 3)})
    asked = search(target, limits())

    with caplog.at_level("INFO"):
        default = asked.ask()
        assert default is not None
        asked.tell(default, growing(default))
        first = asked.ask()

    assert first is not None
    assert short_name(first) == "0"
    created = [text for text in caplog.messages if text.startswith("Creating")]
    assert created == [
        "Creating model config: m_config_0",
        "Creating model config: m_config_1",
        "Creating model config: m_config_2",
    ]


def test_combinations_with_the_same_content_are_the_same_variant() -> None:
    target = subject(loads=(1,), parameters={"max_batch_size": [4, 2, 4]})

    trials = sequence(search(target, limits()), growing)

    assert visits(trials) == [("default", 1), ("0", 1), ("1", 1), ("0", 1)]
    assert trials[1] == trials[3]


def test_loads_are_searched_unless_they_are_listed() -> None:
    target = subject(parameters={"instance_group": counts(1, 2)})

    trials = sequence(search(target, limits(concurrency=(2, 8))), growing)

    assert visits(trials) == [
        (name, value) for name in ("default", "0", "1") for value in (2, 4, 8)
    ]


def test_a_plateau_does_not_end_the_batch_limits() -> None:
    target = subject(loads=(1,), parameters={"max_batch_size": [1, 2, 4, 16]})

    trials = sequence(search(target, limits()), flat)

    assert [batch_limit(trial) for trial in trials[1:]] == [1, 2, 4, 16]


def test_failures_do_not_end_the_batch_limits() -> None:
    target = subject(loads=(1,), parameters={"max_batch_size": [1, 2, 4, 16]})

    trials = sequence(search(target, limits()), lambda _: failure())

    assert [batch_limit(trial) for trial in trials[1:]] == [1, 2, 4, 16]


def test_on_request_the_batch_limits_of_a_combination_end_where_nothing_rises() -> None:
    target = subject(
        loads=(1,),
        parameters={"max_batch_size": [1, 2, 4], "instance_group": counts(1, 2, 3)},
    )

    def one_flat_one_failing_one_rising(trial: Trial) -> Outcome:
        match instances(trial):
            case 1:
                return measurement(100.0)
            case 2:
                return failure()
            case _:
                return growing(trial)

    trials = sequence(search(target, limits(early_exit=True)), one_flat_one_failing_one_rising)

    assert [(instances(trial), batch_limit(trial)) for trial in trials[1:]] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (3, 1),
        (3, 2),
        (3, 4),
    ]


def test_search_bounds_do_not_matter_to_listed_parameters() -> None:
    target = subject(loads=(1,), parameters={"max_batch_size": [256], "instance_group": counts(9)})

    _, variant = sequence(search(target, limits(instances=(1, 2), batch=(1, 4))), growing)

    assert (instances(variant), batch_limit(variant)) == (9, 256)


def test_with_the_search_disabled_and_nothing_listed_the_default_is_swept() -> None:
    trials = sequence(search(subject(loads=(1, 3)), limits(disable=True)), growing)

    assert visits(trials) == [("default", 1), ("default", 3)]


def test_a_failed_variant_does_not_end_the_search() -> None:
    target = subject(loads=(1, 2), parameters={"instance_group": counts(1, 2)})

    def first_fails(trial: Trial) -> Outcome:
        return failure() if short_name(trial) == "0" else growing(trial)

    trials = sequence(search(target, limits()), first_fails)

    assert visits(trials) == [("default", 1), ("default", 2), ("0", 1), ("1", 1), ("1", 2)]


def test_the_log_says_that_the_search_is_manual(caplog: pytest.LogCaptureFixture) -> None:
    target = subject(loads=(1,), parameters={"instance_group": counts(1, kind="KIND_CPU")})

    with caplog.at_level("INFO"):
        trials = sequence(search(target, limits()), growing)

    assert [load(trial) for trial in trials] == [1, 1]
    assert caplog.messages == [
        "",
        "Starting manual brute search",
        "",
        "Creating model config: m_config_0",
        "  Setting instance_group to [{'count': 1, 'kind': 'KIND_CPU'}]",
        "",
        "Done with brute mode search.",
    ]
