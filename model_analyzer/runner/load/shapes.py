# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""perf_analyzer's flag `shape`: the sizes of inputs with variable dimensions. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from model_analyzer.domain.flags import SHAPE, Flag, shape_texts, shapes_of
from model_analyzer.domain.models import ModelFacts
from model_analyzer.errors import Problem
from model_analyzer.runner.load.command import named_files


def shape_problems(where: str, flags: Mapping[str, Flag], facts: ModelFacts) -> Iterator[Problem]:
    """Shapes that are missing, or that perf_analyzer or the server refuses."""
    inputs = _inputs(facts)
    for text in shape_texts(flags):
        if not SHAPE.fullmatch(text):
            yield Problem(
                where=where,
                message=f"perf_analyzer flag shape: {text!r} is not NAME:SIZE,SIZE,…",
                hint=f"inputs are {_names(inputs)}",
            )
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
    """Shapes without effect: of inputs that do not exist, and of inputs with fixed dimensions."""
    inputs = _inputs(facts)
    by_name = {tensor["name"]: tuple(map(int, tensor.get("dims", ()))) for tensor in inputs}
    for name, shape in shapes_of(flags).items():
        flag = f"perf_analyzer flag shape has no effect on {name!r}"
        dims = by_name.get(name)
        if dims is None:
            yield f"{flag}, which is not an input (inputs are {_names(inputs)})"
        elif min(dims, default=0) >= 0 and shape != dims:
            yield f"{flag}, whose dims {[*dims]} are fixed in config.pbtxt"


def _inputs(facts: ModelFacts) -> Sequence[Mapping[str, Any]]:
    inputs: Sequence[Mapping[str, Any]] = facts.config.get("input", ())
    return inputs


def _dims(tensor: Mapping[str, Any]) -> Sequence[int]:
    return [int(size) for size in tensor.get("dims", ())]


def _sizes(dims: Sequence[int]) -> str:
    """The sizes of a shape to fill in."""
    return ",".join("SIZE" if size < 0 else str(size) for size in dims)


def _names(inputs: Sequence[Mapping[str, Any]]) -> str:
    return ", ".join(tensor["name"] for tensor in inputs)
