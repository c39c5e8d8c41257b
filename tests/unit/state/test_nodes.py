# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several nodes of a cluster that measure into one directory."""

from __future__ import annotations

import random
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import Checkpoint, load, read_file
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.format.lines import encode
from model_analyzer.state.node import NodeJournal
from model_analyzer.state.profile_state import ProfileState
from tests.unit.state.processes import acknowledged, kill, writer
from tests.unit.state.samples import failure, measurement, trial


def concurrencies(checkpoint: Checkpoint) -> list[int]:
    return [record.trial.workloads[0].load.value for record in checkpoint.records]


def measure(directory: Path, node: str, *numbers: int) -> int:
    """A node measures trials with these concurrencies; how many outcomes it has by now."""
    with NodeJournal(directory, node) as journal:
        for number in numbers:
            journal.record(trial(number), measurement(number))
        return journal.recorded


def test_outcomes_of_a_node_are_read_at_once(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "a") as journal:
        assert journal.record(trial(1), measurement(1)) == 1
        assert concurrencies(load(tmp_path)) == [1]
        assert journal.record(trial(2), measurement(2)) == 2
        assert concurrencies(load(tmp_path)) == [1, 2]

    assert [(record.node, record.number) for record in load(tmp_path).records] == [
        ("a", 1),
        ("a", 2),
    ]


