# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The first instalment of a trial: how long it lasts."""

from __future__ import annotations

# Its usual length.
FIRST_LOOK_S = 1.08

# It is shorter if this number of requests is expected, and longer for a few requests of a slow
# model.
_ENOUGH = 150
_LEAST_S, _MOST_S, _FEW = 0.36, 10.8, 10
# It has to see each place in flight so many times: the first time, the server is still idle.
_ROUNDS = 3

# It is repeated if it should have been so many times as long.
MUCH_LONGER = 1.5


def first_look_s(rate: float, in_flight: float) -> float:
    """The length for a workload with this rate of requests per second, and with so many requests
    that are sent at once at first (0 for an open load).
    """
    least = (_FEW + _ROUNDS * in_flight) / rate
    return min(max(min(_ENOUGH / rate, FIRST_LOOK_S), least, _LEAST_S), _MOST_S)
