# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the files and the directory of perf_analyzer's flag input-data, and checks them."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from model_analyzer.domain.flags import Flag, shapes_of
from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.models import ModelFacts, is_openai
from model_analyzer.domain.words import counted, first_few
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
from model_analyzer.runner.load.input_data import MOST_INPUT_BYTES

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
