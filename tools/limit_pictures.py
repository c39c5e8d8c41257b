# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Pictures of a summary page at several limits of the latency, for docs/reports.md.

    python tools/limit_pictures.py PAGE LIMIT... --output docs/images

Writes `limit-1.png`, `limit-2.png` and so on: the chart with its handle and the answer beside it.
"""

from __future__ import annotations

import argparse
import os
import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

_WIDTH, _HEIGHT = 1000, 900


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("limits", nargs="+", help="in the unit of the chart, or off")
    parser.add_argument("--output", type=Path, default=Path("docs/images"))
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    arguments = parser.parse_args()
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []  # root has no sandbox
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=arguments.chromium, args=flags)
        for number, limit in enumerate(arguments.limits, start=1):
            window = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
            window.goto(f"{arguments.page.resolve().as_uri()}#limit={limit}")
            figure = window.locator("figure[data-chart]").first
            figure.scroll_into_view_if_needed()
            window.wait_for_selector(".staircase svg")
            figure.screenshot(path=arguments.output / f"limit-{number}.png")
        browser.close()


if __name__ == "__main__":
    main()
