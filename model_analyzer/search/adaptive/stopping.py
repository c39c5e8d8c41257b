# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When an adaptive search ends, and what it says then: how sure the answer is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_analyzer.domain.conclusions import Conclusion, StopReason
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import AdaptiveSettings
from model_analyzer.domain.ties import cost
from model_analyzer.domain.words import counted
from model_analyzer.search.adaptive.acquisition import Outlook, outlook
from model_analyzer.search.adaptive.knowledge import Knowledge
from model_analyzer.search.space import Coordinate

# What is said about what remains is about gains above this.
_BETTER = 0.03

# It goes on while it may be expected to gain this much, or while something better by the margin
# remains with this probability; and for so many measurements, whatever these say.
_WORTH_GOING_ON, _LIKELY, _TOO_FEW = 0.01, 0.1, 8

# Without a limit of the user's, this share of the space is measured at most, within these numbers.
_SHARE, _FEWEST, _MOST = 0.06, 12, 100


def most_trials(size: int, limits: AdaptiveSettings) -> int:
    """How many trials a search in a space of that size may take."""
    if limits.max_trials is not None:
        return limits.max_trials
    return max(_FEWEST, min(int(size * _SHARE), _MOST))


def is_late(records: Sequence[TrialRecord], limits: AdaptiveSettings, further: int = 0) -> bool:
    """Whether another trial, as long as the longest so far, would take too long, or so many
    `further` ones after it.
    """
    spent = [record.outcome.duration_s for record in records]
    return not limits.budget.covers(spent, 1 + further)


def is_settled(known: Knowledge) -> bool:
    """Whether there is an answer, and going on would hardly pay. Few measurements cannot tell."""
    if len(known.records) < _TOO_FEW or not known.is_answered:
        return False
    left = _left(known)
    return left.gain < _WORTH_GOING_ON and left.chance < _LIKELY


def _left(known: Knowledge) -> Outlook:
    """What could still be found."""
    view = known.view()
    row = view.rows[known.recommended[0]]
    is_feasible = known.is_feasible
    return outlook(view.prospect, view.chance, row, is_feasible=is_feasible, margin=_BETTER)


def conclude(
    known: Knowledge, reason: StopReason, limit: int, limits: AdaptiveSettings
) -> Conclusion:
    """What is recommended, and what may have been missed, when a search ends for that reason, or
    when it reaches that `limit`, which follows from the user's `limits` if there are any.
    """
    left = _left(known)
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


def explanation(known: Knowledge, conclusion: Conclusion) -> Iterator[str]:
    """The same for people, line by line."""
    best, *equal = known.recommended
    measured = [record for record in known.records if isinstance(record.outcome, Measurement)]
    variants = {record.trial.served for record in measured}
    failed = len(known.records) - len(measured)
    failures = f" and {counted(failed, 'failure')}" if failed else ""
    yield (
        f"Search stopped after {counted(len(measured), 'measurement')} of"
        f" {counted(len(variants), 'variant')}{failures}: {conclusion.explanation}."
    )
    if not conclusion.feasible:
        missed = known.goal.shortfall(known.mean(best))
        yield "No measured configuration meets the constraints."
        yield f"Closest: {known.trial(best)}, which misses them by {missed:.1f}%."
        yield f"{conclusion.chance:.0%} chance that an unmeasured configuration meets them."
        return
    count = len(known.measured[best])
    times = "once" if count == 1 else f"{count} times"
    yield f"Recommended: {known.trial(best)}, measured {times}."
    if not known.is_answered:
        sure = known.view().sure(best)
        yield (
            "It probably met the constraints by luck: all measurements together give it a"
            f" {sure:.0%} chance to keep them."
        )
    for other in known.doubted:
        gain = known.goal.gain_percent(known.mean(other), known.mean(best))
        sure = known.view().sure(other)
        bounds = " and ".join(_nearest(known, other))
        yield (
            f"Not recommended: {known.trial(other)} measured {gain:.0f}% better, but has only a"
            f" {sure:.0%} chance to keep {bounds}."
        )
    own = cost(known.trial(best), known.mean(best))
    for other in equal:
        is_dearer = cost(known.trial(other), known.mean(other)) > own
        costs = "but needs more resources" if is_dearer else "and needs no more resources"
        yield f"Tie: {known.trial(other)} is within noise of it, {costs}."
    yield (
        f"{conclusion.chance:.0%} chance that a configuration more than {conclusion.margin:.0%}"
        f" better was not tried; continuing would gain about {conclusion.gain:.1%}."
    )


def _nearest(known: Knowledge, at: Coordinate) -> Iterator[str]:
    """The constraints that a trial is most likely to break."""
    view = known.view()
    kept = {
        str(slack.constraint): float((slack.margin[:, view.rows[at]] >= 0).mean())
        for slack in view.prospect.slacks
    }
    least = min(kept.values(), default=1.0)
    return (text for text, chance in kept.items() if chance == least)
