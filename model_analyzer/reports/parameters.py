# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Parameters as pages show them: their names, the values of those that only a user sweeps, and what
differs between two measured configurations, in the words of config.pbtxt.

Which metrics charts and tables show: a latency that is constrained, or wished for, replaces the
default p99.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

from model_analyzer.domain.goals import Constraint, Goal
from model_analyzer.domain.measurements import Columns, Measurement
from model_analyzer.domain.metrics import METRICS, canonical
from model_analyzer.domain.models import (
    PARAMETER,
    ModelVariant,
    instance_groups,
    model_and_field,
    unpacked,
)
from model_analyzer.domain.profiles import MeasuredTrial, settings_differences
from model_analyzer.domain.trials import load_words
from model_analyzer.domain.words import shortened
from model_analyzer.results.columns import Cell, Column, Row, metric_column, own_instances_text
from model_analyzer.results.effects import varied_parameters
from model_analyzer.results.ranking import Ranking, VariantResult

# Metric prefixes: a constrained metric with such a prefix replaces the default metric.
_FAMILIES = {
    "perf_latency_p99": ("perf_latency_",),
    "time_to_first_token_p99": ("time_to_first_token_", "inter_token_latency_"),
}

# Their names in chart titles.
_IN_TITLES = {
    "perf_latency_p99": "p99 Latency",
    "time_to_first_token_p99": "Time To First Token",
}


def token_tags(goal: Goal) -> list[str]:
    """The metrics to show of a language model: token throughput, time to the first token and time
    between tokens; of the times those that the goal has, otherwise the p99.
    """
    tags = ["output_token_throughput"]
    for prefix in ("time_to_first_token_", "inter_token_latency_"):
        own = [tag for tag in goal.tags if tag.startswith(prefix)]
        tags += own or [f"{prefix}p99"]
    return tags


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """A metric of a whole trial, or of its `model` at `index` if the trial has several models."""

    tag: str
    index: int | None = None
    model: str = ""

    def value(self, measurement: Measurement) -> float | None:
        """Its value, or None if it was not measured."""
        if self.index is None:
            return measurement.value(self.tag)
        return measurement.model_value(self.index, self.tag)

    def values(self, columns: Columns, items: Sequence[MeasuredTrial]) -> Sequence[float | None]:
        """Its value in each of `items`; `columns` hold the metrics of these items."""
        if self.index is None:
            return columns.of(self.tag)
        return [self.value(item.measurement) for item in items]

    @property
    def name(self) -> str:
        """`p90 Latency`, `p90 Latency of resnet`."""
        metric = METRICS[self.tag]
        return f"{metric.name} of {self.model}" if self.model else metric.name

    @property
    def column(self) -> Column[MeasuredTrial]:
        """The table column for this quantity."""

        def value(item: MeasuredTrial) -> float | None:
            return self.value(item.measurement)

        column = metric_column(self.tag, value).renamed(self.name)
        return replace(column, key=f"{self.tag}.{self.model}") if self.model else column


class Axes:
    """Maps metrics to the quantities to show, given a `goal` and the `results` ranked by it."""

    def __init__(self, goal: Goal, results: Sequence[VariantResult]) -> None:
        self.goal, self._results = goal, results

    def quantity(self, tag: str) -> Quantity:
        """The quantity to show for a metric: a measured one of the same family that is constrained,
        or else wished for, if there is one, otherwise the metric itself.
        """
        constrained = [quantity for quantity, _ in self._bounds()]
        wished = [Quantity(tag=wish) for wish in self.goal.wishes]
        asked = list(filter(self.is_measured, dict.fromkeys((*constrained, *wished))))
        for family in _FAMILIES.get(tag, ()):
            members = [quantity for quantity in asked if quantity.tag.startswith(family)]
            if members:
                return next((member for member in members if member.tag == tag), members[0])
        return Quantity(tag=tag)

    def value(self, item: MeasuredTrial, tag: str) -> float | None:
        """The value of the quantity that is shown for a metric."""
        return self.quantity(tag).value(item.measurement)

    def is_measured(self, quantity: Quantity) -> bool:
        """Whether any measurement has it."""
        return any(
            quantity.value(item.measurement) is not None
            for result in self._results
            for item in result.measured
        )

    @property
    def of_single_models(self) -> Sequence[Quantity]:
        """The quantities that are constrained for one model, if a trial has several models."""
        constrained = dict.fromkeys(quantity for quantity, _ in self._bounds())
        return [quantity for quantity in constrained if quantity.index is not None]

    def title(self, title: str) -> str:
        """The chart title, with the names of the quantities that are shown."""
        for tag, words in _IN_TITLES.items():
            quantity = self.quantity(tag)
            if quantity != Quantity(tag=tag):
                title = title.replace(words, quantity.name)
        return title

    def limits(self, quantity: Quantity) -> Sequence[tuple[float, str]]:
        """The limits on a quantity, each with its comparison sign."""
        limits = {
            (limit, sign)
            for constrained, constraint in self._bounds()
            if constrained == quantity
            for limit, sign in ((constraint.minimum, "≥"), (constraint.maximum, "≤"))
            if limit is not None
        }
        return sorted(limits)

    def _bounds(self) -> Iterator[tuple[Quantity, Constraint]]:
        """Each constraint with its quantity. Server-wide metrics, such as memory, have no model."""
        several = len(self.goal.models) > 1 and bool(self._results)
        for index, goal in enumerate(self.goal.models):
            for constraint in goal.constraints:
                tag = canonical(constraint.tag)
                if several and not METRICS[tag].is_of_the_server:
                    model = self._results[0].variants[index].model
                    yield Quantity(tag=tag, index=index, model=model), constraint
                else:
                    yield Quantity(tag=tag), constraint


