# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Somebody changes, removes or plants files in the directory of a run: nothing is lost by it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import load
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.lock import Lock
from model_analyzer.state.node import NodeJournal
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.stores import DirectoryCheckpointer
from tests.unit.state.processes import acknowledged, writer
from tests.unit.state.samples import measurement, trial


def concurrencies(directory: Path) -> list[int]:
    loaded = load(directory)
    assert loaded.damage == ()
    return sorted(record.trial.workloads[0].load.value for record in loaded.records)


def remove(journal: Path) -> None:
    journal.unlink()


def empty(journal: Path) -> None:
    os.truncate(journal, 0)


def cut(journal: Path) -> None:
    os.truncate(journal, journal.stat().st_size - 30)


def replace(journal: Path) -> None:
    copy = journal.with_name("copy")
    shutil.copy(journal, copy)
    copy.rename(journal)


def extend(journal: Path) -> None:
    with journal.open("ab") as file:
        file.write(b"\n\n")


def link(journal: Path) -> None:
    journal.rename(journal.with_name("kept"))
    journal.symlink_to("kept")


CHANGES = [remove, empty, cut, replace, extend, link]


@pytest.mark.parametrize("change", CHANGES)
def test_a_journal_that_somebody_has_changed_costs_nothing(
    tmp_path: Path, change: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    directory = tmp_path / "checkpoints"
    copy = tmp_path / "as a kill would leave it"
    with ProfileState(directory) as state:
        state.record(trial(1), measurement())
        state.record(trial(2), measurement())
        change(directory / "journal")
        with caplog.at_level("WARNING"):
            state.record(trial(3), measurement())
            if change is not link:
                state.record(trial(4), measurement())
        shutil.copytree(directory, copy, symlinks=True)

    if change is link:
        (copy / "journal").unlink()
        assert concurrencies(copy) == [1, 2, 3]
        return
    assert concurrencies(copy) == [1, 2, 3, 4]
    assert (copy / "0.ckpt").exists()
    (warning,) = caplog.messages
    assert warning.startswith(f"{directory / 'journal'} was ")
    assert str(directory / "0.ckpt") in warning
    assert concurrencies(directory) == [1, 2, 3, 4]


def test_a_note_goes_into_a_journal_that_is_in_place(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        remove(tmp_path / "journal")
        state.record_metadata({"k": "v"})
        state.record_server_only({"G": {"gpu_used_memory": 1.0}})
        assert load(tmp_path).metadata == {"k": "v"}
        assert concurrencies(tmp_path) == [1]


def test_a_node_whose_journal_was_cut_does_not_measure_on(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "a") as node:
        node.record(trial(1), measurement())
        empty(tmp_path / "journal-a")
        with pytest.raises(CheckpointError, match="was shortened while in use"):
            node.record(trial(2), measurement())


# -- the lock file is removed --------------------------------------------------------------------


def test_a_second_run_is_refused_although_the_lock_file_was_removed(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        (tmp_path / "lock").unlink()
        with pytest.raises(CheckpointError, match="in use by another run"):
            ProfileState(tmp_path)
        with pytest.raises(CheckpointError, match="in use by another run"):
            ProfileState(tmp_path, fresh=True)
        state.record(trial(2), measurement())
        assert (tmp_path / "lock").exists()  # taken again

    assert concurrencies(tmp_path) == [1, 2]
    assert not (tmp_path / "lock").exists()


def test_a_second_process_is_refused_although_the_lock_file_was_removed(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        (tmp_path / "lock").unlink()
        with writer(tmp_path, first=100) as process:
            assert acknowledged(process) == []
            assert process.wait(timeout=30) == 1


def test_a_lock_that_a_refused_run_holds_for_a_moment_does_not_end_the_first(
    tmp_path: Path,
) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        (tmp_path / "lock").unlink()
        second = Lock(tmp_path / "lock")  # it has not come to the journal yet
        state.record(trial(2), measurement())
        second.release()
        state.record(trial(3), measurement())

    assert concurrencies(tmp_path) == [1, 2, 3]


@pytest.mark.parametrize("is_saved", [True, False])
def test_if_all_files_are_removed_the_first_run_stops_and_loses_nothing(
    tmp_path: Path, is_saved: bool
) -> None:
    with ProfileState(tmp_path) as first:
        first.record(trial(1), measurement())
        (tmp_path / "lock").unlink()
        (tmp_path / "journal").unlink()
        with ProfileState(tmp_path) as second:
            second.record(trial(10), measurement())
            if is_saved:
                second.save()
                second.record(trial(11), measurement())
            with pytest.raises(CheckpointError, match="in use by another run") as caught:
                first.record(trial(2), measurement())
            second.record(trial(12), measurement())
            second.save()

    assert "\n" not in str(caught.value)
    assert "everything measured so far is in" in str(caught.value)
    assert concurrencies(tmp_path) == [1, 10, *([11] if is_saved else []), 12]


def test_a_run_that_ended_meanwhile_is_taken_in(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as first:
        first.record(trial(1), measurement())
        (tmp_path / "lock").unlink()
        (tmp_path / "journal").unlink()
        with ProfileState(tmp_path) as second:
            second.record(trial(10), measurement())
            second.save()
        first.record(trial(2), measurement())
        first.save()

    assert concurrencies(tmp_path) == [1, 2, 10]


def test_an_owner_elsewhere_that_took_over_stops_the_first(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        (tmp_path / "lock").write_text("process 17 on elsewhere\n")
        with pytest.raises(CheckpointError, match="process 17 on elsewhere"):
            state.record(trial(2), measurement())

    assert concurrencies(tmp_path) == [1]
    assert (tmp_path / "lock").exists()


def test_two_writers_never_replace_one_number(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())
        (tmp_path / "0.ckpt").write_bytes(b"somebody else's\n")
        path = state.save()

    assert path == tmp_path / "1.ckpt"
    assert (tmp_path / "0.ckpt").read_bytes() == b"somebody else's\n"


# -- links in a directory that came from somebody ------------------------------------------------


@pytest.mark.parametrize("name", ["lock", "journal", "journal-a", "lock-a"])
@pytest.mark.parametrize("is_there", [True, False])
def test_a_link_in_place_of_a_file_is_refused_in_one_line(
    tmp_path: Path, name: str, is_there: bool
) -> None:
    precious = tmp_path / "precious"
    if is_there:
        precious.write_text("mine, without a line end")
    directory = tmp_path / "received"
    directory.mkdir()
    (directory / name).symlink_to(precious)

    with pytest.raises(CheckpointError, match="symbolic link") as caught:
        NodeJournal(directory, "a") if name.endswith("-a") else ProfileState(directory)

    assert "\n" not in str(caught.value)
    assert str(directory / name) in str(caught.value)
    assert precious.exists() == is_there
    assert not is_there or precious.read_text() == "mine, without a line end"
    assert os.listdir(directory) == [name]


@pytest.mark.parametrize("name", ["lock", "journal"])
def test_a_pipe_in_the_place_of_a_file_is_refused_at_once(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)

    with pytest.raises(CheckpointError, match="[Nn]ot a regular file"):
        ProfileState(tmp_path)


@pytest.mark.parametrize("name", ["0.ckpt", ".0.ckpt.tmp", "run-0.ckpt", ".1.ckpt.tmp"])
def test_a_link_in_the_place_of_a_checkpoint_is_never_followed(tmp_path: Path, name: str) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    directory = tmp_path / "received"
    directory.mkdir()
    (directory / name).symlink_to(precious)

    prefix = "run" if name.startswith("run") else ""
    with ProfileState(directory, prefix=prefix) as state:
        state.record(trial(1), measurement())
        data = state.checkpoint.to_bytes()
        state.save()
    if name == "0.ckpt":
        with pytest.raises(CheckpointError):
            DirectoryCheckpointer(directory).write(0, data)

    assert precious.read_text() == "mine"
    assert (directory / name).is_symlink()


def test_only_leftovers_of_killed_writers_are_removed(tmp_path: Path) -> None:
    ours = [".0.ckpt.tmp", ".3.ckpt.0123456789abcdef.tmp"]
    others = [".x.tmp", ".3.ckpt.tmpx", ".run-3.ckpt.0123456789abcdef.tmp", "3.ckpt.tmp"]
    for name in (*ours, *others):
        (tmp_path / name).write_text("x")

    with ProfileState(tmp_path):
        pass

    assert sorted(os.listdir(tmp_path)) == sorted(others)


def test_a_directory_that_nobody_may_look_into_any_more_is_reported_in_one_line(
    tmp_path: Path,
) -> None:
    place = tmp_path / "checkpoints"
    place.write_text("")  # also root may not list a file

    for question in (Layout(place).leftovers, Layout(place).indices, Layout(place).nodes):
        with pytest.raises(CheckpointError, match="checkpoints: cannot be read: Not a directory"):
            question()
