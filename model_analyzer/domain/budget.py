# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long a search may measure: the one rule of `--budget`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """Seconds of measuring that a search may take, `None` for as long as it wants.

    A measurement that is not expected to end within the budget is not begun, except the first:
    a search without any measurement would have no answer.
    """

    seconds: float | None = None

    def covers(self, spent: Sequence[float], trials: int = 1) -> bool:
        """Whether so many further trials end in time, each as long as the longest so far.

        `spent` are the seconds of the trials that were measured.
        """
        longest = max(spent, default=0.0)
        return self.seconds is None or sum(spent) + trials * longest <= self.seconds

    def trials(self, trial_s: float) -> int | None:
        """How many trials of `trial_s` seconds fit; None where there is no bound."""
        return None if self.seconds is None else max(int(self.seconds / trial_s), 1)

    def bounded(self, seconds: float, first_s: float) -> float:
        """The part of `seconds` that the budget allows, where the first trial takes `first_s`."""
        return seconds if self.seconds is None else max(min(seconds, self.seconds), first_s)

    def left(self, seconds: float, spent_s: float) -> float:
        """The part of `seconds` that the budget allows after `spent_s` seconds of measuring."""
        return seconds if self.seconds is None else min(seconds, max(self.seconds - spent_s, 0.0))
