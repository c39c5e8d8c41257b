# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Configurations that a server has completed.

Whatever config.pbtxt holds: it is planned with, or refused with its place.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from model_analyzer.errors import RepositoryError
from model_analyzer.runner.model_config import completed, is_complete
from tests.unit.runner.model_configurations import REPOSITORIES, is_planned_or_refused

WHOLE: dict[str, Any] = {
    "name": "m",
    "backend": "python",
    "max_batch_size": 8,
    "input": ({"name": "IN"},),
    "output": ({"name": "OUT"},),
    "dynamic_batching": {"preferred_batch_size": (8,), "max_queue_delay_microseconds": 5},
}


def without(*fields: str) -> dict[str, Any]:
    return {key: value for key, value in WHOLE.items() if key not in fields}


@pytest.mark.parametrize("missing", ["backend", "input", "output"])
def test_a_configuration_without_what_a_server_needs_is_not_complete(missing: str) -> None:
    assert is_complete(WHOLE)
    assert not is_complete(without(missing))
    assert is_complete({**without("backend"), "platform": "onnxruntime_onnx"})


def test_an_ensemble_is_taken_as_it_is() -> None:
    assert is_complete({"platform": "ensemble", "ensemble_scheduling": {"step": ()}})


@pytest.mark.parametrize("sizes", [(4,), (2, 8), (16,)])
def test_other_preferred_batches_are_not_the_choice_of_a_server(sizes: tuple[int, ...]) -> None:
    answer = {**WHOLE, "dynamic_batching": {"preferred_batch_size": sizes}}

    assert completed(answer, {}, "m/config.pbtxt") == answer


def test_a_preferred_batch_that_the_server_chose_is_dropped() -> None:
    config = completed(WHOLE, {"name": "m"}, "m/config.pbtxt")

    assert config["dynamic_batching"] == {"max_queue_delay_microseconds": 5}
    assert config["max_batch_size"] == 8


def test_one_that_the_user_chose_stays() -> None:
    own = {"name": "m", "dynamic_batching": {"preferred_batch_size": (8,)}}

    assert completed(WHOLE, own, "m/config.pbtxt") == WHOLE


@pytest.mark.parametrize(
    ("missing", "words"),
    [(("input", "output"), "it has no input and no output"), (("output",), "it has no output")],
)
def test_what_the_server_could_not_complete_is_refused(
    missing: tuple[str, ...], words: str
) -> None:
    with pytest.raises(RepositoryError, match=words) as caught:
        completed(without(*missing), {"name": "m"}, "models/m/config.pbtxt")

    assert str(caught.value).startswith("models/m/config.pbtxt: ")


@given(REPOSITORIES)
def test_any_model_configuration_is_planned_or_refused(example: Mapping[str, Any]) -> None:
    is_planned_or_refused(example)
