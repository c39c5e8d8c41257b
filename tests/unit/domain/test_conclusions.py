# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Why a search ended, in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.conclusions import StopReason
from tests.unit.builders import conclusion, trial

RAISE_IT = "(raise it with --max-measurements)"


@pytest.mark.parametrize(
    ("reason", "limit", "expected"),
    [
        (
            StopReason.LIMIT,
            13,
            f"measurement limit of 13 reached {RAISE_IT}",
        ),
        (StopReason.LIMIT, None, f"measurement limit reached {RAISE_IT}"),
        (
            StopReason.BUDGET,
            13,
            "no further measurement fits into the rest of the time budget (raise it with --budget)",
        ),
        (
            StopReason.NOTHING_WORTH,
            13,
            "no further measurement is expected to improve the answer",
        ),
        (StopReason.UNKNOWN, None, "the checkpoint does not say why"),
    ],
)
def test_a_conclusion_says_why_and_what_to_do(
    reason: StopReason, limit: int | None, expected: str
) -> None:
    concluded = replace(conclusion(trial(), 2), reason=reason, limit=limit)

    assert concluded.explanation == expected
