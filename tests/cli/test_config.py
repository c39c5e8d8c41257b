# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`config validate` and `config schema`, and how flags may be written."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from model_analyzer.config.options import json_schema
from tests.cli.conftest import error_of, output_of
from tests.phrases import NOT_AN_INTEGER, too_large_batch

USAGE = 2
VALID = "valid, but profile also needs profile_models and model_repository"
CONFIG = Path(__file__).parents[2] / "config"
EXAMPLES = [
    path
    for path in sorted(CONFIG.glob("*.yaml"))
    if path.name != "prices.yaml"  # no configuration of a run
]


def write(directory: Path, name: str, text: str) -> str:
    (directory / name).write_text(text)
    return name


def test_a_good_file_gets_one_line(run, tmp_path: Path) -> None:
    names = [
        write(tmp_path, "a.yaml", "batch_sizes: 4"),
        write(tmp_path, "empty.yaml", ""),
        write(tmp_path, "remote.yaml", "triton_launch_mode: remote\nprofile_models: m"),
    ]

    status, output, error = run("config", "validate", "--file-only", *names)

    assert (status, error) == (0, "")
    assert output == f"a.yaml: {VALID}\nempty.yaml: {VALID}\nremote.yaml: valid\n"
    _, output, _ = run("config", "validate", "--file-only", "--json", *names)
    missing = [file["missing"] for file in json.loads(output)["files"]]
    assert [len(each) for each in missing] == [2, 2, 0]
    assert "give --profile-models" in missing[0][0]["hint"]


def test_the_examples_are_valid(run, tmp_path: Path) -> None:
    run("init", "quick-start")
    # where a user has them: they name files beside them
    shutil.copytree(CONFIG, tmp_path / "config")
    tls = (CONFIG / "tls.yaml").read_text("utf-8")
    for name in re.findall(r"^ .*: (certificates/.*)$", tls, re.MULTILINE):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    output = output_of(run("config", "validate", *(f"config/{path.name}" for path in EXAMPLES)))

    assert output.count(": valid\n") == len(EXAMPLES) > 0


def test_all_problems_of_all_files_are_told_in_reading_order(run, tmp_path: Path) -> None:
    names = [
        write(tmp_path, "a.yaml", "run_config_search_mode: quick\nconcurrency: 4\nbatchsizes: 1\n"),
        write(tmp_path, "good.yaml", "batch_sizes: 4"),
        write(tmp_path, "b.yaml", "profile_models: {m: {cpu: 1}}\nconcurrency: [x]\na: [1"),
        "none.yaml",
    ]

    status, output, error = run("config", "validate", *names)

    assert status == USAGE
    assert output == f"good.yaml: {VALID}\n"
    first, second, third, fourth = error.splitlines()
    assert first.startswith(
        "model-analyzer: a.yaml:2:14: search mode quick does not support concurrency"
    )
    assert second == (
        "model-analyzer: a.yaml:3:1: unknown option 'batchsizes' (did you mean 'batch_sizes'?)"
    )
    assert third.startswith("model-analyzer: b.yaml:4:1: not valid YAML")
    assert fourth.startswith("model-analyzer: none.yaml: cannot be read: No such file")


def test_a_remark_is_no_problem(run, tmp_path: Path) -> None:
    name = write(tmp_path, "a.yaml", "triton_docker_labels: {a: b}")

    status, output, error = run("config", "validate", name)

    assert (status, output) == (0, f"a.yaml: {VALID}\n")
    assert error.startswith("model-analyzer: warning: a.yaml:1:23: triton_docker_labels has no")


