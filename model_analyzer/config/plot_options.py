# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Kinds for plots and for the variants to report."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from model_analyzer.config.kinds import Boolean, Fields, Kind, ListOf, Text
from model_analyzer.config.nodes import (
    NAME,
    NULL,
    SCALAR,
    Entry,
    Node,
    Schema,
    any_of,
    array,
    closed,
    did_you_mean,
    mapping,
    read_all,
    read_mapping,
)
from model_analyzer.domain.metrics import ALIASES, METRICS, canonical
from model_analyzer.domain.settings import PlotSettings

# Parameters of the load that can be an axis.
LOAD_AXES = ("batch_size", "concurrency_range", "request_rate_range", "request_intervals")


class AxisMetric:
    """A metric, or a parameter of the load."""

    metavar = "METRIC"

    def parse(self, node: Node) -> str:
        word = Text().parse(node)
        words = (*METRICS, *ALIASES, *LOAD_AXES)
        if word not in words:
            raise node.problem(f"unknown metric {word!r}", did_you_mean(word, words))
        return canonical(word)

    def schema(self) -> Schema:
        return {"enum": [*METRICS, *ALIASES, *LOAD_AXES]}


_REQUIRED: Mapping[str, Kind] = {"title": Text(), "x_axis": AxisMetric(), "y_axis": AxisMetric()}
_PLOT = Fields("fields of a plot", {**_REQUIRED, "monotonic": Boolean()})


class Plots:
    """`{NAME: {title, x_axis, y_axis, monotonic}}`, or a list of such mappings."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> tuple[PlotSettings, ...]:
        plots = {plot.name: plot for plot in read_all(_entries(node), self._plot)}
        return tuple(plots.values())

    @staticmethod
    def _plot(entry: Entry) -> PlotSettings:
        if not re.search(NAME, entry.key):
            raise entry.problem(f"{entry.key!r} is not a file name")
        fields = _PLOT.parse(entry.node)
        missing = [name for name in _REQUIRED if name not in fields]
        if missing:
            raise entry.node.problem(f"plot {entry.key!r} has no {missing[0]}")
        return PlotSettings(
            name=entry.key,
            title=fields["title"],
            x_axis=fields["x_axis"],
            y_axis=fields["y_axis"],
            monotonic=fields.get("monotonic", False),
        )

    def schema(self) -> Schema:
        required = {name: kind.schema() for name, kind in _REQUIRED.items()}
        switch = any_of(Boolean().schema(), NULL)
        plot = closed({**required, "monotonic": switch}, required=list(required))
        plots = mapping(plot, names=NAME)
        return any_of(plots, array(plots))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedVariant:
    """A variant to report. `plots` are its own plots; None means the global ones."""

    name: str
    plots: tuple[PlotSettings, ...] | None


class ReportedVariants:
    """Names of variants: text with commas, a list, `{name: {plots: …}}`, or a list of these."""

    metavar = "VARIANTS"

    def parse(self, node: Node) -> tuple[ReportedVariant, ...]:
        parts = [node] if node.is_mapping else ListOf.split(node)
        groups = read_all(parts, self._variants)
        variants = {variant.name: variant for group in groups for variant in group}
        if not variants:
            raise node.problem("contains no variant name")
        return tuple(variants.values())

    @staticmethod
    def _variants(node: Node) -> Sequence[ReportedVariant]:
        if not node.is_mapping:
            return [ReportedVariant(name=Text().parse(node).strip(), plots=None)]
        if not node.entries:
            raise node.problem("contains no variant name")
        options = read_mapping(
            node, "", lambda entry: {} if entry.node.is_null else _VARIANT.parse(entry.node)
        )
        return [ReportedVariant(name=name, plots=own.get("plots")) for name, own in options.items()]

    def schema(self) -> Schema:
        variants = {**mapping(any_of(_VARIANT.schema(), NULL)), "minProperties": 1}
        return any_of(SCALAR, variants, array(any_of(SCALAR, variants), minItems=1))


_VARIANT = Fields("options of a reported variant", {"plots": Plots()})


def _entries(node: Node) -> Sequence[Entry]:
    """The entries of a mapping, or of all mappings in a list."""
    if node.is_mapping:
        return node.entries
    if not node.is_list or not all(item.is_mapping for item in node.items):
        raise node.problem(f"expected a mapping of plots, found {node.describe()}")
    return [entry for item in node.items for entry in item.entries]
