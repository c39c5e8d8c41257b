# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Model configurations: how parameters change them, what makes them equal, what they are called;
names of models that are measured together.

Model configurations between Triton's protobuf, its JSON, and our mappings.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.models import (
    ModelFacts,
    VariantNames,
    apply_parameters,
    fingerprint,
    freeze,
    group_members,
    group_name,
    step_models,
    thaw,
)
from model_analyzer.domain.protobuf import from_json, normal, to_json
from tests.unit.builders import variant


def facts(name: str = "m", *, composing: tuple[ModelFacts, ...] = (), **config: Any) -> ModelFacts:
    return ModelFacts(name=name, config=freeze(config), files="files", composing=composing)


# ------------------------------------------------------------------------------ applied parameters


@pytest.mark.parametrize(
    ("base", "parameters", "expected"),
    [
        ({"max_batch_size": 4}, {}, {"max_batch_size": 4}),
        ({"max_batch_size": 4}, {"max_batch_size": 8}, {"max_batch_size": 8}),
        ({"max_batch_size": 4}, {"max_batch_size": None}, {"max_batch_size": 4}),
        ({"max_batch_size": 4}, {"max_batch_size": 0}, {"max_batch_size": 0}),
        ({}, {"dynamic_batching": {}}, {"dynamic_batching": {}}),
        (
            {"dynamic_batching": {"max_queue_delay_microseconds": 100}},
            {"dynamic_batching": {}},
            {"dynamic_batching": {"max_queue_delay_microseconds": 100}},
        ),
        (
            {"dynamic_batching": {"max_queue_delay_microseconds": 100}},
            {"dynamic_batching": {"preferred_batch_size": [4], "priority_levels": None}},
            {
                "dynamic_batching": {
                    "max_queue_delay_microseconds": 100,
                    "preferred_batch_size": [4],
                }
            },
        ),
        (
            {"optimization": {"cuda": {"graphs": False, "busy_wait_events": True}}},
            {"optimization": {"cuda": {"graphs": True}}},
            {"optimization": {"cuda": {"graphs": True, "busy_wait_events": True}}},
        ),
        (
            {"instance_group": [{"kind": "KIND_GPU", "count": 1}, {"kind": "KIND_CPU"}]},
            {"instance_group": [{"count": 2}]},
            {"instance_group": [{"count": 2}]},
        ),
        ({"parameters": 3}, {"parameters": {"a": 1}}, {"parameters": {"a": 1}}),
        (
            {"version_policy": {"latest": {"num_versions": 2}}},
            {"version_policy": {"specific": {"versions": [1]}}},
            {"version_policy": {"specific": {"versions": [1]}}},
        ),
        (
            {"sequence_batching": {"direct": {}, "max_sequence_idle_microseconds": 5}},
            {"sequence_batching": {"oldest": {"max_candidate_sequences": 4}}},
            {
                "sequence_batching": {
                    "max_sequence_idle_microseconds": 5,
                    "oldest": {"max_candidate_sequences": 4},
                }
            },
        ),
        (
            {"sequence_batching": {"oldest": {"max_candidate_sequences": 4}}},
            {"sequence_batching": {"max_sequence_idle_microseconds": 5}},
            {
                "sequence_batching": {
                    "oldest": {"max_candidate_sequences": 4},
                    "max_sequence_idle_microseconds": 5,
                }
            },
        ),
        (
            {"version_policy": {"specific": {"versions": [1]}}},
            {"version_policy": {"latest": None}},
            {"version_policy": {"specific": {"versions": [1]}}},
        ),
        (
            {"version_policy": {"latest": {"num_versions": 2}}},
            {"version_policy": {"latest": None, "all": {}}},
            {"version_policy": {"all": {}}},
        ),
        (
            {"parameters": {"latest": {"string_value": "1"}}},
            {"parameters": {"all": {"string_value": "2"}}},
            {"parameters": {"latest": {"string_value": "1"}, "all": {"string_value": "2"}}},
        ),
    ],
)
def test_mappings_are_merged_other_values_replaced_and_null_changes_nothing(
    base: Mapping[str, Any], parameters: Mapping[str, Any], expected: Mapping[str, Any]
) -> None:
    assert thaw(apply_parameters(freeze(base), parameters)) == expected


