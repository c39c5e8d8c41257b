# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Orders the variants of a model by what its goal says. Those that pass always come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from model_analyzer.domain.conclusions import Conclusion
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Columns, averaged
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import FailedTrial, MeasuredTrial, Profile, TrialRecord
from model_analyzer.domain.ties import assurance, assured_first, cost, tied
from model_analyzer.domain.trials import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantResult:
    """Variants measured together (one for each model), with all their measurements, best first."""

    variants: tuple[ModelVariant, ...]
    measured: tuple[MeasuredTrial, ...]
    passes: bool

    @property
    def name(self) -> str:
        """The names of the variants, joined as in tables."""
        return ",".join(variant.name for variant in self.variants)

    @property
    def is_default(self) -> bool:
        return all(variant.is_default for variant in self.variants)

    @property
    def best(self) -> MeasuredTrial:
        """The measurement that stands for the variants."""
        return self.measured[0]


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """The variants of a model (or of several, measured together), best first, with the trials
    that failed. `ties` are as good as the first within noise; `conclusion` is that of the search
    that chose the first, if one did. `repetitions` is how many further measurements there are, in
    the means of others. `model` is the name, or the names joined by commas. Across models, each
    result is of one model, and there is no default to compare with.
    """

    model: str
    goal: Goal
    results: tuple[VariantResult, ...]
    failed: tuple[FailedTrial, ...]
    is_across_models: bool = False
    ties: tuple[MeasuredTrial, ...] = ()
    conclusion: Conclusion | None = None
    repetitions: int = 0

    @cached_property
    def measured(self) -> tuple[MeasuredTrial, ...]:
        """Every measurement, in the order of the tables."""
        return tuple(item for result in self.results for item in result.measured)

    @cached_property
    def columns(self) -> Columns:
        """The metrics of every measurement, in that order."""
        return Columns([item.measurement for item in self.measured])

    @cached_property
    def passing(self) -> Sequence[bool]:
        """Whether each measurement keeps the constraints, in that order."""
        measurements = [item.measurement for item in self.measured]
        return [missed == 0 for missed in self.goal.shortfalls(self.columns, measurements)]

    @property
    def default(self) -> VariantResult | None:
        """The models' own configurations, if they were measured."""
        if self.is_across_models:
            return None
        return next((result for result in self.results if result.is_default), None)

    @property
    def any_passes(self) -> bool:
        return any(result.passes for result in self.results)


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """What must be equal for measurements to be comparable: fingerprints of the server setup and,
    for each model, of how it is measured (see `Workload.conditions`) and of its files.
    """

    setup: str
    conditions: tuple[str, ...]
    files: tuple[str, ...]

    @classmethod
    def of(cls, trial: Trial) -> Circumstances:
        return cls(
            setup=trial.setup.identity,
            conditions=tuple(work.conditions for work in trial.workloads),
            files=tuple(work.variant.files for work in trial.workloads),
        )


def rank(
    profile: Profile,
    model: str,
    goal: Goal,
    *,
    circumstances: Circumstances | None = None,
    current: Mapping[str, Set[str]] | None = None,
) -> Ranking:
    """The ranking of `model` from what was measured under `circumstances`: without them, those of
    the newest record of the model.

    `current` tells for names of variants which contents they have now (the default changes when
    the user edits its file); other names belong to their newest content. What was measured
    otherwise stays in the profile but cannot be compared.
    """
    records = [record for record in profile.records if record.trial.models == model]
    if circumstances is None and records:
        circumstances = Circumstances.of(records[-1].trial)
    records = _under(circumstances, records) if circumstances is not None else []
    served = [record.trial.served for record in records]
    newest = {names: {content} for names, content in served}
    contents: Mapping[str, Set[str]] = {**newest, **(current or {})}
    comparable = Profile(
        records=tuple(
            record
            for record, (names, content) in zip(records, served, strict=True)
            if content in contents[names]
        )
    )
    concluded = profile.conclusions.get(model)
    conclusion = concluded if _counts(concluded, comparable, goal) else None
    ordered, ties = _ordered(comparable.measured, goal, conclusion)
    return Ranking(
        model=model,
        goal=goal,
        results=tuple(_results(ordered, goal)),
        failed=comparable.failed,
        ties=ties,
        conclusion=conclusion,
        repetitions=len(comparable.measured) - len(ordered),
    )


