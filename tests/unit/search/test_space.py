# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which sizes there are: dimensions, their values, and what a coordinate stands for; which instance
groups the variants of a search have.

How variants that a server would refuse are counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from model_analyzer.domain.models import ModelFacts, thaw
from model_analyzer.domain.settings import SearchMode
from model_analyzer.errors import ConfigError
from model_analyzer.search.choose import mode_for
from model_analyzer.search.plan import Subject, VariedModel
from model_analyzer.search.trial_map import Space, sizes_at, space_of_sizes
from model_analyzer.search.variants import Size, fixed_counts, groups_with, has_several_groups
from tests.unit.search.surfaces import (
    bounds,
    composing,
    counts,
    ensemble,
    limits,
    model,
    search,
    subject,
    together,
)


def space(
    target: Subject, *, batches: tuple[int, int] = (1, 8), instances: tuple[int, int] = (1, 3)
) -> Space:
    return space_of_sizes(target, batch_limits=lambda _: batches, instances=instances)


def values(of: Space) -> dict[str, list[list[int]]]:
    """The values of the dimensions of each model."""
    by_model: dict[str, list[list[int]]] = {}
    for dimension in of.dimensions:
        by_model.setdefault(dimension.model, []).append(list(dimension.values))
    return by_model


def listed(parameters: Mapping[str, Sequence[Any]], **facts: Any) -> list[list[int]]:
    return values(space(subject(model(**facts), parameters=parameters)))["m"]


def test_a_model_has_its_batch_limit_and_its_instances() -> None:
    assert listed({}) == [[1, 2, 4, 8], [1, 2, 3]]


def test_a_model_that_does_not_batch_has_its_instances_alone() -> None:
    assert listed({}, max_batch_size=0) == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("bounds", "limits"),
    [
        ((1, 1), [1]),
        ((1, 4), [1, 2, 4]),
        ((3, 20), [3, 4, 8, 16, 20]),
        ((16, 64), [16, 32, 64]),
        ((5, 6), [5, 6]),
    ],
)
def test_batch_limits_double_between_bounds_that_can_be_reached(
    bounds: tuple[int, int], limits: list[int]
) -> None:
    (limit, _) = space(subject(), batches=bounds).dimensions

    assert list(limit.values) == limits


def test_instances_begin_at_the_minimum() -> None:
    assert [list(d.values) for d in space(subject(), instances=(2, 4)).dimensions][1] == [2, 3, 4]


@pytest.mark.parametrize("numbers", [(4,), (1, 2, 4), (1, 8), (3, 4, 5), (1, 3, 8)])
def test_listed_instances_are_the_only_ones(numbers: Sequence[int]) -> None:
    assert listed(counts(*numbers))[1] == list(numbers)


def test_lists_are_brought_into_order() -> None:
    assert listed({**counts(4, 1, 2), "max_batch_size": [8, 2, 2]}) == [[2, 8], [1, 2, 4]]


def test_a_list_is_complete_even_if_bounds_may_be_exceeded() -> None:
    (limit, instances) = space(subject(parameters=counts(1, 4))).dimensions

    assert [instances.holds(index) for index in (-1, 0, 1, 2)] == [False, True, True, False]
    assert [limit.holds(index) for index in (-1, 3, 4, 99)] == [False, True, True, True]
    assert [limit.value(index) for index in (0, 3, 4, 99)] == [1, 8, 8, 8]


def test_there_is_nothing_beside_a_single_value() -> None:
    (_, instances) = space(subject(), instances=(2, 2)).dimensions

    assert not instances.holds(1)


def test_the_nearest_coordinate_of_the_space_keeps_its_ends() -> None:
    of = space(subject(parameters=counts(1, 4)))

    assert of.nearest((-2, -1)) == of.start == (0, 0)
    assert of.nearest((7, 7)) == (7, 1)


def test_the_size_is_the_number_of_combinations() -> None:
    assert space(subject()).size == 12
    assert space(subject(ensemble(model("a"), model("b", max_batch_size=0)))).size == 12 * 3


def test_a_batch_limit_is_not_below_the_preferred_batches() -> None:
    preferring = {"dynamic_batching": {"preferred_batch_size": [2, 4]}}

    assert listed({}, **preferring)[0] == [4, 8]
    assert listed({"max_batch_size": [1, 4, 8]}, **preferring)[0] == [4, 8]
    assert listed({"dynamic_batching": [{"preferred_batch_size": [2]}]}, **preferring)[0] == [
        2,
        4,
        8,
    ]


def test_a_batch_limit_is_not_below_what_the_client_sends() -> None:
    of = space(subject(ensemble(model("a"), model("b")), batch_sizes=(4,)))

    assert values(of) == {"a": [[4, 8], [1, 2, 3]], "b": [[4, 8], [1, 2, 3]]}


