# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reports in a browser: what they say, what they do, for everybody, on any screen."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from model_analyzer.domain.words import number_text
from model_analyzer.features.compare.comparison_page import render_comparison
from model_analyzer.reports.write import ExportDirectory
from tests.browser.conftest import Opened
from tests.browser.pages import PAGES, detail, hostile, met, of_kinds, records, summary
from tests.drawn import NOT_DRAWN, page_of
from tests.features.compare.test_comparison import page_of as comparison_of
from tests.phrases import FAILED_TRIALS
from tests.unit.builders import ranking, record, summary_page, variant

Open = Callable[..., Page]


def draw_all(page: Page) -> None:
    """Scrolls through the page until all charts are drawn by the script."""
    unfold(page)
    page.evaluate(
        """async () => {
          for (const figure of document.querySelectorAll("figure[data-chart]")) {
            figure.scrollIntoView();
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
          }
        }"""
    )
    page.wait_for_function(
        "[...document.querySelectorAll('figure[data-chart]')]"
        ".every(one => one.querySelector('.live svg'))"
    )


def unfold(page: Page) -> None:
    """Opens all parts that are folded."""
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")


def violations(page: Page) -> list[tuple[str, list[str]]]:
    """Accessibility violations, with what has them."""
    # charts are drawings, with their words in captions and their numbers in tables
    context = {"exclude": [".live", ".static"]}
    options = {"resultTypes": ["violations"]}
    violated: list[dict[str, Any]] = Axe().run(page, context, options).response["violations"]
    return [
        (violation["id"], [node["html"] for node in violation["nodes"]]) for violation in violated
    ]


def widths(page: Page) -> tuple[int, int]:
    """Those of the content and of the window."""
    sizes: list[int] = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    return sizes[0], sizes[1]


# The others are built of the same parts.
OFTEN = {"met", "none-feasible", "failures", "tokens", "detail", "offline", "ensemble"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in OFTEN else pytest.mark.slow) for name in PAGES]
)
def test_every_page_fits_a_phone(open_report: Open, name: str) -> None:
    page = open_report(name, viewport={"width": 390, "height": 844})
    draw_all(page)
    content, window = widths(page)
    assert content <= window


@pytest.mark.parametrize("name", ["met", "kinds", "failures", "detail", "several-models"])
def test_pages_are_accessible(open_report: Open, name: str) -> None:
    page = open_report(name)
    assert violations(page) == []
    unfold(page)
    assert violations(page) == []


def test_the_page_of_a_comparison_is_accessible(
    open_file: Callable[..., Opened], tmp_path: Path
) -> None:
    path = tmp_path / "comparison.html"
    pair = (ranking(*records()), ranking(*records(speed=0.9)))
    path.write_text(render_comparison(comparison_of(pair, rule="perf_throughput<-3%"), NOT_DRAWN))
    page = open_file(path).page
    unfold(page)
    assert violations(page) == []


# ---------------------------------------------------------------------------------- the answer


def test_the_answer_is_at_the_top(open_report: Open) -> None:
    answer = open_report("met").get_by_label("Recommendation")
    expect(answer).to_contain_text("Deploy this configuration")
    expect(answer.locator(".name")).to_have_text("m_config_5")
    expect(answer).to_contain_text("Gain over the default")
    expect(answer.get_by_label("Constraints")).to_contain_text("✓ met")
    assert answer.evaluate("one => one.getBoundingClientRect().bottom < innerHeight")


def colour(page: Page) -> str:
    style: str = page.get_by_label("Recommendation").evaluate(
        "section => getComputedStyle(section).borderLeftColor"
    )
    return style


def test_the_answer_is_green_only_if_the_constraints_are_met(open_report: Open) -> None:
    green = colour(open_report("met"))
    page = open_report("none-feasible")
    expect(page.get_by_label("Recommendation")).to_contain_text(
        "No configuration meets the constraints"
    )
    expect(page.get_by_label("Constraints", exact=True)).to_contain_text("missed by")
    assert colour(page) != green
    assert colour(open_report("nothing")) not in (green, colour(page))


