# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When an adaptive search stops, and its conclusion: the answer and how certain it is. Before that,
it repeats the best trials: one with a single measurement may lead because of noise.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from statistics import fmean

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import (
    Conclusion,
    MeasuredTrial,
    Outlook,
    StopReason,
    TrialRecord,
)
from model_analyzer.domain.settings import AdaptiveSettings
from model_analyzer.domain.words import (
    capitalized,
    chance_text,
    counted,
    expected_gain_text,
    percent_text,
)
from model_analyzer.noise.ties import UNDECIDED, Undecided, tie_text, tied, undecided
from model_analyzer.search.adaptive.candidates import outlook, utility
from model_analyzer.search.adaptive.knowledge import Knowledge
from model_analyzer.search.adaptive.recommendation import MAX_ATTEMPTS
from model_analyzer.search.trial_map import Coordinate

# Near constraints, and not in rounds, rivals of the leader are the trials with at least this
# expected gain over it; at most so many.
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
    """The coordinates to measure again, most useful first.

    None once the winner is clear, or if a repetition would not make it clearer.
    """
    if not _is_free(knowledge):
        yield from _finalists(knowledge)
        return
    yield from knowledge.contenders
    yield from _first_perhaps(knowledge, 0.0)
    best = knowledge.recommended[0]
    if is_unconfirmed(knowledge, best):
        yield best


def _first_perhaps(knowledge: Knowledge, least_gain: float) -> Iterator[Coordinate]:
    """The recommended trial or the one that is expected to gain most over it, whichever was
    measured less; none if it gains less than `least_gain`, or too little for the time of a
    repetition.

    Not near constraints, where the answer turns on what meets them, nor in windows of
    perf_analyzer, where a repetition takes as long as a look at something new.
    """
    gains = knowledge.rival_gains() if _is_free(knowledge) else {}
    rivals = [c for c in gains if knowledge.attempts(c) < MAX_ATTEMPTS]
    if not rivals:
        return
    best, rival = knowledge.recommended[0], max(rivals, key=gains.__getitem__)
    if gains[rival] >= max(least_gain, _worth(knowledge.expected_s(rival))):
        yield rival if knowledge.attempts(best) >= knowledge.attempts(rival) else best


def _is_free(knowledge: Knowledge) -> bool:
    """Whether throughput is all that counts, and further rounds are short."""
    return knowledge.in_rounds and not knowledge.goal.has_constraints


def _finalists(knowledge: Knowledge) -> Iterator[Coordinate]:
    """Near constraints, or not in rounds: the leader, alternating with its rivals."""
    assessment = knowledge.assessment()
    leader = assessment.leader
    attempts = knowledge.attempts(leader)
    gains = knowledge.expected_gains()
    promising = [coordinate for coordinate in gains if gains[coordinate] > _RIVAL_GAIN]
    rivals = sorted(promising, key=lambda coordinate: -gains[coordinate])[:_MAX_RIVALS]
    for rival in rivals:
        if gains[rival] > _GREAT_GAIN and knowledge.attempts(rival) < _MAX_ATTEMPTS:
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


def contenders(knowledge: Knowledge, least_gain: float) -> Iterator[Coordinate]:
    """The coordinates to measure again before anything new: what leads the recommended one, or is
    as good with a better chance, a recommended one that only a first look speaks for, and what
    could be first after all, if it is expected to gain at least `least_gain`.
    """
    yield from knowledge.contenders
    best = knowledge.recommended[0]
    if knowledge.is_first_look(best) and knowledge.is_answered:
        yield best
    yield from _first_perhaps(knowledge, least_gain)


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


# A configuration that is better by more than this counts as missed.
_BETTER = 0.03

# The log tells when the recommendation came so near to the final one.
_NEAR = (0.05, 0.01)

# A machine on which repeated measurements may differ by so many percent is too noisy.
_TOO_NOISY = 30.0

# The search continues while the expected gain reaches the first value, or while the probability of
# a better configuration reaches the second. It never settles before the third number of trials.
_MIN_GAIN, _MIN_CHANCE, _MIN_TRIALS = 0.01, 0.1, 8
# That gain is for measurements of so many seconds: those of perf_analyzer's own windows. Shorter
# ones are worth a smaller gain, longer ones must bring more: by at most these factors.
_USUAL_S, _CHEAP, _DEAR = 16.0, 0.5, 2.0