def test_the_leader_folds_all_journals_into_its_checkpoint(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        measure(tmp_path, "a", 1, 2)
        measure(tmp_path, "b", 3)
        state.record(trial(4), measurement(4))
        assert state.save() == tmp_path / "0.ckpt"

        measure(tmp_path, "a", 5)
        assert state.outcome_of(trial(5)) is None
        assert state.fold()
        assert state.outcome_of(trial(5)) == measurement(5)
        assert state.save() == tmp_path / "1.ckpt"
        assert state.save() is None

    saved = read_file(tmp_path / "1.ckpt")
    assert sorted(concurrencies(saved)) == [1, 2, 3, 4, 5]
    assert dict(saved.header.nodes) == {"a": 3, "b": 1}
    assert saved.is_accessible


def test_a_checkpoint_is_accessible_when_every_part_is_in(tmp_path: Path) -> None:
    shared, far = tmp_path / "shared", tmp_path / "far"
    far.mkdir()
    with ProfileState(shared) as state:
        measure(shared, "a", 1)
        state.save()
        state.count_node("b", measure(far, "b", 2, 3))  # its journal has not arrived yet
        measure(shared, "a", 4)
        state.save()

    assert read_file(shared / "1.ckpt").missing == {"b": 2}
    assert not load(shared).is_accessible
    assert read_file(shared / "0.ckpt").is_accessible
    assert not read_file(shared / "1.ckpt").is_accessible

    (far / "journal-b").rename(shared / "journal-b")

    assert load(shared).is_accessible
    assert read_file(shared / "1.ckpt").is_accessible
    assert sorted(concurrencies(load(shared))) == [1, 2, 3, 4]
    with ProfileState(shared) as state:
        assert state.outcome_of(trial(3)) == measurement(3)
        assert state.save() == shared / "2.ckpt"
    assert read_file(shared / "2.ckpt").is_accessible


def test_a_part_that_came_half_is_not_in(tmp_path: Path) -> None:
    shared, far = tmp_path / "shared", tmp_path / "far"
    far.mkdir()
    with ProfileState(shared) as state:
        state.record(trial(9), measurement(9))
        state.count_node("b", measure(far, "b", 1, 2))
        state.save()
    lines = (far / "journal-b").read_bytes().splitlines(keepends=True)
    (shared / "journal-b").write_bytes(b"".join(lines[:-1]))

    assert load(shared).missing == {"b": 1}
    assert not read_file(shared / "0.ckpt").is_accessible


def test_a_node_goes_on_counting_after_its_journal_was_folded(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        measure(tmp_path, "a", 1, 2)
        state.save()

        assert measure(tmp_path, "a", 3) == 3
        assert (tmp_path / "journal-a").read_bytes().count(b'"entry":"measurement"') == 1
        state.save()

    assert concurrencies(read_file(tmp_path / "1.ckpt")) == [1, 2, 3]


def test_a_journal_that_was_seen_empty_is_followed_all_the_same(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        measure(tmp_path, "a", 1)
        state.save()
        with NodeJournal(tmp_path, "a") as node:  # begins anew: all of it is folded
            assert not state.fold()
            node.record(trial(2), measurement(2))
            assert state.fold()


def test_of_a_node_only_a_journal_with_outcomes_stays(tmp_path: Path) -> None:
    measure(tmp_path, "a", 1)
    measure(tmp_path, "b")
    assert [path.name for path in tmp_path.iterdir()] == ["journal-a"]

    with ProfileState(tmp_path) as state:
        state.save()
    measure(tmp_path, "a")  # what it had is in the checkpoint

    assert [path.name for path in tmp_path.iterdir()] == ["0.ckpt"]
    assert measure(tmp_path, "a", 2) == 2


def test_a_node_whose_journal_was_removed_does_not_measure_on(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "a") as node:
        with ProfileState(tmp_path, fresh=True):
            pass
        with pytest.raises(CheckpointError, match="was removed while in use"):
            node.record(trial(1), measurement())


def test_a_failure_of_a_node_can_be_retried(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "a") as node:
        node.record(trial(1), failure())

    with ProfileState(tmp_path, retry_failed=True) as state:
        assert state.outcome_of(trial(1)) is None


def test_a_journal_of_a_newer_program_holds_no_lock(tmp_path: Path) -> None:
    journal = tmp_path / "journal-a"
    journal.write_bytes(encode({"entry": "header", "format": 99}))
    with pytest.raises(CheckpointError, match="newer model-analyzer"):
        ProfileState(tmp_path)
    journal.unlink()

    with ProfileState(tmp_path) as state:
        assert state.newest is None


def test_folding_twice_changes_neither_content_nor_order(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        measure(tmp_path, "a", 1)
        measure(tmp_path, "b", 2)
        state.record(trial(3), measurement(3))
        state.save()
    before = concurrencies(read_file(tmp_path / "0.ckpt"))

    assert concurrencies(load(tmp_path)) == before


def test_one_process_writes_for_a_node(tmp_path: Path) -> None:
    with (
        NodeJournal(tmp_path, "a"),
        NodeJournal(tmp_path, "b"),
        pytest.raises(CheckpointError, match="in use by another run"),
    ):
        NodeJournal(tmp_path, "a")


def test_nodes_of_runs_with_different_prefixes_are_different(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "a", prefix="night") as journal:
        journal.record(trial(1), measurement(1))

    assert concurrencies(load(tmp_path)) == []
    assert concurrencies(load(tmp_path, "night")) == [1]


def test_losing_a_node_loses_its_running_trial_only(tmp_path: Path) -> None:
    """Three nodes write at full speed, one after another is killed, and the leader saves."""
    dice = random.Random(3)
    reported: list[str] = []
    with ProfileState(tmp_path) as state, ExitStack() as stack:
        nodes = [
            stack.enter_context(writer(tmp_path, first=1000 * number, node=node))
            for number, node in enumerate("abc", start=1)
        ]
        for node in nodes:
            assert node.stdout is not None
            reported.append(node.stdout.readline().strip())  # it is at work
        for node in nodes:
            time.sleep(dice.uniform(0.05, 0.3))
            state.fold()
            kill(node)
            reported += acknowledged(node)
            state.save()

    stored = {record.trial.key for record in load(tmp_path).records}
    assert len(reported) > 3
    assert set(reported) <= stored
    assert len(stored - set(reported)) <= 3, "on disk, and not yet acknowledged"
    layout = Layout(tmp_path)
    assert read_file(layout.checkpoint(max(layout.indices()))).is_accessible
