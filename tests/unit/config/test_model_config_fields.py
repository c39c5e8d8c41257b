# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The table of model configuration fields is what its tool would write today."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from model_analyzer.domain import model_config_fields

ROOT = Path(__file__).resolve().parents[3]


def test_the_table_of_fields_is_fresh() -> None:
    written = subprocess.run(
        [sys.executable, ROOT / "tools" / "model_config_fields.py"],
        check=True,
        capture_output=True,
    ).stdout
    table = Path(model_config_fields.__file__)
    formatted = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--no-cache", "--stdin-filename", table, "-"],
        input=written,
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    assert formatted.decode() == table.read_text(encoding="utf-8")
