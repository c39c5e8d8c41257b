# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rows as Parquet: one type for each column, nothing lost."""

from __future__ import annotations

import io
import sys

import pytest

from model_analyzer.errors import OutputError
from model_analyzer.reports.flat_files import to_parquet


def test_the_file_reads_back_unchanged() -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    written = to_parquet(
        [
            {"model": "m", "concurrency": 8, "perf_throughput": 5, "config.a": 1, "config.b": True},
            {"model": "n", "perf_throughput": 0.5, "config.a": "auto", "config.c": 2**70},
            {"model": "o", "config.d": 1.5},
            {"model": "\udcff", "config.d": 2},
        ]
    )

    columns = parquet.read_table(io.BytesIO(written)).to_pydict()
    assert columns == {
        "model": ["m", "n", "o", r"\udcff"],
        "config.a": ["1", "auto", None, None],
        "config.b": [True, None, None, None],
        "config.c": [None, str(2**70), None, None],
        "config.d": [None, None, 1.5, 2.0],
        "concurrency": [8, None, None, None],
        "perf_throughput": [5.0, 0.5, None, None],
    }


def test_without_its_library_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    with pytest.raises(OutputError, match="pip install .pyarrow>=") as raised:
        to_parquet([])
    assert "\n" not in str(raised.value)
