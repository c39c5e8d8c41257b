# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Deep and large files for whatever reads files of others, and what must hold for all of them.

Shared by the tests, which try some, and tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st

from model_analyzer.config.sources import parse_yaml, read_prices
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.features.capacity.question import parse_trace
from model_analyzer.reading.json_stream import TooLong
from model_analyzer.reading.log_rows import LogProblem
from model_analyzer.runner.file_trees import MARK, prepare_output
from model_analyzer.runner.load.input_check import Expected, Tensor, check_data
from model_analyzer.runner.load.logged_requests import parse_entries, parse_log
from model_analyzer.runner.load.profile_export import read_export
from model_analyzer.runner.model_config import parse_text
from model_analyzer.runner.repository import RememberedConfigs
from model_analyzer.state.checkpoint import read_file
from tests.unit.reading.logs import EXAMPLES as LOGS

_BLOCK = 2**20

# A reader may keep what it has read as objects: a file may become so many times as large.
_BASE_BYTES = 64 * 2**20
_MOST_TIMES = 60
_LONGEST_REFUSAL = 20_000

EXPECTED = Expected(
    inputs=(Tensor(name="IN", data_type="FP32", shape=(2,), is_optional=True),),
    outputs=(),
    is_sequence=False,
)


def _blocks(text: str) -> Iterator[str]:
    return (text[begin : begin + _BLOCK] for begin in range(0, len(text), _BLOCK))


def _log(text: str) -> None:
    parse_log(StringIO(text, newline=""))


def _inputs(text: str) -> None:
    check_data((block.encode("utf-8", "surrogateescape") for block in _blocks(text)), EXPECTED)


def _mark(text: str) -> None:
    with TemporaryDirectory() as name:
        (Path(name) / MARK).write_text(text, errors="surrogateescape")
        prepare_output(Path(name), override=False, protected=())


def _cache_record(text: str) -> None:
    with TemporaryDirectory() as name:
        remembered = RememberedConfigs(Path(name))
        remembered.add({"name": "m"}, "question")
        (path,) = Path(name).iterdir()
        path.write_text(text, errors="surrogateescape")
        assert remembered.find("question") is None


def _checkpoint(file: str) -> Callable[[str], None]:
    def read(text: str) -> None:
        with TemporaryDirectory() as name:
            path = Path(name) / file
            path.write_text(text, errors="surrogateescape")
            read_file(path)

    return read


def _prices(text: str) -> None:
    with TemporaryDirectory() as name:
        path = Path(name) / "prices.yaml"
        path.write_text(text, errors="surrogateescape")
        read_prices(path)


# What reads a text; each raises one of these errors, or reads it.
READERS: Mapping[str, Callable[[str], object]] = {
    "log": _log,
    "export": lambda text: read_export(_blocks(text)),
    "inputs": _inputs,
    "selected inputs": lambda text: parse_entries(_blocks(text)),
    "mark": _mark,
    "cache record": _cache_record,
    "checkpoint": _checkpoint("0.ckpt"),
    "journal": _checkpoint("journal"),
    "configuration": lambda text: parse_yaml(text, "f.yaml"),
    "prices": _prices,
    "trace": lambda text: parse_trace(text, "f.csv"),
    "model configuration": lambda text: parse_text(text, "config.pbtxt"),
}
_REFUSALS = (LogProblem, TooLong, ModelAnalyzerError)

_BEGINNINGS = st.sampled_from(
    [
        *("", "[", "{", '{"a":', '{"data":[', '{"data":[{"IN":[', '{"experiments":[', "a: ", "- "),
        *(
            '{"experiments":[{"window_boundaries":[0,9],"requests":[',
            '{"benchmarks":[{"type_":"x",',
        ),
        *('{"validation_data":[[', "timestamp,id\n", "time,rate\n", "input [ { dims: [ ", "\ufeff"),
        *("Made by model-analyzer: its next run replaces the directories that are named here.\n",),
        *('{"kind":"header","format":', '{"format": 1, "question": "', *LOGS),
    ]
)
_PIECES = st.sampled_from(
    [
        *("[", "{", "]", "[]", "[],", '{"a":', '{"a":[', "- ", "a:\n ", "&a [*a,", "? ", "((", "<"),
        *("1,", "1.5,", '"a",', '"a', "a", "\\u0041", "\\", "9", "-", "\n", "\r", "0,0\n", '"\n'),
        *('{"timestamp": 1.5}\n', '{"timestamp":0,"response_timestamps":[1]},', "a { ", "dims: 1 "),
        *('{"IN":[0.5,1.5]},', '[{"IN":[0.5,1.5]}],', "ü", "\u2028", " ", "parameters "),
        *('{"id":1,"timestamps":[{"name":"REQUEST_START","ns":5}]},', "# x\n", "|\n", "!!set {"),
    ]
)
# The begin of a text, a piece that is repeated until it has so many bytes, and the end.
FILES = st.fixed_dictionaries(
    {
        "reader": st.sampled_from([*READERS]),
        "begin": _BEGINNINGS,
        "piece": _PIECES,
        "bytes": st.sampled_from([0, 100, 10_000, 100_000, 300_000]),
        "end": st.sampled_from(["", "]", "}", "]}", "]}]}", '"', '"}', "\n", "1", "]]]]"]),
    }
)


def is_read_or_refused(example: Mapping[str, Any]) -> None:
    """It is read, or refused in a line, in time and in bounds of memory."""
    piece = example["piece"]
    text = example["begin"] + piece * -(-example["bytes"] // len(piece)) + example["end"]
    told = "read"
    tracemalloc.start()
    try:
        READERS[example["reader"]](text)
    except _REFUSALS as error:
        told = str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert 0 < len(told.strip()) < _LONGEST_REFUSAL, told[:1000]
    assert peak < _BASE_BYTES + _MOST_TIMES * len(text), f"{peak / 2**20:.0f} MiB"
