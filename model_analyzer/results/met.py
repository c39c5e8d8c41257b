# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whether constraints are met, where it is said: what was not measured is never met."""

from __future__ import annotations

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement


def are_met(goal: Goal, measurement: Measurement) -> bool | None:
    """Whether a measurement meets all constraints; None if it meets those whose metrics it has, and
    lacks others.
    """
    if not goal.unchecked(measurement):
        return goal.passes(measurement)
    return False if goal.shortfall(measurement) else None
