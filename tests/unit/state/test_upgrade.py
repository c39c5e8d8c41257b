# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Until format 3, trials had the UUIDs of GPUs in their keys: what becomes of their checkpoints."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.slots import Asked, Lane
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.state.checkpoint import load, read_file
from model_analyzer.state.format.codec import (
    Encoder,
    encode_asked,
    encode_conclusion,
    encode_device,
)
from model_analyzer.state.format.lines import encode
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import conclusion
from tests.unit.state.samples import measurement, rich_measurement, rich_trial, trial

FORMAT_3 = Path(__file__).parents[2] / "golden" / "checkpoints" / "format3"
LANE = Lane("m", "2 x A100")

A = Device(uuid="GPU-a", name="L4", memory=24000.0)
B = Device(uuid="GPU-b", name="L4", memory=24000.0)
SERVED = Device(uuid="GPU-c", name="GPU", memory=16000.0)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return Path(shutil.copytree(FORMAT_3, tmp_path / "checkpoints"))


def setups(path: Path) -> list[list[str]]:
    lines = map(json.loads, path.read_bytes().split(b"\n")[:-1])
    return [line["devices"] for line in lines if line["entry"] == "setup"]


def test_keys_are_those_of_the_same_trials_on_gpus_of_this_kind() -> None:
    records = load(FORMAT_3).records

    assert {record.trial.setup.devices for record in records} == {("A100", "A100")}
    assert all(key == record.trial.key for key, record in records.items())


def test_conclusions_follow_the_keys_of_their_trials() -> None:
    loaded = load(FORMAT_3)

    assert set(loaded.conclusions) == {LANE}
    assert {loaded.conclusions[LANE].recommended} <= loaded.records.keys()


def test_a_run_on_equal_gpus_measures_nothing_again(directory: Path) -> None:
    sample = rich_trial(5)
    before_that_option = replace(sample, setup=replace(sample.setup, uncached=False))
    with ProfileState(directory) as state:
        state.describe(devices=[replace(A, name="A100")], host={})
        known = state.outcome_of(before_that_option)
        state.record(rich_trial(6), rich_measurement())
        path = state.save()

    assert known is not None
    assert path is not None
    assert set(map(tuple, setups(path))) == {("A100", "A100")}
    assert load(directory).records == read_file(path).records


def test_what_is_written_next_is_of_this_format_and_has_everything(directory: Path) -> None:
    before = load(directory)

    with ProfileState(directory) as state:
        state.record_metadata({"a": 1})
        state.fold()
        state.save()

    (directory / "0.ckpt").unlink()
    assert not (directory / "journal-a").exists(), "its outcomes are in the checkpoint"
    after = load(directory)
    assert after.records == before.records
    assert after.conclusions == before.conclusions


# -- journals of format 3 --------------------------------------------------------------------------


def on(*uuids: str, number: int = 1) -> Trial:
    return replace(trial(number), setup=ServerSetup(devices=uuids))


def journal(path: Path, *parts: tuple[tuple[Device, ...], list[Trial]]) -> None:
    """A journal as format 3 wrote it: for each run its GPUs, and the trials that it measured."""
    with path.open("wb") as file:
        for devices, trials in parts:
            header = {"entry": "header", "format": 3, "devices": [*map(encode_device, devices)]}
            file.write(encode(header))
            encoder = Encoder()
            for each in trials:
                for entry in encoder.record(each.key, TrialRecord(each, measurement())):
                    file.write(encode(entry))


@pytest.mark.parametrize(
    ("devices", "uuids", "names"),
    [
        ((A, B), ("GPU-a", "GPU-b"), ("L4", "L4")),
        ((A,), ("GPU-a", "GPU-x"), ("GPU-x", "L4")),
        ((), ("GPU-x",), ("GPU-x",)),
        ((SERVED,), ("GPU-c",), ("GPU (16000 MB)",)),
        ((replace(SERVED, memory=0.0),), ("GPU-c",), ("GPU",)),
        ((A,), (), ()),
    ],
)
def test_gpus_have_the_names_that_the_header_knows(
    tmp_path: Path, devices: tuple[Device, ...], uuids: tuple[str, ...], names: tuple[str, ...]
) -> None:
    journal(tmp_path / "journal", (devices, [on(*uuids)]))

    (record,) = load(tmp_path).records

    assert record.trial.setup.devices == names
    assert load(tmp_path).records.keys() == {on(*names).key}


