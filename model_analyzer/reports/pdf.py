# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Pages to be printed as PDF, with a layout for paper: the page for browsers draws itself there."""

from __future__ import annotations

from dataclasses import replace

from model_analyzer.errors import OutputError
from model_analyzer.reports.build import Detail, Summary
from model_analyzer.reports.images import Drawings
from model_analyzer.reports.plots import evenly
from model_analyzer.reports.templating import render

_MOST_ROWS = 500  # of more, WeasyPrint takes minutes


def paper_of_summary(report: Summary, drawings: Drawings) -> str:
    """The answer for a model, as a page to be printed."""
    return render(
        "print_summary.html.j2",
        report=report,
        drawings=drawings,
        title="Result summary",
        subject=report.model,
    )


def paper_of_detail(report: Detail, drawings: Drawings) -> str:
    """Everything about a variant, as a page to be printed."""
    return render(
        "print_detailed.html.j2",
        report=report,
        table=replace(report.table, rows=tuple(evenly(report.table.rows, _MOST_ROWS))),
        drawings=drawings,
        title="Detailed report",
        subject=report.variant,
    )


def check_library() -> None:
    """Makes sure that PDF can be made. Raises OutputError where weasyprint is not installed."""
    try:
        import weasyprint  # noqa: F401  # at the moment of use: it is an extra, and heavy
    except (ImportError, OSError) as error:
        raise OutputError(
            "output format pdf needs the package weasyprint: pip install weasyprint"
            f" ({_line(error)})"
        ) from error


def _line(error: Exception) -> str:
    """What is missing: it may be a library of the system, told in many lines."""
    return str(error).strip().splitlines()[0]
