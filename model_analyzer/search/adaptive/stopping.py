# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When an adaptive search ends, and what it says then: how sure the answer is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import AdaptiveSettings
from model_analyzer.domain.ties import cost, tied
from model_analyzer.search.adaptive.acquisition import outlook
from model_analyzer.search.adaptive.knowledge import Knowledge

# What is said about what remains is about gains above this.
_BETTER = 0.03

# Without a limit of the user's, this share of the space is measured at most, within these numbers.
_SHARE, _SHARE_WITH_CONSTRAINTS = 0.03, 0.04
_FEWEST, _MOST = 12, 100


def most_trials(size: int, goal: Goal, limits: AdaptiveSettings) -> int:
    """How many trials a search in a space of that size may take."""
    if limits.max_trials is not None:
        return limits.max_trials
    share = _SHARE_WITH_CONSTRAINTS if goal.has_constraints else _SHARE
    return max(_FEWEST, min(int(size * share), _MOST))


def most_without_answer(most: int, limits: AdaptiveSettings) -> int:
    """The same while nothing is known that keeps the constraints."""
    return most if limits.max_trials is not None else most * 3 // 2


def is_late(records: Sequence[TrialRecord], limits: AdaptiveSettings) -> bool:
    """Whether another trial, as long as the longest so far, would take too long."""
    if limits.budget_s is None:
        return False
    spent = [record.outcome.duration_s for record in records]
    return sum(spent) + max(spent, default=0.0) > limits.budget_s


def conclusion(known: Knowledge, reason: str) -> Iterator[str]:
    """What is found, why the search ends, and what it may have missed."""
    equal = tied(known.goal, known.ordered, known.measured)
    leader = min(equal, key=lambda at: cost(known.trial(at), known.mean(at)))
    trial, variants = known.trial(leader), {record.trial.content for record in known.records}
    yield (
        f"The search ends after {len(known.records)} measurements of {len(variants)} variants:"
        f" {reason}."
    )
    is_feasible = known.is_feasible
    view = known.view()
    left = outlook(view.prospect, view.chance, is_feasible=is_feasible, margin=_BETTER)
    if not is_feasible:
        missed = known.goal.shortfall(known.mean(leader))
        yield "No configuration measured keeps the constraints."
        yield f"{trial} comes closest: it misses them by {missed:.1f} %."
        yield f"The chance that one of those not measured keeps them is {left.chance:.0%}."
        return
    yield f"Best: {trial}, measured {len(known.measured[leader])} times."
    for other in equal:
        if other != leader:
            yield f"It ties with {known.trial(other)}, which costs more."
    yield (
        f"The chance that something more than {_BETTER:.0%} better remains is {left.chance:.0%};"
        f" going on could be expected to gain {left.gain:.1%}."
    )