def test_other_programs_get_one_document(run, tmp_path: Path) -> None:
    names = [
        write(tmp_path, "a.yaml", "batch_size: 4"),
        write(tmp_path, "b.yaml", "triton_docker_labels: {a: b}"),
        "none.yaml",
    ]

    status, output, error = run("config", "validate", "--json", *names)

    assert (status, error) == (USAGE, "")
    a, b, missing = json.loads(output)["files"]
    assert a == {
        "file": "a.yaml",
        "valid": False,
        "problems": [
            {
                "where": "a.yaml:1:1",
                "line": 1,
                "column": 1,
                "what": "unknown option 'batch_size'",
                "hint": "did you mean 'batch_sizes'?",
            }
        ],
        "remarks": [],
        "missing": [],
        "paths": {},
    }
    assert (b["valid"], b["problems"], len(b["remarks"])) == (True, [], 1)
    assert [problem["line"] for problem in missing["problems"]] == [None]


# --------------------------------------------------------------------------- what the file names


def test_a_repository_that_is_not_there_is_told_with_its_whole_path(run, tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "model_repository: modles\nprofile_models: m")

    status, output, error = run("config", "validate", "a.yaml")

    assert (status, output) == (USAGE, "")
    assert error == (
        f"model-analyzer: a.yaml:1:19: model repository {tmp_path}/modles does not exist: check"
        " --model-repository (relative paths start at the current directory)\n"
    )
    assert run("config", "validate", "--file-only", "a.yaml")[0] == 0


def test_models_and_loads_that_cannot_be_are_told_at_once(run, tmp_path: Path, make_model) -> None:
    make_model("resnet", max_batch_size=8)
    text = """\
model_repository: models
profile_models:
  resnett: {}
  resnet:
    parameters: {batch_sizes: [16, 32]}
    model_config_parameters: {max_batch_size: [2, 4]}
    perf_analyzer_flags: {input-data: data.json, model-version: 3}
"""
    write(tmp_path, "a.yaml", text)

    error = error_of(run("config", "validate", "a.yaml"), USAGE)

    first, second, version, third = error.splitlines()
    assert "7:26: model resnet: the server loads version 1 of it, not 3" in version
    assert first == (
        f"model-analyzer: a.yaml:3:3: no model 'resnett' in {tmp_path}/models"
        " (did you mean 'resnet'?)"
    )
    assert second.startswith(
        f"model-analyzer: a.yaml:5:31: model resnet: {too_large_batch(16, largest=8)}"
    )
    assert third.startswith("model-analyzer: a.yaml:7:26: model resnet: perf_analyzer flag")
    assert f"{tmp_path}/data.json does not exist (correct the path:" in third


GPUS_ONLY = """\
model_repository: models
profile_models:
  m:
    model_config_parameters:
      instance_group: [[{kind: KIND_GPU}], [{kind: KIND_CPU}]]
"""


def test_instances_on_gpus_that_are_not_here_are_no_mistake(run, tmp_path, make_model) -> None:
    """The server refuses such a variant; the others are measured, as there."""
    make_model("m")
    write(tmp_path, "a.yaml", GPUS_ONLY)

    error = error_of(run("config", "validate", "a.yaml"))

    assert error.startswith(
        "model-analyzer: warning: a.yaml:5:7: model m: 1 of 2 instance_groups to try have KIND_GPU,"
        " and this machine has no GPU"
    )
    write(tmp_path, "a.yaml", GPUS_ONLY + "triton_launch_mode: remote\n")
    assert run("config", "validate", "a.yaml")[2] == ""


def test_gpus_of_called_models_and_of_goals_are_looked_for_too(run, tmp_path, make_model) -> None:
    make_model("m")
    make_model("part")
    groups = "[{kind: KIND_GPU, count: [1, 2]}]"
    write(
        tmp_path,
        "a.yaml",
        "model_repository: models\nprofile_models: [m]\nbls_composing_models:\n"
        f"  part: {{model_config_parameters: {{instance_group: {groups}}}}}\n"
        "objectives: [perf_throughput, gpu_utilization]\n",
    )

    error = error_of(run("config", "validate", "a.yaml"))

    called, objective = error.splitlines()
    assert "model part: 2 of 2 instance_groups to try have KIND_GPU" in called
    assert "a.yaml:5:13: model m: nothing measures gpu_utilization, because this" in objective
    assert "the ranking leaves that out" in objective

    goals = "objectives: [perf_throughput]\nconstraints: {gpu_used_memory: {max: 50}}\n"
    write(tmp_path, "a.yaml", f"model_repository: models\nprofile_models: [m]\n{goals}")
    (constraint,) = run("config", "validate", "a.yaml")[2].splitlines()
    assert "a.yaml:4:14: model m: nothing measures gpu_used_memory, because this" in constraint
    assert "no configuration is known to meet that" in constraint


