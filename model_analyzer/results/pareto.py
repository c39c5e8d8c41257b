# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The Pareto front of points in two dimensions. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Sequence


def pareto_front(points: Sequence[tuple[float, float]]) -> Sequence[int]:
    """The indices of the points (cost, gain) that no other point dominates, lowest cost first. Of
    equal points, the first counts.
    """
    costs, losses = [cost for cost, _ in points], [-gain for _, gain in points]
    # two sorts by one number are faster than one sort by pairs
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
