# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""perf_analyzer's flag `shape`: the sizes of inputs with variable dimensions. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.domain.flags import SHAPE, Flag, shape_texts, shapes_of
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.words import MOST_COUNT, first_few
from model_analyzer.errors import Problem
from model_analyzer.runner.load.command import named_files

_NO_EFFECT = "perf_analyzer flag shape has no effect"


def shape_problems(where: str, flags: Mapping[str, Flag], facts: ModelFacts) -> Iterator[Problem]:
    """Shapes that are missing, or that perf_analyzer or the server refuses."""
    inputs = _inputs(facts)
    yield from _unusable(where, shape_texts(flags), inputs)
    has_data = any(name == "input-data" for name, _ in named_files(flags))
    shapes = shapes_of(flags)
    unknown = []
    for tensor in inputs:
        name, dims = tensor["name"], _dims(tensor)
        if min(dims, default=0) >= 0:
            continue
        if name in shapes:
            yield from _misfit(where, name, shapes[name], dims)
        elif not has_data:  # the data may define the shapes, or leave out an optional input
            unknown.append(tensor)
    if unknown:
        yield _unknown(where, unknown)


def _unusable(
    where: str, texts: Sequence[str], inputs: Sequence[Mapping[str, Any]]
) -> Iterator[Problem]:
    """Texts that are no shapes of one tensor each, and shapes of which no request is sent."""
    names: Counter[str] = Counter()
    for text in texts:
        match = SHAPE.fullmatch(text)
        if match is None:
            yield Problem(
                where=where,
                message=f"perf_analyzer flag shape: {text!r} is not NAME:SIZE,SIZE,…",
                hint=f"inputs are {_names(inputs)}; several shapes are a list:"
                " shape: ['NAME:SIZE', 'NAME:SIZE']",
            )
            continue
        names[match[1]] += 1
        if math.prod(map(int, match[2].split(","))) > MOST_COUNT:
            yield Problem(
                where=where,
                message=f"perf_analyzer flag shape: {text} has more elements than a request may"
                f" have bytes ({MOST_COUNT})",
            )
    for name, count in names.items():
        if count > 1:
            yield Problem(
                where=where,
                message=f"perf_analyzer flag shape: {name} has {count} shapes",
                hint="give one for each input",
            )


def _unknown(where: str, inputs: Sequence[Mapping[str, Any]]) -> Problem:
    """The problem that these inputs have no size, with a list of shapes to fill in."""
    verb = "input {} has" if len(inputs) == 1 else "inputs {} have"
    shapes = ", ".join(f"'{tensor['name']}:{_sizes(_dims(tensor))}'" for tensor in inputs)
    has_integers = any("INT" in str(tensor.get("data_type", "")) for tensor in inputs)
    why = ", if random integers are not valid, such as ids of tokens" if has_integers else ""
    return Problem(
        where=where,
        message=f"{verb.format(_names(inputs))} a variable dimension",
        hint=f"give perf_analyzer_flags: {{shape: [{shapes}]}}, or {{input-data: FILE}}{why}",
    )


def _misfit(where: str, name: str, shape: Sequence[int], dims: Sequence[int]) -> Iterator[Problem]:
    fits = len(shape) == len(dims) and all(
        size and limit in (-1, size) for size, limit in zip(shape, dims, strict=True)
    )
    if not fits:
        written, wanted = (",".join(map(str, sizes)) for sizes in (shape, dims))
        yield Problem(
            where=where,
            message=f"perf_analyzer flag shape: {name}:{written} does not fit the dims [{wanted}]"
            " of the model",
            hint=f"give {name}:{_sizes(dims)}, without the batch; each size is at least 1",
        )


def shape_remarks(flags: Mapping[str, Flag], facts: ModelFacts) -> Iterator[str]:
    """Shapes without effect, since they are of inputs with fixed dimensions."""
    shapes = shapes_of(flags)
    for tensor in _inputs(facts):
        name, dims = tensor["name"], tuple(_dims(tensor))
        if min(dims, default=0) >= 0 and shapes.get(name, dims) != dims:
            yield f"{_NO_EFFECT} on {name!r}, whose dims {[*dims]} are fixed in config.pbtxt"


def foreign_shapes(
    flags: Mapping[str, Mapping[str, Flag]], facts: Mapping[str, ModelFacts]
) -> Iterator[str]:
    """Shapes without effect, since no model that has them has such an input. The flags are by
    model; several models have those of the whole run.
    """
    having: dict[tuple[str, tuple[int, ...]], list[str]] = {}
    for model in facts:
        for entry in shapes_of(flags[model]).items():
            having.setdefault(entry, []).append(model)
    for (name, _), models in having.items():
        inputs = [tensor for model in models for tensor in _inputs(facts[model])]
        if name not in [tensor["name"] for tensor in inputs]:
            word = "model" if len(models) == 1 else "models"
            yield (
                f"{word} {first_few(models)}: {_NO_EFFECT} on {name!r}, which is not an input"
                f" (inputs are {_names(inputs)})"
            )


def _inputs(facts: ModelFacts) -> Sequence[Mapping[str, Any]]:
    inputs: Sequence[Mapping[str, Any]] = facts.config.get("input", ())
    return inputs


def _dims(tensor: Mapping[str, Any]) -> Sequence[int]:
    return [int(size) for size in tensor.get("dims", ())]


def _sizes(dims: Sequence[int]) -> str:
    """The sizes of a shape to fill in."""
    return ",".join("SIZE" if size < 0 else str(size) for size in dims)


def _names(inputs: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(dict.fromkeys(tensor["name"] for tensor in inputs))