def test_each_run_of_a_journal_has_its_own_gpus(tmp_path: Path) -> None:
    other = Device(uuid="GPU-d", name="H100", memory=80000.0)
    journal(
        tmp_path / "journal",
        ((A,), [on("GPU-a", number=1)]),
        ((other,), [on("GPU-d", number=1), on("GPU-d", number=2)]),
    )
    with ProfileState(tmp_path) as state:
        state.describe(devices=(B,), host={})
        assert state.outcome_of(on("L4", number=2)) is None
        state.record(on("L4", number=2), measurement(2.0))

    assert load(tmp_path).records.keys() == {
        on("L4", number=1).key,
        on("H100", number=1).key,
        on("H100", number=2).key,
        on("L4", number=2).key,
    }


def test_two_gpus_of_a_kind_have_measured_the_same_trial(tmp_path: Path) -> None:
    journal(tmp_path / "journal", ((A,), [on("GPU-a")]), ((B,), [on("GPU-b")]))

    assert len(load(tmp_path).records) == 1


def test_questions_follow_the_keys_of_their_trials(tmp_path: Path) -> None:
    first, second = on("GPU-a", number=1), on("GPU-a", number=2)
    journal(tmp_path / "journal", ((A,), [first, second]))
    with (tmp_path / "journal").open("ab") as file:
        questions = (Asked(key=first.key, after=()), Asked(key="unknown", after=(first.key,)))
        for number, asked in enumerate(questions):
            file.write(encode(encode_asked(Lane("m"), number, asked)))
        file.write(encode(encode_conclusion(Lane("m"), conclusion(second, 2))))

    loaded = load(tmp_path)

    new = on("L4", number=1).key
    lane = Lane("m", "1 x L4")
    assert loaded.asked == {
        lane: (Asked(key=new, after=()), Asked(key="unknown", after=(new,))),
    }
    assert loaded.conclusions[lane].recommended == on("L4", number=2).key


def test_a_key_that_does_not_follow_from_its_trial_stays(tmp_path: Path) -> None:
    journal(tmp_path / "journal", ((A,), [on("GPU-a")]))
    path = tmp_path / "journal"
    path.write_bytes(_again(path.read_bytes(), lambda entry: entry | {"key": "another"}))

    ((key, record),) = load(tmp_path).records.items()

    assert key == "another"
    assert record.trial.setup.devices == ("L4",)


def _again(content: bytes, change: Callable[[dict[str, Any]], dict[str, Any]]) -> bytes:
    """The lines, outcomes changed, with right checksums."""

    def lines() -> Iterator[bytes]:
        for line in content.splitlines():
            entry = json.loads(line)
            del entry["crc"]
            yield encode(change(entry) if entry["entry"] == "measurement" else entry)

    return b"".join(lines())


# -- damage ----------------------------------------------------------------------------------------


def test_any_damaged_line_costs_one_outcome_at_most(directory: Path) -> None:
    path = directory / "0.ckpt"
    (directory / "journal").unlink()
    whole, lines = load(directory).records.keys(), path.read_bytes().splitlines(keepends=True)
    for number, line in enumerate(lines):
        broken = b'{"' + bytes(reversed(line[2:-1])) + b"\n"
        path.write_bytes(b"".join([*lines[:number], broken, *lines[number + 1 :]]))

        damaged = load(directory).records.keys()

        assert damaged <= whole, f"line {number}: a key of the older format"
        assert len(whole - damaged) <= 1, f"line {number}"


def test_without_its_header_a_journal_keeps_its_outcomes_as_they_are(tmp_path: Path) -> None:
    """Its checkpoint may be of other GPUs, so only its own header names them."""
    journal(tmp_path / "journal", ((A,), [on("GPU-a")]))
    header, *others = (tmp_path / "journal").read_bytes().splitlines(keepends=True)
    (tmp_path / "journal").write_bytes(b"".join([header.replace(b"L4", b"H4"), *others]))

    assert load(tmp_path).records.keys() == {on("GPU-a").key}
