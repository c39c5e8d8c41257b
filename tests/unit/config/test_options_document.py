# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""docs/options.md, reference.md and versions.md are what their tools would write today."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


usage_differs = pytest.mark.skipif(
    version("click").startswith("8.1."), reason="click 8.1 writes the usage of commands otherwise"
)


@pytest.mark.parametrize(
    "name", ["options", "versions", pytest.param("reference", marks=usage_differs)]
)
def test_the_reference_is_fresh(name: str) -> None:
    written = subprocess.run(
        [sys.executable, ROOT / "tools" / f"{name}.py"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    document = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert document == written, f"run: python tools/{name}.py > docs/{name}.md"
