# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds of models and loads: each is measured, or refused in one line before it costs time."""

from __future__ import annotations

import json

import pytest

from tests.phrases import NO_STREAMS_OVER_HTTP, VARIABLE_DIMENSION, too_large_batch
from tests.sizes import small_and_full

ONE = ("--run-config-search-disable", "-c", "2")


def flags(scene, **more) -> dict:
    named = {name.replace("_", "-"): value for name, value in more.items()}
    return {**scene.config["perf_analyzer_flags"], **named}


# -- configurations that the server completes ------------------------------------------------------


@pytest.mark.slow
def test_a_model_without_a_configuration_is_completed_and_searched(scene) -> None:
    scene.add("untold")

    status, output = scene.profile(
        "--triton-output-path", "server.log",
        profile_models={"untold": {"cpu_only": True}},
        run_config_search_max_concurrency=1,
        run_config_search_max_instance_count=1,
        run_config_search_max_model_batch_size=2,
    )  # fmt: skip

    assert status == 0, output
    assert {row[3] for row in scene.rows} == {f"untold_config_{n}" for n in ("default", 0, 1)}
    variant = scene.directory / "output_model_repository" / "untold_config_1" / "config.pbtxt"
    text = variant.read_text()
    assert "max_batch_size: 2" in text
    # the server prefers batches of 8 for it, which a limit of 2 does not allow
    assert "preferred_batch_size" not in text
    assert not (scene.models / "untold" / "config.pbtxt").exists()


@pytest.mark.slow
@small_and_full("protocol", "http", "grpc")
def test_a_completed_model_is_measured_over_both_protocols(scene, protocol: str) -> None:
    scene.add("untold")

    status, output = scene.profile(
        "--client-protocol", protocol, "-b", "4", *ONE, profile_models=["untold"]
    )

    assert status == 0, output
    assert float(scene.rows[0][7]) > 0


@pytest.mark.slow
def test_a_failed_completion_gives_one_line_and_keeps_the_log(scene) -> None:
    scene.add("secretive")

    status, output = scene.profile(
        *ONE, "--triton-output-path", "server.log", profile_models=["secretive"]
    )

    assert status == 2
    assert "secretive/config.pbtxt: the server could not complete the configuration" in output
    assert "it has no input and no output" in output
    assert "Traceback" not in output
    assert (scene.directory / "server.log").stat().st_size > 0


@pytest.mark.slow
def test_a_file_that_leaves_inputs_and_outputs_to_the_server_is_enough(scene) -> None:
    directory = scene.add("untold")
    (directory / "config.pbtxt").write_text(
        'backend: "python"\ninstance_group [ { count: 2 kind: KIND_CPU } ]\n'
    )

    status, output = scene.profile(*ONE, profile_models=["untold"])

    assert status == 0, output
    assert scene.rows[0][4:6] == ["2:CPU", "8"]


# -- inputs ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_shapes_and_text_are_given_by_flags(scene) -> None:
    scene.add("shapes")

    status, output = scene.profile(
        *ONE, "-b", "1,4,16",
        profile_models=["shapes"],
        perf_analyzer_flags=flags(scene, shape=["ROWS:7,4", "COLUMNS:2,3"], string_length=12),
    )  # fmt: skip

    assert status == 0, output
    assert {row[1] for row in scene.rows} == {"1", "4"}
    assert "Skipping illegal run configuration: shapes_config_default: client batch size=16" in (
        output
    )


@pytest.mark.slow
def test_input_data_defines_its_shapes(scene) -> None:
    scene.add("shapes")
    data = {
        "ROWS": {"content": [1.0, 2.0, 3.0, 4.0], "shape": [1, 4]},
        "COLUMNS": {"content": [1.0, 2.0], "shape": [2, 1]},
        "LABEL": ["word"],
    }
    for name in ("one.json", "two.json"):
        (scene.directory / name).write_text(json.dumps({"data": [data]}))

    status, output = scene.profile(
        *ONE,
        profile_models=["shapes"],
        perf_analyzer_flags=flags(scene, input_data=["one.json", "two.json"]),
    )

    assert status == 0, output
    assert len(scene.rows) == 1


@pytest.mark.slow
def test_invalid_options_are_refused_before_a_server_starts(scene) -> None:
    scene.add("shapes")

    status, output = scene.profile(
        "--run-config-search-disable", "--triton-output-path", "server.log",
        profile_models={
            "shapes": {"parameters": {"batch_sizes": 16}},
            "scale": {"perf_analyzer_flags": {"request-intervals": "missing.txt"}},
            "add_sub": {"perf_analyzer_flags": {"shape": "INPUT0"}},
        },
    )  # fmt: skip

    assert status == 2
    assert too_large_batch(16, largest=8) in output
    assert VARIABLE_DIMENSION in output
    assert "missing.txt does not exist" in output
    assert "'INPUT0' is not NAME:SIZE,SIZE" in output
    assert not (scene.directory / "server.log").exists()
    assert not (scene.directory / "output_model_repository").exists()


@pytest.mark.slow
def test_a_shape_of_no_input_is_measured_with_a_warning(scene) -> None:
    status, output = scene.profile(
        *ONE, perf_analyzer_flags=flags(scene, shape=["NOSUCH:4", "INPUT0:16"])
    )

    assert status == 0, output
    assert "perf_analyzer flag shape has no effect on 'NOSUCH'" in output
    assert len(scene.rows) == 1


# -- loads -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_request_rates_are_kept_and_counted(scene) -> None:
    """Upstream's scenario: two client batch sizes with two rates each."""
    status, output = scene.profile(
        "--run-config-search-disable", "-b", "4,8", "--request-rate", "1024,2048"
    )

    assert status == 0, output
    assert output.count("Profiling add_sub_config_default") == 4


