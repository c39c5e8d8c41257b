# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Other loads of one variant: they cost no loading, and little is known without them."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence

from model_analyzer.domain.joint_histogram import LATENCY
from model_analyzer.search.adaptive.lattice import Lattice
from model_analyzer.search.adaptive.outcomes import Outcomes
from model_analyzer.search.adaptive.surrogate import THROUGHPUT
from model_analyzer.search.space import Coordinate

# Lower loads are a quarter and a half of the load; seven tenths are for a closer look.
QUARTER, HALF, SEVEN_TENTHS = 4, 2, 1.41
# A higher load is worth a measurement if it is higher by these factors: at least, and at most.
_LEAST_HIGHER, _MOST_HIGHER = 1.2, 2.0


def lower_loads(
    lattice: Lattice, coordinate: Coordinate, divisors: Sequence[float] = (QUARTER, HALF)
) -> list[Coordinate]:
    """The same coordinate with the concurrencies nearest to its own, divided by these.

    Request rates have no lower loads: throughput follows the rate whatever the variant.
    """
    coordinates: list[Coordinate] = []
    concurrencies = lattice.concurrencies
    is_searched = lattice.is_in_space(coordinate) and concurrencies
    for divisor in divisors if is_searched else ():
        lower = list(coordinate)
        for position, values in concurrencies:
            target = math.log(values[coordinate[position]] / divisor)
            distances = [abs(math.log(value) - target) for value in values]
            lower[position] = distances.index(min(distances))
        if tuple(lower) != coordinate and lattice.is_legal(tuple(lower)):
            coordinates.append(tuple(lower))
    return list(dict.fromkeys(coordinates))


def higher_loads(outcomes: Outcomes, best: Coordinate) -> list[Coordinate]:
    """The recommended trial under the highest load that keeps its latencies within the limits even
    if throughput grows no more, if it is much higher and unmeasured.

    A single slow look at another variant may make all higher loads look hopeless; this one costs no
    loading.
    """
    lattice, wishes = outcomes.lattice, outcomes.goal.wishes
    if not (outcomes.is_feasible and lattice.is_in_space(best) and THROUGHPUT in wishes):
        return []
    factor = min(_room_of_latency(outcomes, best), _MOST_HIGHER)
    higher = list(best)
    for position, values in lattice.concurrencies:
        now = values[best[position]]
        higher[position] = bisect_right(values, factor * now) - 1
        if values[higher[position]] < _LEAST_HIGHER * now:
            return []
    found = tuple(higher)
    return [found] if found not in outcomes.tried and lattice.is_legal(found) else []


def _room_of_latency(outcomes: Outcomes, coordinate: Coordinate) -> float:
    """How many times its latencies would meet the limits; 1 without such limits."""
    mean = outcomes.mean(coordinate)
    return min(
        (
            constraint.maximum / value
            for index, model in enumerate(outcomes.goal.models)
            for constraint in model.constraints
            if constraint.tag.startswith(LATENCY)
            and constraint.maximum is not None
            and (value := mean.model_value(index, constraint.tag))
        ),
        default=1.0,
    )
