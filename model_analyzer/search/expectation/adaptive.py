# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""An adaptive search takes most of what it may, and then measures the best again."""

from __future__ import annotations

from model_analyzer.domain.settings import AdaptiveSettings
from model_analyzer.search.expectation.told import Told
from model_analyzer.search.plan import Subject

# An adaptive search takes about this share of what it may; at its end it repeats the best a
# few times.
_ADAPTIVE = 0.97
_REPETITIONS = 4.0
_LEAST_LEFT = 3.0


def left_of_adaptive(
    told: Told, subject: Subject, limits: AdaptiveSettings, most_trials: int
) -> float:
    """Further trials; it may take `most_trials` where nothing keeps the constraints."""
    done = len(told.records)
    most = _most(told, subject, limits, most_trials)
    repeated = sum(record.trial.repetition > 0 for record in told.records)
    if repeated and told.records[-1].trial.repetition:
        left = max(_REPETITIONS - repeated, 1.0)
    else:
        left = max(_ADAPTIVE * most - done, _LEAST_LEFT)
    return max(min(left, most - done), 1.0)


def _most(told: Told, subject: Subject, limits: AdaptiveSettings, most_trials: int) -> int:
    """What an adaptive search may take, as long as it is not in need of more."""
    goal = subject.goal
    if limits.max_trials is not None or not goal.has_constraints:
        return most_trials
    is_lost = told.leader is not None and not goal.passes(told.leader)
    return most_trials if is_lost and len(told.records) > most_trials / 2 else most_trials * 2 // 3
