# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a search that learns came to: more than its measurements say one by one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """Why a search ended, what it recommends, and what it may have missed.

    `recommended` is the key of the trial's first measurement. That counts for one `goal` (its
    identity), and while no other trials are known than those it is concluded from: so many
    `trials`, repeated or not, failed or not. Something that is better by `margin` (a fraction)
    remains with the probability `chance`, and going on could be expected to gain `gain`. If it is
    not `feasible`, nothing measured keeps the constraints, and `chance` and `gain` are the
    probability that something else does.
    """

    recommended: str
    goal: str
    feasible: bool
    trials: int
    reason: str
    margin: float
    chance: float
    gain: float
