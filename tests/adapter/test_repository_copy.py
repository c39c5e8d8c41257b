# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Copies of model repositories with a URL: complete, checked, fetched once, or one line."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import fsspec
import pytest

from model_analyzer.errors import ConfigError, RepositoryError
from model_analyzer.runner.file_trees import files_under
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.repository_copy import RepositoryCopy, Snapshot, repository_copy
from model_analyzer.urls import ListingLimits, find_all
from tests.fakes.object_store import ObjectStore

URL = "objects://bucket/models"
ODD_NAMES = ("a b", "ä", "50%", "*", "[x]", "q?", "~", "-rf", "#1", "name=value", "..x", "x..")
ENSEMBLE = """
platform: "ensemble"
ensemble_scheduling { step [ { model_name: "part" model_version: -1 } ] }
"""


@pytest.fixture(autouse=True)
def store() -> Iterator[type[ObjectStore]]:
    """The store, with a repository of one model."""
    ObjectStore.reset()
    ObjectStore.put_all("bucket/models", m__1__model="code", m__config="text")
    yield ObjectStore
    ObjectStore.reset()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where copies are."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "model-analyzer" / "repositories"


def fetch(url: str = URL, snapshot: Snapshot | None = None) -> RepositoryCopy:
    with repository_copy(url, os.environ, snapshot) as copy:
        return copy


def refused(url: str = URL, snapshot: Snapshot | None = None) -> str:
    """The message with which a URL is refused: one line."""
    with pytest.raises(RepositoryError) as raised:
        fetch(url, snapshot)
    message = str(raised.value)
    assert "\n" not in message
    return message


def copies(cache: Path) -> set[str]:
    """The names of what is in the cache, without locks."""
    return {path.name for path in cache.iterdir() if path.suffix != ".lock"}


# -- what is copied --------------------------------------------------------------------------------


def test_a_copy_has_all_files(store) -> None:
    for name in ODD_NAMES:
        store.put_all(f"bucket/models/{name}", m__1__weights=name)

    models = fetch().path

    assert {str(path): (models / path).read_text() for path in files_under(models)} == {
        "m/1/model": "code",
        "m/config": "text",
        **{f"{name}/m/1/weights": name for name in ODD_NAMES},
    }


def test_a_copy_of_a_file_system_has_its_empty_directories_and_what_its_links_name(
    tmp_path: Path,
) -> None:
    version = tmp_path / "models" / "m" / "1"
    (version / "empty").mkdir(parents=True)
    (version / "__pycache__").mkdir()
    (version / "weights").write_text("numbers")
    (version / "link").symlink_to("weights")

    models = fetch(f"file://{tmp_path}/models").path

    assert sorted(str(path.relative_to(models)) for path in models.rglob("*")) == [
        "m", "m/1", "m/1/empty", "m/1/link", "m/1/weights",
    ]  # fmt: skip
    assert not (models / "m" / "1" / "link").is_symlink()


def test_memory_is_a_store_too() -> None:
    fsspec.filesystem("memory").pipe("/copied/m/1/model.py", b"code")

    models = fetch("memory://copied").path

    assert (models / "m" / "1" / "model.py").read_text() == "code"


def test_an_empty_object_stands_for_a_directory(store) -> None:
    store.objects["bucket/models/"] = b""
    store.objects["bucket/models/e/2/"] = b""

    assert [path.name for path in (fetch().path / "e").iterdir()] == ["2"]


def test_an_ensemble_gets_the_version_that_object_stores_cannot_hold(store) -> None:
    store.objects["bucket/models/e/config.pbtxt"] = ENSEMBLE.encode()
    store.objects["bucket/models/f/config.pbtxt"] = ENSEMBLE.encode()
    store.objects["bucket/models/f/3/.keep"] = b""
    store.objects["bucket/models/m/config.pbtxt"] = b"what { is } this"

    models = fetch().path

    assert [path.name for path in (models / "e").iterdir() if path.is_dir()] == ["1"]
    assert [path.name for path in (models / "f").iterdir() if path.is_dir()] == ["3"]


def test_more_than_a_thousand_files(store) -> None:
    store.objects |= {f"bucket/models/m/1/{number}": b"x" for number in range(1200)}

    assert len([*files_under(fetch().path)]) == 1202


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["../escaped", "m/../../escaped", "/escaped", "m//escaped", "m/./escaped", "..", "a\0b"]
)
def test_a_name_that_leads_outside_is_refused(store, cache: Path, name: str) -> None:
    store.objects[f"bucket/models/{name}"] = b"evil"

    message = refused()

    assert message.startswith(f"{URL}: ")
    assert "is no path inside a directory" in message
    assert not store.downloads
    assert not [*cache.parent.parent.rglob("escaped")]


