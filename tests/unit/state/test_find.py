# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which checkpoint somebody means by a number, a uuid, a path or a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.find import find
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.writing import replace_file
from tests.unit.state.samples import measurement, trial


def run(directory: Path, *throughputs: float, prefix: str = "", save: bool = True) -> None:
    """A run that measures so much at concurrencies that nobody has measured."""
    with ProfileState(directory, prefix=prefix) as state:
        count = len(state.profile.records)
        for concurrency, throughput in enumerate(throughputs, start=count + 1):
            state.record(trial(concurrency), measurement(throughput))
        if save:
            state.save()


def with_uuid(directory: Path, index: int, uuid: str) -> None:
    checkpoint = Checkpoint(header=Header(uuid=uuid, index=index))
    replace_file(Layout(directory).checkpoint(index), checkpoint.lines())


def why_not(which: str, directory: Path, prefix: str = "") -> str:
    with pytest.raises(CheckpointError) as raised:
        find(which, directory, prefix)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_number_is_that_checkpoint_and_the_latest_is_all(tmp_path: Path) -> None:
    run(tmp_path, 1.0)
    run(tmp_path, 2.0)
    run(tmp_path, 3.0, save=False)

    assert len(find("0", tmp_path).records) == 1
    assert len(find("1", tmp_path).records) == 2
    assert len(find("latest", tmp_path).records) == 3


def test_a_unique_beginning_of_a_uuid_is_enough(tmp_path: Path) -> None:
    with_uuid(tmp_path, 0, "abcd1111-0000")
    with_uuid(tmp_path, 1, "abce2222-0000")

    assert find("abcd", tmp_path).header.index == 0
    assert find("ABCE2222-0000", tmp_path).header.index == 1
    assert why_not("abc", tmp_path) == (
        f"{tmp_path}: the uuids of 0, 1 begin with 'abc': give more of it"
    )


def test_a_short_number_is_never_a_uuid(tmp_path: Path) -> None:
    with_uuid(tmp_path, 0, "42424242-0000")

    assert "no checkpoint '42': there is 0" in why_not("42", tmp_path)
    assert find("42424242", tmp_path).header.index == 0


def test_a_path_selects_a_file_in_any_directory(tmp_path: Path, monkeypatch) -> None:
    run(tmp_path / "a", 1.0)
    monkeypatch.chdir(tmp_path / "a")

    assert len(find(str(tmp_path / "a" / "0.ckpt"), tmp_path / "b").records) == 1
    assert len(find("0.ckpt", tmp_path / "b").records) == 1
    assert "cannot be read" in why_not("./7.ckpt", tmp_path / "a")


def test_best_is_the_newest_with_the_highest_throughput(tmp_path: Path) -> None:
    run(tmp_path, 5.0)
    run(tmp_path, 9.0)
    with ProfileState(tmp_path) as state:
        state.start_from(Checkpoint())
        state.record(trial(1), measurement(7.0))
        state.save()

    assert find("best", tmp_path).header.index == 1

    run(tmp_path, 11.0, save=False)
    assert len(find("best", tmp_path).records) == 2  # all that is known, with the journal


def test_a_damaged_checkpoint_is_not_the_best(tmp_path: Path) -> None:
    run(tmp_path, 5.0)
    with ProfileState(tmp_path) as state:
        state.start_from(Checkpoint())
        state.record(trial(1), measurement(3.0))
        state.save()
    first = tmp_path / "0.ckpt"
    first.write_bytes(first.read_bytes()[:-5])

    assert find("best", tmp_path).header.index == 2
    assert "is damaged" in why_not("0", tmp_path)


def test_an_error_lists_the_existing_checkpoints(tmp_path: Path) -> None:
    assert "no checkpoint '3': there is none" in why_not("3", tmp_path)
    assert "no checkpoint found" in why_not("latest", tmp_path)
    assert "no checkpoint found" in why_not("best", tmp_path)


def test_a_directory_without_intact_checkpoints_is_reported(tmp_path: Path) -> None:
    (tmp_path / "0.ckpt").write_bytes(b"")

    assert why_not("latest", tmp_path) == (
        f"nothing can be read: {tmp_path}/0.ckpt is damaged (it is empty)"
    )
    for index in range(3):
        with_uuid(tmp_path, index, f"{index:08}")
    assert "no checkpoint '3': there are 0, 1, 2" in why_not("3", tmp_path)
    assert "no checkpoint '': there are 0, 1, 2" in why_not("", tmp_path)
    for index in range(20):
        with_uuid(tmp_path, index, f"{index:08}")
    assert "there are 20 from 0 to 19" in why_not("zz", tmp_path)


def test_a_prefix_has_checkpoints_of_its_own(tmp_path: Path) -> None:
    run(tmp_path, 1.0)
    run(tmp_path, 1.0, 2.0, prefix="run1")

    assert len(find("0", tmp_path, "run1").records) == 2
    assert "there is none" in why_not("0", tmp_path, "run2")
