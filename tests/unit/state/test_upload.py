# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Uploads survive whatever a store does, and never hold up a measurement; which store a URL names,
and what a store says when it cannot do something.
"""

from __future__ import annotations

import importlib.metadata
import logging
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_analyzer import Checkpoint
from model_analyzer.errors import CheckpointError, ConfigError
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.stores import (
    GROUP,
    DirectoryCheckpointer,
    StorageCheckpointer,
    Uploads,
    copy,
    open_store,
)
from tests.contract.user_store import UserStore
from tests.unit.state.samples import measurement, several, trial
from tests.waiting import until


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


def install(directory: Path, monkeypatch: pytest.MonkeyPatch, scheme: str, place: str) -> None:
    """A package with an entry point, as pip would have installed it."""
    package = directory / "somebodys-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(f"[{GROUP}]\n{scheme} = {place}\n")
    monkeypatch.syspath_prepend(str(directory))
    importlib.invalidate_caches()


def test_a_path_and_a_file_url_are_a_directory(tmp_path: Path) -> None:
    for url in (str(tmp_path), f"file://{tmp_path}"):
        store = open_store(url)
        assert isinstance(store, DirectoryCheckpointer)
        assert str(store) == str(tmp_path)


def test_any_other_url_is_for_fsspec() -> None:
    store = open_store("memory://somewhere", "run-1")
    assert isinstance(store, StorageCheckpointer)
    store.save(Checkpoint())
    assert open_store("memory://somewhere", "run-1").latest == 0
    assert open_store("memory://somewhere").latest is None


def test_an_entry_point_takes_the_urls_of_its_scheme(tmp_path: Path, monkeypatch) -> None:
    install(tmp_path, monkeypatch, "shelf", "tests.contract.user_store:open_user_store")
    store = open_store("shelf://top/left", "run-1")
    assert isinstance(store, UserStore)
    assert store.name == "shelf://top/left"
    store.save(Checkpoint())
    assert open_store("shelf://top/left", "run-1").latest == 0
    assert open_store("shelf://top/right", "run-1").latest is None


def test_a_broken_entry_point_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, "shelf", "no_such_module:open")
    with pytest.raises(ConfigError, match="no_such_module"):
        open_store("shelf://top")


def test_an_unknown_scheme_is_named() -> None:
    with pytest.raises(ConfigError, match="nowhere"):
        open_store("nowhere://bucket")


def test_without_fsspec_the_command_to_install_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ConfigError, match="pip install .fsspec>=") as raised:
        open_store("s3://me:s3cr3t@bucket/folder")
    assert "s3cr3t" not in str(raised.value)
    assert isinstance(open_store("somewhere"), DirectoryCheckpointer)


def test_credentials_are_in_no_message(tmp_path: Path) -> None:
    (tmp_path / "file?key=s3cr3t").touch()
    store = StorageCheckpointer(f"file://{tmp_path}/file?key=s3cr3t")
    assert "s3cr3t" not in str(store)
    with pytest.raises(CheckpointError) as raised:
        store.save(Checkpoint())
    store = StorageCheckpointer("memory://me:s3cr3t@bucket/folder")
    with pytest.raises(CheckpointError) as missing:
        store.read(3)
    for error in (raised, missing):
        assert "s3cr3t" not in str(error.value)
        assert "\n" not in str(error.value)


def test_a_file_in_place_of_the_folder_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for store in (
        StorageCheckpointer(f"file://{tmp_path}/file/store"),
        DirectoryCheckpointer(tmp_path / "file" / "store"),
    ):
        with pytest.raises(CheckpointError, match="file/store"):
            store.save(Checkpoint())


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    names = ["x.ckpt", "01.ckpt", "-1.ckpt", "run-1-3.ckpt", "1.ckpt.tmp", "1", ".5.ckpt", "1.CKPT"]
    for name in names:
        (tmp_path / name).write_text("foreign")
    (tmp_path / "sub").mkdir()
    for store in (DirectoryCheckpointer(tmp_path), StorageCheckpointer(f"file://{tmp_path}")):
        assert tuple(store.indices()) == ()
    for store in (
        DirectoryCheckpointer(tmp_path, "run-1"),
        StorageCheckpointer(f"file://{tmp_path}", "run-1"),
    ):
        assert tuple(store.indices()) == (3,)
    StorageCheckpointer(f"file://{tmp_path}").save(Checkpoint())
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*names, "sub", "0.ckpt"])


def test_a_copy_under_another_number_is_not_copied_again(tmp_path: Path) -> None:
    for name, values in (("one", (1, 2)), ("other", (3, 4))):
        with ProfileState(tmp_path / name) as state:
            for value in values:
                state.record(trial(value), measurement(value))
                state.save()
    store = DirectoryCheckpointer(tmp_path / "other")
    data = [(tmp_path / "one" / f"{index}.ckpt").read_bytes() for index in (0, 1)]

    for _ in range(2):
        assert [copy(index, data[index], store) for index in (0, 1)] == [2, 3]
    assert store.indices() == [0, 1, 2, 3]


def test_a_newest_checkpoint_does_not_mix_with_a_journal(tmp_path: Path) -> None:
    with ProfileState(tmp_path) as state:
        state.record(trial(), measurement())
    with pytest.raises(CheckpointError, match="choose another directory"):
        DirectoryCheckpointer(tmp_path).write(4, Checkpoint().to_bytes())
    assert DirectoryCheckpointer(tmp_path).latest is None
