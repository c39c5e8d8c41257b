# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What one should know about an answer before acting on it, as sentences.

The same for terminal, page, `results.json` and `best`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.domain.words import counted
from model_analyzer.reports.loads import under
from model_analyzer.reports.tables import show
from model_analyzer.results.answer import Answer, Certainty, Compliance
from model_analyzer.results.ranking import Ranking, VariantResult


def certainty_text(certainty: Certainty) -> str:
    """How sure the search is, why it stopped, and how to go on."""
    left = (
        f"a configuration more than {100 * certainty.margin:.0f} % better was not tried"
        if certainty.is_feasible
        else "a configuration that keeps the constraints was not tried"
    )
    further = f"; {certainty.option} continues" if certainty.option else ""
    return f"{certainty.explanation}: {100 * certainty.chance:.0f} % chance that {left}{further}."


def miss_text(answer: Answer) -> str:
    """By how much the best measured misses the constraints, for the first line of a file."""
    ranking = answer.ranking
    measurement = ranking.results[0].best.measurement
    values = [
        f"{METRICS[ALIASES.get(constraint.tag, constraint.tag)].name} {show(value)} ({constraint})"
        for index, model in enumerate(ranking.goal.models)
        for constraint in model.constraints
        if (value := measurement.model_value(index, constraint.tag)) is not None
        and constraint.excess(value)
    ]
    missed = show(ranking.goal.shortfall(measurement))
    return f"Misses the constraints by {missed} %: {', '.join(values)}"


def remarks_of(answer: Answer) -> Sequence[str]:
    """A sentence for each thing that makes the answer less than it seems."""
    ranking = answer.ranking
    return [
        *_certainty(answer),
        *_compliance(answer),
        *_rivals(answer),
        *_unmeasured(ranking),
        *unchecked_remarks(ranking.results[:1], ranking.goal),
        *_failed_elsewhere(ranking),
        *(part.sentence for part in ranking.left_out),
    ]


def _certainty(answer: Answer) -> Iterator[str]:
    if answer.certainty is not None:
        text = certainty_text(answer.certainty)
        yield text[0].upper() + text[1:]


def _compliance(answer: Answer) -> Iterator[str]:
    compliance, best = answer.compliance, answer.best
    if best is None or compliance is None or not (best.passes and compliance.is_doubtful):
        return
    values = "; ".join(_bounded_values(answer.ranking.goal, compliance))
    yield (
        f"{best.name} kept the constraints in {compliance.kept} of"
        f" {counted(len(compliance.measurements), 'measurement')} ({values}):"
        f" {100 * compliance.chance:.0f} % chance that it keeps them."
    )


def _bounded_values(goal: Goal, compliance: Compliance) -> Iterator[str]:
    """What was measured of each bounded metric, beside its bounds."""
    for index, model in enumerate(goal.models):
        for constraint in model.constraints:
            measured = [
                "not measured" if value is None else show(value)
                for value in _values(compliance.measurements, index, constraint.tag)
            ]
            metric = METRICS[ALIASES.get(constraint.tag, constraint.tag)]
            yield f"{metric.name} {', '.join(measured)} {metric.unit}; {constraint}"


def _values(measurements: Sequence[Measurement], index: int, tag: str) -> Iterator[float | None]:
    return (measurement.model_value(index, tag) for measurement in measurements)


def _rivals(answer: Answer) -> Iterator[str]:
    """What measured better and is not recommended: a single measurement may be noise, and what was
    repeated may break a constraint.
    """
    for rival in answer.rivals:
        measured = f"{rival.item.trial} measured {rival.gain_percent:.1f} % better"
        if len(rival.item.runs) == 1:
            yield f"{measured}, but only once: other measurements suggest that this is noise."
        elif answer.ranking.goal.has_constraints:
            yield f"{measured}, but is less sure to keep the constraints."
        else:
            yield f"{measured}, which is within noise."


def _unmeasured(ranking: Ranking) -> Iterator[str]:
    """The objectives that play no part, since there are no data about them."""
    if not ranking.unmeasured:
        return
    names = ", ".join(METRICS[ALIASES.get(tag, tag)].name for tag in ranking.unmeasured)
    objectives = {objective.tag for model in ranking.goal.models for objective in model.objectives}
    judged = ", ".join(METRICS[ALIASES.get(tag, tag)].name for tag in sorted(objectives))
    yield f"Objectives without measurements do not count: {names}. Ranked by {judged}."


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
