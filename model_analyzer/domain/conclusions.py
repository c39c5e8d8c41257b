# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a search that learns from all its measurements together expects, and its conclusion."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from model_analyzer.domain.numbers import percent_text


class StopReason(Enum):
    """Why a search ended; UNKNOWN if a checkpoint has a text that this version does not know."""

    LIMIT = "limit"
    KEPT = "kept"
    BUDGET = "budget"
    NOTHING_WORTH = "nothing worth"
    STALLED = "stalled"
    SURE = "sure"
    EVERYTHING = "everything"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What further trials could bring: the `chance` that one is better than the best so far by more
    than `margin` (a fraction), and the expected `gain` of the best of them. If no trial is
    `feasible` so far, both are the probability that another one meets the constraints.
    """

    chance: float
    gain: float
    margin: float
    feasible: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """Why a search ended, what it recommends, and what it may have missed.

    `recommended` is the key of the trial's first measurement. It is valid for one `goal` (its
    identity) and while the checkpoint has no trials except the `trials` that the search measured,
    including failed ones; a repeated trial counts once. `limit` is the largest number of
    measurements that the search could take (older checkpoints lack it), and `has_default_limit`
    tells that the user did not set it. With the probability `chance`, a configuration that is
    better by `margin` (a fraction) was not measured; `gain` is the expected gain of continuing. If
    it is not `feasible`, no measured configuration meets the constraints, and `chance` and `gain`
    are the probability that another one does. If there is a `rival`, a trial of another variant,
    only a difference of `noise_percent` would tell it from the recommended one, although both were
    repeated.
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
    rival: str = ""
    noise_percent: float = 0.0

    @property
    def doubt(self) -> str:
        """Why the recommendation may be chance, and what the user can do about it; "" if it is
        none.
        """
        if not self.rival:
            return ""
        return (
            f"This machine is too noisy to tell the recommended configuration from {self.rival}"
            f" (± {percent_text(self.noise_percent)}): stop what else runs on it, and measure again"
            " with another --checkpoint-directory."
        )

    @property
    def explanation(self) -> str:
        """The reason in words, with what the user can do about it."""
        match self.reason:
            case StopReason.LIMIT | StopReason.KEPT:
                limit = "" if self.limit is None else f" of {self.limit}"
                is_kept = self.reason is StopReason.KEPT
                what = "leaves too few to confirm another configuration" if is_kept else "reached"
                return f"measurement limit{limit} {what} (raise it with --max-measurements)"
            case StopReason.BUDGET:
                rest = "no further measurement fits into the rest of the time budget"
                return f"{rest} (raise it with --budget)"
            case StopReason.NOTHING_WORTH:
                return "no further measurement is expected to improve the answer"
            case StopReason.STALLED:
                what = "the second half of its time brought less than 1 %"
                return f"{what} (go on with --max-measurements)"
            case StopReason.SURE:
                return "the answer is sure enough (more: --stop-when-sure)"
            case StopReason.EVERYTHING:
                return "every configuration was measured"
            case StopReason.UNKNOWN:
                return "the checkpoint does not say why"
