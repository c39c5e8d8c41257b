# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How findings look at a terminal, and what programs get."""

from __future__ import annotations

import click
import pytest

from model_analyzer.features.doctor.command import lines_of
from model_analyzer.features.doctor.findings import (
    Finding,
    Level,
    document_of,
    ok,
    problem,
    verdict,
)

LONG = problem(
    "packages of the models",
    "model resnet needs torch, torchvision, transformers, which /opt/env/bin/python3 does not have",
    "`model-analyzer runtime install --with torch --with torchvision --with transformers`, or"
    " install it for that Python",
    details=("first line", "second line " * 30, "third line"),
)


def shown(finding: Finding, columns: int = 80, **options: bool) -> list[str]:
    return [click.unstyle(line) for line in lines_of(finding, columns, **options)]


def test_a_finding_fits_80_columns_but_its_commands_stay_whole() -> None:
    lines = shown(LONG)

    assert lines[0].startswith("  problem  packages of the models: model resnet needs torch,")
    command = "`model-analyzer runtime install --with torch --with torchvision --with transformers`"
    assert any(command in line for line in lines)
    assert all(len(line) <= 80 for line in lines if command not in line)


def test_the_last_details_are_told_and_all_if_wanted() -> None:
    text, everything = "\n".join(shown(LONG)), "\n".join(shown(LONG, all_details=True))

    assert "first line" not in text
    assert "…" in text
    assert "third line" in text
    assert "first line" in everything
    assert "…" not in everything


@pytest.mark.parametrize("columns", [10, 40, 200])
def test_no_word_is_lost_on_any_terminal(columns: int) -> None:
    words = " ".join(shown(LONG, columns, all_details=True)).split()

    for text in (LONG.found, LONG.fix):
        assert set(text.split()) <= set(words)


def test_the_verdict_counts() -> None:
    fine, worse, bad = Level

    assert verdict([fine]) == "Everything that a run needs is in place."
    assert verdict([worse]) == "Everything that a run needs is in place; 1 warning."
    assert verdict([bad, worse, worse]) == "1 problem, 2 warnings: a run would fail here."


def test_programs_get_the_same() -> None:
    document = document_of([("Machine", ok("load", "0.1")), ("Storage", LONG)])

    assert document["works"] is False
    assert document["counts"] == {"ok": 1, "warning": 0, "problem": 1}
    assert document["findings"][0] == {
        "subject": "Machine", "check": "load", "level": "ok", "found": "0.1", "fix": None,
        "details": [],
    }  # fmt: skip
    assert document["findings"][1]["details"] == list(LONG.details)
