# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Uploads survive whatever a store does, and never hold up a measurement."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from model_analyzer.errors import CheckpointError
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.stores.directory import DirectoryCheckpointer
from model_analyzer.state.stores.upload import Uploads
from tests.contract.user_store import UserStore
from tests.unit.state.samples import measurement, several, trial


class FaultyStore(UserStore):
    """Raises `faults` one after another when it is written to, then works; or hangs."""

    def __init__(self, *faults: Exception, hangs: bool = False) -> None:
        super().__init__("faulty://store")
        self.faults = [*faults]
        self.hangs = hangs
        self.attempts: list[float] = []
        self.released = threading.Event()

    def write(self, index: int, data: bytes) -> None:
        self.attempts.append(time.monotonic())
        if self.hangs:
            self.released.wait(600)
        if self.faults:
            raise self.faults.pop(0)
        super().write(index, data)


class BrokenStore(FaultyStore):
    """Never works."""

    def write(self, index: int, data: bytes) -> None:
        self.attempts.append(time.monotonic())
        raise CheckpointError(f"{self}: out of order")


@pytest.fixture(autouse=True)
def informative(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    with caplog.at_level(logging.INFO, logger="model_analyzer"):
        yield


@pytest.fixture
def saved(tmp_path: Path) -> list[Path]:
    """Three numbered checkpoints."""
    paths: list[Path] = []
    with ProfileState(tmp_path / "c", on_save=paths.append, save_every=1) as state:
        for sample in several(3):
            state.record(sample, measurement())
    return paths


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "did not happen in time"
        time.sleep(0.005)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]


def test_each_saved_checkpoint_is_uploaded(tmp_path: Path, caplog) -> None:
    store = UserStore()
    with (
        Uploads(store) as uploads,
        ProfileState(tmp_path, on_save=uploads.add, save_every=1) as state,
    ):
        for sample in several(3):
            state.record(sample, measurement())
    layout = Layout(tmp_path)
    assert store.kept == {number: layout.checkpoint(number).read_bytes() for number in range(3)}
    assert warnings(caplog) == []


@pytest.mark.parametrize("fails", [1, 3])
def test_an_upload_that_fails_for_a_while_succeeds_later(
    saved: list[Path], caplog, fails: int
) -> None:
    faults = [CheckpointError("no way"), OSError(28, "No space left on device"), KeyError("a bug")]
    store = FaultyStore(*faults[:fails])
    with Uploads(store, first_pause_s=0.01) as uploads:
        for path in saved:
            uploads.add(path)
    assert sorted(store.kept) == [0, 1, 2]
    (warning,) = warnings(caplog)
    assert str(saved[0]) in warning
    assert "no way" in warning


def test_pauses_between_attempts_grow(saved: list[Path]) -> None:
    store = FaultyStore(*[OSError("not yet")] * 4)
    with Uploads(store, first_pause_s=0.02) as uploads:
        uploads.add(saved[0])
        until(lambda: bool(store.kept))
    pauses = [
        after - before for before, after in zip(store.attempts, store.attempts[1:], strict=False)
    ]
    for pause, least in zip(pauses, (0.02, 0.04, 0.08, 0.16), strict=True):
        assert pause >= least


def test_a_store_that_always_fails_is_one_warning_with_advice(saved: list[Path], caplog) -> None:
    store = BrokenStore()
    with Uploads(store, first_pause_s=0.01, patience_s=0.2) as uploads:
        for path in saved:
            uploads.add(path)
        until(lambda: len(store.attempts) > 2)
    first, last = warnings(caplog)
    assert "the upload is tried again" in first
    assert all(str(path) in last for path in saved)
    assert "out of order" in last
    assert (
        f"model-analyzer checkpoint upload --checkpoint-directory {saved[0].parent}"
        " --to faulty://store" in last
    )


