# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Orders the variants of a model by its goal. Variants that meet the constraints come first.

The knee: up to which number of concurrent requests throughput grows in proportion to it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import pairwise
from operator import is_
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.costs import HourlyCost, Prices, hourly_cost
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, Goal, Objective, are_met
from model_analyzer.domain.goodput import with_goodput
from model_analyzer.domain.measurements import Columns, Measurement
from model_analyzer.domain.metrics import Unit
from model_analyzer.domain.models import ModelVariant, group_members, group_name
from model_analyzer.domain.profiles import (
    Conclusion,
    FailedTrial,
    MeasuredTrial,
    Profile,
    Proof,
    TrialRecord,
    failed_trials,
)
from model_analyzer.domain.slots import Lane, SharedHost
from model_analyzer.domain.trials import Failure
from model_analyzer.noise.laws import with_doubts
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import has_repetitions, pool, pooled_by_trial
from model_analyzer.noise.ties import (
    RULES,
    Comparison,
    assurance,
    assured_first,
    chance_to_meet,
    cheapest_first,
    is_much_sooner,
    needs_more_resources,
    surely_met,
    tied,
    undefeated,
    undominated,
)
from model_analyzer.results.conditions import Comparable, Group, LeftOut, Wanted, comparable

# Beyond the knee, a further request adds less than this share of what the first ones added.
_SHARE = 0.5

# In production, a replica with more than this share of the measured rate has little left for a
# burst, and a higher share of failed requests than this is no accident.
NEARLY_ALL, FAILED = 0.85, 0.01


def knee_of(throughputs: Mapping[int, float]) -> int | None:
    """The concurrency of the knee, from throughputs by ascending concurrency; None if throughput
    grows to the end, or with fewer than two loads.
    """
    loads = list(throughputs.items())
    if len(loads) < 2:
        return None
    alone = loads[0][1] / loads[0][0]
    for (load, throughput), (more, higher) in pairwise(loads):
        if (higher - throughput) / (more - load) < _SHARE * alone:
            return load
    return None


# Percent; smaller gains count as no gain.
NO_GAIN = 0.5

# Only so many of the best are compared with each other; the others cannot tie with the best.
_CLOSEST = 200

