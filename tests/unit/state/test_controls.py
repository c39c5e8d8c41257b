# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a user decides about checkpoints: when, under which name, from what, and starting anew."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from model_analyzer.errors import EXIT_RUN_FAILED, EXIT_USAGE, CheckpointError
from model_analyzer.state.checkpoint import Checkpoint, load, load_chosen, read_file
from model_analyzer.state.contents import Content, read_journal
from model_analyzer.state.find import find
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.samples import files, measurement, record, several, trial


def concurrencies(checkpoint: Checkpoint) -> list[int]:
    assert checkpoint.damage == ()
    return [record.trial.workloads[0].load.value for record in checkpoint.records]


# -- when --------------------------------------------------------------------------------------


def test_a_checkpoint_every_so_many_outcomes(tmp_path: Path) -> None:
    with ProfileState(tmp_path, save_every=2) as state:
        for number, sample in enumerate(several(5), start=1):
            state.record(sample, measurement())
            assert len(Layout(tmp_path).indices()) == number // 2
        state.save()

    assert files(tmp_path) == {"0.ckpt", "1.ckpt", "2.ckpt"}
    assert [len(read_file(tmp_path / f"{index}.ckpt").records) for index in range(3)] == [2, 4, 5]


def test_who_asked_is_reported_of_every_checkpoint(tmp_path: Path) -> None:
    paths: list[Path] = []
    with ProfileState(tmp_path, save_every=1, on_save=paths.append) as state:
        for sample in several(2):
            state.record(sample, measurement())
        state.save()

    assert paths == [tmp_path / "0.ckpt", tmp_path / "1.ckpt"]


# -- under which name --------------------------------------------------------------------------


def test_runs_with_different_prefixes_are_independent(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2, prefix="run1")
    record(tmp_path, 3, prefix="run1.1")

    assert files(tmp_path) == {"0.ckpt", "run1-0.ckpt", "run1.1-0.ckpt"}
    assert [concurrencies(load(tmp_path, prefix)) for prefix in ("", "run1", "run1.1")] == [
        [1], [2], [3],
    ]  # fmt: skip


def test_runs_with_different_prefixes_may_write_at_once(tmp_path: Path) -> None:
    with ProfileState(tmp_path, prefix="a") as first, ProfileState(tmp_path, prefix="b") as second:
        first.record(trial(1), measurement())
        second.record(trial(2), measurement())

    assert concurrencies(load(tmp_path, "a")) == [1]
    assert concurrencies(load(tmp_path, "b")) == [2]


# -- from what ---------------------------------------------------------------------------------


def test_resuming_from_an_older_checkpoint_keeps_newer_checkpoints(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2)
    record(tmp_path, 3, save=False)

    with ProfileState(tmp_path) as state:
        state.start_from(find("0", tmp_path))
        assert [state.outcome_of(trial(n)) is None for n in (1, 2, 3)] == [False, True, True]
        state.record(trial(4), measurement())

    assert concurrencies(load(tmp_path)) == [1, 4]
    assert concurrencies(read_file(tmp_path / "2.ckpt")) == [1, 2, 3], "the journal's, too"
    base, going_on = (read_file(tmp_path / f"{index}.ckpt").header for index in (0, 3))
    assert going_on.parent == base.uuid


def test_a_run_killed_right_after_the_change_does_not_mix(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2)
    with ProfileState(tmp_path) as state:
        state.start_from(find("0", tmp_path))

    record(tmp_path, 3, save=False)
    assert concurrencies(load(tmp_path)) == [1, 3]


def test_a_fresh_start_keeps_earlier_checkpoints(tmp_path: Path) -> None:
    record(tmp_path, 1)
    with ProfileState(tmp_path) as state:
        state.start_from(Checkpoint())
        state.record(trial(2), measurement())
        state.save()

    assert concurrencies(load(tmp_path)) == [2]
    assert concurrencies(read_file(tmp_path / "0.ckpt")) == [1]


def test_a_run_resumed_from_another_directory_descends_from_it(tmp_path: Path) -> None:
    record(tmp_path / "a", 1)
    base = load(tmp_path / "a")
    with ProfileState(tmp_path / "b") as state:
        assert not state.descends_from(base)
        state.start_from(base)
        state.record(trial(2), measurement())
        state.save()
    record(tmp_path / "b", 3, save=False)

    with ProfileState(tmp_path / "b") as state:
        assert state.descends_from(base)
    assert concurrencies(load(tmp_path / "b")) == [1, 2, 3]
    assert concurrencies(load(tmp_path / "a")) == [1]


def test_a_run_resumed_from_a_journal_descends_from_it(tmp_path: Path) -> None:
    record(tmp_path / "a", 1, 2, save=False)  # a killed run
    base = load(tmp_path / "a")
    with ProfileState(tmp_path / "b") as state:
        assert not state.descends_from(base)
        state.start_from(base)
        state.record(trial(3), measurement())

    with ProfileState(tmp_path / "b") as state:
        assert state.descends_from(base)
        assert not state.descends_from(Checkpoint())


