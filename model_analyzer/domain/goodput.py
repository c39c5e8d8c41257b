# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Goodput: the throughput of the requests that met all latency constraints of their trial.

It is not stored, but follows from the stored times of requests, since constraints change.
docs/decisions/0022-goodput.md has the reasons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Goal, ModelGoal
from model_analyzer.domain.histograms import BETWEEN_TOKENS, FIRST_TOKEN, LATENCY
from model_analyzer.domain.measurements import DerivedValues, Measurement, ModelMeasurement
from model_analyzer.domain.metrics import canonical

GOODPUT = "perf_goodput"

# Why it cannot be an objective or a constraint.
WITHOUT_LIMITS = f"{GOODPUT} counts the requests within the latency constraints, and there are none"

_FAMILIES = (LATENCY, FIRST_TOKEN, BETWEEN_TOKENS)
_DECIMALS = 6


def request_limits(goal: ModelGoal) -> Mapping[str, float]:
    """The limits (ms) of each request, by the name of the metric without its percentile: the
    tightest of the constraints on any statistic of it.
    """
    limits: dict[str, float] = {}
    for constraint in goal.constraints:
        family = canonical(constraint.tag).rpartition("_")[0]
        if family in _FAMILIES and constraint.maximum is not None:
            limits[family] = min(limits.get(family, math.inf), constraint.maximum)
    return limits


def has_request_limits(goal: Goal) -> bool:
    """Whether any model of a trial has a latency constraint, so that there is a goodput."""
    return any(map(request_limits, goal.models))


def with_goodput(measurement: Measurement, goal: Goal) -> Measurement:
    """A measurement, not pooled, with the goodput of each model. A model without limits beside
    others with limits has its throughput.

    Without any limit, or if the times of requests of a model are unknown, it has no goodput.
    """
    return within_limits(measurement, [*map(request_limits, goal.models)])


def within_limits(measurement: Measurement, limits: Sequence[Mapping[str, float]]) -> Measurement:
    """The same, by the limits of each model."""
    if any(limits) and all(map(_has_times, measurement.models, limits)):
        models = tuple(map(_completed, measurement.models, limits))
    else:
        models = tuple(map(_measured, measurement.models))
    if all(map(is_, models, measurement.models)):
        return measurement
    return replace(measurement, models=models)


@dataclass(frozen=True, slots=True)
class _Goodput:
    """The goodput of a model that has a throughput and the times that its limits are about."""

    model: ModelMeasurement
    limits: Mapping[str, float]

    def __call__(self) -> float:
        throughput = self.model.values[DEFAULT_OBJECTIVE]
        share = _share_within(self.model, self.limits)
        return throughput if share == 1 else round(throughput * share, _DECIMALS)


def _measured(model: ModelMeasurement) -> ModelMeasurement:
    """The model without a goodput."""
    values = model.values
    if isinstance(values, DerivedValues):
        values = values.measured
    if GOODPUT in values:
        values = {tag: value for tag, value in values.items() if tag != GOODPUT}
    return model if values is model.values else replace(model, values=values)


def _completed(model: ModelMeasurement, limits: Mapping[str, float]) -> ModelMeasurement:
    """The model with the goodput by these limits, instead of any other goodput."""
    measured = _measured(model)
    compute = _Goodput(measured, limits)
    if isinstance(model.values, DerivedValues) and model.values.compute == compute:
        return model
    # it is computed when it is read: to decode the times of requests takes long for many
    return replace(measured, values=DerivedValues(measured.values, GOODPUT, compute))


def _has_times(model: ModelMeasurement, limits: Mapping[str, float]) -> bool:
    """Whether the goodput by these limits is known."""
    if DEFAULT_OBJECTIVE not in model.values:
        return False
    if not limits:
        return True
    if limits.keys() == {LATENCY}:
        histogram = model.histograms.get(LATENCY)
        return histogram is not None and not (histogram.is_approximate or histogram.is_empty)
    return model.joint is not None and not model.joint.is_empty


def _share_within(model: ModelMeasurement, limits: Mapping[str, float]) -> float:
    """The share of the requests within all limits."""
    if not limits:
        return 1.0
    if limits.keys() == {LATENCY}:
        histogram = model.histograms[LATENCY]
        return histogram.within(limits[LATENCY]) / histogram.total
    assert model.joint is not None
    return model.joint.within(limits) / model.joint.total