# The numbers of the rules of rankings, for scripts that follow them.
RANKING_RULES: Mapping[str, Any] = MappingProxyType(
    {**RULES, "NO_GAIN": NO_GAIN, "CLOSEST": _CLOSEST}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantResult:
    """Variants measured together (one for each model), with all their measurements, best first.

    `noise_model` covers all measurements under the same conditions.
    """

    variants: tuple[ModelVariant, ...]
    measured: tuple[MeasuredTrial, ...]
    passes: bool
    noise_model: NoiseModel = field(compare=False, repr=False)

    @property
    def name(self) -> str:
        """The names of the variants, joined as in tables."""
        return group_name(variant.name for variant in self.variants)

    @property
    def telling_name(self) -> str:
        """The names, with those of composing variants where a name alone is ambiguous."""
        names = [variant.telling_name for variant in self.variants]
        return names[0] if len(names) == 1 else group_name(names)

    @property
    def folder(self) -> str:
        """The names as the name of a directory."""
        return ",".join(variant.folder for variant in self.variants)

    @property
    def is_default(self) -> bool:
        return all(variant.is_default for variant in self.variants)

    @property
    def best(self) -> MeasuredTrial:
        """The best measurement, which represents the variants."""
        return self.measured[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """What a server costs in an hour, by these prices."""

    prices: Prices
    hourly: HourlyCost


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The variants of a model (or of several, measured together), best first, and failed trials.

    * `model` is the name of the model group (see `domain.groups`). If `is_across_models`, each
      result is of one model, and there is no default to compare with.
    * `ties` are within noise of the first.
    * `conclusion` is that of the search that chose the first, if any. If there is one that does not
      apply, `unused_conclusion` says why. `is_unfinished` means that the search did not finish,
      `is_growing` that its run is still in progress.
    * `proofs` are those about its trials, also about failed ones.
    * `unmeasured` are objectives without data; `goal` is without them.
    * `costs` are those of the first, None without prices.
    * `refused` says, in words, which variants were never tried because a server would refuse them.
    * `left_out` are records that cannot be compared. `groups` are all groups of conditions, on
      all kinds of hardware; `group` is the ranked one, `beside` are those ranked on other kinds.
    """

    model: str
    goal: Goal
    results: tuple[VariantResult, ...]
    failed: tuple[FailedTrial, ...]
    is_across_models: bool = False
    ties: tuple[MeasuredTrial, ...] = ()
    conclusion: Conclusion | None = None
    unused_conclusion: str = ""
    is_unfinished: bool = False
    is_growing: bool = False
    shared_hosts: tuple[SharedHost, ...] = ()
    proofs: tuple[Proof, ...] = ()
    unmeasured: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    groups: tuple[Group, ...] = ()
    group: Group | None = None
    beside: tuple[Group, ...] = ()
    costs: Costs | None = None

    @property
    def kind(self) -> str:
        """The kind of hardware, in words; "" if nothing was measured."""
        return "" if self.group is None else self.group.kind

    @property
    def hardware(self) -> str:
        """The kind of hardware, if the model was measured on several; otherwise ""."""
        return self.kind if any(group.kind != self.kind for group in self.groups) else ""

    @property
    def currency(self) -> str:
        """The unit of costs: the currency of the prices, if there are any."""
        return str(Unit.CURRENCY) if self.costs is None else self.costs.prices.currency

    @property
    def measurements(self) -> int:
        """The number of all measurements. Equal variants with different names share theirs."""
        equal: dict[tuple[str, ...], list[VariantResult]] = {}
        for result in self.results:
            equal.setdefault(tuple(each.identity for each in result.variants), []).append(result)
        count = 0
        for results in equal.values():
            items = [item for result in results for item in result.measured]
            if len(results) > 1:  # the keys of many trials take time
                items = [*{item.trial.first.key: item for item in items}.values()]
            count += sum(len(item.runs) for item in items)
        return count

    @cached_property
    def measured(self) -> tuple[MeasuredTrial, ...]:
        """All measurements, in the order of the tables."""
        return tuple(item for result in self.results for item in result.measured)

    @cached_property
    def columns(self) -> Columns:
        """The metrics of all measurements, in the order of `measured`."""
        return Columns([item.measurement for item in self.measured])

    @cached_property
    def passing(self) -> Sequence[bool]:
        """Whether each measurement meets the constraints, in the order of `measured`."""
        measurements = [item.measurement for item in self.measured]
        return [missed == 0 for missed in self.goal.shortfalls(self.columns, measurements)]

    @property
    def noise_model(self) -> NoiseModel:
        """The noise model of all measurements."""
        return self.results[0].noise_model if self.results else NoiseModel(())

    @property
    def default(self) -> VariantResult | None:
        """The result of the default configurations, if they were measured."""
        if self.is_across_models:
            return None
        return next((result for result in self.results if result.is_default), None)

    def failures_of(self, content: str) -> tuple[FailedTrial, ...]:
        """The failed trials of the variants with this content (`Trial.content`), whatever their
        names.
        """
        return tuple(item for item in self.failed if item.trial.content == content)

    @property
    def any_passes(self) -> bool:
        return any(result.passes for result in self.results)


def rank(
    profile: Profile,
    model: str,
    goal: Goal,
    *,
    conditions: Wanted | Sequence[Wanted] | int | None = None,
    bases: tuple[str, ...] | None = None,
) -> tuple[Ranking, ...]:
    """Ranks the comparable measurements of `model`, the name of a group (see `domain.groups`): one
    ranking for each kind of hardware, never empty. For `conditions` and `bases`, see `comparable`.

    Raises ValueError if there is no group with the number `conditions`.
    """
    each = _comparable(profile, model, conditions=conditions, bases=bases)
    return tuple(_ranking(profile, model, goal, chosen) for chosen in each)


def _ranking(profile: Profile, model: str, goal: Goal, chosen: Comparable) -> Ranking:
    """The ranking on one kind of hardware."""
    proofs = _proofs(profile, chosen.records)
    chosen = replace(chosen, records=tuple(_without_excluded(chosen.records, proofs)))
    complete = profile.completion(goal)
    measured = [
        MeasuredTrial(trial=record.trial, measurement=outcome)
        for record in chosen.records
        if isinstance(outcome := complete(record.trial, record.outcome), Measurement)
    ]
    judged, unmeasured = _judged(goal, measured)
    lane = Lane(model) if chosen.group is None else Lane(model, chosen.group.sample.setup.kind)
    concluded = profile.conclusions.get(lane)
    unused = _why_unused(concluded, chosen.records, goal, unmeasured)
    conclusion = None if unused else concluded
    ordered, ties = _ordered(measured, judged, conclusion)
    went_on = False
    if conclusion is not None and ordered[0].trial.first.key != conclusion.recommended:
        unused = _why_not(conclusion, measured, ordered[0])
        # then a search may have gone on, and not have concluded yet
        went_on = conclusion.trials < _trials_in(chosen.records)
        conclusion = None
    ordered, ties = _default_first(ordered, ties, judged)
    return Ranking(
        model=model,
        goal=judged,
        results=tuple(_results(ordered, judged)),
        failed=failed_trials(chosen.records),
        ties=_other_trials(ties, ordered[:1]),
        conclusion=conclusion,
        unused_conclusion=unused,
        is_unfinished=went_on or lane in profile.unfinished,
        is_growing=profile.is_growing,
        shared_hosts=_shared_hosts(profile, chosen),
        proofs=proofs,
        unmeasured=unmeasured,
        refused=profile.refused.get(model, ()),
        left_out=chosen.left_out,
        groups=chosen.groups,
        group=chosen.group,
        beside=chosen.beside,
        costs=_costs(profile, ordered),
    )


def _proofs(profile: Profile, records: Sequence[TrialRecord]) -> tuple[Proof, ...]:
    """The proofs about these records."""
    if not profile.proofs:
        return ()
    served = {(record.trial.content, record.trial.setup.identity) for record in records}
    return tuple(proof for proof in profile.proofs if (proof.content, proof.setup) in served)


def _without_excluded(
    records: Iterable[TrialRecord], proofs: Sequence[Proof]
) -> Iterator[TrialRecord]:
    """The records; measurements that a proof excludes are failures, but of the default: without
    its outputs, there is nothing to compare with.
    """
    excluding = [proof for proof in proofs if proof.excludes]
    for record in records:
        proof = next((each for each in excluding if each.is_about(record.trial)), None)
        if proof is None or isinstance(record.outcome, Failure) or _is_default(record):
            yield record
        else:
            yield record._replace(outcome=proof.failure_of(record.outcome))


def _shared_hosts(profile: Profile, chosen: Comparable) -> tuple[SharedHost, ...]:
    """The tests of hosts with several slots that measured one of the chosen outcomes."""
    if not profile.shared_hosts:
        return ()
    machines = {record.outcome.machine for record in chosen.records}
    hosts = {machine.host for machine in machines if machine is not None}
    return tuple(test for host, test in profile.shared_hosts.items() if host in hosts)


def _costs(profile: Profile, ordered: Sequence[MeasuredTrial]) -> Costs | None:
    if profile.prices is None or not ordered:
        return None
    hourly = hourly_cost(profile.prices, profile.efficiency.resources(*ordered[0][:2]))
    return Costs(prices=profile.prices, hourly=hourly)


def _comparable(
    profile: Profile,
    model: str,
    *,
    conditions: Wanted | Sequence[Wanted] | int | None,
    bases: tuple[str, ...] | None,
) -> tuple[Comparable, ...]:
    """The comparable records of `model` on each kind of hardware."""
    names = group_members(model)
    records = [record for record in map(partial(_in_order, names), profile.records) if record]
    recorded = profile.bases.get(model, ())
    if len(recorded) != len(names):
        recorded = ()  # older checkpoints have no bases
    return comparable(records, conditions=conditions, bases=bases or recorded or None)


def _other_trials(
    ties: Iterable[MeasuredTrial], best: Iterable[MeasuredTrial]
) -> tuple[MeasuredTrial, ...]:
    """The ties without the best trial, which may be listed again under another name."""
    keys = {item.trial.first.key for item in best}
    return tuple(item for item in ties if item.trial.first.key not in keys)


def _in_order(names: Sequence[str], record: TrialRecord) -> TrialRecord | None:
    """The record with its models in this order; None if it is of other models."""
    works = record.trial.workloads
    if len(works) != len(names):
        return None
    own = tuple(work.variant.model for work in works)
    if own == names:
        return record
    if len(names) == 1 or sorted(own) != sorted(names):
        return None
    places = [own.index(name) for name in names]
    outcome = record.outcome
    if isinstance(outcome, Measurement):
        outcome = replace(outcome, models=tuple(outcome.models[place] for place in places))
    trial = replace(record.trial, workloads=tuple(works[place] for place in places))
    return record._replace(trial=trial, outcome=outcome)


def _judged(goal: Goal, measured: Sequence[MeasuredTrial]) -> tuple[Goal, tuple[str, ...]]:
    """The goal without objectives that no measurement has data for, and the tags of these. If a
    model has no objective left, its objective is throughput.
    """
    if not measured:
        return goal, ()
    missing: dict[str, None] = {}
    models = []
    for index, model in enumerate(goal.models):
        present = tuple(
            objective
            for objective in model.objectives
            if any(
                item.measurement.model_value(index, objective.tag) is not None for item in measured
            )
        )
        if len(present) < len(model.objectives):
            missing |= dict.fromkeys(
                objective.tag for objective in model.objectives if objective not in present
            )
            model = replace(model, objectives=present or (Objective(tag=DEFAULT_OBJECTIVE),))
        models.append(model)
    return (Goal(models=tuple(models)), tuple(missing)) if missing else (goal, ())


def _why_unused(
    conclusion: Conclusion | None,
    records: Sequence[TrialRecord],
    goal: Goal,
    unmeasured: Sequence[str],
) -> str:
    """Why a conclusion does not apply; "" if it does. It applies if it is for this goal, all
    objectives were measured, and all its trials are among the records.
    """
    if conclusion is None:
        return ""
    if conclusion.goal != goal.identity:
        return "it was for different goals"
    if unmeasured:
        return "its objectives were not measured"
    recommended = (
        record.trial.first.key == conclusion.recommended
        for record in records
        if isinstance(record.outcome, Measurement)
    )
    if not any(recommended):
        return "its recommendation is not among these measurements"
    if conclusion.trials > _trials_in(records):
        return "some of its trials are not among these measurements"
    return ""


def _trials_in(records: Sequence[TrialRecord]) -> int:
    return len({record.trial.first.key for record in records})


def _why_not(
    conclusion: Conclusion, measured: Iterable[MeasuredTrial], first: MeasuredTrial
) -> str:
    """Why the recommendation of a search is not the first, in words."""
    chosen = next(item.trial for item in measured if item.trial.first.key == conclusion.recommended)
    return f"it recommended {chosen.first}, but {first.trial.first} is better by all measurements"


def rank_across(rankings: Sequence[Ranking], goal: Goal, name: str) -> tuple[Ranking, ...]:
    """Ranks the variants of all models together by `goal`: one ranking for each kind of hardware.
    If a model was ranked by the same goal, its variants keep their order, so its recommendation
    stays first among them.
    """
    kinds: dict[str, list[Ranking]] = {}
    for ranking in [each for each in rankings if each.group is not None] or rankings:
        kinds.setdefault(ranking.kind, []).append(ranking)
    groups = tuple(group for ranking in rankings for group in ranking.groups)
    return tuple(
        replace(_across(own, goal, name), groups=groups) for _, own in sorted(kinds.items())
    )


def _across(rankings: Sequence[Ranking], goal: Goal, name: str) -> Ranking:
    """The ranking across models on one kind of hardware."""
    rankings = [_completed_by(goal, ranking) for ranking in rankings]
    judged, unmeasured = _judged(goal, [item for ranking in rankings for item in ranking.measured])
    queues = [_judged_alone(ranking, judged) for ranking in rankings]
    ordered = []
    while queues := [queue for queue in queues if queue]:
        leading = judged.best_first(queues, lambda queue: queue[-1].best.measurement)[0]
        ordered.append(leading.pop())
    return Ranking(
        model=name,
        goal=judged,
        results=tuple(ordered),
        failed=(),
        is_across_models=True,
        unmeasured=unmeasured,
        group=rankings[0].group,
        costs=_costs_of_first(rankings, ordered),
    )


def _completed_by(goal: Goal, ranking: Ranking) -> Ranking:
    """The ranking, in the same order, with measurements that have the goodput by this goal."""
    if ranking.goal == goal:
        return ranking
    results = [
        replace(
            result,
            measured=tuple(_with_goodput(item, goal) for item in result.measured),
        )
        for result in ranking.results
    ]
    return replace(ranking, results=tuple(results))


def _with_goodput(item: MeasuredTrial, goal: Goal) -> MeasuredTrial:
    runs = tuple(with_goodput(run, goal) for run in item.runs)
    if all(map(is_, runs, item.runs)):
        return item
    pooled = with_doubts(item.trial, pool(runs), len(runs))
    return item._replace(measurement=pooled, repetitions=runs if item.repetitions else ())


def _costs_of_first(rankings: Sequence[Ranking], ordered: Sequence[VariantResult]) -> Costs | None:
    """The costs of the best model's recommendation."""
    first = ordered[0].variants if ordered else ()
    for ranking in rankings:
        if ranking.results and ranking.results[0].variants == first:
            return ranking.costs
    return None


def _judged_alone(ranking: Ranking, goal: Goal) -> list[VariantResult]:
    """The results of a model, ranked by `goal`, best last."""
    if ranking.goal == goal:
        return list(reversed(ranking.results))
    results = [
        replace(
            result,
            measured=tuple(goal.best_first(result.measured, lambda item: item.measurement)),
        )
        for result in ranking.results
    ]
    ordered = goal.best_first(results, lambda result: result.best.measurement)
    return [replace(each, passes=goal.passes(each.best.measurement)) for each in reversed(ordered)]


def _ordered(
    measured: Sequence[MeasuredTrial], goal: Goal, conclusion: Conclusion | None
) -> tuple[Sequence[MeasuredTrial], tuple[MeasuredTrial, ...]]:
    """The measurements, best first, with repetitions of a trial merged into their mean; and the
    ties. The recommendation of a search comes first, unless other measurements beat it; otherwise
    the cheapest of those that tie for the first place.
    """
    keys, means = _means(measured, is_concluded=conclusion is not None)
    by_mean = goal.best_first(range(len(means)), lambda index: means[index].measurement)
    concluded = [index for index in by_mean if conclusion and keys[index] == conclusion.recommended]
    closest = list(dict.fromkeys([*by_mean[:_CLOSEST], *concluded]))
    runs = {index: means[index].runs for index in closest}
    meets = {index: are_met(goal, means[index].measurement) for index in closest}
    passing = [index for index in closest if meets[index]]
    # only without any that meets the constraints for sure, one of which that is unknown will do
    passing = passing or [index for index in closest if meets[index] is None]
    tie = concluded or by_mean[:1]
    if passing:
        comparison = Comparison(goal, runs)
        sure = assurance(goal, runs, comparison.noise_model)
        chance = chance_to_meet(goal, runs, noise_model=comparison.noise_model)
        # without repetitions, measurements count as they are; a remark names close constraints
        has_repeated = any(len(measurements) > 1 for measurements in runs.values())
        is_met = surely_met(goal, runs, sure)
        best = undefeated(
            comparison, passing, lambda index: not (concluded or has_repeated) or is_met(index)
        )
        is_concluded = bool(concluded) and concluded[0] in best
        if is_concluded:
            order = sorted(best, key=lambda index: index not in concluded)
            tie = tied(comparison, order, chance)
        else:
            order = assured_first(comparison, best, sure) if has_repeated else best
            ties = tied(comparison, order, chance)
            tie = cheapest_first(ties, lambda index: means[index].trial, comparison)
        first = undominated(
            comparison,
            tie[0],
            passing,
            lambda index: means[index].trial,
            chance,
            is_concluded=is_concluded,
        )
        tie = [first, *(index for index in tie if index != first and first in tie)]
    order = [*tie[:1], *(index for index in by_mean if index not in tie[:1])]
    return [means[index] for index in order], tuple(means[index] for index in tie[1:])


def _means(
    measured: Sequence[MeasuredTrial], *, is_concluded: bool
) -> tuple[Sequence[str], Sequence[MeasuredTrial]]:
    """The key of each trial under its names of variants, and the mean of its measurements that
    count. Without a conclusion and repetitions, the keys are "".
    """
    if not is_concluded and not has_repetitions(measured):
        # computing the keys of many trials is slow
        return [""] * len(measured), measured
    trials = pooled_by_trial(measured)
    return [key for _, key in trials], [*trials.values()]


def _default_first(
    ordered: Sequence[MeasuredTrial], ties: tuple[MeasuredTrial, ...], goal: Goal
) -> tuple[Sequence[MeasuredTrial], tuple[MeasuredTrial, ...]]:
    """Moves the default configuration to the first place if the gain over it is negligible and it
    does not need more resources; otherwise order and ties are unchanged.
    """
    best = next(iter(ordered), None)
    if best is None or _is_default(best):
        return ordered, ties
    tied_defaults = [item for item in ties if _is_default(item)]
    default = next((item for item in tied_defaults if _is_enough(item, best, goal)), None)
    if default is None:
        default = next((item for item in ordered if _is_default(item)), None)
        # what is clearly better and no tie has a reason not to be recommended
        if default is None or not _is_enough(default, best, goal, most_lead=NO_GAIN):
            return ordered, ties
    others = [item for item in ordered if item is not default]
    return [default, *others], (best, *(item for item in ties if item is not default))


def _is_enough(
    default: MeasuredTrial, best: MeasuredTrial, goal: Goal, most_lead: float = math.inf
) -> bool:
    """Whether the gain of `best` over `default` is negligible, and no reason to change anything.
    The default may be better by less than `most_lead` percent.
    """
    return (
        are_met(goal, default.measurement) == are_met(goal, best.measurement)
        and goal.shortfall(default.measurement) <= goal.shortfall(best.measurement)
        and -most_lead < goal.gain_percent(best.measurement, default.measurement) < NO_GAIN
        and not needs_more_resources(default, best)
        and not is_much_sooner(best.measurement, default.measurement)
    )


def _is_default(item: MeasuredTrial | TrialRecord) -> bool:
    return all(work.variant.is_default for work in item.trial.workloads)


def _results(ordered: Sequence[MeasuredTrial], goal: Goal) -> Sequence[VariantResult]:
    by_content: dict[tuple[str, str], list[MeasuredTrial]] = {}
    for item in ordered:
        by_content.setdefault(item.trial.served, []).append(item)
    noise_model = NoiseModel(item.runs for item in ordered)
    return [
        VariantResult(
            variants=tuple(work.variant for work in items[0].trial.workloads),
            measured=tuple(items),
            passes=goal.passes(items[0].measurement),
            noise_model=noise_model,
        )
        for items in by_content.values()
    ]
