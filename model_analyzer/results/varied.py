# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters in which configurations differ, as the server uses them.

A configuration without `instance_group` has as many instances as the server gives it, and one
without `dynamic_batching` has it off: so the default configuration has a value of each, and can be
compared with configurations that set them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.parameters import differing_parameters, model_and_field
from model_analyzer.results.columns import Cell
from model_analyzer.results.flat_rows import Row

_PREFIX = "config."
COUNT, KIND = "instance_group.count", "instance_group.kind"
BATCH, BATCHING = "max_batch_size", "dynamic_batching"

# What instance groups have besides further fields.
_OF_GROUPS = re.compile(r"instance_group(\.\d+\.(count|kind|name)|\.count|\.kind)?")

# Variants that are measured together, and the number of GPUs.
Served = tuple[Sequence[ModelVariant], int]


def varied_parameters(served: Sequence[Served]) -> Sequence[Row]:
    """The values of the parameters that differ, for each configuration; a value that is not set is
    missing. Keys are such as `config.max_batch_size`, or `config.MODEL.max_batch_size` if several
    models are served.

    The order is: instances, max batch size and dynamic batching of each model, then the others.
    Empty rows if the configurations are not all of the same models.
    """
    rows = [dict(_in_use(variants, gpus)) for variants, gpus in served]
    if len({tuple(variant.model for variant in variants) for variants, _ in served}) != 1:
        return [{} for _ in served]
    for position in range(len(served[0][0])):
        differing = differing_parameters([variants[position] for variants, _ in served])
        is_alone = len(served[0][0]) == 1
        for row, (variants, _) in zip(rows, served, strict=True):
            variant = variants[position]
            prefix = _PREFIX if is_alone else f"{_PREFIX}{variant.model}."
            for name, value in differing[variant.identity].items():
                if not _is_in_use(name):
                    row[prefix + name.removeprefix(_PREFIX)] = value
    names = [name for name in _names(rows) if len({row.get(name) for row in rows}) > 1]
    return [{name: row[name] for name in names if name in row} for row in rows]


def _in_use(variants: Sequence[ModelVariant], gpus: int) -> Iterator[tuple[str, Cell]]:
    """The parameters for which the server has defaults."""
    parts = [part for variant in variants for part in variant.served]
    for part in parts:
        prefix = _PREFIX if len(parts) == 1 else f"{_PREFIX}{part.model}."
        instances = part.instances(gpus=gpus)
        yield prefix + COUNT, sum(count for count, _ in instances)
        yield prefix + BATCH, part.max_batch_size
        yield prefix + BATCHING, "on" if part.has_dynamic_batching else "off"
        yield prefix + KIND, " + ".join(dict.fromkeys(kind for _, kind in instances))


def _is_in_use(name: str) -> bool:
    """Whether `_in_use` has the parameter: groups of instances, max batch size, and whether there
    is dynamic batching.
    """
    _, field = model_and_field(name)
    return field in (BATCH, BATCHING) or _OF_GROUPS.fullmatch(field) is not None


def _names(rows: Sequence[Row]) -> Sequence[str]:
    """All parameters, those in use first."""
    names = dict.fromkeys(name for row in rows for name in row)
    return sorted(names, key=lambda name: not _is_in_use(name))
