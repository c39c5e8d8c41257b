# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The overview of models in a browser: sorted, filtered, and on any screen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from model_analyzer.reports.fleet import FleetModel, fleet_page, render_fleet
from model_analyzer.results.answer import ModelAnswer, answer_of
from tests.browser.conftest import Opened
from tests.browser.pages import records
from tests.browser.test_reports import violations, widths
from tests.unit.builders import at_most, failure, goal, ranking, record, variant

Open = Callable[..., Opened]


def model(name: str, *, speed: float = 1, limit: float | None = None) -> FleetModel:
    by = goal() if limit is None else goal(*at_most(perf_latency_p99=limit))
    made = ranking(*records(name, instances=2, loads=5, speed=speed), by=by, model=name)
    return FleetModel(
        answer=ModelAnswer(model=name, answers=(answer_of(made),)),
        link=f"summaries/{name}/result_summary.html",
    )


def broken(name: str) -> FleetModel:
    made = ranking(record(variant(model=name), failure()), model=name)
    return FleetModel(
        answer=ModelAnswer(model=name, answers=(answer_of(made),)),
        link=f"summaries/{name}/result_summary.html",
    )


@pytest.fixture
def few(tmp_path: Path) -> Path:
    """Three models that were measured, and one that failed."""
    models = [
        model("resnet_10", speed=2, limit=2),
        broken("broken"),
        model("bert", speed=3),
        model("resnet_9", limit=40),
    ]
    return written(tmp_path, models)


def written(directory: Path, models: list[FleetModel]) -> Path:
    page = fleet_page(models, written="today", tool="model-analyzer")
    path = directory / "reports" / "index.html"
    path.parent.mkdir()
    path.write_text(render_fleet(page))
    return path


def names(page: Page) -> list[str]:
    """The models that are shown, in their order."""
    return page.locator("tbody tr:visible th").all_inner_texts()


def header(page: Page, name: str) -> str | None:
    """How the table is sorted by this column."""
    return page.get_by_role("columnheader", name=name).get_attribute("aria-sort")


def test_models_are_sorted_by_a_click_and_those_without_a_value_come_last(
    open_file: Open, few: Path
) -> None:
    page = open_file(few).page
    assert names(page) == ["broken", "resnet_10", "bert", "resnet_9"]

    throughput = page.get_by_role("button", name="Throughput")
    throughput.click()
    assert header(page, "Throughput") == "descending"
    falling = names(page)
    assert (falling[0], falling[-1]) == ("bert", "broken")
    throughput.click()
    assert header(page, "Throughput") == "ascending"
    assert names(page) == [*reversed(falling[:-1]), "broken"]

    page.get_by_role("button", name=re.compile("^Model")).click()
    assert header(page, "Throughput") is None
    assert names(page) == ["bert", "broken", "resnet_9", "resnet_10"]


def test_models_are_sorted_by_the_keyboard(open_file: Open, few: Path) -> None:
    page = open_file(few).page
    page.get_by_role("button", name=re.compile("^Model")).focus()
    page.keyboard.press("Enter")
    assert header(page, "Model") == "ascending"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert header(page, "Answer") == "ascending"
    page.get_by_role("link", name="bert").focus()
    page.keyboard.press("Shift+Tab")
    expect(page.locator(":focus")).not_to_have_text("bert")


def test_models_are_filtered_by_name(open_file: Open, few: Path) -> None:
    page = open_file(few).page
    page.get_by_label("Filter").fill("ResNet")
    assert names(page) == ["resnet_10", "resnet_9"]
    expect(page.get_by_role("status")).to_have_text("2 of 4 rows")
    page.get_by_label("Filter").fill("")
    assert len(names(page)) == 4
    expect(page.get_by_role("status")).to_be_empty()


def test_the_address_keeps_order_and_filter(open_file: Open, few: Path) -> None:
    page = open_file(few).page
    page.get_by_label("Filter").fill("resnet")
    page.get_by_role("button", name="Throughput").click()
    page.get_by_role("button", name="Throughput").click()
    shown = names(page)
    assert len(shown) == 2

    page.reload()

    assert names(page) == shown
    expect(page.get_by_label("Filter")).to_have_value("resnet")
    assert header(page, "Throughput") == "ascending"
    page.evaluate("location.hash = ''")
    page.wait_for_function("document.getElementById('filter').value === ''")
    assert names(page) == ["broken", "resnet_10", "bert", "resnet_9"]


def test_a_row_leads_to_the_page_of_its_model(open_file: Open, few: Path) -> None:
    target = few.parent / "summaries" / "bert" / "result_summary.html"
    target.parent.mkdir(parents=True)
    target.write_text("<title>the page of bert</title>")
    page = open_file(few).page
    page.get_by_role("link", name="bert").click()
    expect(page).to_have_title("the page of bert")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible(open_file: Open, few: Path, scheme: str) -> None:
    assert violations(open_file(few, color_scheme=scheme).page) == []


def test_its_colours_can_be_switched(open_file: Open, few: Path) -> None:
    page = open_file(few, color_scheme="light").page
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Switch to dark colours").click()
    assert page.evaluate(background) != light
    page.get_by_role("button", name="Switch to light colours").click()
    assert page.evaluate(background) == light


def test_fifty_models_are_on_one_screen(open_file: Open, tmp_path: Path) -> None:
    path = written(tmp_path, [model(f"a_model_{n}", limit=40) for n in range(50)])
    page = open_file(path, viewport={"width": 1440, "height": 900}).page
    last = page.locator("tbody tr").last
    assert last.evaluate("row => row.getBoundingClientRect().bottom <= innerHeight")
    sizes = page.locator(".scroll").evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert sizes[0] <= sizes[1]
    size = last.locator("td").first.evaluate("cell => parseFloat(getComputedStyle(cell).fontSize)")
    assert size >= 12
    assert violations(page) == []


def test_a_few_models_are_readable_without_scrolling(open_file: Open, few: Path) -> None:
    page = open_file(few, viewport={"width": 1440, "height": 900}).page
    sizes = page.locator(".scroll").evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert sizes[0] <= sizes[1]
    cut = "cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth).length"
    assert page.locator("td.long").evaluate_all(cut) == 0


def test_on_a_phone_the_name_stays_in_place(open_file: Open, few: Path) -> None:
    page = open_file(few, viewport={"width": 390, "height": 844}).page
    content, window = widths(page)
    assert content <= window
    page.locator(".scroll").evaluate("box => box.scrollTo({left: 400})")
    name = page.get_by_role("link", name="bert")
    expect(name).to_be_in_viewport()
    left = name.evaluate("link => link.getBoundingClientRect().left")
    assert 0 <= left < 60


def test_without_scripts_everything_is_there(open_file: Open, few: Path) -> None:
    page = open_file(few, java_script_enabled=False).page
    assert names(page) == ["broken", "resnet_10", "bert", "resnet_9"]
    expect(page.get_by_label("Filter")).to_be_hidden()
