# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation as a site: it builds without a warning, and asks nothing of anybody."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.documents import DOCS, ROOT

pytest.importorskip("material", reason="the extra `docs` is not installed")

# What makes a browser fetch something: scripts, styles, images, frames.
_FETCHED = re.compile(r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?([^\s\">]+)", re.IGNORECASE)
_LINKED = re.compile(r"<link[^>]*>", re.IGNORECASE)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. Links, anchors and pages that are not in the navigation are checked by the
    build: any warning fails it (not with --quiet, which keeps the build from counting warnings).
    """
    directory = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(directory)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
    return directory


def test_every_document_is_a_page(site: Path) -> None:
    wanted = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    pages = {path.relative_to(site) for path in site.rglob("*.html")}

    assert pages - {Path("404.html")} == wanted


def test_nothing_comes_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        fetched = [*_FETCHED.findall(text), *_LINKED.findall(text)]
        assert fetched, page
        assert [url for url in fetched if "//" in url] == [], page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", style.read_text("utf-8")), style
