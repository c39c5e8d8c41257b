# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""docs/options.md is what its tool would write today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_the_reference_of_options_is_fresh() -> None:
    written = subprocess.run(
        [sys.executable, ROOT / "tools" / "options.py"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    document = (ROOT / "docs" / "options.md").read_text(encoding="utf-8")
    assert document == written, "run: python tools/options.py > docs/options.md"