def test_neither_the_base_nor_the_parameters_change() -> None:
    base = freeze({"dynamic_batching": {"a": 1}})
    parameters = {"dynamic_batching": {"b": [2]}, "instance_group": [{"count": 1}]}
    changed = apply_parameters(base, parameters)
    parameters["instance_group"][0]["count"] = 9  # type: ignore[index]
    assert thaw(base) == {"dynamic_batching": {"a": 1}}
    assert thaw(changed["instance_group"]) == [{"count": 1}]


def test_a_changed_configuration_cannot_be_changed_again() -> None:
    changed = apply_parameters({}, {"dynamic_batching": {"a": 1}})
    with pytest.raises(TypeError):
        changed["max_batch_size"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        changed["dynamic_batching"]["a"] = 2


# ------------------------------------------------------------------------------------ fingerprints


def test_a_fingerprint_does_not_see_the_order_of_keys() -> None:
    assert fingerprint({"a": 1, "b": {"c": 2, "d": 3}}) == fingerprint(
        {"b": {"d": 3, "c": 2}, "a": 1}
    )


def test_a_fingerprint_does_not_see_whether_values_are_frozen() -> None:
    value = {"a": [1, {"b": [2]}]}
    assert fingerprint(freeze(value)) == fingerprint(value)


@pytest.mark.parametrize(
    "other",
    [{"a": [2, 1]}, {"a": [1]}, {"a": [1, "2"]}, {"a": [1, 2], "b": None}, {"A": [1, 2]}, {}],
)
def test_a_fingerprint_sees_everything_else(other: Any) -> None:
    assert fingerprint(other) != fingerprint({"a": [1, 2]})


def test_a_fingerprint_stays_the_same_from_run_to_run() -> None:
    digest = fingerprint({"name": "ünï", "max_batch_size": 8, "on": True, "rate": 0.5, "x": None})
    assert digest == fingerprint(
        {"x": None, "rate": 0.5, "on": True, "max_batch_size": 8, "name": "ünï"}
    )
    assert len(digest) == 32
    assert set(digest) <= set("0123456789abcdef")


# ------------------------------------------------------------------------------- equal variants


def test_variants_of_equal_content_are_the_same_whatever_they_are_called() -> None:
    first = variant("m_config_0", max_batch_size=8, backend="python")
    other = variant("m_config_7", backend="python", max_batch_size=8)
    assert first.identity == other.identity


def test_everything_that_a_server_loads_changes_the_identity_of_a_variant() -> None:
    part = variant("p_config_default", model="p", max_batch_size=1)
    different = [
        variant(max_batch_size=8),
        variant(max_batch_size=4),
        variant(max_batch_size=8, model="n"),
        variant(max_batch_size=8, files="changed"),
        variant(max_batch_size=8, composing=[part]),
        variant(max_batch_size=8, composing=[variant("p_config_0", model="p", max_batch_size=2)]),
    ]
    assert len({each.identity for each in different}) == len(different)


@pytest.mark.parametrize(
    ("backend", "group", "count", "same"),
    [
        ("python", {"kind": "KIND_CPU"}, 1, True),
        ("python", {}, 1, True),
        ("python", {"kind": "KIND_GPU", "gpus": [0]}, 1, True),
        ("python", {"kind": "KIND_CPU"}, 2, False),
        # of these, the server makes two on CPUs
        ("onnxruntime", {"kind": "KIND_CPU"}, 1, False),
        ("onnxruntime", {"kind": "KIND_CPU"}, 2, True),
        ("onnxruntime", {"kind": "KIND_GPU"}, 1, True),
        ("onnxruntime", {}, 1, False),
        ("onnxruntime", {}, 2, False),
        ("tensorflow_savedmodel", {"kind": "KIND_CPU"}, 2, True),
    ],
)
def test_a_group_without_a_count_equals_one_with_the_default_count(
    backend: str, group: dict[str, Any], count: int, same: bool
) -> None:
    bare = variant(backend=backend, instance_group=[group])
    counted = variant(backend=backend, instance_group=[{**group, "count": count}])
    assert (bare.identity == counted.identity) is same


# ---------------------------------------------------------------------------- names of variants


def test_variants_are_numbered_in_order_of_creation() -> None:
    names = VariantNames()
    made = [names.variant(facts(), {"max_batch_size": size}).name for size in (4, 1, 2)]
    assert made == ["m_config_0", "m_config_1", "m_config_2"]


def test_equal_content_keeps_its_first_name() -> None:
    names, model = VariantNames(), facts(backend="python", max_batch_size=1)
    first = names.variant(model, {"max_batch_size": 4, "dynamic_batching": {}})
    names.variant(model, {"max_batch_size": 2})
    assert not names.knows(model, {"max_batch_size": 16})
    assert names.knows(model, {"dynamic_batching": {}, "max_batch_size": 4})
    again = names.variant(model, {"dynamic_batching": {}, "max_batch_size": 4, "backend": None})
    assert again == first


def test_every_model_is_numbered_on_its_own() -> None:
    names = VariantNames()
    made = [names.variant(facts(name), {"max_batch_size": 4}).name for name in ("a", "b", "a")]
    assert made == ["a_config_0", "b_config_0", "a_config_0"]


def test_a_sweep_that_meets_the_default_gets_a_number_of_its_own() -> None:
    names, model = VariantNames(), facts(max_batch_size=4)
    default = names.default(model)
    swept = names.variant(model, {"max_batch_size": 4})
    assert (default.name, swept.name) == ("m_config_default", "m_config_0")
    assert (default.is_default, swept.is_default) == (True, False)
    assert default.config == swept.config == model.config


def test_known_variants_keep_their_numbers_and_new_ones_get_free_ones() -> None:
    names = VariantNames.known(
        [
            variant("m_config_0", max_batch_size=1),
            variant("m_config_7", max_batch_size=8),
            variant("m_config_3", max_batch_size=4),
            variant("m_config_default", max_batch_size=2),
        ]
    )
    assert names.variant(facts(), {"max_batch_size": 8}).name == "m_config_7"
    assert names.variant(facts(), {"max_batch_size": 4}).name == "m_config_3"
    assert names.variant(facts(), {"max_batch_size": 2}).name == "m_config_1"
    assert names.variant(facts(), {"max_batch_size": 16}).name == "m_config_2"
    assert names.variant(facts(), {"max_batch_size": 32}).name == "m_config_4"


def test_a_resumed_run_gives_the_same_names() -> None:
    def named(names: VariantNames) -> list[str]:
        return [names.variant(facts(), {"max_batch_size": size}).name for size in (1, 2, 4, 8)]

    names = VariantNames()
    everything = named(names)
    tried = [names.variant(facts(), {"max_batch_size": size}) for size in (1, 2)]
    assert named(VariantNames.known(tried)) == everything


def test_names_of_one_model_are_not_used_for_another() -> None:
    names = VariantNames.known([variant("a_config_4", model="a", max_batch_size=1)])
    assert not names.knows(facts("b"), {"max_batch_size": 1})
    assert names.variant(facts("b"), {"max_batch_size": 1}).name == "b_config_0"


def test_a_model_whose_name_looks_like_a_variant_is_a_model() -> None:
    model = facts("net_config_1")
    names = VariantNames.known(
        [variant("net_config_1_config_5", model="net_config_1", max_batch_size=1)]
    )
    assert names.variant(model, {"max_batch_size": 1}).name == "net_config_1_config_5"
    assert names.variant(model, {"max_batch_size": 2}).name == "net_config_1_config_0"
    assert names.variant(facts("net"), {"max_batch_size": 2}).name == "net_config_0"


def test_a_model_that_is_called_default_has_variants_too() -> None:
    odd = variant("x_config_default_config_0", model="x_config_default")
    assert not odd.is_default
    assert VariantNames().default(facts("x_config_default")).is_default


def test_variants_of_an_ensemble_hold_its_parts_as_they_are() -> None:
    parts = (facts("first", max_batch_size=1), facts("second", max_batch_size=2))
    ensemble = facts("e", composing=parts, ensemble_scheduling={})
    made = VariantNames().variant(ensemble, {"max_batch_size": 8})
    assert [part.name for part in made.composing] == [
        "first_config_default",
        "second_config_default",
    ]
    assert VariantNames().default(ensemble).composing == made.composing


def test_a_name_includes_the_variants_that_the_model_calls() -> None:
    part = facts("part")
    caller = facts("m", composing=(part,))
    names = VariantNames()
    first, second = (names.variant(part, {"max_batch_size": size}) for size in (1, 2))

    made = [names.variant(caller, {}, [called]) for called in (first, second, first)]

    assert [variant.name for variant in made] == ["m_config_0", "m_config_1", "m_config_0"]
    assert made[1].composing == (second,)
    assert names.knows(caller, {}, [second])
    assert not names.knows(caller, {})


def test_a_name_given_twice_belongs_to_the_first() -> None:
    """Upstream gives a BLS model one name, whatever it calls."""
    parts = [variant(f"part_config_{size}", model="part", max_batch_size=size) for size in (1, 2)]
    caller = facts("m", composing=(facts("part"),))

    names = VariantNames.known([variant("m_config_0", composing=[part]) for part in parts])

    made = [names.variant(caller, {}, [part]) for part in parts]
    assert [named.name for named in made] == ["m_config_0", "m_config_1"]


def test_a_name_shared_by_several_combinations_is_shown_with_the_parts() -> None:
    part, default = (variant(f"p_config_{name}", model="p", files="") for name in ("0", "default"))
    imported = variant("m_config_0", files="", composing=[part])
    assert imported.telling_name == "m_config_0: p_config_0"
    assert imported.folder == "m_config_0,p_config_0"
    ours = variant("m_config_0", composing=[part])
    ensemble = variant("m_config_0", files="", composing=[part], ensemble_scheduling={})
    whole_default = variant("m_config_default", files="", composing=[default])
    assert [named.telling_name for named in (ours, ensemble, whole_default)] == [
        "m_config_0",
        "m_config_0",
        "m_config_default",
    ]


def test_the_names_of_called_variants_are_learned_as_well() -> None:
    part = facts("part")
    caller = facts("m", composing=(facts("inner", composing=(part,)),))
    names = VariantNames()
    inner = [
        names.variant(caller.composing[0], {}, [names.variant(part, {"max_batch_size": size})])
        for size in (1, 2)
    ]
    made = [names.variant(caller, {}, [called]) for called in inner]

    later = VariantNames.known(made[1:])

    assert later.variant(part, {"max_batch_size": 2}).name == "part_config_1"
    assert later.variant(part, {"max_batch_size": 4}).name == "part_config_0"
    assert later.variant(caller.composing[0], {}, inner[1].composing).name == "inner_config_1"
    assert later.variant(caller, {}, inner[1:]).name == "m_config_1"


# ------------------------------------------------------------------------------ facts of a model


@pytest.mark.parametrize(
    ("config", "batches", "dynamically", "ensemble"),
    [
        ({}, False, False, False),
        ({"max_batch_size": 0}, False, False, False),
        ({"max_batch_size": 8}, True, True, False),
        ({"max_batch_size": 8, "sequence_batching": {}}, True, False, False),
        ({"max_batch_size": 1, "ensemble_scheduling": {"step": []}}, True, True, True),
    ],
)
def test_what_a_model_can_do(
    config: dict[str, Any], batches: bool, dynamically: bool, ensemble: bool
) -> None:
    model = facts(**config)
    assert model.supports_batching is batches
    assert model.supports_dynamic_batching is dynamically
    assert model.is_ensemble is ensemble


# --------------------------------------------------------------------------- facts of a variant


@pytest.mark.parametrize(
    ("groups", "gpus", "expected"),
    [
        (None, 0, [(1, "CPU")]),
        (None, 2, [(2, "GPU")]),
        ([{"kind": "KIND_CPU", "count": 3}], 2, [(3, "CPU")]),
        ([{"kind": "KIND_GPU", "count": 2}], 1, [(2, "GPU")]),
        ([{"kind": "KIND_GPU", "count": 2}], 4, [(8, "GPU")]),
        ([{"kind": "KIND_GPU", "count": 2, "gpus": [0, 2]}], 4, [(4, "GPU")]),
        ([{"kind": "KIND_GPU", "count": 2}], 0, [(2, "GPU")]),
        ([{"count": 2}], 0, [(2, "CPU")]),
        ([{"count": 2}], 1, [(2, "GPU")]),
        ([{"kind": "KIND_GPU"}], 1, [(1, "GPU")]),
        ([{"kind": "KIND_GPU", "count": -1}], 2, [(2, "GPU")]),
        ([{"kind": "KIND_AUTO", "count": 0}], 0, [(1, "CPU")]),
        ([{"kind": "KIND_MODEL", "count": 2}], 4, [(2, "GPU")]),
        ([{"kind": "KIND_MODEL", "count": 2}], 0, [(2, "CPU")]),
        (
            [
                {"kind": "KIND_GPU", "count": 3},
                {"kind": "KIND_CPU", "count": 1},
                {"kind": "KIND_CPU", "count": 1},
            ],
            1,
            [(3, "GPU"), (2, "CPU")],
        ),
    ],
)
def test_instances_add_up_by_kind_and_count_on_every_gpu(
    groups: list[dict[str, Any]] | None, gpus: int, expected: list[tuple[int, str]]
) -> None:
    config: dict[str, Any] = {} if groups is None else {"instance_group": groups}
    assert list(variant(**config).instances(gpus=gpus)) == expected


def test_backends_that_get_two_instances_on_cpus_are_shown_with_two() -> None:
    assert list(variant(backend="onnxruntime").instances(gpus=0)) == [(2, "CPU")]
    assert list(variant(backend="onnxruntime").instances(gpus=1)) == [(1, "GPU")]
    below_one = variant(backend="onnxruntime", instance_group=[{"kind": "KIND_CPU", "count": -1}])
    assert list(below_one.instances(gpus=0)) == [(2, "CPU")]
    group = {"kind": "KIND_CPU", "count": 1}
    shown = variant(backend="onnxruntime", instance_group=[group])
    assert list(shown.instances(gpus=0)) == [(1, "CPU")]


@pytest.mark.parametrize(
    ("config", "platform"),
    [
        ({"backend": "onnxruntime"}, "onnxruntime"),
        ({"platform": "tensorrt_plan"}, "tensorrt_plan"),
        ({"backend": "", "platform": "ensemble"}, "ensemble"),
        ({}, "unknown"),
    ],
)
def test_a_variant_names_its_backend_or_its_platform(config: dict[str, Any], platform: str) -> None:
    assert variant(**config).platform == platform


def test_a_variant_knows_its_batching() -> None:
    plain = variant()
    assert plain.max_batch_size == 0
    assert not plain.has_dynamic_batching
    batching = variant(max_batch_size=8, dynamic_batching={"preferred_batch_size": [2, 8, 4]})
    assert batching.max_batch_size == 8
    assert batching.has_dynamic_batching
    assert variant(dynamic_batching={}).has_dynamic_batching


def test_steps_are_named_once_and_in_their_order() -> None:
    steps = [{"model_name": name} for name in ("b", "a", "b")]

    assert step_models(freeze({"ensemble_scheduling": {"step": steps}})) == ("b", "a")
    assert step_models(freeze({"backend": "python"})) == ()


# ----------------------------------------------------------------------------------------- GPUs


@pytest.mark.parametrize(
    ("config", "gpus", "expected"),
    [
        ({"instance_group": [{"kind": "KIND_CPU"}]}, 1, False),
        ({"instance_group": [{"kind": "KIND_CPU"}, {"kind": "KIND_GPU"}]}, 1, True),
        ({}, 1, True),  # Triton puts an instance on each GPU then
        ({}, 0, False),
    ],
)
def test_a_variant_uses_gpus_if_an_instance_does(
    config: Mapping[str, Any], gpus: int, expected: bool
) -> None:
    assert variant(**config).uses_gpus(gpus=gpus) == expected


def test_a_variant_uses_the_gpus_of_the_variants_that_it_calls() -> None:
    parts = {
        kind: variant("part", instance_group=[{"kind": f"KIND_{kind}"}]) for kind in ("CPU", "GPU")
    }
    for kind, part in parts.items():
        ensemble = variant(ensemble_scheduling={}, composing=[part])
        caller = variant(instance_group=[{"kind": "KIND_CPU"}], composing=[part])
        assert ensemble.uses_gpus(gpus=1) == (kind == "GPU")
        assert caller.uses_gpus(gpus=1) == (kind == "GPU")


@pytest.mark.parametrize(
    ("members", "name"),
    [
        (["a"], "a"),
        (["a", "b"], "a,b"),
        (["a,b"], r"a\,b"),
        (["a,b", "c"], r"a\,b,c"),
        (["a\\"], r"a\\"),
    ],
)
def test_a_comma_of_a_member_is_no_separator(members: list[str], name: str) -> None:
    assert group_name(members) == name
    assert group_members(name) == tuple(members)


@given(st.lists(st.text(min_size=1), min_size=1))
def test_a_group_name_gives_back_its_members(members: list[str]) -> None:
    assert group_members(group_name(members)) == tuple(members)


CONFIG = freeze(
    {
        "name": "m",
        "max_batch_size": 8,
        "input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": [-1, 4]}],
        "dynamic_batching": {"max_queue_delay_microseconds": 2**53 + 1},
        "parameters": {"b": {"string_value": "2"}, "a": {"string_value": "1"}},
    }
)


