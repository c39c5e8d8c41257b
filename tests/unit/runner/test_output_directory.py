# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The output model repository: what a run may replace, and what stays."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from model_analyzer.errors import EXIT_RUN_FAILED, OutputError, RepositoryError, RepositoryInUse
from model_analyzer.runner.file_trees import (
    MARK,
    create_output,
    held,
    note_entry,
    prepare_output,
)
from tests.phrases import FOREIGN_DIRECTORY, FOREIGN_ENTRY, NOT_DELETED


def names(directory: Path) -> set[str]:
    """Every path in it, but for the mark."""
    paths = (str(path.relative_to(directory)) for path in directory.rglob("*"))
    return {name for name in paths if name != MARK}


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """An output repository of an earlier run, with two variants."""
    output = tmp_path / "out"
    create_output(output, override=False)
    for name in ("m_config_0", "m_config_default"):
        note_entry(output, name)
        (output / name / "1").mkdir(parents=True)
        (output / name / "config.pbtxt").touch()
    return output


def replace(output: Path, *, override: bool = False, spared: list[tuple[str, Path]] = []) -> None:  # noqa: B006
    prepare_output(output, override=override, protected=[], spared=spared)
    create_output(output, override=override, spared=spared)


# -- new ones --------------------------------------------------------------------------------------


def test_missing_parents_of_an_output_repository_are_created(tmp_path: Path) -> None:
    output = tmp_path / "runs" / "monday" / "out"
    prepare_output(output, override=False, protected=[])
    assert list(tmp_path.iterdir()) == []
    create_output(output, override=False)
    assert names(output) == set()


@pytest.mark.parametrize("place", ["file", "nowhere"])
def test_an_output_repository_below_no_directory_is_refused(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "nowhere").symlink_to("nothing")
    for output in (tmp_path / place / "out", tmp_path / place / "runs" / "out"):
        with pytest.raises(RepositoryError, match=f"{place} is not a directory: choose another"):
            prepare_output(output, override=False, protected=[])


def test_an_output_repository_where_nothing_may_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda place, mode: False)  # root may write everywhere
    with pytest.raises(RepositoryError, match=f"{tmp_path} is not writable: choose another"):
        prepare_output(tmp_path / "runs" / "out", override=False, protected=[])


# -- those of an earlier run -----------------------------------------------------------------------


def test_directories_of_an_earlier_run_are_replaced_without_override(made: Path) -> None:
    replace(made)

    assert names(made) == set()
    note_entry(made, "m_config_1")
    (made / "m_config_1").mkdir()
    replace(made)
    assert names(made) == set()


def test_the_mark_does_not_cover_foreign_entries(made: Path) -> None:
    (made / "mine").mkdir()
    before = names(made)

    with pytest.raises(RepositoryError) as caught:
        replace(made)

    assert f"contains mine, {FOREIGN_ENTRY}" in str(caught.value)
    assert "--override-output-model-repository" in str(caught.value)
    assert names(made) == before
    create_output(made, override=False)  # as if it had come after the check
    assert names(made) == {"mine"}


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_listed_entry_that_is_not_a_directory_is_not_ours(
    made: Path, tmp_path: Path, kind: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "data").touch()
    note_entry(made, "m_config_1")
    if kind == "link":
        (made / "m_config_1").symlink_to(tmp_path / "elsewhere")
    else:
        (made / "m_config_1").touch()

    with pytest.raises(RepositoryError, match=f"contains m_config_1, {FOREIGN_ENTRY}"):
        replace(made)
    create_output(made, override=False)

    assert names(made) == {"m_config_1"}
    assert names(tmp_path / "elsewhere") == {"data"}


@pytest.mark.parametrize("mark", ["nothing", "file", "broken", "deep", "link", "directory"])
def test_without_a_mark_of_ours_nothing_is_replaced_unless_asked(
    made: Path, tmp_path: Path, mark: str
) -> None:
    text = (made / MARK).read_text()
    (made / MARK).unlink()
    match mark:
        case "file":
            (made / MARK).write_text('"m_config_0"\n"m_config_default"\n')
        case "broken":
            (made / MARK).write_text(text[:-4])
        case "deep":
            (made / MARK).write_text(text + "[" * 100_000)
        case "link":
            (tmp_path / "mark").write_text(text)
            (made / MARK).symlink_to(tmp_path / "mark")
        case "directory":
            (made / MARK).mkdir()

    with pytest.raises(RepositoryError, match=f"{FOREIGN_DIRECTORY}: give --override"):
        replace(made)
    assert len(names(made)) == 6

    replace(made, override=True)
    assert names(made) == set()
    assert mark != "link" or (tmp_path / "mark").read_text() == text


def test_a_mark_that_is_too_large_is_refused_with_its_limit(made: Path) -> None:
    os.truncate(made / MARK, 2**30)

    with pytest.raises(RepositoryError, match=rf"{MARK}: Larger than 16 MiB: choose another"):
        replace(made)
    assert len(names(made)) == 6

    replace(made, override=True)
    assert names(made) == set()


