# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Caveats of an answer, as sentences; the same for terminal, page, `results.json` and `best`. Short
ones stand beside the headline: what one must know before one deploys the answer, and what it is
based on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from operator import itemgetter, not_

from model_analyzer.domain.arrivals import fewest_answers
from model_analyzer.domain.costs import money
from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.measurements import REQUESTS_FOR_P99, NoticeKind, few_requests
from model_analyzer.domain.metrics import METRICS, Source, metric_of
from model_analyzer.domain.profiles import FailedTrial, MeasuredTrial, StopReason, Verdict
from model_analyzer.domain.trials import LoadKind, Workload, trial_words, under
from model_analyzer.domain.words import (
    a_chance,
    capitalized,
    counted,
    first_few,
    number_text,
    percent_text,
)
from model_analyzer.noise.lag import advice_on_lag, from_sending, sent_late
from model_analyzer.noise.response_cache import HIT_RATE
from model_analyzer.noise.ties import UNDECIDED, tie_text
from model_analyzer.reports.headline import default_text
from model_analyzer.reports.parameters import change_text
from model_analyzer.results.answer import Answer, Compliance, Miss, continuing, is_low
from model_analyzer.results.columns import fewest_requests
from model_analyzer.results.conditions import differences_text
from model_analyzer.results.ranking import NO_GAIN, Ranking, VariantResult

# The remarks name so many of the trials that noise does not let tell from the best.
_MOST_UNDECIDED = 2
# And so many of the ties of each kind; documents for programs have all.
_MOST_TIES = 3

# A request rate counts as reached if this share of it was answered.
_REACHED = 0.9

UNFINISHED = "The run ended before the search was complete: run it again to continue."
IN_PROGRESS = "A run is in progress: its search is not complete yet."


def details_of(answer: Answer) -> Sequence[str]:
    """What one may want to know of a good answer, too: the changes, the default, the ties, what
    noise does not let tell from it, and the end of the search.
    """
    texts = (changes_text(answer), default_text(answer), *_ties(answer), certainty_text(answer))
    return [text for text in texts if text]


def _ties(answer: Answer) -> Iterator[str]:
    """The ties, which are about as good as the best, and what noise does not let tell from it."""
    if answer.best is None:
        return
    by_text: dict[str, list[MeasuredTrial]] = {}
    for item in answer.ranking.ties:
        by_text.setdefault(tie_text(item, answer.best.best), []).append(item)
    for text, others in by_text.items():
        yield f"{text}: {_listed(others)}."
    if answer.undecided:
        names = [f"{trial_words(each.item.trial)}, {each.text}" for each in answer.undecided]
        more = len(names) - _MOST_UNDECIDED
        names[_MOST_UNDECIDED:] = [f"and {more} more"] if more > 0 else []
        yield f"{UNDECIDED}: {'; '.join(names)}."


def _listed(items: Sequence[MeasuredTrial]) -> str:
    """The first of the trials; a load that all of them share once."""
    loads = {under(item.trial) for item in items}
    if len(items) == 1 or len(loads) > 1:
        return first_few([trial_words(item.trial) for item in items], _MOST_TIES)
    names = first_few([item.trial.variants for item in items], _MOST_TIES)
    return f"{names}, {'both' if len(items) == 2 else 'all'} {loads.pop()}"


def certainty_text(answer: Answer) -> str:
    """Why the answer may be chance, why the search stopped, how sure it is, and how to continue it;
    "" if unknown.
    """
    conclusion = answer.conclusion
    if conclusion is None:
        return ""
    doubt = f"{conclusion.doubt} " if conclusion.doubt else ""
    if conclusion.reason is StopReason.EVERYTHING:
        return f"{doubt}The search stopped: {conclusion.explanation}."
    missed = (
        f"a configuration more than {100 * conclusion.margin:.0f} % better was not tried"
        if conclusion.feasible
        else "a configuration that meets the constraints was not tried"
    )
    return (
        f"{doubt}The search stopped: {conclusion.explanation}. There is"
        f" {a_chance(conclusion.chance)} that {missed}{continuing(conclusion)}."
    )


def changes_text(answer: Answer) -> str:
    """What the recommendation changes in the default configuration; "" if that is unknown."""
    default, best = answer.ranking.default, answer.best
    if default is None or best is None or best is default:
        return ""
    changes = change_text(default.best, best.best)
    return changes and f"Changes of the default: {changes}."


