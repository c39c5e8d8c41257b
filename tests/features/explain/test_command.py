# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer explain`: why requests are slow."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.profiles import TrialRecord
from tests.cli.conftest import error_of, output_of
from tests.unit.builders import failure
from tests.unit.results.explain.observed import model, observed
from tests.unit.state.samples import store

USAGE = 2

Run = Callable[..., tuple[int, str, str]]

ONE = model(max_batch_size=1)


@pytest.fixture
def explain(run: Run, tmp_path: Path) -> Callable[..., Run]:
    """The command, where these were measured."""

    def measured(*records: TrialRecord) -> Run:
        store(tmp_path / "checkpoints", records)
        return lambda *arguments: run("explain", *arguments)

    return measured


@pytest.fixture
def starved(explain: Callable[..., Run]) -> Run:
    return explain(observed(ONE, 1, 49, 20, queue=0), observed(ONE, 8, 49.5, 20, queue=140))


def test_the_load_that_is_explained_follows_from_the_goal(starved: Run) -> None:
    output = output_of(starved("--min-throughput", "49.2"))

    assert output.startswith("m_config_default at concurrency 8")


def test_a_healthy_model_has_nothing_unusual(explain: Callable[..., Run]) -> None:
    output = output_of(explain(observed(ONE, 1, 49, 20), observed(ONE, 2, 49, 20, queue=10))())

    assert output.splitlines()[-1] == "Nothing unusual."


def test_a_failed_repetition_is_told_with_what_to_do(explain: Callable[..., Run]) -> None:
    alive = observed(ONE, 1, 49, 20)
    again = replace(alive.trial, repetition=1)
    explained = explain(alive, TrialRecord(trial=again, outcome=failure("the model died")))

    output = output_of(explained())
    assert "Nothing unusual" not in output
    assert "m_config_default failed at concurrency 1: the model died; look at its log." in output
    (hardware,) = json.loads(explained("--format", "json")[1])["hardware"]
    assert hardware["failed"] == [
        {
            "load": {"kind": "concurrency", "value": 1, "batch_size": 1},
            "message": "the model died",
            "hint": "look at its log",
        }
    ]


def test_programs_get_unrounded_numbers(starved: Run) -> None:
    output = output_of(starved("m_config_default", "--format", "json"))

    document = json.loads(output)
    (hardware,) = document["hardware"]
    assert (document["version"], document["model"]) == (1, "m")
    assert hardware["average_ms"]["compute"] == 20.0
    (cause,) = hardware["causes"]
    assert cause["cause"] == "too_few_instances"
    assert cause["change"]["parameters"] == {"instance_group": [{"count": 2, "kind": "KIND_CPU"}]}
    assert hardware["confirmed"] == []


def test_a_variant_names_its_model(explain: Callable[..., Run]) -> None:
    other = model("other", max_batch_size=1)
    both = explain(observed(ONE, 1, 49, 20), observed(other, 1, 49, 20))

    assert both("other_config_default")[1].startswith("other_config_default")
    error = error_of(both(), USAGE)
    assert error.startswith("model-analyzer: --model: several models were measured")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["x"], "m: variant 'x' was not measured; measured: m_config_default"),
        (["-m", "x"], "model 'x' was not measured"),
        (["--confirm"], "no model repository is given"),
        (["-s", "nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_explained_is_told_in_one_line(
    starved: Run, arguments: list[str], problem: str
) -> None:
    status, output, error = starved(*arguments)

    assert (status, output) == (USAGE, "")
    assert problem in error
    assert "Traceback" not in error
