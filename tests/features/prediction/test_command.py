# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer predict`: from checkpoints of other models, before anything is measured."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.state.profile_state import ProfileState
from tests.cli.conftest import Setting
from tests.unit.builders import measurement, trial, variant

Run = Callable[..., tuple[int, str, str]]

CONFIG = """
name: "new" backend: "python" max_batch_size: 8 instance_group [{count: 1 kind: KIND_CPU}]
input [{name: "A" data_type: TYPE_FP32 dims: [4]}]
output [{name: "B" data_type: TYPE_FP32 dims: [4]}]
"""


@pytest.fixture
def predict(run: Run, tmp_path: Path) -> Run:
    """The command for the model `new`, where `old` was measured: 100 inferences/s an instance."""
    (tmp_path / "models" / "new" / "1").mkdir(parents=True)
    (tmp_path / "models" / "new" / "config.pbtxt").write_text(CONFIG)
    (tmp_path / "models" / "new" / "1" / "model.py").write_text("")
    with ProfileState(tmp_path / "memory") as state:
        for count in (1, 2, 4):
            for load in (1, 8, 64):  # one request each, whatever the batch
                of = variant(
                    f"old_config_{count}",
                    model="old",
                    max_batch_size=8,
                    dynamic_batching={},
                    instance_group=({"kind": "KIND_CPU", "count": count},),
                )
                rate = 100.0 * min(load, count)
                outcome = measurement(rate, 1200 * load / rate, perf_latency_avg=1000 * load / rate)
                state.record(trial(of, concurrency=load), outcome)
        state.save()
    return lambda *arguments: run(
        "predict", "-m", "new", "--model-repository", "models", *arguments
    )


def test_the_default_and_better_variants_have_intervals(predict: Run) -> None:
    status, output, _ = predict("--knowledge", "memory")
    assert status == 0
    assert output.startswith("new: predicted, not measured (from old)")

    status, output, _ = predict("--knowledge", "memory", "--format", "json")
    (model,) = json.loads(output)["predicted"]
    default, best, *_ = (each["metrics"]["perf_throughput"] for each in model["trials"])
    assert status == 0
    assert default["low"] < 100 < default["high"]  # an instance, whatever the batch
    assert best["low"] < 400 < best["high"]
    assert best["median"] > 2 * default["median"]


@pytest.mark.parametrize(
    ("place", "options", "status", "said"),
    [
        ("memory", ("--request-rate", "x"), 2, "No such option"),
        ("nowhere", (), 2, "--knowledge: nowhere: no checkpoint found"),
        ("other", (), 1, "new: nothing similar is known in other"),
    ],
)
def test_what_is_unknown_is_said_in_one_line(
    predict: Run, tmp_path: Path, place: str, options: tuple[str, ...], status: int, said: str
) -> None:
    with ProfileState(tmp_path / "other") as state:
        state.record(trial(variant(max_batch_size=8)), measurement(1.0, 1.0))
        state.save()

    got, output, problems = predict("--knowledge", place, *options)

    assert (got, output) == (status, "")
    assert said in problems


BOUNDED: dict[str, Any] = {
    "run_config_search_max_instance_count": 2,
    "run_config_search_max_model_batch_size": 4,
    "run_config_search_max_concurrency": 8,
    "max_measurements": 4,
}


def test_a_search_says_what_was_predicted(predict: Run, setting: Setting, tmp_path: Path) -> None:
    knowledge = str(tmp_path / "memory")
    output = setting.succeeds(search="adaptive", knowledge=knowledge, **BOUNDED)
    assert "Predicted before measuring: " in output

    output = setting.fails(2, search="quick", knowledge=knowledge)
    assert "knowledge needs search mode adaptive" in output

    output = setting.fails(2, search="adaptive", knowledge=str(tmp_path / "nowhere"))
    assert output.rstrip().endswith("nowhere: no checkpoint found")
