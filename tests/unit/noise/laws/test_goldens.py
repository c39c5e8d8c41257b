# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""No real measurement in the repository breaks a law."""

from __future__ import annotations

from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import FailureReason
from model_analyzer.noise.pooling import pooled_trials
from model_analyzer.state.checkpoint import read_file

_GOLDEN = Path(__file__).parents[3] / "golden"
# A simulated server, whose own times have nothing to do with its latencies.
_SIMULATED = {"rounds": {"parts of a request"}}

_CHECKPOINTS = sorted(_GOLDEN.rglob("*.ckpt"))


@pytest.mark.parametrize("path", _CHECKPOINTS, ids=lambda path: str(path.relative_to(_GOLDEN)))
def test_no_golden_measurement_breaks_a_law(path: Path) -> None:
    profile = read_file(path).profile
    measured = [record.outcome for record in profile.records]
    measured += [item.measurement for item in pooled_trials(profile.measured)]
    doubts = {
        doubt.law for each in measured if isinstance(each, Measurement) for doubt in each.doubts
    }
    assert doubts <= _SIMULATED.get(path.parent.name, set())
    failures = [failed.failure.reason for failed in profile.failed]
    assert FailureReason.IMPOSSIBLE_VALUES not in failures
