# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Completed configurations that are remembered: used for the same question only, and few.

Configurations that a server has completed.

Whatever config.pbtxt holds: it is planned with, or refused with its place.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from model_analyzer.domain.models import freeze
from model_analyzer.errors import RepositoryError
from model_analyzer.runner import repository
from model_analyzer.runner.model_config import completed, is_complete
from model_analyzer.runner.repository import RememberedConfigs
from tests.unit.runner.model_configurations import REPOSITORIES, is_planned_or_refused

CONFIG = freeze(
    {
        "name": "m",
        "backend": "python",
        "max_batch_size": 4,
        "input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": [4, -1]}],
        "parameters": {"key": {"string_value": "value"}},
    }
)


@pytest.fixture
def remembered(tmp_path: Path) -> RememberedConfigs:
    return RememberedConfigs(tmp_path / "cache" / "completed")


@pytest.fixture
def file(remembered: RememberedConfigs, tmp_path: Path) -> Path:
    """The file of a remembered answer."""
    remembered.add(CONFIG, "model", "server")
    (path,) = (tmp_path / "cache" / "completed").iterdir()
    return path


def test_an_answer_is_found_for_its_question_only(
    remembered: RememberedConfigs, file: Path
) -> None:
    assert remembered.find("model", "server") == CONFIG
    assert remembered.find("model", "another server") is None
    assert remembered.find("another model", "server") is None


def test_without_a_directory_there_is_no_answer(remembered: RememberedConfigs) -> None:
    assert remembered.find("model", "server") is None


def test_only_its_user_reads_it(file: Path) -> None:
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_that_others_could_write_is_not_used(
    remembered: RememberedConfigs, file: Path
) -> None:
    file.chmod(0o666)

    assert remembered.find("model", "server") is None


def test_an_answer_to_another_question_is_not_used(
    remembered: RememberedConfigs, file: Path, tmp_path: Path
) -> None:
    remembered.add({**CONFIG, "max_batch_size": 8}, "other")
    (other,) = set(file.parent.iterdir()) - {file}
    os.replace(other, file)

    assert remembered.find("model", "server") is None


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content | {"format": 2},
        lambda content: content | {"config": {"max_batch_size": "many"}},
        lambda content: content | {"config": []},
        lambda content: [content],
        lambda content: {},
    ],
)
def test_damage_is_not_used(remembered: RememberedConfigs, file: Path, change: Any) -> None:
    file.write_text(json.dumps(change(json.loads(file.read_text()))))

    assert remembered.find("model", "server") is None
    remembered.add(CONFIG, "model", "server")
    assert remembered.find("model", "server") == CONFIG


def test_half_a_file_is_not_used(remembered: RememberedConfigs, file: Path) -> None:
    file.write_text(file.read_text()[:40])

    assert remembered.find("model", "server") is None


def test_a_link_is_neither_read_nor_written(
    remembered: RememberedConfigs, file: Path, tmp_path: Path
) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine")
    file.unlink()
    file.symlink_to(mine)

    remembered.add(CONFIG, "model", "server")

    assert mine.read_text() == "mine"


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    remembered = RememberedConfigs(tmp_path / "file" / "completed")

    remembered.add(CONFIG, "model")

    assert remembered.find("model") is None


def test_the_oldest_are_forgotten(remembered: RememberedConfigs, file: Path, monkeypatch) -> None:
    monkeypatch.setattr(repository, "_MOST_FILES", 3)
    os.utime(file, ns=(0, 0))
    for number in range(3):
        remembered.add(CONFIG, str(number))

    assert remembered.find("model", "server") is None
    assert all(remembered.find(str(number)) for number in range(3))


WHOLE: dict[str, Any] = {
    "name": "m",
    "backend": "python",
    "max_batch_size": 8,
    "input": ({"name": "IN", "data_type": "TYPE_FP32", "dims": (1,)},),
    "output": ({"name": "OUT", "data_type": "TYPE_FP32", "dims": (1,)},),
    "dynamic_batching": {"preferred_batch_size": (8,), "max_queue_delay_microseconds": 5},
}


def without(*fields: str) -> dict[str, Any]:
    return {key: value for key, value in WHOLE.items() if key not in fields}


@pytest.mark.parametrize("missing", ["backend", "input", "output"])
def test_a_configuration_without_what_a_server_needs_is_not_complete(missing: str) -> None:
    assert is_complete(WHOLE)
    assert not is_complete(without(missing))
    assert is_complete({**without("backend"), "platform": "onnxruntime_onnx"})


@pytest.mark.parametrize("side", ["input", "output"])
@pytest.mark.parametrize("field", ["data_type", "dims"])
def test_a_tensor_without_type_or_dims_is_not_complete(side: str, field: str) -> None:
    (tensor,) = WHOLE[side]
    partial = {**WHOLE, side: ({key: value for key, value in tensor.items() if key != field},)}

    assert not is_complete(partial)
    with pytest.raises(RepositoryError, match=f"has no {field} of {tensor['name']}; add"):
        completed(partial, {}, "config.pbtxt")


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
