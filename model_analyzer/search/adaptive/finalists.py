# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Repetitions of the best trials: a trial with a single measurement may lead because of noise."""

from __future__ import annotations

import math
from collections.abc import Iterator

from model_analyzer.search.adaptive.acquisition import utility
from model_analyzer.search.adaptive.knowledge import Knowledge
from model_analyzer.search.adaptive.recommendation import MAX_ATTEMPTS
from model_analyzer.search.space import Coordinate

# Rivals of the leader are the trials with at least this expected gain over it; at most so many.
_RIVAL_GAIN = 0.005
_MAX_RIVALS = 2
# Rivals with this expected gain are repeated before the leader.
_GREAT_GAIN = 0.1

# Measurements of each finalist. The leader and the recommended trial are measured twice, unless a
# repetition puts the answer at risk.
_MAX_ATTEMPTS = 3
_MIN_ATTEMPTS = 2

# The leader has to meet the constraints with at least this probability.
SAFE = 0.8

# A lower probability to violate a constraint after a repetition is no risk.
_RISK = 0.05


def repetitions(knowledge: Knowledge) -> Iterator[Coordinate]:
    """The coordinates to measure again, most useful first: the leader, alternating with its rivals.

    None once the winner is clear, or if a repetition would not make it clearer.
    """
    assessment = knowledge.assessment()
    leader = assessment.leader
    attempts = knowledge.attempts(leader)
    expected_gains = knowledge.expected_gains()
    promising = [
        coordinate for coordinate in expected_gains if expected_gains[coordinate] > _RIVAL_GAIN
    ]
    rivals = sorted(promising, key=lambda coordinate: -expected_gains[coordinate])[:_MAX_RIVALS]
    for rival in rivals:
        if expected_gains[rival] > _GREAT_GAIN and knowledge.attempts(rival) < _MAX_ATTEMPTS:
            yield rival
    yield from knowledge.contenders
    # the recommended trial is not always the leader
    for finalist in (knowledge.recommended[0], leader):
        if is_unconfirmed(knowledge, finalist):
            yield finalist
    for rival in rivals:
        if knowledge.attempts(rival) < attempts:
            yield rival
    is_unsafe = knowledge.is_feasible and assessment.feasibility_of(leader) < SAFE
    most = MAX_ATTEMPTS if knowledge.in_rounds else _MAX_ATTEMPTS
    if attempts < most and (rivals or is_unsafe) and not _risks_the_answer(knowledge, leader):
        yield leader
    yield from _unsure(knowledge)


def is_unconfirmed(knowledge: Knowledge, finalist: Coordinate) -> bool:
    """Whether a finalist was measured once, and a repetition does not put the answer at risk."""
    is_single = knowledge.attempts(finalist) < _MIN_ATTEMPTS
    return is_single and not _risks_the_answer(knowledge, finalist)


def contenders(knowledge: Knowledge) -> Iterator[Coordinate]:
    """The coordinates to measure again before anything new: what leads the recommended one, or is
    as good with a better chance, and a recommended one that only a first look speaks for.
    """
    yield from knowledge.contenders
    best = knowledge.recommended[0]
    if knowledge.is_first_look(best) and knowledge.is_answered:
        yield best


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
