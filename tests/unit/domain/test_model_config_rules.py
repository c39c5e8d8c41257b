# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which configurations a Triton server refuses. Each line was tried on tritonserver 2.51; the
limits of a quick search that follow from the settings of a model.

Which servers allow shared memory of clients only if they are asked to; what the flags of
perf_analyzer say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from model_analyzer.domain.flags import needs_client_shm, shapes_of, shares_memory
from model_analyzer.domain.model_config_rules import least_batch_limit, rate_limits, refusal
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.settings import SearchMode, field_with_several_values, unsupported_loads
from model_analyzer.domain.trials import LoadKind
from tests.unit.builders import model_settings

BASE = {"name": "m", "backend": "python", "max_batch_size": 8}
CPU = {"kind": "KIND_CPU", "count": 1}
UNFILLED = {"data_type": "TYPE_FP32", "dims": [4]}
ZEROS = {"name": "z", "data_type": "TYPE_FP32", "dims": [2, 4], "zero_data": True}
DELAY = {"timeout_action": "DELAY", "default_timeout_microseconds": "5"}


def variant(*parts: ModelVariant, **config: Any) -> ModelVariant:
    return ModelVariant(
        model=config.get("name", "m"),
        name="m_config_0",
        config={**BASE, **config},
        files="",
        composing=parts,
    )


def batching(**fields: Any) -> Mapping[str, Any]:
    return {"dynamic_batching": fields}


def oldest(**fields: Any) -> Mapping[str, Any]:
    return {"sequence_batching": {"oldest": fields}}


def warm_up(size: int, *inputs: str, **fields: Any) -> Mapping[str, Any]:
    of_each = {"data_type": "TYPE_FP32", "dims": [4], "zero_data": True, **fields}
    sample = {"name": "w", "batch_size": size, "inputs": dict.fromkeys(inputs, of_each)}
    return {"model_warmup": [sample]}


def tensor(*dims: int, name: str = "x", **fields: Any) -> Mapping[str, Any]:
    return {"input": [{"name": name, "data_type": "TYPE_FP32", "dims": dims, **fields}]}


def reshaped(dims: list[int], shape: list[int]) -> Mapping[str, Any]:
    return tensor(*dims, reshape={"shape": shape})


def control(kind: str, name: str = "c", **fields: Any) -> Mapping[str, Any]:
    return {"name": name, "control": [{"kind": f"CONTROL_SEQUENCE_{kind}", **fields}]}


def controlled(*inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"sequence_batching": {"control_input": inputs}}


def stated(*initial: Mapping[str, Any]) -> Mapping[str, Any]:
    state = {"input_name": "s", "data_type": "TYPE_FP32", "dims": [-1, 4], "initial_state": initial}
    return {"sequence_batching": {"state": [state]}}


def step(name: str, limit: int) -> ModelVariant:
    return variant(name=name, max_batch_size=limit)


def ensemble(*parts: ModelVariant, **config: Any) -> ModelVariant:
    steps = [{"model_name": part.model} for part in parts]
    return variant(*parts, name="e", ensemble_scheduling={"step": steps}, **config)


