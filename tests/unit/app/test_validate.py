# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checking a YAML file without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.app.validate import validate


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


def test_a_missing_directory_is_no_problem(file: Path) -> None:
    file.write_text("checkpoint_directory: new/below\n")

    assert not validate(str(file), {"PATH": ""}, with_models=True).problems
    assert not (file.parent / "new").exists()