# A search without limits of the user ends if the latest part of its time brought a gain below this.
_STANDSTILL, _LATEST = 0.01, 0.4
_MIN_BEFORE_STANDSTILL = 14

# What the worlds of the search say is too sure near a constraint, and too pessimistic without one.
# So the stated chance has the log-odds a + b · x, where x are those of the worlds, within bounds
# (Platt 1999, "Probabilistic outputs for support vector machines"). Fitted to 6000 decisions on 136
# surfaces that are in no other set; with and without constraints.
_STATED = {True: (-0.20, 0.38), False: (-0.68, 0.71)}
_LEAST_CHANCE, _MOST_CHANCE = 0.005, 0.995

# The default limit: this share of the space, within these numbers of trials. Rounds are
# shorter, and the further ones of a trial count, too. In a small space, that is too little near a
# constraint: as long as the probability of a better configuration reaches `_MIN_CHANCE`, the search
# may go on up to a higher limit.
_SHARE, _FEWEST, _MOST = 0.06, 12, 100
_FEWEST_IF_UNSURE = 24
_FOR_ROUNDS = 1.5
# A time budget takes its place: then it is the whole space, and at most so many.
_MOST_IN_BUDGET = 1000
# With several trials at once, it is higher by at most this share.
_MORE = 0.25


def most_trials(
    size: int,
    limits: AdaptiveSettings,
    at_once: int = 1,
    *,
    in_rounds: bool = False,
    is_sure: bool = False,
) -> int:
    """The measurement limit for a space of `size` trials, with so many trials `at_once`; for a
    search that `is_sure`, the limit of new trials.

    The default limit allows one more for each further trial at once: a trial is chosen without the
    outcomes of those beside it. If the user gives a time budget, that is the limit.
    """
    if limits.max_trials is not None:
        return limits.max_trials
    fewest = _FEWEST if is_sure else min(_FEWEST_IF_UNSURE, max(size, _FEWEST))
    usual = max(fewest, min(size * _SHARE, _MOST))
    alone = int(usual * _FOR_ROUNDS) if in_rounds else int(usual)
    if limits.budget_s is not None:
        alone = max(alone, min(size, _MOST_IN_BUDGET))
    return alone + min(at_once - 1, int(alone * _MORE))


def is_late(records: Sequence[TrialRecord], limits: AdaptiveSettings) -> bool:
    """Whether the time budget is too short for the next trial, if it takes as long as the longest
    so far.
    """
    return not limits.budget.covers([record.outcome for record in records])


def outlook_of(knowledge: Knowledge) -> Outlook | None:
    """What is to be gained yet; None after few trials, which say little about that."""
    return _stated(knowledge) if len(knowledge.records) >= _MIN_TRIALS else None


def is_settled(knowledge: Knowledge) -> bool:
    """Whether there is an answer, and continuing would gain little: new trials, or measured ones
    that may be better than they seem. Never after few trials.
    """
    if not _may_end(knowledge):
        return False
    remaining = _outlook(knowledge, with_measured=True)
    return remaining.gain < least_gain(knowledge.records) and remaining.chance < _MIN_CHANCE


def is_sure(knowledge: Knowledge, limits: AdaptiveSettings) -> bool:
    """Whether there is an answer, and probably no configuration is much better. Never after few
    trials.
    """
    if not _may_end(knowledge):
        return False
    if limits.sure_at is not None:
        return _stated(knowledge, with_measured=True).chance <= 1 - limits.sure_at
    return _outlook(knowledge, with_measured=True).chance < _MIN_CHANCE


def has_stalled(knowledge: Knowledge, limits: AdaptiveSettings) -> bool:
    """Whether the latest part of its time brought nothing new that is better, as it is known now.

    Never near constraints, where the answer of a stretch of trials may be chance; nor where the
    user sets limits: those say how long to go on.
    """
    is_limited = (limits.max_trials, limits.budget_s, limits.sure_at) != (None, None, None)
    records = knowledge.records
    if is_limited or not _is_free(knowledge):
        return False
    if len(records) < _MIN_BEFORE_STANDSTILL:
        return False
    ends_s = [*accumulate(record.outcome.duration_s for record in records)]
    number = bisect_right(ends_s, (1 - _LATEST) * ends_s[-1])
    earlier = {record.trial.first.key for record in records[:number]}
    assessment, tried = knowledge.assessment(), knowledge.tried
    leads = [
        assessment.lead(assessment.leader, coordinate)
        for coordinate in knowledge.measured
        if tried[coordinate].key in earlier
    ]
    return min(leads, default=math.inf) < _STANDSTILL