REFUSED: list[tuple[Mapping[str, Any], str]] = [
    ({"platform": "python", "backend": ""}, 'platform "python" is unknown without a backend'),
    ({"platform": "onnxruntime", "backend": ""}, "write backend instead"),
    (batching(preferred_batch_size=[2, 16]), "preferred_batch_size 16 is above max_batch_size 8"),
    (batching(preferred_batch_size=[0]), "preferred_batch_size 0 is not positive"),
    ({"max_batch_size": 0, **batching(preferred_batch_size=[1])}, "1 is above max_batch_size 0"),
    ({"max_batch_size": -1}, "max_batch_size -1 is negative"),
    (oldest(preferred_batch_size=[16]), "of sequence_batching 16 is above max_batch_size 8"),
    (oldest(preferred_batch_size=[0]), "of sequence_batching 0 is not positive"),
    ({"max_batch_size": 0, **oldest(preferred_batch_size=[4])}, "4 is above max_batch_size 0"),
    ({"sequence_batching": {"direct": {"minimum_slot_utilization": 2}}}, "2 is not in 0 to 1"),
    ({"sequence_batching": {"direct": {"minimum_slot_utilization": -0.5}}}, "-0.5 is not in"),
    ({**batching(), **oldest()}, "dynamic_batching and sequence_batching exclude each other"),
    (warm_up(16), "batch_size of model_warmup 16 is above max_batch_size 8"),
    ({"max_batch_size": 0, **warm_up(2)}, "batch_size of model_warmup 2 is above max_batch_size 0"),
    (batching(priority_levels="2"), "default_priority_level 0 is not in 1 to 2"),
    (batching(priority_levels=2, default_priority_level=3), "default_priority_level 3 is not in"),
    (
        batching(priority_levels=2, default_priority_level=1, priority_queue_policy={"3": {}}),
        "priority_queue_policy 3 is not in 1 to 2",
    ),
    (
        batching(preserve_ordering=True, priority_levels=2, default_priority_level=1),
        "preserve_ordering excludes several priority_levels",
    ),
    (batching(preserve_ordering=True, default_queue_policy=DELAY), "excludes the timeout_action"),
    (batching(preserve_ordering=True, priority_queue_policy={"1": DELAY}), "excludes the timeout"),
    ({"instance_group": [{**CPU, "gpus": [0]}]}, "instance_group of KIND_CPU names gpus"),
    ({"instance_group": [{"kind": "KIND_MODEL", "gpus": [0]}]}, "of KIND_MODEL names gpus"),
    ({"instance_group": [{**CPU, "profile": ["a"]}]}, "which only TensorRT models have"),
    ({"instance_group": [{**CPU, "passive": True}]}, "every instance_group is passive"),
    (
        {"response_cache": {"enable": True}, "model_transaction_policy": {"decoupled": True}},
        "response_cache does not support decoupled models",
    ),
    ({"response_cache": {"enable": True}, **oldest()}, "does not support sequence_batching"),
    ({"version_policy": {"latest": {}}}, "version_policy selects no version"),
    (
        {"max_batch_size": 0, "input": [{"name": "x", "dims": [1], "reshape": {"shape": []}}]},
        "the empty reshape of x needs batching",
    ),
    (tensor(0), "dims [0] of x has a size below 1 that is not -1"),
    (tensor(4, -2), "dims [4, -2] of x has a size"),
    ({"output": tensor(0)["input"]}, "dims [0] of x has a size"),
    (reshaped([4], [0]), "reshape [0] of x has a size"),
    (reshaped([4], [3]), "the reshape [3] of x has other elements than its dims [4]"),
    (reshaped([4], []), "the reshape [] of x has other elements than its dims [4]"),
    (reshaped([-1, 4], [4, -1]), "the reshape [4, -1] of x has other elements"),
    (reshaped([-1, 4], [-1, -1, 4]), "has other elements than its dims [-1, 4]"),
    (tensor(3, 4, format="FORMAT_NCHW"), "FORMAT_NCHW of x needs three dims"),
    (tensor(2, is_shape_tensor=True), "x is a shape tensor, which only TensorRT models have"),
    (
        {**tensor(4), "batch_input": [{"source_input": ["y"], "data_type": "TYPE_FP32"}]},
        "source_input ['y'] of batch_input is not one input",
    ),
    (
        {**tensor(4), "batch_input": [{"source_input": ["x"], "data_type": "TYPE_INT64"}]},
        "the data_type of batch_input is neither TYPE_INT32 nor TYPE_FP32",
    ),
    (
        {**tensor(4), "batch_output": [{"source_input": ["x"], "target_name": ["o"]}]},
        "target_name ['o'] of batch_output is no output",
    ),
    ({**tensor(4), **warm_up(1, "y")}, "model_warmup w has no input x"),
    (
        {**tensor(4), "model_warmup": [{"name": "w", "inputs": {"x": UNFILLED}}]},
        "model_warmup w has x without zero_data or random_data or input_data_file",
    ),
    ({**tensor(4), **warm_up(1, "x", dims=[5])}, "w has x with dims [5] instead of [4]"),
    ({**tensor(-1), **warm_up(1, "x", dims=[2, 2])}, "w has x with dims [2, 2] instead of [-1]"),
    (
        {**tensor(4), **warm_up(1, "x", data_type="TYPE_INT32")},
        "model_warmup w has x as TYPE_INT32 instead of TYPE_FP32",
    ),
    (controlled(control("START", int32_false_true=[0])), "CONTROL_SEQUENCE_START needs one of"),
    (controlled(control("END")), "CONTROL_SEQUENCE_END needs one of int32_false_true"),
    (
        controlled(control("READY", int32_false_true=[0, 1], fp32_false_true=[0.0, 1.0])),
        "CONTROL_SEQUENCE_READY needs one of",
    ),
    (
        controlled(
            control("END", int32_false_true=[0, 1]), control("END", "d", int32_false_true=[0, 1])
        ),
        "CONTROL_SEQUENCE_END is given twice",
    ),
    (
        controlled(
            control("START", int32_false_true=[0, 1]), control("END", int32_false_true=[0, 1])
        ),
        "the names of control_input are missing or equal",
    ),
    (controlled(control("CORRID", data_type="TYPE_FP32")), "CONTROL_SEQUENCE_CORRID needs a data_"),
    (stated({**ZEROS, "name": ""}), "the initial_state of state s has no name"),
    (stated({**ZEROS, "data_type": "TYPE_INT32"}), "of state s has another data_type"),
    (stated({**ZEROS, "dims": [-1, 4]}), "of state s has dims [-1, 4] instead of [-1, 4]"),
    (
        stated({key: value for key, value in ZEROS.items() if key != "zero_data"}),
        "has neither zero_data nor data_file",
    ),
    (controlled(control("CORRID")), "CONTROL_SEQUENCE_CORRID needs a data_type of TYPE_UINT64"),
]