def miss_text(answer: Answer) -> str:
    """By how much the nearest configuration misses the constraints, for the head of a file."""
    ranking = answer.ranking
    measurement = ranking.results[0].best.measurement
    values = [
        _constrained_text(constraint, [value])
        for index, model in enumerate(ranking.goal.models)
        for constraint in model.constraints
        if (value := measurement.model_value(index, constraint.tag)) is not None
        and constraint.excess(value)
    ]
    missed = percent_text(ranking.goal.shortfall(measurement))
    return f"Misses the constraints by {missed}: {', '.join(values)}"


def remarks_of(answer: Answer) -> Sequence[str]:
    """A sentence for each caveat of the answer."""
    ranking = answer.ranking
    return [
        *(f"{text}." for text in ranking.refused),
        *(() if answer.best is None else _about(answer, answer.best)),
        *_unused_conclusion(ranking),
        *_unfinished(ranking),
        *_unmeasured(ranking),
        *_costs(ranking),
        *unchecked_remarks(ranking.results[:1], ranking.goal),
        *_failed_elsewhere(ranking),
        *(part.sentence for part in ranking.left_out),
        *_different_beside(ranking),
    ]


def _about(answer: Answer, best: VariantResult) -> Iterator[str]:
    """The caveats of the recommendation, or of what is nearest to the constraints."""
    yield from _doubts(best, answer.ranking.default)
    yield from _cache(best)
    yield from _compliance(answer, best)
    yield from _near_misses(answer)
    yield from _late_misses(answer, best)
    yield from why_not(answer)
    yield from _overloaded(best)
    yield from _about_requests(best)
    # how late the client sent requests, if that is a part of the latencies; or that nobody knows
    is_late = sent_late(best.best.measurement)
    yield from _first_notice(best, NoticeKind.CLIENT_LAGGED if is_late else NoticeKind.LAG_UNKNOWN)
    yield from _first_notice(best, NoticeKind.STOOD_STILL)
    yield from _first_notice(best, NoticeKind.BUSY_MACHINE)
    for shared in answer.ranking.shared_hosts:  # their slots have slowed each other down
        if shared.is_slower:
            yield f"Measured on a shared host. {shared.sentence}."


def _different_beside(ranking: Ranking) -> Iterator[str]:
    """What differs on other kinds of hardware besides the hardware."""
    for other in ranking.beside:
        if ranking.group is not None and (
            text := differences_text(other.sample, ranking.group.sample)
        ):
            place = capitalized(place_text(other.kind))
            yield f"{place}, not only the hardware is different: {text}."


def _doubts(best: VariantResult, default: VariantResult | None) -> Iterator[str]:
    """Why the values of the recommendation, and those of the default, may be wrong."""
    items = {id(result.best): result.best for result in (best, default) if result is not None}
    for item in items.values():
        yield from (doubt.sentence for doubt in item.measurement.doubts)


def _cache(best: VariantResult) -> Iterator[str]:
    """What the response cache of the recommended configuration means for its values."""
    rate = best.best.measurement.value(HIT_RATE)
    if rate:
        yield (
            f"{best.name}: {number_text(rate)} % of the requests were answered from the response"
            " cache, since perf_analyzer repeats its requests: with your clients, the values hold"
            " only for the same hit rate."
        )
    elif best.best.trial.setup.uncached:
        yield (
            f"{best.name} was measured without its response cache, which the configuration to"
            " deploy still has: repeated requests will be answered faster."
        )


def _compliance(answer: Answer, best: VariantResult) -> Iterator[str]:
    compliance = answer.compliance
    if compliance is None or not (best.passes and compliance.is_doubtful):
        return
    values = "; ".join(_constrained_values(answer.ranking.goal, compliance))
    chance = a_chance(compliance.chance)
    count = len(compliance.measurements)
    if compliance.times_met == count:
        yield f"{best.name}: {chance} that it meets the constraints ({values})."
        return
    noun = "round" if best.best.measurement.is_round else "measurement"
    yield (
        f"{best.name} met the constraints in {compliance.times_met} of {counted(count, noun)}"
        f" ({values}): {chance} that it meets them."
    )


def _constrained_values(goal: Goal, compliance: Compliance) -> Iterator[str]:
    """The measured values of each constrained metric, with its constraint."""
    for index, model in enumerate(goal.models):
        for constraint in model.constraints:
            values = [each.model_value(index, constraint.tag) for each in compliance.measurements]
            yield _constrained_text(constraint, [value for value in values if value is not None])


