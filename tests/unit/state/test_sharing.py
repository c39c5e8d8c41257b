# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which machines share the checkpoint directory. Another machine is another directory here."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import pytest

from model_analyzer.state.format.layout import Layout
from model_analyzer.state.node import Sharing, sign
from model_analyzer.state.profile_state import ProfileState


def ask_elsewhere(sharing: Sharing, name: str, directory: Path) -> None:
    """Asks where the path of the directory means this one."""
    question = sharing.questions[name]
    assert isinstance(question, partial)
    path, token = question.args
    sign(directory / path.name, token)


@pytest.mark.parametrize("prefix", ["", "night"])
def test_those_that_sign_the_file_share_the_directory(tmp_path: Path, prefix: str) -> None:
    with Sharing(Layout(tmp_path, prefix), ["a", "b", "c"]) as sharing:
        assert len([*tmp_path.iterdir()]) == 3
        for name in ("a", "c"):
            sharing.questions[name]()
        assert sharing.shared == {"a", "c"}

    assert not [*tmp_path.iterdir()]


def test_a_directory_of_the_same_name_is_not_shared_and_gets_no_file(tmp_path: Path) -> None:
    shared, other = tmp_path / "shared", tmp_path / "other"
    for directory in (shared, other):
        directory.mkdir()

    with Sharing(Layout(shared), ["a", "b"]) as sharing:
        ask_elsewhere(sharing, "a", other)
        ask_elsewhere(sharing, "b", tmp_path / "missing")
        assert sharing.shared == frozenset()

    assert sorted(tmp_path.iterdir()) == [other, shared]
    assert not [*other.iterdir()]


def test_a_copy_of_the_directory_is_not_shared(tmp_path: Path) -> None:
    """Such as a layer of a container over it."""
    shared, copy = tmp_path / "shared", tmp_path / "copy"
    for directory in (shared, copy):
        directory.mkdir()

    with Sharing(Layout(shared), ["a"]) as sharing:
        for path in shared.iterdir():
            (copy / path.name).write_bytes(path.read_bytes())
        ask_elsewhere(sharing, "a", copy)
        assert sharing.shared == frozenset()


def test_a_file_with_another_token_is_not_signed(tmp_path: Path) -> None:
    with Sharing(Layout(tmp_path), ["a"]) as sharing:
        [path] = tmp_path.iterdir()
        path.write_bytes(b"of somebody else")
        sharing.questions["a"]()
        assert sharing.shared == frozenset()
        assert path.read_bytes() == b"of somebody else"


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_directory_that_cannot_be_written_to_is_not_shared(tmp_path: Path) -> None:
    with Sharing(Layout(tmp_path), ["a"]) as sharing:
        tmp_path.chmod(0o500)
        sharing.questions["a"]()
        shared = sharing.shared
        tmp_path.chmod(0o700)

    assert shared == frozenset()


def test_files_of_a_killed_driver_are_removed_by_the_next_run(tmp_path: Path) -> None:
    for prefix in ("", "night"):
        Sharing(Layout(tmp_path, prefix), ["a", "b"]).__enter__()

    with ProfileState(tmp_path):
        pass

    assert {path.name.startswith(".night-probe-") for path in tmp_path.iterdir()} == {True}


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"), Sharing(Layout(tmp_path / "no"), ["a"]):
        pass
