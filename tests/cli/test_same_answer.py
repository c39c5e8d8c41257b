# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What `profile` recommends is what every other command recommends from its checkpoint."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from model_analyzer.reports.document import results_schema
from model_analyzer.state.format.codec import decode, encode
from tests.cli.conftest import output_of

Run = Callable[..., tuple[int, str, str]]

TOGETHER: dict[str, Any] = {
    "profile_models": {"a": {"cpu_only": True}, "b": {"cpu_only": True}},
    "run_config_profile_models_concurrently_enable": True,
    "run_config_search_max_concurrency": 1,
}
OPTUNA = {"run_config_search_mode": "optuna", "optuna_max_trials": 8, "optuna_min_trials": 4}
MODES: list[dict[str, Any]] = [
    {"run_config_search_mode": "brute"},
    {"run_config_search_mode": "quick"},
    {"run_config_search_mode": "adaptive"},
    OPTUNA,
    {"run_config_search_disable": True, "concurrency": [1, 2]},
    {"run_config_search_mode": "adaptive", "constraints": {"perf_latency_p99": {"max": 13}}},
    {"objectives": {"gpu_used_memory": 1, "perf_latency_p99": 3}},
    {**TOGETHER, "run_config_search_disable": True, "concurrency": [1]},
    {**TOGETHER, "run_config_search_mode": "quick"},
    {**TOGETHER, "run_config_search_mode": "adaptive"},
]
# what differs without being another answer
INCIDENTAL = {"origin", "complete"}


@pytest.fixture(autouse=True)
def measurements(setting, pretend, make_model) -> None:
    """Models whose measurements differ, in an order that tells nothing."""
    make_model("a")
    make_model("b")
    steps = [{"throughput": 100.0 + 37 * place % 101} for place in range(101)]
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer(*steps))


def content_of(text: str) -> dict[str, Any]:
    """The document of results, without fields that depend on the command."""
    document: dict[str, Any] = json.loads(text)
    jsonschema.validate(document, results_schema())
    return {key: value for key, value in document.items() if key not in INCIDENTAL}


def profiled(directory: Path) -> dict[str, Any]:
    return content_of((directory / "results" / "results.json").read_text())


def command_to_deploy(output: str) -> list[str]:
    """The command that the end of a run names, for all results."""
    match = re.search(r"on Kubernetes: model-analyzer (.*) --format kubernetes", output)
    assert match is not None, output
    return [*shlex.split(match[1]), "--format", "json"]


def check_commands(setting, run: Run, tmp_path: Path, output: str, changes: Any) -> None:
    answer = profiled(tmp_path)
    where = setting.config.get("checkpoint_directory", "checkpoints")
    for command in (command_to_deploy(output), ["best", "-f", "config.yaml", "--format", "json"]):
        status, text, error = run(*command)
        assert (status, content_of(text)) == (0, answer), error
    (model,) = answer["models"]
    status, output = setting.profile(command="analyze", **changes)
    assert (status, profiled(tmp_path)) == (0, answer), output
    status, text, error = run(*command_to_deploy(output))
    assert (status, content_of(text)) == (0, answer), error
    conditions = ["--conditions", str(model["circumstances"])]
    best = ("best", "-m", model["model"], "-s", where, "--format", "json")
    status, text, error = run(*best, *conditions)
    assert (status, content_of(text)) == (0, answer), error
    status, text, _ = run("checkpoint", "best", "-s", where, *conditions)
    assert (status, model["sentence"] in " ".join(text.split())) == (0, True), text
    shutil.rmtree(tmp_path / "merged", ignore_errors=True)
    output_of(run("checkpoint", "merge", *[where] * 2, "--output-dir", "merged"))
    status, text, error = run("best", "-s", "merged", "--format", "json", *conditions)
    assert (status, content_of(text)) == (0, answer), error


@pytest.mark.parametrize("changes", MODES)
def test_commands_recommend_what_the_run_did(setting, run: Run, tmp_path: Path, changes) -> None:
    output = setting.succeeds(**changes)
    check_commands(setting, run, tmp_path, output, changes)


