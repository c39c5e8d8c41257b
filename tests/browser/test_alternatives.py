# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Another limit, and a selected measurement, get a full answer: gain, chance, changes, files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from model_analyzer.reports.alternatives import Deployment
from tests.browser.conftest import Opened
from tests.browser.pages import DIFFERENCE, met
from tests.browser.test_reports import violations, widths
from tests.drawn import page_of
from tests.unit.builders import one_round, ranking, record, summary_page, variant

START = "model-analyzer best -m m -s checkpoints"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with all that a run knows of how to deploy."""
    ranked = met()
    texts = tuple((f"# {result.name}\n", f"--- of {result.name}\n") for result in ranked.results)
    deployment = Deployment(
        configuration=texts[0][0], difference=DIFFERENCE, command=f"{START} --format kubernetes",
        start=START, configurations=texts,
    )  # fmt: skip
    path = tmp_path_factory.mktemp("alternatives") / "page.html"
    path.write_text(page_of(summary_page(ranked, deployment=deployment)))
    return path


@pytest.fixture
def page(open_file: Callable[..., Opened], file: Path) -> Page:
    return open_file(file).page


def copied(page: Page, inside: str, name: str) -> str | None:
    return page.locator(f'{inside} [data-name="{name}"]').get_attribute("data-copy")


def test_another_limit_has_a_full_answer(page: Page) -> None:
    page.locator("figure input").first.fill("15")

    card = page.locator("#answer .instead")
    expect(card.locator(".name")).to_have_text("m_config_5")
    expect(card.locator("dt").first).to_have_text("Gain over the default")
    assert " ± " in card.locator("dd").first.inner_text()
    expect(card).to_contain_text("chance to meet the constraints")
    assert card.locator(".changes li").all_inner_texts()
    assert copied(page, "#answer .instead", "config.pbtxt") == "# m_config_5\n"
    assert copied(page, "#answer .instead", "config.diff") == "--- of m_config_5\n"
    assert copied(page, "#answer .instead", "Kubernetes command") == (
        f"{START} --metric perf_throughput --constraint 'perf_latency_p99<15' --format kubernetes"
    )
    assert violations(page) == []

    page.locator("figure input").first.fill("")
    command = copied(page, "#answer .instead", "Kubernetes command")
    assert command is not None
    assert command.endswith("--metric perf_throughput --constraint none --format kubernetes")


def test_a_copied_text_is_that_of_the_other_limit(page: Page) -> None:
    page.locator("figure input").first.fill("15")
    page.locator('#answer .instead [data-name="config.pbtxt"]').click()
    expect(page.locator("#copied")).to_contain_text("config.pbtxt")


def test_at_a_limit_that_nothing_meets_there_is_nothing_to_deploy(page: Page) -> None:
    page.locator("figure input").first.fill("2")
    card = page.locator("#answer .instead")
    expect(card).to_contain_text("nothing meets the constraints")
    expect(card.locator('[data-name="Kubernetes command"]')).to_have_count(0)
    expect(card.locator("dt").first).not_to_have_text("Gain over the default")


def test_a_selected_measurement_has_what_an_answer_has(page: Page) -> None:
    rows = page.locator(".rows tbody tr")
    rows.nth(1).locator("button").click()
    facts = page.locator("#chosen-facts")
    expect(facts.locator("p").first).to_contain_text("% against the default; > 99 % chance")
    expect(facts.locator("p").first).to_contain_text(" ± ")
    assert facts.locator(".changes li").all_inner_texts()
    name = page.locator("#chosen-name").inner_text()
    assert copied(page, "#chosen-facts", "config.pbtxt") == f"# {name}\n"
    assert copied(page, "#chosen-facts", "link to this view") == ""
    assert copied(page, "#chosen-facts", "Kubernetes command") == (
        f"{START} --metric perf_throughput --constraint 'perf_latency_p99<40' --format kubernetes"
        f" --variant '{name}'"
    )
    assert violations(page) == []

    rows.nth(0).locator("button").click()
    command = copied(page, "#chosen-facts", "Kubernetes command")
    assert command == (
        f"{START} --metric perf_throughput --constraint 'perf_latency_p99<40' --format kubernetes"
    )

    page.locator("figure input").first.fill("5")
    expect(facts.locator("p").first).to_have_class("unsure")
    expect(facts.locator("p").first).to_contain_text("misses the constraints")


def test_both_fit_a_phone(open_file: Callable[..., Opened], file: Path) -> None:
    page = open_file(file, viewport={"width": 400, "height": 844}).page
    page.locator("figure input").first.fill("15")
    page.locator(".rows tbody tr").nth(1).locator("button").click()
    expect(page.locator("#chosen-facts .actions")).to_be_visible()
    content, window = widths(page)
    assert content <= window


def test_the_latencies_of_a_selected_measurement_are_drawn_over_those_of_the_default(
    open_file: Callable[..., Opened], tmp_path: Path
) -> None:
    default, best = variant("m_config_default"), variant("m_config_0", max_batch_size=8)
    ranked = ranking(
        record(default, one_round([10.0, 11.0] * 50)),
        record(best, one_round([5.0, 6.0] * 200)),
        record(best, one_round([15.0, 16.0] * 300), concurrency=4),
    )
    path = tmp_path / "page.html"
    path.write_text(page_of(summary_page(ranked)))
    page = open_file(path).page
    page.locator(".rows tbody tr").nth(1).locator("button").click()
    figures = page.locator("#chosen-latencies figure")
    expect(figures.locator(".live svg")).to_have_count(2)
    for number in range(2):
        expect(figures.nth(number).locator(".mark-line path")).to_have_count(2)
        expect(figures.nth(number)).to_contain_text("Default: m_config_default")
    assert violations(page) == []


def test_where_latencies_are_unknown_no_chart_is_shown(page: Page) -> None:
    page.locator(".rows tbody tr").nth(1).locator("button").click()
    expect(page.locator("#chosen-facts .actions")).to_be_visible()
    expect(page.locator("#chosen-latencies")).to_be_hidden()
