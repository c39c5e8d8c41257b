# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Completion as a shell asks for it, and in a real bash."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from model_analyzer.domain.trials import Load, ServerSetup, Trial, Workload
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import measurement, together, trial, variant

SHELLS = ["bash", "zsh", "fish"]


def needs(shell: str) -> str:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"no {shell} here")
    return path


@pytest.fixture(scope="module")
def script(program: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The script for a shell, in a file."""
    directory = tmp_path_factory.mktemp("completion")

    @functools.cache
    def write(shell: str) -> Path:
        done = subprocess.run(
            [program, "completion", shell], capture_output=True, text=True, timeout=180, check=True
        )
        assert done.stderr == ""
        path = directory / shell
        path.write_text(done.stdout)
        return path

    return write


Offered = Callable[..., list[str]]


@pytest.fixture
def offered(run, make_model) -> Offered:
    """What is offered for the last of these words, in a directory with models `m` and `n`."""
    for name in ("m", "n"):
        make_model(name)

    def ask(*words: str) -> list[str]:
        asked = {
            "_MODEL_ANALYZER_COMPLETE": "bash_complete",
            "COMP_WORDS": " ".join(["model-analyzer", *words]),
            "COMP_CWORD": str(len(words)),
        }
        status, output, error = run(env={**os.environ, **asked})
        assert (status, error) == (0, "")
        return [line.partition(",")[2] for line in output.splitlines() if line]

    return ask


@pytest.fixture
def offered_by_bash(script, program: str, tmp_path: Path) -> Offered:
    """The same in a real bash."""
    bash = needs("bash")
    path = script("bash")

    def ask(*words: str) -> list[str]:
        text = f"""
            source {path}
            COMP_WORDS=(model-analyzer {shlex.join(words)}); COMP_CWORD={len(words)}
            function_of=$(complete -p model-analyzer | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
            $function_of model-analyzer {shlex.quote(words[-1])} ''
            printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        environment = {**os.environ, "PATH": f"{Path(program).parent}:{os.environ['PATH']}"}
        done = subprocess.run(
            [bash, "--norc", "-c", text], cwd=tmp_path, env=environment,
            capture_output=True, text=True, timeout=180, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.split()

    return ask


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_right_for_its_shell(script, shell: str) -> None:
    executable = needs(shell)

    done = subprocess.run(
        [executable, "-n", str(script(shell))], capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_another_shell_is_a_usage_error(run) -> None:
    status, _, error = run("completion", "tcsh")

    assert status == 2
    assert "tcsh" in error


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["pro"], ["profile"]),
        (["checkpoint", "ex"], ["export"]),
        (["profile", "--triton-launch-mode", ""], ["local", "docker", "remote", "c_api"]),
        (["profile", "--triton-launch-mode", "=", "re"], ["remote"]),
        (["report", "-o", "html,p"], ["html,pdf", "html,parquet", "html,png"]),
        (["profile", "-m", "models", "--profile-models", ""], ["m", "n"]),
        (["profile", "-m", "models", "--profile-models", "m,"], ["m,n"]),
        (["profile", "-f", "config.yaml", "--profile-models", ""], ["m", "n"]),
        (["compare", "a", "b", "--metrics", "perf_latency_p9"],
         ["perf_latency_p90", "perf_latency_p95", "perf_latency_p99"]),
        (["completion", "f"], ["fish"]),
        (["runtime", "run", ""], ["tritonserver", "perf_analyzer", "python3"]),
        (["profile", "--no-such-option", ""], []),
    ],
)  # fmt: skip
def test_words_are_offered(offered, tmp_path: Path, words: list[str], expected: list[str]) -> None:
    (tmp_path / "config.yaml").write_text("model_repository: models\n")

    assert offered(*words) == expected


def test_options_are_offered(offered_by_bash: Offered) -> None:
    options = offered_by_bash("profile", "--checkpoint-l")

    assert options == ["--checkpoint-load-directory", "--checkpoint-load-file"]


def test_a_wrong_file_or_variable_is_silent(offered, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MODEL_ANALYZER_CONSTRAINTS", "{")
    (tmp_path / "config.yaml").write_text("model_repository: [")

    assert offered("profile", "-f", "config.yaml", "--profile-models", "") == []


def test_checkpoints_and_variants_are_offered(offered, tmp_path: Path) -> None:
    with ProfileState(tmp_path / "checkpoints") as state:
        state.describe(devices=(), host={})
        for name in ("m_config_default", "m_config_0"):
            state.record(trial(variant(name, model="m")), measurement(1.0, 1.0))
        state.save()

    assert offered("checkpoint", "show", "") == ["latest", "best", "0"]
    assert offered("report", "-n", "m_config_") == ["m_config_0", "m_config_default"]


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """Models measured alone (`m`) and together (`a,b`); of `late` only the journal tells."""
    directory = tmp_path / "checkpoints"
    works = tuple(
        Workload(variant=variant(f"{name}_config_0", model=name), load=Load(value=1))
        for name in ("a", "b")
    )
    with ProfileState(directory) as state:
        state.record(trial(variant("m_config_0", model="m")), measurement(1.0))
        state.save()
        state.record(Trial(workloads=works, setup=ServerSetup()), together({}, {}))
        state.save()
        state.record(trial(variant("late_config_0", model="late")), measurement(1.0))
    return directory


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["best", "-m", ""], ["m", "a,b", "late", "a", "b"]),
        (["best", "--model", "l"], ["late"]),
        (["checkpoint", "best", "--model", ""], ["m", "a,b", "late", "a", "b"]),
        (["checkpoint", "best", "0", "--model", ""], ["m"]),
        (["checkpoint", "best", "checkpoints/0.ckpt", "--model", ""], ["m"]),
        (["best", "1", "-m", "a"], ["a,b", "a"]),
        (["best", "best", "-m", "m"], ["m"]),
        (["best", "-s", "nowhere", "-m", ""], []),
        (["best", "7", "-m", ""], []),
    ],
)
def test_the_models_of_the_checkpoint_are_offered(
    offered, measured: Path, words: list[str], expected: list[str]
) -> None:
    assert offered(*words) == expected


def test_the_models_are_those_of_the_directory_that_is_meant(
    offered, measured: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved = measured.rename(measured.parent / "moved")
    (measured.parent / "config.yaml").write_text("checkpoint_directory: moved\n")

    assert offered("best", "-f", "config.yaml", "-m", "l") == ["late"]
    assert offered("checkpoint", "best", "-s", "moved", "--model", "l") == ["late"]
    assert offered("best", "-m", "l") == []
    monkeypatch.setenv("MODEL_ANALYZER_CHECKPOINT_DIRECTORY", str(moved))
    assert offered("best", "-m", "l") == ["late"]
    (measured.parent / "config.yaml").write_text("checkpoint_directory: [")
    assert offered("best", "-f", "config.yaml", "-m", "l") == ["late"]


def test_of_a_damaged_or_a_large_checkpoint_nothing_is_offered_in_silence(
    offered, measured: Path
) -> None:
    (measured / "journal").unlink()
    (measured / "0.ckpt").write_bytes(b"damaged")
    assert offered("best", "0", "-m", "") == []
    assert offered("best", "-m", "m") == ["m"]
    with open(measured / "1.ckpt", "ab") as file:
        file.truncate(5 * 2**20)
    assert offered("best", "-m", "") == []
