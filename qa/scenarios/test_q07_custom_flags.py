# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q7: flags for perf_analyzer and for the server reach them, of all models and of each.

Here one server is started for each model, so its table of options is there for every model.
"""

import re
from typing import Any

import pytest

NAMES = ("add_sub", "other")


@pytest.fixture
def two(scenario):
    scenario.clone("add_sub", "other")
    return scenario


def profile(two, **options: Any) -> tuple[str, dict[str, list[str]]]:
    """What was printed, and the values of each option in the server's own table of them."""
    run = two.profile(
        **{
            "profile_models": list(NAMES), "run_config_search_disable": True,
            "batch_sizes": [1], "concurrency": [1], "perf_output": True,
            "triton_output_path": "server.log", **options,
        }
    )  # fmt: skip
    assert run.status == 0, run.output
    values: dict[str, list[str]] = {}
    for line in (two.directory / "server.log").read_text().splitlines():
        row = re.fullmatch(r"\| (\w+) +\| (\S+) +\|", line)
        if row:
            values.setdefault(row[1], []).append(row[2])
    return run.output, values


def each(flag: str, short_windows: dict[str, Any], *percentiles: int) -> dict[str, Any]:
    return {
        name: {flag: {**short_windows, "percentile": value}}
        for name, value in zip(NAMES, percentiles, strict=True)
    }


def test_a_percentile_for_each_model(two, short_windows) -> None:
    output, _ = profile(two, profile_models=each("perf_analyzer_flags", short_windows, 95, 96))

    assert re.search("Stabilizing using p95 ?latency", output)
    assert re.search("Stabilizing using p96 ?latency", output)


@pytest.mark.slow
def test_a_percentile_for_all_models(two, short_windows) -> None:
    output, _ = profile(two, perf_analyzer_flags={**short_windows, "percentile": 50})

    assert len(re.findall("Stabilizing using p50 ?latency", output)) >= 2


@pytest.mark.slow
def test_the_measurement_mode(two) -> None:
    output, _ = profile(two)

    assert "time_windows" in output


def test_a_server_flag_for_each_model(two) -> None:
    models = {
        name: {"triton_server_flags": {"exit_timeout_secs": value}}
        for name, value in zip(NAMES, (100, 101), strict=True)
    }

    _, values = profile(two, profile_models=models)

    assert values["exit_timeout"] == ["100", "101"]


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"backend_config": "tensorflow,version=2"}])
def test_server_flags_for_all_models(two, more: dict[str, str]) -> None:
    _, values = profile(two, triton_server_flags={"strict_model_config": False, **more})

    assert set(values["strict_model_config"]) == {"0"}
