# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Quick search: it is expected to take as many trials as usual."""

from __future__ import annotations

from model_analyzer.forecast.expectation.history import History
from model_analyzer.forecast.searches import Forecast
from model_analyzer.search.plan import Subject

# A climb takes about `_CLIMB + _CLIMB_PER_DIMENSION * dimensions` trials, and more under
# constraints. A longer climb takes a few more.
_CLIMB, _CLIMB_PER_DIMENSION = 5, 2
_CLIMB_ALONG_CONSTRAINTS = 3
_LEAST_LEFT = 3.0


def left_of_climb(history: History, subject: Subject, forecast: Forecast) -> float:
    """The expected number of further trials."""
    usual = _CLIMB + _CLIMB_PER_DIMENSION * len(forecast.varied)
    usual += _CLIMB_ALONG_CONSTRAINTS if subject.goal.has_constraints else 0
    return max(usual - len(history.records), _LEAST_LEFT)
