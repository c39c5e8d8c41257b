# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Made measurements for tests of laws."""

from __future__ import annotations

from dataclasses import replace

from model_analyzer.domain.measurements import BatchStatistics, Doubt, Measurement, ModelStatistics
from model_analyzer.domain.trials import Trial
from model_analyzer.noise.laws import doubts_of


def doubt_of(trial: Trial, measurement: Measurement) -> Doubt | None:
    """The only doubt about a measurement, if any."""
    doubts = doubts_of(trial, measurement)
    assert len(doubts) <= 1, doubts
    return doubts[0] if doubts else None


def with_evidence(measurement: Measurement, name: str, value: float) -> Measurement:
    """The measurement of one model with more evidence."""
    (model,) = measurement.models
    model = replace(model, evidence={**model.evidence, name: value})
    return replace(measurement, models=(model,))


def executed(inferences: int, ms: float, *, batch: int = 1) -> ModelStatistics:
    """Inferences in executions of `batch`, each of which took so many `ms`."""
    executions = inferences // batch
    return ModelStatistics(
        inferences=inferences,
        executions=executions,
        batches=(BatchStatistics(batch, executions, ms * executions),),
    )