def test_a_smaller_run_under_other_conditions(setting, run: Run, tmp_path: Path) -> None:
    """The command that the run names recommends what it did, though more is known of before."""
    setting.succeeds()
    flags = {"perf_analyzer_flags": {"string-length": "16"}}
    changes = {
        "profile_models": {"m": {"cpu_only": True, **flags}},
        "run_config_search_max_concurrency": 1,
    }
    output = setting.succeeds(**changes)
    assert profiled(tmp_path)["models"][0]["circumstances"] == 2
    check_commands(setting, run, tmp_path, output, changes)


def test_models_together_in_another_order(setting, run: Run, tmp_path: Path) -> None:
    """The group that was measured answers, with the conclusion and the goals of its search."""
    together = {**TOGETHER, "run_config_search_mode": "adaptive"}
    setting.succeeds(**together)
    answer = profiled(tmp_path)
    assert answer["models"][0]["conclusion"] is not None
    swapped = {**together, "profile_models": dict(reversed(TOGETHER["profile_models"].items()))}
    setting.succeeds(command="analyze", **swapped)
    assert profiled(tmp_path) == answer
    # measured in both orders, it is one group of models all the same
    output = setting.succeeds(**swapped)
    check_commands(setting, run, tmp_path, output, swapped)
    assert len(profiled(tmp_path)["models"]) == 1


def test_conditions_of_one_model_say_nothing_about_another(
    setting, run: Run, tmp_path: Path
) -> None:
    both = {"profile_models": {"a": {"cpu_only": True}, "b": {"cpu_only": True}}}
    setting.succeeds(**both)
    flags = {"perf_analyzer_flags": {"string-length": "16"}}
    setting.succeeds(profile_models={"a": {"cpu_only": True, **flags}})
    for number in ("1", "2"):
        output_of(run("report", "-n", "a_config_0", "--conditions", number, "-e", "x"))
        output_of(run("best", "-m", "a", "--conditions", number))
        output_of(run("checkpoint", "best", "--model", "a", "--conditions", number))


def test_an_answer_by_other_goals_names_them(setting, run: Run, tmp_path: Path) -> None:
    wished = {"objectives": {"perf_latency_p99": 2}, "constraints": {"perf_throughput": {"min": 1}}}
    setting.succeeds(**wished)
    for changes in (
        {},
        {"objectives": {"perf_latency_avg": 1, "perf_throughput": 2}},
        {"constraints": {"perf_latency_p99": {"max": 13}}},
    ):
        output = setting.succeeds(command="analyze", **changes)
        status, text, error = run(*command_to_deploy(output))
        assert (status, content_of(text)) == (0, profiled(tmp_path)), error
        page = (tmp_path / "reports" / "summaries" / "m" / "result_summary.html").read_text()
        (copied,) = re.findall(r'data-copy="([^"]*)" data-name="Kubernetes command"', page)
        assert shlex.split(unescape(copied))[1:-2] == command_to_deploy(output)[:-2]


def test_without_goals_the_models_are_ranked_by_those_of_the_run(
    setting, run: Run, tmp_path: Path
) -> None:
    """The run got its goals on the command line, and later commands get none."""
    setting.succeeds("--latency-budget", "13", "--min-throughput", "1")
    answer = profiled(tmp_path)
    name = answer["models"][0]["recommended"]["variant"]
    said = "goals of the run: Throughput; Max p99 Latency: 13 ms; Min Throughput: 1 infer/sec"
    for path in (tmp_path / "results").iterdir():
        path.unlink()
    status, output = setting.profile(command="analyze")
    assert (status, said in output, f"WARNING: {said}" in output) == (0, True, False), output
    assert profiled(tmp_path) == answer
    assert "no constraints" not in output
    status, text, _ = run(*command_to_deploy(output))
    assert (status, content_of(text)) == (0, answer)

    status, text, error = run("report", "-n", name, "-s", "checkpoints", "-e", "details")
    assert (status, said in text, f"WARNING: {said}" in text) == (0, True, False), text + error
    (tmp_path / "given.yaml").write_text("latency_budget: 14\n")
    status, text, error = run("report", "-f", "given.yaml", "-n", name, "-s", "checkpoints")
    assert (status, "goals of the run" in text) == (0, False), text + error
    status, output = setting.profile("--latency-budget", "14", command="analyze")
    assert (status, "goals of the run" in output) == (0, False), output
    assert profiled(tmp_path)["models"][0]["goals"] != answer["models"][0]["goals"]


