# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Wrong input data is named by `config validate`, the dry run, `profile` and `doctor` alike."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

USAGE = 2
CONFIG = """\
model_repository: models
profile_models:
  m:
    cpu_only: true
    perf_analyzer_flags: {input-data: in.json}
run_config_search_disable: true
concurrency: 1
"""
WHOLE_NUMBERS = '{"data": [{"IN": {"content": [0.5, 7, 0.25, 2019], "shape": [4]}}]}'

# Mistakes that people make: the content of the file, and words of the messages.
MISTAKES: Mapping[str, tuple[str, str]] = {
    "a whole number": (WHOLE_NUMBERS, "element 4 is 2019: write 2019.0 (FP32)"),
    "a nested list": (
        '{"data": [{"IN": {"content": [[0.5, 1.5, 2.5, 3.5]], "shape": [1, 4]}}]}',
        "shape [1, 4] does not fit [4] (write [4]: perf_analyzer adds the batch)",
    ),
    "a mapping": ('{"data": [{"IN": {"a": 1.0, "b": 2.0}}]}', "is a mapping without content"),
    "another name": (
        '{"data": [{"INN": {"content": [0.5, 1.5, 2.5, 3.5]}}]}',
        "'INN', which is not an input of the model (did you mean IN?)",
    ),
    "too few elements": (
        '{"data": [{"IN": [0.5, 1.5]}]}',
        "input IN of step 1 has 2 elements, and its shape [4] needs 4",
    ),
}


@pytest.fixture
def here(tmp_path: Path, make_model) -> Path:
    make_model("m")
    (tmp_path / "config.yaml").write_text(CONFIG)
    return tmp_path


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_file_is_refused_with_its_place_and_remedy(run, here: Path, mistake: str) -> None:
    text, words = MISTAKES[mistake]
    (here / "in.json").write_text(text)

    status, _, error = run("config", "validate", "config.yaml")

    assert status == USAGE
    assert error.startswith(f"model-analyzer: config.yaml:5:26: model m: {here}/in.json: ")
    assert words in error


@pytest.mark.parametrize(
    "command", [("profile", "--dry-run", "-f"), ("profile", "-f"), ("doctor", "--no-models", "-f")]
)
def test_every_command_says_it_before_anything_starts(
    run, here: Path, command: tuple[str, ...]
) -> None:
    (here / "in.json").write_text(WHOLE_NUMBERS)

    status, output, error = run(*command, "config.yaml")

    assert status != 0
    assert "element 4 is 2019: write 2019.0 (FP32)" in " ".join((output + error).split())


def test_right_files_are_valid(run, here: Path) -> None:
    (here / "in.json").write_text(WHOLE_NUMBERS.replace("7,", "7.0,").replace("2019", "2019.0"))

    status, output, error = run("config", "validate", "config.yaml")

    assert (status, error) == (0, "")
    assert "config.yaml: valid" in output


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("shape: 'OTHER:4'", "has no effect on 'OTHER', which is not an input (inputs are IN)"),
        ("shape: 'IN:2'", "has no effect on 'IN', whose dims [4] are fixed in config.pbtxt"),
    ],
)
def test_a_shape_without_effect_gets_a_warning_everywhere(
    run, here: Path, flag: str, words: str
) -> None:
    (here / "config.yaml").write_text(CONFIG.replace("input-data: in.json", flag))

    status, _, error = run("config", "validate", "config.yaml")
    assert status == 0
    assert error.count(words) == error.count("model-analyzer: warning: model m: ") == 1
    _, _, foreseen = run("profile", "--dry-run", "-f", "config.yaml")
    assert foreseen == error
    _, output, error = run("doctor", "--no-models", "-f", "config.yaml")
    assert " ".join((output + error).split()).count(words) == 1
