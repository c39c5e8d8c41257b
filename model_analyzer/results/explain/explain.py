# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Explains a variant: the load to look at, where its time goes, and the causes, likeliest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import dropwhile

from model_analyzer.domain.goals import DEFAULT_OBJECTIVE
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import FailedTrial, MeasuredTrial, measured_trials
from model_analyzer.domain.trials import Workload
from model_analyzer.noise.noise import Interval
from model_analyzer.noise.noise_model import intervals_of
from model_analyzer.noise.ties import Comparison
from model_analyzer.results.explain import contention, outside, over_time, queueing
from model_analyzer.results.explain.finding import CONSEQUENCES, Confirmation, FoundCause, changed
from model_analyzer.results.explain.situation import Situation, VariantPicture
from model_analyzer.results.ranking import Ranking, VariantResult

Rule = Callable[[VariantPicture], Iterator[FoundCause]]

_RULES: Sequence[Rule] = (
    over_time.growth,
    over_time.slowing,
    outside.late_client,
    outside.busy_client,
    outside.tensors,
    contention.bottleneck,
    contention.serial_calls,
    queueing.queue_delay,
    queueing.queue_policy,
    queueing.batches,
    contention.large_batches,
    queueing.arrivals,
    queueing.held_back,
    contention.contention,
    contention.shared_lock,
    contention.too_many,
    contention.collapse,
    queueing.instance_limit,
    over_time.slow_requests,
    over_time.noise,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a variant is as fast as it is, under the load of `situation`.

    `findings` are the causes, the most important one first; none if nothing is unusual. `ruled_out`
    are causes whose advice was measured without an effect. `lowest` is the variant under its lowest
    load. `measured` is the number of measurements behind them; `lacks` says which values some
    causes would need. `failed` are the trials of the variant without a measurement, under any load.
    `intervals` are those of 95 % of the situation, by metric.
    """

    situation: Situation
    lowest: Situation
    findings: tuple[FoundCause, ...]
    ruled_out: tuple[Confirmation, ...]
    measured: int
    lacks: tuple[str, ...]
    failed: tuple[FailedTrial, ...]
    intervals: Mapping[str, Interval]


def explain(
    ranking: Ranking, variant: str | None = None, *, cores: int | None = None
) -> Explanation:
    """Explains a variant of the ranking, by default the best, on a machine with so many `cores`.
    Raises ValueError if the ranking has no such variant, or if its models were measured together.
    """
    picture = picture_of(ranking, variant, cores=cores)
    findings, ruled_out = causes(picture)
    return Explanation(
        situation=picture.focus,
        lowest=picture.lowest,
        findings=findings,
        ruled_out=ruled_out,
        measured=len(picture.course),
        lacks=tuple(_lacks(picture)),
        failed=ranking.failures_of(picture.variant.identity),
        intervals=intervals_of(ranking.noise_model, ranking.goal, picture.focus.runs),
    )


def causes(picture: VariantPicture) -> tuple[tuple[FoundCause, ...], tuple[Confirmation, ...]]:
    """The causes that the measurements show, the most important one first, without those that
    others explain, and those whose advice is a variant that is worse by the goal; and those that
    measurements of their advice rule out, which explain nothing.
    """
    early, warming = over_time.cold(picture)
    findings = [] if warming is None else [warming]
    usual = picture.without(early)
    findings += [finding for rule in _RULES for finding in rule(usual)]
    tested = [_tested(each, picture) for each in findings]
    ruled_out = [test for test in tested if test is not None and test.refutes]
    refuted = [test.finding for test in ruled_out]
    worse = [
        test.finding
        for test in tested
        if test is not None and test.work.variant.identity in picture.worse
    ]
    shown = [each for each in findings if each not in refuted and each not in worse]
    explained = {cause for each in shown for cause in CONSEQUENCES.get(each.cause, ())}
    left = [each for each in shown if each.cause not in explained]
    best = {
        each.cause: each for each in sorted(left, key=lambda each: each.weight)
    }  # each cause once
    return tuple(sorted(best.values(), key=lambda each: -each.weight)), tuple(ruled_out)


def _tested(finding: FoundCause, picture: VariantPicture) -> Confirmation | None:
    """What the advice of a finding changed, if it was measured."""
    if finding.change is None or not finding.change.parameters:
        return None
    work = changed(finding.under.work, finding.change, VariantNames())
    for other in picture.others:
        is_it = other.variant.identity == work.variant.identity
        if is_it and other.work.load == work.load:
            return Confirmation(finding=finding, work=other.work, before=finding.under, after=other)
    return None


def picture_of(ranking: Ranking, variant: str | None, *, cores: int | None) -> VariantPicture:
    """The measurements that explain a variant. Raises ValueError as `explain` does."""
    result = _result(ranking, variant)
    make = partial(_situation, cores=cores)
    focus = result.best
    same = [item for item in result.measured if _is_alike(_work(focus), _work(item))]
    same.sort(key=lambda item: _work(item).load.value)
    others = [
        make(item)
        for other in ranking.results
        if other is not result
        for item in other.measured
        if _is_alike(_work(focus), _work(item))
    ]
    return VariantPicture(
        loads=tuple(map(make, same)),
        focus=make(focus),
        course=tuple(map(make, _course(ranking, result))),
        others=tuple(others),
        worse=frozenset(_lower(ranking, result)),
    )


def _lower(ranking: Ranking, result: VariantResult) -> Iterator[str]:
    """The variants that rank lower than a result, by more than noise explains: those that it beats
    by the goal, and those that miss its constraints while it meets them.
    """
    ordered = [*dropwhile(lambda each: each is not result, ranking.results)]
    comparison = Comparison(
        ranking.goal, {place: each.best.runs for place, each in enumerate(ordered)}
    )
    for place, each in enumerate(ordered):
        if comparison.is_better(0, place) or (result.passes and not each.passes):
            yield each.variants[0].identity


def _result(ranking: Ranking, variant: str | None) -> VariantResult:
    """The result to explain."""
    if not ranking.results:
        raise ValueError("it has no measurement that can be compared")
    if any(len(result.variants) != 1 for result in ranking.results):
        raise ValueError("several models were measured together: measure each one alone")
    if variant is None:
        return ranking.results[0]
    named = [result for result in ranking.results if variant in (result.name, result.telling_name)]
    if not named:
        names = ", ".join(result.telling_name for result in ranking.results)
        raise ValueError(f"variant {variant!r} was not measured; measured: {names}")
    return named[0]


def _course(ranking: Ranking, result: VariantResult) -> Sequence[MeasuredTrial]:
    """The longest series of measurements of a result in order of time, without another variant in
    between: its models stayed loaded.
    """
    measured = measured_trials(() if ranking.group is None else ranking.group.records)
    contents = {item.trial.content for item in result.measured}
    courses: list[list[MeasuredTrial]] = [[]]
    for item in sorted(measured, key=lambda item: item.measurement.started):
        if item.trial.content in contents:
            courses[-1].append(item)
        elif courses[-1]:
            courses.append([])
    return max(courses, key=len)


def _situation(item: MeasuredTrial, *, cores: int | None) -> Situation:
    return Situation(
        work=_work(item),
        runs=item.runs,
        cores=cores,
        gpus=item.trial.gpus,
        uncached=item.trial.setup.uncached,
        server=item.trial.setup.version,
    )


def _work(item: MeasuredTrial) -> Workload:
    return item.trial.workloads[0]


def _is_alike(one: Workload, other: Workload) -> bool:
    """Whether two loads of a variant differ in their value only."""
    return (
        one.load.kind is other.load.kind
        and one.load.batch_size == other.load.batch_size
        and one.client_setup == other.client_setup
    )


def _lacks(picture: VariantPicture) -> Iterator[str]:
    """Values that the measurements lack, and the causes that remain hidden without them."""
    if picture.focus.value(DEFAULT_OBJECTIVE) and not picture.focus.stations:
        yield "the server's counters (batches, instances, composing models)"
    if picture.focus.measurement.resources is None:
        yield "CPU time and memory of the server (locks, single cores, memory growth)"
    if len(picture.loads) < 2:
        yield "other loads (contention, limits of throughput)"
