# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a law judges: one model of a measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from model_analyzer.domain.doubts import Doubt
from model_analyzer.domain.loads import workload_words
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.statistics import ModelStatistics
from model_analyzer.domain.trials import Trial, Workload


# one for each measurement, and a tuple is made in a third of the time
class Case(NamedTuple):
    """A model of a measurement, with its workload."""

    trial: Trial
    measurement: Measurement
    work: Workload
    model: ModelMeasurement

    @property
    def name(self) -> str:
        """The variant and its load in words, for the beginning of a sentence."""
        return workload_words(self.work)

    @property
    def counts(self) -> ModelStatistics | None:
        """What the server counted for this model; None if unknown."""
        return self.measurement.statistics.get(self.work.variant.model)


# A law gives a doubt if a case breaks it. There may be a million measurements: return early.
Law = Callable[[Case], Doubt | None]
