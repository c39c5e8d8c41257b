# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Random draws that all families of surfaces share."""

from __future__ import annotations

import numpy as np

from benchmarks.search.surface import Noise

Random = np.random.Generator


def log_uniform(random: Random, low: float, high: float) -> float:
    return float(np.exp(random.uniform(np.log(low), np.log(high))))


def drawn_noise(random: Random) -> Noise:
    """Noise of 1 to 5 %, with up to 2 % outliers."""
    return Noise(
        sigma=log_uniform(random, 0.01, 0.05), outliers=float(random.choice([0, 0.01, 0.02]))
    )
