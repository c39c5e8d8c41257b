# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Why a search ended, in words; what a time budget covers, and what is left of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.profiles import StopReason
from model_analyzer.domain.settings import Budget
from tests.unit.builders import conclusion, trial
from tests.unit.state.samples import failure, measurement

RAISE_IT = "(raise it with --max-measurements)"


@pytest.mark.parametrize(
    ("reason", "limit", "expected"),
    [
        (StopReason.LIMIT, 13, f"measurement limit of 13 reached {RAISE_IT}"),
        (StopReason.LIMIT, None, f"measurement limit reached {RAISE_IT}"),
        (
            StopReason.BUDGET,
            13,
            "no further measurement fits into the rest of the time budget (raise it with --budget)",
        ),
        (StopReason.NOTHING_WORTH, 13, "no further measurement is expected to improve the answer"),
        (StopReason.UNKNOWN, None, "the checkpoint does not say why"),
    ],
)
def test_a_conclusion_says_why_and_what_to_do(
    reason: StopReason, limit: int | None, expected: str
) -> None:
    concluded = replace(conclusion(trial(), 2), reason=reason, limit=limit)

    assert concluded.explanation == expected


def lasting(outcome: Outcome, seconds: float) -> Outcome:
    return replace(outcome, duration_s=seconds)


MEASURED, FAILED = lasting(measurement(), 4), lasting(failure(), 41)


@pytest.mark.parametrize(
    ("outcomes", "seconds", "covers"),
    [
        ([], 1, True),  # the first one always starts
        ([MEASURED], 8, True),
        ([MEASURED], 7.9, False),
        ([MEASURED, FAILED], 49, True),  # the next one is not expected to fail
        ([MEASURED, FAILED], 48, False),
        ([FAILED], 42, True),
        ([FAILED], 41, False),  # it is spent
        ([FAILED], 30, False),
    ],
)
def test_a_measurement_starts_if_one_as_long_as_the_longest_fits(
    outcomes: list[Outcome], seconds: float, covers: bool
) -> None:
    assert Budget(seconds).covers(outcomes) is covers
    assert Budget().covers(outcomes)


def test_what_is_left_is_never_negative() -> None:
    assert Budget().limit_s([FAILED]) is None
    assert Budget(60).limit_s([]) == 60
    assert Budget(60).limit_s([MEASURED, FAILED]) == 15
    assert Budget(30).limit_s([MEASURED, FAILED]) == 0
