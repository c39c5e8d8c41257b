# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a reader does with a page: copies, links to a view, filters charts, compares two rows.

The page of `watch` in a browser.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from model_analyzer.features.watch.server_readings import WatchReport
from model_analyzer.features.watch.watch_text import watch_page
from model_analyzer.reports.alternatives import Deployment
from tests.browser.conftest import Opened
from tests.browser.pages import met
from tests.browser.test_budget import wait_until
from tests.browser.test_reports import draw_all, violations, widths
from tests.drawn import page_of
from tests.features.watch.production import DEPLOYED, Server, looks, promise, seen
from tests.unit.builders import summary_page

Open = Callable[..., Page]


def deployable(tmp_path: Path) -> Path:
    deployment = Deployment(
        configuration='name: "m"\nmax_batch_size: 8\n',
        command="model-analyzer best -m m --format kubernetes",
    )
    path = tmp_path / "page.html"
    path.write_text(page_of(summary_page(met(), deployment=deployment)))
    return path


def test_the_answer_is_copied_and_said_to_be(
    open_file: Callable[..., Opened], tmp_path: Path
) -> None:
    page = open_file(deployable(tmp_path), permissions=["clipboard-read", "clipboard-write"]).page
    answer = page.get_by_label("Recommendation")
    expect(answer).to_contain_text("max_batch_size 1 → 8")
    expect(answer).to_contain_text("instances 1:CPU → 3:CPU")
    expect(answer).to_contain_text("dynamic_batching off → on")
    for name, text in {
        "config.pbtxt": 'name: "m"\nmax_batch_size: 8\n',
        "Kubernetes command": "model-analyzer best -m m --format kubernetes",
        "measuring command": (
            "model-analyzer runtime run perf_analyzer -m m --concurrency-range 16"
        ),
        "link to this view": page.url,
    }.items():
        page.get_by_role("button", name=f"Copy {name}").click()
        expect(page.locator("#copied")).to_have_text(f"Copied the {name}.")
        assert page.evaluate("navigator.clipboard.readText()") == text


def test_without_access_to_the_clipboard_a_selection_is_copied(
    open_file: Callable[..., Opened], tmp_path: Path
) -> None:
    page = open_file(deployable(tmp_path)).page
    page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    page.evaluate(
        "document.addEventListener('copy', () => window.copied = document.activeElement.value)"
    )
    page.get_by_role("button", name="Copy config.pbtxt").click()
    expect(page.locator("#copied")).to_have_text("Copied the config.pbtxt.")
    assert page.evaluate("window.copied") == 'name: "m"\nmax_batch_size: 8\n'


def test_filters_make_points_faint_and_are_in_the_address(open_report: Open) -> None:
    page = open_report("met")
    draw_all(page)
    faint = "document.querySelectorAll(\".live path[opacity='0.07']\").length"
    assert page.evaluate(faint) == 0
    page.get_by_role("searchbox").fill("config_5")
    page.locator(".rows").get_by_role("button", name="p99 Latency").click()
    wait_until(page, f"{faint} > 20")
    wait_until(page, "location.hash === '#search=config_5&sort=perf_latency_p99%3Aup'")
    page.reload()
    expect(page.get_by_role("status")).to_have_text("1 to 5 of 5 (35 in total)")
    expect(page.locator("th[aria-sort=ascending]")).to_have_count(1)
    page.locator("#clear").click()
    wait_until(page, "location.hash === ''")


def test_two_measurements_are_compared(open_report: Open) -> None:
    page = open_report("met")
    page.locator(".rows tbody button").nth(0).click()
    card = page.get_by_role("complementary")
    card.get_by_role("button", name="Compare with another").click()
    expect(card).to_contain_text("Select another measurement")
    page.locator(".rows tbody button").nth(7).click()
    pair_names = ["m_config_5 at concurrency 16", "m_config_4 at concurrency 8"]
    expect(card.locator("h2")).to_have_text(" and ".join(pair_names))
    pair = card.get_by_role("table", name="Two measurements")
    expect(pair).to_contain_text("Max batch size")
    expect(pair).not_to_contain_text("Instances")  # the same in both
    expect(pair.get_by_role("row", name="Throughput")).to_contain_text("%")
    expect(card.locator(".stack")).to_have_count(2)
    assert violations(page) == []
    names = (
        "['pinned', 'chosen'].map(name => new URLSearchParams(location.hash.slice(1)).get(name))"
    )
    wait_until(page, f"{names}.join() === '{','.join(pair_names)}'")
    page.reload()
    expect(page.get_by_role("complementary").locator("h2")).to_contain_text(" and ")
    page.get_by_role("button", name="Unpin").click()
    expect(page.get_by_role("complementary").locator("h2")).to_have_text("m_config_4")
    page.keyboard.press("Escape")
    expect(page.get_by_role("complementary")).to_be_hidden()