def test_a_copy_of_an_output_repository_is_not_ours(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "production")

    with pytest.raises(RepositoryError, match=f"{FOREIGN_DIRECTORY}: give --override"):
        replace(tmp_path / "production")
    replace(made)


def test_a_directory_that_no_run_has_made_is_replaced_when_asked(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "data").touch()
    output = tmp_path / "out"
    (output / "old" / "1").mkdir(parents=True)
    (output / "file").touch()
    (output / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RepositoryError, match="--override-output-model-repository"):
        prepare_output(output, override=False, protected=[])

    replace(output, override=True)

    assert names(output) == set()
    assert names(tmp_path / "elsewhere") == {"data"}


@pytest.mark.parametrize("override", [False, True])
def test_a_link_to_an_output_repository_is_not_followed(
    made: Path, tmp_path: Path, override: bool
) -> None:
    (tmp_path / "link").symlink_to(made)

    with pytest.raises(RepositoryError, match="is a symbolic link"):
        replace(tmp_path / "link", override=override)
    with pytest.raises(OutputError, match="is a symbolic link"):
        create_output(tmp_path / "link", override=override)

    assert len(names(made)) == 6


@pytest.mark.parametrize("override", [False, True])
def test_the_output_of_a_running_run_is_not_replaced(made: Path, override: bool) -> None:
    with held(made):
        with pytest.raises(RepositoryInUse, match="in use by another run") as refused:
            prepare_output(made, override=override, protected=[])
        assert refused.value.exit_status == EXIT_RUN_FAILED
        with pytest.raises(OutputError, match="in use by another run"), held(made):
            pass

    replace(made, override=override)


# -- what stays ------------------------------------------------------------------------------------


@pytest.mark.parametrize("inside", [".", "a", "a/b"])
def test_protected_directories_are_not_deleted(tmp_path: Path, inside: str) -> None:
    kept = tmp_path / "out" / inside
    kept.mkdir(parents=True, exist_ok=True)
    with pytest.raises(RepositoryError, match=f"contains the model repository .*: {NOT_DELETED}"):
        prepare_output(tmp_path / "out", override=True, protected=[("the model repository", kept)])


@pytest.mark.parametrize("override", [False, True])
@pytest.mark.parametrize("inside", ["results", "a/b/results"])
def test_spared_directories_stay_and_others_are_replaced(
    made: Path, inside: str, override: bool
) -> None:
    export = made / inside
    export.mkdir(parents=True)
    (export / "metrics.csv").touch()
    if override:
        (export.parent / "other").mkdir()

    replace(made, override=override, spared=[("the export directory", export)])

    assert {name for name in names(made) if name.endswith(".csv")} == {f"{inside}/metrics.csv"}
    assert not any("config" in name or name.endswith("other") for name in names(made))


def test_a_spared_directory_may_be_a_link(made: Path, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "metrics.csv").touch()
    (made / "results").symlink_to(tmp_path / "real")

    replace(made, override=True, spared=[("the export directory", made / "results")])

    assert (made / "results" / "metrics.csv").exists()


def test_the_whole_of_it_cannot_be_spared(made: Path) -> None:
    with pytest.raises(RepositoryError, match=f"contains the export directory .*: {NOT_DELETED}"):
        replace(made, override=True, spared=[("the export directory", made)])


def test_a_name_of_any_kind_is_one_entry_of_the_mark(made: Path) -> None:
    odd = 'two\nlines "and" ü'
    (made / "two").mkdir()
    note_entry(made, odd)
    (made / odd).mkdir()

    with pytest.raises(RepositoryError, match=f"contains two, {FOREIGN_ENTRY}"):
        replace(made)
    (made / "two").rmdir()
    replace(made)
    assert names(made) == set()


@pytest.mark.parametrize("mark", [None, "", "model-analyzer"])
def test_a_directory_of_a_run_that_was_killed_before_its_mark_is_reused(
    tmp_path: Path, mark: str | None
) -> None:
    output = tmp_path / "output"
    output.mkdir()
    if mark is not None:
        (output / MARK).write_text(mark)

    prepare_output(output, override=False, protected=())
    create_output(output, override=False)

    prepare_output(output, override=False, protected=())


@pytest.mark.parametrize("killed_with", ["m_config_0", "m_config_default"])
def test_a_directory_of_a_run_that_was_killed_while_it_removed_variants_is_reused(
    made: Path, monkeypatch: pytest.MonkeyPatch, killed_with: str
) -> None:
    remove = shutil.rmtree

    def remove_until(path: Path) -> None:
        if path.name == killed_with:
            raise KeyboardInterrupt
        remove(path)

    with monkeypatch.context() as patched:
        patched.setattr(shutil, "rmtree", remove_until)
        with pytest.raises(KeyboardInterrupt):
            create_output(made, override=False)
    assert killed_with in names(made)

    replace(made)

    assert names(made) == set()
