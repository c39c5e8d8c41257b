# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Printed pages for PDF. They have their own layout, since HTML pages need a browser."""

from __future__ import annotations

from dataclasses import replace

from model_analyzer.reports.build import Detail, Page
from model_analyzer.reports.images import Drawings
from model_analyzer.reports.plots import evenly
from model_analyzer.reports.templating import render

_MOST_ROWS = 500  # of more, WeasyPrint takes minutes


def paper_of_summary(report: Page, drawings: Drawings) -> str:
    """The summary of a model as a printed page (HTML)."""
    return render(
        "print_summary.html.j2",
        report=report,
        drawings=drawings,
        title="Result summary",
        subject=report.model,
    )


def paper_of_detail(report: Detail, drawings: Drawings) -> str:
    """The detailed report of a variant as a printed page (HTML)."""
    return render(
        "print_detailed.html.j2",
        report=report,
        table=replace(report.table, rows=tuple(evenly(report.table.rows, _MOST_ROWS))),
        drawings=drawings,
        title="Detailed report",
        subject=report.variant,
    )
