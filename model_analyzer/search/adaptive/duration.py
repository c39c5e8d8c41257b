# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long measurements take: longer where a request takes long."""

from __future__ import annotations

import math

import numpy as np

from model_analyzer.search.adaptive.queueing import Floats

# Fewer measurements say nothing about it.
_FEWEST = 3
# What is foreseen is within these bounds.
_QUICKEST, _SLOWEST = 0.5, 4.0


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
