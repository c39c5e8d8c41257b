# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an adaptive search would recommend now, and what may be better than it seems."""

from __future__ import annotations

from collections.abc import Sequence

from model_analyzer.noise.ties import (
    assurance,
    assured_first,
    chance_to_meet,
    cheapest_first,
    surely_met,
    tied,
    undefeated,
    undominated,
)
from model_analyzer.search.adaptive.assessment import Assessment
from model_analyzer.search.adaptive.outcomes import Outcomes
from model_analyzer.search.trial_map import Coordinate

# The limit of attempts for each trial.
MAX_ATTEMPTS = 4

# A trial that met the constraints, but with a lower predicted probability, is not credible.
CREDIBLE = 0.5

# A trial is much more likely to meet the constraints if the chance is higher by this.
_SURER = 0.1


def recommendation(outcomes: Outcomes, assessment: Assessment) -> Sequence[Coordinate]:
    """The recommended coordinate first, then its ties, which need more resources."""
    if not outcomes.feasible:
        return outcomes.ranked[:1]
    comparison, variant = outcomes.comparison, outcomes.lattice.variant
    best = undefeated(comparison, outcomes.feasible, lambda c: is_credible(outcomes, assessment, c))
    order = sorted(best, key=lambda coordinate: -assessment.utility(coordinate))

    def lead(first: Coordinate, other: Coordinate) -> float:
        """The mean of what the predictions and their own measurements say. Of one variant, they
        differ in the load only, which is cheap to change, and a lower load waits less for sure: so
        both must say it, and the smaller one counts. If they contradict, neither leads.
        """
        leads = assessment.lead(first, other), comparison.lead(first, other)
        both = min(leads) if variant(first) == variant(other) else sum(leads) / 2
        return max(both, 0.0)

    ties = tied(comparison, order, assessment.feasibility_of, lead)
    cheapest, *_ = cheapest_first(ties, outcomes.tried.__getitem__, comparison)
    # the best load of the cheapest variant may tie with lower ones
    same_variant = [c for c in order if variant(c) == variant(cheapest)]
    lower = tied(comparison, same_variant, assessment.feasibility_of, lead)
    all_ties = list(dict.fromkeys([*ties, *lower]))
    return cheapest_first(all_ties, outcomes.tried.__getitem__, comparison)


def answer(
    outcomes: Outcomes, assessment: Assessment, recommended: Sequence[Coordinate]
) -> Sequence[Coordinate]:
    """What is recommended at the end of the search. A first look may be luck, so the best trial
    with further rounds goes first, if the first look is not better by more than noise.
    Predictions do not outvote measurements: what these put first in a ranking goes first.
    """
    ties = _confirmed(outcomes, assessment, recommended)
    first = _first_by_measurements(outcomes, ties[0])
    return [first, *(c for c in ties if c != first)]


def _confirmed(
    outcomes: Outcomes, assessment: Assessment, ties: Sequence[Coordinate]
) -> Sequence[Coordinate]:
    if not outcomes.is_first_look(ties[0]):
        return ties
    comparison = outcomes.comparison
    confirmed = [
        c
        for c in outcomes.feasible
        if not (outcomes.is_first_look(c) or comparison.is_better(ties[0], c))
    ]
    if not confirmed:
        return ties
    best = max(confirmed, key=assessment.utility)
    return [best, *(c for c in ties if c != best)]


def _first_by_measurements(outcomes: Outcomes, chosen: Coordinate) -> Coordinate:
    """The chosen trial, unless other measurements beat it: then the one that a ranking puts
    first.
    """
    comparison, feasible = outcomes.comparison, outcomes.feasible
    if not feasible:
        return chosen
    goal, measured, trial = outcomes.goal, outcomes.measured, outcomes.tried.__getitem__
    noise = comparison.noise_model
    chance = chance_to_meet(goal, measured, noise_model=noise)
    sure = assurance(goal, measured, noise)
    best = undefeated(comparison, feasible, surely_met(goal, measured, sure))
    first, is_concluded = chosen, chosen in best
    if not is_concluded:
        ties = tied(comparison, assured_first(comparison, best, sure), chance)
        first = cheapest_first(ties, trial, comparison)[0]
    return undominated(comparison, first, feasible, trial, chance, is_concluded=is_concluded)


def is_credible(outcomes: Outcomes, assessment: Assessment, coordinate: Coordinate) -> bool:
    """Whether a feasible trial met the constraints by more than luck: it is predicted to meet
    them, or it has the maximum number of measurements.
    """
    return (
        assessment.feasibility_of(coordinate) >= CREDIBLE
        or len(outcomes.measured[coordinate]) >= MAX_ATTEMPTS
    )


def doubtful(outcomes: Outcomes, assessment: Assessment, best: Coordinate) -> list[Coordinate]:
    """Feasible trials that are not credible, though better than the recommended one by more than
    noise.
    """
    comparison = outcomes.comparison
    better = [c for c in outcomes.feasible if comparison.is_better(c, best)]
    return [c for c in better if not is_credible(outcomes, assessment, c)]


def contenders(outcomes: Outcomes, assessment: Assessment, best: Coordinate) -> list[Coordinate]:
    """Feasible trials to measure again because they look better than the recommended one: those
    with one measurement and a lead above its noise, those that are as good and much more likely to
    meet the constraints, and the doubtful ones.
    """
    comparison = outcomes.comparison
    chance = chance_to_meet(outcomes.goal, outcomes.measured, noise_model=comparison.noise_model)
    unconfirmed = [
        c
        for c in outcomes.feasible
        if outcomes.attempts(c) == 1
        and (
            2 * comparison.lead(c, best) > comparison.apart(c, best)
            or (comparison.lead(c, best) >= 0 and chance(c) > chance(best) + _SURER)
        )
    ]
    in_doubt = doubtful(outcomes, assessment, best)
    again = [c for c in in_doubt if outcomes.attempts(c) < MAX_ATTEMPTS]
    return list(dict.fromkeys([*unconfirmed, *again]))
