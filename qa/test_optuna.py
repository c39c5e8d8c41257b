# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optuna searches: how much they measure, that they can be continued, and what ends them."""

from __future__ import annotations

import re
import signal

import pytest

SMALL = {
    "run_config_search_mode": "optuna",
    "run_config_search_max_concurrency": 2,
    "run_config_search_max_instance_count": 2,
}


def test_a_small_share_is_measured_and_then_swept(scene) -> None:
    status, output = scene.profile("-v", "--skip-summary-reports", **SMALL, latency_budget=10)

    assert status == 0, output
    for phrase in (
        "Starting Optuna mode search to find optimal configs",
        "Number of configs in search space: 32",
        "Minimum number of trials: 1",
        "Maximum number of trials: 3",
        "Measuring default configuration to establish a baseline measurement",
        "Done with Optuna mode search. Gathering concurrency sweep measurements for reports",
        "Done gathering concurrency sweep measurements for reports",
    ):
        assert phrase in output
    assert len(re.findall("Objective score for add_sub_config_", output)) == 3
    assert 2 <= output.count("Profiling add_sub_config") <= 12


@pytest.mark.slow
def test_an_interrupted_search_resumes(scene) -> None:
    settings = {**SMALL, "concurrency_sweep_disable": True, "optuna_max_trials": 3}
    process = scene.start("-v", **settings)
    scene.wait_until(lambda: len(list(scene.directory.glob("output_model_repository/*"))) > 2)
    process.send_signal(signal.SIGINT)
    begun, _ = process.communicate(timeout=60)

    status, ended = scene.profile("-v", **settings)
    assert status == 0, ended
    measured = [output.count("Profiling add_sub_config") for output in (begun, ended)]
    whole_status, whole = scene.profile("-v", "-s", "other-checkpoints", **settings)

    assert whole_status == 0, whole
    assert all(measured)
    assert sum(measured) == whole.count("Profiling add_sub_config")
    lines = re.findall("Profiling (add_sub_config.*)", begun + ended)
    assert lines == re.findall("Profiling (add_sub_config.*)", whole)


@pytest.mark.slow
def test_an_ensemble_is_searched_with_its_steps(scene) -> None:
    status, output = scene.profile(
        "-v",
        **SMALL,
        profile_models={"ensemble_chain": {"cpu_only": True}},
        concurrency_sweep_disable=True,
        optuna_max_trials=3,
        ensemble_composing_models={
            "add_sub": {
                "model_config_parameters": {
                    "dynamic_batching": {"max_queue_delay_microseconds": [0, 100]}
                }
            }
        },
    )

    assert status == 0, output
    assert "dynamic_batching: (2)" in output
    assert output.count("Profiling ensemble_chain_config") == 4


@pytest.mark.slow
def test_two_models_are_searched_together(scene) -> None:
    status, output = scene.profile(
        "-v",
        **SMALL,
        run_config_search_max_model_batch_size=2,
        run_config_profile_models_concurrently_enable=True,
        profile_models={"add_sub": {"cpu_only": True}, "scale": {"cpu_only": True}},
        concurrency_sweep_disable=True,
        optuna_max_trials=3,
    )

    assert status == 0, output
    assert "Number of configs in search space: 64" in output
    assert output.count("Profiling add_sub_config") == output.count("Profiling scale_config") == 4


@pytest.mark.slow
def test_a_default_that_does_not_work_ends_it_with_a_word(scene, crasher) -> None:
    crasher("init_raise")

    status, output = scene.profile(**SMALL, profile_models={"crasher": {"cpu_only": True}})

    assert status == 1, output
    assert "crasher: the search stops, because optuna compares all trials" in output
    assert "Traceback" not in output
    assert output.count("Profiling crasher_config") == 1