def _counts(conclusion: Conclusion | None, profile: Profile, goal: Goal) -> bool:
    """Whether it is about this goal, and about all trials of the profile and no others."""
    return (
        conclusion is not None
        and conclusion.goal == goal.identity
        and conclusion.trials == len({record.trial.first.key for record in profile.records})
        and any(item.trial.first.key == conclusion.recommended for item in profile.measured)
    )


def _under(circumstances: Circumstances, records: Sequence[TrialRecord]) -> list[TrialRecord]:
    """The records under these circumstances. Trials of a checkpoint share setups and flags: of
    those that share everything, one is looked at.
    """
    known: dict[tuple[object, ...], bool] = {}
    found = []
    for record in records:
        trial = record.trial
        shared: tuple[object, ...] = (id(trial.setup),)
        for work in trial.workloads:
            # `id`: the hash of a kind is made by Python code
            shared += (id(work.load.kind), id(work.flags), work.inputs, work.variant.files)
        is_meant = known.get(shared)
        if is_meant is None:
            is_meant = known[shared] = Circumstances.of(trial) == circumstances
        if is_meant:
            found.append(record)
    return found


def rank_across(rankings: Sequence[Ranking], goal: Goal, name: str) -> Ranking:
    """The variants of all models in one order, each judged alone by `goal`."""
    results = [result for ranking in rankings for result in ranking.results]
    best = {
        id(result): goal.best_first(result.measured, lambda item: item.measurement)
        for result in results
    }
    ordered = goal.best_first(results, lambda result: best[id(result)][0].measurement)
    return Ranking(
        model=name,
        goal=goal,
        results=tuple(
            VariantResult(
                variants=result.variants,
                measured=tuple(best[id(result)]),
                passes=goal.passes(best[id(result)][0].measurement),
            )
            for result in ordered
        ),
        failed=(),
        is_across_models=True,
        repetitions=sum(ranking.repetitions for ranking in rankings),
    )


def _ordered(
    measured: Sequence[MeasuredTrial], goal: Goal, conclusion: Conclusion | None
) -> tuple[Sequence[MeasuredTrial], tuple[MeasuredTrial, ...]]:
    """The measurements, best first, with repetitions of a trial as one: their mean. First is what a
    search has concluded; else, of those that tie for the first place, the cheapest. Others that tie
    are named.
    """
    if conclusion is None and not any(item.trial.repetition for item in measured):
        return goal.best_first(measured, lambda item: item.measurement), ()
    repetitions: dict[tuple[str, str], list[MeasuredTrial]] = {}
    for item in measured:
        first = item.trial.first
        repetitions.setdefault((first.variants, first.key), []).append(item)
    found = {key: [item.measurement for item in items] for key, items in repetitions.items()}
    means = {
        key: MeasuredTrial(trial=items[0].trial, measurement=averaged(found[key]))
        for key, items in repetitions.items()
    }
    by_mean = goal.best_first(means, lambda key: means[key].measurement)
    sure = assurance(goal, found)
    if conclusion is None:
        order = assured_first(goal, by_mean, found, sure)
    else:
        order = sorted(by_mean, key=lambda key: key[1] != conclusion.recommended)
    equal = tied(goal, order, found, sure)
    chosen = order[0]
    if conclusion is None:
        chosen = min(equal, key=lambda key: cost(means[key].trial, means[key].measurement))
    return (
        [means[chosen], *(means[key] for key in order if key != chosen)],
        tuple(means[key] for key in equal if key != chosen),
    )


def _results(ordered: Sequence[MeasuredTrial], goal: Goal) -> Sequence[VariantResult]:
    by_content: dict[tuple[str, str], list[MeasuredTrial]] = {}
    for item in ordered:
        by_content.setdefault(item.trial.served, []).append(item)
    return [
        VariantResult(
            variants=tuple(work.variant for work in items[0].trial.workloads),
            measured=tuple(items),
            passes=goal.passes(items[0].measurement),
        )
        for items in by_content.values()
    ]
