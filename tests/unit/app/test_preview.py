# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a run would do, asked without a terminal; checking a YAML file without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.app.bench.devices import Job
from model_analyzer.app.preview import Preview, preview, validate
from model_analyzer.config.places import Places
from model_analyzer.domain.settings import Budget, SearchMode
from model_analyzer.errors import ConfigError
from model_analyzer.forecast.run_plan import AROUND_S
from tests.phrases import ONLY_A_SERVER
from tests.unit.builders import resolved, settings

CONFIG = """
name: "{name}" backend: "python" max_batch_size: 8
input [ {{ name: "IN" data_type: TYPE_FP32 dims: [ 1 ] }} ]
output [ {{ name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] }} ]
instance_group [ {{ kind: KIND_CPU }} ]
"""


def foreseen(directory: Path, *names: str, text: str = "") -> Preview:
    """The preview of a run over models with these names."""
    for name in names:
        (directory / name / "1").mkdir(parents=True)
        (directory / name / "1" / "model.py").write_text("")
        (directory / name / "config.pbtxt").write_text(CONFIG.format(name=name))
    given = f"model_repository: {directory}\n{text}"
    return preview(Job(settings=settings(given), places=Places(), environment={}))


def test_every_model_has_a_plan_with_its_space_and_its_time(tmp_path: Path) -> None:
    outlook = foreseen(tmp_path, "m", "n", text="profile_models: [m, n]")

    assert [plan.name for plan in outlook.plans] == ["m", "n"]
    assert not outlook.problems
    assert [plan.starts for plan in outlook.plans] == [1, 1]
    assert all(plan.seconds is not None and plan.seconds > 60 for plan in outlook.plans)


@pytest.mark.parametrize(
    ("load", "seconds"),
    [("{stages: [{rate: 5, for: 30s}, {rate: 9, for: 10s}]}", 40), ("{replay: log.csv}", 50)],
)
def test_a_load_with_its_own_times_lasts_as_long_as_they_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: str, seconds: float
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text("time\n" + "".join(f"{number}\n" for number in range(51)))
    (plan,) = foreseen(tmp_path, "m", text=f"profile_models: [m]\nload: {load}").plans

    assert plan.trial_s == seconds + AROUND_S
    assert plan.forecast is not None
    assert "request_intervals" not in [varied.parameter for varied in plan.forecast.varied]
    assert list(plan.replays) == (["m"] if "log.csv" in load else [])


def test_a_budget_bounds_the_time(tmp_path: Path) -> None:
    text = "profile_models: [m]\nrun_config_search_mode: adaptive\nbudget: 30s"
    (plan,) = foreseen(tmp_path, "m", text=text).plans

    assert plan.budget == Budget(30)
    assert plan.seconds == 30


@pytest.mark.parametrize(
    "slots",
    [
        "executor: ray\nslots: 4",
        "triton_launch_mode: remote\ntriton_grpc_endpoint: [a:1, b:1, c:1, d:1]",
    ],
)
def test_with_several_slots_an_adaptive_search_may_measure_more(tmp_path: Path, slots: str) -> None:
    text = "profile_models: [m]\nrun_config_search_mode: adaptive\n"
    (alone,) = foreseen(tmp_path / "alone", "m", text=text).plans
    (four,) = foreseen(tmp_path / "four", "m", text=text + slots).plans

    assert alone.forecast is not None
    assert four.forecast is not None
    assert alone.forecast.most_trials == 40
    assert four.forecast.most_trials == 40 + 3


def test_with_a_problem_there_is_no_plan(tmp_path: Path) -> None:
    outlook = foreseen(tmp_path, "m", text="profile_models: [m, other]")

    assert outlook.plans == ()
    (problem,) = outlook.problems
    assert "other" in str(problem)


def test_a_model_that_only_a_server_can_complete_has_no_forecast(tmp_path: Path) -> None:
    (tmp_path / "bare" / "1").mkdir(parents=True)
    (tmp_path / "bare" / "1" / "model.onnx").write_bytes(b"")

    (plan,) = foreseen(tmp_path, text="profile_models: [bare]").plans

    assert plan.forecast is None
    assert ONLY_A_SERVER in plan.unknown


def test_each_model_may_have_its_own_search_mode(tmp_path: Path) -> None:
    text = "budget: 30s\nprofile_models: {m: {search: adaptive}, n: {search: quick}, o: {}}"
    plans = foreseen(tmp_path, "m", "n", "o", text=text).plans

    modes = [plan.forecast.mode for plan in plans if plan.forecast]
    assert modes == [SearchMode.ADAPTIVE, SearchMode.QUICK, SearchMode.BRUTE]
    assert [plan.budget for plan in plans] == [Budget(30), Budget(), Budget()]


def test_patterns_stand_for_the_models_of_the_repository(tmp_path: Path) -> None:
    foreseen(tmp_path, "m1", "m2", "n")
    given = f"model_repository: {tmp_path}\nprofile_models: [n, 'm*']\n"
    job = Job.of(resolved(given), {})

    assert [model.name for model in job.settings.models] == ["n", "m1", "m2"]
    assert [plan.name for plan in preview(job).plans] == ["n", "m1", "m2"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("profile_models: [x*]", "no model of .* matches 'x[*]' .*models there: m1, m2"),
        (
            "profile_models: all\nbls_composing_models: [m1]",
            "needs exactly one profiled model, not 2",
        ),
        (
            "profile_models: all\ntriton_launch_mode: remote\nreload_model_disable: true",
            "'all' stands for models of a model repository",
        ),
    ],
)
def test_patterns_that_cannot_be_resolved_are_one_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    foreseen(tmp_path, "m1", "m2")
    with pytest.raises(ConfigError, match=problem):
        Job.of(resolved(f"model_repository: {tmp_path}\n{text}"), {})


