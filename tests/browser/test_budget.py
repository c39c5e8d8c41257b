# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The limit of a page's chart: what it answers, and how a reader moves it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from model_analyzer.results.ranking import Ranking
from tests.browser.conftest import Opened
from tests.browser.pages import PAGES
from tests.budget_cases import CASES, limits_of, ranking_of, told
from tests.drawn import page_of
from tests.random_rankings import random_limits, random_records
from tests.sizes import small_and_full
from tests.unit.builders import at_most, goal, known, ranking, summary_page

Open = Callable[..., Page]

ANSWERS = """limits => {
  const [data] = dom.data("instruments").budgets;
  const ranked = ranking.create(data, data.choices[0]);
  const name = row => `${measurements.title(row)} at ${measurements.loadOf(row).split(" ").pop()}`;
  return limits.map(limit => {
    const { best, ties, passes } = ranked.at(limit);
    return { limit, best: name(best), ties: ties.map(name).sort(), passes };
  });
}"""


@pytest.mark.parametrize("name", CASES)
def test_the_page_ranks_by_the_rules_of_the_tool(
    open_file: Callable[..., Opened], tmp_path: Path, name: str
) -> None:
    case = CASES[name]
    path = tmp_path / "page.html"
    path.write_text(page_of(summary_page(ranking_of(case, 1e6))))
    page = open_file(path).page
    assert page.evaluate(ANSWERS, limits_of(case)) == case["answers"]


@small_and_full("seed", 1, *range(100, 400))
def test_the_page_ranks_what_nobody_chose_as_the_tool_does(
    open_file: Callable[..., Opened], tmp_path: Path, seed: int
) -> None:
    records = random_records(seed)

    def ranked(limit: float) -> Ranking:
        return ranking(*records, by=goal(*at_most(perf_latency_p99=limit)))

    path, limits = tmp_path / "page.html", random_limits(seed, records)
    path.write_text(page_of(summary_page(ranked(1e6))))
    page = open_file(path).page
    assert page.evaluate(ANSWERS, limits) == [told(ranked(limit), limit) for limit in limits]


def handle(page: Page) -> Locator:
    """The handle, once its chart is drawn."""
    page.locator("figure[data-chart]").first.scroll_into_view_if_needed()
    page.wait_for_selector("figure .live svg")
    expect(page.locator("figure .handle").first).to_be_visible()
    return page.get_by_role("slider", name=re.compile("Maximum"))


def wait_until(page: Page, expression: str) -> None:
    """Waits for an expression of the page; the page's policy lets it wait for none by itself."""
    deadline = time.monotonic() + 180
    while not page.evaluate(expression):
        assert time.monotonic() < deadline, f"never true: {expression}"
        page.wait_for_timeout(20)


def field(page: Page) -> Locator:
    return page.get_by_label(re.compile("at most"))


def test_answer_ring_table_and_points_follow_the_field(open_report: Open) -> None:
    page = open_report("met")
    slider = handle(page)
    hollow = (
        "document.querySelectorAll('figure')[0].querySelectorAll('.live path[fill=transparent]')"
    )
    before = page.evaluate(f"{hollow}.length")
    field(page).fill("13")
    expect(page.locator(".budget .outcome")).to_have_text(
        "At 13 ms: m_config_5 at concurrency 8, 850 ± 30 infer/sec (-36 %)."
    )
    answer = page.get_by_label("Recommendation")
    expect(answer).to_contain_text("At 13 ms instead of 40 ms")
    expect(answer).to_contain_text("at concurrency 8")
    expect(answer.get_by_text("Deploy this configuration")).to_be_hidden()
    expect(page.locator("section[aria-labelledby=best] tr.beyond")).to_have_count(4)
    expect(slider).to_have_attribute("aria-valuetext", "13 ms")
    wait_until(page, f"{hollow}.length > {before}")
    page.get_by_role("button", name="Reset").first.click()
    expect(answer).to_contain_text("Deploy this configuration")
    expect(page.locator("section[aria-labelledby=best] tr.beyond")).to_have_count(0)
    expect(field(page)).to_have_value("40")


def test_the_handle_is_dragged(open_report: Open) -> None:
    page = open_report("met")
    handle(page)
    grip = page.locator(".grip").first
    box = known(grip.bounding_box())
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 11):
        page.mouse.move(x - 35 * step, y)
    page.mouse.up()
    expect(page.locator(".budget .outcome")).to_contain_text("m_config_5 at ")
    assert float(field(page).input_value()) < 40
    moved = known(grip.bounding_box())
    assert abs(moved["x"] - (box["x"] - 350)) < 6
    page.mouse.down()
    page.mouse.move(5, y)
    page.mouse.up()  # the button was released: nothing follows the pointer any more


