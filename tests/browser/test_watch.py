# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The page of `watch` in a browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import expect

from model_analyzer.features.watch.server_readings import WatchReport
from model_analyzer.features.watch.watch_text import watch_page
from tests.browser.conftest import Opened
from tests.browser.test_reports import violations, widths
from tests.features.watch.production import DEPLOYED, Server, looks, promise, seen


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
