# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Orders the variants of a model by what its goal says. Those that pass always come first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.profiles import FailedTrial, MeasuredTrial, Profile
from model_analyzer.domain.trials import Trial


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantResult:
    """A variant with all its measurements, best first."""

    variant: ModelVariant
    measured: tuple[MeasuredTrial, ...]
    passes: bool

    @property
    def best(self) -> MeasuredTrial:
        """The measurement that stands for the variant."""
        return self.measured[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The variants of a model, best first, with the trials that failed."""

    model: str
    goal: Goal
    results: tuple[VariantResult, ...]
    failed: tuple[FailedTrial, ...]

    @property
    def measured(self) -> tuple[MeasuredTrial, ...]:
        """Every measurement, in the order of the tables."""
        return tuple(item for result in self.results for item in result.measured)

    @property
    def default(self) -> VariantResult | None:
        """The model's own configuration, if it was measured."""
        return next((result for result in self.results if result.variant.is_default), None)

    @property
    def any_passes(self) -> bool:
        return any(result.passes for result in self.results)


def rank(
    profile: Profile,
    model: str,
    goal: Goal,
    *,
    setup: str | None = None,
    files: str | None = None,
    current: Mapping[str, str] | None = None,
) -> Ranking:
    """The ranking of `model` from what was measured on one server setup, of one set of files.

    Both are fingerprints; without them, those of the newest record of the model are taken.
    `current` tells for names of variants which content they have now (the default changes when
    the user edits its file); other names belong to their newest content. What was measured of
    other content, files or servers stays in the profile but is not comparable.
    """
    records = [record for record in profile.records if record.trial.models == model]
    if records:
        setup = setup or records[-1].trial.setup.identity
        files = files or _variant(records[-1].trial).files
    records = [
        record
        for record in records
        if record.trial.setup.identity == setup and _variant(record.trial).files == files
    ]
    newest = {record.trial.variants: _variant(record.trial).identity for record in records}
    content = {**newest, **(current or {})}
    comparable = Profile(
        records=tuple(
            record
            for record in records
            if _variant(record.trial).identity == content[record.trial.variants]
        )
    )
    ordered = goal.best_first(comparable.measured, lambda item: item.measurement)
    return Ranking(
        model=model,
        goal=goal,
        results=tuple(_results(ordered, goal)),
        failed=comparable.failed,
    )


def _variant(trial: Trial) -> ModelVariant:
    return trial.workloads[0].variant


def _results(ordered: Sequence[MeasuredTrial], goal: Goal) -> Sequence[VariantResult]:
    by_variant: dict[str, list[MeasuredTrial]] = {}
    for item in ordered:
        by_variant.setdefault(item.trial.variants, []).append(item)
    return [
        VariantResult(
            variant=_variant(items[0].trial),
            measured=tuple(items),
            passes=goal.passes(items[0].measurement),
        )
        for items in by_variant.values()
    ]
