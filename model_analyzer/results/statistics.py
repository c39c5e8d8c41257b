# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the noise of measurements lets us say. Standard library only."""

from __future__ import annotations

import math
from collections.abc import Sequence


def relative_noise(windows: Sequence[float]) -> float | None:
    """Half the range of the windows' throughputs over their mean; None with fewer than two."""
    if len(windows) < 2:
        return None
    mean = sum(windows) / len(windows)
    return (max(windows) - min(windows)) / 2 / mean if mean else None


def ratio_noise(a: float | None, b: float | None) -> float | None:
    """The relative noise of the ratio of two values with independent relative noise."""
    return None if a is None or b is None else math.hypot(a, b)
