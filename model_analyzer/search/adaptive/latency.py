# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The factor between a latency metric and the average latency of the queueing law.

Its features are how busy the server is (linear and steep), the length of the queue, the number of
instances, and in a closed loop how uneven the batches are.
"""

from __future__ import annotations

import numpy as np

from model_analyzer.search.adaptive.queueing_model import Floats, Settings
from model_analyzer.search.adaptive.regression import Prior

_WEIGHTS = [1.0, 0.4, 0.4, 0.1, 0.05]
CLOSED_TAIL = Prior(weights=np.array([*_WEIGHTS, 0.1]), amplitude=0.12, noise=0.03)
OPEN_TAIL = Prior(weights=np.array(_WEIGHTS), amplitude=0.15, noise=0.03)

# Batches are uneven if there are more requests than instances, but too few to fill all batches.
# Both transitions take about one doubling of the load.
_LOWER_POWER, _UPPER, _UPPER_WIDTH = 1.5, 0.6, 0.6


def closed_tail(settings: Settings, busy: Floats) -> Floats:
    """The features of each trial (rows) with a constant number of requests in flight.

    `busy` is the utilisation of the server, from 0 to 1.
    """
    return np.stack([*_tail(settings, busy), unevenness(settings)], axis=1)


def open_tail(settings: Settings, busy: Floats) -> Floats:
    """The features of each trial (rows) with a constant request rate."""
    return np.stack(_tail(settings, busy), axis=1)


def unevenness(settings: Settings) -> Floats:
    """How uneven the batches of each trial are at its worst station, in doublings of instances.

    A free instance takes all waiting requests, so a large batch is followed by small ones. Batches
    are even if there is one instance, or one for each request, or if the requests fill all batches.
    """
    requests = (settings.flight / settings.client)[:, None]
    several = 1 - np.minimum(settings.instances / requests, 1) ** _LOWER_POWER
    free = np.log2(_capacity(settings) / settings.flight[:, None])
    partly = 1 / (1 + np.exp((_UPPER - free) / _UPPER_WIDTH))
    return np.asarray((np.log2(settings.instances) * several * partly).max(axis=1))


def _tail(settings: Settings, busy: Floats) -> list[Floats]:
    queue = np.log2(1 + settings.flight / _capacity(settings).min(axis=1)) / 5
    sizes = np.log2(settings.instances).mean(axis=1)
    return [np.ones(len(busy)), busy, busy**6, queue, sizes]


def _capacity(settings: Settings) -> Floats:
    """The number of inferences that all instances of each station process at once."""
    return np.asarray(settings.instances * np.maximum(settings.batch, settings.client[:, None]))
