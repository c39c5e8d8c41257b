# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reading files of anybody: nothing blocks, and everything has an end."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from model_analyzer.reading.untrusted import open_regular, read_ends, read_named, read_regular


@pytest.fixture(params=["fifo", "socket", "device", "endless"])
def odd_file(request, tmp_path: Path, monkeypatch) -> Path:
    """What is no regular file."""
    path = tmp_path / "odd"
    if request.param == "fifo":
        os.mkfifo(path)
    elif request.param == "socket":
        monkeypatch.chdir(tmp_path)  # their paths must be short
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind("odd")
    else:
        path.symlink_to("/dev/full" if request.param == "device" else "/dev/zero")
    return path


def test_a_file_that_is_not_regular_is_refused_at_once(odd_file: Path) -> None:
    with pytest.raises(OSError, match="Not a regular file") as raised:
        open_regular(odd_file)
    assert raised.value.filename == str(odd_file)


def test_a_file_that_the_user_names_must_be_regular_too(odd_file: Path) -> None:
    with pytest.raises(OSError, match="Not a regular file"):
        read_named(odd_file, most_bytes=100)


def test_the_user_may_name_an_open_file_and_the_null_device() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"a: 1")
    os.close(writer)

    assert read_named(Path(f"/dev/fd/{reader}"), most_bytes=100) == b"a: 1"
    assert read_named(Path("/dev/null"), most_bytes=100) == b""
    os.close(reader)


def test_a_directory_is_refused_in_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)


def test_a_larger_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")

    assert read_regular(path, most_bytes=5) == b"12345"
    with pytest.raises(OSError, match="Larger than 4 bytes"):
        read_regular(path, most_bytes=4)


def test_a_long_text_keeps_its_two_ends(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("first" + "x" * 90 + "last.")

    assert read_ends(path, most_bytes=100) == path.read_text()
    assert read_ends(path, most_bytes=10) == "first\n[… 90 bytes left out …]\nlast."
