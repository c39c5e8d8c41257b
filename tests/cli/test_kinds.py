# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Quick searches and models that call others, from YAML to the pretend programs; shared memory of
clients: our servers allow it where they have to be asked.

Mistakes in ensembles are told before a run, with ensemble, step and remedy.

What is done about a response cache is said before anything is measured.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import error_of
from tests.ensemble_cases import PARTS, Ensemble, step
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


def test_a_quick_search_measures_the_default_and_then_climbs(setting, pretend) -> None:
    output = setting.succeeds(run_config_search_mode="quick", concurrency_sweep_disable=True)

    assert "Starting quick mode search to find optimal configs" in output
    assert pretend.loads == [
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
    write_ensemble(make_model("b"), "whole", "a", "b")

    output = setting.succeeds(
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

    assert "unknown is not called by any model of this run: ignored" in output
    assert pretend.loads[:6] == [
        "load a count=1 max_batch_size=8",
        "load b count=1 max_batch_size=8",
        "load whole count=1 max_batch_size=8",
        "load a count=1 max_batch_size=1",
        "load b count=1 max_batch_size=1",
        "load whole count=1 max_batch_size=1",
    ]
    for part in ("a", "b"):
        assert len({call for call in pretend.loads if call.startswith(f"load {part} ")}) > 2
    assert (setting.directory / "output_model_repository" / "whole_config_0").is_dir()
    assert (setting.directory / "output_model_repository" / "a_config_0").is_dir()


def test_the_answer_says_what_to_change_in_the_parts_of_an_ensemble(
    setting, pretend, make_model
) -> None:
    make_model("a")
    write_ensemble(make_model("b"), "whole", "a", "b")
    faster = [{"throughput": 100.0 * 1.5**number} for number in range(20)]
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer(*faster))

    setting.succeeds(profile_models=["whole"], concurrency_sweep_disable=True)

    difference = (setting.directory / "best" / "whole" / "config.diff").read_text()
    assert "+++ best/a/config.pbtxt" in difference
    summaries = setting.directory / "reports" / "summaries"
    page = (summaries / "whole" / "result_summary.html").read_text()
    assert CONFIGURATION_CHANGES in page


def test_a_change_of_a_called_model_alone_is_loaded_and_measured(
    setting, pretend, make_model
) -> None:
    make_model("a")

    output = setting.succeeds(bls_composing_models=["a"], concurrency_sweep_disable=True)

    assert all("--bls-composing-models" in launch for launch in pretend.launches)
    assert output.count("Profiling m_config") == len(pretend.launches) > 4
    # the second variant differs in the called model alone
    assert pretend.loads[2:6] == [
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

    second = setting.succeeds(**changes)

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
        ({"bls_composing_models": ["nowhere"]}, "no model 'nowhere'"),
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

    error = error_of(run("profile", "-f", str(path), env=setting.variables), USAGE)

    assert len(error.splitlines()) == 1
    assert message in error
    assert pretend.server_calls == []
    assert not (setting.directory / "output_model_repository").exists()


FLAG = "--allow-client-shm"


@pytest.mark.parametrize(
    ("knows", "changes", "is_given"),
    [
        ([FLAG[2:]], {"perf_analyzer_flags": {"shared-memory": "system"}}, True),
        ([FLAG[2:]], {}, False),
        ([], {"perf_analyzer_flags": {"shared-memory": "system"}}, False),
    ],
)
def test_a_server_that_we_start_allows_it(
    setting, pretend, knows: list[str], changes: dict[str, Any], is_given: bool
) -> None:
    setting.config["triton_server_path"] = str(pretend.tritonserver(knows=knows))

    setting.succeeds("--run-config-search-disable", **changes)

    (start,) = [call for call in pretend.server_calls if call.startswith("start")]
    assert (f"{FLAG}=true" in start) is is_given


def test_the_users_flag_counts(setting, pretend) -> None:
    setting.config["triton_server_path"] = str(pretend.tritonserver(knows=[FLAG[2:]]))

    output = setting.succeeds(
        "--run-config-search-disable",
        perf_analyzer_flags={"shared-memory": "system"},
        triton_server_flags={"allow-client-shm": False},
    )

    assert "is unknown" not in output
    (start,) = [call for call in pretend.server_calls if call.startswith("start")]
    assert f"{FLAG}=false" in start


def write(directory: Path, models: str) -> None:
    (directory / "c.yaml").write_text(f"model_repository: models\nprofile_models: {models}\n")


def test_a_step_without_a_version_is_named(run, tmp_path: Path) -> None:
    PARTS["a"].write(tmp_path / "models" / "step", "")
    Ensemble(steps=[step("step", version=None)]).write(tmp_path / "models" / "chain")
    write(tmp_path, "[chain]")

    error = error_of(run("config", "validate", "c.yaml"), USAGE)

    assert "step 1 (step) of chain has no model_version: write -1" in error
    _, output, error = run("doctor", "--no-models", "-f", "c.yaml")
    assert "step 1 (step) of chain has no model_version: write -1" in " ".join(output.split())


@pytest.mark.parametrize("models", ["[chain, chain2]", "all"])
def test_a_missing_step_is_told_once_for_each_ensemble(run, tmp_path: Path, models: str) -> None:
    for name in ("chain", "chain2"):
        Ensemble(steps=[step("resnet")]).write(tmp_path / "models" / name)
    write(tmp_path, models)

    error = error_of(run("config", "validate", "c.yaml"), USAGE)

    first, second = error.splitlines()
    assert "step 1 (resnet) of chain: no model 'resnet' in" in first
    assert "step 1 (resnet) of chain2: no model 'resnet' in" in second
    assert "did you mean" not in error
    assert "(add it, or correct its name)" in first


CONFIG = """\
model_repository: models
profile_models: {m: {cpu_only: true}}
run_config_search_disable: true
concurrency: 1
response_cache: RESPONSE_CACHE
"""


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("off", "model m: measured without the response cache of m."),
        (
            "keep\ntriton_server_flags: {cache-config: 'local,size=1048576'}",
            "model m: measured with the response cache of m.",
        ),
        ("keep", "model m: response_cache of m has no effect, because the server has no cache:"),
    ],
    ids=["off", "keep", "no cache"],
)
@pytest.mark.parametrize(
    "command",
    [
        ("config", "validate", "config.yaml"),
        ("profile", "--dry-run", "-f", "config.yaml"),
        ("doctor", "--no-models", "-f", "config.yaml"),
    ],
    ids=["validate", "dry run", "doctor"],
)
def test_it_is_said_whether_the_cache_is_measured(
    run, make_model, tmp_path: Path, option: str, words: str, command: tuple[str, ...]
) -> None:
    make_model("m", extra="response_cache { enable: true }")
    (tmp_path / "config.yaml").write_text(CONFIG.replace("RESPONSE_CACHE", option))

    _, output, error = run(*command)

    assert " ".join((output + error).split()).count(words) == 1