def test_a_repository_without_models_is_a_problem_of_the_repository(tmp_path: Path) -> None:
    job = Job.of(resolved(f"model_repository: {tmp_path}\nprofile_models: all"), {})
    assert "contains no model" in str(preview(job).problems[0])


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "my.yaml"


def test_problems_come_in_the_order_of_the_file_with_their_places(file: Path) -> None:
    file.write_text("concurrency: many\nbatch_sizes: 1\nno_such_option: 1\n")

    checked = validate(str(file), {}, with_models=False)

    problems = checked.document["problems"]
    assert not checked.document["valid"]
    assert [problem["line"] for problem in problems] == [1, 3]
    assert "many" in problems[0]["what"]


def test_relative_paths_of_a_valid_file_are_absolute(file: Path) -> None:
    file.write_text("model_repository: models\nprofile_models: m\n")

    checked = validate(str(file), {}, with_models=False)

    assert checked.document["valid"]
    assert checked.document["paths"]["model_repository"] == str(file.parent / "models")


def test_a_misspelled_variable_is_a_remark(file: Path) -> None:
    file.write_text("profile_models: m\n")

    checked = validate(str(file), {"MODEL_ANALYZER_CONCURENCY": "1"}, with_models=False)

    assert not checked.problems
    assert any("MODEL_ANALYZER_CONCURENCY" in remark for remark in checked.remarks)


def test_models_are_checked_only_if_asked_for(file: Path) -> None:
    file.write_text("model_repository: nowhere\nprofile_models: m\n")

    assert not validate(str(file), {}, with_models=False).problems
    assert validate(str(file), {"PATH": ""}, with_models=True).problems


@pytest.mark.parametrize(
    "option", ["checkpoint_directory", "export_path", "output_model_repository_path"]
)
@pytest.mark.parametrize("path", ["/dev/null", "plain", "plain/below"])
def test_a_path_that_cannot_be_a_directory_is_a_problem(file: Path, option: str, path: str) -> None:
    (file.parent / "plain").write_text("text")
    file.write_text(f"{option}: {path}\n")

    (problem,) = validate(str(file), {"PATH": ""}, with_models=True).problems

    assert problem.where == f"{file}:1:{len(option) + 3}"
    assert "is not a directory" in problem.message
    assert problem.hint.startswith(f"check --{option.replace('_', '-')}")
    assert not validate(str(file), {}, with_models=False).problems


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("models", "contains the model repository"),
        ("models/m", "is not empty, and no run created it"),
        ("mine", "is not empty, and no run created it"),
    ],
)
def test_a_directory_that_variants_may_not_replace_is_a_problem(
    file: Path, output: str, expected: str
) -> None:
    (file.parent / "mine").mkdir()
    (file.parent / "mine" / "notes.txt").touch()
    text = f"profile_models: [m]\noutput_model_repository_path: {file.parent / output}"
    foreseen_problems = foreseen(file.parent / "models", "m", text=text).problems
    file.write_text(f"{text}\nmodel_repository: {file.parent}/models\n")

    (problem,) = validate(str(file), {"PATH": ""}, with_models=True).problems

    assert problem.where == f"{file}:2:31"
    assert expected in problem.message
    assert [each.message for each in foreseen_problems] == [problem.message]


@pytest.mark.parametrize("option", ["triton_server_path", "perf_analyzer_path"])
def test_a_program_that_is_not_there_is_a_problem(file: Path, option: str) -> None:
    file.write_text(f"{option}: {file.parent}/none\n")

    (problem,) = validate(str(file), {"PATH": ""}, with_models=True).problems

    assert (problem.where, problem.message) == (
        f"{file}:1:{len(option) + 3}",
        f"{file.parent}/none does not exist",
    )
    elsewhere = "executor: ray" if option == "perf_analyzer_path" else "triton_launch_mode: remote"
    file.write_text(f"{option}: {file.parent}/none\n{elsewhere}\n")
    problems = validate(str(file), {"PATH": ""}, with_models=True).problems
    assert not any(each.message == problem.message for each in problems)


def test_a_missing_directory_is_no_problem(file: Path) -> None:
    file.write_text("checkpoint_directory: new/below\n")

    assert not validate(str(file), {"PATH": ""}, with_models=True).problems
    assert not (file.parent / "new").exists()


@pytest.mark.parametrize(("gpus", "named"), [("0,GPU-a", "0, GPU-a"), ("all", ""), ("[]", "")])
def test_gpus_of_another_machine_are_remarked(tmp_path: Path, gpus: str, named: str) -> None:
    text = f"profile_models: {{m: {{cpu_only: true}}}}\ngpus: {gpus}"
    warnings = foreseen(tmp_path, "m", text=text).warnings

    of_gpus = [each for each in warnings if "this machine has no GPU" in each]
    assert [each.partition("used: not ")[2].partition(" (")[0] for each in of_gpus] == (
        [named] if named else []
    )
