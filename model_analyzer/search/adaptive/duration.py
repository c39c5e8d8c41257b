# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What measurements cost: the time that they take is longer where a request takes long, and where a
variant has to be loaded first.
"""

from __future__ import annotations

import math

import numpy as np

from model_analyzer.search.adaptive.queueing import Floats

# Fewer measurements say nothing about it.
_FEWEST = 3
# What is foreseen is within these bounds.
_QUICKEST, _SLOWEST = 0.5, 4.0

# What loading a variant costs, in measurements, before that is known (it counts as much as one that
# was timed), and at most: those that are alike tell less.
_USUAL_LOADING, _MOST_LOADING = 0.15, 2.0
# What took this part of a measurement was loaded already.
_LOADED = 0.01


def multiples(request_s: Floats, known_s: Floats, spent_s: Floats) -> Floats:
    """How long measurements would take whose requests take `request_s`, as multiples of the mean of
    those so far, which took `spent_s` with requests of `known_s`.

    Durations differ by chance, too: what they show counts by a standard error less.
    """
    apart = known_s - known_s.mean()
    if len(spent_s) < _FEWEST or not spent_s.any() or not apart.any():
        return np.ones(len(request_s))
    squares = float(apart @ apart)
    slope = float(apart @ spent_s) / squares
    off = spent_s - spent_s.mean() - slope * apart
    error = math.sqrt(float(off @ off) / (len(spent_s) - 2) / squares)
    multiple = 1 + max(slope - error, 0.0) * (request_s - known_s.mean()) / spent_s.mean()
    return np.asarray(multiple.clip(_QUICKEST, _SLOWEST))


def loading(loading_s: Floats, measuring_s: Floats) -> float:
    """What loading a variant costs, in measurements that take `measuring_s` each, after some took
    `loading_s` to load. Where nobody took the time, it is as usual.
    """
    if not measuring_s.any():
        return _USUAL_LOADING
    ratios = loading_s / measuring_s.mean()
    ratios = ratios[ratios > _LOADED]
    if len(ratios) == 0:
        return _USUAL_LOADING
    estimate = (_USUAL_LOADING + len(ratios) * float(np.median(ratios))) / (1 + len(ratios))
    return min(estimate, _MOST_LOADING)