def test_the_nearest_point_answers(open_report: Open) -> None:
    page = open_report("met")
    draw_all(page)
    chart = page.locator("figure[data-chart=throughput_v_latency]")
    mark = chart.locator(".role-mark path[fill='#8a8a8a']").last
    mark.scroll_into_view_if_needed()
    box = mark.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2 + 12, box["y"] + box["height"] / 2 + 9)
    expect(page.locator("#tip")).to_contain_text("m_config_default")


# points at the centre of each point of each chart, and clicks; the answers that are wrong
POINTED = """() => {
  const wrong = [];
  let count = 0;
  for (const figure of document.querySelectorAll("figure[data-chart].ready")) {
    figure.scrollIntoView({ block: "center" });
    const { view } = figure.embedded;
    const [x, y] = ["x", "y"].map((name) => view.scale(name));
    if (!x?.invert || !y?.invert) continue;
    const svg = figure.querySelector(".live svg").getBoundingClientRect();
    const [left, top] = view.origin();
    const padding = view.padding();
    const points = figure.values.filter(({ row }) => row >= 0 && row < measurements.total)
      .map((point) => ({
        row: point.row,
        clientX: svg.left + left + padding.left + x(point.x),
        clientY: svg.top + top + padding.top + y(point.y),
      }))
      .filter(({ clientX, clientY }) => Number.isFinite(clientX + clientY));
    for (const { row, clientX, clientY } of points) {
      const under = document.elementFromPoint(clientX, clientY);
      if (!under || !figure.contains(under) || under.closest(".handle")) continue;
      count += 1;
      // of points at one place, any may answer; clicks have whole pixels
      const isHere = (other) =>
        Math.hypot(other.clientX - clientX, other.clientY - clientY) < 1.5;
      const rows = points.filter(isHere).map((other) => other.row);
      const at = { clientX, clientY, bubbles: true, view: window };
      under.dispatchEvent(new PointerEvent("pointermove", at));
      const said = document.getElementById("tip").textContent;
      under.dispatchEvent(new PointerEvent("click", at));
      const isRight = rows.some((each) => said.includes(measurements.title(each)))
        && rows.includes(chosen.row());
      if (!isRight) wrong.push(`${figure.dataset.chart}: ${measurements.title(row)}`);
    }
  }
  return [count, wrong];
}"""


@pytest.mark.parametrize("name", ["met", "tokens", "detail", "ensemble"])
def test_pointing_at_a_point_gives_that_point(open_report: Open, name: str) -> None:
    page = open_report(name)
    draw_all(page)
    count, wrong = page.evaluate(POINTED)
    assert count > 3
    assert wrong == []


def test_headings_are_anchors_beside_the_state(open_report: Open) -> None:
    page = open_report("met")
    page.get_by_role("link", name="All measurements").click()
    wait_until(page, "location.hash === '#measurements'")
    page.get_by_role("searchbox").fill("config_5")
    wait_until(page, "location.hash === '#at=measurements&search=config_5'")
    page.reload()
    expect(page.get_by_role("heading", name="All measurements")).to_be_in_viewport()


def test_a_region_of_the_chart_filters_the_table(open_report: Open) -> None:
    page = open_report("met")
    draw_all(page)
    chart = page.locator("figure[data-chart=throughput_v_latency] .live svg")
    chart.scroll_into_view_if_needed()
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 70, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 60)
    page.mouse.move(box["x"] + 400, box["y"] + 200)
    page.mouse.up()
    region = page.get_by_role("button", name="Remove the region")
    expect(region).to_be_visible()
    status = page.get_by_role("status")
    expect(status).to_contain_text("(35 in total)")
    expect(page.get_by_role("complementary")).to_be_hidden()  # it was no click
    region.click()
    expect(status).to_have_text("1 to 10 of 35")


def test_a_name_in_the_legend_isolates_its_line(open_report: Open) -> None:
    page = open_report("met")
    draw_all(page)
    chart = page.locator("figure[data-chart=throughput_v_latency]")
    faint = chart.locator(".live .mark-line path[opacity='0.07']")
    expect(faint).to_have_count(0)
    chart.locator(".live .role-legend-label text", has_text="m_config_3").click(force=True)
    expect(faint).to_have_count(3)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_differs_is_named_on_any_screen(
    open_file: Callable[..., Opened], tmp_path: Path, scheme: str
) -> None:
    servers = Server(compute_ms=20), Server("other.shop.example:8002", failed=0.05)
    other = promise(variant=replace(DEPLOYED, model="n"))
    watched = [seen([*looks(*servers)]), seen([*looks(Server())], other)]
    path = tmp_path / "watch.html"
    reports = [WatchReport(watched=each, needed=2) for each in watched]
    path.write_text(watch_page(reports, seconds=120, until=1e9))

    page = open_file(path, color_scheme=scheme).page
    expect(page.locator(".eyebrow")).to_have_text(["✗ Failing", "✓ As promised"])
    expect(page.get_by_text("% of the requests fail")).to_be_visible()
    assert violations(page) == []
    phone = open_file(path, viewport={"width": 390, "height": 844}).page
    assert widths(phone) == (390, 390)
