# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The variants that a search may want: what is varied, and how each gets its name."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from model_analyzer.domain.models import (
    ModelFacts,
    ModelVariant,
    VariantNames,
    apply_parameters,
    fingerprint,
    step_models,
    thaw,
)
from model_analyzer.domain.settings import ModelSettings, SearchSettings
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.search.plan import SearchedModel, VariedModel, doubling

log = logging.getLogger(__name__)

_BATCH_LIMIT = "max_batch_size"
_INSTANCES = "instance_group"


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How a model is dimensioned. `batch_limit` is None where it is not varied."""

    instances: int
    batch_limit: int | None


def make_variant(
    facts: ModelFacts,
    parameters: Mapping[str, Any],
    names: VariantNames,
    composing: Sequence[ModelVariant] | None = None,
) -> ModelVariant:
    """The model with `parameters` applied, announced in the words that scripts look for."""
    known = names.knows(facts, parameters, composing)
    variant = names.variant(facts, parameters, composing)
    what = "ensemble model config" if facts.is_ensemble else "model config"
    if known:
        log.info("Found existing %s: %s", what, variant.name)
        return variant
    log.info("Creating %s: %s", what, variant.name)
    for key, value in parameters.items():
        if value is not None:
            action = f"Enabling {key}" if value == {} else f"Setting {key} to {thaw(value)}"
            log.info("  %s", action)
    log.info("")
    return variant


def sized_variant(
    model: SearchedModel, sizes: Mapping[str, Size], names: VariantNames
) -> ModelVariant:
    """The model with all that it calls, each of the size that is given under its name.

    An ensemble has no size: it takes batches as large as the smallest of its steps does.
    """
    varied = model.varied
    made: dict[str, ModelVariant] = {}

    def make(facts: ModelFacts) -> ModelVariant:
        if facts.name not in made:
            parts = [make(part) for part in facts.composing]
            if facts.is_ensemble:
                own = _limit_of_steps(facts, parts)
            else:
                size = sizes[facts.name]
                own = automatic_parameters(varied[facts.name], size.instances, size.batch_limit)
            parameters = {**own, **single_parameters(varied[facts.name])}
            made[facts.name] = make_variant(facts, parameters, names, parts)
        return made[facts.name]

    return make(model.facts)


def _limit_of_steps(facts: ModelFacts, parts: Sequence[ModelVariant]) -> Mapping[str, int]:
    if not facts.supports_batching:
        return {}
    steps = step_models(facts.config)
    return {_BATCH_LIMIT: min(max(part.max_batch_size, 1) for part in parts if part.model in steps)}


def automatic_parameters(
    model: VariedModel, count: int, batch_limit: int | None
) -> Mapping[str, Any]:
    """What an automatic search sets: instances and, where the model batches, its limit."""
    kind = "KIND_CPU" if model.cpu_only else "KIND_GPU"
    groups = listed_instances(model).get(count) or [{"count": count, **_group_without_count(model)}]
    parameters: dict[str, Any] = {
        _INSTANCES: [{"count": group["count"], "kind": kind, **group} for group in groups]
    }
    if batch_limit is not None:
        parameters[_BATCH_LIMIT] = batch_limit
        if model.facts.supports_dynamic_batching:
            parameters["dynamic_batching"] = {}
    return parameters


def listed_instances(model: VariedModel) -> Mapping[int, Sequence[Mapping[str, Any]]]:
    """The instance groups that the user listed, by how many instances they make together.

    One group without a count, such as `{kind: KIND_CPU}`, lists none: it says what all are like.
    Otherwise a group without one has one instance, and so has one with a count of 0, which to
    Triton is none.
    """
    if _group_without_count(model):
        return {}
    choices = [
        [{**group, "count": max(int(group.get("count", 1)), 1)} for group in groups]
        for groups in _choices(model, _INSTANCES)
    ]
    counted = {sum(group["count"] for group in groups): groups for groups in choices}
    if len(counted) < len(choices):
        raise ConfigError(
            Problem(
                where=f"model_config_parameters of {model.facts.name}",
                what="several values of instance_group have the same number of instances",
                hint="this search varies only the number of instances",
            )
        )
    return counted


def listed_batch_limits(model: VariedModel) -> Sequence[int]:
    """The values of max_batch_size that the user listed, ascending."""
    return sorted({int(limit) for limit in _choices(model, _BATCH_LIMIT)})


def single_parameters(model: VariedModel) -> Mapping[str, Any]:
    """The other fields that the user gave. Raises ConfigError if one has several values."""
    fields = other_parameters(model)
    for field, values in fields.items():
        if len(values) > 1:
            raise ConfigError(
                Problem(
                    where=f"model_config_parameters of {model.facts.name}",
                    what=f"{field} has {len(values)} values, but this search supports one",
                    hint="--search adaptive supports several",
                )
            )
    return {field: value for field, (value,) in fields.items()}


def other_parameters(model: VariedModel) -> Mapping[str, tuple[Any, ...]]:
    """What the user listed beside sizes: the values of each field."""
    return {
        field: _different(model, field, values)
        for field, values in model.parameters.items()
        if field not in (_BATCH_LIMIT, _INSTANCES)
    }


def _different(model: VariedModel, field: str, values: Iterable[Any]) -> tuple[Any, ...]:
    """The first of all values that come to the same configuration, and would be measured twice."""
    found: dict[str, Any] = {}
    for value in values:
        applied = apply_parameters(model.facts.config, {field: value})
        found.setdefault(fingerprint(applied.get(field)), value)
    return tuple(found.values())


def _group_without_count(model: VariedModel) -> Mapping[str, Any]:
    """What the user said about instances without saying how many; empty if nothing."""
    choices = _choices(model, _INSTANCES)
    if len(choices) == 1 and len(choices[0]) == 1 and "count" not in choices[0][0]:
        group: Mapping[str, Any] = choices[0][0]
        return group
    return {}


def _choices(model: VariedModel, field: str) -> Sequence[Any]:
    return [value for value in model.parameters.get(field, ()) if value is not None]


def listed_groups(settings: ModelSettings) -> Sequence[Sequence[Mapping[str, Any]]]:
    """Combinations of all listed parameters but the batch limit, each with every limit listed."""
    alternatives = dict(settings.parameters)
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
    """Whether a brute search takes the listed variants of the model alone, and varies no sizes."""
    # what a model calls is varied by other searches: here its own loads are measured
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
        [automatic_parameters(varied, count, limit) for limit in _batch_limits(model, settings)]
        for count in _instance_counts(settings)
    )


def count_brute_variants(model: SearchedModel, settings: SearchSettings) -> int:
    """How many variants `brute_groups` has."""
    if is_manual(model, settings):
        return sum(map(len, listed_groups(model.settings)))
    return len(_instance_counts(settings)) * len(_batch_limits(model, settings))


def _instance_counts(settings: SearchSettings) -> Sequence[int]:
    return range(max(settings.min_instance_count, 1), settings.max_instance_count + 1)


def _batch_limits(model: SearchedModel, settings: SearchSettings) -> Sequence[int | None]:
    if not model.facts.supports_batching:
        return (None,)
    return doubling(settings.min_model_batch_size, settings.max_model_batch_size)
