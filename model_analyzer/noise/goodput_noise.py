# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The noise of goodput, beside that of the throughput: that of the share of requests it counts.

The share has a binomial error. It also changes from one instalment to the next, the more the
farther it is from 0 and 1: where all requests meet the limits, goodput is as exact as throughput.
So this drift is compared with the deviation of a single request, the root of share x (1 - share).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.goodput import GOODPUT
from model_analyzer.domain.joint_histogram import LATENCY
from model_analyzer.domain.measurements import ModelMeasurement
from model_analyzer.noise.pooled_histograms import clustering_at

# The drift that is assumed without repetitions; it counts with so many degrees of freedom.
_USUAL_DRIFT, _USUAL_FREEDOM = 0.05, 2.0


def share_error(instalments: Sequence[ModelMeasurement], drift: float) -> float:
    """The relative error of the share of a model's requests in all these instalments together. All
    have a goodput; `drift` is that of `share_drift`.
    """
    share = _pooled_share(instalments)
    if not 0 < share < 1:
        return 0.0
    weights = _weights(instalments)
    variance = math.fsum(
        weight**2 * (_sampling(model, share) + drift**2)
        for weight, model in zip(weights, instalments, strict=True)
    )
    return math.sqrt((1 - share) / share * variance)


def share_drift(repeated: Iterable[Sequence[ModelMeasurement]]) -> float:
    """The drift of the share, from the instalments of models that were measured several times."""
    squares, freedom = _USUAL_FREEDOM * _USUAL_DRIFT**2, _USUAL_FREEDOM
    for group in repeated:
        if not all(GOODPUT in model.values for model in group):
            continue
        share = _pooled_share(group)
        if not 0 < share < 1:
            continue
        deviations = math.fsum((_share(model) - share) ** 2 for model in group)
        sampled = math.fsum(_sampling(model, share) for model in group) * (1 - 1 / len(group))
        squares += deviations / (share * (1 - share)) - sampled
        freedom += len(group) - 1
    return math.sqrt(max(squares, 0.0) / freedom)


def _share(model: ModelMeasurement) -> float:
    return model.values[GOODPUT] / model.values[DEFAULT_OBJECTIVE]


def _pooled_share(instalments: Sequence[ModelMeasurement]) -> float:
    return math.fsum(
        weight * _share(model)
        for weight, model in zip(_weights(instalments), instalments, strict=True)
    )


def _weights(instalments: Sequence[ModelMeasurement]) -> Sequence[float]:
    """The share of each instalment in the requests of all."""
    total = sum(model.requests or 0 for model in instalments) or 1
    return [(model.requests or 0) / total for model in instalments]


def _sampling(model: ModelMeasurement, share: float) -> float:
    """The variance of the share, as a multiple of that of a single request: neighbours are alike,
    so several requests tell as much as one.
    """
    histogram = model.histograms.get(LATENCY)
    clustering = 1.0 if histogram is None else histogram.clustering
    return clustering_at(clustering, min(share, 1 - share)) / max(model.requests or 0, 1)
