# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Input data for perf_analyzer, with an entry for each request of a log. Pure.

perf_analyzer gives its requests the entries of a file in their order; a request with a larger batch
takes as many entries. So the entries are written in the order of the requests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import orjson

from model_analyzer.domain.foreign_json import TooDeep, parse_standard
from model_analyzer.domain.log_rows import LogProblem

# The size of the user's file, and of that for one perf_analyzer, which keeps all of it in memory.
MOST_INPUT_BYTES = 256 * 2**20

# The entries of the user's file, each as JSON.
InputEntries = Sequence[bytes]


def parse_entries(raw: bytes) -> InputEntries:
    """The entries of a file of input data. Raises LogProblem if they cannot be selected."""
    try:
        content = parse_standard(raw, most_bytes=MOST_INPUT_BYTES)
    except json.JSONDecodeError as error:
        raise LogProblem(error.lineno, f"is not JSON: {error.msg}") from None
    except TooDeep as error:
        raise LogProblem(0, f"is {error}") from None
    data = content.get("data") if isinstance(content, dict) else None
    if not isinstance(data, list) or not data:
        raise LogProblem(0, 'has no list "data" with inputs')
    for number, entry in enumerate(data):
        if not isinstance(entry, dict):
            raise LogProblem(
                0, f"has no mapping of tensors as input {number}", "a log cannot select sequences"
            )
    if "validation_data" in content:
        raise LogProblem(0, "has validation_data, which a replay with inputs does not support")
    return [orjson.dumps(entry) for entry in data]


def size_of(entries: InputEntries, numbers: Iterable[int], batch_size: int) -> int:
    """The bytes of the inputs of requests that have the entries with these numbers."""
    sizes = [len(entry) for entry in entries]
    return batch_size * sum(sizes[number] for number in numbers)


def in_order(entries: InputEntries, numbers: Iterable[int], batch_size: int) -> bytes:
    """A file for requests that have the entries with these numbers, one after the other; all items
    of a batch are alike.
    """
    chosen = (entries[number] for number in numbers for _ in range(batch_size))
    return b'{"data":[' + b",".join(chosen) + b"]}"
