# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""docs/metrics.md defines every metric of the catalogue, and no other."""

from __future__ import annotations

import re

from model_analyzer.domain.metrics import METRICS
from tests.docs.documents import DOCS

_HEADER = ["Metric", "Unit", "Better", "Definition", "Source"]


def rows() -> list[list[str]]:
    """The rows of all tables that define metrics."""
    lines = (DOCS / "metrics.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    is_definition = False
    definitions = []
    for line, row in zip(lines, cells, strict=True):
        if not line.startswith("|"):
            is_definition = False
        elif row == _HEADER:
            is_definition = True
        elif is_definition and not row[0].startswith("---"):
            definitions.append(row)
    return definitions


def tags(row: list[str]) -> list[str]:
    return re.findall(r"`([^`]+)`", row[0])


def test_every_metric_is_defined_once_and_no_other() -> None:
    assert sorted(tag for row in rows() for tag in tags(row)) == sorted(METRICS)


def test_units_and_directions_are_those_of_the_catalogue() -> None:
    for row in rows():
        metrics = [METRICS[tag] for tag in tags(row)]
        assert {str(metric.unit) for metric in metrics} == {row[1]}, row
        assert {metric.better.value for metric in metrics} == {row[2]}, row


def test_every_definition_has_a_formula_and_a_source() -> None:
    assert all(len(row) == len(_HEADER) and row[3] and row[4] for row in rows())