_NAMES = {
    "concurrency": "Concurrency",
    "request_rate": "Requests per second",
    "batch_size": "Client batch size",
    "max_batch_size": "Max batch size",
    "instance_group": "Instance group",
    "instance_group.count": "Instances",
    "instance_group.kind": "Kind of instance",
    "dynamic_batching": "Dynamic batching",
    "dynamic_batching.max_queue_delay_microseconds": "Max queue delay (µs)",
    "dynamic_batching.preferred_batch_size": "Preferred batch sizes",
}

# What a search varies by itself.
_SEARCHED = {
    "concurrency", "request_rate", "batch_size", "max_batch_size", "instance_group",
    "instance_group.count", "instance_group.kind", "dynamic_batching",
}  # fmt: skip


# A key of the field `parameters`, and what a JSON object there has inside.
_KEY = re.compile(r"(?:(?P<model>.*)\.)?parameters\.(?P<key>.*?)\.string_value(?P<inner>\..*)?")

NOT_SET = "not set"

# A sentence names so many values, and so many characters of each; tables have all.
_MOST_NAMED = 2
_LONGEST = 40


def parameter_name(parameter: str) -> str:
    """The display name: `config.instance_group.0.count` becomes `Instances`, and a key of the field
    `parameters` is itself; with the model's name for composing models.
    """
    field = re.sub(r"\.0(?=\.|$)", "", parameter.removeprefix("config."))
    if field in _NAMES:
        return _NAMES[field]
    if key := _KEY.fullmatch(field):
        of_model = f" of {key['model']}" if key["model"] else ""
        return f"{key['key']}{key['inner'] or ''}{of_model}"
    model, rest = model_and_field(field)
    return f"{_NAMES[rest]} of {model}" if rest in _NAMES else field


def parameters_of(rows: Sequence[Row]) -> Sequence[tuple[str, str]]:
    """The columns of the parameters in which rows differ: the display name and the name of each."""
    names = dict.fromkeys(name for row in rows for name in row if name.startswith(PARAMETER))
    return [(parameter_name(name), name) for name in names]


def is_swept(parameter: str) -> bool:
    """Whether only a user sweeps it: searches vary instances, batch limits and loads."""
    _, field = model_and_field(re.sub(r"\.0(?=\.|$)", "", parameter))
    return field not in _SEARCHED


def swept_values(results: Sequence[VariantResult]) -> Sequence[Mapping[str, Cell]]:
    """For each configuration, the swept parameters in which these differ, by display name."""
    rows = varied_parameters([(each.variants, each.best.trial.gpus) for each in results])
    names = dict.fromkeys(name for row in rows for name in row if is_swept(name))
    return [{parameter_name(name): _cell(row.get(name)) for name in names} for row in rows]


def swept_text(ranking: Ranking, *, with_default: bool = False) -> str:
    """The swept values of the recommendation, such as `iterations 10`; with those that the default
    has `iterations 40 → 10`; "" if nothing was swept.
    """
    own, *_ = rows = swept_values(ranking.results)
    places = (place for place, result in enumerate(ranking.results) if result.is_default)
    default = rows[next(places, 0)] if with_default else own
    texts = [
        f"{name} {_short(default[name])} → {_short(value)}"
        if default[name] not in (value, NOT_SET)
        else f"{name} {_short(value)}"
        for name, value in own.items()
    ]
    more = len(texts) - _MOST_NAMED
    texts[_MOST_NAMED:] = [f"{more} more"] if more > 0 else []
    return ", ".join(texts)


def _short(value: Cell) -> str:
    return shortened(value_text(value), _LONGEST)


def _cell(value: Cell) -> Cell:
    return value if isinstance(value, (int, float)) else value_text(value)


def value_text(value: Cell) -> str:
    """A value of a parameter in words: `{}` is a field that is set without further fields."""
    if value is None:
        return NOT_SET
    return "on" if value == "{}" else str(value)


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
