# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Renders reports as HTML: one self-contained file each, everything escaped.

A page has each chart twice: as a static image, for print and without scripts, and as an
interactive chart. Its security policy allows its own scripts, by their hashes, and nothing else.
The library of the charts is compressed: a page unpacks it by itself. PDF is the same page on paper,
without scripts.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import markupsafe

from model_analyzer.reports.breakdown import SERVER_TIMES, latency_charts
from model_analyzer.reports.build import Detail, Page, setup_rows
from model_analyzer.reports.images import Drawings
from model_analyzer.reports.plots import Chart, chart_config
from model_analyzer.reports.templating import render
from model_analyzer.results.answer import SAFE_CHANCE
from model_analyzer.results.ranking import RANKING_RULES

_STATIC = Path(__file__).with_name("static")
_LIBRARY = "vega.js"
_SCRIPTS = (
    "dom.js", "hash.js", "theme.js", "tip.js", "charts.js", "measurements.js", "alternatives.js",
    "ordering.js", "table.js", "downloads.js", "ranking.js", "budget.js", "chosen.js", "actions.js",
    "report.js", "map.js",
)  # fmt: skip

# Limits of rows: measurements where scripts do not run (in summaries, and in detailed reports),
# and failures.
_MOST_ROWS = 25
_MOST_ROWS_OF_VARIANT = 500
_MOST_FAILURES = 50


def render_summary(report: Page, drawings: Drawings) -> str:
    """The summary page of a model."""
    budgets = [part.budget and asdict(part.budget) for part in report.parts]
    alternatives = [asdict(part.alternatives) for part in report.parts]
    return _render(report, drawings, {"budgets": budgets}, alternatives)


def render_detail(report: Detail, drawings: Drawings) -> str:
    """The page of a detailed report."""
    return _render(report, drawings, {"budgets": []})


def on_paper(report: Page | Detail, drawings: Drawings) -> str:
    """The same page to be printed: without scripts and what is only for them."""
    return render_page(_template(report), (), has_charts=False, **_content(report, drawings))


def render_page(
    template: str, scripts: tuple[str, ...], *, has_charts: bool = True, **values: Any
) -> str:
    """A page of a template, with its style, the library of its charts, the `scripts` (names of
    files in `static`) joined into one, and the policy that allows these alone.
    """
    script = _joined(scripts)
    return render(
        template,
        policy=_policy((script, _joined((_LIBRARY,))) if has_charts else (script,)),
        style=markupsafe.Markup((_STATIC / "report.css").read_text(encoding="utf-8")),
        library=_packed(_LIBRARY) if has_charts else "",
        script=markupsafe.Markup(script),
        **values,
    )


def charts_data(
    charts: Iterable[Chart], empty: Mapping[str, Any] = MappingProxyType({})
) -> markupsafe.Markup:
    """The charts that a script draws, with their styles for light and dark pages; and those, by
    key, that are `empty` until it fills them.
    """
    configs = {"light": chart_config(), "dark": chart_config(dark=True)}
    specs = {chart.key: chart.spec for chart in charts if chart.has_data} | dict(empty)
    return _as_data(json.dumps({"configs": configs, "specs": specs}, separators=(",", ":")))


def _template(report: Page | Detail) -> str:
    return "summary.html.j2" if isinstance(report, Page) else "detailed.html.j2"


def _content(report: Page | Detail, drawings: Drawings) -> Mapping[str, Any]:
    """What a page shows without scripts."""
    most = _MOST_ROWS if isinstance(report, Page) else _MOST_ROWS_OF_VARIANT
    first = report.explorer.first(most)
    return {
        "report": report, "setup": [*setup_rows(report)], "drawings": drawings, "first": first,
        "most_failures": _MOST_FAILURES,
    }  # fmt: skip


def _render(
    report: Page | Detail,
    drawings: Drawings,
    instruments: Mapping[str, Any],
    alternatives: Sequence[Any] = (),
) -> str:
    """The page; `instruments` is the data of its scripts besides charts and measurements, and
    `alternatives` what is needed only when a reader asks: it is compressed.
    """
    times = SERVER_TIMES if report.explorer.times_add_up else ()
    return render_page(
        _template(report),
        _SCRIPTS,
        **_content(report, drawings),
        charts=charts_data(report.charts, latency_charts()),
        rows=_as_data(report.explorer.to_json()),
        alternatives=_compressed(json.dumps(alternatives, separators=(",", ":")).encode()),
        instruments=_as_data(
            json.dumps(
                {**instruments, "rules": {**RANKING_RULES, "SURE": SAFE_CHANCE}, "times": times},
                separators=(",", ":"),
            )
        ),
    )


@lru_cache(maxsize=4)
def _joined(names: tuple[str, ...]) -> str:
    return "".join((_STATIC / name).read_text(encoding="utf-8") for name in names)


@lru_cache(maxsize=1)
def _packed(name: str) -> str:
    """A file, compressed."""
    return _compressed((_STATIC / name).read_bytes())


def _compressed(content: bytes) -> str:
    """Bytes, compressed (zlib) and as text (base64)."""
    return base64.b64encode(zlib.compress(content, level=9)).decode()


@lru_cache(maxsize=4)
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
