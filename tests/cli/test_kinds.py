# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Quick searches and models that call others, from YAML to the pretend programs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.phrases import CONFIGURATION_CHANGES

USAGE = 2


def write_ensemble(repository: Path, name: str, first: str, second: str) -> None:
    """Adds an ensemble that calls one model after the other."""
    directory = repository / name
    (directory / "1").mkdir(parents=True)
    steps = [
        f'step {{ model_name: "{part}" model_version: -1'
        f' input_map {{ key: "IN" value: "{before}" }}'
        f' output_map {{ key: "OUT" value: "{after}" }} }}'
        for part, before, after in ((first, "IN", "BETWEEN"), (second, "BETWEEN", "OUT"))
    ]
    (directory / "config.pbtxt").write_text(
        f'name: "{name}"\nplatform: "ensemble"\nmax_batch_size: 8\n'
        'input [ { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
        'output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 4 ] } ]\n'
        f"ensemble_scheduling {{ {' '.join(steps)} }}\n"
    )


def loads(pretend) -> list[str]:
    return [call for call in pretend.server_calls if call.startswith("load")]


def test_a_quick_search_measures_the_default_and_then_climbs(setting, pretend) -> None:
    status, output = setting.profile(run_config_search_mode="quick", concurrency_sweep_disable=True)

    assert status == 0, output
    assert "Starting quick mode search to find optimal configs" in output
    assert loads(pretend) == [
        "load m count=1 max_batch_size=8",
        "load m count=1 max_batch_size=1",
        "load m count=2 max_batch_size=1",
        "load m count=1 max_batch_size=2",
        "load m count=2 max_batch_size=2",
    ]
    assert output.count("Profiling m_config") == 5
    assert "Done with quick mode search." in output


def test_the_parts_of_an_ensemble_are_loaded_before_it_and_searched_unasked(
    setting, pretend, make_model
) -> None:
    make_model("a")
    repository = make_model("b")
    write_ensemble(repository, "whole", "a", "b")

    status, output = setting.profile(
        profile_models=["whole"],
        concurrency_sweep_disable=True,
        ensemble_composing_models={
            "a": {
                "model_config_parameters": {
                    "instance_group": [{"count": [1, 2], "kind": "KIND_CPU"}]
                }
            },
            "unknown": {},
        },
    )

    assert status == 0, output
    assert "unknown is not called by any model of this run: ignored" in output
    assert loads(pretend)[:6] == [
        "load a count=1 max_batch_size=8",
        "load b count=1 max_batch_size=8",
        "load whole count=1 max_batch_size=8",
        "load a count=1 max_batch_size=1",
        "load b count=1 max_batch_size=1",
        "load whole count=1 max_batch_size=1",
    ]
    for part in ("a", "b"):
        assert len({call for call in loads(pretend) if call.startswith(f"load {part} ")}) > 2
    assert (setting.directory / "output_model_repository" / "whole_config_0").is_dir()
    assert (setting.directory / "output_model_repository" / "a_config_0").is_dir()


def test_the_answer_says_what_to_change_in_the_parts_of_an_ensemble(
    setting, pretend, make_model
) -> None:
    make_model("a")
    write_ensemble(make_model("b"), "whole", "a", "b")
    faster = [{"throughput": 100.0 * 1.5**number} for number in range(20)]
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer(*faster))

    status, output = setting.profile(profile_models=["whole"], concurrency_sweep_disable=True)

    assert status == 0, output
    difference = (setting.directory / "best" / "whole" / "config.diff").read_text()
    assert "+++ best/a/config.pbtxt" in difference
    summaries = setting.directory / "reports" / "summaries"
    page = (summaries / "whole" / "result_summary.html").read_text()
    assert CONFIGURATION_CHANGES in page


def test_a_change_of_a_called_model_alone_is_loaded_and_measured(
    setting, pretend, make_model
) -> None:
    make_model("a")

    status, output = setting.profile(bls_composing_models=["a"], concurrency_sweep_disable=True)

    assert status == 0, output
    assert all("--bls-composing-models" in launch for launch in pretend.launches)
    measured = output.count("Profiling m_config")
    assert measured == len(pretend.launches) > 4
    # the second variant differs in the called model alone
    assert loads(pretend)[2:6] == [
        "load a count=1 max_batch_size=1",
        "load m count=1 max_batch_size=1",
        "load a count=2 max_batch_size=1",
        "load m count=1 max_batch_size=1",
    ]


def test_an_interrupted_search_over_parts_goes_on_where_it_was(setting, make_model) -> None:
    make_model("a")
    changes: dict[str, Any] = {"bls_composing_models": ["a"]}
    _, whole = setting.profile(**changes, checkpoint_directory="whole")
    process = setting.start(**changes)
    setting.wait_until(lambda: (setting.directory / "checkpoints" / "journal").exists())
    process.terminate()
    first, _ = process.communicate(timeout=180)

    status, second = setting.profile(**changes)

    assert status == 0, second
    assert profiled(first) + profiled(second) == profiled(whole)


def profiled(output: str) -> list[str]:
    return [line for line in output.splitlines() if "Profiling m_config" in line]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"profile_models": ["whole"], "run_config_search_mode": "brute"},
            "--search: search mode brute does not support ensembles such as whole",
        ),
        (
            {
                "profile_models": ["whole", "m"],
                "run_config_profile_models_concurrently_enable": True,
            },
            "whole: an ensemble cannot be profiled concurrently with other models",
        ),
        (
            {"cpu_only_composing_models": ["a"]},
            "cpu_only_composing_models: a is not called by any model of this run",
        ),
        (
            {"bls_composing_models": ["nowhere"]},
            "no model 'nowhere'",
        ),
        (
            {
                "profile_models": ["m", "whole"],
                "ensemble_composing_models": {
                    "a": {
                        "model_config_parameters": {
                            "dynamic_batching": {"max_queue_delay_microseconds": [0, 9]}
                        }
                    }
                },
            },
            "model_config_parameters of a: dynamic_batching has 2 values",
        ),
    ],
)
def test_what_cannot_be_searched_is_told_before_anything_starts(
    setting, pretend, make_model, run, changes: dict[str, Any], message: str
) -> None:
    make_model("a")
    write_ensemble(make_model("b"), "whole", "a", "b")
    path = setting.directory / "config.yaml"
    path.write_text(yaml.safe_dump({**setting.config, **changes}, sort_keys=False))

    status, _, error = run("profile", "-f", str(path), env=setting.variables)

    assert status == USAGE
    assert len(error.splitlines()) == 1
    assert message in error
    assert pretend.server_calls == []
    assert not (setting.directory / "output_model_repository").exists()
