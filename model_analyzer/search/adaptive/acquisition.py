# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the next trial could be worth: the gain over the best one known, in every world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.search.adaptive.queueing import Floats
from model_analyzer.search.adaptive.surrogate import Worlds

# Finding the first trial that keeps the constraints is worth as much as doubling the objective.
_FIRST = 1.0
# Multiples of this are spread evenly over the worlds, whatever their order.
_GOLDEN = 0.618034
# Coming nearer to constraints that nothing keeps is worth so much for each percent.
_NEARER = 0.003


@dataclass(frozen=True, slots=True)
class Prospect:
    """What trials (columns) come to in each world (rows).

    `score` is against a reference trial, by the goal; `shortfall` in percent of the bounds.
    `noise` is the standard deviation of a score that is measured once.
    """

    score: Floats
    shortfall: Floats
    noise: float

    @property
    def passes(self) -> npt.NDArray[np.bool_]:
        return np.asarray(self.shortfall == 0)


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
    for model, world in zip(goal.models, worlds, strict=True):
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
                shortfall += _excess(constraint, world.values[tag]) * 100
    return Prospect(score, shortfall, noise)


def gains(of: Prospect, reference: int, *, is_feasible: bool) -> Floats:
    """What each trial is expected to gain over the reference, which keeps the constraints as far
    as is known, or does not.
    """
    passes = of.passes
    if is_feasible:
        return np.asarray(np.where(passes, np.maximum(of.score, 0), 0.0).mean(axis=0))
    nearer = np.maximum(of.shortfall[:, reference, None] - of.shortfall, 0)
    first = _FIRST + 0.4 * np.clip(of.score, -2, 2)
    return np.asarray(np.where(passes, first, _NEARER * np.minimum(nearer, 100)).mean(axis=0))


@dataclass(frozen=True, slots=True)
class Outlook:
    """What could still be found: the `chance` that something is better than the reference by a
    margin, and the gain expected from the best in every world.
    """

    chance: float
    gain: float


def outlook(of: Prospect, chance: Floats, *, is_feasible: bool, margin: float) -> Outlook:
    """What could still be found among trials that give a measurement with a `chance` each: in some
    worlds those do that are likely to, in others nearly all.
    """
    needed = (np.arange(len(of.score)) * _GOLDEN) % 1
    there = of.passes & (chance > needed[:, None])
    best = np.where(there, of.score, -np.inf).max(axis=1)
    if not is_feasible:
        found = np.isfinite(best)
        return Outlook(float(found.mean()), float(found.mean()))
    return Outlook(float((best > margin).mean()), float(np.maximum(best, 0).mean()))


def _excess(constraint: Constraint, values: Floats) -> Floats:
    excess = np.zeros_like(values)
    if constraint.minimum is not None:
        excess += np.maximum(constraint.minimum - values, 0) / abs(constraint.minimum or 1)
    if constraint.maximum is not None:
        excess += np.maximum(values - constraint.maximum, 0) / abs(constraint.maximum or 1)
    return excess
