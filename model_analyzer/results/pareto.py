# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which points nothing beats in both of two respects. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, float]]) -> Sequence[int]:
    """The points (cost, gain), by their places in `points`, for which no other has at most the
    cost and at least the gain, one of them better; lowest cost first. Of equal ones the first.
    """
    costs, losses = [cost for cost, _ in points], [-gain for _, gain in points]
    # by cost, those of equal cost by gain: sorting by one number is quick, by pairs it is not
    order = sorted(range(len(points)), key=losses.__getitem__)
    order.sort(key=costs.__getitem__)
    front = []
    highest = -math.inf
    for index in order:
        gain = points[index][1]
        if gain > highest:
            front.append(index)
            highest = gain
    return front
