# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring the best again: who leads by a single measurement may lead by luck."""

from __future__ import annotations

import math

from model_analyzer.search.adaptive.acquisition import standing
from model_analyzer.search.adaptive.knowledge import Knowledge
from model_analyzer.search.space import Coordinate

# Others than the leader take part if they are expected to gain so much over it; so many of them.
_PROMISE = 0.005
_RIVALS = 2
# With an expected gain of this much they come before it.
_GREAT = 0.1

# Nothing is measured more often; the leader, and what would be recommended, are measured
# twice, unless that may cost the answer.
_MOST = 3
_LEAST = 2

# With this probability the leader has to meet the constraints.
SAFE = 0.8

# What is as unlikely as this to break them when it is measured again does not matter.
_RISK = 0.05


def next_repetition(known: Knowledge) -> Coordinate | None:
    """What to measure again: the leader, and in turn with it those that may be better. None when
    that is clear, or does not become clearer.
    """
    view = known.view()
    leader = view.leader
    times = known.times(leader)
    promise = known.promise()
    promising = [at for at in promise if promise[at] > _PROMISE]
    rivals = sorted(promising, key=lambda at: -promise[at])[:_RIVALS]
    for rival in rivals:
        if promise[rival] > _GREAT and known.times(rival) < _MOST:
            return rival
    for contender in known.contenders:
        return contender
    # what would be recommended is not always what is trusted most
    for one in (known.recommended[0], leader):
        if known.times(one) < _LEAST and not _costs_more_than_it_tells(known, one):
            return one
    for rival in rivals:
        if known.times(rival) < times:
            return rival
    is_unsafe = known.is_feasible and view.sure(leader) < SAFE
    if times < _MOST and (rivals or is_unsafe) and not _costs_more_than_it_tells(known, leader):
        return leader
    return None


def _costs_more_than_it_tells(known: Knowledge, at: Coordinate) -> bool:
    """Whether another measurement may take away what would remain the best answer.

    What breaks a constraint in the mean is not recommended. Near to a bound it may come to that by
    noise alone, and if all else is far behind, the answer would still have been better than that.
    """
    passing = known.passing
    if at not in passing:
        return False
    view = known.view()
    row = view.rows[at]
    breaks, keeps = view.prospect.misled(row, known.mean(at), len(known.measured[at]))
    if breaks < _RISK:
        return False
    others = [view.standing(other) for other in passing if other != at]
    return standing(float(view.score[row]), keeps) > max(others, default=-math.inf)
