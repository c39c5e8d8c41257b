# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When an adaptive search ends, and what it says then: how sure the answer is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_analyzer.domain.conclusions import Conclusion, StopReason
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import AdaptiveSettings
from model_analyzer.domain.ties import cost
from model_analyzer.domain.words import counted
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


def conclude(
    known: Knowledge, reason: StopReason, limit: int, limits: AdaptiveSettings
) -> Conclusion:
    """What is recommended, and what may have been missed, when a search ends for that reason, or
    when it reaches that `limit`, which follows from the user's `limits` if there are any.
    """
    view = known.view()
    left = outlook(view.prospect, view.chance, is_feasible=known.is_feasible, margin=_BETTER)
    return Conclusion(
        recommended=known.trial(known.recommended[0]).key,
        goal=known.goal.identity,
        feasible=known.is_feasible,
        trials=len({record.trial.first.key for record in known.records}),
        reason=reason,
        limit=limit,
        has_default_limit=limits.max_trials is None,
        margin=_BETTER,
        chance=left.chance,
        gain=left.gain,
    )


def told(known: Knowledge, conclusion: Conclusion) -> Iterator[str]:
    """The same for people, line by line."""
    best, *equal = known.recommended
    measured = [record for record in known.records if isinstance(record.outcome, Measurement)]
    variants = {record.trial.served for record in measured}
    failed = len(known.records) - len(measured)
    failures = f" and {counted(failed, 'failure')}" if failed else ""
    yield (
        f"The search ends after {counted(len(measured), 'measurement')} of"
        f" {counted(len(variants), 'variant')}{failures}: {conclusion.explanation}."
    )
    if not conclusion.feasible:
        missed = known.goal.shortfall(known.mean(best))
        yield "No configuration measured keeps the constraints."
        yield f"{known.trial(best)} comes closest: it misses them by {missed:.1f} %."
        yield f"The chance that one of those not measured keeps them is {conclusion.chance:.0%}."
        return
    times = len(known.measured[best])
    yield f"Best: {known.trial(best)}, measured {'once' if times == 1 else f'{times} times'}."
    if not known.is_answered:
        sure = known.view().sure(best)
        yield f"That it keeps the constraints may be luck: the chance that it does is {sure:.0%}."
    own = cost(known.trial(best), known.mean(best))
    for other in equal:
        is_dearer = cost(known.trial(other), known.mean(other)) > own
        costs = "more" if is_dearer else "as much"
        yield f"It ties with {known.trial(other)}, which costs {costs}."
    yield (
        f"The chance that something more than {conclusion.margin:.0%} better remains is"
        f" {conclusion.chance:.0%}; going on could be expected to gain {conclusion.gain:.1%}."
    )
