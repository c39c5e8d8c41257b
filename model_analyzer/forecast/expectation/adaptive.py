# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""An adaptive search takes most of what it may, and then measures the best again."""

from __future__ import annotations

from model_analyzer.forecast.expectation.progress import SearchProgress

# An adaptive search takes about this share of what it may; at its end it repeats the best a
# few times.
_ADAPTIVE = 0.97
_REPETITIONS = 4.0
_LEAST_LEFT = 3.0


def left_of_adaptive(progress: SearchProgress, most_trials: int) -> float:
    """Further trials of a search that may take `most_trials`."""
    done = len(progress.records)
    repeated = sum(record.trial.repetition > 0 for record in progress.records)
    if repeated and progress.records[-1].trial.repetition:
        left = max(_REPETITIONS - repeated, 1.0)
    else:
        left = max(_ADAPTIVE * most_trials - done, _LEAST_LEFT)
    return max(min(left, most_trials - done), 1.0)
