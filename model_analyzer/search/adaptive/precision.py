# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How exact each measurement is: a short round counts for less than a long one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from model_analyzer.domain.measurements import Measurement
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import in_rounds
from model_analyzer.search.adaptive.queueing_model import Floats

# The limits of a relative error: estimates from a few windows are rough.
_LEAST, _MOST = 0.25, 4.0


def relative_errors(runs: Sequence[Sequence[Measurement]], tag: str, index: int) -> Floats:
    """The standard error of a metric of the model at `index` in each measurement, as a multiple of
    the median. `runs` holds the measurements of each trial; the result has those of the first
    trial first. If a trial was not measured in rounds, its measurements count as usual ones.
    """
    relative = np.ones(sum(map(len, runs)))
    if not any(map(in_rounds, runs)):
        return relative
    noise = NoiseModel(runs)
    each = [
        noise.of([run], tag, index) if run.is_round else None for group in runs for run in group
    ]
    errors = np.array([np.nan if known is None else known.error for known in each])
    usual = np.nanmedian(errors) if np.isfinite(errors).any() else 0.0
    if usual > 0:
        relative = np.where(np.isnan(errors), 1.0, errors / usual).clip(_LEAST, _MOST)
    return relative
