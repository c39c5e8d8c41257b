# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Counts the variants within the bounds of a search that are left out, because a server would
refuse them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

from model_analyzer.domain.model_config_rules import (
    Refusal,
    least_batch_limit,
    rate_limits,
    refusal,
)
from model_analyzer.domain.models import ModelFacts, ModelVariant, VariantNames
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.words import counted, first_few
from model_analyzer.search.plan import Subject, VariedModel
from model_analyzer.search.variants import (
    automatic_parameters,
    batch_limits,
    brute_groups,
    higher_limits,
    instance_counts,
    is_manual,
    listed_batch_limits,
    other_parameters,
)

# What to do about a model that the server would refuse as it is.
CORRECT = "correct its config.pbtxt"

# Longer lists are not counted: they would take seconds.
_MOST = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusedVariants:
    """The number of variants of a model that are left out, of how many, and for which reasons.
    `remedy` is what to do if nothing is left because all batch limits are too small, otherwise "".
    """

    model: str
    count: int
    total: int
    reasons: Sequence[str]
    remedy: str

    @property
    def sentence(self) -> str:
        """The sentence about it, without a dot; with the remedy if nothing is left to search."""
        return (
            f"{self.model}: {self.count} of {counted(self.total, 'variant')} left out, because the"
            f" server would refuse them: {'; '.join(filter(None, (*self.reasons, self.remedy)))}"
        )


def of_list(subject: Subject, settings: SearchSettings) -> Iterator[RefusedVariants]:
    """What a search that lists the variants of each model leaves out."""
    for model in subject.models:
        groups = brute_groups(model, settings)
        configurations = (parameters for group in groups for parameters in group)
        varied = model.varied[model.facts.name]
        is_listed = is_manual(model, settings)
        yield from _of_model(varied, configurations, subject, is_listed=is_listed)


def of_space(subject: Subject, settings: SearchSettings) -> Iterator[RefusedVariants]:
    """What a search leaves out that chooses the sizes of all models within the bounds."""
    for model in subject.models:
        for varied in model.varied.values():
            if not varied.facts.is_ensemble:
                is_listed = bool(listed_batch_limits(varied))
                searched = _configurations(varied, settings)
                yield from _of_model(varied, searched, subject, is_listed=is_listed)


def refused_as_it_is(facts: ModelFacts, subject: Subject) -> Iterator[tuple[str, Refusal]]:
    """The first model that the server would refuse as it is, if any, and why; called ones first."""
    for part in reversed([*facts.with_parts()]):
        default = VariantNames().default(part)
        if reason := _refusal(default, subject):
            yield part.name, reason
            return


def _refusal(variant: ModelVariant, subject: Subject) -> Refusal | None:
    return refusal(variant) or next(rate_limits([variant], subject.setup.flags), None)


def _configurations(model: VariedModel, settings: SearchSettings) -> Iterator[Mapping[str, Any]]:
    fields = other_parameters(model)
    for count, limit, *values in product(
        instance_counts(model, settings),
        listed_batch_limits(model) or batch_limits(model, settings),
        *fields.values(),
    ):
        chosen = dict(zip(fields, values, strict=True))
        parameters = {**model.parameters, **{field: (value,) for field, value in chosen.items()}}
        yield {
            **automatic_parameters(replace(model, parameters=parameters), count, limit),
            **chosen,
        }


def _of_model(
    model: VariedModel,
    configurations: Iterable[Mapping[str, Any]],
    subject: Subject,
    *,
    is_listed: bool,
) -> Iterator[RefusedVariants]:
    total, refused, needed = 0, list[Refusal](), set[int]()
    names, facts = VariantNames(), replace(model.facts, composing=())
    for parameters in islice(configurations, _MOST):
        total += 1
        variant = names.variant(facts, parameters)
        reason = _refusal(variant, subject)
        if reason is not None:
            refused.append(reason)
            needed.add(least_batch_limit(variant.config))
    if refused:
        is_bound = all(each.batch_limit is not None for each in refused)
        is_empty = len(refused) == total
        yield RefusedVariants(
            model=facts.name,
            count=len(refused),
            total=total,
            reasons=[*_reasons(refused)],
            remedy=higher_limits(min(needed), is_listed=is_listed) if is_bound and is_empty else "",
        )


def _reasons(refused: Iterable[Refusal]) -> Iterator[str]:
    """Each reason once, with all batch limits."""
    limits: dict[str, set[int]] = {}
    for each in refused:
        limits.setdefault(each.reason, set()).update(
            () if each.batch_limit is None else (each.batch_limit,)
        )
    for reason, values in limits.items():
        yield f"{reason} {first_few([*map(str, sorted(values))])}" if values else reason
