# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Creates the variants of a search: which parameters vary, and how each variant gets its name. Of
instance groups, a search varies the count of one and keeps its other fields, such as its rate
limiter.

Counts the variants within the bounds of a search that are left out, because a server would refuse
them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice, product
from typing import Any

from model_analyzer.domain.model_config_rules import (
    BOUNDING,
    Refusal,
    least_batch_limit,
    rate_limits,
    refusal,
)
from model_analyzer.domain.models import (
    ModelFacts,
    ModelVariant,
    VariantNames,
    apply_parameters,
    count_of_groups,
    fingerprint,
    kind_of_group,
    step_models,
    thaw,
)
from model_analyzer.domain.settings import (
    ALTERNATIVE,
    ModelSettings,
    SearchSettings,
    field_with_several_values,
)
from model_analyzer.domain.words import counted, first_few
from model_analyzer.errors import wrong
from model_analyzer.search.plan import SearchedModel, Subject, VariedModel, doubling

Group = Mapping[str, Any]


def groups_with(model: VariedModel, count: int) -> Sequence[Group]:
    """The groups of a variant with `count` instances in total."""
    if groups := _listed(model).get(count):
        return [_of_user(model, group) for group in groups]
    if has_several_groups(model):
        return [_on_cpus(group) if model.cpu_only else group for group in _own(model)]
    if group := _without_count(model):
        return [_of_user(model, {**group, "count": count})]
    return [_of_model(model, {**group, "count": count}) for group in _own(model) or ({},)]


def fixed_counts(model: VariedModel) -> Sequence[int]:
    """The only numbers of instances that are possible, ascending; empty if all are."""
    if has_several_groups(model):
        return [count_of_groups(model.facts.config)]
    return sorted(_listed(model))


def has_several_groups(model: VariedModel) -> bool:
    """Whether the model has several groups, and the user lists no others: they stay as they are,
    because one number of instances does not tell how to divide them.
    """
    return len(_own(model)) > 1 and not listed_values(model, _INSTANCES)


def listed_values(model: VariedModel, field: str) -> Sequence[Any]:
    """The values that the user listed for a field."""
    return [value for value in model.parameters.get(field, ()) if value is not None]


def _own(model: VariedModel) -> Sequence[Group]:
    groups: Sequence[Group] = model.facts.config.get(_INSTANCES, ())
    return groups


def _listed(model: VariedModel) -> Mapping[int, Sequence[Group]]:
    """The groups that the user listed, by their total number of instances.

    A single group without a count, such as `{kind: KIND_CPU}`, lists no numbers: it applies to all.
    Otherwise a missing count means one instance, and so does a count of 0, as in Triton.
    """
    if _without_count(model):
        return {}
    choices = [
        [{**group, "count": max(int(group.get("count", 1)), 1)} for group in groups]
        for groups in listed_values(model, _INSTANCES)
    ]
    counted = {sum(group["count"] for group in groups): groups for groups in choices}
    if len(counted) < len(choices):
        raise wrong(
            f"model_config_parameters of {model.facts.name}",
            "several values of instance_group have the same number of instances",
            "this search varies only the number of instances",
        )
    return counted


def _without_count(model: VariedModel) -> Group:
    """The instance group without a count that the user listed; empty if there is none."""
    choices = listed_values(model, _INSTANCES)
    if len(choices) == 1 and len(choices[0]) == 1 and "count" not in choices[0][0]:
        group: Group = choices[0][0]
        return group
    return {}


def _of_user(model: VariedModel, group: Group) -> Group:
    """A group that the user listed, which replaces those of the model."""
    return {"count": group["count"], "kind": _kind(model), **group}


def _of_model(model: VariedModel, group: Group) -> Group:
    """The group of the model with another count."""
    counted = {"count": group["count"], "kind": _kind(model)}
    varied = {**counted, **group, **counted}
    return _on_cpus(varied) if model.cpu_only else varied


def _on_cpus(group: Group) -> Group:
    """A group without GPUs: the server refuses those on CPUs."""
    return {**{key: group[key] for key in group if key != "gpus"}, "kind": "KIND_CPU"}