def test_a_run_that_ended_early_or_failed_in_part_says_so(open_report: Open) -> None:
    page = open_report("failures")
    expect(page.get_by_text("Not certain: the search is not complete")).to_be_visible()
    page.get_by_text("2 remarks").click()
    expect(page.get_by_text("ended before the search was complete")).to_be_visible()
    page.get_by_role("link", name="what happened").click()
    expect(page.get_by_role("heading", name=FAILED_TRIALS)).to_be_in_viewport()


def test_tokens_come_first(open_report: Open) -> None:
    page = open_report("tokens")
    expect(page.locator(".figures dt").first).to_have_text("Output Token Throughput")
    expect(page.locator("figcaption").first).to_contain_text("Token Throughput")


# ------------------------------------------------------------------------------------- the map


def test_the_map_of_the_search_has_a_menu_of_parameters(open_report: Open) -> None:
    page = open_report("met")
    page.get_by_role("link", name="Map of the search").click()
    grid = page.get_by_role("table", name="Instances by max batch size", exact=True)
    expect(grid.get_by_role("cell", name="Recommended: 1,327")).to_be_visible()
    expect(grid.get_by_role("cell", name="not measured")).to_have_count(2)
    expect(grid.get_by_role("rowheader")).to_have_text(["1", "2", "3"])
    page.get_by_label("Parameters").select_option("Instances by dynamic batching")
    expect(grid).to_be_hidden()
    other = page.get_by_role("table", name="Instances by dynamic batching", exact=True)
    expect(other.get_by_role("columnheader", name="off")).to_be_visible()


def test_without_scripts_the_map_of_the_search_is_there(open_report: Open) -> None:
    page = open_report("kinds", java_script_enabled=False)
    for each in page.locator("summary", has_text="Map of the search").all():
        each.click()
    expect(page.locator("table.grid:visible")).to_have_count(2)
    expect(page.locator("select.map-pair").first).to_be_hidden()


# ---------------------------------------------------------------------------------- the charts

# the points of the default configuration
MARKS = "figure[data-chart='{chart}'] .live .role-mark path[fill='#8a8a8a']"


def test_pointing_at_a_measurement_shows_it_and_a_click_keeps_it(open_report: Open) -> None:
    page = open_report("met")
    draw_all(page)
    mark = page.locator(MARKS.format(chart="throughput_v_latency")).last
    mark.scroll_into_view_if_needed()
    mark.hover(force=True)
    expect(page.locator("#tip")).to_be_visible()
    expect(page.locator("#tip")).to_contain_text("m_config_default")
    mark.click(force=True)
    card = page.get_by_role("complementary")
    expect(card).to_contain_text("m_config_default")
    expect(card).to_contain_text("p99 Latency (ms)")
    page.mouse.move(2, 2)
    expect(page.locator("#tip")).to_be_hidden()
    expect(card).to_be_visible()
    card.get_by_role("button", name="Show in table").click()
    expect(page.get_by_role("status")).to_contain_text("1 to 5 of 5 (35 in total)")
    page.keyboard.press("Escape")
    expect(card).to_be_hidden()


def test_a_measurement_is_compared_with_the_best_on_the_same_hardware(open_report: Open) -> None:
    page = open_report("kinds")
    draw_all(page)
    page.locator(MARKS.format(chart="2-x-NVIDIA-L4/throughput_v_latency")).last.click(force=True)
    card = page.get_by_role("complementary")
    expect(card).to_contain_text("2 x NVIDIA L4")
    value = r"Throughput \(infer/sec\)\s+([\d,]+) ± [\d,]+ \(-(\d+) %\)"
    shown = re.search(value, card.inner_text())
    assert shown is not None
    best = of_kinds()[1].results[0].best.measurement.totals["perf_throughput"]
    rounded = 100 * (1 - int(shown[1].replace(",", "")) / best)
    assert int(shown[2]) == pytest.approx(rounded, abs=2)


