# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the targets of the Makefile would do, and who calls them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tools.changed import due
from tools.recipes import problems, recipes

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


def output_of(*words: str) -> str:
    done = subprocess.run(
        ["make", *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


def commands_of(target: str) -> str:
    """Everything that this target does, from nothing."""
    return output_of("--dry-run", "--always-make", target)


def phony() -> set[str]:
    lines = re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    return {name for line in lines for name in line.split()}


def test_the_quick_start_installs_what_a_user_needs() -> None:
    commands = commands_of("quickstart")

    assert "pip install -q --disable-pip-version-check -e .;" in commands
    assert "[dev]" not in commands


@pytest.mark.parametrize(
    "target",
    [
        "test", "fast", "full", "check", "fix", "qa", "soak", "fuzz", "lowest", "newest",
        "coverage", "site", "package",
    ],
)  # fmt: skip
def test_what_developers_run_installs_its_tools(target: str) -> None:
    assert '-e ".[dev]"' in commands_of(target)


def test_qa_ends_with_five_minutes_of_soak() -> None:
    assert "qa/soak.py --minutes 5 " in commands_of("qa")


def test_help_is_the_default_and_says_what_every_target_does() -> None:
    lines = output_of("--no-print-directory").splitlines()
    described = {name: text for name, _, text in (line.partition(" ") for line in lines)}

    assert set(described) == phony()
    assert all(text.strip() for text in described.values())


def test_the_workflow_runs_what_everybody_runs() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text("utf-8"))

    commands = [step["run"] for step in workflow["jobs"]["run"]["steps"] if "run" in step]
    assert commands == [".ci/run"]


def test_everything_and_both_ends_of_the_dependencies_are_tried_every_night() -> None:
    """The ends in environments of their own, with what pyproject.toml declares and nothing else."""
    path = ROOT / ".github" / "workflows" / "nightly.yml"
    job = yaml.safe_load(path.read_text("utf-8"))["jobs"]["run"]

    assert job["strategy"]["matrix"]["target"] == ["full", "lowest", "newest"]
    assert job["steps"][-1]["run"] == "make ${{ matrix.target }}"
    assert '-m "not e2e" --hypothesis-profile nightly' in commands_of("full")
    for target, option in (("lowest", "--resolution lowest-direct"), ("newest", "--upgrade")):
        environment = f".venv-{target}"
        commands = commands_of(target)
        assert f"{option} -e" in commands
        assert f"{environment}/bin/python -m pytest" in commands
        assert environment in commands_of("clean")


def test_hooks_use_the_tools_of_the_project() -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))

    assert [repository["repo"] for repository in hooks["repos"]] == ["local"]
    entries = [hook["entry"] for repository in hooks["repos"] for hook in repository["hooks"]]
    assert all(entry.startswith(".venv/bin/") for entry in entries)


def test_tests_are_due_that_import_what_has_changed() -> None:
    assert "tests/features/compare/test_comparison.py" in due(["model_analyzer/noise/ties.py"])


@pytest.mark.slow
def test_the_examples_for_contributors_work_as_written() -> None:
    assert [problem for name in recipes() for problem in problems(name)] == []
