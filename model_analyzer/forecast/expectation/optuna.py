# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optuna goes on until nothing better has come for a while."""

from __future__ import annotations

from model_analyzer.domain.settings import OptunaSettings
from model_analyzer.forecast.expectation.progress import SearchProgress
from model_analyzer.forecast.searches import Forecast
from model_analyzer.search.optuna_search import trial_counts

# Optuna waits for a better one; with those that come, about so many times as long as it may.
_BETTER_ONES = 1.5


def left_of_optuna(progress: SearchProgress, forecast: Forecast, optuna: OptunaSettings) -> float:
    """Further trials."""
    done = len(progress.records)
    least = 0
    if forecast.size is not None:
        least = 1 + trial_counts(forecast.size, optuna)[0]  # and the default
    waits = optuna.early_exit_threshold * _BETTER_ONES - (done - progress.best_at)
    return max(waits, least - done, 1.0)