def test_an_ensemble_has_only_the_dimensions_of_its_parts_in_step_order() -> None:
    assert list(values(space(subject(ensemble(model("z"), model("a")))))) == ["z", "a"]


def test_a_bls_model_has_its_own_dimensions_before_those_of_what_it_calls() -> None:
    assert list(values(space(subject(model("m", model("a"), model("b")))))) == ["m", "a", "b"]


def test_of_nested_models_each_has_its_dimensions_once() -> None:
    inner = ensemble(model("a"), model("b"), name="inner")
    many = [model(f"x{number}") for number in range(5)]

    of = space(subject(ensemble(inner, model("a"), *many)))

    assert list(values(of)) == ["a", "b", "x0", "x1", "x2", "x3", "x4"]
    assert len(of.dimensions) == 14


def test_all_profiled_models_come_before_what_they_call() -> None:
    of = space(together(subject(model("m", model("a"))), subject(model("n"))))

    assert list(values(of)) == ["m", "n", "a"]


def test_options_of_composing_models_bound_their_dimensions() -> None:
    target = subject(ensemble(model("a"), model("b")), composing("a", parameters=counts(1, 2, 4)))

    assert values(space(target)) == {"a": [[1, 2, 4, 8], [1, 2, 4]], "b": [[1, 2, 4, 8], [1, 2, 3]]}


def test_a_coordinate_stands_for_a_size_of_every_model() -> None:
    of = space(subject(ensemble(model("a"), model("b", max_batch_size=0))))

    assert sizes_at(of.point((3, 1, 2))) == {
        "a": Size(instances=2, batch_limit=8),
        "b": Size(instances=3, batch_limit=None),
    }


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"optimization": [{}, {"priority": 1}]}, "optimization has 2 values"),
        (
            {"instance_group": [[{"count": 1}], [{"count": 1, "kind": "KIND_CPU"}]]},
            "the same number of instances",
        ),
    ],
)
def test_other_varied_parameters_are_an_error(parameters: Mapping[str, Any], message: str) -> None:
    target = subject(ensemble(model("a")), composing("a", parameters=parameters))

    with pytest.raises(ConfigError, match=message) as raised:
        space(target)

    assert raised.value.problems[0].where == "model_config_parameters of a"


LIMITED = {"resources": ({"name": "R", "count": 2, "global": True},), "priority": 3}


def varied(
    *groups: Mapping[str, Any],
    cpu_only: bool = False,
    listed: Sequence[Sequence[Mapping[str, Any]]] = (),
) -> VariedModel:
    config = {"name": "m", "backend": "python", "instance_group": groups}
    parameters = {"instance_group": tuple(listed)} if listed else {}
    facts = ModelFacts(name="m", config=config, files="")
    return VariedModel(facts=facts, cpu_only=cpu_only, parameters=parameters)


@pytest.mark.parametrize(
    "field",
    [
        {"rate_limiter": LIMITED},
        {"gpus": [1, 2]},
        {"host_policy": "numa_0"},
        {"secondary_devices": [{"kind": "KIND_NVDLA", "device_id": 0}]},
        {"profile": ["fast"]},
        {"passive": True},
        {"name": "first"},
    ],
)
def test_all_fields_of_the_only_group_are_kept(field: Mapping[str, Any]) -> None:
    model = varied({"count": 1, "kind": "KIND_GPU", **field})

    assert thaw(groups_with(model, 3)) == [thaw({"count": 3, "kind": "KIND_GPU", **field})]


@pytest.mark.parametrize(
    ("group", "cpu_only", "kind"),
    [
        ({}, False, "KIND_GPU"),
        ({"kind": "KIND_AUTO"}, False, "KIND_GPU"),
        ({"kind": "KIND_CPU"}, False, "KIND_CPU"),
        ({"kind": "KIND_MODEL"}, False, "KIND_MODEL"),
        ({"kind": "KIND_GPU"}, True, "KIND_CPU"),
        ({}, True, "KIND_CPU"),
    ],
)
def test_the_kind_is_that_of_the_model(group: Mapping[str, Any], cpu_only: bool, kind: str) -> None:
    assert groups_with(varied(group, cpu_only=cpu_only), 2) == [{"count": 2, "kind": kind}]


def test_a_group_on_cpus_names_no_gpus() -> None:
    group = {"count": 1, "kind": "KIND_GPU", "gpus": [0], "rate_limiter": LIMITED}

    groups = groups_with(varied(group, cpu_only=True), 2)

    assert groups == [{"count": 2, "kind": "KIND_CPU", "rate_limiter": LIMITED}]


def test_a_model_without_groups_gets_one() -> None:
    assert groups_with(varied(), 4) == [{"count": 4, "kind": "KIND_GPU"}]
    assert not fixed_counts(varied())


