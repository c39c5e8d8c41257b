# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What latencies are beside the average that the queueing law gives: a factor.

It depends on how busy the server is (in two ways), on how long the queue is, on the number of
instances, and in a closed loop on how uneven batches are.
"""

from __future__ import annotations

import numpy as np

from model_analyzer.search.adaptive.queueing import Floats, Settings
from model_analyzer.search.adaptive.regression import Prior

_WEIGHTS = [1.0, 0.4, 0.4, 0.1, 0.05]
CLOSED_TAIL = Prior(weights=np.array([*_WEIGHTS, 0.1]), amplitude=0.12, noise=0.03)
OPEN_TAIL = Prior(weights=np.array(_WEIGHTS), amplitude=0.15, noise=0.03)

# Batches are uneven once there are more requests than instances, and as long as these do not fill
# all batches: most of the way within a doubling.
_ABOVE, _BELOW, _SOFTLY = 1.5, 0.6, 0.6


def closed_tail(at: Settings, busy: Floats) -> Floats:
    """With a constant number of requests in flight: a row of features for each trial, where the
    server is so `busy` (0 to 1).
    """
    return np.stack([*_tail(at, busy), unevenness(at)], axis=1)


def open_tail(at: Settings, busy: Floats) -> Floats:
    """The same with a constant number of requests sent per second."""
    return np.stack(_tail(at, busy), axis=1)


def unevenness(at: Settings) -> Floats:
    """How different batches are for each trial, at the worst station, in doublings of instances.

    An instance that is free takes all that waits: one batch is large then, and the next ones are
    small. Not so where there is one instance only, or one for each request, or where the requests
    in flight fill all batches.
    """
    requests = (at.flight / at.client)[:, None]
    several = 1 - np.minimum(at.instances / requests, 1) ** _ABOVE
    free = np.log2(_room(at) / at.flight[:, None])
    partly = 1 / (1 + np.exp((_BELOW - free) / _SOFTLY))
    return np.asarray((np.log2(at.instances) * several * partly).max(axis=1))


def _tail(at: Settings, busy: Floats) -> list[Floats]:
    queue = np.log2(1 + at.flight / _room(at).min(axis=1)) / 5
    sizes = np.log2(at.instances).mean(axis=1)
    return [np.ones(len(busy)), busy, busy**6, queue, sizes]


def _room(at: Settings) -> Floats:
    """The inferences that the instances of each station can work on at once."""
    return np.asarray(at.instances * np.maximum(at.batch, at.client[:, None]))
