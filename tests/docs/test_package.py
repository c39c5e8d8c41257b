# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a wheel has to hold."""

from __future__ import annotations

from pathlib import Path

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
        "model_analyzer/reports/capacity.schema.json",
        "model_analyzer/reports/results.schema.json",
        "model_analyzer/runner/lock/server.txt",
        "model_analyzer/starter/config.yaml",
    } <= set(files_of(ROOT))
