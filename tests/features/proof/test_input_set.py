# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The requests that all configurations answer: given by the user, or made."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from model_analyzer.domain.models import ModelVariant, freeze
from model_analyzer.domain.trials import Load, Workload
from model_analyzer.features.proof.asking import InputSet, Unanswerable, input_set_for


def inputs_of(*tensors: dict[str, Any], flags: Any = None, most: int = 8, **more: Any) -> InputSet:
    config = {"name": "m", "max_batch_size": 4, "input": [*tensors], **more}
    variant = ModelVariant(model="m", name="m_config_0", config=freeze(config), files="f")
    return input_set_for(
        Workload(variant=variant, load=Load(value=1), flags=freeze(flags or {})), most
    )


def tensor(kind: str, *dims: int, name: str = "IN", **more: Any) -> dict[str, Any]:
    return {"name": name, "data_type": f"TYPE_{kind}", "dims": [*dims], **more}


@pytest.mark.parametrize("kind", ["FP32", "FP16", "INT8", "UINT64", "BOOL", "STRING"])
def test_made_inputs_fit_the_model_and_are_the_same_each_time(kind: str) -> None:
    first, again = (inputs_of(tensor(kind, 2, 3)) for _ in range(2))

    arrays = [step["IN"] for (step,) in first.sequences]
    assert [each.shape for each in arrays] == [(2, 3)] * 8
    same = [step["IN"] for (step,) in again.sequences]
    assert all(np.array_equal(*pair) for pair in zip(arrays, same, strict=True))
    assert first.has_batch


def test_made_inputs_differ_some_only_in_their_last_element() -> None:
    arrays = [
        step["IN"].reshape(-1).tolist() for (step,) in inputs_of(tensor("INT32", 4)).sequences
    ]

    assert len({*map(tuple, arrays)}) == len(arrays)
    assert arrays[3][:-1] == arrays[2][:-1]


def test_made_texts_have_many_lengths() -> None:
    texts = [step["IN"][0] for (step,) in inputs_of(tensor("STRING", 1)).sequences]

    assert max(map(len, texts)) > 200
    assert min(map(len, texts)) < 5


def test_free_dimensions_have_several_sizes_up_to_the_usual_one() -> None:
    given = inputs_of(tensor("FP32", -1, 2), flags={"shape": "IN:24,2"})

    shapes = {step["IN"].shape for (step,) in given.sequences}
    assert (24, 2) in shapes
    assert len(shapes) > 2
    assert {size for _, size in shapes} == {2}


def test_sequences_have_steps_and_optional_inputs_are_left_out() -> None:
    given = inputs_of(
        tensor("INT32", 1), tensor("INT32", 1, name="MORE", optional=True), sequence_batching={}
    )

    assert given.is_sequence
    assert {len(steps) for steps in given.sequences} == {5}
    assert {name for steps in given.sequences for step in steps for name in step} == {"IN"}


def test_inputs_of_the_user_come_first(tmp_path: Path) -> None:
    encoded = base64.b64encode(np.array([7, 8], dtype=np.int32).tobytes()).decode()
    data = [{"IN": [1, 2]}, {"IN": {"content": [3, 4], "shape": [2]}}, {"IN": {"b64": encoded}}]
    (tmp_path / "in.json").write_text(json.dumps({"data": data}))

    given = inputs_of(tensor("INT32", 2), flags={"input-data": str(tmp_path / "in.json")})

    assert [step["IN"].tolist() for (step,) in given.sequences] == [[1, 2], [3, 4], [7, 8]]


def test_streams_of_the_user_are_sequences_and_texts_stay_texts(tmp_path: Path) -> None:
    data = [[{"IN": ["a"]}, {"IN": ["ö"]}], [{"IN": ["c"]}]]
    (tmp_path / "in.json").write_text(json.dumps({"data": data}))
    flags = {"input-data": str(tmp_path / "in.json")}

    given = inputs_of(tensor("STRING", 1), flags=flags, sequence_batching={})

    texts = [[step["IN"].tolist() for step in steps] for steps in given.sequences]
    assert texts == [[[b"a"], ["ö".encode()]], [[b"c"]]]


def test_a_directory_has_a_file_for_each_input(tmp_path: Path) -> None:
    (tmp_path / "IN").write_bytes(np.array([5, 6], dtype=np.int32).tobytes())

    given = inputs_of(tensor("INT32", 2), flags={"input-data": str(tmp_path)})

    assert [step["IN"].tolist() for (step,) in given.sequences] == [[5, 6]]


def test_parameters_of_requests_have_their_types() -> None:
    flags = {"request-parameter": ["limit:5:INT", "name:a:b:string", "fast:True:bool"]}

    given = inputs_of(tensor("INT32", 1), flags=flags)

    assert given.parameters == {"limit": 5, "name": "a:b", "fast": True}


@pytest.mark.parametrize(
    ("tensors", "flags", "reason"),
    [
        ([tensor("FP32", -1)], {}, "input IN has no size"),
        ([tensor("FP32", 1, optional=True)], {}, "no input that has to be given"),
        ([tensor("FP32", 1)], {"input-data": "missing.json"}, "input data cannot be used"),
    ],
    ids=["size", "optional", "file"],
)
def test_why_nothing_can_be_asked(
    tensors: list[dict[str, Any]], flags: dict[str, Any], reason: str
) -> None:
    with pytest.raises(Unanswerable, match=reason):
        inputs_of(*tensors, flags=flags)
