# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Model configurations between Triton's protobuf, its JSON, and our mappings."""

from __future__ import annotations

from typing import Any

import pytest

from model_analyzer.domain.models import freeze
from model_analyzer.domain.protobuf import from_json, normal, to_json

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
