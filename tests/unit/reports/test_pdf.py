# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reports on paper: they can be made, and without the extra that is told."""

from __future__ import annotations

import sys

import pytest

from model_analyzer.errors import OutputError
from model_analyzer.reports import pdf
from model_analyzer.reports.build import build_detail
from model_analyzer.reports.libraries import imported
from tests.drawn import NOT_DRAWN, images
from tests.phrases import BEST_FOR_EACH_VALUE
from tests.unit.builders import failure, measurement, origin, ranking, record, summary_page, variant


def test_without_its_library_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)

    with pytest.raises(OutputError, match=r"pip install weasyprint") as raised:
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

    for page in (
        pdf.paper_of_summary(summary, images().svg(summary.charts, "m")),
        pdf.paper_of_detail(detail, images().svg(detail.charts, "m")),
    ):
        document = images().pdf(page, "a test").content
        assert document is not None
        assert document.startswith(b"%PDF-")


def test_paper_has_the_best_for_each_value_and_the_method() -> None:
    ranked = ranking(
        record(variant("m_config_0", max_batch_size=4), measurement(100, 6.5, requests=400)),
        record(variant("m_config_1", max_batch_size=8), measurement(250, 6.5, requests=900)),
    )
    summary = summary_page(ranked)

    page = pdf.paper_of_summary(summary, NOT_DRAWN)

    assert f"<h2>{BEST_FOR_EACH_VALUE}</h2>" in page
    assert "<h3>Max batch size</h3>" in page
    assert "<dt>Requests per p99 value</dt>" in page


def test_paper_has_the_map_and_the_difference_in_colour() -> None:
    ranked = ranking(
        record(variant("m_config_0", max_batch_size=4), measurement(100, 6.5, requests=400)),
        record(variant("m_config_1", max_batch_size=8), measurement(250, 6.5, requests=900)),
    )
    page = pdf.paper_of_summary(summary_page(ranked, difference="@@ -1 +1 @@\n-a\n+b"), NOT_DRAWN)
    assert "<b>250</b><br>Concurrency 1<br>from 900 requests" in page
    for style, line in (("at", "@@ -1 +1 @@"), ("cut", "-a"), ("add", "+b")):
        assert f'<span class="{style}">{line}</span>' in page


def test_paper_has_some_of_very_many_measurements_and_says_so() -> None:
    best = variant("m_config_0", max_batch_size=4)
    ranked = ranking(
        *(record(best, measurement(100, load), concurrency=load) for load in range(1, 2001))
    )
    detail = build_detail(ranked.results[0], goal=ranked.goal, origin=origin(), configuration="")

    page = pdf.paper_of_detail(detail, NOT_DRAWN)

    assert "500 of 2000 measurements" in page
    assert len(detail.table.rows) == 2000
    assert page.count("<tr>") < 520