ACCEPTED: list[Mapping[str, Any]] = [
    {},
    {"max_batch_size": 0},
    {"platform": "python"},
    {"platform": "onnxruntime_onnx", "backend": ""},
    batching(preferred_batch_size=[2, 8]),
    {"max_batch_size": 0, **batching(default_queue_policy={"max_queue_size": 5})},
    oldest(max_candidate_sequences=2),
    oldest(max_candidate_sequences=4, preferred_batch_size=[8]),
    {"max_batch_size": 0, **oldest(max_candidate_sequences=4)},
    {"sequence_batching": {}},
    warm_up(8),
    {"max_batch_size": 0, **warm_up(1)},
    {"max_batch_size": 0, **warm_up(0)},
    batching(priority_levels=2, default_priority_level=1),
    batching(default_priority_level=1, priority_queue_policy={"1": {}}),
    batching(preserve_ordering=True, priority_levels=1, default_priority_level=1),
    batching(preserve_ordering=True, default_queue_policy={"timeout_action": "DELAY"}),
    batching(default_queue_policy=DELAY),
    {"instance_group": [{"kind": "KIND_MODEL", "count": 3}, {**CPU, "passive": True}]},
    {"instance_group": [{**CPU, "secondary_devices": [{"kind": "KIND_NVDLA"}]}]},
    {"response_cache": {"enable": True}},
    {"model_transaction_policy": {"decoupled": True}, **batching(preserve_ordering=True)},
    {"input": [{"name": "x", "dims": [1], "reshape": {"shape": []}}]},
    {"version_policy": {"latest": {"num_versions": 1}}},
    {"input": [{"name": "x", "dims": [-1], "allow_ragged_batch": True}], "max_batch_size": 0},
    reshaped([4], [2, 2]),
    reshaped([2, -1, 6], [1, 2, -1, 3, 2]),
    tensor(3, 4, 4, format="FORMAT_NCHW"),
    {"platform": "tensorrt_plan", "backend": "", **tensor(2, is_shape_tensor=True)},
    {**tensor(4), "batch_input": [{"source_input": ["x"], "data_type": "TYPE_FP32"}]},
    {**tensor(4), **warm_up(1, "x", "y")},
    {**tensor(-1), **warm_up(1, "x")},
    stated(),
    stated(ZEROS),
    stated({**ZEROS, "zero_data": False}),
    controlled(
        control("START", bool_false_true=[False, True]),
        control("READY", "r", fp32_false_true=[0.0, 1.0]),
        control("CORRID", "i", data_type="TYPE_STRING"),
    ),
]


@pytest.mark.parametrize(("config", "reason"), REFUSED)
def test_what_a_server_refuses_has_a_reason(config: Mapping[str, Any], reason: str) -> None:
    assert reason in str(refusal(variant(**config)))
    # also as a part of another model
    assert reason in str(refusal(variant(variant(**config), name="caller")))


@pytest.mark.parametrize("config", ACCEPTED)
def test_what_a_server_accepts_has_none(config: Mapping[str, Any]) -> None:
    assert refusal(variant(**config)) is None


@pytest.mark.parametrize(
    ("limits", "own", "reason"),
    [
        ((8, 8), 8, None),
        ((8, 8), 4, None),
        ((0, 8), 8, None),
        ((8, 8), 0, None),
        ((8, 4), 8, "max_batch_size 8 of the ensemble e is above that of b, which is 4"),
    ],
)
def test_an_ensemble_takes_no_larger_batches_than_its_steps(
    limits: tuple[int, int], own: int, reason: str | None
) -> None:
    refused = refusal(ensemble(step("a", limits[0]), step("b", limits[1]), max_batch_size=own))

    assert (None if refused is None else str(refused)) == reason


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"instance_group": [CPU]}, "an ensemble has no instance_group"),
        (warm_up(1), "an ensemble has no model_warmup"),
    ],
)
def test_an_ensemble_has_no_instances(config: Mapping[str, Any], reason: str) -> None:
    assert str(refusal(ensemble(step("a", 8), **config))) == reason


