# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the log that a load replays, and the input data from which it selects."""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.traffic import Traffic
from model_analyzer.reading.log_rows import MOST_PART, LogProblem
from model_analyzer.reading.untrusted import open_regular, open_text
from model_analyzer.runner.load.input_data import MOST_INPUT_BYTES, InputEntries, parse_entries
from model_analyzer.runner.load.logged_requests import RequestLog, parse_log

_MOST_BYTES = 2**30
# Files by their first bytes: what is wrong, and what to do.
_UNPACK = "unpack it"
_BINARY = {
    b"\x1f\x8b": ("is compressed by gzip", _UNPACK),
    b"\x28\xb5\x2f\xfd": ("is compressed by zstd", _UNPACK),
    b"\xfd7zXZ": ("is compressed by xz", _UNPACK),
    b"BZh": ("is compressed by bzip2", _UNPACK),
    b"PK\x03\x04": ("is a zip archive", _UNPACK),
    b"PAR1": ("is a Parquet file", "write CSV, or one JSON object per line"),
}


@dataclass(eq=False)
class ReplayProblem(Exception):
    """What is wrong with a file of a replay, and where; and what to do."""

    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Replay:
    """The requests of a log, and the `entries` of the input data from which it selects; None if it
    does not select.
    """

    log: RequestLog
    entries: InputEntries | None


def read_replay(traffic: Traffic, flags: Mapping[str, Flag], user_directory: Path) -> Replay:
    """The log of a load, and the data in the flag `input-data` if the log selects from it. Raises
    ReplayProblem, also for files that cannot be read. A run reads each file once.
    """
    entries = None
    path = user_directory / str(flags.get("input-data"))
    try:
        if traffic.input:
            entries = _read_entries(path)
        path = user_directory / traffic.log
        log = _read_log(path, traffic.column, traffic.unit, traffic.input, len(entries or ()))
    except LogProblem as error:
        line = f":{error.line}" if error.line else ""
        raise ReplayProblem(f"{path}{line}: {error.message}", error.hint) from None
    return Replay(log, entries)


@lru_cache(maxsize=8)
def _read_log(path: Path, column: str, unit: str, input_column: str, entries: int) -> RequestLog:
    return parse_log(
        _parts(path), column=column, unit=unit, input_column=input_column, entries=entries
    )


def _parts(path: Path, most_bytes: int = _MOST_BYTES) -> Iterator[str]:
    """The lines of a file, and parts of long ones, each read when it is asked for."""
    try:
        try:
            with open_text(path, most_bytes=most_bytes) as text:
                while part := text.readline(MOST_PART):
                    yield part
        except UnicodeDecodeError:
            raise _no_text(path) from None
    except OSError as error:
        hint = "use a part" if error.errno == errno.EFBIG else ""
        raise LogProblem(0, error.strerror or str(error), hint) from None


def _no_text(path: Path) -> LogProblem:
    with open_regular(path) as file:
        begin = file.read(max(map(len, _BINARY)))
    for mark, (message, hint) in _BINARY.items():
        if begin.startswith(mark):
            return LogProblem(0, message, hint)
    return LogProblem(0, "is not text in UTF-8")


@lru_cache(maxsize=8)
def _read_entries(path: Path) -> InputEntries:
    return parse_entries(_parts(path, MOST_INPUT_BYTES))
