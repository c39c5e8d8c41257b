# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What every `Checkpointer` promises; the same for directories, for fsspec and for users' own."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from model_analyzer import Checkpoint, Checkpointer
from model_analyzer.errors import CheckpointError
from model_analyzer.state.find import pick
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.stores import DirectoryCheckpointer, StorageCheckpointer, copy
from tests.contract.user_store import UserStore
from tests.unit.state.samples import (
    failure,
    measurement,
    rich_failure,
    rich_measurement,
    rich_trial,
    several,
    trial,
)

# Each call opens the same store again.
Store = Callable[[], Checkpointer]


@pytest.fixture(params=["directory", "directory, prefix", "file://", "memory://", "user"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    directory = tmp_path / "deep" / "store"
    match request.param:
        case "directory":
            yield lambda: DirectoryCheckpointer(directory)
        case "directory, prefix":
            yield lambda: DirectoryCheckpointer(directory, "run-1")
        case "file://":
            yield lambda: StorageCheckpointer(f"file://{directory}", "run-1")
        case "memory://":
            folder = uuid.uuid4()  # there is one such memory in a process
            yield lambda: StorageCheckpointer(f"memory://{folder}/deep")
        case _:
            kept = UserStore()
            yield lambda: kept


@pytest.fixture
def grown(tmp_path: Path) -> list[Checkpoint]:
    """Three checkpoints of one run, each with more in it."""
    directory = tmp_path / "run"
    with ProfileState(directory) as state:
        state.record(rich_trial(), rich_measurement())
        state.save()
        for record in several(3):
            state.record(record, measurement(1000.0))
        state.record_metadata({"note": {"by": "me", "numbers": [1, 2.5, None]}})
        state.save()
        state.record(trial(7), failure())
        state.record(trial(8), rich_failure())
        state.save()
    return [Checkpoint.open(directory, number) for number in range(3)]


def test_an_empty_store_has_nothing(store: Store) -> None:
    assert tuple(store().indices()) == ()
    assert store().latest is None
    with pytest.raises(CheckpointError, match="no checkpoint"):
        store().load()
    with pytest.raises(CheckpointError, match="no checkpoint 0"):
        store().load(0)


def test_what_is_saved_is_loaded(store: Store, grown: list[Checkpoint]) -> None:
    for number, checkpoint in enumerate(grown):
        assert store().save(checkpoint) == number
        assert store().latest == number
    assert tuple(store().indices()) == (0, 1, 2)
    for number, checkpoint in enumerate(grown):
        loaded = store().load(number)
        assert loaded.holds_same_as(checkpoint)
        assert [*loaded.records] == [*checkpoint.records]
        assert loaded.metadata == checkpoint.metadata
        assert loaded.header.devices == checkpoint.header.devices
        assert loaded.damage == ()
    assert store().load().holds_same_as(grown[2])


def test_what_is_saved_goes_on_from_what_was_given(store: Store, grown: list[Checkpoint]) -> None:
    store().save(grown[0])
    header = store().load(0).header
    assert header.index == 0
    assert header.parent == grown[0].header.uuid
    assert header.uuid not in ("", grown[0].header.uuid)


def test_what_has_not_changed_is_saved_by_force_only(store: Store, grown: list[Checkpoint]) -> None:
    assert store().save(grown[0]) == 0
    assert store().save(grown[0]) is None
    assert store().save(store().load()) is None
    assert tuple(store().indices()) == (0,)
    assert store().save(grown[0], force=True) == 1
    assert store().load(1).holds_same_as(store().load(0))


def test_a_change_is_saved(store: Store, grown: list[Checkpoint]) -> None:
    store().save(grown[0])
    assert store().save(grown[0].with_metadata(note="x")) == 1
    assert store().save(store().load().with_metadata(note="y")) == 2
    assert store().save(store().load().with_metadata(note="y")) is None
    assert store().load(0).metadata == {}
    assert store().load().metadata == {"note": "y"}


def test_an_empty_checkpoint_can_be_kept(store: Store) -> None:
    assert store().save(Checkpoint()) == 0
    assert [*store().load().records] == []


def test_a_number_that_is_taken_is_not_written_again(store: Store, grown: list[Checkpoint]) -> None:
    store().write(4, grown[0].to_bytes())
    with pytest.raises(CheckpointError):
        store().write(4, grown[1].to_bytes())
    assert store().read(4) == grown[0].to_bytes()
    assert store().save(grown[1]) == 5


def test_damaged_ones_are_passed_over_and_named(store: Store, grown: list[Checkpoint]) -> None:
    data = grown[2].to_bytes()
    store().write(0, grown[0].to_bytes())
    store().write(1, data[: len(data) // 2])
    store().write(2, b"")

    loaded = store().load()

    assert loaded.holds_same_as(grown[0])
    assert len(loaded.damage) == 2
    assert "it is empty" in loaded.damage[0]
    with pytest.raises(CheckpointError, match="damaged"):
        store().load(1)
    assert store().save(grown[0]) is None
    assert store().save(grown[1]) == 3


def test_where_all_are_damaged_there_is_none(store: Store, grown: list[Checkpoint]) -> None:
    store().write(0, b"nonsense\n")
    with pytest.raises(CheckpointError, match="damaged"):
        store().load()
    assert store().save(grown[0]) == 1


def test_a_copy_has_its_number_and_its_bytes(store: Store, grown: list[Checkpoint]) -> None:
    assert copy(2, grown[2].to_bytes(), store()) == 2
    assert copy(2, grown[2].to_bytes(), store()) == 2
    assert copy(1, grown[1].to_bytes(), store()) == 1
    assert store().read(2) == grown[2].to_bytes()
    assert store().load(2).header.uuid == grown[2].header.uuid
    assert tuple(store().indices()) == (1, 2)


def test_a_copy_takes_no_others_number(store: Store, grown: list[Checkpoint]) -> None:
    assert copy(0, grown[0].to_bytes(), store()) == 0
    assert copy(0, grown[1].to_bytes(), store()) == 1
    assert copy(0, grown[1].to_bytes(), store()) == 1
    assert store().read(0) == grown[0].to_bytes()
    assert store().load(1).holds_same_as(grown[1])


def test_one_is_picked_by_number_uuid_or_rank(store: Store, grown: list[Checkpoint]) -> None:
    for number, checkpoint in enumerate(grown):
        store().write(number, checkpoint.to_bytes())
    store().write(3, b"")
    assert pick("1", store()) == 1
    assert pick("3", store()) == 3
    assert pick("latest", store()) == 2
    assert pick("best", store()) == 2
    for number, checkpoint in enumerate(grown):
        assert pick(checkpoint.header.uuid, store()) == number
    for nobody in ("12345", "zzz", ""):
        with pytest.raises(CheckpointError, match="no checkpoint"):
            pick(nobody, store())


def test_a_beginning_of_several_uuids_is_refused(store: Store, grown: list[Checkpoint]) -> None:
    store().write(0, grown[0].to_bytes())
    store().write(1, grown[0].to_bytes())
    with pytest.raises(CheckpointError, match="the uuids of 0, 1 begin with"):
        pick(grown[0].header.uuid[:9], store())
