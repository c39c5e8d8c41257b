# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the log that a load replays, and the input data from which it selects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from io import StringIO
from pathlib import Path

from model_analyzer.domain.flags import Flag
from model_analyzer.domain.log_rows import LogProblem
from model_analyzer.domain.request_log import RequestLog, parse_log
from model_analyzer.domain.traffic import Traffic
from model_analyzer.reading import read_regular
from model_analyzer.runner.load.input_data import InputEntries, parse_entries

_MOST_BYTES = 2**30


@dataclass(frozen=True, slots=True)
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
    try:
        text = _content(path).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise LogProblem(0, "is not text in UTF-8") from None
    # lines end as files end them: text.splitlines() would also split at other characters
    lines = StringIO(text, newline="")
    return parse_log(lines, column=column, unit=unit, input_column=input_column, entries=entries)


@lru_cache(maxsize=8)
def _read_entries(path: Path) -> InputEntries:
    return parse_entries(_content(path))


def _content(path: Path) -> bytes:
    try:
        return read_regular(path, most_bytes=_MOST_BYTES)
    except OSError as error:
        raise LogProblem(0, error.strerror or str(error)) from None
