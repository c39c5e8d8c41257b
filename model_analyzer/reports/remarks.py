# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What one should know about an answer before acting on it, as sentences.

The same for terminal, page, `results.json` and `best`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import NoticeKind
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.domain.near_misses import Miss
from model_analyzer.domain.words import counted
from model_analyzer.reports.loads import under
from model_analyzer.reports.tables import percent_text
from model_analyzer.results.answer import Answer, Compliance
from model_analyzer.results.columns import show
from model_analyzer.results.ranking import Ranking, VariantResult

UNFINISHED = "The run ended before the search was complete: run it again to continue."


def certainty_text(answer: Answer) -> str:
    """How sure the search is, why it stopped, and how to go on; "" where no search says so."""
    certainty = answer.certainty
    if certainty is None:
        return ""
    left = (
        f"a configuration more than {100 * certainty.margin:.0f} % better was not tried"
        if certainty.is_feasible
        else "a configuration that meets the constraints was not tried"
    )
    further = f"; {certainty.option} continues" if certainty.option else ""
    return (
        f"The search stopped: {certainty.explanation}. There is"
        f" {_a_chance(certainty.chance)} that {left}{further}."
    )


def _a_chance(chance: float) -> str:
    """A probability in words; what is all but certain is not called certain."""
    percent = round(100 * chance)
    if percent < 1:
        return "a chance of less than 1 %"
    return f"a {percent} % chance" if percent < 100 else "a chance of more than 99 %"


def miss_text(answer: Answer) -> str:
    """By how much the best measured misses the constraints, for the first line of a file."""
    ranking = answer.ranking
    measurement = ranking.results[0].best.measurement
    values = [
        _bounded_text(constraint, [value])
        for index, model in enumerate(ranking.goal.models)
        for constraint in model.constraints
        if (value := measurement.model_value(index, constraint.tag)) is not None
        and constraint.excess(value)
    ]
    missed = percent_text(ranking.goal.shortfall(measurement))
    return f"Misses the constraints by {missed}: {', '.join(values)}"


def remarks_of(answer: Answer) -> Sequence[str]:
    """A sentence for each thing that makes the answer less than it seems."""
    ranking = answer.ranking
    return [
        *_compliance(answer),
        *_near_misses(answer),
        *_rivals(answer),
        *_busy(answer),
        *_unused_conclusion(ranking),
        *([UNFINISHED] if ranking.is_unfinished and ranking.results else []),
        *_unmeasured(ranking),
        *unchecked_remarks(ranking.results[:1], ranking.goal),
        *_failed_elsewhere(ranking),
        *(part.sentence for part in ranking.left_out),
    ]


def _compliance(answer: Answer) -> Iterator[str]:
    compliance, best = answer.compliance, answer.best
    if best is None or compliance is None or not (best.passes and compliance.is_doubtful):
        return
    values = "; ".join(_bounded_values(answer.ranking.goal, compliance))
    yield (
        f"{best.name} met the constraints in {compliance.kept} of"
        f" {counted(len(compliance.measurements), 'measurement')} ({values}):"
        f" {_a_chance(compliance.chance).removeprefix('a ')} that it meets them."
    )


def _bounded_values(goal: Goal, compliance: Compliance) -> Iterator[str]:
    """What was measured of each bounded metric, beside its bounds."""
    for index, model in enumerate(goal.models):
        for constraint in model.constraints:
            values = [one.model_value(index, constraint.tag) for one in compliance.measurements]
            yield _bounded_text(constraint, [value for value in values if value is not None])


def _bounded_text(constraint: Constraint, values: Sequence[float]) -> str:
    metric = METRICS[ALIASES.get(constraint.tag, constraint.tag)]
    texts = " and ".join(map(show, values)) or "not measured"
    return f"{metric.name} {texts} {metric.unit}, {constraint}"


def _near_misses(answer: Answer) -> Iterator[str]:
    """What gives more and just misses a constraint, or may: whoever asked decides."""
    for near in answer.near_misses:
        trial = near.item.trial
        gives = (
            f"{trial.variants} {under(trial)} is {near.gain_percent:.0f} % better,"
            f" {'; '.join(map(_miss_text, near.misses))}"
        )
        yield f"{gives} ({100 * near.chance:.0f} % chance that it meets the constraints)."


def _miss_text(miss: Miss) -> str:
    metric = METRICS[ALIASES.get(miss.constraint.tag, miss.constraint.tag)]
    value = f"at {metric.name} {show(miss.value)} {metric.unit}"
    if miss.excess:
        return f"{value}: {percent_text(100 * miss.excess)} beyond {miss.constraint}"
    if miss.broken:
        return f"{value}: it broke {miss.constraint} in {miss.broken} of {miss.times} measurements"
    return f"{value}: close to {miss.constraint}"


def _rivals(answer: Answer) -> Iterator[str]:
    """What measured better and is not recommended, and why."""
    own = answer.compliance
    near = {id(miss.item) for miss in answer.near_misses}
    for rival in answer.rivals:
        if id(rival.item) in near:
            continue
        measured = f"{rival.item.trial} measured {rival.gain_percent:.1f} % better"
        if own is not None and rival.chance < own.chance:
            yield (
                f"{measured}, but is less likely to meet the constraints"
                f" ({100 * rival.chance:.0f} % against {100 * own.chance:.0f} %)."
            )
        elif len(rival.item.runs) == 1:
            yield f"{measured}, but only once: it may be noise."
        else:
            yield f"{measured}, which is within noise."


def _busy(answer: Answer) -> Iterator[str]:
    """That other programs ran while the recommendation was measured, once."""
    best = answer.best
    notices = () if best is None else best.best.measurement.notices
    busy = [notice.text for notice in notices if notice.kind is NoticeKind.BUSY_MACHINE]
    yield from busy[:1]


def _unused_conclusion(ranking: Ranking) -> Iterator[str]:
    if ranking.unused_conclusion:
        yield (
            "The conclusion of the search does not apply to this ranking:"
            f" {ranking.unused_conclusion}."
        )


def _unmeasured(ranking: Ranking) -> Iterator[str]:
    """The objectives that play no part, since there are no data about them."""
    if not ranking.unmeasured:
        return
    names = ", ".join(METRICS[ALIASES.get(tag, tag)].name for tag in ranking.unmeasured)
    objectives = {objective.tag for model in ranking.goal.models for objective in model.objectives}
    judged = ", ".join(METRICS[ALIASES.get(tag, tag)].name for tag in sorted(objectives))
    yield f"Objectives without measurements are ignored: {names}. Ranked by {judged}."


def unchecked_remarks(results: Sequence[VariantResult], goal: Goal) -> Sequence[str]:
    """A sentence for each constraint that the best measurements of these leave open."""
    tags = {tag for result in results for tag in goal.unchecked(result.best.measurement)}
    return [
        f"The constraint on {METRICS[tag].header} could not be checked: it was not measured."
        for tag in sorted(tags)
    ]


def _failed_elsewhere(ranking: Ranking) -> Iterator[str]:
    """Where what is recommended gave no measurement: who deploys it may meet that load."""
    if not ranking.results:
        return
    best = ranking.results[0]
    failed = [item for item in ranking.failed if item.trial.content == best.best.trial.content]
    if failed:
        others = f", and {counted(len(failed) - 1, 'time')} more" if len(failed) > 1 else ""
        yield (
            f"{best.name} failed {under(failed[0].trial)}{others}:"
            f" {failed[0].failure.message.rstrip('.')}."
        )
