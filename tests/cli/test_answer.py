# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of a run, and the same answer wherever it is asked for again."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., tuple[int, str, str]]


def answer(directory: Path) -> dict[str, Any]:
    """What `results.json` says of the only model."""
    (model,) = json.loads((directory / "results" / "results.json").read_text())["models"]
    assert isinstance(model, dict)
    return model


def test_a_model_that_was_edited_is_not_answered_from_before(
    setting, pretend, run: Run, tmp_path: Path
) -> None:
    """The user corrects a parameter that made the model fast and wrong."""
    config = Path(setting.config["model_repository"]) / "m" / "config.pbtxt"
    text = config.read_text()

    def edit(exact: str) -> None:
        value = f'parameters {{ key: "exact" value {{ string_value: "{exact}" }} }}'
        config.write_text(f"{text}\n{value}\n")

    setting.config["perf_analyzer_path"] = str(
        pretend.perf_analyzer(*[{"throughput": 900.0}] * 10, {"throughput": 200.0})
    )
    edit("no")
    setting.succeeds()
    edit("yes")
    output = setting.succeeds()

    assert "5 configurations, 10 left out." in output
    _, _, error = run("best", "-v")
    assert "10 measurements are left out: config.pbtxt of m has changed since" in error
    assert '"yes"' in (tmp_path / "best" / "m" / "config.pbtxt").read_text()
    (left_out,) = answer(tmp_path)["left_out"]
    assert (left_out["measurements"], left_out["circumstances"]) == (10, None)
    for command in (("best",), ("best", "-f", "config.yaml")):
        status, output, error = run(*command)
        assert (status, '"yes"' in output, "10 left out" in error) == (0, True, True)
    # edited back, everything is known, and the other half is left out
    edit("no")
    setting.succeeds()
    assert '"no"' in (tmp_path / "best" / "m" / "config.pbtxt").read_text()
    assert '"no"' in run("best")[1]


def test_measurements_under_other_conditions_are_counted_and_can_be_chosen(
    setting, run: Run, tmp_path: Path
) -> None:
    flags = {"perf_analyzer_flags": {"string-length": "16"}}
    setting.succeeds()
    output = setting.succeeds(
        profile_models={"m": {"cpu_only": True, **flags}},
        run_config_search_max_concurrency=1,
        skip_detailed_reports=False,
    )

    assert answer(tmp_path)["circumstances"] == 2
    (left_out,) = answer(tmp_path)["left_out"]
    assert (left_out["measurements"], left_out["circumstances"]) == (10, 1)
    sentence = "--conditions 1 ranks them"
    assert ", 10 left out" in output
    assert sentence in run("best", "-f", "config.yaml", "-v")[2]
    # the file of the run decides; without one, most measurements do
    assert "\n5 measurements across" in run("best", "-f", "config.yaml")[2]
    assert "\n10 measurements across" in run("best")[2]
    assert "\n5 measurements across" in run("best", "--conditions", "2")[2]
    assert "\n5 measurements across" in run("checkpoint", "best", "--conditions", "2")[1]
    assert (
        "\n5 measurements across"
        in setting.profile(command="analyze", profile_models={"m": {"cpu_only": True, **flags}})[1]
    )
    status, output = setting.profile("--conditions", "1", command="analyze")
    assert (status, "\n10 measurements across" in output) == (0, True)
    status, _, error = run("best", "--conditions", "3")
    assert (status, "--conditions: m: there is no group 3: there are 1 to 2" in error) == (2, True)
    shown = run("checkpoint", "show")[1]
    assert "Conditions of m" in shown
    assert "string-length" in shown


def test_where_nothing_keeps_the_constraints_nothing_is_deployed_unless_allowed(
    setting, run: Run, tmp_path: Path
) -> None:
    budget = {"constraints": {"perf_latency_p99": {"max": 0.001}}}
    output = setting.succeeds(**budget)
    assert "to deploy" not in output
    miss = "# Misses the constraints by "
    assert (tmp_path / "best" / "m" / "config.pbtxt").read_text().startswith(miss)
    assert answer(tmp_path)["verdict"] == "nearest"
    assert setting.profile("--fail-on-miss", **budget)[0] == 1

    for command in (("best",), ("best", "--format", "kubernetes"), ("best", "--diff")):
        status, output, error = run(*command)
        assert (status, output) == (1, ""), command
        assert "m: no configuration meets the constraints, so there is none to use" in error
        status, output, _ = run(*command, "--allow-miss")
        # the nearest is the default: there is no difference to show
        assert (status, output.startswith(miss)) == (0, "--diff" not in command), command
    status = run("checkpoint", "best", "--output-dir", "deploy")[0]
    assert (status, [*tmp_path.glob("deploy/**/*.pbtxt")]) == (1, [])
    assert run("checkpoint", "best", "--output-dir", "deploy", "--allow-miss")[0] == 0
    (written,) = (tmp_path / "deploy" / "m" / "m_config_default").glob("config.pbtxt")
    assert written.read_text().startswith(miss)


def test_models_that_were_measured_together_are_found(setting, make_model, run: Run) -> None:
    make_model("a")
    make_model("b")
    together = {
        "profile_models": {"a": {"cpu_only": True}, "b": {"cpu_only": True}},
        "run_config_profile_models_concurrently_enable": True,
        "run_config_search_max_concurrency": 1,
        "run_config_search_max_instance_count": 1,
        "run_config_search_max_model_batch_size": 1,
    }
    setting.succeeds(**together)

    output = setting.succeeds(command="analyze", profile_models=["a"])
    assert "a was measured together with others: a,b" in output
    assert "could be measured" not in output
    for model in ("a", "b,a"):
        status, output, _ = run("best", "-m", model, "--format", "json")
        assert (status, json.loads(output)["models"][0]["model"]) == (0, "a,b")


def test_an_objective_without_data_is_named(setting, tmp_path: Path) -> None:
    output = setting.succeeds(objectives={"gpu_used_memory": 1, "perf_throughput": 10})
    assert "Note: ranked without GPU Memory Usage, which was not measured" in output
    assert answer(tmp_path)["unmeasured_objectives"] == ["gpu_used_memory"]


def test_a_constraint_without_data_is_not_met(setting, tmp_path: Path) -> None:
    """This machine has no GPU whose memory could be measured."""
    limit = {"gpu_used_memory": {"max": 10}}

    output = setting.fails(1, "--fail-on-miss", constraints=limit)

    assert "Not certain: GPU Memory Usage has a constraint but was not measured" in output
    assert answer(tmp_path)["recommended"]["satisfies_constraints"] is None


def test_the_answer_is_shown_though_its_files_cannot_be_written(setting, tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file where a directory is to be")

    output = setting.fails(1)

    assert "10 measurements across 5 configurations" in output
    assert output.index("\n10 measurements across") < output.index("cannot write")
    assert "wrote" not in output
