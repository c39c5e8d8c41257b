# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The knee: up to which number of concurrent requests throughput grows in proportion to it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

# Beyond the knee, a further request adds less than this share of what the first ones added.
_SHARE = 0.5

# In production, a replica with more than this share of the measured rate has little left for a
# burst, and a higher share of failed requests than this is no accident.
NEARLY_ALL, FAILED = 0.85, 0.01


def knee_of(throughputs: Mapping[int, float]) -> int | None:
    """The concurrency of the knee, from throughputs by ascending concurrency; None if throughput
    grows to the end, or with fewer than two loads.
    """
    loads = list(throughputs.items())
    if len(loads) < 2:
        return None
    alone = loads[0][1] / loads[0][0]
    for (load, throughput), (more, higher) in pairwise(loads):
        if (higher - throughput) / (more - load) < _SHARE * alone:
            return load
    return None