def _may_end(knowledge: Knowledge) -> bool:
    return len(knowledge.records) >= _MIN_TRIALS and knowledge.is_answered


def least_gain(records: Sequence[TrialRecord]) -> float:
    """The expected gain that is worth going on, for measurements as long as these were so far."""
    seconds = [record.outcome.duration_s for record in records]
    return _worth(fmean(seconds)) if any(seconds) else _MIN_GAIN


def _worth(seconds: float) -> float:
    """The least expected gain that is worth a measurement of so many seconds."""
    return _MIN_GAIN * min(max(seconds / _USUAL_S, _CHEAP), _DEAR)


def _stated(knowledge: Knowledge, *, with_measured: bool = False) -> Outlook:
    """The outlook with a chance that is as often true as it says."""
    found = _outlook(knowledge, with_measured=with_measured)
    assessment = knowledge.assessment()
    untried = [row for c, row in assessment.rows.items() if c not in knowledge.measured]
    if not found.feasible or not assessment.chance[untried].any():
        return found
    start, slope = _STATED[knowledge.goal.has_constraints]
    chance = min(max(found.chance, _LEAST_CHANCE), _MOST_CHANCE)
    odds = math.exp(start) * (chance / (1 - chance)) ** slope
    return replace(found, chance=odds / (1 + odds))


def _outlook(knowledge: Knowledge, *, with_measured: bool = False) -> Outlook:
    """The chance and the gain of a better configuration that is not measured yet, or with one that
    is.
    """
    assessment = knowledge.assessment()
    row, chance = assessment.rows[knowledge.answer[0]], assessment.chance.copy()
    if not with_measured:
        chance[[assessment.rows[coordinate] for coordinate in knowledge.measured]] = 0.0
    is_feasible = knowledge.is_feasible
    return outlook(
        assessment.prospect,
        chance,
        row,
        knowledge.tie_margins(knowledge.answer[0]),
        is_feasible=is_feasible,
        margin=_BETTER,
    )


def conclude(
    knowledge: Knowledge, reason: StopReason, limit: int, limits: AdaptiveSettings
) -> Conclusion:
    """The recommendation, and what the search may have missed.

    `limit` is the measurement limit of the search: from the user's `limits`, or the default.
    """
    remaining = _stated(knowledge)
    rival = _rival(knowledge)
    return Conclusion(
        recommended=knowledge.tried[knowledge.answer[0]].key,
        goal=knowledge.goal.identity,
        feasible=remaining.feasible,
        trials=len({record.trial.first.key for record in knowledge.records}),
        reason=reason,
        limit=limit,
        has_default_limit=limits.max_trials is None,
        margin=remaining.margin,
        chance=remaining.chance,
        gain=remaining.gain,
        rival="" if rival is None else str(knowledge.tried[rival.item]),
        noise_percent=0.0 if rival is None else rival.noise_percent,
    )


def _rival(knowledge: Knowledge) -> Undecided[Coordinate] | None:
    """The best of the trials of other variants that only a large difference would tell from the
    answer, although both were repeated.
    """
    best = knowledge.answer[0]
    if not knowledge.is_feasible or len(knowledge.measured[best]) == 1:
        return None
    repeated = [
        other
        for other in knowledge.feasible
        if len(knowledge.measured[other]) > 1
        and knowledge.tried[other].content != knowledge.tried[best].content
    ]
    rivals = undecided(knowledge.comparison, best, repeated, ())
    return next((each for each in rivals if each.noise_percent >= _TOO_NOISY), None)


