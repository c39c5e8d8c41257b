# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What differs between two measured configurations, in the words of config.pbtxt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from model_analyzer.domain.differences import settings_differences
from model_analyzer.domain.loads import load_words
from model_analyzer.domain.models import ModelVariant, instance_groups
from model_analyzer.domain.parameters import unpacked
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.results.columns import own_instances_text

# Fields of a configuration, and of an instance group, that have another name here, or none.
_SHOWN_OTHERWISE = ("name", "instance_group")
_SHOWN_OF_GROUPS = ("name", "count", "kind")


def changes_between(base: MeasuredTrial, new: MeasuredTrial) -> Iterator[tuple[str, str, str]]:
    """What differs between two measured configurations, their names and their loads: what it is,
    and both values.
    """
    yield from configuration_changes(base, new, with_names=True)
    if load_words(base.trial) != load_words(new.trial):
        yield "load", load_words(base.trial), load_words(new.trial)


def configuration_changes(
    base: MeasuredTrial, new: MeasuredTrial, *, with_names: bool = False
) -> Iterator[tuple[str, str, str]]:
    """What differs between two measured configurations: the field and both values; with their
    names, if wished.
    """
    for old, later in zip_longest(_parts(base), _parts(new)):
        if old is None or later is None or old.model != later.model:
            continue
        prefix = f"{later.model}: " if len(_parts(new)) > 1 else ""
        pairs = [("variant", old.name, later.name)] if with_names else []
        if not later.is_ensemble:
            pairs.append(
                (
                    "instances",
                    own_instances_text(old, gpus=base.trial.gpus),
                    own_instances_text(later, gpus=new.trial.gpus),
                )
            )
        kept = [_kept(part) for part in (old, later)]
        pairs += [
            (name, _setting(name, each.then), _setting(name, each.now))
            for each in settings_differences("", *kept)
            for name in (_name(each.subject),)
        ]
        for name, before, after in pairs:
            if before != after:
                yield f"{prefix}{name}", before, after


def change_text(base: MeasuredTrial, new: MeasuredTrial) -> str:
    """What differs between two measured configurations, in one line; "" if nothing does. It says
    what a smaller batch limit means for clients, and names the fields of instance groups that are
    kept, because searches of other tools drop them.
    """
    changes = [
        f"{name} {old} → {later}{_refused(name, old, later)}"
        for name, old, later in configuration_changes(base, new)
    ]
    kept = {
        field: None
        for old, later in zip(_parts(base), _parts(new), strict=False)
        for field, value in _fields_of_groups(later).items()
        if changes and value == _fields_of_groups(old).get(field)
    }
    return ", ".join(changes) + (f"; {' and '.join(kept)} kept" if kept else "")


def _refused(name: str, old: str, later: str) -> str:
    limits = [int(text) for text in (old, later) if text.isdigit()]
    is_lower = name.endswith("max_batch_size") and len(limits) == 2 and limits[1] < limits[0]
    return " (clients with larger batches will be refused)" if is_lower else ""


def _kept(variant: ModelVariant) -> Mapping[str, Any]:
    """The configuration without the fields that are shown in another way."""
    config = {key: value for key, value in variant.config.items() if key not in _SHOWN_OTHERWISE}
    parameters = {
        key: unpacked(value.get("string_value"))
        for key, value in variant.config.get("parameters", {}).items()
    }
    return {**config, "instance_group": _fields_of_groups(variant), "parameters": parameters}


def _name(subject: str) -> str:
    """The field of a difference; a key of `parameters` is itself."""
    field = subject.removeprefix(": ")
    key = field.removeprefix("parameters: ")
    return field if key == field else key.replace(": ", ".")


def _fields_of_groups(variant: ModelVariant) -> Mapping[str, Any]:
    """The fields of the instance groups that are not shown in another way: of the only group, or
    of each group by its number.
    """
    groups = [
        {key: value for key, value in group.items() if key not in _SHOWN_OF_GROUPS}
        for group in instance_groups(variant.config)
    ]
    if len(groups) == 1:
        return groups[0]
    return {f"{number}": fields for number, fields in enumerate(groups) if fields}


def _setting(name: str, value: str) -> str:
    """A value in a configuration; an empty one, such as that of `dynamic_batching`, is a switch."""
    missing = "off" if name == "dynamic_batching" else "not set"
    return {"": missing, "{}": "on"}.get(value, value)


def _parts(item: MeasuredTrial) -> Sequence[ModelVariant]:
    return [part for work in item.trial.workloads for part in work.variant.with_parts()]
