# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The variants that a search may want: what is varied, and how each gets its name."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from model_analyzer.domain.models import ModelFacts, ModelVariant, VariantNames, thaw
from model_analyzer.domain.settings import ModelSettings
from model_analyzer.search.plan import SearchedModel

log = logging.getLogger(__name__)


def make_variant(
    facts: ModelFacts, parameters: Mapping[str, Any], names: VariantNames
) -> ModelVariant:
    """The model with `parameters` applied, announced in the words that scripts look for."""
    known = names.knows(facts, parameters)
    variant = names.variant(facts, parameters)
    if known:
        log.info("Found existing model config: %s", variant.name)
    else:
        log.info("Creating model config: %s", variant.name)
        for key, value in parameters.items():
            if value is not None:
                action = f"Enabling {key}" if value == {} else f"Setting {key} to {thaw(value)}"
                log.info("  %s", action)
    log.info("")
    return variant


def automatic_parameters(
    model: SearchedModel, count: int, batch_limit: int | None
) -> Mapping[str, Any]:
    """What an automatic search sets: instances and, where the model batches, its limit."""
    kind = "KIND_CPU" if model.settings.cpu_only else "KIND_GPU"
    parameters: dict[str, Any] = {"instance_group": [{"count": count, "kind": kind}]}
    if batch_limit is not None:
        parameters["max_batch_size"] = batch_limit
        if model.facts.supports_dynamic_batching:
            parameters["dynamic_batching"] = {}
    return parameters


def listed_groups(settings: ModelSettings) -> Sequence[Sequence[Mapping[str, Any]]]:
    """Combinations of all listed parameters but the batch limit, each with every limit listed."""
    alternatives = dict(settings.parameters)
    limits = alternatives.pop("max_batch_size", None)
    if not alternatives and limits is None:
        return []
    combinations = [
        dict(zip(alternatives, values, strict=True)) for values in product(*alternatives.values())
    ]
    if limits is None:
        return [[combination] for combination in combinations]
    return [
        [{**combination, "max_batch_size": limit} for limit in limits]
        for combination in combinations
    ]


def listed_variants(model: SearchedModel, names: VariantNames) -> Sequence[ModelVariant]:
    """Every listed variant of the model; the default one where nothing is listed."""
    groups = listed_groups(model.settings)
    if not groups:
        return [names.default(model.facts)]
    return [
        make_variant(model.facts, parameters, names) for group in groups for parameters in group
    ]
