# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reports on paper: they can be made, and without the extra that is told."""

from __future__ import annotations

import sys

import pytest

from model_analyzer.errors import OutputError
from model_analyzer.reports.build import build_detail
from model_analyzer.reports.html import on_paper
from model_analyzer.reports.libraries import imported
from tests.drawn import images
from tests.unit.builders import failure, measurement, origin, ranking, record, summary_page, variant


def test_without_its_library_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)

    with pytest.raises(OutputError, match="pip install .weasyprint>=") as raised:
        imported("pdf", "weasyprint")
    assert "\n" not in str(raised.value)


def test_both_reports_can_be_printed_for_any_name() -> None:
    try:
        imported("pdf", "weasyprint")
    except OutputError as error:
        pytest.skip(str(error))
    evil = '<img src="http://evil.example/x">'
    best = variant(f"{evil}_config_0", model=evil)
    ranked = ranking(
        record(best, measurement(200.5, 6.5)),
        record(best, failure(evil), concurrency=2),
        model=evil,
    )

    summary = summary_page(ranked, difference=evil, complete=False)
    detail = build_detail(ranked.results[0], goal=ranked.goal, origin=origin(), configuration=evil)

    for report in (summary, detail):
        page = on_paper(report, images().svg(report.charts, "m"))
        document = images().pdf(page, "a test").content
        assert document is not None
        assert document.startswith(b"%PDF-")
