# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reports as Markdown: the answer, and whatever a name holds is text."""

from __future__ import annotations

import re

from model_analyzer.domain.measurements import Notice, NoticeKind
from model_analyzer.reports.build import build_detail
from model_analyzer.reports.markdown import (
    escaped,
    fenced,
    markdown_table,
    render_detail,
    render_summary,
)
from model_analyzer.reports.renderer import Picture
from model_analyzer.reports.tables import Table
from tests.drawn import NOT_DRAWN
from tests.unit.builders import (
    at_most,
    failure,
    goal,
    measurement,
    origin,
    ranking,
    record,
    summary_page,
    variant,
)

DEFAULT = variant("m_config_default", backend="python")
BEST = variant("m_config_0", max_batch_size=4, backend="python")


def summary(name: str = "m", *, complete: bool = True) -> str:
    notice = Notice(kind=NoticeKind.UNSTABLE, text=f"unstable {name}")
    ranked = ranking(
        record(DEFAULT, measurement(100.5, 5.5)),
        record(BEST, measurement(200.5, 6.5, notices=[notice])),
        record(DEFAULT, failure(f"failed {name}", hint="mend it"), concurrency=2),
        by=goal(*at_most(perf_latency_p99=10)),
    )
    where = origin("H200", CPU="16 cores")
    return render_summary(
        summary_page(ranked, where=where, difference=f"-a\n+{name}", complete=complete), NOT_DRAWN
    )


def test_failures_without_hints_have_no_column_for_them() -> None:
    found = ranking(
        record(BEST, measurement(1, 1)), record(BEST, failure("no", hint=""), concurrency=2)
    )
    assert "| Trial | What happened |\n" in render_summary(summary_page(found), {})


def test_names_are_text() -> None:
    evil = "<script>|`**x**\n# y```"
    text = summary(evil)
    outside = "".join(text.split("````")[::2])
    assert "<script>" not in outside
    assert "\n# y" not in outside
    assert "\\|" in outside
    assert "````diff\n-a\n+<script>|`**x**\n# y```\n````" in text


def test_a_detailed_report_has_measurements_configuration_and_command() -> None:
    records = [
        record(BEST, measurement(float(n), 1.5, commands=[f"perf -c {n}"]), concurrency=n)
        for n in range(1, 121)
    ]
    ranked = ranking(*records)
    text = render_detail(
        build_detail(
            ranked.results[0], goal=ranked.goal, origin=origin(), configuration='name: "m"'
        ),
        NOT_DRAWN,
    )
    assert text.startswith("# Detailed report: m\\_config\\_0\n")
    assert len(re.findall(r"\n\| concurrency \d+", text)) == 100
    assert "… and 20 more." in text
    assert '```\nname: "m"\n```' in text
    assert "```sh\nperf -c 120\n```" in text


def test_charts_are_images_beside_it_and_only_those_that_were_drawn() -> None:
    page = summary_page(
        ranking(
            record(DEFAULT, measurement(100, 5)),
            record(BEST, measurement(200, 9), concurrency=2),
            record(BEST, measurement(150, 7)),
        )
    )
    drawn = {chart.key: Picture(b"<svg/>") for chart in page.charts if chart.has_data}
    assert set(drawn) == {
        "throughput_v_latency", "throughput_v_concurrency", "latency_v_concurrency",
    }  # fmt: skip
    drawn["latency_v_concurrency"] = Picture(None, "out of memory")
    images = re.findall(r"!\[(.*)\]\(<(.*)>\)", render_summary(page, drawn))
    assert images == [
        ("Throughput vs. Latency of 3 measurements", "throughput_v_latency.svg"),
        ("Throughput vs. Concurrency", "throughput_v_concurrency.svg"),
    ]
    assert "## Charts" not in render_summary(page, NOT_DRAWN)


def test_tables_align_numbers_and_show_missing_values() -> None:
    table = Table(headers=("Name", "Value"), rows=(("a|b", 1.5), (None, None)))
    assert markdown_table(table) == [
        "| Name | Value |",
        "| --- | ---: |",
        "| a\\|b | 1.50 |",
        "| - | - |",
    ]
    assert escaped("a\n  <b> [c](d) & @e") == "a &lt;b> \\[c\\](d) &amp; \\@e"
    assert fenced("x````y")[0] == "`````"