def test_a_model_with_nothing_but_gpu_instances_cannot_be_measured(
    run, tmp_path: Path, make_model
) -> None:
    make_model("m", kind="KIND_GPU")
    write(tmp_path, "a.yaml", GPUS_ONLY.replace("KIND_CPU", "KIND_GPU"))

    error = error_of(run("config", "validate", "a.yaml"), USAGE)

    assert "a.yaml:5:7: model m: all its instances are KIND_GPU" in error
    assert "this machine has no GPU" in error


def test_relative_paths_are_shown_with_what_they_are(run, tmp_path: Path, make_model) -> None:
    make_model("m")
    write(tmp_path, "a.yaml", "model_repository: models\nexport_path: /there")

    _, output, _ = run("config", "validate", "a.yaml")
    _, as_json, _ = run("config", "validate", "--json", "a.yaml")

    assert output == (
        "a.yaml: valid, but profile also needs profile_models\n"
        f"  model_repository: {tmp_path}/models\n"
    )
    (file,) = json.loads(as_json)["files"]
    assert file["paths"] == {"model_repository": f"{tmp_path}/models"}
    _, shown, _ = run("config", "show", "--json", "a.yaml")
    options = {option["key"]: option for option in json.loads(shown)["options"]}
    assert options["model_repository"]["path"] == f"{tmp_path}/models"
    assert "path" not in options["export_path"]


def test_files_to_validate_are_named(run) -> None:
    error = error_of(run("config", "validate"), USAGE)

    assert "Missing argument 'FILE...'" in error


def test_the_schema_is_printed(run) -> None:
    status, output, error = run("config", "schema")

    assert (status, error) == (0, "")
    assert json.loads(output) == json_schema()


# ------------------------------------------------------------------------------------- the flags


@pytest.mark.parametrize(
    "arguments",
    [
        ["--run-config-search-max-bin", "x"],
        ["--run-config-search-max-binary-search-steps=x"],
        ["--run_config_search_max_binary_search_steps", "x"],
        ["--run-config-search-max-binary-search-steps", "3", "--run-config-search-max-bin=x"],
    ],
)
def test_a_flag_may_be_shortened_joined_to_its_value_and_repeated(run, arguments) -> None:
    error = error_of(run("profile", "-m", "models", "--profile-models", "m", *arguments), USAGE)

    assert error == (
        f"model-analyzer: --run-config-search-max-binary-search-steps: {NOT_AN_INTEGER},"
        " found 'x'\n"
    )


def test_of_a_repeated_flag_the_last_counts(run) -> None:
    error = error_of(
        run("profile", "-m", "models", "--profile-models", "m", "-b", "x", "-b", "4", "-r", "x"),
        USAGE,
    )

    assert error == f"model-analyzer: --client-max-retries: {NOT_AN_INTEGER}, found 'x'\n"


def test_a_prefix_of_several_flags_is_none(run) -> None:
    error = error_of(run("profile", "--run-config-search-max", "4"), USAGE)

    assert re.search("No such option.*--run-config-search-max", error)


@pytest.mark.parametrize(
    "flag", ["--always-report-gpu-metrics", "--always_report-gpu-metrics", "--always-rep"]
)
def test_gpu_metrics_of_a_report_in_every_spelling(run, flag: str) -> None:
    error = error_of(run("report", flag, "-n", "m_config_default"), USAGE)

    assert "no checkpoint found" in error


