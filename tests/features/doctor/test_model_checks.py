# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What it means how a loaded model answers."""

from __future__ import annotations

import pytest

from model_analyzer.features.doctor.findings import Level
from model_analyzer.features.doctor.model_checks import judge_refusal, sized, telling
from model_analyzer.runner.client.interface import ServerCallError, has_fixed_shapes

CONFIG = {
    "name": "m",
    "max_batch_size": 4,
    "input": [
        {"name": "IMAGE", "data_type": "TYPE_FP32", "dims": ["3", "-1", "-1"]},
        {"name": "ID", "data_type": "TYPE_INT64", "dims": [1]},
    ],
    "output": [{"name": "OUT", "data_type": "TYPE_FP32", "dims": [-1]}],
}


def test_open_sizes_are_those_of_the_flags_or_one() -> None:
    given = sized(CONFIG, {"IMAGE": (3, 224, 224)})
    made_up = sized(CONFIG, {})

    assert [tensor["dims"] for tensor in given["input"]] == [[3, 224, 224], [1]]
    assert [tensor["dims"] for tensor in made_up["input"]] == [[3, 1, 1], [1]]
    assert has_fixed_shapes(given)
    assert not has_fixed_shapes(CONFIG)
    assert CONFIG["input"][0]["dims"] == ["3", "-1", "-1"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("error", "is_alive", "level", "words"),
    [
        (ServerCallError("", timed_out=True), True, Level.PROBLEM, "within 60 s"),
        (ServerCallError("Stub process 'm_0_0' is not healthy."), True, Level.PROBLEM, "crashes"),
        (ServerCallError("Connection reset", lost=True), False, Level.PROBLEM, "crashes"),
        (ServerCallError("ValueError: no zeros\nAt: x"), True, Level.WARNING, "ValueError"),
    ],
)
def test_a_model_may_refuse_zeros_but_not_hang_or_die(
    error: ServerCallError, is_alive: bool, level: Level, words: str
) -> None:
    finding = judge_refusal("model m", error, is_alive=is_alive, log=("line",))

    assert finding.level is level
    assert words in finding.found
    assert finding.fix
    assert finding.details == ("line",)


def test_a_model_that_calls_another_is_reported_how_to_name_it() -> None:
    error = ServerCallError("Failed for execute the inference request. Model 'b' is not ready.")

    finding = judge_refusal("model m", error, is_alive=True, log=())

    assert "bls_composing_models" in finding.fix


def test_lines_of_a_log_are_reported_once_and_without_its_quotes() -> None:
    log = (
        '"failed: ValueError\\n\\nAt:\\n  m.py(3)\\n"',
        '"failed: ValueError\\n\\nAt:\\n  m.py(3)"',
        ";",
    )

    assert telling(log) == ("failed: ValueError At: m.py(3)",)
