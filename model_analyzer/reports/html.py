# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Renders reports as HTML: one self-contained file each, everything escaped.

A page has each chart twice: as a static image, for print and without scripts, and as an
interactive chart. Its security policy allows its own scripts, by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from pathlib import Path

import markupsafe

from model_analyzer.reports.build import Detail, Page
from model_analyzer.reports.images import Drawings
from model_analyzer.reports.plots import chart_config
from model_analyzer.reports.tables import Table
from model_analyzer.reports.templating import render

_STATIC = Path(__file__).with_name("static")
_SCRIPTS = ("vega.js", "report.js")

# Limits of rows: measurements where scripts do not run (in summaries, and in detailed reports),
# and failures.
_MOST_ROWS = 25
_MOST_ROWS_OF_VARIANT = 500
_MOST_FAILURES = 50


def render_summary(report: Page, drawings: Drawings) -> str:
    """The summary page of a model."""
    first = report.explorer.first(_MOST_ROWS)
    return _render("summary.html.j2", report, drawings, first)


def render_detail(report: Detail, drawings: Drawings) -> str:
    """The page of a detailed report."""
    first = report.explorer.first(_MOST_ROWS_OF_VARIANT)
    return _render("detailed.html.j2", report, drawings, first)


def _render(template: str, report: Page | Detail, drawings: Drawings, first: Table) -> str:
    configs = {"light": chart_config(), "dark": chart_config(dark=True)}
    specs = {chart.key: chart.spec for chart in report.charts if chart.has_data}
    scripts = _scripts()
    return render(
        template,
        report=report,
        drawings=drawings,
        first=first,
        most_failures=_MOST_FAILURES,
        policy=_policy(scripts),
        style=markupsafe.Markup((_STATIC / "report.css").read_text(encoding="utf-8")),
        charts=_as_data(json.dumps({"configs": configs, "specs": specs}, separators=(",", ":"))),
        rows=_as_data(report.explorer.to_json()),
        scripts=[markupsafe.Markup(script) for script in scripts],
    )


@lru_cache(maxsize=1)
def _scripts() -> tuple[str, ...]:
    return tuple((_STATIC / name).read_text(encoding="utf-8") for name in _SCRIPTS)


@lru_cache(maxsize=1)
def _policy(scripts: tuple[str, ...]) -> str:
    """A Content-Security-Policy that allows these scripts and styles, and no network access."""
    hashes = [
        base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts
    ]
    allowed = " ".join(f"'sha256-{digest}'" for digest in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"


def _as_data(text: str) -> markupsafe.Markup:
    """JSON for a script element, escaped so that nothing in it is read as markup."""
    return markupsafe.Markup(text.replace("<", "\\u003c"))