def _kind(model: VariedModel) -> str:
    """The kind of instances where the user lists none: that of the model, unless it is for CPUs
    only.
    """
    kinds = map(kind_of_group, _own(model))
    own = next((kind for kind in kinds if kind != "AUTO"), "GPU")
    return "KIND_CPU" if model.cpu_only else f"KIND_{own}"


log = logging.getLogger(__name__)

_BATCH_LIMIT = "max_batch_size"
_INSTANCES = "instance_group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a model. `batch_limit` is None if it is not varied."""

    instances: int
    batch_limit: int | None


def make_variant(
    facts: ModelFacts,
    parameters: Mapping[str, Any],
    names: VariantNames | None,
    composing: Sequence[ModelVariant] | None = None,
) -> ModelVariant:
    """The variant with `parameters` applied, logged in words that scripts of users look for.
    Without `names`, it is one to compare: not logged, and its name means nothing.
    """
    if names is None:
        return VariantNames().variant(facts, parameters, composing)
    is_known = names.knows(facts, parameters, composing)
    variant = names.variant(facts, parameters, composing)
    kind = "ensemble model config" if facts.is_ensemble else "model config"
    if is_known:
        log.info("Found existing %s: %s", kind, variant.name)
        return variant
    log.info("Creating %s: %s", kind, variant.name)
    for key, value in parameters.items():
        if value is not None:
            action = f"Enabling {key}" if value == {} else f"Setting {key} to {thaw(value)}"
            log.info("  %s", action)
    log.info("")
    return variant


def sized_variant(
    model: SearchedModel, sizes: Mapping[str, Size], names: VariantNames | None
) -> ModelVariant:
    """The variant of a model and of all models that it calls, each with the size given under its
    name.

    An ensemble has no size: its batch limit is the smallest of its steps.
    """
    varied = model.varied
    variants: dict[str, ModelVariant] = {}

    def make(facts: ModelFacts) -> ModelVariant:
        if facts.name not in variants:
            parts = [make(part) for part in facts.composing]
            if facts.is_ensemble:
                limits = _limit_of_steps(facts, parts)
            else:
                size = sizes[facts.name]
                limits = automatic_parameters(varied[facts.name], size.instances, size.batch_limit)
            parameters = {**limits, **single_parameters(varied[facts.name])}
            variants[facts.name] = make_variant(facts, parameters, names, parts)
        return variants[facts.name]

    return make(model.facts)


def _limit_of_steps(facts: ModelFacts, parts: Sequence[ModelVariant]) -> Mapping[str, int]:
    if not facts.supports_batching:
        return {}
    steps = step_models(facts.config)
    return {_BATCH_LIMIT: min(max(part.max_batch_size, 1) for part in parts if part.model in steps)}


def automatic_parameters(
    model: VariedModel, count: int, batch_limit: int | None
) -> Mapping[str, Any]:
    """The parameters of an automatic search: instances, and the batch limit if the model supports
    batching.
    """
    parameters: dict[str, Any] = {_INSTANCES: groups_with(model, count)}
    if batch_limit is not None:
        parameters[_BATCH_LIMIT] = batch_limit
        has_sequences = any(listed_values(model, "sequence_batching"))
        if model.facts.supports_dynamic_batching and not has_sequences:
            parameters["dynamic_batching"] = {}
    return parameters


def listed_batch_limits(model: VariedModel) -> Sequence[int]:
    """The values of max_batch_size that the user listed, ascending."""
    return sorted({int(limit) for limit in listed_values(model, _BATCH_LIMIT)})


def higher_limits(needed: int, *, is_listed: bool) -> str:
    """How a search tries the batch limit that other fields need; `is_listed` if it tries what the
    user listed.
    """
    if is_listed:
        return f"list max_batch_size {needed}"
    return "raise run_config_search_max_model_batch_size"


def single_parameters(model: VariedModel) -> Mapping[str, Any]:
    """The values of all other fields. Raises ConfigError if a field has several values."""
    fields = other_parameters(model)
    if several := field_with_several_values(fields):
        raise wrong(
            f"model_config_parameters of {model.facts.name}",
            f"{several} has {len(fields[several])} values, but this search supports one",
            f"{ALTERNATIVE} supports several",
        )
    return {field: value for field, (value,) in fields.items()}


def other_parameters(model: VariedModel) -> Mapping[str, tuple[Any, ...]]:
    """The listed values of all fields other than sizes, by field."""
    return {
        field: _distinct(model, field, values)
        for field, values in model.parameters.items()
        if field not in (_BATCH_LIMIT, _INSTANCES)
    }


