# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The cost of measurements in time: slow requests and loading a variant make them longer."""

from __future__ import annotations

import math

import numpy as np

from model_analyzer.noise.first_look import first_look_s
from model_analyzer.search.adaptive.queueing_model import Floats

# Fewer measurements allow no estimate.
_MIN_MEASUREMENTS = 3
# Bounds of an estimated duration.
_MIN_DURATION, _MAX_DURATION = 0.5, 4.0

# perf_analyzer's start and end, in seconds.
_LAUNCH_S = 0.15

# The cost of loading a variant, in measurements. The default counts as one observation. With an
# upper bound of 2, a search with loads of 60 s took an eighth longer and found no more.
_DEFAULT_LOADING, _MAX_LOADING = 0.15, 30.0
# A shorter loading time, as a part of a measurement, means that the variant was loaded already.
_LOADED = 0.01


def relative_durations(request_s: Floats, measured_s: Floats, spent_s: Floats) -> Floats:
    """Estimated durations of measurements, as multiples of the mean duration so far.

    `request_s`: the request latency of each planned measurement. `measured_s` and `spent_s`: the
    request latency and the duration of each finished one. Durations are noisy, so the estimated
    slope is reduced by one standard error.
    """
    centred = measured_s - measured_s.mean()
    if len(spent_s) < _MIN_MEASUREMENTS or not spent_s.any() or not centred.any():
        return np.ones(len(request_s))
    squares = float(centred @ centred)
    slope = float(centred @ spent_s) / squares
    residuals = spent_s - spent_s.mean() - slope * centred
    error = math.sqrt(float(residuals @ residuals) / (len(spent_s) - 2) / squares)
    multiple = 1 + max(slope - error, 0.0) * (request_s - measured_s.mean()) / spent_s.mean()
    return np.asarray(multiple.clip(_MIN_DURATION, _MAX_DURATION))


def first_looks_s(load: Floats, request_s: Floats) -> Floats:
    """The lengths of first looks in seconds, by trial. `load` is the number of requests in flight,
    `request_s` their latency; where that is 0, the load is a rate.
    """
    is_open = request_s == 0
    rates = load / np.where(is_open, 1, request_s)
    in_flight = np.where(is_open, 0, load)
    return np.array([*map(first_look_s, rates.tolist(), in_flight.tolist())])


def round_durations(lengths_s: Floats, request_s: Floats) -> Floats:
    """The durations of rounds of such lengths: each ends when its last request, with so long
    a latency, is answered.
    """
    return _LAUNCH_S + lengths_s + request_s


def loading_cost(loading_s: Floats, measuring_s: Floats) -> float:
    """The cost of loading a variant, in measurements.

    `loading_s`: the loading times so far. `measuring_s`: the durations of the measurements. Without
    recorded times the result is the default.
    """
    if not measuring_s.any():
        return _DEFAULT_LOADING
    ratios = loading_s / measuring_s.mean()
    ratios = ratios[ratios > _LOADED]
    if len(ratios) == 0:
        return _DEFAULT_LOADING
    estimate = (_DEFAULT_LOADING + len(ratios) * float(np.median(ratios))) / (1 + len(ratios))
    return min(estimate, _MAX_LOADING)
