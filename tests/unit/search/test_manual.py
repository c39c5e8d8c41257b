# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Manual brute search: the default, then every combination of the listed parameters; automatic
brute search: which variants and loads are tried, and in which order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import VariantNames, thaw
from model_analyzer.domain.trials import LoadKind, Trial
from tests.unit.search.surfaces import (
    Respond,
    batch_limit,
    client_batch,
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
    searched,
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

    default, *swept = searched(target)

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
        ({"max_batch_size": [4, 2, 4], "instance_group": counts(1, 1)}, 3),
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
        facts, loads=(1,), parameters={"dynamic_batching": [None, {"preserve_ordering": True}]}
    )

    default, unchanged, merged = searched(target)

    assert config(unchanged) == config(default)
    assert thaw(config(merged)["dynamic_batching"]) == {
        "max_queue_delay_microseconds": 50,
        "preserve_ordering": True,
    }


def test_fields_that_are_not_listed_do_not_change() -> None:
    facts = model(max_batch_size=8, instance_group=[{"count": 3, "kind": "KIND_CPU"}])
    target = subject(facts, loads=(1,), parameters={"response_cache": [{"enable": True}]})

    default, variant = searched(target)

    assert thaw(config(variant)) == {**thaw(config(default)), "response_cache": {"enable": True}}


def test_all_variants_have_their_names_before_the_first_of_them_is_measured(caplog) -> None:
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
    facts = model(dynamic_batching={"preserve_ordering": True})
    repeated = [{"preserve_ordering": True}, {}, {"preserve_ordering": True}]
    target = subject(facts, loads=(1,), parameters={"dynamic_batching": repeated})

    default, first, second = searched(target)

    assert visits([default, first, second]) == [("default", 1), ("0", 1), ("0", 1)]
    assert first == second


def test_loads_are_searched_unless_they_are_listed() -> None:
    trials = searched(subject(parameters={"instance_group": counts(1, 2)}), concurrency=(2, 8))

    assert visits(trials) == [
        (name, value) for name in ("default", "0", "1") for value in (2, 4, 8)
    ]


@pytest.mark.parametrize("respond", [flat, lambda _: failure()], ids=["a plateau", "failures"])
def test_nothing_ends_the_batch_limits_unasked(respond: Respond) -> None:
    trials = searched(subject(loads=(1,), parameters={"max_batch_size": [1, 2, 4, 16]}), respond)

    assert [batch_limit(trial) for trial in trials[1:]] == [1, 2, 4, 16]


def test_on_request_the_batch_limits_of_a_combination_end_where_nothing_rises() -> None:
    target = subject(
        loads=(1,), parameters={"max_batch_size": [1, 2, 4], "instance_group": counts(1, 2, 3)}
    )

    def one_flat_one_failing_one_rising(trial: Trial) -> Outcome:
        match instances(trial):
            case 1:
                return measurement(100.0)
            case 2:
                return failure()
            case _:
                return growing(trial)

    trials = searched(target, one_flat_one_failing_one_rising, early_exit=True)

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

    _, variant = searched(target, instances=(1, 2), batch=(1, 4))

    assert (instances(variant), batch_limit(variant)) == (9, 256)


def test_with_the_search_disabled_and_nothing_listed_the_default_is_swept() -> None:
    trials = searched(subject(loads=(1, 3)), disable=True)

    assert visits(trials) == [("default", 1), ("default", 3)]


def test_a_failed_variant_does_not_end_the_search() -> None:
    target = subject(loads=(1, 2), parameters={"instance_group": counts(1, 2)})

    def first_fails(trial: Trial) -> Outcome:
        return failure() if short_name(trial) == "0" else growing(trial)

    trials = searched(target, first_fails)

    assert visits(trials) == [("default", 1), ("default", 2), ("0", 1), ("1", 1), ("1", 2)]


def test_the_log_says_that_the_search_is_manual(caplog: pytest.LogCaptureFixture) -> None:
    target = subject(loads=(1,), parameters={"instance_group": counts(1, kind="KIND_CPU")})

    with caplog.at_level("INFO"):
        trials = searched(target)

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


POWERS_OF_TWO = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
ONE_LOAD = (1, 1)


def test_the_default_comes_first_then_instances_batch_limits_and_loads() -> None:
    trials = searched(instances=(1, 2), batch=(1, 2), concurrency=(1, 2))

    names = ("default", "0", "1", "2", "3")
    assert visits(trials) == [(name, value) for name in names for value in (1, 2)]
    assert [(instances(trial), batch_limit(trial)) for trial in variants(trials)[1:]] == [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
    ]


