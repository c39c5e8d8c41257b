# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer cluster manifest`: what is printed where, and how it fails."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml


@pytest.fixture
def run(tmp_path: Path, program: str):
    (tmp_path / "my.yaml").write_text("profile_models: [m]\n")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [program, "cluster", "manifest", *words],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip

    return run


def test_yaml_is_on_standard_output_and_remarks_are_warnings(run) -> None:
    done = run("--kind", "job", "-f", "my.yaml", "--name", "a", "--image", "b:1")
    assert done.returncode == 0
    assert [each["metadata"]["name"] for each in yaml.safe_load_all(done.stdout)] == ["a"] * 4
    comments = [line[2:] for line in done.stdout.splitlines() if line.startswith("# ")]
    assert done.stderr.splitlines() == [f"model-analyzer: warning: {line}" for line in comments]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--kind", "job", "-f", "none.yaml"), "none.yaml: cannot be read"),
        (("--kind", "job", "-f", "."), ".: cannot be read"),
        (("--kind", "pod", "-f", "my.yaml"), "--kind"),
        (("-f", "my.yaml"), "--kind"),
        (("--kind", "job"), "--config-file"),
        (("--kind", "job", "-f", "my.yaml", "--name", "A"), "--name"),
    ],
)
def test_a_wrong_option_is_one_line_with_status_2(run, words, message: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_file_lacks_models(run, tmp_path: Path) -> None:
    (tmp_path / "my.yaml").write_text("")
    done = run("--kind", "job", "-f", "my.yaml")
    assert done.returncode == 2
    assert "profile_models" in done.stderr
