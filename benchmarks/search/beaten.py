# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a search measured that is better than what it recommends, by its own measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement, averaged
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial

# Means are apart where they are so many standard errors of their difference apart.
_ERRORS = 3.0


def better_measured(
    records: Sequence[TrialRecord], recommended: Trial, goal: Goal, sigma: float
) -> Sequence[Trial]:
    """What was measured and is better than the recommendation by more than three standard errors,
    where both keep the constraints in the mean. `sigma` is the noise of a measurement (a fraction).
    """
    runs: dict[str, list[Measurement]] = {}
    trials: dict[str, Trial] = {}
    for record in records:
        if isinstance(record.outcome, Measurement):
            first = record.trial.first
            trials[first.key] = first
            runs.setdefault(first.key, []).append(record.outcome)
    own = runs[recommended.first.key]
    mean = averaged(own)
    # a tail is as noisy again as the throughput that it follows
    noise = sigma * (1 if goal.is_for_throughput else math.sqrt(2))

    def beats(others: Sequence[Measurement]) -> bool:
        other = averaged(others)
        error = noise * math.sqrt(1 / len(others) + 1 / len(own))
        return goal.passes(other) and goal.score(other, mean) > _ERRORS * error

    if not goal.passes(mean):
        return ()
    return [trials[key] for key, others in runs.items() if beats(others)]
