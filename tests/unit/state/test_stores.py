# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which store a URL names, and what a store says when it cannot do something."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from model_analyzer import Checkpoint
from model_analyzer.errors import CheckpointError, ConfigError
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.stores.checkpointer import copy
from model_analyzer.state.stores.directory import DirectoryCheckpointer
from model_analyzer.state.stores.opening import GROUP, StorageCheckpointer, open_store
from tests.contract.user_store import UserStore
from tests.unit.state.samples import measurement, trial


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


def test_an_entry_point_takes_the_urls_of_its_scheme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_without_fsspec_the_command_to_install_it_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(ConfigError, match=r"pip install .model-analyzer\[remote\]") as raised:
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
