# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reports on paper: they can be made, and without the extra that is told."""

from __future__ import annotations

import sys

import pytest

from model_analyzer.errors import OutputError
from model_analyzer.reports import pdf
from model_analyzer.reports.build import build_detail, build_summary
from tests.unit.builders import failure, measurement, origin, ranking, record, variant


def test_without_its_library_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "weasyprint", None)

    with pytest.raises(OutputError, match=r"pip install 'model-analyzer\[pdf\]'") as raised:
        pdf.library()
    assert "\n" not in str(raised.value)


def test_both_reports_can_be_printed_whatever_a_name_holds() -> None:
    try:
        pdf.library()
    except OutputError as error:
        pytest.skip(str(error))
    evil = '<img src="http://evil.example/x">'
    best = variant(f"{evil}_config_0", model=evil)
    found = ranking(
        record(best, measurement(200.5, 6.5)),
        record(best, failure(evil), concurrency=2),
        model=evil,
    )

    summary = build_summary(found, best=3, origin=origin(), difference=evil, complete=False)
    detail = build_detail(found.results[0], origin=origin(), configuration=evil)

    for document in (pdf.render_summary(summary), pdf.render_detail(detail)):
        assert document.startswith(b"%PDF-")