def _constrained_text(constraint: Constraint, values: Sequence[float]) -> str:
    metric = metric_of(constraint.tag)
    texts = " and ".join(map(number_text, values)) or "not measured"
    return f"{metric.name} {texts} {metric.unit}, {constraint}"


def _near_misses(answer: Answer) -> Iterator[str]:
    """Trials that are better but miss a constraint narrowly, or may: the user decides."""
    for near in answer.near_misses:
        trial = near.item.trial
        description = (
            f"{trial.variants} {under(trial)} is {near.gain_percent:.0f} % better,"
            f" {'; '.join(map(_miss_text, near.misses))}"
        )
        yield f"{description} ({100 * near.chance:.0f} % chance that it meets the constraints)."


def _miss_text(miss: Miss) -> str:
    metric = metric_of(miss.constraint.tag)
    value = f"at {metric.name} {number_text(miss.value)} {metric.unit}"
    if miss.excess:
        return f"{value}: {percent_text(100 * miss.excess)} beyond {miss.constraint}"
    if miss.broken:
        return f"{value}: it broke {miss.constraint} in {miss.broken} of {miss.times} measurements"
    return f"{value}: close to {miss.constraint}"


def _late_misses(answer: Answer, best: VariantResult) -> Iterator[str]:
    """The best trial that is better and might miss no constraint if its requests had not been sent
    late.
    """
    ranking = answer.ranking
    if not answer.is_met:
        return
    late = [
        item
        for item in compress(ranking.measured, map(not_, ranking.passing))
        if sent_late(item.measurement)
        and ranking.goal.passes(from_sending(item.measurement))
        and ranking.goal.gain_percent(item.measurement, best.best.measurement) >= NO_GAIN
    ]
    for item in ranking.goal.best_first(late, lambda item: item.measurement)[:1]:
        gain = ranking.goal.gain_percent(item.measurement, best.best.measurement)
        in_rounds = item.measurement.is_round
        advice = advice_on_lag(item.trial.workloads[0], in_rounds=in_rounds)
        yield (
            f"{trial_words(item.trial)} is {gain:.0f} % better, and may miss the constraints only"
            f" because its requests were sent late: {advice}."
        )


def why_not(answer: Answer) -> Iterator[str]:
    """Trials that measured better but are not recommended, with the reason."""
    compliance = answer.compliance
    near = {id(miss.item) for miss in answer.near_misses}
    for rival in answer.rivals:
        if id(rival.item) in near:
            continue
        measured = f"{trial_words(rival.item.trial)} measured {rival.gain_percent:.1f} % better"
        if compliance is not None and _shown(rival.chance) < _shown(compliance.chance):
            yield (
                f"{measured}, but is less likely to meet the constraints"
                f" ({_shown(rival.chance)} % against {_shown(compliance.chance)} %)."
            )
        elif len(rival.item.runs) == 1:
            yield f"{measured}, but only once: it may be noise."
        else:
            yield f"{measured}, which is within noise."


def _shown(chance: float) -> int:
    """A chance in percent, as it is shown: a smaller difference is no reason."""
    return round(100 * chance)


def _overloaded(best: VariantResult) -> Iterator[str]:
    """Request rates that the recommendation did not reach."""
    for work, answered in unreached_rates(best.best):
        name = f" to {work.variant.model}" if len(best.best.trial.workloads) > 1 else ""
        yield (
            f"{best.name}: only {number_text(answered)} of {work.load.value:,} requests/sec{name}"
            " were answered. The server or the client was overloaded, so the latencies depend"
            " on how long it was measured: use a lower request rate."
        )


def unreached_rates(item: MeasuredTrial) -> Iterator[tuple[Workload, float]]:
    """The workloads whose request rate was not reached, and the answered requests per second."""
    trial, measurement = item.trial, item.measurement
    for index, work in enumerate(trial.workloads):
        throughput = measurement.model_value(index, "perf_throughput")
        if throughput is None or work.load.kind is not LoadKind.REQUEST_RATE:
            continue
        answered = throughput / work.load.batch_size
        requests = measurement.models[index].requests
        is_chance = requests and requests >= fewest_answers(work, requests / answered)
        if answered < _REACHED * work.load.value and not is_chance:
            yield work, answered


def too_few_requests(best: VariantResult) -> int | None:
    """The requests behind a result, if they are too few for its p99; None otherwise."""
    return fewest_requests(best.best.measurement) if _about_requests(best) else None