def test_a_long_pause_does_not_delay_the_end_of_a_run(saved: list[Path], caplog) -> None:
    store = FaultyStore(OSError("not yet"))
    with Uploads(store, first_pause_s=600) as uploads:
        uploads.add(saved[0])
        # said when the pause begins, under the lock that leaving takes too
        until(lambda: bool(warnings(caplog)))
    assert sorted(store.kept) == [0]


def test_an_attempt_that_fails_after_the_end_has_come_is_repeated_at_once(
    saved: list[Path],
) -> None:
    store = FaultyStore(OSError("not yet"), hangs=True)
    with Uploads(store, first_pause_s=600) as uploads:
        uploads.add(saved[0])
        until(lambda: bool(store.attempts))
        # the end is not noticed before it comes: this releases the attempt a little after it
        threading.Timer(0.3, store.released.set).start()
    assert sorted(store.kept) == [0]


def test_a_store_that_hangs_holds_nobody_up(tmp_path: Path, caplog) -> None:
    store = FaultyStore(hangs=True)
    began = time.monotonic()
    with (
        Uploads(store, patience_s=0.3) as uploads,
        ProfileState(tmp_path, on_save=uploads.add, save_every=1) as state,
    ):
        for sample in several(20):
            state.record(sample, measurement())
        assert len(store.attempts) <= 1
        assert time.monotonic() - began < 60  # it hangs for ten minutes
        waiting = time.monotonic()
    assert 0.3 <= time.monotonic() - waiting < 60
    assert "not finished in time" in warnings(caplog)[-1]
    store.released.set()


def test_the_wait_is_said_and_an_interrupt_ends_it(saved: list[Path], caplog) -> None:
    store = FaultyStore(hangs=True)
    asked: list[bool] = []

    def is_said() -> bool:
        is_explained = any(
            "waiting up to 300 s" in record.getMessage() for record in caplog.records
        )
        asked.append(is_explained)
        return is_explained

    with Uploads(store, impatience=lambda: is_said, patience_s=300) as uploads:
        uploads.add(saved[0])
        assert not asked, "an earlier interrupt is not meant"
        began = time.monotonic()
    assert 1 < time.monotonic() - began < 60
    assert asked[-1]
    store.released.set()


def test_a_file_that_has_gone_does_not_stop_the_others(saved: list[Path], caplog) -> None:
    saved[0].unlink()
    store = UserStore()
    with Uploads(store) as uploads:
        for path in saved:
            uploads.add(path)
    assert sorted(store.kept) == [1, 2]
    (warning,) = warnings(caplog)
    assert f"{saved[0]}: cannot be read: No such file or directory" in warning
    assert str(saved[1]) not in warning


def test_a_new_run_on_an_empty_disk_loses_nothing_in_the_store(tmp_path: Path) -> None:
    store = DirectoryCheckpointer(tmp_path / "store")
    for directory, concurrency in (("one", 1), ("two", 2)):
        with (
            Uploads(store) as uploads,
            ProfileState(tmp_path / directory, on_save=uploads.add) as state,
        ):
            state.record(trial(concurrency), measurement())
            state.save()
    assert tuple(store.indices()) == (0, 1)
    kept = [[record.trial for record in store.load(number).records] for number in (0, 1)]
    assert kept == [[trial(1)], [trial(2)]]


def test_a_store_in_use_by_another_is_tried_again(saved: list[Path], tmp_path: Path) -> None:
    store = DirectoryCheckpointer(tmp_path / "store")
    with Uploads(store, first_pause_s=0.02) as uploads:
        with ProfileState(tmp_path / "store"):
            uploads.add(saved[0])
            time.sleep(0.1)
        until(lambda: tuple(store.indices()) == (0,))


def test_the_command_can_be_copied_as_it_is(tmp_path: Path, caplog) -> None:
    directory = tmp_path / "my runs"
    with (
        Uploads(BrokenStore(), first_pause_s=0.01, patience_s=0.05) as uploads,
        ProfileState(directory, prefix="run-1", on_save=uploads.add) as state,
    ):
        state.record(trial(), measurement())
        state.save()
    assert f"'{directory}' --checkpoint-prefix run-1 --to" in warnings(caplog)[-1]
