# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Nodes of a cluster store their outcomes beside the run, in every order of events; which machines
share the checkpoint directory. Another machine is another directory here.
"""

from __future__ import annotations

import logging
import os
import random
import shutil
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.trials import FailureReason, Trial
from model_analyzer.errors import CheckpointError
from model_analyzer.state import checkpoint as checkpoint_module
from model_analyzer.state import find as find_module
from model_analyzer.state.checkpoint import Checkpoint, load, read_file
from model_analyzer.state.contents import Content, read_journal
from model_analyzer.state.format.codec import encode
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.merge import merge
from model_analyzer.state.node import NodeJournal, Sharing, sign
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.stores import DirectoryCheckpointer, download
from tests.sizes import small_and_full
from tests.unit.state.processes import acknowledged, kill, writer
from tests.unit.state.samples import (
    SECRETS,
    failure,
    measurement,
    rich_measurement,
    rich_trial,
    trial,
)

LOST = replace(failure("its host is gone"), reason=FailureReason.LOST)


def loads(checkpoint: Checkpoint) -> list[int]:
    """The load of each outcome, in order."""
    return [record.trial.workloads[0].load.value for record in checkpoint.records]


def nodes(checkpoint: Checkpoint) -> dict[int, str]:
    """The node of each outcome, by load."""
    return dict(zip(loads(checkpoint), (each.node for each in checkpoint.records), strict=True))


def outcome(directory: Path, of: Trial) -> Outcome | None:
    record = load(directory).records.of_trial(of.key)
    return None if record is None else record.outcome


def files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def lines(path: Path) -> int:
    return len(path.read_bytes().splitlines()) if path.exists() else 0


def measure(directory: Path, node: str, *numbers: int) -> None:
    """A slot that has ended has measured trials with these loads."""
    with NodeJournal(directory, node) as journal:
        for number in numbers:
            journal.record(trial(number), measurement(number))


@pytest.fixture
def slot(tmp_path: Path) -> Iterator[NodeJournal]:
    """A slot on node `a` that still runs."""
    with NodeJournal(tmp_path, "a") as journal:
        yield journal


# -- the death of the driver -----------------------------------------------------------------------


def test_an_outcome_that_its_run_did_not_record_is_found_by_the_next_run(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1), "a")
    measure(tmp_path, "a", 1, 2)

    with ProfileState(tmp_path) as state:
        assert state.outcome_of(trial(2)) == measurement(2)
        assert files(tmp_path) == ["journal", "lock"]
        assert state.save() == tmp_path / "0.ckpt"

    saved = read_file(tmp_path / "0.ckpt")
    assert nodes(saved) == {1: "a", 2: "a"}
    assert dict(saved.header.nodes) == {"a": 2}
    assert files(tmp_path) == ["0.ckpt"]


def test_without_any_file_of_the_run_the_journal_of_a_node_is_the_start(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    measure(tmp_path, "a", 1)

    with caplog.at_level(logging.INFO), ProfileState(tmp_path) as state:
        assert state.newest == tmp_path / "journal"

    assert caplog.messages == [
        f"{tmp_path}/journal-a: added 1 outcome that its run had not stored",
        f"Loaded checkpoint from file {tmp_path}/journal",
    ]


def test_the_outcome_found_is_on_disk_before_the_journal_of_its_node_goes(tmp_path: Path) -> None:
    measure(tmp_path, "a", 1)
    with ProfileState(tmp_path):
        pass  # killed at once: nothing was saved

    assert files(tmp_path) == ["journal"]
    assert loads(load(tmp_path)) == [1]


def test_commands_that_only_read_know_the_journals_of_nodes(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1), "a")
        state.save()
    measure(tmp_path, "a", 1, 2)
    measure(tmp_path, "b", 3)
    before = files(tmp_path)

    loaded = load(tmp_path)

    assert nodes(loaded) == {1: "a", 2: "a", 3: "b"}
    assert loaded.is_accessible
    assert files(tmp_path) == before


@pytest.mark.parametrize("reader", ["load", "overviews"])
def test_a_command_misses_nothing_that_a_run_takes_from_a_node_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str
) -> None:
    """The run takes it after the command has read the first journal."""
    measure(tmp_path, "a", 1)
    module = checkpoint_module if reader == "load" else find_module
    read: list[Path] = []

    def read_and_take(path: Path) -> Content:
        content = read_journal(path)
        read.append(path)
        if len(read) == 1:
            with ProfileState(tmp_path):
                pass
        return content

    monkeypatch.setattr(module, "read_journal", read_and_take)

    if reader == "load":
        assert loads(load(tmp_path)) == [1]
    else:
        (overview,) = find_module.overviews(Layout(tmp_path), ())
        assert overview.measurements == 1


def test_the_machine_of_a_node_is_not_that_of_the_run(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.describe(devices=(), host={"Processor": "CPU A"})
        state.record(trial(1), measurement(1), "a")
    measure(tmp_path, "a", 2)

    assert load(tmp_path).header.host == {"Processor": "CPU A"}


@pytest.mark.parametrize("name", ["journal", "journal-a"])
@small_and_full("step", 11, 1)
def test_a_journal_cut_at_any_byte_gives_its_complete_lines(
    tmp_path: Path, name: str, step: int
) -> None:
    """Commands read at every byte; a run starts at some of them."""
    with ProfileState(tmp_path) as state:
        for number in (1, 2):
            state.record(trial(number), measurement(number), "a")
    measure(tmp_path, "a", 2, 3)
    path = tmp_path / name
    whole = path.read_bytes()
    other = {"journal": [2, 3], "journal-a": [1, 2]}[name]
    for number, size in enumerate(range(len(whole), -1, -step)):
        path.write_bytes(whole[:size])
        complete = whole[: whole.rfind(b"\n", 0, size) + 1]
        cut = [value for value in (1, 2, 3) if b'"value":%d,' % value in complete]
        expected = sorted({*cut, *other})
        assert sorted(loads(load(tmp_path))) == expected
        if number % 50 == 0:
            copy = tmp_path / "copies" / str(size)
            shutil.copytree(tmp_path, copy, ignore=shutil.ignore_patterns("copies"))
            with ProfileState(copy) as state:
                assert sorted(loads(state.checkpoint)) == expected
                state.save()
            assert files(copy) == ["0.ckpt"]


# -- an outcome that is known twice ----------------------------------------------------------------


def test_what_the_run_recorded_counts_more_than_what_comes_late(
    tmp_path: Path, slot: NodeJournal
) -> None:
    """The trial was lost on `a` and measured on `b`, and the search has learnt from that."""
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(7), "b")
        slot.record(trial(1), measurement(1))
        state.fold()
        assert state.outcome_of(trial(1)) == measurement(7)
        state.save()

    assert outcome(tmp_path, trial(1)) == measurement(7)
    assert len(load(tmp_path).records) == 1


def test_what_comes_late_counts_more_than_a_failure(tmp_path: Path, slot: NodeJournal) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), LOST, "a")
        slot.record(trial(1), measurement(1))
        assert outcome(tmp_path, trial(1)) == measurement(1)
        state.fold()
        assert state.outcome_of(trial(1)) == measurement(1)


def test_a_failure_that_comes_late_counts_less_than_the_one_recorded(
    tmp_path: Path, slot: NodeJournal
) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), failure("first"), "a")
        slot.record(trial(1), failure("second"))
        state.fold()
        assert state.outcome_of(trial(1)) == failure("first")


def test_of_two_nodes_with_the_same_trial_one_counts(tmp_path: Path) -> None:
    measure(tmp_path, "a", 1)
    measure(tmp_path, "b", 1, 2)

    expected = {1: "a", 2: "b"}
    assert nodes(load(tmp_path)) == expected
    with ProfileState(tmp_path) as state:
        assert nodes(state.checkpoint) == expected


def test_an_outcome_that_was_measured_again_elsewhere_is_of_no_node(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), failure(), "a")
        state.record(trial(1), measurement(1))
        state.save()

    assert dict(read_file(tmp_path / "0.ckpt").header.nodes) == {}


def test_the_journal_of_a_run_counts_no_outcomes(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1), "a")
        state.save()
        state.record(trial(2), measurement(2), "a")

        assert b'"nodes"' not in (tmp_path / "journal").read_bytes()
    assert load(tmp_path).missing == {}


def test_an_outcome_under_two_names_belongs_to_its_node_under_both(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1, name="m_config_0"), measurement(1), "a")
        state.record(trial(1, name="m_config_1"), measurement(1))
        assert [record.node for record in state.checkpoint.records] == ["a", "a"]


@pytest.mark.parametrize("retries", [False, True])
def test_a_retry_that_its_run_did_not_record_replaces_the_failure(
    tmp_path: Path, *, retries: bool
) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), failure(), "a")
        state.save()
    measure(tmp_path, "b", 1)

    with ProfileState(tmp_path, retry_failed=retries) as state:
        assert state.outcome_of(trial(1)) == measurement(1)
        state.save()

    saved = read_file(tmp_path / "1.ckpt")
    assert nodes(saved) == {1: "b"}
    assert dict(saved.header.nodes) == {"b": 1}
    assert saved.is_accessible
    assert load(tmp_path).missing == {}


def test_a_failure_of_a_node_can_be_retried(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "a") as journal:
        journal.record(trial(1), failure())

    with ProfileState(tmp_path, retry_failed=True) as state:
        assert state.outcome_of(trial(1)) is None


# -- slots that still write ------------------------------------------------------------------------


def test_the_journal_of_a_slot_that_still_runs_stays(tmp_path: Path, slot: NodeJournal) -> None:
    """A slot of a killed run ends some seconds later."""
    slot.record(trial(1), measurement(1))
    with ProfileState(tmp_path) as state:
        assert loads(state.checkpoint) == [1]
        state.save()
    assert files(tmp_path) == ["0.ckpt", "journal-a", "lock-a"]

    with ProfileState(tmp_path) as state:
        slot.record(trial(2), measurement(2))  # after this run has read its journal
        state.record(trial(3), measurement(3))
        assert state.save() == tmp_path / "1.ckpt"
    assert loads(read_file(tmp_path / "1.ckpt")) == [1, 3, 2]

    slot.record(trial(4), measurement(4))  # after the run has ended
    slot.close()
    with ProfileState(tmp_path) as state:
        assert files(tmp_path) == ["0.ckpt", "1.ckpt", "journal", "lock"]
        assert state.outcome_of(trial(4)) == measurement(4)
        state.save()
    assert files(tmp_path) == ["0.ckpt", "1.ckpt", "2.ckpt"]


def test_outcomes_that_come_between_the_last_save_and_the_end_are_in_the_journal(
    tmp_path: Path, slot: NodeJournal
) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1), "a")
        state.save()
        slot.record(trial(2), measurement(2))
        slot.close()

    assert files(tmp_path) == ["0.ckpt", "journal"]
    assert loads(load(tmp_path)) == [1, 2]


def test_a_slot_of_the_next_run_goes_on_in_a_journal_that_stayed(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "a") as killed:
        killed.record(trial(1), measurement(1))
        with ProfileState(tmp_path) as state:
            killed.close()
            measure(tmp_path, "a", 2)
            state.fold()
            assert loads(state.checkpoint) == [1, 2]

    assert files(tmp_path) == ["journal"]


def test_an_incomplete_line_is_read_when_it_is_complete(tmp_path: Path) -> None:
    measure(tmp_path / "", "a", 1, 2)
    journal = tmp_path / "journal-a"
    whole = journal.read_bytes()
    with ProfileState(tmp_path / "run") as state:
        there = tmp_path / "run" / "journal-a"
        for size in range(0, len(whole), 37):
            there.write_bytes(whole[:size])
            state.fold()
            assert len(state.checkpoint.records) <= 2
        there.write_bytes(whole)
        state.fold()
        assert loads(state.checkpoint) == [1, 2]


def test_one_process_writes_for_a_node(tmp_path: Path, slot: NodeJournal) -> None:
    with NodeJournal(tmp_path, "b"), pytest.raises(CheckpointError, match="in use by another run"):
        NodeJournal(tmp_path, "a")


def test_of_a_node_only_a_journal_with_outcomes_stays(tmp_path: Path) -> None:
    measure(tmp_path, "a", 1)
    measure(tmp_path, "b")

    assert files(tmp_path) == ["journal-a"]


def test_the_lock_of_a_killed_slot_goes_too(tmp_path: Path) -> None:
    measure(tmp_path, "a", 1)
    (tmp_path / "lock-a").write_text("process 1 on somewhere\n")
    with ProfileState(tmp_path):
        assert (tmp_path / "lock-a").exists(), "on another machine, it may have died just now"
    os.utime(tmp_path / "lock-a", (0, 0))

    with ProfileState(tmp_path):
        pass

    assert files(tmp_path) == ["journal"]


def test_files_that_only_look_like_journals_of_nodes_stay(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1), "a")
        state.record(trial(2), measurement(2))
    shutil.copy(tmp_path / "journal", tmp_path / "journal-backup")
    (tmp_path / "journal-notes.txt").write_text("measure again on Monday\n")
    (tmp_path / "lock-notes.txt").write_text("mine")
    (tmp_path / "journal").unlink()

    assert loads(load(tmp_path)) == []
    with ProfileState(tmp_path) as state:
        assert loads(state.checkpoint) == []
        state.start_from(Checkpoint())

    assert files(tmp_path) == ["0.ckpt", "journal-backup", "journal-notes.txt", "lock-notes.txt"]
    assert (tmp_path / "journal-notes.txt").read_text() == "measure again on Monday\n"
    assert (tmp_path / "lock-notes.txt").read_text() == "mine"


# -- runs that start from something else -----------------------------------------------------------


def test_a_fresh_run_gets_nothing_of_a_slot_that_still_runs(
    tmp_path: Path, slot: NodeJournal
) -> None:
    slot.record(trial(1), measurement(1))
    with ProfileState(tmp_path, fresh=True) as state:
        with pytest.raises(CheckpointError, match="was removed while in use"):
            slot.record(trial(2), measurement(2))
        state.fold()
        assert loads(state.checkpoint) == []


def test_a_run_from_an_older_checkpoint_gets_nothing_that_came_after_it(
    tmp_path: Path, slot: NodeJournal
) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1), "a")
        state.save()
    slot.record(trial(2), measurement(2))

    with ProfileState(tmp_path) as state:
        state.start_from(read_file(tmp_path / "0.ckpt"))
        with pytest.raises(CheckpointError, match="was removed while in use"):
            slot.record(trial(3), measurement(3))
        state.fold()
        assert loads(state.checkpoint) == [1]

    assert loads(read_file(tmp_path / "1.ckpt")) == [1, 2]  # what was there is kept
    assert loads(load(tmp_path)) == [1]


def test_a_checkpoint_is_not_downloaded_beside_the_journal_of_a_node(tmp_path: Path) -> None:
    with ProfileState(tmp_path / "there") as state:
        state.record(trial(1), measurement(1))
        state.save()
    here = tmp_path / "here"
    here.mkdir()
    measure(here, "a", 2)

    with pytest.raises(CheckpointError, match=r"journal-a: has measurements .* would mix"):
        download(DirectoryCheckpointer(tmp_path / "there"), 0, here)

    assert files(here) == ["journal-a"]


def test_nodes_of_runs_with_different_prefixes_are_different(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "a", prefix="night") as journal:
        journal.record(trial(1), measurement(1))
    with ProfileState(tmp_path):
        pass

    assert loads(load(tmp_path)) == []
    assert loads(load(tmp_path, "night")) == [1]


# -- what is wrong with a journal ------------------------------------------------------------------


def test_a_damaged_journal_gives_its_intact_part(tmp_path: Path, caplog) -> None:
    measure(tmp_path, "a", 1, 2, 3)
    journal = tmp_path / "journal-a"
    journal.write_bytes(journal.read_bytes().replace(b'"value":2,', b'"value":9,'))
    assert dict(load(tmp_path).missing) == {"a": 1}
    assert not load(tmp_path).is_accessible

    with ProfileState(tmp_path) as state:
        assert loads(state.checkpoint) == [1, 3]

    (warning,) = (each for each in caplog.messages if "damaged" in each)
    assert warning.startswith(f"{journal} is damaged (line ")
    assert files(tmp_path) == ["journal", "journal-a"], "the user may want to look at it"


def test_a_slot_goes_on_in_a_damaged_journal(tmp_path: Path) -> None:
    measure(tmp_path, "a", 1)
    journal = tmp_path / "journal-a"
    journal.write_bytes(journal.read_bytes().replace(b'"value":1,', b'"value":9,'))
    with ProfileState(tmp_path) as state:
        measure(tmp_path, "a", 2)
        state.fold()
        assert loads(state.checkpoint) == [2]


def test_a_damaged_journal_costs_nothing_that_the_run_has_recorded(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1), "a")
    (tmp_path / "journal-a").write_bytes(b"\0\xff not a journal\n" * 3)

    with ProfileState(tmp_path) as state:
        assert loads(state.checkpoint) == [1]


def test_a_journal_that_cannot_be_read_stays(tmp_path: Path, caplog) -> None:
    (tmp_path / "journal-a").mkdir()

    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1))
        state.save()

    assert caplog.messages.count(f"{tmp_path}/journal-a: cannot be read now: Is a directory") == 1
    assert files(tmp_path) == ["0.ckpt", "journal-a"]


def test_a_journal_that_is_removed_is_not_written_again(tmp_path: Path, slot: NodeJournal) -> None:
    slot.record(trial(1), measurement(1))
    (tmp_path / "journal-a").unlink()

    with pytest.raises(CheckpointError, match=r"journal-a: was removed while in use$"):
        slot.record(trial(2), measurement(2))

    assert not (tmp_path / "journal-a").exists()


def test_a_journal_that_is_removed_while_it_is_written_is_noticed(
    tmp_path: Path, slot: NodeJournal, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def sync_and_remove(file: int) -> None:
        sync(file)
        (tmp_path / "journal-a").unlink()

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", sync_and_remove)
        with pytest.raises(CheckpointError, match="was removed while in use"):
            slot.record(trial(1), measurement(1))


def test_a_journal_of_a_newer_program_holds_no_lock(tmp_path: Path) -> None:
    journal = tmp_path / "journal-a"
    journal.write_bytes(encode({"entry": "header", "format": 99}))
    with pytest.raises(CheckpointError, match="newer model-analyzer"):
        ProfileState(tmp_path)
    journal.unlink()

    with ProfileState(tmp_path) as state:
        assert state.newest is None


def test_a_journal_of_a_newer_program_does_not_end_a_run(tmp_path: Path, caplog) -> None:
    with ProfileState(tmp_path) as state:
        (tmp_path / "journal-a").write_bytes(encode({"entry": "header", "format": 99}))
        state.record(trial(1), measurement(1), "a")
        assert state.save() == tmp_path / "0.ckpt"

    assert any("newer model-analyzer" in each for each in caplog.messages)


def test_secrets_are_masked_in_the_journal_of_a_node(tmp_path: Path, slot: NodeJournal) -> None:
    slot.record(rich_trial(), rich_measurement())

    text = (tmp_path / "journal-a").read_text()
    assert not [secret for secret in SECRETS if secret in text]
    slot.close()
    with ProfileState(tmp_path) as state:
        assert state.outcome_of(rich_trial()) is not None


def test_the_line_of_a_node_is_that_of_the_run(tmp_path: Path, slot: NodeJournal) -> None:
    """So the same outcome from both files is one line of a checkpoint."""
    slot.record(rich_trial(), rich_measurement())
    with ProfileState(tmp_path / "run") as state:
        state.record(rich_trial(), rich_measurement(), "a")

        own = read_journal(tmp_path / "run" / "journal").records
    assert read_journal(tmp_path / "journal-a").records == own


# -- trials that were lost -------------------------------------------------------------------------


def test_losses_are_counted_by_node_and_kept(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(1), measurement(1), "a")
        for node in ("a", "b", "a"):
            assert state.record_loss(trial(2), node) is None
    assert dict(load(tmp_path).header.lost) == {"a": 2, "b": 1}, "killed at once"

    for _ in range(2):
        with ProfileState(tmp_path) as state:
            assert state.record_loss(trial(3), "b") is None
            state.save()

    assert dict(load(tmp_path).header.lost) == {"a": 2, "b": 3}
    assert dict(read_file(tmp_path / "0.ckpt").header.lost) == {"a": 2, "b": 2}


def test_a_trial_that_was_stored_before_its_slot_died_is_not_lost(
    tmp_path: Path, slot: NodeJournal
) -> None:
    with ProfileState(tmp_path) as state:
        slot.record(trial(1), measurement(1))

        assert state.record_loss(trial(1), "a") == measurement(1)

        assert state.outcome_of(trial(1)) == measurement(1)
        assert dict(state.checkpoint.header.lost) == {}


def test_without_a_cluster_nothing_is_counted(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        assert state.record_loss(trial(1), "") is None
        assert lines(tmp_path / "journal") == 0


def test_merged_checkpoints_add_their_losses_and_keep_their_nodes(tmp_path: Path) -> None:
    for number, name in enumerate(("monday", "tuesday"), start=1):
        with ProfileState(tmp_path / name) as state:
            state.record(trial(number), measurement(number), "a")
            state.record_loss(trial(7), "a")

    merged = merge([load(tmp_path / "monday"), load(tmp_path / "tuesday")]).checkpoint

    assert dict(merged.header.lost) == {"a": 2}
    with ProfileState(tmp_path / "both") as state:
        state.start_from(merged)
    saved = read_file(tmp_path / "both" / "0.ckpt")
    assert dict(saved.header.nodes) == {"a": 2}
    assert dict(saved.header.lost) == {"a": 2}


# -- with processes --------------------------------------------------------------------------------


def test_killed_slots_lose_their_running_trials_only(tmp_path: Path) -> None:
    """Three slots write at full speed and are killed one after another, while a run folds and
    saves, and is replaced by a further one.
    """
    dice = random.Random(3)
    reported: list[str] = []
    with ExitStack() as stack:
        slots = [
            stack.enter_context(writer(tmp_path, first=1000 * number, node=node))
            for number, node in enumerate("abc", start=1)
        ]
        for process in slots:
            assert process.stdout is not None
            reported.append(process.stdout.readline().strip())  # it is at work
        for process in slots:
            with ProfileState(tmp_path) as state:
                time.sleep(dice.uniform(0.05, 0.3))
                state.fold()
                kill(process)
                reported += acknowledged(process)
                state.save()

    checkpoint = load(tmp_path)
    keys = [record.trial.key for record in checkpoint.records]
    assert len(reported) > 3
    assert len(keys) == len(set(keys))
    assert set(reported) <= set(keys)
    assert len(set(keys) - set(reported)) <= 3, "on disk, and not yet acknowledged"
    newest = read_file(Layout(tmp_path).checkpoint(max(Layout(tmp_path).indices())))
    assert newest.is_accessible
    assert not [name for name in files(tmp_path) if "-" in name]


def ask_elsewhere(sharing: Sharing, name: str, directory: Path) -> None:
    """Asks where the path of the directory means this one."""
    question = sharing.questions[name]
    assert isinstance(question, partial)
    path, token = question.args
    sign(directory / path.name, token)


@pytest.mark.parametrize("prefix", ["", "night"])
def test_those_that_sign_the_file_share_the_directory(tmp_path: Path, prefix: str) -> None:
    with Sharing(Layout(tmp_path, prefix), ["a", "b", "c"]) as sharing:
        assert len([*tmp_path.iterdir()]) == 3
        for name in ("a", "c"):
            sharing.questions[name]()
        assert sharing.shared == {"a", "c"}

    assert not [*tmp_path.iterdir()]


def test_a_directory_of_the_same_name_is_not_shared_and_gets_no_file(tmp_path: Path) -> None:
    shared, other = tmp_path / "shared", tmp_path / "other"
    for directory in (shared, other):
        directory.mkdir()

    with Sharing(Layout(shared), ["a", "b"]) as sharing:
        ask_elsewhere(sharing, "a", other)
        ask_elsewhere(sharing, "b", tmp_path / "missing")
        assert sharing.shared == frozenset()

    assert sorted(tmp_path.iterdir()) == [other, shared]
    assert not [*other.iterdir()]


def test_a_copy_of_the_directory_is_not_shared(tmp_path: Path) -> None:
    """Such as a layer of a container over it."""
    shared, copy = tmp_path / "shared", tmp_path / "copy"
    for directory in (shared, copy):
        directory.mkdir()

    with Sharing(Layout(shared), ["a"]) as sharing:
        for path in shared.iterdir():
            (copy / path.name).write_bytes(path.read_bytes())
        ask_elsewhere(sharing, "a", copy)
        assert sharing.shared == frozenset()


def test_a_file_with_another_token_is_not_signed(tmp_path: Path) -> None:
    with Sharing(Layout(tmp_path), ["a"]) as sharing:
        [path] = tmp_path.iterdir()
        path.write_bytes(b"of somebody else")
        sharing.questions["a"]()
        assert sharing.shared == frozenset()
        assert path.read_bytes() == b"of somebody else"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_directory_that_cannot_be_written_to_is_not_shared(tmp_path: Path) -> None:
    with Sharing(Layout(tmp_path), ["a"]) as sharing:
        tmp_path.chmod(0o500)
        sharing.questions["a"]()
        shared = sharing.shared
        tmp_path.chmod(0o700)

    assert shared == frozenset()


def test_files_of_a_killed_driver_are_removed_by_the_next_run(tmp_path: Path) -> None:
    for prefix in ("", "night"):
        Sharing(Layout(tmp_path, prefix), ["a", "b"]).__enter__()

    with ProfileState(tmp_path):
        pass

    assert {path.name.startswith(".night-probe-") for path in tmp_path.iterdir()} == {True}


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"), Sharing(Layout(tmp_path / "no"), ["a"]):
        pass