def test_the_whole_line_is_the_handle(open_report: Open) -> None:
    page = open_report("met")
    box = known(handle(page).bounding_box())
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] - 8  # below all points
    page.mouse.move(x, y)
    expect(page.locator(".live.on-line")).to_have_count(1)
    page.mouse.down()
    page.mouse.move(x - 200, y - 30)
    page.mouse.move(x - 350, y - 60)
    page.mouse.up()
    expect(page.locator(".budget .outcome")).to_contain_text("m_config_5 at ")
    assert float(field(page).input_value()) < 40
    expect(page.get_by_role("complementary")).to_be_hidden()  # it was no click on a point
    expect(page.get_by_role("button", name="Remove the region")).to_be_hidden()


def test_the_handle_moves_by_keys(open_report: Open) -> None:
    page = open_report("met")
    slider = handle(page)
    slider.focus()
    page.keyboard.press("ArrowLeft")
    limit = float(field(page).input_value())
    assert 30 < limit < 40
    page.keyboard.press("PageDown")
    assert float(field(page).input_value()) < limit
    page.keyboard.press("Home")
    expect(page.locator(".budget .outcome")).to_contain_text("m_config_")
    page.keyboard.press("End")
    expect(slider).to_have_attribute("aria-valuetext", "no limit")
    expect(field(page)).to_have_value("")


def test_a_limit_that_nothing_meets_names_the_nearest(open_report: Open) -> None:
    page = open_report("met")
    handle(page)
    field(page).fill("1")
    answer = page.get_by_label("Recommendation")
    expect(answer).to_contain_text("nothing meets the constraints; the nearest is")
    assert "unsure" in (answer.get_attribute("class") or "")


def test_a_page_without_constraints_begins_without_a_limit(open_report: Open) -> None:
    page = open_report("request-rate")
    expect(handle(page)).to_have_attribute("aria-valuetext", "no limit")
    expect(page.locator(".budget .outcome")).to_have_text("")


def test_each_kind_of_hardware_has_its_own_limit(open_report: Open) -> None:
    page = open_report("kinds")
    handle(page)
    field(page).nth(1).fill("13")
    expect(page.locator("#answer-2")).to_contain_text("At 13 ms")
    expect(page.locator("#answer-1")).not_to_contain_text("At 13 ms")
    wait_until(page, "location.hash.includes('limit-2=13')")


def test_the_address_keeps_limit_and_objective(
    open_report: Open, report: Callable[..., Path]
) -> None:
    page = open_report("met")
    handle(page)
    field(page).fill("13")
    wait_until(page, "location.hash === '#limit=13'")
    page.reload()
    expect(page.get_by_label("Recommendation")).to_contain_text("At 13 ms instead of 40 ms")
    expect(field(page)).to_have_value("13")


@pytest.mark.parametrize("name", [name for name in PAGES if name not in ("detail",)])
def test_every_page_has_a_limit_or_none_without_complaint(open_report: Open, name: str) -> None:
    page = open_report(name)
    count = page.evaluate("budgets.length")
    if not count:
        return
    handle(page)
    page.evaluate(
        "budgets.forEach(budget => budget.set(5)); budgets.forEach(budget => budget.set(null))"
    )
    expect(field(page).first).to_have_value("")


def test_no_limit_of_zero_or_less_is_taken(open_report: Open) -> None:
    page = open_report("met")
    slider = handle(page)
    for text in ("0", "-5"):
        field(page).fill(text)
        expect(slider).to_have_attribute("aria-valuetext", "40 ms")
        assert (
            field(page).evaluate("each => each.validationMessage").startswith("A limit is above 0")
        )
    field(page).fill("13")
    expect(slider).to_have_attribute("aria-valuetext", "13 ms")
    assert field(page).evaluate("each => each.validationMessage") == ""


def test_an_answer_that_is_not_certain_says_so(open_report: Open) -> None:
    page = open_report("met")
    handle(page)
    limit = page.evaluate(
        """() => {
          const [data] = dom.data("instruments").budgets;
          const ranked = ranking.create(data, data.choices[0]);
          return Array.from({ length: 400 }, (_, step) => 5 + step / 10)
            .find((each) => ranked.at(each).passes && ranked.at(each).chance < 0.6);
        }"""
    )
    field(page).fill(str(limit))
    answer = page.get_by_label("Recommendation")
    expect(answer).to_have_class(re.compile("unsure"))
    expect(answer).to_contain_text("% chance that it meets the constraints")
