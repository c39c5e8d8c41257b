# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Assumed durations of a measurement, of loading a variant and of starting a server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.settings import ModelSettings
from model_analyzer.domain.windows import WINDOWS, Window
from model_analyzer.noise.first_look import FIRST_LOOK_S

# perf_analyzer counts requests once a second
COUNTED_WINDOW_S = 1.0
AROUND_S = 0.5
LOAD_S = 1.0
START_S = 3.0


def trial_seconds(models: Sequence[ModelSettings], *, own_s: float = 0.0) -> float:
    """The duration of a measurement of these models together. `own_s` is the length of their load,
    if it has one of its own (a log, or stages).
    """
    if own_s:
        return own_s + AROUND_S
    if all(model.in_rounds for model in models):
        return FIRST_LOOK_S + AROUND_S
    return max(_careful_seconds(model.perf_analyzer_flags) for model in models)


def _careful_seconds(flags: Mapping[str, Flag]) -> float:
    window = Window.of(flags)
    return WINDOWS * (window.size / 1000 if window.is_timed else COUNTED_WINDOW_S) + AROUND_S