def test_models_that_a_run_did_not_reach_are_answered_as_by_it(
    setting, pretend, run: Run, tmp_path: Path
) -> None:
    """The second model was edited, and the run was interrupted in the first."""
    both = {"profile_models": {"a": {"cpu_only": True}, "b": {"cpu_only": True}}}
    setting.succeeds(**both)
    config = Path(setting.config["model_repository"]) / "b" / "config.pbtxt"
    config.write_text(
        f'{config.read_text()}\nparameters {{ key: "exact" value {{ string_value: "yes" }} }}\n'
    )
    go = tmp_path / "go"
    before = len(pretend.launches)
    setting.config["perf_analyzer_path"] = str(
        pretend.perf_analyzer(*[{}] * before, {"until": str(go)})
    )
    process = setting.start(**both, run_config_search_max_instance_count=3)
    setting.wait_until(lambda: len(pretend.launches) > before)
    setting.interrupt(process, 1)
    go.touch()
    output = process.communicate(timeout=180)[0]
    assert process.returncode == 1, output

    status, text, error = run("best", "--format", "json")

    assert (status, content_of(text)) == (1, profiled(tmp_path)), error
    assert profiled(tmp_path)["models"][1]["verdict"] == "nothing"


def without_bases(path: Path) -> None:
    """A checkpoint from before it was kept from which models variants derive."""
    entries = [decode(line) for line in path.read_bytes().splitlines(keepends=True)]
    for entry in entries:
        entry.pop("base", None)
        entry.pop("bases", None)
    path.write_bytes(b"".join(map(encode, entries)))


@pytest.mark.parametrize("mode", ["brute", "quick", "adaptive"])
@pytest.mark.parametrize("is_old", [False, True])
def test_a_model_that_is_edited_and_edited_back(
    setting, run: Run, tmp_path: Path, mode: str, is_old: bool
) -> None:
    """Of config.pbtxt, once and back; then of another file."""
    model = Path(setting.config["model_repository"]) / "m"
    text = (model / "config.pbtxt").read_text()
    changes = {"run_config_search_mode": mode}
    counts = []
    for number, exact in enumerate(("no", "yes", "no", "yes")):
        value = f'parameters {{ key: "exact" value {{ string_value: "{exact}" }} }}'
        (model / "config.pbtxt").write_text(f"{text}\n{value}\n")
        output = setting.succeeds(**changes)
        check_commands(setting, run, tmp_path, output, changes)
        (answer,) = profiled(tmp_path)["models"]
        assert f'"{exact}"' in (tmp_path / "best" / "m" / "config.pbtxt").read_text()
        for measured in answer["variants"]:
            for deployed in measured["models"]:
                assert deployed["configuration"]["parameters"]["exact"]["string_value"] == exact
        counts.append(sum(part["measurements"] for part in answer["left_out"]))
        if number == 0 and is_old:
            without_bases(tmp_path / "checkpoints" / "0.ckpt")
    # edited back, nothing is new, and the other half is left out
    assert counts[0] == 0
    assert all(counts[1:]), counts
    for path in (model / "1").iterdir():
        path.write_text("another")
    output = setting.succeeds(**changes)
    check_commands(setting, run, tmp_path, output, changes)
    (answer,) = profiled(tmp_path)["models"]
    assert any("files of m have changed" in part["reason"] for part in answer["left_out"])


@pytest.mark.parametrize("mode", ["brute", "adaptive"])
def test_a_run_goes_on_from_an_imported_checkpoint(
    setting, pretend, run: Run, tmp_path: Path, mode: str
) -> None:
    changes = {"run_config_search_mode": mode}
    setting.succeeds(**changes)
    before = profiled(tmp_path)["models"][0]
    earlier = len(pretend.launches)
    exported = ["checkpoint", "export", "--format", "upstream", "-o", "theirs.ckpt"]
    assert run(*exported)[0] == 0
    assert run("checkpoint", "import", "theirs.ckpt", "-s", "new")[0] == 0
    setting.config["checkpoint_directory"] = "new"

    output = setting.succeeds(**changes)

    check_commands(setting, run, tmp_path, output, changes)
    (answer,) = profiled(tmp_path)["models"]
    if mode == "brute":
        assert answer["left_out"] == []
        assert len(pretend.launches) == earlier
        assert answer["recommended"]["variant"] == before["recommended"]["variant"]
