# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, and reports as files to open in it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.browser.pages import PAGES
from tests.drawn import page_of

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip

# What comes at all comes by then, on any machine.
PATIENCE_MS = 180_000
expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if program is None:
        pytest.skip("no Chromium: `make browser` installs it, or says how")
    with sync_playwright() as playwright:
        # root has no sandbox
        flags = [*FLAGS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]
        started = playwright.chromium.launch(
            executable_path=program, args=flags, timeout=PATIENCE_MS
        )
        yield started
        started.close()


@dataclass
class Opened:
    """A page in the browser, and what it complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list)


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The file of one of the PAGES."""
    directory = tmp_path_factory.mktemp("pages")

    @cache
    def write(name: str) -> Path:
        path = directory / f"{name}.html"
        path.write_text(page_of(PAGES[name]()))
        return path

    return write


@pytest.fixture
def open_file(browser: Browser) -> Iterator[Callable[..., Opened]]:
    """Opens a file in a window of its own; at the end nothing may have been complained about, and
    nothing may have been loaded from elsewhere.
    """
    contexts: list[BrowserContext] = []
    windows: list[Opened] = []

    def open_it(path: Path, **settings: Any) -> Opened:
        context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **settings}
        )
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        opened = Opened(context.new_page())
        windows.append(opened)
        opened.page.on("console", lambda message: opened.complaints.append(message.text))
        opened.page.on("pageerror", lambda error: opened.complaints.append(str(error)))
        opened.page.on(
            "request",
            lambda request: (
                None
                if request.url.startswith(("file:", "blob:", "data:"))
                else opened.complaints.append(request.url)
            ),
        )
        opened.page.on("dialog", lambda dialog: opened.complaints.append(dialog.message))
        opened.page.goto(path.as_uri())
        return opened

    yield open_it
    for opened in windows:
        assert opened.complaints == []
    for context in contexts:
        context.close()


@pytest.fixture
def open_report(
    open_file: Callable[..., Opened], report: Callable[[str], Path]
) -> Callable[..., Page]:
    """Opens one of the PAGES."""
    return lambda name, **settings: open_file(report(name), **settings).page
