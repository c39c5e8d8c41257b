# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reports as HTML: self-contained, and whatever a name holds is text. On paper: they can be made,
and without the extra that is told.

Reports as Markdown: the answer, and whatever a name holds is text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import zlib
from html.parser import HTMLParser

import pytest

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Notice, NoticeKind
from model_analyzer.errors import OutputError
from model_analyzer.reports.build import ReportOrigin, build_detail
from model_analyzer.reports.html import on_paper
from model_analyzer.reports.libraries import imported
from model_analyzer.reports.markdown import (
    escaped,
    fenced,
    markdown_table,
    render_detail,
    render_summary,
)
from model_analyzer.reports.renderer import Picture
from model_analyzer.reports.tables import Table
from tests.drawn import NOT_DRAWN, images, page_of
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

EVIL = "<script>alert(1)</script>"
QUOTES = "\"'><img src=http://evil.example/x onerror=alert(1)>"
VOID = {"meta", "br", "img", "link", "input", "hr"}


class Page(HTMLParser):
    """What a browser would see: elements, attributes, and texts by where they stand."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[tuple[str, str]] = []
        self.unclosed: list[str] = []
        self.feed(text.replace("<wbr>", ""))  # it interrupts no text
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.unclosed.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.unclosed.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.unclosed.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(("/".join(self.unclosed), data))

    def text(self, inside: str = "") -> str:
        """All text, or that inside elements of one kind."""
        return "\n".join(
            data for path, data in self.texts if not inside or inside in path.split("/")
        )


def report_on(name: str) -> tuple[Page, Page]:
    """Summary and detail where everything that a user can name is called `name`."""
    default = variant(f"{name}_config_default", model=name, backend=name)
    best = variant(f"{name}_config_0", model=name, max_batch_size=4, backend=name)
    notice = Notice(kind=NoticeKind.UNSTABLE, text=f"unstable {name}")
    ranked = ranking(
        record(default, measurement(100.5, 5.5)),
        record(
            best,
            measurement(
                200.5, 6.5, perf_server_queue=1.5, notices=[notice], commands=[f"perf -m {name}"]
            ),
        ),
        record(best, measurement(150.5, 3.5), concurrency=4),
        record(best, failure(f"failed {name}", hint=f"mend {name}"), concurrency=2),
        by=goal(*at_most(perf_latency_p99=10)),
        model=name,
    )
    where = ReportOrigin(
        host={f"host {name}": f"value {name}"},
        devices=[Device(uuid="GPU-0", name=f"gpu {name}", memory=16_000)],
        written=f"written {name}",
        checkpoint=f"/checkpoint/{name}",
    )
    summary = summary_page(ranked, where=where, difference=f"+backend: {name}", complete=False)
    detail = build_detail(
        ranked.results[0],
        goal=ranked.goal,
        origin=where,
        configuration=f'name: "{name}"',
        plots=(),
        offline=False,
    )
    return Page(page_of(summary)), Page(page_of(detail))


@pytest.fixture(scope="module")
def evil() -> tuple[Page, Page]:
    return report_on(EVIL)


@pytest.fixture(scope="module")
def quotes() -> tuple[Page, Page]:
    return report_on(QUOTES)


def test_a_script_in_a_name_is_no_script_on_the_page(evil: tuple[Page, Page]) -> None:
    for page in evil:
        assert page.elements.count("script") == 6  # four of data, and our own two
        assert not [name for tag, name, _ in page.attributes if tag == "script" and name != "type"
                    and name != "id"]  # fmt: skip
        assert page.unclosed == []


def test_data_in_the_page_cannot_end_its_element(evil: tuple[Page, Page]) -> None:
    for page in evil:
        data = [text for path, text in page.texts if path.endswith("script") and '"specs"' in text]
        assert len(data) == 1
        assert "<" not in data[0]
        assert EVIL in json.dumps(json.loads(data[0]))


def test_the_name_is_shown_as_text_on_the_page_and_inside_the_chart(
    evil: tuple[Page, Page],
) -> None:
    summary, detail = evil
    for inside in ("h1", "title", "p", "td", "li", "pre", "dt", "dd", "svg"):
        assert EVIL in summary.text(inside), inside
    for inside in ("h1", "title", "p", "pre", "dt", "dd", "svg", "figcaption"):
        assert EVIL in detail.text(inside), inside


def test_quotes_in_a_name_add_neither_elements_nor_handlers(quotes: tuple[Page, Page]) -> None:
    for page in quotes:
        assert "img" not in page.elements
        assert not [name for _, name, _ in page.attributes if name.startswith("on")]
        assert QUOTES in page.text("h1")


def test_nothing_is_loaded_from_elsewhere(
    evil: tuple[Page, Page], quotes: tuple[Page, Page]
) -> None:
    for page in (*evil, *quotes):
        loads = {"src", "srcset", "href", "xlink:href", "action", "data", "poster"}
        loaded = [value for _, name, value in page.attributes if name in loads]
        assert not [value for value in loaded if re.match(r"\s*(https?:)?//", value)]
        styles = [page.text("style"), *(v for _, name, v in page.attributes if name == "style")]
        assert not any(re.search(r"@import|url\(\s*['\"]?\s*(https?:)?//", css) for css in styles)
        assert not {"link", "iframe", "object", "embed", "base", "form"} & set(page.elements)


def test_the_page_itself_forbids_loading_and_all_scripts_but_its_own(
    evil: tuple[Page, Page],
) -> None:
    for page in evil:
        (policy,) = [value for tag, name, value in page.attributes
                     if tag == "meta" and name == "content" and "default-src" in value]  # fmt: skip
        assert "default-src 'none'" in policy
        assert "unsafe-eval" not in policy
        (allowed,) = re.findall("script-src ([^;]*);", policy)
        _, packed, script = [text for path, text in page.texts
                          if path == "html/body/script" and not text.startswith("{")]  # fmt: skip
        assert len(packed) < 450_000  # most of a page
        library = zlib.decompress(base64.b64decode(packed))
        assert allowed.split() == [
            f"'sha256-{base64.b64encode(hashlib.sha256(text).digest()).decode()}'"
            for text in (script.encode(), library)
        ]


# ------------------------------------------------------------------------------- what it shows

DEFAULT = variant("m_config_default", backend="python")
BEST = variant("m_config_0", backend="python", max_batch_size=4)


@pytest.fixture(scope="module")
def plain() -> tuple[Page, Page]:
    ranked = ranking(
        record(DEFAULT, measurement(100.5, 5.5)),
        record(
            BEST,
            measurement(200.5, 6.5, perf_server_queue=1.5, commands=["perf_analyzer -m m -b 1"]),
        ),
        record(BEST, failure("the model ran out of memory", hint="use less"), concurrency=64),
    )
    summary = summary_page(
        ranked,
        best=1,
        where=origin("NVIDIA H200", System="Linux 6.1"),
        difference="-max_batch_size: 1\n+max_batch_size: 4",
    )
    detail = build_detail(
        ranked.results[0],
        goal=ranked.goal,
        origin=origin(),
        configuration='name: "m"\nbackend: "python"',
        plots=(),
        offline=False,
    )
    return Page(page_of(summary)), Page(page_of(detail))


def test_the_detail_shows_configuration_commands_and_no_curve_of_one_point(
    plain: tuple[Page, Page],
) -> None:
    _, detail = plain
    assert 'name: "m"\nbackend: "python"' in detail.text("pre")
    assert "perf_analyzer -m m -b 1" in detail.text("pre")
    assert detail.elements.count("svg") == 1  # the breakdown
    assert "Concurrency" in detail.text("th")
    assert "Configuration" not in detail.text("th")  # it is the same in each row


def test_a_summary_of_nothing_is_a_page_too() -> None:
    page = Page(page_of(summary_page(ranking())))
    assert "Nothing was measured of m." in page.text("p")
    assert "svg" not in page.elements
    assert "table" not in page.elements


def test_a_cell_is_marked_by_its_meaning_and_not_by_its_text() -> None:
    page, _ = report_on("missed by a hair")

    assert ("td", "class", "met") in page.attributes
    assert ("td", "class", "missed") not in page.attributes


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
