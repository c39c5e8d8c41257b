# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Files are written whole; devices, pipes and links stay what they are."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from model_analyzer.writing import create_file, empty_output, open_own, replace_file, write_output


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


# -- what the user names -------------------------------------------------------------------------


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    link = tmp_path / "null"
    link.symlink_to("/dev/null")

    write_output(link, b"gone")
    empty_output(link)

    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    assert link.is_symlink()
    assert names(tmp_path) == ["null"]
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_output(full, b"x")


def test_a_pipe_is_written_to_and_stays(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()

    write_output(pipe, b"rows")
    reader.join(timeout=30)

    assert read == [b"rows"]
    assert pipe.is_fifo()
    empty_output(pipe)  # nobody waits for a reader


def test_behind_a_link_the_file_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target = tmp_path / "there" / "target"
    target.write_text("an earlier and longer text")
    link = tmp_path / "link"
    link.symlink_to("there/target")
    chain = tmp_path / "chain"
    chain.symlink_to(link)
    before = target.stat().st_ino

    write_output(chain, b"new")

    assert target.read_bytes() == b"new"
    assert target.stat().st_ino != before  # at once, not bit by bit
    assert link.is_symlink()
    assert chain.is_symlink()
    assert names(tmp_path / "there") == ["target"]


def test_a_link_to_nowhere_makes_its_target(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("target")

    write_output(link, b"new")

    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
def test_a_redirected_standard_output_gets_the_content_in_its_turn(
    tmp_path: Path, name: str
) -> None:
    code = (
        "import sys; from pathlib import Path; from model_analyzer.writing import write_output;"
        "print('before', flush=True); write_output(Path(sys.argv[1]), b'content\\n');"
        "print('after')"
    )
    output = tmp_path / "output"
    with output.open("wb") as file:
        subprocess.run([sys.executable, "-c", code, name], stdout=file, check=True)

    assert output.read_text() == "before\ncontent\nafter\n"


def test_a_directory_is_not_an_output(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        write_output(tmp_path, b"x")


# -- in directories that may be anybody's --------------------------------------------------------


@pytest.mark.parametrize("kind", ["link", "link to nowhere", "pipe", "directory"])
def test_a_file_that_is_not_regular_is_neither_followed_nor_replaced(
    tmp_path: Path, kind: str
) -> None:
    directory = tmp_path / "received"
    directory.mkdir()
    precious = tmp_path / "precious"
    path = directory / "name"
    match kind:
        case "link":
            precious.write_text("mine")
            path.symlink_to(precious)
        case "link to nowhere":
            path.symlink_to(precious)
        case "pipe":
            os.mkfifo(path)
        case _:
            path.mkdir()
    before = os.lstat(path)

    with pytest.raises(OSError, match="symbolic link|regular file|directory"):
        replace_file(path, [b"x"])
    with pytest.raises(FileExistsError):
        create_file(path, [b"x"])
    with pytest.raises(OSError, match="symbolic link|regular file|directory"):
        open_own(path, os.O_RDWR)

    assert os.lstat(path).st_ino == before.st_ino
    assert names(directory) == ["name"]
    assert precious.exists() == (kind == "link")
    assert kind != "link" or precious.read_text() == "mine"


def test_a_new_file_never_replaces_another(tmp_path: Path) -> None:
    create_file(tmp_path / "x", [b"first"])
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "x", [b"second"])

    assert (tmp_path / "x").read_bytes() == b"first"
    assert names(tmp_path) == ["x"]


def test_without_hard_links_a_new_file_also_replaces_nothing(tmp_path: Path, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)

    create_file(tmp_path / "x", [b"first"])
    with pytest.raises(FileExistsError):
        create_file(tmp_path / "x", [b"second"])

    assert (tmp_path / "x").read_bytes() == b"first"
    assert names(tmp_path) == ["x"]


def test_no_link_is_followed_by_a_name_that_can_be_guessed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in (".x.tmp", ".x.1.tmp", f".x.{os.getpid()}.tmp"):
        (tmp_path / name).symlink_to(precious)

    replace_file(tmp_path / "x", [b"1"])
    create_file(tmp_path / "y", [b"1"])

    assert precious.read_text() == "mine"


def test_a_file_that_cannot_be_written_leaves_nothing_and_is_named(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file") as caught:
        replace_file(tmp_path / "none" / "x", [b""])

    assert caught.value.filename == str(tmp_path / "none" / "x")
    assert names(tmp_path) == []