def _about_requests(best: VariantResult) -> Sequence[str]:
    """About the model with the fewest requests, if they are too few. A single round has no
    notice about that, since others may follow.
    """
    trial, measurement = best.best.trial, best.best.measurement
    few = [
        (model.requests, work)
        for work, model in zip(trial.workloads, measurement.models, strict=True)
        if measurement.is_round and model.requests is not None
        if model.requests < REQUESTS_FOR_P99
    ]
    texts = [few_requests(work, count) for count, work in sorted(few, key=itemgetter(0))[:1]]
    return texts or _first_notice(best, NoticeKind.FEW_REQUESTS)


def _first_notice(best: VariantResult, kind: NoticeKind) -> Sequence[str]:
    """The first notice of this kind about the measurements of a result."""
    notices = best.best.measurement.notices
    return [notice.text for notice in notices if notice.kind is kind][:1]


def _unused_conclusion(ranking: Ranking) -> Iterator[str]:
    if ranking.unused_conclusion:
        yield (
            "The conclusion of the search does not apply to this ranking:"
            f" {ranking.unused_conclusion}."
        )


def _unfinished(ranking: Ranking) -> Iterator[str]:
    if ranking.is_unfinished and ranking.results:
        yield IN_PROGRESS if ranking.is_growing else UNFINISHED


def _unmeasured(ranking: Ranking) -> Iterator[str]:
    """The objectives that are ignored because they have no data."""
    if not ranking.unmeasured:
        return
    metrics = [metric_of(tag) for tag in ranking.unmeasured]
    names = ", ".join(metric.name for metric in metrics)
    objectives = {objective.tag for model in ranking.goal.models for objective in model.objectives}
    judged = ", ".join(metric_of(tag).name for tag in sorted(objectives))
    are_costs = any(metric.source is Source.PRICES for metric in metrics)
    hint = " Costs need --prices." if are_costs and ranking.costs is None else ""
    if any(metric.source is Source.REQUESTS for metric in metrics):
        hint += " Goodput needs the times of single requests, which only rounds have."
    yield f"Objectives without measurements are ignored: {names}. Ranked by {judged}.{hint}"


def unchecked_remarks(results: Sequence[VariantResult], goal: Goal) -> Sequence[str]:
    """A sentence for each constraint whose metric the best measurements do not have."""
    tags = {tag for result in results for tag in goal.unchecked(result.best.measurement)}
    return [
        f"The constraint on {METRICS[tag].header} could not be checked: it was not measured."
        for tag in sorted(tags)
    ]


def _costs(ranking: Ranking) -> Iterator[str]:
    """What the costs are made of, or why they are unknown."""
    if ranking.costs is None:
        return
    prices, hourly = ranking.costs.prices, ranking.costs.hourly
    name = ranking.results[0].name
    if hourly.amount is None:
        yield f"What {name} costs is unknown: {hourly.basis}."
        return
    yield (
        f"Costs are in {prices.currency}, by prices of {prices.date}: an hour of {name} costs"
        f" {money(hourly.amount, prices.currency)} ({hourly.basis})."
    )


def _failed_elsewhere(ranking: Ranking) -> Iterator[str]:
    """Loads with which the recommended configuration failed; that everything else failed, if only
    the default could be measured.
    """
    if not ranking.results:
        return
    best = ranking.results[0]
    others = {
        trial.content: each
        for trial, each in ranking.failed
        if trial.content != best.best.trial.content
    }
    if others and len(ranking.results) == 1 and best is ranking.default:
        first = next(iter(others.values()))
        reason = "; ".join(filter(None, (first.message.rstrip("."), first.hint)))
        yield (
            f"Only the default could be measured: {counted(len(others), 'other configuration')}"
            f" failed. The first: {reason}."
        )
    failures = ranking.failures_of(best.best.trial.content)
    if failures:
        yield f"{failure_text(best.name, failures)}."


def failure_text(name: str, failed: Sequence[FailedTrial]) -> str:
    """What happened first to the configuration of this name, and how often it failed again; without
    a full stop.
    """
    trial, failure = failed[0]
    others = f", and {counted(len(failed) - 1, 'time')} more" if len(failed) > 1 else ""
    return f"{name} failed {under(trial)}{others}: {failure.message.rstrip('.;')}"


def failure_advice(name: str, failed: Sequence[FailedTrial]) -> str:
    """The same as a sentence, with what to do."""
    return f"{'; '.join(filter(None, (failure_text(name, failed), failed[0].failure.hint)))}."


# The most serious ones are named; the remarks have all.
_MOST = 2
# Below this chance that something meets the constraints, continuing is no advice.
_HOPELESS = 0.05


