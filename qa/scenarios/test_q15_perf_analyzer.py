# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q15: windows are enlarged where they are too small, and only there; a perf_analyzer that says
nothing for too long costs one measurement and not the run.
"""

from pathlib import Path

import pytest

LISTED = {"run_config_search_disable": True, "batch_sizes": [1], "concurrency": [1]}
TOO_SMALL = "measurement window is too small, increased to"
SLOW = """
import time
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        time.sleep(0.04 * len(requests))
        return [
            pb.InferenceResponse([
                pb.Tensor("OUTPUT", pb.get_input_tensor_by_name(request, "INPUT").as_numpy())
            ])
            for request in requests
        ]
"""


@pytest.mark.slow
def test_a_long_window_is_used_unchanged(scenario, short_windows) -> None:
    flags = {**short_windows, "measurement-interval": 5000}

    run = scenario.profile(**LISTED, profile_models=["add_sub"], perf_analyzer_flags=flags)

    assert run.status == 0, run.output
    assert TOO_SMALL not in run.output


def test_a_window_without_any_answer_is_enlarged(scenario, short_windows) -> None:
    scenario.scene.model("slow", SLOW)
    flags = {**short_windows, "measurement-interval": 10}

    run = scenario.profile(**LISTED, profile_models=["slow"], perf_analyzer_flags=flags)

    assert run.status == 0, run.output
    assert TOO_SMALL in run.output


@pytest.mark.slow
def test_windows_of_requests_do_not_care_about_time(scenario) -> None:
    flags = {"measurement-mode": "count_windows", "measurement-interval": 50}

    run = scenario.profile(
        **LISTED, profile_models=["add_sub"],
        perf_analyzer_flags={**flags, "stability-percentage": 999},
    )  # fmt: skip

    assert run.status == 0, run.output
    assert TOO_SMALL not in run.output


@pytest.mark.slow
def test_streaming_with_two_shapes(scenario) -> None:
    flags = {
        "measurement-mode": "count_windows", "stability-percentage": 999, "streaming": True,
        "shape": ["INPUT0:16", "INPUT1:16"],
    }  # fmt: skip

    run = scenario.profile("-v", **LISTED, profile_models=["add_sub"], perf_analyzer_flags=flags)

    assert run.status == 0, run.output
    (command,) = [line for line in run.output.splitlines() if "--shape" in line]
    assert command.count("--shape") == 2
    assert "--streaming" in command


def test_a_perf_analyzer_that_does_not_end_costs_one_measurement(scenario) -> None:
    code = (Path(__file__).parents[1] / "models" / "crasher.py").read_text()
    scenario.scene.model(
        "hangs", code, extra='parameters { key: "mode" value: { string_value: "none" } }'
    )
    mode = {"parameters": {"mode": {"string_value": "hang"}}}

    run = scenario.profile(
        "--perf-analyzer-timeout", "3", **LISTED,
        profile_models={"hangs": {"cpu_only": True, "model_config_parameters": mode}},
    )  # fmt: skip

    assert run.status == 0, run.output
    assert "did not finish within 3 s" in run.output
    assert [row[3] for row in scenario.rows()] == ["hangs_config_default"]
