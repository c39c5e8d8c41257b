# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer as a picture to share."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from model_analyzer.reports.build import Page
from model_analyzer.reports.images import render_card
from tests.browser.pages import PAGES
from tests.unit.builders import at_most, goal, measurement, ranking, record, summary_page, variant

SUMMARIES = [name for name in PAGES if name != "detail"]


def texts(svg: str) -> list[str]:
    """What the picture says, line by line."""
    return [text.strip() for text in ElementTree.fromstring(svg).itertext() if text.strip()]


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_picture_of_an_answer_says_what_the_page_says_first(name: str) -> None:
    page = PAGES[name]()
    assert isinstance(page, Page)
    for part in page.parts:
        said = texts(render_card(part))
        assert said[0] == part.advice
        assert said[1] in (part.recommended[0] or part.model) or said[1].endswith("…")
        for figure in part.figures[:3]:
            assert figure.value in said
        assert max(map(len, said)) <= 92


def test_names_of_users_are_text_in_a_picture() -> None:
    name = "<b>&" + 60 * "x"
    of = variant(name, instance_group=[{"count": 2}])
    page = summary_page(
        ranking(record(of, measurement(10, 5)), by=goal(*at_most(perf_latency_p99=9)))
    )

    assert texts(render_card(page.parts[0]))[1] == f"{name[:35]}…"