def test_a_chain_of_parents_that_bites_its_tail_ends(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2)
    shutil.copy(tmp_path / "0.ckpt", tmp_path / "2.ckpt")

    with ProfileState(tmp_path) as state:
        assert not state.descends_from(Checkpoint(header=Header(uuid="another")))


def test_a_checkpoint_saved_during_a_read_is_seen(tmp_path: Path, monkeypatch) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement())

        def save_before(path: Path) -> Content:
            state.save()  # after the checkpoints were looked at, before the journal is
            return read_journal(path)

        monkeypatch.setattr("model_analyzer.state.checkpoint.read_journal", save_before)
        assert concurrencies(load(tmp_path)) == [1]


@pytest.mark.parametrize("name", ["0", "best", "latest"])
def test_a_file_can_be_read_under_any_name(tmp_path: Path, monkeypatch, name: str) -> None:
    record(tmp_path / "a", 1)
    record(tmp_path / "b", 2)
    (tmp_path / "b" / "0.ckpt").rename(tmp_path / name)
    monkeypatch.chdir(tmp_path)

    assert concurrencies(load_chosen(Path(name), tmp_path / "a", "")) == [2]
    assert concurrencies(load_chosen(None, tmp_path / "a", "")) == [1]


# -- starting anew -----------------------------------------------------------------------------


def test_starting_anew_removes_the_runs_own_files_and_no_others(tmp_path: Path) -> None:
    record(tmp_path, 1)
    record(tmp_path, 2, save=False)
    record(tmp_path, 3, prefix="other")
    for name in ("notes.txt", "x.ckpt", "3.old.ckpt", "journal.bak"):
        (tmp_path / name).write_text("not ours")
    kept = files(tmp_path) - {"0.ckpt"}

    with ProfileState(tmp_path, fresh=True) as state:
        assert state.outcome_of(trial(1)) is None
        assert files(tmp_path) == {*kept, "lock"}
        state.record(trial(4), measurement())
        state.save()

    assert concurrencies(load(tmp_path)) == [4]
    assert concurrencies(load(tmp_path, "other")) == [3]


def test_a_refused_run_removes_nothing(tmp_path: Path) -> None:
    record(tmp_path, 1)
    with ProfileState(tmp_path), pytest.raises(CheckpointError, match="in use"):
        ProfileState(tmp_path, fresh=True)

    assert concurrencies(load(tmp_path)) == [1]


# -- a directory that goes away ----------------------------------------------------------------


def test_a_directory_removed_in_use_is_named_and_the_run_goes_on(tmp_path: Path, caplog) -> None:
    directory = tmp_path / "checkpoints"
    record(directory, 1)
    with ProfileState(directory) as state:
        state.record(trial(2), measurement())
        shutil.rmtree(directory)

        with caplog.at_level("WARNING"):
            state.record(trial(3), measurement())
            state.record(trial(4), measurement())

        (warning,) = caplog.messages
        assert "was removed while in use" in warning
        assert concurrencies(load(directory)) == [1, 2, 3, 4]

    assert concurrencies(load(directory)) == [1, 2, 3, 4]


def test_a_directory_moved_in_use_is_complete_in_both_places(tmp_path: Path) -> None:
    record(tmp_path / "a", 1)
    with ProfileState(tmp_path / "a") as state:
        (tmp_path / "a").rename(tmp_path / "b")
        state.record(trial(2), measurement())
        assert concurrencies(load(tmp_path / "b")) == [1, 2]
        state.save()

    assert concurrencies(load(tmp_path / "a")) == [1, 2]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_is_one_line(tmp_path: Path) -> None:
    directory = tmp_path / "checkpoints"
    record(directory, 1)
    for path in directory.iterdir():
        path.chmod(0o400)
    directory.chmod(0o500)
    try:
        with pytest.raises(CheckpointError, match="Permission denied") as caught:
            ProfileState(directory)
    finally:
        directory.chmod(0o700)
    assert "\n" not in str(caught.value)


def test_a_directory_that_becomes_unreadable_is_no_wrong_path(tmp_path: Path, monkeypatch) -> None:
    def refuse(_path: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with ProfileState(tmp_path / "checkpoints") as state:
        state.record(trial(1), measurement())
        with monkeypatch.context() as patch:
            patch.setattr("os.listdir", refuse)
            with pytest.raises(CheckpointError, match="any more: Permission denied") as raised:
                state.save()
        assert raised.value.exit_status == EXIT_RUN_FAILED
        with monkeypatch.context() as patch:
            patch.setattr("os.listdir", refuse)
            with pytest.raises(CheckpointError, match="Permission denied") as raised:
                load(tmp_path / "checkpoints")
        assert raised.value.exit_status == EXIT_USAGE