@pytest.mark.parametrize("width", [1280, 390])
def test_what_is_chosen_leaves_all_else_in_reach(open_report: Open, width: int) -> None:
    page = open_report("met", viewport={"width": width, "height": 900})
    page.locator(".rows tbody button").first.click()
    card = page.get_by_role("complementary")
    expect(card).to_be_visible()

    def lower_edge(name: str) -> float:
        button = page.get_by_role("button", name=name)
        button.focus()
        edge: float = button.evaluate("one => one.getBoundingClientRect().bottom")
        return edge

    top = card.evaluate("one => one.getBoundingClientRect().top")
    assert lower_edge("Download CSV") <= top
    assert lower_edge("Download JSON") <= top
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    end = page.locator("main").evaluate("one => one.getBoundingClientRect().bottom")
    assert end <= card.evaluate("one => one.getBoundingClientRect().top") + 1


def test_charts_follow_the_colours_of_the_page(open_report: Open) -> None:
    page = open_report("met", color_scheme="dark")
    draw_all(page)
    background = "getComputedStyle(document.body).backgroundColor"
    text = "getComputedStyle(document.querySelector('.live .role-axis-label text')).fill"
    dark = page.evaluate(background), page.evaluate(text)
    assert violations(page) == []
    page.get_by_role("button", name="Switch to light colours").click()
    page.wait_for_function(f"{text} !== {json.dumps(dark[1])}")
    assert page.evaluate(background) != dark[0]


# ----------------------------------------------------------------------------------- the table


def cells(page: Page, column: int) -> list[str]:
    return page.locator(f".rows tbody tr td:nth-child({column})").all_inner_texts()


def column(page: Page, header: str) -> int:
    headers = page.locator(".rows thead th").all_inner_texts()
    return next(place for place, text in enumerate(headers, 1) if text.startswith(header))


@pytest.mark.parametrize("name", ["met", "tokens"])
def test_numbers_are_the_same_with_and_without_scripts(open_report: Open, name: str) -> None:
    page = open_report(name)
    rows = "table => [...table.rows].map(row => [...row.cells].map(cell => cell.textContent))"
    page.get_by_label("Rows").select_option("25")
    shown = page.locator(".rows table").evaluate(rows)
    static = page.locator("#explorer .only-static table").evaluate(rows)
    assert shown[1:] == static[1:]
    assert any("1,327" in row for row in static)


def test_sentences_of_the_browser_have_the_numbers_of_the_tool(open_report: Open) -> None:
    numbers = [0, 1327.4, 99_999.6, 852.4, 99.96, 14.465, 9.999, 5, 0.9876, 0.000123456, 1e-9]
    page = open_report("met")
    texts = page.evaluate("numbers => numbers.map(measurements.number)", numbers)
    assert texts == list(map(number_text, numbers))
    changes = page.evaluate("[36.4, 1206.2, -3.7, 0].map(measurements.signed)")
    assert changes == ["+36 %", "+1,206 %", "-4 %", "+0 %"]


def test_the_table_is_sorted_filtered_and_paged(open_report: Open) -> None:
    page = open_report("met")
    status = page.get_by_role("status")
    expect(status).to_have_text("1 to 10 of 35")
    page.get_by_role("button", name="Next").click()
    expect(status).to_have_text("11 to 20 of 35")

    page.locator(".rows").get_by_role("button", name="p99 Latency").click()
    shown = [float(text) for text in cells(page, column(page, "p99 Latency"))]
    assert shown == sorted(shown)
    assert len(shown) == 10
    page.locator(".rows").get_by_role("button", name="p99 Latency").click()
    assert page.locator("th[aria-sort=descending]").count() == 1

    page.get_by_role("searchbox").fill("config_default")
    expect(status).to_have_text("1 to 5 of 5 (35 in total)")
    assert set(cells(page, 1)) == {"m_config_default"}
    page.get_by_role("searchbox").fill("")
    page.get_by_label("Column to filter by").select_option("perf_latency_p99")
    page.get_by_label("Limit").fill("20")
    bounded = [float(text) for text in cells(page, column(page, "p99 Latency"))]
    assert bounded
    assert max(bounded) <= 20
    page.locator("#clear").click()
    page.get_by_label("meets the constraints").check()
    assert set(cells(page, column(page, "Meets constraints"))) == {"yes"}
    page.get_by_role("searchbox").fill("no such thing")
    expect(status).to_have_text("No measurement matches.")


