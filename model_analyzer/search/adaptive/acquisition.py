# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the next trial could be worth: the gain over the best one known, in every world."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.search.adaptive.queueing import Floats
from model_analyzer.search.adaptive.surrogate import Worlds

# Finding the first trial that meets the constraints is worth as much as doubling the objective.
_FIRST = 1.0
# Multiples of this are spread evenly over the worlds, whatever their order.
_GOLDEN = 0.618034
# Coming nearer to constraints that nothing keeps is worth so much for each percent.
_NEARER = 0.003
# The chance to meet the constraints counts with this power in what a recommendation is worth.
_CAUTION = 0.25
_HARDLY = 1e-3
_NEARLY_NONE = 1e-9


@dataclass(frozen=True, slots=True)
class Slack:
    """How far one constraint on the model of that index is kept.

    `margin` is by world and trial, as a fraction of the bound, and negative where it is broken;
    `noise` is the standard deviation of a margin that is measured once.
    """

    model: int
    constraint: Constraint
    margin: Floats
    noise: float

    def measured(self, measurement: Measurement) -> float:
        """The margin of a measurement."""
        value = measurement.model_value(self.model, self.constraint.tag)
        return math.inf if value is None else self.constraint.margin(value)


@dataclass(frozen=True, slots=True)
class Prospect:
    """What trials (columns) come to in each world (rows).

    `score` is against a reference trial, by the goal; `shortfall` in percent of the bounds, and
    `slacks` for each of them. `noise` is the standard deviation of a score that is measured once.
    """

    score: Floats
    shortfall: Floats
    noise: float
    slacks: tuple[Slack, ...]

    @property
    def passes(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.shortfall == 0)

    def stays(self, trial: int, mean: Measurement, times: int) -> Floats:
        """For each world the chance that the trial in that column, with this `mean` of so many
        measurements, meets the constraints in the mean after another one, too.
        """
        chance = np.ones(len(self.score))
        for slack in self.slacks:
            total = times * slack.measured(mean) + slack.margin[:, trial]
            chance *= [0.5 * math.erfc(-one / slack.noise / math.sqrt(2)) for one in total]
        return chance

    def misled(self, trial: int, mean: Measurement, times: int) -> tuple[float, float]:
        """The probability that such a mean breaks a constraint after another measurement, and that
        of the trial to keep them even then.
        """
        breaks = 1 - self.stays(trial, mean, times)
        keeps = breaks * self.passes[:, trial]
        return float(breaks.mean()), float(keeps.sum() / max(breaks.sum(), _NEARLY_NONE))


def needed(goal: Goal, index: int) -> list[str]:
    """The metrics that the model of that index is judged by."""
    model = goal.models[index]
    tags = [objective.tag for objective in model.objectives]
    tags += [constraint.tag for constraint in model.constraints]
    return list(dict.fromkeys(ALIASES.get(tag, tag) for tag in tags))


def prospect(goal: Goal, worlds: list[Worlds], reference: int) -> Prospect:
    """Of trials whose metrics are known in `worlds` (one for each model), against the trial in
    column `reference`.
    """
    total = sum(model.weighting for model in goal.models)
    shape = next(iter(worlds[0].values.values())).shape
    score, shortfall, noise = np.zeros(shape), np.zeros(shape), 0.0
    slacks = []
    for index, (model, world) in enumerate(zip(goal.models, worlds, strict=True)):
        own, weights, unsure = np.zeros(shape), 0.0, 0.0
        for objective in model.objectives:
            tag = ALIASES.get(objective.tag, objective.tag)
            if tag not in world.values:
                continue
            new = world.values[tag]
            old = new[:, reference, None]
            gain = METRICS[tag].gain(1, 0) * (new - old)
            own += objective.weight * gain / np.maximum((np.abs(new) + np.abs(old)) / 2, 1e-12)
            weights += objective.weight
            unsure += objective.weight * world.noise[tag]
        if weights:
            score += own / weights * model.weighting / total
            noise += unsure / weights * model.weighting / total
        for constraint in model.constraints:
            tag = ALIASES.get(constraint.tag, constraint.tag)
            if tag in world.values:
                margin = _margin(constraint, world.values[tag])
                shortfall += np.maximum(-margin, 0) * 100
                slacks.append(Slack(index, constraint, margin, world.noise[tag]))
    return Prospect(score, shortfall, noise, tuple(slacks))


def gains(of: Prospect, reference: int, *, is_answered: bool) -> Floats:
    """What each trial is expected to gain over the reference, which is an answer, or only comes
    near to meeting the constraints.
    """
    passes = of.passes
    if is_answered:
        return np.asarray(np.where(passes, np.maximum(of.score, 0), 0.0).mean(axis=0))
    nearer = np.maximum(of.shortfall[:, reference, None] - of.shortfall, 0)
    first = _FIRST + 0.4 * np.clip(of.score, -2, 2)
    return np.asarray(np.where(passes, first, _NEARER * np.minimum(nearer, 100)).mean(axis=0))


def standing(score: float, chance: float) -> float:
    """What it is worth to recommend something of this score that meets the constraints with this
    probability.
    """
    return score + _CAUTION * math.log(max(chance, _HARDLY))


@dataclass(frozen=True, slots=True)
class Outlook:
    """What could still be found: the `chance` that something is better than what is recommended by
    a margin, and the gain expected from the best in every world.
    """

    chance: float
    gain: float


def outlook(
    of: Prospect, chance: Floats, recommended: int, *, is_feasible: bool, margin: float
) -> Outlook:
    """What could still be found, beside what is in the column `recommended`, among trials that give
    a measurement with a `chance` each: in some worlds those do that are likely to, in others nearly
    all.
    """
    needed = (np.arange(len(of.score)) * _GOLDEN) % 1
    there = of.passes & (chance > needed[:, None])
    lead = of.score - of.score[:, recommended, None]
    best = np.where(there, lead, -np.inf).max(axis=1)
    if not is_feasible:
        found = np.isfinite(best)
        return Outlook(float(found.mean()), float(found.mean()))
    return Outlook(float((best > margin).mean()), float(np.maximum(best, 0).mean()))


def _margin(constraint: Constraint, values: Floats) -> Floats:
    """The constraint's `margin`, of many values."""
    margin = np.full_like(values, np.inf)
    if constraint.minimum is not None:
        margin = (values - constraint.minimum) / abs(constraint.minimum or 1)
    if constraint.maximum is not None:
        below = (constraint.maximum - values) / abs(constraint.maximum or 1)
        margin = np.minimum(margin, below)
    return margin
