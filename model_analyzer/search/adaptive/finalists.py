# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring the best again: who leads by a single measurement may lead by luck."""

from __future__ import annotations

from model_analyzer.search.adaptive.knowledge import Knowledge
from model_analyzer.search.space import Coordinate

# Others than the leader take part with this chance of being better; so many of them.
_RIVAL = 0.15
_RIVALS = 2

# Nothing is measured more often; the leader is measured twice in any case.
_MOST = 3
_LEAST = 2

# With this probability the leader has to keep the constraints.
_SAFE = 0.8


def next_repetition(known: Knowledge) -> Coordinate | None:
    """What to measure again: the leader, and in turn with it those that may be as good. None when
    that is clear, or does not become clearer.
    """
    view = known.view()
    leader = view.leader
    times = known.times(leader)
    if times < _LEAST:
        return leader
    passing = view.prospect.passes
    better = ((view.prospect.score > 0) & passing).mean(axis=0)
    rivals = [at for at in known.leaders if at != leader and better[view.rows[at]] > _RIVAL]
    rivals.sort(key=lambda at: -better[view.rows[at]])
    for rival in rivals[:_RIVALS]:
        if known.times(rival) < times:
            return rival
    is_unsafe = known.is_feasible and passing[:, view.rows[leader]].mean() < _SAFE
    if times < _MOST and (rivals or is_unsafe):
        return leader
    return None