def test_an_object_that_is_also_a_directory_is_refused(store, cache: Path) -> None:
    store.objects["bucket/models/m/1"] = b"file"

    assert "cannot be fetched" in refused()
    assert not copies(cache)


@pytest.mark.parametrize("target", ["directory", "nowhere", "pipe"])
def test_a_link_to_no_file_is_refused(tmp_path: Path, target: str) -> None:
    models = tmp_path / "models"
    (models / "m").mkdir(parents=True)
    (models / "m" / "config.pbtxt").touch()
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (models / "m" / "1").symlink_to(tmp_path / target)

    assert f"{models}/m/1" in refused(f"file://{models}")


def test_nothing_there_is_refused(tmp_path: Path) -> None:
    for url in ("objects://bucket/nothing", f"file://{tmp_path}/nothing"):
        assert refused(url) == (
            f"{url}: no files there, or none that may be listed: check --model-repository"
        )
    with pytest.raises(ConfigError, match="nowhere"):
        fetch("nowhere://bucket")


def test_more_than_there_is_room_for_is_refused_before_the_download(store) -> None:
    store.sizes["bucket/models/m/1/model"] = 10**18

    assert "has 1000000000.0 GB, but " in refused()
    assert not store.downloads


def test_credentials_are_in_no_message(store, cache: Path) -> None:
    def die(name: str) -> None:
        raise OSError(f"403 for objects://me:s3cr3t@bucket of {name}\nmore")

    store.before_download = staticmethod(die)
    store.put_all("me:s3cr3t@bucket/models", m__1__model="code")

    message = refused("objects://me:s3cr3t@bucket/models")

    assert "s3cr3t" not in message
    assert "403 for" in message


# -- while it is fetched ---------------------------------------------------------------------------


def test_a_store_that_dies_leaves_nothing_and_the_next_run_starts_again(store, cache: Path) -> None:
    def die(name: str) -> None:
        if len(store.downloads) == 1:
            raise ConnectionError("the store is gone")

    store.before_download = staticmethod(die)
    assert refused() == f"{URL}: cannot be fetched: the store is gone"
    assert not copies(cache)

    store.before_download = staticmethod(lambda name: None)
    assert len([*files_under(fetch().path)]) == 2


@pytest.mark.parametrize("text", ["other", "longer than before"])
def test_a_file_that_changes_meanwhile_is_named(store, cache: Path, text: str) -> None:
    def change(name: str) -> None:
        store.put_all("bucket/models", m__1__model=text.ljust(4)[:4] if text == "other" else text)

    store.before_download = staticmethod(change)

    assert refused() == (
        f"{URL}: m/1/model was changed while it was fetched: run again when nobody writes there"
    )
    assert not copies(cache)


def test_what_a_killed_run_left_is_removed(cache: Path) -> None:
    for name in (".0123.partial", f".{fetch().snapshot.listing}.partial"):
        (cache / name / "models").mkdir(parents=True)
        (cache / name / "models" / "half").touch()
    ObjectStore.put_all("bucket/models", m__1__model="newer")

    newest = fetch().snapshot.listing

    assert copies(cache) == {newest}


def test_two_that_start_at_once_fetch_once(store) -> None:
    waiting, goes_on = threading.Event(), threading.Event()

    def hold(name: str) -> None:
        waiting.set()
        assert goes_on.wait(60)

    store.before_download = staticmethod(hold)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(fetch)
        assert waiting.wait(60)
        second = threads.submit(fetch)
        goes_on.set()

        assert first.result() == second.result()
    assert len(store.downloads) == 2


# -- later runs ------------------------------------------------------------------------------------


def test_the_same_files_are_not_fetched_again(store) -> None:
    first = fetch()
    assert fetch() == first
    assert len(store.downloads) == 2


def test_a_store_without_checksums_and_times_is_fetched_again(store, cache: Path) -> None:
    store.has_checksums = False

    assert fetch().snapshot.content == fetch().snapshot.content
    assert len(store.downloads) == 4
    assert len(copies(cache)) == 1


