# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a wheel has to hold, and what pyproject.toml has to declare."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tools.package import differences, files_of

ROOT = Path(__file__).parents[2]


def test_a_wheel_holds_every_file_of_the_package() -> None:
    files = files_of(ROOT)

    assert list(differences(files, [*files, "model_analyzer-1.dist-info/METADATA"])) == []
    assert list(differences(files, [*files[1:], "tests/conftest.py"])) == [
        f"{files[0]} is missing",
        "tests/conftest.py does not belong to the package",
    ]


def test_types_templates_schema_locks_and_starter_are_files_of_the_package() -> None:
    assert {
        "model_analyzer/py.typed",
        "model_analyzer/reports/templates/summary.html.j2",
        "model_analyzer/reports/static/report.js",
        "model_analyzer/features/capacity/capacity.schema.json",
        "model_analyzer/reports/results.schema.json",
        "model_analyzer/runner/lock/server-2.51.txt",
        "model_analyzer/starter/config.yaml",
    } <= set(files_of(ROOT))


def declared() -> Mapping[str, Mapping[str, str]]:
    """The requirements in pyproject.toml: by list, by name."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project = text[text.index("dependencies = [") : text.index("[project.scripts]")]
    lists = re.findall(r"^([\w-]+) = \[(.*?)\](?:  #[^\n]*)?$", project, re.DOTALL | re.MULTILINE)
    return {
        name: {
            re.split(r"[^\w.-]", requirement)[0].lower(): requirement
            for requirement in re.findall(r'"([^"]+)"', requirements)
        }
        for name, requirements in lists
    }


def imported(*places: str) -> Iterator[tuple[str, str]]:
    """The packages of others that files import, but for models, which run in the server."""
    for path in (path for place in places for path in ROOT.glob(place)):
        if {"starter", "models"} & set(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [str(node.module)]
            for name in {name.partition(".")[0] for name in names} - {*sys.stdlib_module_names}:
                if not (ROOT / name).exists() and not (ROOT / f"{name}.py").exists():
                    yield name, path.relative_to(ROOT).as_posix()


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="knows no modules of packages without top_level.txt"
)
@pytest.mark.parametrize(
    "places",
    [
        ["model_analyzer/**/*.py"],
        ["tests/**/*.py", "qa/**/*.py", "tools/*.py", "benchmarks/**/*.py", "conftest.py"],
    ],
    ids=["package", "development"],
)
def test_every_package_that_is_imported_is_declared(places: list[str]) -> None:
    lists = declared()
    is_package = places[0].startswith("model_analyzer")
    names = {
        name
        for key, requirements in lists.items()
        if key in ("dependencies", "dev") or is_package
        for name in requirements
        if not (is_package and key == "dev")
    }
    distributions = packages_distributions()
    # pandas is the user's, who asks for its frames; _typeshed is for checkers only
    known = {"pandas", "_typeshed"} if is_package else set()
    undeclared = {
        f"{name} in {place}"
        for name, place in imported(*places)
        if name not in known
        and not {each.lower().replace("_", "-") for each in distributions.get(name, [name])} & names
    }

    assert undeclared == set()


def test_every_bound_is_given_once() -> None:
    """With a lower limit; the packages of the extras are those that are tested."""
    lists = declared()
    assert {"dependencies", "dev", "pdf", "optuna", "docker", "ray", "remote"} <= lists.keys()
    bounds: dict[str, set[str]] = {}
    for requirements in lists.values():
        for name, requirement in requirements.items():
            bounds.setdefault(name, set()).add(requirement.partition(";")[0].strip())

    assert {name: texts for name, texts in bounds.items() if len(texts) > 1} == {}
    assert [texts for texts in bounds.values() if ">=" not in "".join(texts)] == []
    extras = {name for key, names in lists.items() if key != "dependencies" for name in names}
    assert extras <= lists["dev"].keys()
