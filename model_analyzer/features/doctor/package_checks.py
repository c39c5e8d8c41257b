# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Packages that Python models import: whether their interpreter has them."""

from __future__ import annotations

import ast
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.models import ModelFacts
from model_analyzer.features.doctor.findings import Finding, ok, problem
from model_analyzer.reading import read_regular
from model_analyzer.runner.process import run
from model_analyzer.runner.runtime import INSTALL, Program
from model_analyzer.runner.server.log import package_of
from model_analyzer.runner.wheels import isolated

_LOOK_S = 30.0
_MOST_SOURCE_BYTES = 4 * 2**20

# Modules that the backend provides.
_GIVEN = frozenset({"triton_python_backend_utils", "c_python_backend_utils"})

# The parameter of models with their own Python.
_OWN_PYTHON = "EXECUTION_ENV_PATH"

_PROBE = """
import importlib.util, json, sys
def is_there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
print(json.dumps([name for name in json.loads(sys.argv[1]) if not is_there(name)]))
"""


def imported(source: str) -> frozenset[str]:
    """The top-level modules that this source needs. Empty if it cannot be parsed.

    It does not need modules that it imports inside functions or in a `try`.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return frozenset()
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names)


def check_packages(
    repository: Path, models: Sequence[ModelFacts], server: Program
) -> Iterator[Finding]:
    """Whether the modules that Python models import are installed."""
    python = shutil.which("python3", path=server.environment.get("PATH"))
    needed = {facts.name: _needed(repository / facts.name, facts) for facts in models}
    names = frozenset[str]().union(*needed.values())
    if python is None or not names:
        return
    missing = _missing(python, names, server.environment)
    yield from judge_packages(needed, missing, python)


def _needed(directory: Path, facts: ModelFacts) -> frozenset[str]:
    if facts.config.get("backend") != "python" or _OWN_PYTHON in facts.config.get("parameters", {}):
        return frozenset()
    file = facts.config.get("default_model_filename") or "model.py"
    names: frozenset[str] = frozenset()
    for path in sorted(directory.glob(f"[0-9]*/{file}")):
        entries = path.parent.iterdir()
        beside = {entry.stem if entry.is_file() else entry.name for entry in entries}
        try:
            source = read_regular(path, most_bytes=_MOST_SOURCE_BYTES).decode("utf-8")
            names |= imported(source) - beside - _GIVEN
        except (OSError, UnicodeDecodeError):
            continue  # the check of the repository reports unreadable files
    return names


def _missing(
    python: str, names: frozenset[str], environment: Mapping[str, str]
) -> frozenset[str] | None:
    """The modules that this Python does not have; None if it does not start."""
    # isolated like the Python of the models: without PYTHONPATH and the user's packages
    command = isolated(python, "-c", _PROBE, json.dumps(sorted(names)))
    status, output = run(command, environment=environment, timeout_s=_LOOK_S)
    try:
        return frozenset(parse_json(output.splitlines()[-1])) if status == 0 else None
    except (ValueError, TypeError, IndexError):
        return None


def judge_packages(
    needed: Mapping[str, frozenset[str]], missing: frozenset[str] | None, python: str
) -> Iterator[Finding]:
    """`needed` are the modules of each model; `missing` are those that are not installed."""
    if missing is None:
        yield problem(
            "packages of the models",
            f"{python} does not start",
            f"`{python} -V` says why; `{INSTALL}` installs another Python for the models",
        )
        return
    lacking = {model: names & missing for model, names in needed.items() if names & missing}
    for model, names in lacking.items():
        packages = sorted(map(package_of, names))
        flags = " ".join(f"--with {name}" for name in packages)
        yield problem(
            "packages of the models",
            f"model {model} needs {', '.join(sorted(names))}, which {python} does not have",
            f"`model-analyzer runtime install {flags} --unverified`, or install it for that Python",
        )
    if not lacking:
        count = len(frozenset[str]().union(*needed.values()))
        yield ok("packages of the models", f"all {count} imported modules are installed")