def test_several_groups_stay_as_they_are() -> None:
    groups: list[Mapping[str, Any]] = [
        {"count": 2, "kind": "KIND_CPU", "rate_limiter": LIMITED},
        {"kind": "KIND_CPU"},
    ]
    model = varied(*groups)

    assert has_several_groups(model)
    assert fixed_counts(model) == [3]
    assert groups_with(model, 3) == groups


def test_several_groups_move_to_cpus_if_there_are_no_gpus() -> None:
    groups = [{"count": 2, "kind": "KIND_CPU"}, {"count": 1, "kind": "KIND_GPU", "gpus": [0]}]

    placed = groups_with(varied(*groups, cpu_only=True), 3)

    assert placed == [{"count": 2, "kind": "KIND_CPU"}, {"count": 1, "kind": "KIND_CPU"}]


def test_listed_groups_replace_those_of_the_model() -> None:
    own = {"count": 1, "kind": "KIND_CPU", "rate_limiter": LIMITED}
    model = varied(own, own, listed=[[{"count": 2}], [{"count": 4, "host_policy": "a"}]])

    assert not has_several_groups(model)
    assert fixed_counts(model) == [2, 4]
    assert groups_with(model, 2) == [{"count": 2, "kind": "KIND_CPU"}]
    assert groups_with(model, 4) == [{"count": 4, "kind": "KIND_CPU", "host_policy": "a"}]


PREFERS_64 = model(max_batch_size=64, dynamic_batching={"preferred_batch_size": [16, 64]})
ABOVE = "preferred_batch_size 64 is above max_batch_size"


def sentences(target: Subject, mode: SearchMode, **settings: Any) -> list[str]:
    return [part.sentence for part in mode_for(target, limits(mode=mode, **settings)).left_out()]


def test_a_search_that_is_empty_says_so_with_the_remedy() -> None:
    where = {"instances": (1, 4), "batch": (1, 32), "quick": bounds(batch=(None, 32))}

    assert sentences(subject(PREFERS_64), SearchMode.BRUTE, **where) == [
        "m: 24 of 24 variants left out, because the server would refuse them:"
        f" {ABOVE} 1, 2, 4, 8, 16, 32; raise run_config_search_max_model_batch_size"
    ]


@pytest.mark.parametrize("mode", [SearchMode.BRUTE, SearchMode.OPTUNA, SearchMode.ADAPTIVE])
def test_a_part_of_a_search_is_counted(mode: SearchMode) -> None:
    where = {"instances": (1, 2), "batch": (32, 64)}

    assert sentences(subject(PREFERS_64), mode, **where) == [
        f"m: 2 of 4 variants left out, because the server would refuse them: {ABOVE} 32"
    ]


@pytest.mark.parametrize("listed", [{"max_batch_size": [8, 16]}, {"model_warmup": [[{}]]}])
def test_listed_values_are_no_bounds_of_a_search(listed: dict[str, Any]) -> None:
    prefers = model(max_batch_size=16, dynamic_batching={"preferred_batch_size": [64]})
    (sentence,) = sentences(subject(prefers, parameters=listed), SearchMode.BRUTE)

    assert sentence.endswith("; list max_batch_size 64")


@pytest.mark.parametrize("mode", [SearchMode.BRUTE, SearchMode.OPTUNA, SearchMode.ADAPTIVE])
def test_listed_batch_limits_are_what_is_counted(mode: SearchMode) -> None:
    listed: dict[str, list[Any]] = {"max_batch_size": [8, 64], "instance_group": [[{"count": 1}]]}

    (sentence,) = sentences(subject(PREFERS_64, parameters=listed), mode)

    assert sentence.startswith("m: 1 of 2 variants left out")
    assert sentence.endswith(f"{ABOVE} 8")


def test_the_usual_bound_is_raised_so_that_something_is_left() -> None:
    target = subject(model(max_batch_size=200, dynamic_batching={"preferred_batch_size": [200]}))
    where = limits(instances=(1, 1), batch=(64, 128), concurrency=(1, 1))

    trial = search(target, where).ask()

    assert trial is not None
    assert trial.is_legal
    assert (
        "2 of 3 variants"
        in sentences(target, SearchMode.BRUTE, instances=(1, 1), batch=(64, 128))[0]
    )


def test_listed_fields_are_counted_with_every_reason() -> None:
    target = subject(
        parameters={
            "dynamic_batching": [
                {"preferred_batch_size": [256]},
                {"priority_levels": 2},
                {"max_queue_delay_microseconds": 5},
            ]
        }
    )

    (sentence,) = sentences(target, SearchMode.BRUTE)

    assert sentence == (
        "m: 2 of 3 variants left out, because the server would refuse them: preferred_batch_size"
        " 256 is above max_batch_size 8; default_priority_level 0 is not in 1 to 2"
    )


def test_nothing_is_said_if_nothing_is_left_out() -> None:
    for mode in SearchMode:
        assert not sentences(subject(), mode)
