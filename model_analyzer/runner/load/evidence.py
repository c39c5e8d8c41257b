# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers about an export for the laws of a measurement (`noise.laws`). Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model_analyzer.domain.measurements import Values
from model_analyzer.noise.laws.case import ANSWERED, DUE, IMPOSSIBLE, RESPONSES, SENT, TOKENS
from model_analyzer.runner.load.intended import IntendedTimes
from model_analyzer.runner.load.profile_export import Export
from model_analyzer.runner.load.schedule import Times

_NS_PER_S = 1e9
_DIGITS = 6


def evidence_of(export: Export) -> Values:
    """The share of impossible requests, if any; and of a model whose responses are tokens, both
    numbers for each request.
    """
    values: dict[str, float] = {}
    if export.impossible:
        values[IMPOSSIBLE] = export.impossible / (export.impossible + len(export.requests))
    if export.responses is not None:
        tokens = export.requests.token_counts[export.requests.ended_within(*export.reported)]
        if len(tokens):
            values |= {TOKENS: float(tokens.mean()), RESPONSES: export.responses}
    return values


def rates_of(export: Export, moved: IntendedTimes, *, is_whole: bool) -> Values:
    """How many requests per second of an open load were due, were sent and were answered: within
    perf_analyzer's windows, or of a whole load from the first to the last.
    """
    times = {
        DUE: moved.due,
        SENT: np.sort(export.requests.sent),
        ANSWERED: export.requests.ended,
    }
    if is_whole:
        return {name: value for name in times if (value := whole_rate([times[name]]))}
    begin, end = max(export.bounds[0], int(moved.due[0])), export.bounds[-1]
    if begin >= end:
        return {}
    seconds = (end - begin) / _NS_PER_S
    counts = {name: np.diff(np.searchsorted(own, [begin, end])) for name, own in times.items()}
    return {name: float(f"{count[0] / seconds:.{_DIGITS}g}") for name, count in counts.items()}


def whole_rate(parts: Sequence[Times]) -> float:
    """The rate of all these times (ns), from the first to the last; 0 if there is none."""
    times = np.concatenate(parts)
    span = (times.max() - times.min()) / _NS_PER_S if len(times) > 1 else 0.0
    return float(f"{(len(times) - 1) / span:.{_DIGITS}g}") if span else 0.0