@pytest.mark.parametrize(
    ("config", "limit"),
    [
        ({}, 1),
        (batching(preferred_batch_size=[4, 64, 16]), 64),
        (oldest(preferred_batch_size=[32]), 32),
        ({**batching(preferred_batch_size=[4]), **warm_up(16)}, 16),
    ],
)
def test_other_fields_bound_the_batch_limit(config: Mapping[str, Any], limit: int) -> None:
    assert least_batch_limit({**BASE, **config}) == limit


def limited(count: int, name: str = "R", *, is_global: bool = False) -> ModelVariant:
    resource = {"name": name, "count": count, **({"global": True} if is_global else {})}
    return variant(instance_group=[{**CPU, "rate_limiter": {"resources": [resource]}}])


@pytest.mark.parametrize(
    ("variants", "resources", "reason"),
    [
        ([limited(4)], ("R:4",), ""),
        ([limited(5)], ("R:4",), "needs 5 of the resource R, but rate-limit-resource has 4"),
        ([limited(5)], "R:6:0", ""),
        ([limited(9, "S")], ("R:4",), "needs 9 of the resource S, but rate-limit-resource has 0"),
        ([limited(9, "S")], (), ""),
        ([limited(2), limited(2, is_global=True)], (), "the resource R is global and not global"),
    ],
)
def test_instances_need_no_more_resources_than_there_are(
    variants: list[ModelVariant], resources: Any, reason: str
) -> None:
    flags = {"rate-limit": "execution_count", "rate-limit-resource": resources}

    assert reason in str(next(rate_limits(variants, flags), ""))
    assert next(rate_limits(variants, {"rate-limit-resource": resources}), None) is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, []),
        ({"loads": (4,), "batch_sizes": (2,)}, []),
        ({"loads": (4, 8)}, ["supports one load, not 2"]),
        ({"batch_sizes": (1, 2, 4)}, ["supports one batch size, not 3"]),
        ({"load_kind": LoadKind.REQUEST_RATE}, ["not request rates"]),
        ({"load_kind": LoadKind.REQUEST_RATE, "loads": (10,)}, []),
    ],
)
def test_a_quick_search_takes_one_load_and_one_batch_size(
    changes: dict[str, Any], words: list[str]
) -> None:
    settings = replace(model_settings("profile_models: m"), **changes)
    limits = list(unsupported_loads(settings, SearchMode.QUICK))

    assert len(limits) == len(words)
    for (message, hint), text in zip(limits, words, strict=True):
        assert text in message
        assert "--search adaptive" in hint


@pytest.mark.parametrize(
    ("fields", "several"),
    [
        ({}, ""),
        ({"max_batch_size": (1, 2), "instance_group": (1, 2)}, ""),
        ({"dynamic_batching": ({},), "max_batch_size": (1, 2)}, ""),
        ({"max_batch_size": (1, 2), "dynamic_batching": ({}, None)}, "dynamic_batching"),
    ],
)
def test_a_field_that_is_not_varied_has_one_value(fields: Any, several: str) -> None:
    assert field_with_several_values(fields) == several


@pytest.mark.parametrize(
    ("version", "needs"),
    [("2.51.0", False), ("2.67.9", False), ("2.68.0", True), ("2.100", True), ("3.0.0", True)],
)
def test_servers_since_26_04_need_the_flag(version: str, needs: bool) -> None:
    assert needs_client_shm(version, unknown=not needs) is needs


def test_an_unknown_version_is_as_the_caller_wants() -> None:
    assert needs_client_shm("", unknown=True)
    assert not needs_client_shm("main", unknown=False)


def test_who_shares_memory() -> None:
    assert shares_memory({"shared-memory": "system"})
    assert not shares_memory({"shared-memory": "none"})
    assert not shares_memory({})


def test_sizes_come_from_the_flags_of_perf_analyzer() -> None:
    assert shapes_of({"shape": "IMAGE:3,224,224"}) == {"IMAGE": (3, 224, 224)}
    assert shapes_of({"shape": ("A:1", "B:x", "C:2,2")}) == {"A": (1,), "C": (2, 2)}
    assert shapes_of({}) == {}
