# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Directories to be written, repositories to be read, shared memory."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.features.doctor.findings import Finding, Level
from model_analyzer.features.doctor.storage_checks import (
    SharedMemory,
    check_readable,
    check_store,
    judge_place,
    judge_shared_memory,
    read_shared_memory,
    size_mib,
)
from model_analyzer.runner.host import Destination, read_destination

ROOMY = Destination(
    path=Path("/data/checkpoints"),
    existing=Path("/data"),
    free_mib=50_000,
    inodes=1_000_000,
    reason="",
)


def judged(place: Destination, needed_mib: float = 0) -> Finding:
    return judge_place("checkpoints", "--checkpoint-directory", place, needed_mib=needed_mib)


def test_a_directory_with_space_is_ok() -> None:
    finding = judged(ROOMY)

    assert (finding.level, finding.found) == (Level.OK, "/data/checkpoints, 48.8 GiB free")


@pytest.mark.parametrize(
    ("change", "level", "words"),
    [
        ({"reason": "its file system is read-only"}, Level.PROBLEM, "read-only"),
        ({"free_mib": 20}, Level.WARNING, "20 MiB free"),
        ({"inodes": 7}, Level.WARNING, "only for 7 more files (inodes)"),
        ({"inodes": None}, Level.OK, ""),
    ],
)
def test_a_problem_of_a_directory_names_the_option(
    change: dict[str, object], level: Level, words: str
) -> None:
    finding = judged(replace(ROOMY, **change))  # type: ignore[arg-type]

    assert finding.level is level
    assert words in finding.found
    assert ("--checkpoint-directory" in finding.fix) is (level is not Level.OK)


def test_models_that_do_not_fit_are_a_problem() -> None:
    finding = judged(replace(ROOMY, free_mib=900), needed_mib=2048)

    assert finding.level is Level.PROBLEM
    assert "the models alone need 2.0 GiB" in finding.found


def test_a_place_that_is_to_be_made_is_judged_by_the_directory_above(tmp_path: Path) -> None:
    place = read_destination(tmp_path / "a" / "b")

    assert (place.existing, place.reason) == (tmp_path, "")
    assert place.free_mib > 0
    assert not (tmp_path / "a").exists()


def test_a_file_in_the_way_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert (
        read_destination(tmp_path / "file" / "b").reason
        == f"{tmp_path / 'file'} is not a directory"
    )


def test_a_place_without_a_disk_is_reported() -> None:
    assert read_destination(Path("/proc/checkpoints")).reason == "/proc is not on a disk"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_of_another_user_is_reported(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)

    assert "may not write to" in read_destination(tmp_path / "b").reason


def test_a_repository_is_read_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "m" / "1").mkdir(parents=True)
    (tmp_path / "m" / "1" / "model.py").write_text("x" * 2**20)

    assert check_readable("models", tmp_path, None).level is Level.OK
    assert size_mib([tmp_path / "m"]) == 1
    assert check_readable("models", tmp_path / "none", None).level is Level.PROBLEM


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_reported(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "secret").touch(mode=0o000)

    finding = check_readable("models", tmp_path, ["m"])

    assert finding.level is Level.PROBLEM
    assert str(tmp_path / "m" / "secret") in finding.found


@pytest.mark.parametrize(
    ("memory", "level", "words"),
    [
        (SharedMemory(size_mib=64, free_mib=63, reason=""), Level.WARNING, "--shm-size"),
        (SharedMemory(size_mib=8192, free_mib=8000, reason=""), Level.OK, ""),
        (SharedMemory(size_mib=64, free_mib=64, reason="not writable"), Level.PROBLEM, "1777"),
        (SharedMemory(size_mib=0, free_mib=0, reason="No such file"), Level.PROBLEM, "tmpfs"),
    ],
)
def test_shared_memory(memory: SharedMemory, level: Level, words: str) -> None:
    finding = judge_shared_memory(memory)

    assert finding.level is level
    assert words in finding.fix


def test_shared_memory_is_read(tmp_path: Path) -> None:
    assert read_shared_memory(tmp_path).size_mib > 0
    assert "No such file" in read_shared_memory(tmp_path / "none").reason


def test_a_store_of_models_is_listed(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "config.pbtxt").write_text("text")

    finding = check_store(f"file://{tmp_path}", os.environ)

    assert finding.level is Level.OK
    assert finding.found == f"file://{tmp_path}: 1 file, 4 bytes"


@pytest.mark.parametrize("url", ["memory://nothing/there", "nowhere://bucket"])
def test_a_store_that_cannot_be_listed_is_a_problem(url: str) -> None:
    finding = check_store(url, os.environ)

    assert finding.level is Level.PROBLEM
    assert finding.found.startswith(f"{url}: ")
    assert "credentials" in finding.fix
