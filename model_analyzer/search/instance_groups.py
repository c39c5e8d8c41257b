# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The instance groups of variants: a search varies the count of a group and keeps its other fields,
such as its rate limiter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from model_analyzer.domain.models import count_of_groups, kind_of_group
from model_analyzer.errors import wrong
from model_analyzer.search.plan import VariedModel

_INSTANCES = "instance_group"

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
