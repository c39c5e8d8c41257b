# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A slot stores outcomes on its node, and goes on measuring whatever is wrong there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from model_analyzer.state.checkpoint import load
from model_analyzer.state.node import NodeJournal, SlotJournal
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import measurement, trial
from tests.unit.state.test_full_disk import files_limited_to


def slot_in(directory: Path) -> SlotJournal:
    return SlotJournal(partial(NodeJournal, directory))


@pytest.fixture
def slot(tmp_path: Path) -> Iterator[SlotJournal]:
    with slot_in(tmp_path) as journal:
        yield journal


def keep(slot: SlotJournal, number: int) -> str:
    """A slot measures a trial; what it says about storing it."""
    slot.begin("a")
    return slot.keep(trial(number), measurement(number))


def loads(directory: Path) -> list[int]:
    return [record.trial.workloads[0].load.value for record in load(directory).records]


def test_outcomes_are_on_disk_at_once(tmp_path: Path, slot: SlotJournal) -> None:
    for number in (1, 2):
        assert keep(slot, number) == ""
        assert loads(tmp_path) == [*range(1, number + 1)]


def test_a_slot_without_trials_leaves_no_file(tmp_path: Path) -> None:
    with slot_in(tmp_path):
        pass
    with slot_in(tmp_path) as slot:
        slot.begin("a")  # and its trial is lost

    assert not [*tmp_path.iterdir()]


def test_what_is_wrong_is_told_once_without_advice_for_the_run(
    tmp_path: Path, slot: SlotJournal
) -> None:
    with NodeJournal(tmp_path, "a"):
        told = [keep(slot, number) for number in (1, 2)]

    process = f"process {os.getpid()} on {os.uname().nodename}"
    assert told == [f"{tmp_path}: in use by another run ({process})", ""]


def test_once_the_problem_is_over_outcomes_are_stored(tmp_path: Path, slot: SlotJournal) -> None:
    with NodeJournal(tmp_path, "a"):
        keep(slot, 1)

    assert keep(slot, 2) == ""
    assert loads(tmp_path) == [2]


def test_a_directory_that_is_not_here_is_named(tmp_path: Path) -> None:
    with slot_in(tmp_path / "elsewhere") as slot:
        told = keep(slot, 1)

    assert told == f"{tmp_path}/elsewhere/lock-a: cannot be opened: No such file or directory"


def test_after_a_full_disk_has_room_again_outcomes_are_stored(
    tmp_path: Path, slot: SlotJournal
) -> None:
    keep(slot, 1)
    with files_limited_to((tmp_path / "journal-a").stat().st_size + 100):
        told = [keep(slot, number) for number in (2, 3)]

    assert told == [f"{tmp_path}/journal-a: cannot be written: File too large", ""]
    assert keep(slot, 4) == ""
    assert loads(tmp_path) == [1, 4]


def test_after_a_journal_was_removed_the_next_trial_begins_a_new_one(
    tmp_path: Path, slot: SlotJournal
) -> None:
    keep(slot, 1)
    slot.begin("a")
    (tmp_path / "journal-a").unlink()
    assert slot.keep(trial(2), measurement(2)) == f"{tmp_path}/journal-a: was removed while in use"

    assert keep(slot, 3) == ""
    assert loads(tmp_path) == [3]


def test_a_slot_of_a_killed_run_stores_nothing_for_one_that_starts_anew(
    tmp_path: Path, slot: SlotJournal
) -> None:
    slot.begin("a")  # it measures while its run is killed, and the next one starts
    with ProfileState(tmp_path, fresh=True) as state:
        assert slot.keep(trial(1), measurement(1)) != ""
        state.fold()
        assert not state.checkpoint.records


def test_a_file_system_that_hangs_does_not_hold_a_slot(tmp_path: Path) -> None:
    """Such as one on a network whose server is gone; later it answers again."""
    answers = Event()
    opened: list[str] = []

    def open_journal(node: str) -> NodeJournal:
        opened.append(node)
        assert answers.wait(60)
        return NodeJournal(tmp_path, node)

    with SlotJournal(open_journal, patience_s=0.05) as slot:
        told = [keep(slot, number) for number in (1, 2)]
        assert not load(tmp_path).records
        answers.set()
        number = 3
        while number not in loads(tmp_path):
            number += 1
            keep(slot, number)

    assert told == ["the checkpoint directory does not answer in 0.05 s", ""]
    assert opened == ["a"]
