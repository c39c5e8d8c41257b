# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Goodput: the throughput of the requests that met all latency constraints of their trial.

It is not stored, but follows from the stored times of requests, since constraints change.
docs/decisions/0022-goodput.md has the reasons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from operator import is_

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Goal, ModelGoal
from model_analyzer.domain.joint_histogram import BETWEEN_TOKENS, FIRST_TOKEN, LATENCY
from model_analyzer.domain.measurements import Measurement, ModelMeasurement
from model_analyzer.domain.metrics import ALIASES

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
        family = ALIASES.get(constraint.tag, constraint.tag).rpartition("_")[0]
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
    values: list[float | None] = [None] * len(goal.models)
    if has_request_limits(goal):
        values = [
            _goodput(model, request_limits(own))
            for model, own in zip(measurement.models, goal.models, strict=True)
        ]
    if None in values:
        values = [None] * len(values)
    models = tuple(map(_with_value, measurement.models, values))
    if all(map(is_, models, measurement.models)):
        return measurement
    return replace(measurement, models=models)


def _with_value(model: ModelMeasurement, value: float | None) -> ModelMeasurement:
    if value == model.values.get(GOODPUT):
        return model
    others = {tag: other for tag, other in model.values.items() if tag != GOODPUT}
    return replace(model, values=others if value is None else {**others, GOODPUT: value})


def _goodput(model: ModelMeasurement, limits: Mapping[str, float]) -> float | None:
    """The goodput of a model; None if it is unknown."""
    throughput = model.values.get(DEFAULT_OBJECTIVE)
    share = _share_within(model, limits)
    if throughput is None or share is None:
        return None
    return throughput if share == 1 else round(throughput * share, _DECIMALS)


def _share_within(model: ModelMeasurement, limits: Mapping[str, float]) -> float | None:
    """The share of the requests within all limits; None if it is unknown."""
    if not limits:
        return 1.0
    if limits.keys() == {LATENCY}:
        histogram = model.histograms.get(LATENCY)
        if histogram is None or histogram.is_approximate or not histogram.total:
            return None
        return histogram.within(limits[LATENCY]) / histogram.total
    if model.joint is None or not model.joint.total:
        return None
    return model.joint.within(limits) / model.joint.total
