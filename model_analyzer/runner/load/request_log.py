# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the log that a load replays."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from model_analyzer.domain.request_log import LogProblem, request_times
from model_analyzer.reading import read_regular

_MOST_BYTES = 2**30


@lru_cache(maxsize=8)
def read_request_times(path: Path, column: str, unit: str) -> Sequence[int]:
    """The times of the requests (ns, the first is 0). Raises LogProblem, also if the file cannot be
    read. A run reads each log once.
    """
    try:
        text = read_regular(path, most_bytes=_MOST_BYTES).decode("utf-8-sig")
    except OSError as error:
        raise LogProblem(0, error.strerror or str(error)) from None
    except UnicodeDecodeError:
        raise LogProblem(0, "is not text in UTF-8") from None
    return request_times(text.splitlines(), column=column, unit=unit)