def test_a_newer_copy_replaces_older_ones_that_nobody_uses(store, cache: Path) -> None:
    with repository_copy(URL, os.environ) as used:
        for text in ("second", "third"):
            store.put_all("bucket/models", m__1__model=text)
            newest = fetch().snapshot.listing
        assert copies(cache) == {used.snapshot.listing, newest}
        assert (used.path / "m" / "1" / "model").read_text() == "code"

    store.put_all("elsewhere", m__1__model="code")
    other = fetch("objects://elsewhere").snapshot.listing
    assert copies(cache) == {used.snapshot.listing, newest, other}
    store.put_all("bucket/models", m__1__model="fourth")
    newest = fetch().snapshot.listing
    assert copies(cache) == {newest, other}


@pytest.mark.parametrize("damage", ["edited", "cut", "removed", "added", "record", "deep record"])
def test_a_copy_that_somebody_has_changed_is_fetched_again(store, damage: str) -> None:
    models = fetch().path
    file = models / "m" / "1" / "model"
    match damage:
        case "edited":
            file.write_text("evil")
            os.utime(file, ns=(0, 0))
        case "cut":
            file.write_text("c")
        case "removed":
            file.unlink()
        case "added":
            file.with_name("more").touch()
        case "record":
            (models.parent / "record.json").write_text("{")
        case "deep record":
            (models.parent / "record.json").write_text("[" * 100_000)

    assert fetch().path == models
    assert file.read_text() == "code"
    assert not file.with_name("more").exists()


def test_a_copy_that_was_changed_while_a_run_uses_it_is_not_replaced(store) -> None:
    with repository_copy(URL, os.environ) as used:
        (used.path / "m" / "1" / "more").touch()

        message = refused()

        assert message == (
            f"{used.path.parent}: was changed while another run uses it: run again when that has"
            " ended"
        )
    assert fetch().path == used.path


# -- on another machine ----------------------------------------------------------------------------


def test_a_node_gets_the_files_of_the_driver(cache: Path) -> None:
    snapshot = fetch().snapshot
    away = cache.with_name("driver")
    cache.rename(away)

    copy = fetch(snapshot=snapshot)

    assert copy.snapshot == snapshot
    assert (copy.path / "m" / "1" / "model").read_text() == "code"


def test_a_node_that_has_them_does_not_ask_the_store(store) -> None:
    snapshot = fetch().snapshot
    store.objects.clear()

    assert fetch(snapshot=snapshot).snapshot == snapshot


def test_a_node_that_sees_other_files_is_refused(store, cache: Path) -> None:
    snapshot = fetch().snapshot
    cache.rename(cache.with_name("driver"))
    store.put_all("bucket/models", m__1__model="evil")

    assert refused(snapshot=snapshot) == (
        f"{URL}: its files here are not those that the run has begun with: run again when nobody"
        " writes there"
    )
    assert not copies(cache)


def test_credentials_are_those_of_the_user(store, cache: Path, monkeypatch) -> None:
    monkeypatch.setenv("REGION", "of the node")
    seen = []
    store.before_download = staticmethod(
        lambda name: seen.append((os.environ["STORE_KEY"], os.environ["REGION"]))
    )

    with repository_copy(URL, {**os.environ, "STORE_KEY": "mine", "REGION": "mine"}):
        assert "STORE_KEY" not in os.environ
        assert os.environ["REGION"] == "of the node"
    assert set(seen) == {("mine", "mine")}


def test_the_models_of_a_copy_are_read_like_any_other(store) -> None:
    store.objects = {
        "bucket/models/m/config.pbtxt": b'backend: "python" input [] output []',
        "bucket/models/m/1/model.py": b"code",
    }
    with ExitStack() as stack:
        path = stack.enter_context(repository_copy(URL, os.environ)).path

        facts = ModelRepository(path).facts("m", complete=lambda name, config, files: config)

    assert facts.files


# -- endless stores --------------------------------------------------------------------------------


def test_a_listing_has_limits_of_objects_and_time(store) -> None:
    store.put_all("bucket/models", **{f"m__{number}": "" for number in range(4)})
    files = ObjectStore()
    assert len(find_all(files, "bucket", ListingLimits(objects=6))) == 6

    with pytest.raises(ValueError, match="there are more than 5 objects"):
        find_all(files, "bucket", ListingLimits(objects=5))

    class Endless(ObjectStore):
        def find(self, path: str, **_: Any) -> dict[str, Any]:
            threading.Event().wait(60)
            return {}

    with pytest.raises(ValueError, match=r"the listing takes more than 0.1 s"):
        find_all(Endless(), "bucket", ListingLimits(seconds=0.1))
