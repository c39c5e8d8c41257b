# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Raw values, the problems found with them, and the errors that carry these."""

from __future__ import annotations

import errno
import os

import pytest

from model_analyzer.config.nodes import Node, Problems, did_you_mean
from model_analyzer.errors import (
    CheckpointError,
    ConfigError,
    ModelAnalyzerError,
    OutputError,
    Problem,
    RepositoryError,
    UnusableCheckpoint,
    UnusablePath,
    unreadable,
    unwritable,
)
from tests.unit.builders import yaml


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("{a: 1}", "a mapping"),
        ("[a]", "a list"),
        ("null", "nothing"),
        ("true", "true"),
        ("8", "8"),
        ("'8'", "'8'"),
        ("word", "'word'"),
    ],
)
def test_a_value_in_a_few_words(written: str, words: str) -> None:
    assert yaml(written).describe() == words


def test_a_long_value_is_shortened_for_the_message() -> None:
    assert len(Node("x" * 1000, "f.yaml:1:1").describe()) == 60
    assert Node("x" * 58, "f.yaml:1:1").describe() == repr("x" * 58)


def test_a_problem_reads_as_place_sentence_and_hint() -> None:
    assert str(Problem(where="f.yaml:1:2", message="it is wrong")) == "f.yaml:1:2: it is wrong"
    assert str(Problem(where="", message="it is wrong", hint="mend it")) == "it is wrong (mend it)"


def test_all_problems_are_raised_together_in_reading_order_and_once() -> None:
    problems = Problems()
    for value, text in ((1, "bad"), (2, "worse"), (1, "bad")):
        with problems.collect():
            raise Node(value, f"f.yaml:{value}:1").problem(text)
    with pytest.raises(ConfigError) as raised:
        problems.raise_any()
    assert str(raised.value) == "f.yaml:1:1: bad\nf.yaml:2:1: worse"


def test_without_problems_nothing_is_raised() -> None:
    problems = Problems()
    with problems.collect():
        pass
    problems.raise_any()


def test_only_problems_of_the_configuration_are_collected() -> None:
    problems = Problems()
    with pytest.raises(ZeroDivisionError), problems.collect():
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("word", "words", "hint"),
    [
        ("concurency", ["batch_sizes", "concurrency"], "did you mean 'concurrency'?"),
        ("zzz", ["red", "green"], "one of: red, green"),
        ("zzz", [f"word{i}" for i in range(21)], ""),
        ("zzz", [], ""),
    ],
)
def test_a_hint_names_the_nearest_word_or_the_few_there_are(
    word: str, words: list[str], hint: str
) -> None:
    assert did_you_mean(word, words) == hint


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ConfigError, 2),
        (RepositoryError, 2),
        (CheckpointError, 1),
        (UnusableCheckpoint, 2),
        (OutputError, 1),
        (UnusablePath, 2),
    ],
)
def test_usage_errors_have_a_status_of_their_own(
    error: type[ModelAnalyzerError], status: int
) -> None:
    assert error.exit_status == status


@pytest.mark.parametrize(
    ("code", "status"),
    [(errno.ENOENT, 2), (errno.EACCES, 2), (errno.ENOSPC, 1), (errno.EIO, 1), (errno.ESTALE, 1)],
)
def test_a_wrong_path_is_a_usage_error_but_a_full_disk_is_none(code: int, status: int) -> None:
    error = OSError(code, os.strerror(code))
    assert unreadable("x", error).exit_status == status
    assert unwritable("x", error, "-o").exit_status == status
