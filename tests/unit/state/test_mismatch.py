# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is different from the checkpoint: what matters, and what is measured again anyway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.models import ModelFacts, freeze
from model_analyzer.domain.profiles import Device
from model_analyzer.state.checkpoint import Checkpoint, load
from model_analyzer.state.mismatch import Run, differences
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial

HOST = {"Host": "here", "Processor": "CPU, 8 cores"}
SERVER = "Triton 2.51.0 (local)"
SEARCH = {"search.mode": "brute", "search.max_instance_count": "5"}
GOAL = Goal(models=(ModelGoal(),))


def device(uuid: str) -> Device:
    return Device(uuid=uuid, name="H200", memory=1000.0)


@pytest.fixture
def base(tmp_path: Path) -> Checkpoint:
    """Model "m", measured on GPU-a."""
    with ProfileState(tmp_path) as state:
        state.describe(devices=[device("GPU-a")], host={**HOST, "Server": SERVER})
        state.record_search("m", SEARCH, GOAL)
        state.record(trial(1), measurement())
        state.save()
    return load(tmp_path)


RUN = Run(
    devices=[device("GPU-a")],
    host=HOST,
    server=SERVER,
    models=[ModelFacts(name="m", config=freeze({"name": "m"}), files="f")],
    searches={"m": SEARCH},
)


def test_the_same_again_is_no_difference(base: Checkpoint) -> None:
    assert differences(base, RUN) == []


def test_an_empty_checkpoint_has_no_differences() -> None:
    assert differences(Checkpoint(), RUN) == ()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"devices": [device("GPU-b")]}, "GPUs: was GPU-a, now GPU-b"),
        ({"devices": []}, "GPUs: was GPU-a, now none"),
        (
            {"devices": [device("GPU-b"), device("GPU-a")]},
            "GPUs: was GPU-a, now GPU-a, GPU-b",
        ),
        (
            {"host": {"Host": "there", "Processor": "CPU, 4 cores"}},
            "processor: was CPU, 8 cores, now CPU, 4 cores",
        ),
    ],
)
def test_another_machine_matters(base: Checkpoint, change: Mapping[str, Any], message: str) -> None:
    (difference,) = differences(base, replace(RUN, **change))

    assert difference.matters
    assert str(difference) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"server": "Triton 2.52.0"}, f"server: was {SERVER}, now Triton 2.52.0"),
        (
            {"models": [ModelFacts(name="m", config=freeze({"name": "m"}), files="g")]},
            "files of m: was f, now g",
        ),
        (
            {
                "models": [
                    ModelFacts(
                        name="m", config=freeze({"name": "m", "max_batch_size": 2}), files="f"
                    )
                ]
            },
            "config.pbtxt of m has changed since the checkpoint",
        ),
        (
            {"searches": {"m": {**SEARCH, "search.mode": "quick"}}},
            "search.mode of m: was brute, now quick",
        ),
    ],
)
def test_changes_that_cause_new_measurements_do_not_matter(
    base: Checkpoint, change: Mapping[str, Any], message: str
) -> None:
    (difference,) = differences(base, replace(RUN, **change))

    assert not difference.matters
    assert str(difference) == message


@pytest.mark.parametrize(
    "change",
    [
        {"devices": None},
        {"host": {"Host": "there", "Processor": "CPU, 8 cores", "System": "newer"}},
        {"host": {}},
        {"models": [ModelFacts(name="n", config=freeze({"name": "n"}), files="g")]},
        {"searches": {"n": {"search.mode": "quick"}}},
        {"searches": {"m": {**SEARCH, "search.new_option": "1"}}},
    ],
)
def test_unknown_values_are_no_difference(base: Checkpoint, change: Mapping[str, Any]) -> None:
    assert differences(base, replace(RUN, **change)) == []


@pytest.mark.parametrize(
    ("then", "now", "message"),
    [("None", "20", "was not set, now 20"), ("()", "(1,)", "was [], now [1]")],
)
def test_settings_of_the_search_are_in_words(
    base: Checkpoint, then: str, now: str, message: str
) -> None:
    name = "search.max_trials"
    base = replace(base, searches={"m": {**SEARCH, name: then}})

    (difference,) = differences(base, replace(RUN, searches={"m": {**SEARCH, name: now}}))

    assert str(difference) == f"{name} of m: {message}"


def test_differences_that_matter_come_first(base: Checkpoint) -> None:
    result = differences(base, replace(RUN, server="other", devices=[]))

    assert [difference.subject for difference in result] == ["GPUs", "server"]
