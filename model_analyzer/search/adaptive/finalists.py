# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measuring the best again: who leads by a single measurement may lead by luck."""

from __future__ import annotations

from model_analyzer.search.adaptive.knowledge import Knowledge
from model_analyzer.search.space import Coordinate

# Others than the leader take part if they are expected to gain so much over it; so many of them.
_PROMISE = 0.005
_RIVALS = 2
# With an expected gain of this much they come before it.
_GREAT = 0.1

# Nothing is measured more often; the leader, and what would be recommended, are measured
# twice in any case.
_MOST = 3
_LEAST = 2

# With this probability the leader has to keep the constraints.
_SAFE = 0.8


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
    # what would be recommended is not always what is trusted most
    for one in (known.recommended[0], leader):
        if known.times(one) < _LEAST:
            return one
    for rival in rivals:
        if known.times(rival) < times:
            return rival
    safe = view.prospect.passes[:, view.rows[leader]].mean()
    is_unsafe = known.is_feasible and safe < _SAFE
    if times < _MOST and (rivals or is_unsafe):
        return leader
    return None
