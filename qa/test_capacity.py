# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Capacity on the real programs: what is missing is measured, and what is promised is kept."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.capacity import LIMIT_MS, REPLICAS, answer, balanced, profiled, run, under_load

pytestmark = pytest.mark.slow


def test_what_is_missing_is_measured_and_what_is_promised_is_kept(tmp_path: Path) -> None:
    """The limit is within 10 % of the promise below it, and within 15 % above.

    benchmarks/capacity.py shows more rates, and longer.
    """
    config = profiled(tmp_path)
    (missing,) = answer(config)["missing"]
    assert missing["is_needed"]
    assert missing["reason"] == "closed"

    run("capacity", config, "--rate", "1", "--measure")

    known = answer(config)
    assert known["missing"] == []
    measured = {point["requests_per_s"] for point in known["replica"]["measured"]}
    assert set(missing["requests_per_s"]) <= measured
    rate = REPLICAS * known["replica"]["carries"]["requests_per_s"]
    with balanced(tmp_path, REPLICAS) as address:
        answered, p99 = under_load(address, 0.9 * rate, 30, tmp_path)
        _, p99_beyond = under_load(address, 1.15 * rate, 30, tmp_path)
    assert answered >= 0.8 * rate
    assert p99 <= LIMIT_MS < p99_beyond