def explanation(
    knowledge: Knowledge, conclusion: Conclusion, course: Mapping[int, Coordinate]
) -> Iterator[str]:
    """The conclusion for people, line by line. `course` is what the search would have recommended,
    by the number of outcomes so far.
    """
    best = knowledge.answer[0]
    measured = [record for record in knowledge.records if isinstance(record.outcome, Measurement)]
    variants = {record.trial.served for record in measured}
    failed = len(knowledge.records) - len(measured)
    failures = f" and {counted(failed, 'failure')}" if failed else ""
    yield (
        f"Search stopped after {counted(len(measured), 'measurement')} of"
        f" {counted(len(variants), 'variant')}{failures}: {conclusion.explanation}."
    )
    chance = chance_text(conclusion.chance)
    if not conclusion.feasible:
        missed = percent_text(knowledge.goal.shortfall(knowledge.mean(best)))
        yield "No measured configuration meets the constraints."
        yield f"Closest: {knowledge.tried[best]}, which misses them by {missed}."
        if conclusion.reason is not StopReason.EVERYTHING:
            yield f"{capitalized(chance)} chance that an unmeasured configuration meets them."
        return
    count = len(knowledge.measured[best])
    times = "once" if count == 1 else f"{count} times"
    yield f"Recommended: {knowledge.tried[best]}, measured {times}."
    if not knowledge.is_answered:
        sure = chance_text(knowledge.assessment().feasibility_of(best))
        yield (
            "It probably met the constraints by luck: by all measurements together, the chance that"
            f" it meets them is {sure}."
        )
    yield from _arrival(knowledge, course)
    if conclusion.doubt:
        yield conclusion.doubt
    for other in knowledge.doubtful:
        gain = knowledge.goal.gain_percent(knowledge.mean(other), knowledge.mean(best))
        sure = chance_text(knowledge.assessment().feasibility_of(other))
        bounds = " and ".join(_nearest(knowledge, other))
        yield (
            f"Not recommended: {knowledge.tried[other]} measured {gain:.0f} % better, but its"
            f" chance to meet {bounds} is only {sure}."
        )
    yield from _equal(knowledge)
    if conclusion.reason is StopReason.EVERYTHING:
        return
    yield (
        f"{capitalized(chance)} chance that a configuration more than"
        f" {percent_text(100 * conclusion.margin)} better was not tried; continuing would gain"
        f" {expected_gain_text(conclusion.gain)}."
    )


def _arrival(knowledge: Knowledge, course: Mapping[int, Coordinate]) -> Iterator[str]:
    """When the recommendation came near the final one, judged by all measurements."""
    best, comparison, feasible = knowledge.answer[0], knowledge.comparison, set(knowledge.feasible)
    behind = {
        number: comparison.lead(best, coordinate) if coordinate in feasible else math.inf
        for number, coordinate in course.items()
    }
    parts = []
    for within in _NEAR:
        far = [number for number, lead in behind.items() if lead > within]
        number = min((n for n in behind if n > max(far, default=0)), default=len(knowledge.records))
        seconds = sum(record.outcome.duration_s for record in knowledge.records[:number])
        parts.append(f"{number} until within {percent_text(100 * within)} ({seconds:.0f} s)")
    yield f"Measurements on the way to this answer: {', '.join(parts)}."


def _equal(knowledge: Knowledge) -> Iterator[str]:
    """The trials that the search takes for as good as the recommended one. Their own measurements
    say whether they tie with it, as in a ranking; a prediction may outvote noisy ones.
    """
    comparison, assessment = knowledge.comparison, knowledge.assessment()
    best, *others = knowledge.answer
    chosen, *ties = tied(comparison, knowledge.answer, assessment.feasibility_of)
    for tie in ties:
        text = tie_text(_measured(knowledge, tie), _measured(knowledge, chosen))
        yield f"{text}: {knowledge.tried[tie]}."
    for each in undecided(comparison, best, others, ties):
        yield f"{UNDECIDED}: {knowledge.tried[each.item]}, {each.text}."


def _measured(knowledge: Knowledge, coordinate: Coordinate) -> MeasuredTrial:
    return MeasuredTrial(trial=knowledge.tried[coordinate], measurement=knowledge.mean(coordinate))


def _nearest(knowledge: Knowledge, coordinate: Coordinate) -> Iterator[str]:
    """The constraints that a trial most likely violates, as text."""
    assessment = knowledge.assessment()
    chances = {
        str(slack.constraint): float((slack.margin[:, assessment.rows[coordinate]] >= 0).mean())
        for slack in assessment.prospect.slacks
    }
    lowest = min(chances.values(), default=1.0)
    return (text for text, chance in chances.items() if chance == lowest)
