# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The length of further instalments of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import Trial

# Seconds: shorter instalments tell little, longer ones are better measured as several.
_LEAST_S, _MOST_S = 2.0, 15.0


def measured_again(trial: Trial, attempt: int, measurements: Sequence[Measurement]) -> Trial:
    """The trial for another attempt, the first of which is 0. A further instalment is as long as
    all of its `measurements` together.
    """
    again = replace(trial, repetition=attempt)
    if trial.instalment_s is None or not attempt:
        return again
    seconds = sum(min(model.seconds for model in each.models) for each in measurements)
    return replace(again, instalment_s=min(max(seconds, _LEAST_S), _MOST_S))
