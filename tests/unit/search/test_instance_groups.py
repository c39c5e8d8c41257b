# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which instance groups the variants of a search have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from model_analyzer.domain.models import ModelFacts, thaw
from model_analyzer.search.instance_groups import fixed_counts, groups_with, has_several_groups
from model_analyzer.search.plan import VariedModel

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
