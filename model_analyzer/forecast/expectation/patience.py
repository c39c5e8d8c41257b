# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optuna search: it ends when it has found nothing better for a while."""

from __future__ import annotations

from model_analyzer.domain.settings import OptunaSettings
from model_analyzer.forecast.expectation.history import History
from model_analyzer.forecast.searches import Forecast
from model_analyzer.search.optuna_search import trial_counts

# Optuna stops after `early_exit_threshold` trials without a better one. Better ones make the wait
# longer by about this factor.
_BETTER_TRIALS = 1.5


def left_of_optuna(history: History, forecast: Forecast, optuna: OptunaSettings) -> float:
    """The expected number of further trials."""
    finished = len(history.records)
    minimum = 0
    if forecast.size is not None:
        minimum = 1 + trial_counts(forecast.size, optuna)[0]  # with the default
    wait = optuna.early_exit_threshold * _BETTER_TRIALS - (finished - history.best_at)
    return max(wait, minimum - finished, 1.0)