def test_the_default_limits_give_451_trials_if_nothing_stops_them() -> None:
    asked = search(subject(), limits())

    trials = sequence(asked, growing)

    assert len(trials) == 451
    assert asked.most_trials == 451
    assert len({trial.key for trial in trials}) == 451
    assert [load(trial) for trial in trials] == POWERS_OF_TWO * 41


def test_a_surface_that_saturates_is_left_as_soon_as_it_does() -> None:
    def saturating(trial: Trial) -> Any:
        return measurement(
            100.0 * min(load(trial), 8) * min(batch_limit(trial), 16) * instances(trial)
        )

    trials = searched(respond=saturating)

    assert len(trials) == 217
    assert [short_name(trial) for trial in variants(trials)] == ["default", *map(str, range(30))]
    assert [load(trial) for trial in trials] == [1, 2, 4, 8, 16, 32, 64] * 31
    assert [batch_limit(trial) for trial in variants(trials)[1:]] == [1, 2, 4, 8, 16, 32] * 5
    assert [instances(trial) for trial in variants(trials)[1:]] == [
        count for count in (1, 2, 3, 4, 5) for _ in range(6)
    ]


@pytest.mark.parametrize(
    ("bounds", "tried"),
    [((3, 15), [3, 6, 12]), ((4, 4), [4]), ((1, 7), [1, 2, 4]), ((100, 128), [100])],
)
def test_batch_limits_double_from_the_least(bounds: tuple[int, int], tried: list[int]) -> None:
    trials = searched(instances=(1, 1), batch=bounds, concurrency=ONE_LOAD)

    assert [batch_limit(trial) for trial in trials[1:]] == tried


@pytest.mark.parametrize(
    ("bounds", "tried"), [((5, 16), [5, 10]), ((4, 4), [4]), ((1, 3), [1, 2]), ((7, 13), [7])]
)
def test_concurrencies_double_from_the_least(bounds: tuple[int, int], tried: list[int]) -> None:
    trials = searched(instances=(1, 1), batch=(1, 1), concurrency=bounds)

    assert [load(trial) for trial in trials] == tried * 2


def test_instance_counts_go_up_by_one_between_their_bounds() -> None:
    trials = searched(instances=(2, 4), batch=(1, 1), concurrency=ONE_LOAD)

    assert [instances(trial) for trial in trials[1:]] == [2, 3, 4]


def test_client_batch_sizes_lie_between_the_variant_and_the_load() -> None:
    trials = searched(
        subject(batch_sizes=(1, 4)), instances=(1, 1), batch=(4, 4), concurrency=(1, 2)
    )

    assert [(short_name(trial), client_batch(trial), load(trial)) for trial in trials] == [
        (name, size, value) for name in ("default", "0") for size in (1, 4) for value in (1, 2)
    ]


@pytest.mark.parametrize(("cpu_only", "kind"), [(False, "KIND_GPU"), (True, "KIND_CPU")])
def test_swept_instances_are_those_of_the_model(cpu_only: bool, kind: str) -> None:
    facts = model(instance_group=[{"count": 7, "host_policy": "near"}])

    trials = searched(
        subject(facts, cpu_only=cpu_only), instances=(1, 2), batch=(1, 1), concurrency=ONE_LOAD
    )

    _, *swept = (thaw(config(trial)["instance_group"]) for trial in trials)
    assert swept == [[{"count": n, "kind": kind, "host_policy": "near"}] for n in (1, 2)]


def test_a_model_with_several_groups_keeps_them() -> None:
    groups = [{"count": 7, "kind": "KIND_CPU"}, {"count": 2, "gpus": [0]}]
    facts = model(instance_group=groups)

    trials = searched(subject(facts), instances=(1, 2), batch=(1, 2), concurrency=ONE_LOAD)

    assert [thaw(config(trial)["instance_group"]) for trial in trials] == [groups] * 3


def test_swept_variants_batch_dynamically_and_the_default_is_left_alone() -> None:
    default, *swept = searched(instances=(1, 1), batch=(1, 2), concurrency=ONE_LOAD)

    assert "dynamic_batching" not in config(default)
    assert [thaw(config(trial)["dynamic_batching"]) for trial in swept] == [{}, {}]


def test_the_models_own_dynamic_batching_options_are_kept() -> None:
    options = {"max_queue_delay_microseconds": 200}
    facts = model(dynamic_batching=options)

    trials = searched(subject(facts), instances=(1, 1), batch=(1, 1), concurrency=ONE_LOAD)

    assert [thaw(config(trial)["dynamic_batching"]) for trial in trials] == [options, options]


