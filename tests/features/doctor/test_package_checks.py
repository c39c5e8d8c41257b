# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Modules that models import, and whether their Python has them."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from model_analyzer.domain.models import ModelFacts
from model_analyzer.features.doctor.findings import Level
from model_analyzer.features.doctor.program_checks import check_packages, imported, judge_packages
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.runtime import Program


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import numpy as np, torch.nn\nfrom PIL import Image", {"numpy", "torch", "PIL"}),
        ("from . import beside\nfrom .more import x", set()),
        ("try:\n    import cupy\nexcept ImportError:\n    cupy = None", set()),
        ("def execute():\n    import late", set()),
        ("import (", set()),
        ("x = '\0'", set()),
    ],
)
def test_modules_that_a_model_needs(source: str, names: set[str]) -> None:
    assert imported(source) == names


def test_every_model_that_lacks_something_is_reported_with_the_command() -> None:
    needed = {"a": frozenset({"numpy", "PIL", "torch"}), "b": frozenset({"numpy"})}

    (finding,) = judge_packages(needed, frozenset({"PIL", "torch"}), "/env/bin/python3")

    assert finding.level is Level.PROBLEM
    assert finding.found == "model a needs PIL, torch, which /env/bin/python3 does not have"
    assert "`model-analyzer runtime install --with pillow --with torch --unverified`" in finding.fix


def test_nothing_is_missing() -> None:
    (finding,) = judge_packages({"a": frozenset({"numpy"})}, frozenset(), "python3")

    assert finding.level is Level.OK


def test_a_python_that_does_not_start_is_a_problem() -> None:
    (finding,) = judge_packages({"a": frozenset({"numpy"})}, None, "python3")

    assert finding.level is Level.PROBLEM


class Models:
    """A repository with one model, and a server whose models have our own Python."""

    def __init__(self, repository: Path) -> None:
        self.repository = repository
        self.facts: ModelFacts = ModelRepository(repository).facts("m")
        python = Path(sys.executable).parent
        self.server = Program(
            path=Path("tritonserver"),
            origin="test",
            environment={"PATH": f"{python}:{os.defpath}"},
        )

    def write(self, source: str) -> None:
        (self.repository / "m" / "1" / "model.py").write_text(source)

    def levels(self) -> list[Level]:
        return [
            finding.level for finding in check_packages(self.repository, [self.facts], self.server)
        ]


@pytest.fixture
def models(make_model) -> Models:
    return Models(make_model("m"))


def test_the_python_of_the_models_is_asked(models: Models) -> None:
    models.write("import json, no_such_module_here\nimport triton_python_backend_utils\n")

    (finding,) = check_packages(models.repository, [models.facts], models.server)

    assert "needs no_such_module_here, which" in finding.found


def test_packages_of_model_analyzer_are_not_available_to_models(
    models: Models, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Python of the models looks neither into the current directory nor into PYTHONPATH."""
    here, there = tmp_path / "here", tmp_path / "there"
    for directory, module in ((here, "only_here"), (there, "only_there"), (here, "json")):
        directory.mkdir(exist_ok=True)
        (directory / f"{module}.py").write_text("raise SystemExit('planted')\n")
    models.write("import only_here, only_there\n")
    variables = {**models.server.environment, "PYTHONPATH": str(there)}
    monkeypatch.chdir(here)

    (finding,) = check_packages(
        models.repository, [models.facts], replace(models.server, environment=variables)
    )

    assert "needs only_here, only_there, which" in finding.found


def test_modules_beside_the_model_are_available(models: Models) -> None:
    (models.repository / "m" / "1" / "beside_it.py").touch()
    models.write("import json, beside_it\n")

    assert models.levels() == [Level.OK]


def test_models_with_a_python_of_their_own_are_not_asked(models: Models) -> None:
    models.write("import no_such_module_here\n")
    own = {"EXECUTION_ENV_PATH": {"string_value": "env.tar.gz"}}
    models.facts = replace(models.facts, config={**models.facts.config, "parameters": own})

    assert models.levels() == []
