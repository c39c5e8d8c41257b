# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Quick searches over every kind of model."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

# Enough to move a little in every direction, in seconds.
SMALL = {
    "run_config_search_max_concurrency": 2,
    "run_config_search_max_instance_count": 2,
    "run_config_search_max_model_batch_size": 2,
}
CREATED = re.compile(
    r"Creating model config: (\w+)_config_(\d+)\n"
    r"\[Model Analyzer\]   Setting instance_group to \[\{'count': (\d+), 'kind': '(\w+)'\}\]"
)


def measured(scene) -> list[dict[str, Any]]:
    """The measurements of the first checkpoint."""
    text = (scene.directory / "checkpoints" / "0.ckpt").read_text()
    entries = map(json.loads, text.splitlines())
    return [entry for entry in entries if entry["entry"] == "measurement"]


def created(output: str) -> list[tuple[str, ...]]:
    """(model, number, instances, kind) of each new variant, as scripts read it."""
    return CREATED.findall(output)


def test_one_model_takes_few_measurements(scene) -> None:
    status, output = scene.profile(
        "--client-protocol", "http",
        "--run-config-search-mode", "quick",
        "--run-config-search-max-concurrency", "2",
        "--latency-budget", "10",
        "--skip-summary-reports",
    )  # fmt: skip

    assert status == 0, output
    # all would be 82; usual are 11, and the noisier the machine, the longer are the detours
    assert 4 <= output.count("Profiling add_sub_config") <= 45
    assert not (scene.directory / "results").exists()


@pytest.mark.slow
def test_an_ensemble_is_searched_over_its_parts(scene) -> None:
    status, output = scene.profile(profile_models=["ensemble_chain"], **SMALL)

    assert status == 0, output
    assert "Starting quick mode search to find optimal configs" in output
    for part in ("scale", "add_sub"):
        sizes = {count for model, _, count, _ in created(output) if model == part}
        assert sizes == {"1", "2"}
    assert {kind for *_, kind in created(output)} == {"KIND_CPU"}
    assert all(
        set(entry["models"][0]["composing"]) == {"scale", "add_sub"} for entry in measured(scene)
    )
    assert output.count("Profiling ensemble_chain_config") == len(measured(scene))


@pytest.mark.slow
def test_ranges_of_composing_models_are_kept(scene) -> None:
    def listed(counts: list[int]) -> dict[str, Any]:
        groups = [{"count": counts, "kind": "KIND_CPU"}]
        delay = {"max_queue_delay_microseconds": [0]}
        return {"model_config_parameters": {"instance_group": groups, "dynamic_batching": delay}}

    status, output = scene.profile(
        profile_models=["ensemble_chain"],
        run_config_search_mode="quick",
        ensemble_composing_models={"add_sub": listed([1, 2, 4]), "scale": listed([2])},
        concurrency_sweep_disable=True,
        run_config_search_max_concurrency=2,
        run_config_search_max_model_batch_size=2,
    )

    assert status == 0, output
    assert {count for model, _, count, _ in created(output) if model == "scale"} == {"2"}
    assert {count for model, _, count, _ in created(output) if model == "add_sub"} <= {*"124"}


@pytest.mark.slow
def test_a_bls_model_is_searched_with_what_it_calls(scene) -> None:
    rows = [{"X": [float(row + column) for column in range(16)]} for row in range(4)]
    (scene.directory / "rows.json").write_text(json.dumps({"data": rows}))
    flags = {**scene.config["perf_analyzer_flags"], "input-data": "rows.json"}

    status, output = scene.profile(
        profile_models=["bls_chain"],
        bls_composing_models=["scale", "add_sub"],
        perf_analyzer_flags=flags,
        **SMALL,
    )

    assert status == 0, output
    assert {model for model, *_ in created(output)} == {"bls_chain", "scale", "add_sub"}
    entries = measured(scene)
    assert output.count("Profiling bls_chain_config") == len(entries)
    for entry in entries:
        parts = entry["models"][0]["composing"]
        assert set(parts) == {"scale", "add_sub"}
        assert all(part["perf_server_compute_infer"] > 0 for part in parts.values())


@pytest.mark.slow
def test_two_models_are_searched_together(scene) -> None:
    status, output = scene.profile(
        profile_models=["add_sub", "scale"],
        run_config_profile_models_concurrently_enable=True,
        concurrency_sweep_disable=True,
        **SMALL,
    )

    assert status == 0, output
    entries = measured(scene)
    assert all(len(entry["models"]) == 2 for entry in entries)
    for name in ("add_sub", "scale"):
        assert output.count(f"Profiling {name}_config") == len(entries) > 4
        assert {count for model, _, count, _ in created(output) if model == name} == {"1", "2"}


@pytest.mark.slow
def test_two_models_without_a_search_are_measured_in_all_combinations(scene) -> None:
    status, output = scene.profile(
        profile_models=["add_sub", "scale"],
        run_config_profile_models_concurrently_enable=True,
        run_config_search_disable=True,
        batch_sizes=[1, 2],
        concurrency=[1, 2],
    )

    assert status == 0, output
    for name in ("add_sub", "scale"):
        assert output.count(f"Profiling {name}_config_default") == 16
    assert len(measured(scene)) == 16


@pytest.mark.slow
def test_a_second_run_finds_everything_in_the_checkpoint(scene) -> None:
    changes = {"profile_models": ["ensemble_chain"], "concurrency_sweep_disable": True, **SMALL}
    scene.profile(**changes)

    status, output = scene.profile(**changes)

    assert status == 0, output
    assert "Profiling ensemble_chain_config" not in output
    assert scene.checkpoints == ["0.ckpt"]