def _distinct(model: VariedModel, field: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """The distinct values: those that give the same configuration are listed once."""
    return _once(
        values, lambda value: apply_parameters(model.facts.config, {field: value}).get(field)
    )


def _once(values: Iterable[Any], meaning: Callable[[Any], Any] = thaw) -> tuple[Any, ...]:
    """The first one of all values with the same meaning."""
    distinct: dict[str, Any] = {}
    for value in values:
        distinct.setdefault(fingerprint(meaning(value)), value)
    return tuple(distinct.values())


def listed_groups(settings: ModelSettings) -> Sequence[Sequence[Mapping[str, Any]]]:
    """All combinations of the listed parameters, grouped: inside a group, only the batch limit
    differs.
    """
    alternatives = {field: _once(values) for field, values in settings.parameters.items()}
    limits = alternatives.pop(_BATCH_LIMIT, None)
    if not alternatives and limits is None:
        return []
    combinations = [
        dict(zip(alternatives, values, strict=True)) for values in product(*alternatives.values())
    ]
    if limits is None:
        return [[combination] for combination in combinations]
    return [
        [{**combination, _BATCH_LIMIT: limit} for limit in limits] for combination in combinations
    ]


def is_manual(model: SearchedModel, settings: SearchSettings) -> bool:
    """Whether a brute search uses the listed variants only and varies no sizes."""
    # only other searches vary called models
    return settings.disable or bool(model.settings.parameters or model.facts.composing)


def brute_groups(
    model: SearchedModel, settings: SearchSettings
) -> Iterable[Sequence[Mapping[str, Any]]]:
    """The parameters of every variant of a brute search, in order, without the default; inside a
    group, only the batch limit differs.
    """
    if is_manual(model, settings):
        return listed_groups(model.settings)
    varied = model.varied[model.facts.name]
    return (
        [automatic_parameters(varied, count, limit) for limit in batch_limits(varied, settings)]
        for count in instance_counts(varied, settings)
    )


def count_brute_variants(model: SearchedModel, settings: SearchSettings) -> int:
    """The number of variants in `brute_groups`."""
    if is_manual(model, settings):
        return sum(map(len, listed_groups(model.settings)))
    varied = model.varied[model.facts.name]
    return len(instance_counts(varied, settings)) * len(batch_limits(varied, settings))


def instance_counts(model: VariedModel, settings: SearchSettings) -> Sequence[int]:
    """The numbers of instances of an automatic search."""
    return fixed_counts(model) or range(
        max(settings.min_instance_count, 1), settings.max_instance_count + 1
    )


def batch_limits(model: VariedModel, settings: SearchSettings) -> Sequence[int | None]:
    """The batch limits of an automatic search; None if the model does not support batching."""
    if not model.facts.supports_batching:
        return (None,)
    low, high = batch_bounds(model, settings)
    limits = doubling(low, high)
    # a bound that was raised for the model is a value of its own
    return limits if high == settings.max_model_batch_size else sorted({*limits, high})


def batch_bounds(model: VariedModel, settings: SearchSettings) -> tuple[int, int]:
    """The lowest and the highest batch limit of a search. A bound that the user did not set gives
    way to the fields of the model that need a higher one.
    """
    low, high = settings.min_model_batch_size, settings.max_model_batch_size
    if settings.quick.max_model_batch_size is not None:
        return low, high
    fields = other_parameters(model)
    needed = (
        least_batch_limit(apply_parameters(model.facts.config, {field: value}))
        for field in BOUNDING
        for value in fields.get(field, (None,))
    )
    return low, max(high, *needed)


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
        yield from _left_out_of_model(varied, configurations, subject, is_listed=is_listed)


def of_space(subject: Subject, settings: SearchSettings) -> Iterator[RefusedVariants]:
    """What a search leaves out that chooses the sizes of all models within the bounds."""
    for model in subject.models:
        for varied in model.varied.values():
            if not varied.facts.is_ensemble:
                is_listed = bool(listed_batch_limits(varied))
                searched = _configurations(varied, settings)
                yield from _left_out_of_model(varied, searched, subject, is_listed=is_listed)


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


def _left_out_of_model(
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
