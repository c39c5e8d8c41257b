# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Repetitions of the best trials: a trial with a single measurement may lead because of noise."""

from __future__ import annotations

import math
from collections.abc import Iterator

from model_analyzer.search.adaptive.acquisition import utility
from model_analyzer.search.adaptive.knowledge import Knowledge
from model_analyzer.search.adaptive.recommendation import MAX_ATTEMPTS
from model_analyzer.search.adaptive.stopping import worth
from model_analyzer.search.space import Coordinate

# Measurements of each finalist. The recommended trial is measured twice, unless a repetition puts
# the answer at risk.
_MAX_ATTEMPTS = 3
_MIN_ATTEMPTS = 2

# The recommended trial has to meet the constraints with at least this probability.
SAFE = 0.8

# A lower probability to violate a constraint after a repetition is no risk.
_RISK = 0.05


def repetitions(knowledge: Knowledge) -> Iterator[Coordinate]:
    """The coordinates to measure again, most useful first: the recommended one, or the rival that
    is expected to gain most over it, whichever was measured less.

    None once no rival may gain enough for the time of a repetition, or if a repetition would not
    make it clearer.
    """
    yield from knowledge.contenders
    yield from _undecided(knowledge)
    best = knowledge.recommended[0]
    attempts = knowledge.attempts(best)
    is_risky = _risks_the_answer(knowledge, best)
    is_unsafe = knowledge.is_feasible and knowledge.assessment().feasibility_of(best) < SAFE
    most = MAX_ATTEMPTS if knowledge.in_rounds else _MAX_ATTEMPTS
    if not is_risky and attempts < (most if is_unsafe else _MIN_ATTEMPTS):
        yield best
    yield from _unsure(knowledge)


def _undecided(knowledge: Knowledge, least_gain: float = 0.0) -> Iterator[Coordinate]:
    """The recommended trial or the one that is expected to gain most over it, whichever was
    measured less; none if it gains less than `least_gain`, or too little for the time of a
    repetition.
    """
    gains = knowledge.rival_gains()
    open_ = [c for c in gains if knowledge.attempts(c) < MAX_ATTEMPTS]
    if not open_:
        return
    best, rival = knowledge.recommended[0], max(open_, key=gains.__getitem__)
    if gains[rival] >= max(least_gain, worth(knowledge.expected_s(rival))):
        is_first = knowledge.attempts(best) >= knowledge.attempts(rival)
        yield rival if is_first or _risks_the_answer(knowledge, best) else best


def is_unconfirmed(knowledge: Knowledge, finalist: Coordinate) -> bool:
    """Whether a finalist was measured once, and a repetition does not put the answer at risk."""
    is_single = knowledge.attempts(finalist) < _MIN_ATTEMPTS
    return is_single and not _risks_the_answer(knowledge, finalist)


def contenders(knowledge: Knowledge, least_gain: float) -> Iterator[Coordinate]:
    """The coordinates to measure again before anything new: what leads the recommended one, or is
    as good with a better chance, and a recommended one that only a first look speaks for.
    """
    yield from knowledge.contenders
    best = knowledge.recommended[0]
    if knowledge.is_first_look(best) and knowledge.is_answered:
        yield best
    yield from _undecided(knowledge, least_gain)


def _unsure(knowledge: Knowledge) -> Iterator[Coordinate]:
    """The recommended trial, if its own rounds do not say yet that it meets the constraints.

    More of them may disqualify it: then it was no answer.
    """
    best = knowledge.recommended[0]
    if (
        knowledge.in_rounds
        and knowledge.is_feasible
        and knowledge.attempts(best) < MAX_ATTEMPTS
        and knowledge.own_chance(best) < SAFE
    ):
        yield best


def _risks_the_answer(knowledge: Knowledge, coordinate: Coordinate) -> bool:
    """Whether a repetition may disqualify a trial that would remain the best answer.

    A trial whose mean violates a constraint is not recommended. Near a bound, noise alone can cause
    that. If all other trials are far worse, the user is better off without the repetition.
    """
    if knowledge.is_first_look(coordinate):
        return False  # it sees about a hundred requests: that is no answer yet
    feasible = knowledge.feasible
    if coordinate not in feasible:
        return False
    assessment = knowledge.assessment()
    row = assessment.rows[coordinate]
    violates, feasibility = assessment.prospect.risk_of_repeating(
        row, knowledge.mean(coordinate), len(knowledge.measured[coordinate])
    )
    if violates < _RISK:
        return False
    alternatives = [assessment.utility(other) for other in feasible if other != coordinate]
    return utility(float(assessment.score[row]), feasibility) > max(alternatives, default=-math.inf)
