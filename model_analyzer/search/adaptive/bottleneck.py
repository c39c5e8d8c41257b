# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which of the models that work on a request limits it, by what the server counted of each.

The busy share of a model is the time of its executions, as a part of the time that its instances
had. The busiest step of an ensemble limits it. That ranks steps, and predicts nothing: on a machine
that is full, an instance more of one step slows down all of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.statistics import ModelStatistics
from model_analyzer.search.adaptive.queueing import Floats, Flow

# A model that is busy for this share of the time keeps the one that calls it waiting.
_BUSY = 0.7

# How far a share may be from what a set of unknowns says, as a logarithm. What is farther away than
# a few times that counts as much as that: the machine may have had other work.
_UNSURE, _FAR = 0.3, 2.8

_NOTHING = ModelStatistics(inferences=0, executions=0)


def busy_shares(
    measured: Sequence[Measurement],
    throughput: Floats,
    top: str,
    models: Sequence[str],
    instances: Floats,
) -> Floats:
    """How busy each of the models (columns) was in each measurement, as a logarithm, with so many
    `instances`; `top` is the model that the `throughput` is of. Not a number where nobody knows.
    """
    work = np.array([[_seconds(one, top, name) for name in models] for one in measured])
    shares = work * throughput[:, None] / instances
    if top in models and len(models) > 1:
        # while it waits for models that it calls, it seems to work
        own = models.index(top)
        waits = (np.delete(shares, own, axis=1) > _BUSY).any(axis=1)
        shares[waits, own] = math.nan
    return np.log(np.where(shares > 0, shares, math.nan))


def likelihood(shares: Floats, flow: Flow) -> Floats:
    """The log-likelihood of each set of unknowns, by how busy it says that each station is.

    Those that are not the busiest form smaller batches than the law thinks: it may take them for
    less busy than they were.
    """
    total = np.zeros(len(flow.throughput))
    most = np.fmax.reduce(shares, axis=1)
    for limit, share in zip(flow.limits, shares.T, strict=True):
        known = np.flatnonzero(~np.isnan(share))
        apart = ((flow.throughput - limit)[:, known] - share[known]) / _UNSURE
        least = np.where(share < most, 0.0, -_FAR)[known]
        total -= 0.5 * np.square(np.clip(apart, least, _FAR)).sum(axis=1)
    return total


def _seconds(measured: Measurement, top: str, name: str) -> float:
    """How long a model works for one inference of the model at the top."""
    whole, part = (measured.statistics.get(one, _NOTHING) for one in (top, name))
    return part.busy_ms / 1000 / whole.inferences if whole.inferences else math.nan
