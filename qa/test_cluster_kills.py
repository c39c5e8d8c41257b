# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Kills on a local Ray cluster: the beginning of `qa/soak.py --executor ray`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.sizes import small_and_full

SOAK = Path(__file__).with_name("soak.py")


@small_and_full("faults", 4, 20)
def test_nothing_is_lost_in_many_kills(tmp_path: Path, faults: int) -> None:
    kills = ("--executor", "ray", "--rounds", "1", "--faults-per-round", str(faults), "--seed", "1")
    soak = subprocess.run(
        [sys.executable, str(SOAK), *kills, "--out", str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert soak.returncode == 0, soak.stdout + soak.stderr
    *_, total = soak.stdout.splitlines()
    assert total.split()[:2] == ["total", str(faults)]
