# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long a search may measure: the one rule of `--budget`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from model_analyzer.domain.measurements import Measurement, Outcome


@dataclass(frozen=True, slots=True)
class Budget:
    """Seconds of measuring that a search may take; `None` sets no limit. What began before `since`
    (seconds since the epoch), in an earlier run, costs nothing.

    A measurement starts only if it is expected to end within the budget. The first one always
    starts: without any measurement, a search would have no answer.
    """

    seconds: float | None = None
    since: float = 0.0

    def covers(self, outcomes: Sequence[Outcome]) -> bool:
        """Whether a further trial fits, if it takes as long as the longest measurement among these
        outcomes. A failure does not tell how long others take.
        """
        if self.seconds is None:
            return True
        measured = [outcome for outcome in outcomes if isinstance(outcome, Measurement)]
        longest = max((outcome.duration_s for outcome in measured), default=0.0)
        spent_s = self._spent_s(outcomes)
        return spent_s < self.seconds and spent_s + longest <= self.seconds

    def limit_s(self, outcomes: Sequence[Outcome]) -> float | None:
        """The seconds that are left after these outcomes; None without a limit."""
        return None if self.seconds is None else max(self.seconds - self._spent_s(outcomes), 0.0)

    def _spent_s(self, outcomes: Iterable[Outcome]) -> float:
        return wall_s(outcome for outcome in outcomes if outcome.started >= self.since)

    def trials(self, trial_s: float) -> int | None:
        """How many trials of `trial_s` seconds fit; None without a limit."""
        return None if self.seconds is None else max(int(self.seconds / trial_s), 1)

    def bounded(self, seconds: float, first_s: float) -> float:
        """The part of `seconds` that the budget allows, where the first trial takes `first_s`."""
        return seconds if self.seconds is None else max(min(seconds, self.seconds), first_s)

    def left(self, seconds: float, spent_s: float) -> float:
        """The part of `seconds` that the budget allows after `spent_s` seconds of measuring."""
        return seconds if self.seconds is None else min(seconds, max(self.seconds - spent_s, 0.0))


def wall_s(outcomes: Iterable[Outcome]) -> float:
    """The seconds in which at least one of these outcomes was measured; parallel ones count once.
    An outcome with an unknown start counts as measured alone.
    """
    total, end = 0.0, 0.0
    for outcome in sorted(outcomes, key=lambda outcome: outcome.started):
        if not outcome.started:
            total += outcome.duration_s
            continue
        finished = outcome.started + outcome.duration_s
        total += max(finished - max(outcome.started, end), 0.0)
        end = max(end, finished)
    return total
