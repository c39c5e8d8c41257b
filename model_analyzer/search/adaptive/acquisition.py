# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The acquisition function: the expected improvement of each trial over the posterior samples."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS, canonical
from model_analyzer.domain.profiles import Outlook
from model_analyzer.search.adaptive.queueing_model import Floats
from model_analyzer.search.adaptive.surrogate import Predictions

# The gain of the first feasible trial: as much as doubling the objective.
_FIRST_FEASIBLE = 1.0
# Multiples of this, modulo 1, spread evenly over the posterior samples, whatever their order.
_GOLDEN = 0.618034
# While no trial is feasible: the gain for each percent that the constraints are missed by less.
_PERCENT_NEARER = 0.003
# The probability to meet the constraints enters the utility with this power.
_CAUTION = 0.25
_MIN_CHANCE = 1e-3
_TINY = 1e-9


@dataclass(frozen=True, slots=True)
class Slack:
    """The margin of one constraint on the model with index `model`.

    `margin` is by posterior sample (rows) and trial (columns), as a fraction of the bound; negative
    where the constraint is violated. `noise` is the standard deviation of one measured margin.
    """

    model: int
    constraint: Constraint
    margin: Floats
    noise: float

    def measured(self, measurement: Measurement) -> float:
        """The margin of a measurement; infinite if it lacks the metric."""
        value = measurement.model_value(self.model, self.constraint.tag)
        return math.inf if value is None else self.constraint.margin(value)


@dataclass(frozen=True, slots=True)
class Prospect:
    """The posterior samples (rows) of trials (columns), evaluated by the goal.

    `score` is relative to a reference trial, `shortfall` in percent of the bounds that the trial
    violates (0 if it meets all), and `slacks` has one entry for each constraint. `noise` is the
    standard deviation of one measured score.
    """

    score: Floats
    shortfall: Floats
    noise: float
    slacks: tuple[Slack, ...]

    @property
    def passes(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.shortfall == 0)

    def remains_feasible(self, trial: int, mean: Measurement, times: int) -> Floats:
        """The probability, by posterior sample, that the mean of a trial still meets the
        constraints after one more measurement.

        `trial` is its column, `mean` the mean of its `times` measurements.
        """
        chance = np.ones(len(self.score))
        for slack in self.slacks:
            total = times * slack.measured(mean) + slack.margin[:, trial]
            chance *= [0.5 * math.erfc(-margin / slack.noise / math.sqrt(2)) for margin in total]
        return chance

    def risk_of_repeating(self, trial: int, mean: Measurement, times: int) -> tuple[float, float]:
        """Two probabilities: that one more measurement moves the mean of a trial beyond a
        constraint, and that the trial meets all constraints in spite of that.
        """
        violates = 1 - self.remains_feasible(trial, mean, times)
        feasible = violates * self.passes[:, trial]
        return float(violates.mean()), float(feasible.sum() / max(violates.sum(), _TINY))


def evaluate(goal: Goal, predictions: list[Predictions], reference: int) -> Prospect:
    """Evaluates `predictions` (one for each model) by the goal, relative to the trial in column
    `reference`.
    """
    total = sum(model.weighting for model in goal.models)
    shape = next(iter(predictions[0].values.values())).shape
    score, shortfall, noise = np.zeros(shape), np.zeros(shape), 0.0
    slacks = []
    for index, (model, world) in enumerate(zip(goal.models, predictions, strict=True)):
        model_score, weights, model_noise = np.zeros(shape), 0.0, 0.0
        for objective in model.objectives:
            tag = canonical(objective.tag)
            if tag not in world.values:
                continue
            new = world.values[tag]
            old = new[:, reference, None]
            gain = METRICS[tag].gain(1, 0) * (new - old)
            model_score += (
                objective.weight * gain / np.maximum((np.abs(new) + np.abs(old)) / 2, 1e-12)
            )
            weights += objective.weight
            model_noise += objective.weight * world.noise[tag]
        if weights:
            score += model_score / weights * model.weighting / total
            noise += model_noise / weights * model.weighting / total
        for constraint in model.constraints:
            tag = canonical(constraint.tag)
            if tag in world.values:
                margin = _margin(constraint, world.values[tag])
                shortfall += np.maximum(-margin, 0) * 100
                slacks.append(Slack(index, constraint, margin, world.noise[tag]))
    return Prospect(score, shortfall, noise, tuple(slacks))


def expected_improvement(
    prospect: Prospect,
    reference: int,
    tie_margins: Floats,
    *,
    under_way: Sequence[int] = (),
    is_answered: bool,
) -> Floats:
    """The expected improvement of each trial over the trial in column `reference`, beyond what the
    best of the trials in the columns `under_way` gains in the same posterior sample. By trial, a
    lead within its margin is no gain.

    Without an answer yet, the gain is to meet the constraints or to come nearer to them.
    """
    passes = prospect.passes
    if is_answered:
        gain = np.where(passes & (prospect.score > tie_margins), np.maximum(prospect.score, 0), 0.0)
    else:
        nearer = np.maximum(prospect.shortfall[:, reference, None] - prospect.shortfall, 0)
        first = _FIRST_FEASIBLE + 0.4 * np.clip(prospect.score, -2, 2)
        gain = np.where(passes, first, _PERCENT_NEARER * np.minimum(nearer, 100))
    if under_way:
        gain = np.maximum(gain - gain[:, under_way].max(axis=1, keepdims=True), 0)
    return np.asarray(gain.mean(axis=0))


def utility(score: float, chance: float) -> float:
    """The utility of recommending a trial with this score and this probability of feasibility."""
    return score + _CAUTION * math.log(max(chance, _MIN_CHANCE))


def outlook(
    prospect: Prospect,
    chance: Floats,
    recommended: int,
    tie_margins: Floats,
    *,
    is_feasible: bool,
    margin: float,
) -> Outlook:
    """The outlook over the trial in column `recommended`; by trial, a lead within its part of
    `tie_margins` is no gain. A configuration that is better by more than `margin` counts as missed.

    `chance` is the probability that each trial gives a measurement. In each posterior sample, the
    trials above a threshold do; the thresholds spread evenly from 0 to 1.
    """
    threshold = (np.arange(len(prospect.score)) * _GOLDEN) % 1
    available = prospect.passes & (chance > threshold[:, None])
    if not is_feasible:
        share = float(available.any(axis=1).mean())
        return Outlook(chance=share, gain=share, margin=margin, feasible=False)
    lead = prospect.score - prospect.score[:, recommended, None]
    best = np.where(available & (lead > tie_margins), lead, 0).max(axis=1)
    return Outlook(
        chance=float((best > margin).mean()),
        gain=float(best.mean()),
        margin=margin,
        feasible=True,
    )


def _margin(constraint: Constraint, values: Floats) -> Floats:
    """`Constraint.margin` for an array of values."""
    margin = np.full_like(values, np.inf)
    if constraint.minimum is not None:
        margin = (values - constraint.minimum) / abs(constraint.minimum or 1)
    if constraint.maximum is not None:
        below = (constraint.maximum - values) / abs(constraint.maximum or 1)
        margin = np.minimum(margin, below)
    return margin
