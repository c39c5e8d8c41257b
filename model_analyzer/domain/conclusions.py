# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a search that learns came to: more than its measurements say one by one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class StopReason(Enum):
    """Why a search ended. Of a checkpoint that says it in words of its own, it is UNKNOWN."""

    LIMIT = "limit"
    BUDGET = "budget"
    NOTHING_WORTH = "nothing worth"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """Why a search ended, what it recommends, and what it may have missed.

    `recommended` is the key of the trial's first measurement. That counts for one `goal` (its
    identity), and while no other trials are known than those it is concluded from: so many
    `trials`, repeated or not, failed or not. `limit` is the number of measurements that the search
    could take, whatever it stopped for (older checkpoints lack it), and `has_default_limit` says
    that the user did not set it. Something that is better by `margin` (a fraction)
    remains with the probability `chance`, and going on could be expected to gain `gain`. If it is
    not `feasible`, nothing measured meets the constraints, and `chance` and `gain` are the
    probability that something else does.
    """

    recommended: str
    goal: str
    feasible: bool
    trials: int
    reason: StopReason
    limit: int | None = None
    has_default_limit: bool = True
    margin: float
    chance: float
    gain: float

    @property
    def explanation(self) -> str:
        """The reason in words, with what the user can do about it."""
        match self.reason:
            case StopReason.LIMIT:
                limit = "" if self.limit is None else f" of {self.limit}"
                return f"measurement limit{limit} reached (raise it with --max-trials)"
            case StopReason.BUDGET:
                return "time budget used up (raise it with --budget)"
            case StopReason.NOTHING_WORTH:
                return "no further measurement is expected to improve the answer"
            case StopReason.UNKNOWN:
                return "the checkpoint does not say why"
