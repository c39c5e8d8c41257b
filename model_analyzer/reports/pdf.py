# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Renders reports as PDF, from a layout for paper: the page for browsers draws itself there."""

from __future__ import annotations

from typing import Any

from model_analyzer.errors import OutputError
from model_analyzer.reports.build import Detail, Summary
from model_analyzer.reports.templating import render


def render_summary(report: Summary) -> bytes:
    """The answer for a model. Raises OutputError where weasyprint is not installed."""
    return _printed(
        "print_summary.html.j2", report=report, title="Result summary", subject=report.model
    )


def render_detail(report: Detail) -> bytes:
    """Everything about a variant. Raises OutputError where weasyprint is not installed."""
    return _printed(
        "print_detailed.html.j2", report=report, title="Detailed report", subject=report.variant
    )


def library() -> Any:
    """The library that makes PDF. Raises OutputError where weasyprint is not installed."""
    try:
        import weasyprint  # at the moment of use: it is an extra, and heavy
    except (ImportError, OSError) as error:
        raise OutputError(
            "output format pdf needs the package weasyprint: pip install weasyprint"
            f" ({_line(error)})"
        ) from error
    return weasyprint


def _printed(template: str, **values: Any) -> bytes:
    page = render(template, **values)
    document: bytes = library().HTML(string=page, url_fetcher=_nothing).write_pdf()
    return document


def _nothing(url: str) -> Any:
    """A report needs nothing from anywhere, whatever a name in it looks like."""
    raise ValueError(f"not fetched: {url}")


def _line(error: Exception) -> str:
    """What is missing: it may be a library of the system, told in many lines."""
    return str(error).strip().splitlines()[0]