def test_a_model_without_batching_is_searched_by_instances_only() -> None:
    facts = model(max_batch_size=0)

    def rising(trial: Trial) -> Any:
        return measurement(float(instances(trial)))

    trials = searched(subject(facts), rising, instances=(1, 3), concurrency=ONE_LOAD)

    assert [instances(trial) for trial in trials] == [1, 1, 2, 3]
    for trial in trials:
        assert not {"max_batch_size", "dynamic_batching"} & set(config(trial))


def test_a_sequence_model_is_not_batched_dynamically() -> None:
    facts = model(sequence_batching={"max_sequence_idle_microseconds": 1000})

    trials = searched(subject(facts), instances=(1, 1), batch=(1, 4), concurrency=ONE_LOAD)

    assert [batch_limit(trial) for trial in trials[1:]] == [1, 2, 4]
    assert not any("dynamic_batching" in config(trial) for trial in trials)


def test_listed_loads_replace_the_searched_ones() -> None:
    trials = searched(
        subject(loads=(3, 5, 50)), instances=(1, 1), batch=(1, 1), concurrency=(1, 1024)
    )

    assert visits(trials) == [(name, value) for name in ("default", "0") for value in (3, 5, 50)]


def test_the_load_kind_of_the_model_is_what_the_client_keeps() -> None:
    target = subject(loads=(16, 32), load_kind=LoadKind.REQUEST_RATE)

    trials = searched(target, instances=(1, 1), batch=(1, 1))

    assert {trial.workloads[0].load.kind for trial in trials} == {LoadKind.REQUEST_RATE}
    assert [load(trial) for trial in trials] == [16, 32, 16, 32]


def test_a_variant_that_equals_the_default_has_a_number_of_its_own() -> None:
    facts = model(
        max_batch_size=2, instance_group=[{"count": 1, "kind": "KIND_GPU"}], dynamic_batching={}
    )

    trials = searched(subject(facts), instances=(1, 1), batch=(1, 4), concurrency=ONE_LOAD)

    assert visits(trials) == [("default", 1), ("0", 1), ("1", 1), ("2", 1)]
    assert trials[2].key == trials[0].key


def test_variants_keep_the_names_they_had_in_an_earlier_run() -> None:
    earlier = searched(instances=(1, 1), batch=(1, 8), concurrency=ONE_LOAD)
    names = VariantNames.known(trial.workloads[0].variant for trial in earlier)

    wider = limits(instances=(1, 2), batch=(1, 8), concurrency=ONE_LOAD)
    trials = sequence(search(subject(), wider, names=names), growing)

    assert trials[: len(earlier)] == earlier
    assert [short_name(trial) for trial in trials[len(earlier) :]] == ["4", "5", "6", "7"]


def test_new_and_known_variants_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    names = VariantNames()
    where = limits(instances=(1, 1), batch=(2, 2), concurrency=ONE_LOAD)
    with caplog.at_level("INFO"):
        sequence(search(subject(), where, names=names), growing)
        first = [record.getMessage() for record in caplog.records]
        caplog.clear()
        sequence(search(subject(), where, names=names), growing)
        second = [record.getMessage() for record in caplog.records]

    assert first == [
        "",
        "Starting automatic brute search",
        "",
        "Creating model config: m_config_0",
        "  Setting instance_group to [{'count': 1, 'kind': 'KIND_GPU'}]",
        "  Setting max_batch_size to 2",
        "  Enabling dynamic_batching",
        "",
        "Done with brute mode search.",
        "Done gathering concurrency sweep measurements for reports",
    ]
    assert second == [
        "",
        "Starting automatic brute search",
        "",
        "Found existing model config: m_config_0",
        "Done with brute mode search.",
        "Done gathering concurrency sweep measurements for reports",
    ]


@pytest.mark.parametrize(
    "where", [limits(), limits(instances=(2, 3), batch=(3, 15), concurrency=(5, 16))]
)
def test_the_number_announced_is_what_a_surface_without_a_plateau_takes(where: Any) -> None:
    asked = search(subject(), where)

    assert len(sequence(asked, growing)) == asked.most_trials


def test_a_flat_surface_takes_far_less_than_the_number_announced() -> None:
    trials = searched(respond=flat)

    # four loads for each variant, two batch limits for each instance count
    assert len(trials) == 4 * (1 + 5 * 2)
