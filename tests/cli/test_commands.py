# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The commands around `profile`, and how the program behaves at a shell."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from model_analyzer import __version__


@pytest.fixture
def run(program: str, mark, tmp_path: Path):
    """Runs the program in an empty directory, with an empty cache and nothing on the PATH."""

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**mark.environment, "PATH": "", "XDG_CACHE_HOME": str(tmp_path / "cache")}
        work = tmp_path / "work"
        work.mkdir(exist_ok=True)
        return subprocess.run(
            [program, *arguments], cwd=work, env=environment,
            capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip

    return call


def test_version(run) -> None:
    done = run("--version")

    assert done.returncode == 0
    assert __version__ in done.stdout


def test_help_names_every_command(run) -> None:
    done = run("--help")

    assert done.returncode == 0
    for command in ("profile", "report", "checkpoint", "config", "init", "doctor", "runtime"):
        assert command in done.stdout
    assert "Exit status:" in done.stdout


@pytest.mark.parametrize(
    "command", ["profile", "report", "checkpoint", "config", "init", "doctor", "runtime"]
)
@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_each_command_has_help(run, command: str, flag: str) -> None:
    done = run(command, flag)

    assert done.returncode == 0
    assert done.stdout.startswith("Usage: model-analyzer")


def test_init_writes_a_directory_that_profile_understands(run, tmp_path: Path) -> None:
    done = run("init", "start")

    assert done.returncode == 0
    assert "model-analyzer profile -f start/config.yaml" in done.stdout
    config = yaml.safe_load((tmp_path / "work/start/config.yaml").read_text())
    models = Path(config["model_repository"])
    assert models == tmp_path / "work/start/model_repository"
    assert set(config["profile_models"]) <= {path.name for path in models.iterdir()}


def test_init_overwrites_nothing(run, tmp_path: Path) -> None:
    run("init", "start")
    config = tmp_path / "work/start/config.yaml"
    config.write_text("mine: true\n")

    done = run("init", "start")

    assert done.returncode == 2
    assert "start: exists and is not empty" in done.stderr
    assert config.read_text() == "mine: true\n"


def test_init_takes_an_empty_directory_and_no_file(run, tmp_path: Path) -> None:
    (tmp_path / "work/empty").mkdir(parents=True)
    (tmp_path / "work/file").touch()

    assert run("init", "empty").returncode == 0
    assert run("init", "file").returncode == 2


def test_init_where_nothing_can_be_created_is_one_line(run) -> None:
    done = run("init", "/proc/q")

    assert done.stderr == (
        "model-analyzer: cannot write /proc/q: No such file or directory; choose another"
        " directory\n"
    )
    assert done.returncode == 2


def test_doctor_without_a_server_says_what_to_run_and_fails(run) -> None:
    done = run("doctor")

    assert done.returncode == 1
    assert "→ `model-analyzer runtime install`, or choose another" in done.stdout


def test_profile_without_a_server_says_what_to_run(run, tmp_path: Path) -> None:
    run("init", "start")

    done = run("profile", "-f", "start/config.yaml")

    assert done.returncode in (1, 2)
    assert "model-analyzer runtime install" in done.stderr
    assert not list((tmp_path / "work/start").glob("checkpoints/*.ckpt"))


def test_runtime_show_and_remove_when_there_is_none(run) -> None:
    assert run("runtime", "show").returncode == 1
    assert run("runtime", "remove").returncode == 0
