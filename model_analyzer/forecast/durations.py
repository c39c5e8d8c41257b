# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Assumed durations of a measurement, of loading a variant and of starting a server."""

from __future__ import annotations

from collections.abc import Mapping

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.windows import Window

# perf_analyzer reports when three windows agree; it counts requests once a second
WINDOWS = 3
COUNTED_WINDOW_S = 1.0
AROUND_S = 0.5
LOAD_S = 1.0
START_S = 3.0


def trial_seconds(flags: Mapping[str, Flag]) -> float:
    """The duration of a measurement with these perf_analyzer flags."""
    window = Window.of(flags)
    return WINDOWS * (window.size / 1000 if window.is_timed else COUNTED_WINDOW_S) + AROUND_S
