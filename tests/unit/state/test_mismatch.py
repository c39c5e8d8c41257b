# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is different from the checkpoint: what matters, and what is measured again anyway; GPUs in a
checkpoint: the idle server's values, and whether a run uses the same ones.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.hardware import Device, Machine, kind_of
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelFacts, freeze
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.state.checkpoint import Checkpoint, load
from model_analyzer.state.mismatch import Run, differences
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial

HOST = {"Host": "here", "Processor": "CPU, 8 cores"}
KIND = ("H200",)
SERVER = "Triton 2.51.0 (local)"
SEARCH = {"search.mode": "brute", "search.max_instance_count": "5"}
GOAL = Goal(models=(ModelGoal(),))


def machine(*uuids: str, name: str = "H200", processor: str = "CPU", cores: int = 8) -> Machine:
    devices = tuple(Device(uuid=uuid, name=name, memory=1000.0) for uuid in uuids)
    return Machine(host="here", devices=devices, processor=processor, cores=cores)


def measured_on(place: Machine | None, number: int = 1) -> tuple[Trial, Measurement]:
    """A trial on a machine, or on an unknown one with GPU-a; and its outcome."""
    devices = KIND if place is None else kind_of(place.devices)
    sample = replace(trial(number), setup=ServerSetup(devices=devices))
    return sample, replace(measurement(), machine=place)


def checkpoint_of(directory: Path, *places: Machine | None) -> Checkpoint:
    """Model "m", measured on these machines."""
    with ProfileState(directory) as state:
        devices = machine("GPU-a").devices
        state.describe(devices=devices, host={**HOST, "Server": SERVER})
        state.record_search("m", SEARCH, GOAL)
        for number, place in enumerate(places, 1):
            state.record(*measured_on(place, number))
        state.save()
    return load(directory)


@pytest.fixture(params=["of this format", "of an earlier one"])
def base(tmp_path: Path, request: pytest.FixtureRequest) -> Checkpoint:
    """Model "m", measured on GPU-a, which outcomes of earlier formats do not say."""
    return checkpoint_of(tmp_path, machine("GPU-a") if "this" in request.param else None)


RUN = Run(
    machines=[machine("GPU-a")],
    ignores_gpus=False,
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
        (machine("GPU-b", name="L4"), "GPUs: was 1 x H200, now 1 x L4"),
        (machine(), "GPUs: was 1 x H200, now no GPU"),
        (machine("GPU-b", "GPU-a"), "GPUs: was 1 x H200, now 2 x H200"),
        (machine("GPU-a", cores=4), "processor: was CPU, 8 cores, now CPU, 4 cores"),
    ],
)
def test_another_kind_of_machine_matters(base: Checkpoint, change: Machine, message: str) -> None:
    (difference,) = differences(base, replace(RUN, machines=[change]))

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
        {"ignores_gpus": True, "machines": [machine()]},
        {"machines": [machine("GPU-b")]},
        {"machines": [replace(machine("GPU-a"), host="there", driver="1", niceness=15)]},
        {"machines": [machine("GPU-a", processor="")]},
        {"models": [ModelFacts(name="n", config=freeze({"name": "n"}), files="g")]},
        {"searches": {"n": {"search.mode": "quick"}}},
        {"searches": {"m": {**SEARCH, "search.new_option": "1"}}},
    ],
)
def test_other_values_are_no_difference(base: Checkpoint, change: Mapping[str, Any]) -> None:
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
    result = differences(base, replace(RUN, server="other", machines=[machine()]))

    assert [difference.subject for difference in result] == ["GPUs", "server"]


def test_without_gpus_processors_are_compared_whatever_was_measured_on(base: Checkpoint) -> None:
    run = replace(RUN, ignores_gpus=True, machines=[machine(cores=4)])

    assert [each.subject for each in differences(base, run)] == ["processor"]


H100, L4 = machine("GPU-a", name="H100"), machine("GPU-b", name="L4", processor="another CPU")


@pytest.mark.parametrize(
    ("places", "machines", "subjects"),
    [
        ([H100, L4], [L4], []),
        ([H100, L4], [machine()], ["GPUs"]),
        ([H100], [H100, L4], []),  # a further kind is searched beside
        ([H100, L4], [replace(H100, processor="another CPU")], ["processor"]),
    ],
)
def test_each_kind_is_compared_with_the_same_kind(
    tmp_path: Path, places: list[Machine], machines: list[Machine], subjects: list[str]
) -> None:
    base = checkpoint_of(tmp_path, *places)

    result = differences(base, replace(RUN, machines=machines))

    assert [each.subject for each in result] == subjects


IDLE = {"GPU-a": {"gpu_used_memory": 456.0, "gpu_power_usage": 70.5}, "GPU-b": {}}


def devices(*uuids: str) -> tuple[Device, ...]:
    return tuple(Device(uuid=uuid, name="H200", memory=1000.0) for uuid in uuids)


def run_on(directory: Path, *uuids: str, concurrency: int = 1, save: bool = True) -> None:
    """A run on these GPUs that measures one trial."""
    with ProfileState(directory) as state:
        state.describe(devices=devices(*uuids), host={})
        state.record(trial(concurrency), measurement())
        if save:
            state.save()


@pytest.mark.parametrize("save", [False, True])
def test_values_of_the_idle_server_come_back(tmp_path: Path, save: bool) -> None:
    with ProfileState(tmp_path) as state:
        state.record_server_only(IDLE)
        assert state.profile.server_only == IDLE
        state.record(trial(), measurement())
        if save:
            state.save()

    assert load(tmp_path).profile.server_only == IDLE
    with ProfileState(tmp_path) as state:
        assert state.profile.server_only == IDLE
        assert state.outcome_of(trial()) == measurement()


def test_they_are_kept_by_every_later_checkpoint(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record_server_only(IDLE)
        state.save()
    run_on(tmp_path)

    (tmp_path / "0.ckpt").unlink()
    assert load(tmp_path).profile.server_only == IDLE


def test_they_are_on_disk_before_anything_else_is_measured(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record_server_only(IDLE)
        assert load(tmp_path).profile.server_only == IDLE


def test_newer_ones_replace_older_ones(tmp_path: Path) -> None:
    newer = {"GPU-c": {"gpu_used_memory": 1.0}}
    with ProfileState(tmp_path) as state:
        state.record_server_only(IDLE)
        state.record_server_only(newer)

    assert load(tmp_path).profile.server_only == newer


def test_a_checkpoint_without_them_is_as_good(tmp_path: Path) -> None:
    run_on(tmp_path)

    lines = (tmp_path / "0.ckpt").read_text().splitlines()
    assert "server-only" not in [json.loads(line)["entry"] for line in lines]
    assert load(tmp_path).profile.server_only == {}
