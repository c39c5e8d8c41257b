# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a run would do, asked without a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.app.bench.job import Job
from model_analyzer.app.preview import Preview, preview
from model_analyzer.config.places import Places
from model_analyzer.domain.budget import Budget
from tests.phrases import ONLY_A_SERVER
from tests.unit.builders import settings

CONFIG = """
name: "{name}" backend: "python" max_batch_size: 8
input [ {{ name: "IN" data_type: TYPE_FP32 dims: [ 1 ] }} ]
output [ {{ name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] }} ]
instance_group [ {{ kind: KIND_CPU }} ]
"""


def foreseen(directory: Path, *names: str, text: str = "") -> Preview:
    """The preview of a run over models with these names."""
    for name in names:
        (directory / name / "1").mkdir(parents=True)
        (directory / name / "1" / "model.py").write_text("")
        (directory / name / "config.pbtxt").write_text(CONFIG.format(name=name))
    given = f"model_repository: {directory}\n{text}"
    return preview(Job(settings=settings(given), places=Places(), environment={}))


def test_every_model_has_a_plan_with_its_space_and_its_time(tmp_path: Path) -> None:
    outlook = foreseen(tmp_path, "m", "n", text="profile_models: [m, n]")

    assert [plan.name for plan in outlook.plans] == ["m", "n"]
    assert not outlook.problems
    assert [plan.starts for plan in outlook.plans] == [1, 1]
    assert all(plan.seconds is not None and plan.seconds > 60 for plan in outlook.plans)


def test_a_budget_bounds_the_time(tmp_path: Path) -> None:
    text = "profile_models: [m]\nrun_config_search_mode: adaptive\nbudget: 30s"
    (plan,) = foreseen(tmp_path, "m", text=text).plans

    assert plan.budget == Budget(30)
    assert plan.seconds == 30


@pytest.mark.parametrize(
    "slots",
    [
        "executor: ray\nslots: 4",
        "triton_launch_mode: remote\ntriton_grpc_endpoint: [a:1, b:1, c:1, d:1]",
    ],
)
def test_with_several_slots_an_adaptive_search_may_measure_more(tmp_path: Path, slots: str) -> None:
    text = "profile_models: [m]\nrun_config_search_mode: adaptive\n"
    (alone,) = foreseen(tmp_path / "alone", "m", text=text).plans
    (four,) = foreseen(tmp_path / "four", "m", text=text + slots).plans

    assert alone.forecast is not None
    assert four.forecast is not None
    assert alone.forecast.most_trials == 40
    assert four.forecast.most_trials == 40 + 3


def test_with_a_problem_there_is_no_plan(tmp_path: Path) -> None:
    outlook = foreseen(tmp_path, "m", text="profile_models: [m, other]")

    assert outlook.plans == ()
    (problem,) = outlook.problems
    assert "other" in str(problem)


def test_a_model_that_only_a_server_can_complete_has_no_forecast(tmp_path: Path) -> None:
    (tmp_path / "bare" / "1").mkdir(parents=True)
    (tmp_path / "bare" / "1" / "model.onnx").write_bytes(b"")

    (plan,) = foreseen(tmp_path, text="profile_models: [bare]").plans

    assert plan.forecast is None
    assert ONLY_A_SERVER in plan.unknown