def test_columns_can_be_chosen(open_report: Open) -> None:
    page = open_report("met")
    page.get_by_text("Columns", exact=True).click()
    page.locator("#columns").get_by_label("Server Queue time (ms)").check()
    assert column(page, "Server Queue time")


def test_a_measurement_is_chosen_by_the_keyboard(open_report: Open) -> None:
    page = open_report("met")
    page.locator(".rows tbody button").nth(1).focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("complementary")).to_contain_text("m_config_3")
    expect(page.locator(".rows tr.chosen")).to_have_count(1)


def test_what_is_filtered_can_be_downloaded(open_report: Open) -> None:
    page = open_report("met")
    page.get_by_role("searchbox").fill("config_default")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    rows = list(csv.DictReader(download.value.path().read_text().splitlines()))
    with page.expect_download() as download:
        page.get_by_role("button", name="Download JSON").click()
    objects = json.loads(download.value.path().read_text())
    assert len(rows) == len(objects) == 5
    for row, entry in zip(rows, objects, strict=True):
        assert row["configuration"] == entry["configuration"] == "m_config_default"
        assert float(row["perf_throughput"]) == entry["perf_throughput"]


# ------------------------------------------------------------------------ paper, and no script


def test_on_paper_there_are_drawings_and_nothing_to_click(
    open_report: Open, tmp_path: Path
) -> None:
    page = open_report("met", color_scheme="dark")
    draw_all(page)
    page.emulate_media(media="print")
    expect(page.locator(".static svg").first).to_be_visible()
    for gone in (".live", "#theme", "nav.page", ".tools", ".pager"):
        expect(page.locator(gone).first).to_be_hidden()
    white = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert white == "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


def test_without_script_everything_is_still_there(open_report: Open) -> None:
    page = open_report("met", java_script_enabled=False)
    expect(page.locator(".static svg").first).to_be_visible()
    expect(page.get_by_text("The best 25 of 35 measurements")).to_be_visible()
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.locator("#theme")).to_be_hidden()


# ------------------------------------------------------------------------------ hostile names


@pytest.mark.parametrize(
    "name",
    ["../../x", "</script><script>alert(1)</script> \"'><img src=x onerror=alert(1)> {{ 7 * 7 }}"],
)
def test_whatever_a_model_is_called_is_text(
    open_file: Callable[..., Opened], tmp_path: Path, name: str
) -> None:
    ranked = hostile(name)
    export = tmp_path / "here" / "export"
    directory = ExportDirectory(export)
    paths = [
        directory.write(page_of(report), "reports", name, "page.html")
        for report in (summary(ranked), detail(ranked))
    ]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [paths[0]]
    assert paths[0].resolve().is_relative_to(export.resolve())
    for report in (summary(ranked), detail(ranked)):
        path = directory.write(page_of(report), "page.html")
        page = open_file(path).page
        draw_all(page)
        expect(page.locator("h1")).to_contain_text(name)
        page.locator(".rows tbody button").first.click()
        expect(page.locator("#chosen-name")).to_contain_text(name)
        assert page.locator("img").count() == 0


def test_a_text_that_looks_like_a_formula_stays_a_text_in_csv(
    open_file: Callable[..., Opened], tmp_path: Path
) -> None:
    evil = variant("=HYPERLINK(1)", model="m", max_batch_size=1)
    ranked = ranking(record(evil, met().measured[0].measurement))
    path = tmp_path / "page.html"
    path.write_text(page_of(summary_page(ranked, best=1)))
    page = open_file(path).page
    with page.expect_download() as download:
        page.get_by_role("button", name="Download CSV").click()
    (row,) = csv.DictReader(download.value.path().read_text().splitlines())
    assert row["configuration"] == "'=HYPERLINK(1)"
