# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The bottleneck of an ensemble, from the server's statistics of each composing model.

The busy share of a model is its execution time divided by the time its instances had. The busiest
step of an ensemble is the bottleneck. Busy shares rank the steps but predict no throughput: on a
fully loaded machine, one more instance of a step slows down all steps.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from model_analyzer.domain.measurements import Measurement, ModelStatistics
from model_analyzer.search.adaptive.queueing_model import Floats, Flow

# A model with a higher busy share makes its caller wait.
_BUSY = 0.7

# The standard deviation of a busy share around its prediction, as a logarithm; and the number of
# standard deviations after which a difference counts no more: the machine may do other work.
_DEVIATION, _FAR = 0.3, 2.8

_NOTHING = ModelStatistics(inferences=0, executions=0)


def busy_shares(
    measured: Sequence[Measurement],
    throughput: Floats,
    top: str,
    models: Sequence[str],
    instances: Floats,
) -> Floats:
    """The logarithm of the busy share, by measurement (rows) and model (columns).

    `throughput` is that of the model `top`, by measurement; `instances` has the shape of the
    result. NaN where the server has no statistics, and for a model that waits for its callees.
    """
    work = np.array(
        [[_seconds(measurement, top, name) for name in models] for measurement in measured]
    )
    shares = work * throughput[:, None] / instances
    if top in models and len(models) > 1:
        # its execution time includes waiting for the models that it calls
        column = models.index(top)
        waits = (np.delete(shares, column, axis=1) > _BUSY).any(axis=1)
        shares[waits, column] = math.nan
    return np.log(np.where(shares > 0, shares, math.nan))


def likelihood(shares: Floats, flow: Flow) -> Floats:
    """The log-likelihood of each particle, given the busy share of each station.

    Stations other than the busiest form smaller batches than the law predicts, so they may be
    busier than predicted without a penalty.
    """
    total = np.zeros(len(flow.throughput))
    highest = np.fmax.reduce(shares, axis=1)
    for limit, share in zip(flow.limits, shares.T, strict=True):
        rows = np.flatnonzero(~np.isnan(share))
        deviations = ((flow.throughput - limit)[:, rows] - share[rows]) / _DEVIATION
        lowest = np.where(share < highest, 0.0, -_FAR)[rows]
        total -= 0.5 * np.square(np.clip(deviations, lowest, _FAR)).sum(axis=1)
    return total


def _seconds(measurement: Measurement, top: str, name: str) -> float:
    """The execution time of a model for each inference of the model `top`."""
    whole, part = (measurement.statistics.get(model, _NOTHING) for model in (top, name))
    return part.busy_ms / 1000 / whole.served if whole.served else math.nan