@pytest.mark.slow
def test_request_rates_are_searched_by_doubling(scene) -> None:
    status, output = scene.profile(
        run_config_search_min_request_rate=50,
        run_config_search_max_request_rate=200,
        run_config_search_max_instance_count=1,
        run_config_search_max_model_batch_size=1,
        perf_analyzer_flags=flags(scene, measurement_interval=300),
    )

    assert status == 0, output
    rates = {row[2]: float(row[7]) for row in scene.rows if row[3].endswith("default")}
    assert set(rates) == {"50", "100", "200"}
    assert all(float(wanted) * 0.85 < got < float(wanted) * 1.1 for wanted, got in rates.items())


@pytest.mark.slow
def test_request_intervals_come_from_the_users_file(scene) -> None:
    """500 requests a second: the mean of the intervals is 2 ms."""
    (scene.directory / "times.txt").write_text("1000\n3000\n2000\n")

    status, output = scene.profile(
        "--run-config-search-disable",
        perf_analyzer_flags=flags(scene, request_intervals="times.txt", measurement_interval=300),
    )

    assert status == 0, output
    (row,) = scene.rows
    assert 400 < float(row[7]) < 550


# -- models that remember, and models that stream --------------------------------------------------


@pytest.mark.slow
def test_a_stateful_model_is_measured_in_sequences(scene) -> None:
    scene.add("totals")

    status, output = scene.profile(
        profile_models={"totals": {"cpu_only": True}},
        run_config_search_max_concurrency=2,
        run_config_search_max_instance_count=1,
        run_config_search_max_model_batch_size=1,
        perf_analyzer_flags=flags(scene, sequence_length=5, sequence_id_range="1:100"),
    )

    assert status == 0, output
    assert len(scene.rows) == 4
    # sequences go to the sequence batcher: a dynamic one would tear them apart
    variants = scene.directory / "output_model_repository"
    assert "dynamic_batching" not in (variants / "totals_config_0" / "config.pbtxt").read_text()


@pytest.mark.slow
def test_a_stateful_model_is_measured_under_a_request_rate(scene) -> None:
    scene.add("totals")

    status, output = scene.profile(
        "--run-config-search-disable", "--request-rate", "100",
        profile_models=["totals"],
        perf_analyzer_flags=flags(
            scene, sequence_length=5, num_of_sequences=2, measurement_interval=300
        ),
    )  # fmt: skip

    assert status == 0, output
    assert 80 < float(scene.rows[0][7]) < 120


@pytest.mark.slow
def test_a_stream_is_measured_without_options(scene) -> None:
    status, output = scene.profile(*ONE, profile_models=["sim_llm"])

    assert status == 0, output
    assert float(scene.rows[0][8]) > 60  # 30 ms and seven times 5 ms


@pytest.mark.slow
def test_a_stream_over_http_is_refused_before_it_is_tried(scene) -> None:
    status, output = scene.profile(*ONE, "--client-protocol", "http", profile_models=["sim_llm"])

    assert status == 2
    assert f"model sim_llm: {NO_STREAMS_OVER_HTTP}" in output


# -- what perf_analyzer says, and what the server is told ------------------------------------------


@pytest.mark.slow
def test_the_output_of_perf_analyzer_is_shown_or_added_to_a_file(scene) -> None:
    (scene.directory / "pa.txt").write_text("before\n")
    models = {
        "add_sub": {"perf_analyzer_flags": flags(scene, percentile=95)},
        "scale": {"perf_analyzer_flags": flags(scene, percentile=96)},
    }

    status, output = scene.profile(
        "--perf-output", "-c", "1", "--run-config-search-disable", profile_models=models
    )
    assert status == 0, output
    assert "Stabilizing using p95latency and throughput" in output
    assert "Stabilizing using p96latency and throughput" in output
    assert 'Using "time_windows" mode for stabilization' in output
    assert output.count("= Perf Analyzer Launched =") == 2

    status, output = scene.profile(
        "--perf-output", "--perf-output-path", "pa.txt", "-s", "other", "-c", "1",
        "--run-config-search-disable", profile_models=models,
    )  # fmt: skip
    assert status == 0, output
    assert "Stabilizing" not in output
    text = (scene.directory / "pa.txt").read_text()
    assert text.startswith("before\n")
    assert text.count("\nCommand: ") == 2
    assert "Stabilizing using p96latency and throughput" in text


@pytest.mark.slow
def test_each_model_has_the_server_that_its_flags_ask_for(scene) -> None:
    status, output = scene.profile(
        *ONE, "--triton-output-path", "server.log",
        profile_models={
            "add_sub": {"triton_server_flags": {"exit_timeout_secs": 100}},
            "scale": {"triton_server_flags": {"exit-timeout-secs": 101}},
        },
    )  # fmt: skip

    assert status == 0, output
    log = (scene.directory / "server.log").read_text()
    timeouts = [line.split("|")[2].strip() for line in log.splitlines() if "exit_timeout" in line]
    assert timeouts == ["100", "101"]


@pytest.mark.slow
def test_a_window_that_is_too_small_is_enlarged_and_the_log_says_so(scene) -> None:
    status, output = scene.profile(
        *ONE,
        profile_models=["sim_gpu"],
        perf_analyzer_flags={"measurement-mode": "time_windows", "measurement-interval": 2},
    )

    assert status == 0, output
    assert "measurement window is too small, increased to" in output


@pytest.mark.slow
def test_an_ample_window_is_left_alone(scene) -> None:
    status, output = scene.profile(
        *ONE,
        perf_analyzer_flags={
            "measurement-mode": "time_windows",
            "measurement-interval": 1000,
            "stability-percentage": 50,
        },
    )

    assert status == 0, output
    assert "measurement window is" not in output
