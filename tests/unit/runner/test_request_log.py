# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Files of logs: read as a stream, with limits."""

from __future__ import annotations

import gzip
import json
import os
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from model_analyzer.domain.models import empty
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.reading.log_rows import LogProblem
from model_analyzer.runner.load.logged_requests import Replay, ReplayProblem, parse_log, read_replay

_REQUESTS = 8_000
_TEXT = "x" * 2000


def replay_of(path: Path) -> Replay:
    return read_replay(Traffic(arrivals=Arrivals.REPLAY, log=path.name), empty(), path.parent)


def csv_rows() -> Iterator[str]:
    yield "timestamp,text\n"
    yield from (f"{1_700_000_000_000 + number},{_TEXT}\n" for number in range(_REQUESTS))


def json_rows() -> Iterator[str]:
    for number in range(_REQUESTS):
        yield json.dumps({"timestamp": 1_700_000_000_000 + number, "text": _TEXT}) + "\n"


def document() -> Iterator[str]:
    """All of it in a single line."""
    yield "["
    yield ",".join(row.strip() for row in json_rows())
    yield "]"


def export() -> Iterator[str]:
    yield '{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":['
    yield ",".join(
        json.dumps({"timestamp": 1_700_000_000_000_000_000 + number * 10**6, "text": _TEXT})
        for number in range(_REQUESTS)
    )
    yield ']}],"version":"2.51.0"}'


@pytest.mark.parametrize("rows", [csv_rows, json_rows, document, export])
def test_a_log_needs_memory_for_its_times_only(tmp_path: Path, rows: object) -> None:
    assert callable(rows)
    path = tmp_path / "log"
    path.write_text("".join(rows()))
    parse_log(["time", "0", "1.5"])  # imports

    tracemalloc.start()
    log = replay_of(path).log
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert log.described(1).startswith("8,000 requests in 8.00 s (1,000/s, at most 1,000 in a")
    assert path.stat().st_size > 15 * 2**20
    assert peak < 40 * _REQUESTS + 5 * 2**20


def test_a_log_is_refused_early_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("time\n0\n1\n")
    os.truncate(path, 2**30 + 1)

    with pytest.raises(ReplayProblem) as raised:
        replay_of(path)
    assert (raised.value.message, raised.value.hint) == (
        f"{path}: Larger than 1024 MiB",
        "use a part",
    )


def test_what_is_wrong_in_the_first_lines_is_told_before_the_rest_is_read() -> None:
    def lines() -> Iterator[str]:
        yield '{"time": 0}\n'
        yield '{"time": "soon"}\n'
        raise AssertionError("read further")

    with pytest.raises(LogProblem, match="has 'soon' in place of a time"):
        parse_log(lines())


@pytest.mark.parametrize(
    ("begin", "line"), [("time,text\n1,", 2), ('{"time": 1, "text": "', 1), ("", 1)]
)
def test_a_line_without_end_is_refused(tmp_path: Path, begin: str, line: int) -> None:
    path = tmp_path / "log"
    path.write_text(begin + "x" * (2**25))

    with pytest.raises(ReplayProblem, match=rf"log:{line}: has more than 16 MiB"):
        replay_of(path)


def test_a_value_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text('[{"time": 1, "text": "' + "x" * (2**26))

    with pytest.raises(ReplayProblem, match="has a value of more than 16 MiB"):
        replay_of(path)


@pytest.mark.parametrize(
    ("content", "message", "hint"),
    [
        (gzip.compress(b"time\n0\n1\n", mtime=0), "is compressed by gzip", "unpack it"),
        (b"\x28\xb5\x2f\xfd\x24\x0d", "is compressed by zstd", "unpack it"),
        (b"PAR1\x15\x04\xff\xfe", "is a Parquet file", "write CSV, or one JSON object per line"),
    ],
    ids=["gzip", "zstd", "Parquet"],  # what gzip writes has the time in it
)
def test_a_file_that_is_packed_is_named(
    tmp_path: Path, content: bytes, message: str, hint: str
) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)

    with pytest.raises(ReplayProblem) as raised:
        replay_of(path)
    assert (raised.value.message, raised.value.hint) == (f"{path}: {message}", hint)


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"time\n0\n\xff\n")
    with pytest.raises(ReplayProblem, match="is not text in UTF-8"):
        replay_of(tmp_path / "log")
    with pytest.raises(ReplayProblem, match="No such file"):
        replay_of(tmp_path / "other")
