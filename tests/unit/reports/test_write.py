# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The export directory: files land inside it, whole, or one line says why not."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from model_analyzer.errors import OutputError
from model_analyzer.reports.write import ExportDirectory, safe_name, write_file


def files_below(directory: Path) -> list[str]:
    return sorted(
        path.relative_to(directory).as_posix() for path in directory.rglob("*") if not path.is_dir()
    )


def failure_of_writing(directory: ExportDirectory, *parts: str) -> str:
    with pytest.raises(OutputError) as raised:
        directory.write("text", *parts)
    return str(raised.value)


def test_a_file_is_written_where_its_parts_say(tmp_path: Path) -> None:
    path = ExportDirectory(tmp_path).write("Zeile ä\n", "results", "m", "table.csv")
    assert path == tmp_path / "results" / "m" / "table.csv"
    assert path.read_text(encoding="utf-8") == "Zeile ä\n"
    assert files_below(tmp_path) == ["results/m/table.csv"]


def test_the_directory_is_created_and_left_empty(tmp_path: Path) -> None:
    directory = ExportDirectory(tmp_path / "a" / "b")
    assert directory.path.is_dir()
    assert list(directory.path.iterdir()) == []


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    directory = ExportDirectory(tmp_path)
    directory.write("a much longer text than the next", "x.html")
    directory.write("short", "x.html")
    assert (tmp_path / "x.html").read_text() == "short"
    assert files_below(tmp_path) == ["x.html"]


@pytest.mark.parametrize(
    "name",
    [
        "../../x", "..", ".", "", ".hidden", "...", "a/b", "/etc/passwd", "a\\b", "..\\x",
        "a\0b", "new\nline", "-rf", "~", "x" * 1000, "." * 1000, "ünïcode", "a b",
    ],
)  # fmt: skip
def test_any_name_stays_inside_the_directory(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "export"
    path = ExportDirectory(inside).write("text", "reports", name, "report.html")
    assert path.resolve().is_relative_to(inside / "reports")
    assert path.parent.parent == inside / "reports"
    assert not path.parent.name.startswith(".")
    assert [each.name for each in tmp_path.iterdir()] == ["export"]
    assert files_below(inside) == [path.relative_to(inside).as_posix()]


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("m_config_0", "m_config_0"),
        ("a,b", "a,b"),
        ("net.v1.5", "net.v1.5"),
        ("ünïcode", "ünïcode"),
        ("a/b", "a_b"),
        ("..", "_.."),
        ("", "_"),
        (".hidden", "_.hidden"),
        ("../../x", "_.._.._x"),
    ],
)
def test_only_unsafe_parts_of_a_name_are_changed(name: str, safe: str) -> None:
    assert safe_name(name) == safe


# --------------------------------------------------------------------------------- what goes wrong


def test_a_directory_that_cannot_be_made_is_reported_in_one_line_before_anything_runs(
    tmp_path: Path,
) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(OutputError) as raised:
        ExportDirectory(tmp_path / "file" / "export")
    assert str(raised.value) == (
        f"cannot write {tmp_path / 'file' / 'export'}: Not a directory; check --export-path"
    )


def test_a_file_in_place_of_the_directory_is_reported(tmp_path: Path) -> None:
    (tmp_path / "export").write_text("a file")
    with pytest.raises(OutputError, match="File exists; check --export-path"):
        ExportDirectory(tmp_path / "export")


def test_a_directory_that_takes_no_files_is_reported() -> None:
    with pytest.raises(OutputError) as raised:
        ExportDirectory(Path("/proc/self"))
    message = str(raised.value)
    assert re.fullmatch("cannot write /proc/self: .*; check --export-path", message)


def test_a_write_that_fails_leaves_no_temporary_file_behind(tmp_path: Path) -> None:
    directory = ExportDirectory(tmp_path)
    (tmp_path / "results" / "table.csv").mkdir(parents=True)
    message = failure_of_writing(directory, "results", "table.csv")
    assert "table.csv" in message
    assert message.endswith("; check --export-path")
    assert len(message.splitlines()) == 1
    assert files_below(tmp_path) == []


def test_a_file_in_place_of_a_part_is_reported_and_kept(tmp_path: Path) -> None:
    directory = ExportDirectory(tmp_path)
    directory.write("keep me", "reports")
    message = failure_of_writing(directory, "reports", "m", "report.html")
    assert message.startswith(f"cannot write {tmp_path / 'reports'}")
    assert (tmp_path / "reports").read_text() == "keep me"
    assert files_below(tmp_path) == ["reports"]


def test_text_that_is_no_utf8_is_written_all_the_same(tmp_path: Path) -> None:
    path = ExportDirectory(tmp_path).write("a\udcffb", "x.txt")
    assert path.read_text() == "a\\udcffb"
    assert list(tmp_path.iterdir()) == [path]


def test_a_long_name_is_cut_to_the_limit_of_file_systems(tmp_path: Path) -> None:
    path = ExportDirectory(tmp_path).write("text", "é" * 300)
    assert len(path.name.encode()) <= 200
    assert path.read_text() == "text"


def test_an_error_names_the_option_that_chose_the_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(OutputError, match="check --output-dir"):
        ExportDirectory(tmp_path / "file", "--output-dir")
    with pytest.raises(OutputError) as raised:
        write_file("text", tmp_path / "none" / "x.csv", "-o")
    assert str(raised.value) == (
        f"cannot write {tmp_path}/none/x.csv: No such file or directory; check -o"
    )


def test_one_file_is_written_whole_where_it_was_named(tmp_path: Path) -> None:
    write_file("an earlier and longer text", tmp_path / ".x", "-o")
    write_file("ä", tmp_path / ".x", "-o")

    assert files_below(tmp_path) == [".x"]
    assert (tmp_path / ".x").read_text(encoding="utf-8") == "ä"


# ------------------------------------------------------------ links in the directory, and devices


@pytest.mark.parametrize("parts", [("x.csv",), ("results", "x.csv")])
def test_a_link_in_the_directory_is_neither_followed_nor_replaced(
    tmp_path: Path, parts: tuple[str, ...]
) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "x.csv").write_text("mine")
    export = tmp_path / "export"
    export.mkdir()
    link = export / parts[0]
    link.symlink_to(precious / "x.csv" if len(parts) == 1 else precious)
    directory = ExportDirectory(export)

    message = failure_of_writing(directory, *parts)

    assert "symbolic link" in message
    assert message.endswith("check --export-path")
    with pytest.raises(OutputError, match="symbolic link"):
        directory.remove(*parts)
    assert link.is_symlink()
    assert (precious / "x.csv").read_text() == "mine"
    assert files_below(precious) == ["x.csv"]


def test_the_directory_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "export").symlink_to("there")

    ExportDirectory(tmp_path / "export").write("text", "results", "x.csv")

    assert files_below(tmp_path / "there") == ["results/x.csv"]


def test_a_probe_of_the_directory_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / f".write-test-{os.getpid()}").symlink_to(tmp_path / "elsewhere")

    ExportDirectory(tmp_path)

    assert not (tmp_path / "elsewhere").exists()