def is_unsure(answer: Answer, *, complete: bool) -> bool:
    """Whether the answer may be wrong; `complete` means that the search finished."""
    return answer.is_unsure or is_unfinished(answer, complete=complete)


def caution_text(answer: Answer, *, complete: bool) -> str:
    """The most serious reasons not to rely on the answer, or only on some of its values; "" if
    there are none.
    """
    best = answer.best
    if best is None:
        return ""
    reasons = [*_reasons_to_doubt(answer, best, complete=complete), *_limits_of_use(answer, best)]
    if not reasons:
        return ""
    start = "Not certain" if is_unsure(answer, complete=complete) else "Note"
    return f"{start}: {'; '.join(reasons[:_MOST])}."


def evidence_text(answer: Answer) -> str:
    """The number of measurements, those that are left out, and the chance that something better was
    not tried; if that is too high, what continues the search.
    """
    ranking, conclusion = answer.ranking, answer.conclusion
    if answer.best is None:
        return ""
    count = (
        f"{counted(ranking.measurements, 'measurement')} across"
        f" {counted(len(ranking.results), 'configuration')}"
    )
    left_out = sum(part.measurements for part in ranking.left_out)
    if left_out:
        count += f", {left_out:,} left out"
    if conclusion is None or conclusion.reason is StopReason.EVERYTHING:
        return f"{count}."
    if is_low(conclusion) or (not conclusion.feasible and conclusion.chance >= _HOPELESS):
        return f"{count}{continuing(conclusion)}."
    better = f"one more than {100 * conclusion.margin:.0f} % better was not tried"
    if not conclusion.feasible:
        better = "one that meets the constraints was not tried"
    return f"{count}; {a_chance(conclusion.chance)} that {better}."


def proven_texts(answer: Answer) -> Iterator[str]:
    """The verdicts on the recommendation: a line for what failed, passed and was not checked."""
    for verdict, start in zip(Verdict, ("Proven", "Failed", "Not checked"), strict=True):
        texts = [proof.sentence for proof in answer.proofs if proof.verdict is verdict]
        if texts:
            yield f"{start}: {'; '.join(texts)}."


def _reasons_to_doubt(answer: Answer, best: VariantResult, *, complete: bool) -> Iterator[str]:
    """Why the answer may be wrong, most serious first."""
    compliance, conclusion = answer.compliance, answer.conclusion
    if best.best.measurement.doubts:
        yield "its values contradict each other"
    unchecked = answer.ranking.goal.unchecked(best.best.measurement)
    if unchecked:
        yield f"{METRICS[unchecked[0]].name} has a constraint but was not measured"
    if best.passes and compliance is not None and compliance.is_doubtful:
        times = len(compliance.measurements)
        if compliance.times_met < times:
            yield f"it met the constraints in {compliance.times_met} of {times} measurements"
        else:
            yield f"{a_chance(compliance.chance)} that it meets the constraints"
    if conclusion is not None and conclusion.doubt:
        noise = percent_text(conclusion.noise_percent)
        yield f"this machine is too noisy to tell it from another (± {noise})"
    elif conclusion is not None and is_low(conclusion):
        other = "better one" if conclusion.feasible else "configuration that meets them"
        yield f"{a_chance(conclusion.chance)} that a {other} was not tried"
    if is_unfinished(answer, complete=complete):
        yield "the search is not complete"


def _limits_of_use(answer: Answer, best: VariantResult) -> Iterator[str]:
    """Under which conditions the values hold, or which of them do not."""
    measurement = best.best.measurement
    if answer.ranking.unmeasured:
        names = " and ".join(METRICS[tag].name for tag in answer.ranking.unmeasured)
        yield f"ranked without {names}, which was not measured"
    rate = measurement.value(HIT_RATE)
    if rate:
        yield f"{number_text(rate)} % of the requests were answered from the response cache"
    if any(True for _ in unreached_rates(best.best)):
        yield "the request rate was not reached"
    requests = too_few_requests(best)
    if requests is not None:
        yield f"p99 is from only {counted(requests, 'request')}"
    kinds = {notice.kind for notice in measurement.notices}
    if sent_late(measurement) and NoticeKind.CLIENT_LAGGED in kinds:
        yield "its requests were sent late"


def is_unfinished(answer: Answer, *, complete: bool) -> bool:
    """Whether no search has concluded what the answer is."""
    return answer.conclusion is None and (answer.ranking.is_unfinished or not complete)