def test_a_switch_takes_no_value(run) -> None:
    error = error_of(run("profile", "--perf-output=false"), USAGE)

    assert "does not take a value" in error


def test_a_file_named_in_the_file_is_not_read(run, tmp_path: Path) -> None:
    name = write(tmp_path, "a.yaml", "config_file: other.yaml\nbatch_sizes: x")

    error = error_of(run("report", "-f", name, "-n", "m_config_default"), USAGE)

    assert error == f"model-analyzer: a.yaml:2:14: {NOT_AN_INTEGER}, found 'x'\n"


@pytest.mark.parametrize(
    ("command", "default"),
    [
        ("report", "html,png"),
        ("profile", "html,json,csv,png"),
        ("report", "checkpoints"),
        ("profile", "grpc"),
        ("profile", "all"),
        ("profile", "1024"),
    ],
)
def test_help_shows_defaults_as_one_would_write_them(run, command: str, default: str) -> None:
    _, output, _ = run(command, "--help-all" if command == "profile" else "--help")

    assert f"[default: {default}]" in " ".join(output.split())
    assert "default: OutputFormat" not in " ".join(output.split())


def test_variables_count_when_files_are_checked(run, tmp_path: Path, monkeypatch) -> None:
    write(tmp_path, "a.yaml", "batch_sizes: 4")
    monkeypatch.setenv("MODEL_ANALYZER_CONCURRENCY", "many")

    status, output, error = run("config", "validate", "a.yaml")

    assert (status, output) == (USAGE, "")
    assert error == (
        f"model-analyzer: MODEL_ANALYZER_CONCURRENCY: {NOT_AN_INTEGER}, found 'many'\n"
    )


def test_show_tells_what_is_given_and_where(run, tmp_path: Path, monkeypatch) -> None:
    write(tmp_path, "a.yaml", "batch_sizes: [4, 8]\nexport_path: there\n")
    monkeypatch.setenv("MODEL_ANALYZER_EXPORT_PATH", "here")
    monkeypatch.setenv("MODEL_ANALYZER_BATCHSIZES", "1")

    status, output, error = run("config", "show", "a.yaml")

    assert status == 0
    assert output == (
        "batch_sizes: [4, 8]\n    a.yaml:1:14\n"
        f"export_path: here ({tmp_path}/here)\n"
        "    MODEL_ANALYZER_EXPORT_PATH, instead of a.yaml:2:14\n"
    )
    assert "did you mean MODEL_ANALYZER_BATCH_SIZES" in error


def test_show_reads_the_file_of_the_variable_and_speaks_json(
    run, tmp_path: Path, monkeypatch
) -> None:
    write(tmp_path, "a.yaml", "batch_sizes: 4")
    monkeypatch.setenv("MODEL_ANALYZER_CONFIG_FILE", "a.yaml")

    _, output, _ = run("config", "show", "--json")

    options = {option["key"]: option for option in json.loads(output)["options"]}
    assert options["batch_sizes"] == {
        "key": "batch_sizes", "value": 4, "where": "a.yaml:1:14", "instead_of": [],
    }  # fmt: skip
    assert options["config_file"]["where"] == "MODEL_ANALYZER_CONFIG_FILE"


def test_show_tells_defaults_if_wanted(run) -> None:
    assert run("config", "show")[1] == "No option is set: all have their defaults.\n"
    assert "checkpoint_directory: checkpoints\n    default\n" in run("config", "show", "--all")[1]


@pytest.mark.parametrize("command", ["profile", "doctor", "analyze"])
def test_help_is_short_and_points_to_the_rest(run, command: str) -> None:
    status, short, _ = run(command, "--help")
    _, long, _ = run(command, "--help-all")

    assert status == 0
    assert len(short.splitlines()) < 75 < len(long.splitlines())
    assert "--help-all lists them" in " ".join(short.split())
    assert "--optuna-min-trials" not in short
    assert "--optuna-min-trials" in long
    assert "MODEL_ANALYZER_CONFIG_FILE for --config-file" in " ".join(short.split())
