# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trials that are better than the recommendation of a search, by its own measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.pooling import pool

# Means differ significantly if their difference is this number of standard errors.
_ERRORS = 3.0


def better_measured(
    records: Sequence[TrialRecord], recommended: Trial, goal: Goal, sigma: float
) -> Sequence[Trial]:
    """The measured trials that are better than the recommendation by more than three standard
    errors. Both must meet the constraints in the mean. `sigma` is the relative noise of a
    measurement.
    """
    runs: dict[str, list[Measurement]] = {}
    trials: dict[str, Trial] = {}
    for record in records:
        if isinstance(record.outcome, Measurement):
            first = record.trial.first
            trials[first.key] = first
            runs.setdefault(first.key, []).append(record.outcome)
    of_recommended = runs[recommended.first.key]
    mean = pool(of_recommended)
    # p99 has the noise of the throughput, and as much again of its own
    noise = sigma * (1 if goal.is_for_throughput else math.sqrt(2))

    def beats(measurements: Sequence[Measurement]) -> bool:
        average = pool(measurements)
        error = noise * math.sqrt(1 / len(measurements) + 1 / len(of_recommended))
        return goal.passes(average) and goal.score(average, mean) > _ERRORS * error

    if not goal.passes(mean):
        return ()
    return [trials[key] for key, measurements in runs.items() if beats(measurements)]
