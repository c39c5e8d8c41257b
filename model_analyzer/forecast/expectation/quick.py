# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A climb has no list: it takes what climbs usually take."""

from __future__ import annotations

from model_analyzer.forecast.expectation.progress import SearchProgress
from model_analyzer.forecast.searches import Forecast
from model_analyzer.search.plan import Subject

# A climb in so many dimensions takes about `_CLIMB + _CLIMB_PER_DIMENSION * dimensions` trials,
# more where it goes along constraints, and one that has taken more goes on for a few.
_CLIMB, _CLIMB_PER_DIMENSION = 5, 2
_CLIMB_ALONG_CONSTRAINTS = 3
_LEAST_LEFT = 3.0


def left_of_climb(progress: SearchProgress, subject: Subject, forecast: Forecast) -> float:
    """Further trials."""
    usual = _CLIMB + _CLIMB_PER_DIMENSION * len(forecast.varied)
    usual += _CLIMB_ALONG_CONSTRAINTS if subject.goal.has_constraints else 0
    return max(usual - len(progress.records), _LEAST_LEFT)
