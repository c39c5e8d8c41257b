# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The commands around `profile`, and how the program behaves at a shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from model_analyzer import __version__
from model_analyzer.cli.program import program
from model_analyzer.runner.runtime import installed_runtime


@pytest.fixture
def run(program: str, mark, tmp_path: Path):
    """Runs the program in an empty directory, with an empty cache and nothing on the PATH."""

    def call(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        cache = {"XDG_CACHE_HOME": str(tmp_path / "cache")}
        environment = {**mark.environment, "PATH": "", **cache, **variables}
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


def test_the_program_starts_without_what_only_some_commands_need() -> None:
    """What is imported here is waited for by every command, and by every Tab."""
    later = {"difflib", "hashlib", "json", "numpy", "pathlib", "rich", "statistics", "yaml"}
    code = "import sys, model_analyzer.cli.program; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert later.isdisjoint(done.stdout.split())


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
def test_each_command_has_help(command: str, flag: str) -> None:
    done = CliRunner().invoke(program, [command, flag], prog_name="model-analyzer")

    assert done.exit_code == 0
    assert done.stdout.startswith("Usage: model-analyzer")


def test_init_writes_a_directory_that_profile_understands(run, tmp_path: Path) -> None:
    done = run("init", "start")

    assert done.returncode == 0
    assert "model-analyzer profile -f start/config.yaml" in done.stdout
    config = yaml.safe_load((tmp_path / "work/start/config.yaml").read_text())
    models = Path(config["model_repository"])
    assert models == tmp_path / "work/start/model_repository"
    assert set(config["profile_models"]) <= {path.name for path in models.iterdir()}


def test_the_next_command_of_init_is_quoted(run) -> None:
    assert "model-analyzer profile -f 'a b$x/config.yaml'" in run("init", "a b$x").stdout


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


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A runtime whose programs tell what they were started with."""
    root = installed_runtime({"XDG_CACHE_HOME": str(tmp_path / "cache")})
    says = """#!/bin/sh
case "$*" in
*--version) echo Perf Analyzer Version 9.9;;
--help) echo --model-repository;;
*) echo "$0: $*"; echo "$PATH : $LD_LIBRARY_PATH"; exit 7;;
esac
"""
    for path in (root.server, root.perf_analyzer, root.python):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(says)
        path.chmod(0o755)
    root.backends.mkdir()
    return root.root


def test_a_program_of_the_runtime_gets_all_arguments_and_gives_its_status(
    run, installed: Path
) -> None:
    done = run("runtime", "run", "perf_analyzer", "-m", "a b", "--help", "-h")

    assert done.returncode == 7
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"{installed}/bin/perf_analyzer: -m a b --help -h",
        f" : {installed}/nvidia_pytriton.libs",
    ]


@pytest.mark.parametrize("given", [[], ["--backend-directory=mine"], ["--backend-directory", "x"]])
def test_a_server_started_by_hand_finds_its_backends_and_the_python_of_the_models(
    run, installed: Path, given: list[str]
) -> None:
    done = run("runtime", "run", "tritonserver", "--model-repository", "models", *given)

    home = installed / "pytriton" / "tritonserver"
    flags = [] if given else [f"--backend-directory={home / 'backends'}"]
    words = " ".join([*flags, "--model-repository", "models", *given])
    assert done.stdout.splitlines() == [
        f"{home}/bin/tritonserver: {words}",
        f"{installed}/python/bin : {installed}/libpython",
    ]


def test_other_programs_run_with_the_python_of_the_runtime(run, installed: Path) -> None:
    done = run("runtime", "run", "python3", "-c", "x")

    assert done.stdout.startswith(f"{installed}/python/bin/python3: -c x\n")
    assert done.returncode == 7


def test_a_program_that_is_nowhere_is_named(run, installed: Path) -> None:
    done = run("runtime", "run", "elsewhere")

    assert done.returncode == 2
    assert done.stderr == (
        f"model-analyzer: no program 'elsewhere' on the PATH or in {installed}\n"
    )


@pytest.mark.parametrize("words", ["run perf_analyzer", "run tritonserver", "run python3", "env"])
def test_without_a_runtime_one_line_says_how_to_install_it(run, words: str) -> None:
    done = run("runtime", *words.split())

    (line,) = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.endswith("; run `model-analyzer runtime install`")


def test_a_shell_reads_the_variables_whatever_is_in_them(
    run, installed: Path, tmp_path: Path
) -> None:
    home = tmp_path / "cache's $(home)"
    (tmp_path / "cache").rename(home)
    root = installed_runtime({"XDG_CACHE_HOME": str(home)}).root

    done = run("runtime", "env", XDG_CACHE_HOME=str(home), LD_LIBRARY_PATH="/mine")
    shown = subprocess.run(
        ["/bin/sh", "-c", done.stdout + 'echo "$PATH"; echo "$LD_LIBRARY_PATH"'],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip

    triton = root / "pytriton" / "tritonserver" / "bin"
    assert shown.stdout.splitlines() == [
        f"{root}/python/bin:{root}/bin:{triton}",
        f"{root}/libpython:{root}/nvidia_pytriton.libs:/mine",
    ]
