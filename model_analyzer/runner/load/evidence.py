# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What laws compare with the values of a measurement: see `domain.laws`. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model_analyzer.domain.laws.case import ANSWERED, DUE, IMPOSSIBLE, RESPONSES, SENT
from model_analyzer.domain.measurements import Values
from model_analyzer.domain.models import empty
from model_analyzer.runner.load.intended import Intended
from model_analyzer.runner.load.profile_export import Export

_NS_PER_MS, _NS_PER_S = 1e6, 1e9


def evidence_of(export: Export | None, moved: Intended | None = None) -> Values:
    """The numbers in an export, and of an open load at its intended times; nothing without one."""
    if export is None:
        return empty()
    values: dict[str, float] = {}
    if export.impossible:
        values[IMPOSSIBLE] = export.impossible / (export.impossible + len(export.requests))
    if export.responses is not None:
        values[RESPONSES] = export.responses
    if moved is not None:
        values |= _rates(moved)
    return values


def _rates(moved: Intended) -> Values:
    """How many requests per second were due, sent and answered from the first window to the last;
    of a load that is measured whole, each between its first and its last request.
    """
    requests = moved.export.requests
    begin, end = moved.export.bounds[0], moved.export.bounds[-1]
    lags_ns: Sequence[float] = (moved.lags * _NS_PER_MS).tolist()
    times: Mapping[str, Sequence[float]] = {
        DUE: moved.due.tolist(),
        SENT: [request.sent + lag for request, lag in zip(requests, lags_ns, strict=True)],
        ANSWERED: [request.ended for request in requests],
    }
    is_whole = len(requests) == len(moved.due)
    rates = {
        name: _between(each) if is_whole else _within(each, begin, end)
        for name, each in times.items()
    }
    return {name: rate for name, rate in rates.items() if rate is not None}


def _between(times: Sequence[float]) -> float | None:
    span = max(times) - min(times)
    return (len(times) - 1) / (span / _NS_PER_S) if span else None


def _within(times: Sequence[float], begin: int, end: int) -> float:
    return sum(begin <= each < end for each in times) / ((end - begin) / _NS_PER_S)
