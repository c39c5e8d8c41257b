# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Predicts goodput by its definition: the part of the predicted throughput within the limits.

Measured goodput says little about other trials: it is 0 wherever latencies are beyond the limit, by
whatever. Throughput and latencies follow laws, so they tell where it begins.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import median

import numpy as np

from model_analyzer.domain.goals import ModelGoal
from model_analyzer.domain.goodput import GOODPUT, request_limits
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import canonical
from model_analyzer.search.adaptive.queueing_model import Floats
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Predictions

# The deviation of the logarithms of latencies, if it was not measured, and at least.
_USUAL, _LEAST = 0.3, 0.03
# Where the 99th percentile of a normal distribution lies, in deviations.
_AT_P99 = 2.326
# A normal distribution is nearly a logistic one of this steepness.
_STEEPNESS = 1.702
_PERCENTILE = re.compile(r"_p(\d+)$")


def with_goodput(
    predictions: Predictions, goal: ModelGoal, measured: Sequence[Measurement], index: int
) -> Predictions:
    """The predictions of the model with that index, with goodput if it is judged by that and has
    it: by throughput and latencies, which are taken as lognormal. Without it if a latency has no
    predictions.
    """
    if GOODPUT not in goal.tags or all(m.model_value(index, GOODPUT) is None for m in measured):
        return predictions
    limits = request_limits(goal)
    tags = {family: _predicted(goal, family, predictions) for family in limits}
    if "" in tags.values():
        return predictions
    within: Floats = predictions.values[THROUGHPUT]
    for family, limit in limits.items():
        tag = tags[family]
        found = _PERCENTILE.search(tag)
        rank = int(found[1]) / 100 if found else 0.5  # an average is nearly a median
        deviations = [*_deviations(measured, index, family)]
        deviation = max(median(deviations), _LEAST) if deviations else _USUAL
        room = np.log(limit / np.maximum(predictions.values[tag], 1e-9)) / deviation
        within = within / (1 + (1 - rank) / rank * np.exp(np.clip(-_STEEPNESS * room, -50, 50)))
    return replace(
        predictions,
        values={**predictions.values, GOODPUT: within},
        noise={**predictions.noise, GOODPUT: predictions.noise[THROUGHPUT]},
    )


def _predicted(goal: ModelGoal, family: str, predictions: Predictions) -> str:
    """The latency of the family that a constraint is about and that has predictions; "" if none."""
    tags = (canonical(constraint.tag) for constraint in goal.constraints)
    return next(
        (tag for tag in tags if tag.rpartition("_")[0] == family and tag in predictions.values), ""
    )


def _deviations(measured: Sequence[Measurement], index: int, family: str) -> Iterator[float]:
    """The deviation of the logarithms of latencies in each measurement that has it."""
    for each in measured:
        p50, p99 = (each.model_value(index, f"{family}_p{rank}") for rank in (50, 99))
        if p50 and p99:
            yield math.log(max(p99 / p50, 1.0)) / _AT_P99