def test_json_has_64_bit_integers_as_text() -> None:
    content = to_json(CONFIG)

    assert content["maxBatchSize"] == 8
    assert content["input"] == [{"name": "IN", "dataType": "TYPE_FP32", "dims": ["-1", "4"]}]
    assert content["dynamicBatching"] == {"maxQueueDelayMicroseconds": str(2**53 + 1)}


def test_names_may_stay_those_of_the_protobuf() -> None:
    assert to_json(CONFIG, proto_names=True)["max_batch_size"] == 8


@pytest.mark.parametrize("proto_names", [False, True])
def test_a_configuration_comes_back_from_json(proto_names: bool) -> None:
    assert from_json(to_json(CONFIG, proto_names=proto_names)) == CONFIG


def test_fields_with_default_values_are_left_out() -> None:
    spelled_out = {
        **CONFIG,
        "platform": "",
        "batch_input": [],
        "instance_group": [{"count": 1, "kind": "KIND_AUTO"}],
        "optimization": {},
    }

    config = normal(freeze(spelled_out))

    assert config["instance_group"] == ({"count": 1},)
    assert config["optimization"] == {}  # it is there, and says nothing
    assert "platform" not in config
    assert "batch_input" not in config
    assert normal(CONFIG) == CONFIG


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"max_batch_sise": 4}, "max_batch_sise"),
        ({"input": [{"dataType": "TYPE_FLOAT"}]}, "TYPE_FLOAT"),
        ({"maxBatchSize": "many"}, "many"),
        ({"maxBatchSize": 2**40}, "max_?[bB]atch_?[sS]ize|range"),
        ({"input": 5}, "input"),
        ({"input": ["IN"]}, "input"),
        ({"parameters": ["a"]}, "parameters"),
        ({"dynamicBatching": "on"}, ""),
    ],
)
def test_an_invalid_configuration_is_refused(content: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=f"not a model configuration: .*({words})"):
        from_json(content)
