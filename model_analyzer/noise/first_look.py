# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How long the first round of a trial lasts, any at least, and when one is given up."""

from __future__ import annotations

from collections.abc import Mapping

from model_analyzer.domain.trials import LoadKind, Workload

# Its usual length.
FIRST_LOOK_S = 1.08

# It is shorter if this number of requests is expected, and longer for a few requests of a slow
# model.
_ENOUGH = 150
_LEAST_S, _MOST_S, _FEW = 0.36, 10.8, 10
# It has to see each place in flight so many times: the first time, the server is still idle.
_WAVES = 3

# With fewer requests, it is repeated if it should have been so many times as long.
_FEW_COUNTED, _MUCH_LONGER = 50, 1.5

# Latencies of the first wave are too low. Every round has to see more than so many waves to
# leave it out; the margin is for a rate that is only estimated.
_WAVES_AT_LEAST, _MARGIN = 2, 1.1

# A round is given up after so many times the expected length, and so many seconds for slow
# first requests. The user hears of it after twice the length, and after so many seconds.
_PATIENCE, _PATIENCE_S, _LONG, _LONG_S = 10.0, 30.0, 2.0, 10.0


def first_look_s(rate: float, in_flight: float) -> float:
    """The length for a workload with this rate of requests per second, and with so many requests
    that are sent at once at first (0 for an open load).
    """
    wanted = (_FEW + _WAVES * in_flight) / rate
    usual = max(min(_ENOUGH / rate, FIRST_LOOK_S), wanted, _LEAST_S)
    return max(min(usual, _MOST_S), least_s(rate, in_flight))


def least_s(rate: float, in_flight: float) -> float:
    """The least length of any round, by the same values."""
    return _MARGIN * _WAVES_AT_LEAST * in_flight / rate


def given_up_s(expected_s: float) -> float:
    """After how many seconds a round is given up that was expected to take `expected_s`."""
    return _PATIENCE_S + _PATIENCE * expected_s


def overdue_s(expected_s: float) -> float:
    """After how many seconds a round takes long enough to say so."""
    return max(_LONG_S, _LONG * expected_s)


def in_flight(work: Workload) -> int:
    """The number of requests that are sent at once at first."""
    return work.load.value if work.load.kind is LoadKind.CONCURRENCY else 0


def reached_rate(rates: Mapping[int, float], load: int) -> float | None:
    """The requests per second that a variant reaches at least under a load, from its rates under
    other loads; None if there are none.

    More requests in flight seldom make a server slower. With fewer, the rate falls in proportion at
    most (Little's law: latencies do not rise).
    """
    # loads with times of their own all have the value 0
    known = (rate * min(1, load / other) if other else rate for other, rate in rates.items())
    return max(known, default=None)


def is_cold(requests: int, in_flight: int) -> bool:
    """Whether so few requests ended that the first ones cannot be left out."""
    return requests <= _WAVES_AT_LEAST * max(in_flight, 1)


def is_short(seconds: float, wanted_s: float, requests: int, in_flight: int) -> bool:
    """Whether a round of these `seconds`, in which so many requests ended, is repeated with
    the length that is `wanted_s` by now.
    """
    if is_cold(requests, in_flight):
        return wanted_s > seconds
    return requests - in_flight < _FEW_COUNTED and wanted_s > _MUCH_LONGER * seconds
