# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Charts and pages as they are drawn, by one process for all tests: it takes a while to start."""

from __future__ import annotations

import atexit
from collections import defaultdict
from functools import cache

from model_analyzer.reports.build import Detail, Page
from model_analyzer.reports.html import render_detail, render_summary
from model_analyzer.reports.images import Drawings, Images
from model_analyzer.reports.plots import Chart
from model_analyzer.reports.renderer import Picture

# For pages that nobody looks at.
NOT_DRAWN: Drawings = defaultdict(lambda: Picture(None, "not wanted"))


@cache
def images() -> Images:
    made = Images()
    atexit.register(made.__exit__)
    return made.__enter__()


def svg_of(chart: Chart) -> str:
    picture = images().svg([chart], "a test")[chart.key]
    assert picture.content is not None, picture.why
    return picture.content.decode()


def page_of(report: Page | Detail) -> str:
    drawings = images().svg(report.charts, "a test")
    if isinstance(report, Page):
        return render_summary(report, drawings)
    return render_detail(report, drawings)
