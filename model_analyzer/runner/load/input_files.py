# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the files and the directory of perf_analyzer's flag input-data, and checks them.

perf_analyzer's flag `shape`: the sizes of inputs with variable dimensions. Pure.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from model_analyzer.domain.flags import SHAPE, Flag, shape_texts, shapes_of
from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.models import ModelFacts, is_openai
from model_analyzer.domain.words import MOST_COUNT, counted, first_few
from model_analyzer.errors import Problem
from model_analyzer.reading.json_stream import TooLong
from model_analyzer.reading.untrusted import blocks_of, read_regular
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.input_check import (
    BYTES_OF,
    CheckedData,
    Expected,
    Mistake,
    Tensor,
    check_data,
    listed,
)
from model_analyzer.runner.load.logged_requests import MOST_INPUT_BYTES

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


# Path, size and time of change of a file.
_Stamp = tuple[str, int, int]


def input_mistakes(
    flags: Mapping[str, Flag], facts: ModelFacts, batch_sizes: Sequence[int], user_directory: Path
) -> Sequence[Mistake]:
    """The mistakes in the input data of a model. Files that are missing, unreadable or too large
    to read are left to perf_analyzer.
    """
    paths = [user_directory / path for name, path in named_files(flags) if name == "input-data"]
    if not paths or any(tensor.get("is_shape_tensor") for tensor in facts.config.get("input", ())):
        return ()
    expected = Expected.of(
        facts.config,
        shapes_of(flags),
        is_sequence=any("sequence_batching" in part.config for part in facts.with_parts()),
    )
    if is_openai(facts.config):
        return [each for path in paths for each in _of_payloads(path, facts.name)]
    try:
        if paths[0].is_dir():
            return (*_of_directory(paths[0], expected), *_beside_directory(paths))
        if directory := next((path for path in paths if path.is_dir()), None):
            what = f"{directory} is a directory, and {paths[0]} is a file"
            return (Mistake(what=what, fix="give either files or one directory"),)
        stamps = [_stamp(path) for path in paths]
        checked = [_checked(stamp, expected) for stamp in stamps]
    except (OSError, TooLong):
        return ()
    named = [
        replace(mistake, what=f"{path}: {mistake.what}")
        for path, file in zip(paths, checked, strict=True)
        for mistake in file.mistakes
    ]
    return (*named, *_between(paths, checked, batch_sizes))


def _of_payloads(path: Path, model: str) -> Iterator[Mistake]:
    """Requests for OpenAI's API that no stream of the model answers."""
    try:
        content = read_regular(path, most_bytes=MOST_INPUT_BYTES)
        entries = parse_json(content, most_bytes=MOST_INPUT_BYTES)["data"]
        steps = [each[0] if isinstance(each, list) else each for each in entries]
        asked = [(step["payload"][0]["model"], step["payload"][0].get("stream")) for step in steps]
    except OSError:
        return
    except (AttributeError, LookupError, TypeError, ValueError):
        asked = [("", None)]
    if others := sum(each != (model, True) for each in asked):
        payloads = counted(len(asked), "payload")
        what = f"{path} asks for no stream of {model} in {others} of {payloads}"
        fix = f'write {{"payload": [{{"model": "{model}", "stream": true, "messages": …}}]}}'
        yield Mistake(what=what, fix=fix, is_fatal=False)


def _stamp(path: Path) -> _Stamp:
    status = path.stat()
    return str(path), status.st_size, status.st_mtime_ns


@lru_cache(maxsize=32)  # several stages of a run check the same files
def _checked(stamp: _Stamp, expected: Expected) -> CheckedData:
    path, size, _ = stamp
    if size > MOST_INPUT_BYTES:
        raise TooLong(MOST_INPUT_BYTES)
    return check_data(blocks_of(Path(path)), expected)


def _between(
    paths: Sequence[Path], checked: Sequence[CheckedData], batch_sizes: Sequence[int]
) -> Iterator[Mistake]:
    """Mistakes of files, and of their steps, that do not go together."""
    if any(mistake.is_fatal for file in checked for mistake in file.mistakes):
        return
    if len({file.is_nested for file in checked}) > 1:
        names = first_few([str(path) for path in paths])
        yield Mistake(
            what=f"{names}: some have streams (lists of mappings) and some have not",
            fix="write all of them in the same way",
        )
        return
    several = [size for size in batch_sizes if size > 1]
    if several and len(frozenset[object]().union(*(file.step_shapes for file in checked))) > 1:
        yield Mistake(
            what=f"{paths[0]}: its steps have different shapes or optional inputs, and"
            f" perf_analyzer refuses them with client batch size"
            f" {first_few([str(size) for size in several])}",
            fix="give only batch_sizes: 1, or steps of one shape",
            is_fatal=len(several) == len(batch_sizes),
        )


def _beside_directory(paths: Sequence[Path]) -> Iterator[Mistake]:
    if len(paths) > 1:
        yield Mistake(
            what=f"{paths[0]} is a directory: perf_analyzer reads only that",
            fix="remove the other input-data",
            is_fatal=False,
        )


def _of_directory(directory: Path, expected: Expected) -> Iterator[Mistake]:
    """Mistakes in a directory with a file for each input, and perhaps for outputs."""
    present = set(os.listdir(directory))
    names = [tensor.name for tensor in (*expected.inputs, *expected.outputs)]
    for name in sorted(present.difference(names)):
        yield Mistake(
            what=f"{directory} has {name!r}, which is not an input or output of the model",
            fix="remove it",
        )
    for tensor in expected.inputs:
        if tensor.name in present:
            yield from _tensor_file(directory / tensor.name, tensor)
        else:
            yield Mistake(
                what=f"{directory} has no file {tensor.name}",
                fix="give a file for each input, also for optional ones",
            )


def _tensor_file(path: Path, tensor: Tensor) -> Iterator[Mistake]:
    if min(tensor.shape, default=0) < 0:
        fix = f"give perf_analyzer_flags: {{shape: ['{tensor.name}:SIZE,…']}}"
        yield Mistake(what=f"{path}: input {tensor.name} has a variable dimension", fix=fix)
        return
    elements = math.prod(tensor.shape)
    size = path.stat().st_size
    needs = f"and its shape {listed(tensor.shape)} needs"
    if tensor.data_type == "BYTES":
        lines = read_regular(path, most_bytes=MOST_INPUT_BYTES).splitlines() if size else []
        if len(lines) != elements:
            yield Mistake(
                what=f"{path} has {counted(len(lines), 'line')}, {needs} {elements:,}",
                fix="write each text on its own line",
            )
    elif size != (needed := elements * BYTES_OF.get(tensor.data_type, 0)) and needed:
        yield Mistake(
            what=f"{path} has {counted(size, 'byte')}, {needs} {needed:,} ({tensor.data_type})",
            fix="write the elements of one request in binary, without a batch",
        )
