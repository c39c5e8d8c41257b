# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the noise of measurements lets us say. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Sequence

from model_analyzer.domain.measurements import Measurement


def relative_noise(windows: Sequence[float]) -> float | None:
    """Half the range of the windows' throughputs over their mean; None with fewer than two."""
    if len(windows) < 2:
        return None
    total = sum(windows)
    return (max(windows) - min(windows)) / 2 / (total / len(windows)) if total else None


def noise_of(measurement: Measurement) -> float | None:
    """The highest relative noise of its models, as far as windows tell."""
    if len(measurement.models) == 1:
        return relative_noise(measurement.models[0].windows)
    found = [relative_noise(model.windows) for model in measurement.models]
    return max((noise for noise in found if noise is not None), default=None)


def ratio_noise(a: float | None, b: float | None) -> float | None:
    """The relative noise of the ratio of two values with independent relative noise."""
    return None if a is None or b is None else math.hypot(a, b)
