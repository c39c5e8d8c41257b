# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rows as text for programs, as tables for people, and as Parquet: one type for each column."""

from __future__ import annotations

import csv
import io
import json
import sys

import pytest

from model_analyzer.errors import OutputError
from model_analyzer.reports.flat_files import to_csv, to_json, to_parquet, to_table
from model_analyzer.results.columns import Row

ROWS: list[Row] = [
    {"trial": "k", "model": 'größe, "a"\nb', "perf_throughput": 0.1 + 0.2, "concurrency": 8},
    {"trial": "l", "model": "m", "failure": "TIMEOUT"},
]


def test_csv_is_exact_and_leaves_unknown_values_empty() -> None:
    first, second = csv.DictReader(io.StringIO(to_csv(ROWS).decode()))

    assert first["model"] == ROWS[0]["model"]
    assert float(first["perf_throughput"]) == 0.1 + 0.2
    assert (first["failure"], second["perf_throughput"]) == ("", "")
    assert list(first) == ["trial", "model", "concurrency", "perf_throughput", "failure"]


def test_json_is_a_list_without_unknown_values() -> None:
    assert json.loads(to_json(ROWS)) == ROWS
    assert json.loads(to_json([])) == []


def test_a_table_has_the_columns_that_have_data() -> None:
    columns = [("Model", "model"), ("Node", "node"), ("Concurrency", "concurrency")]

    table = to_table(ROWS, columns)

    assert table.headers == ("Model", "Concurrency")
    assert table.rows == ((ROWS[0]["model"], 8), ("m", None))


def test_an_export_has_exact_texts() -> None:
    texts = ["=1+1", "-x", "a\rb", "\t@", "a\r\nb"]
    written = to_csv([{"model": text} for text in texts]).decode()
    read = csv.DictReader(io.StringIO(written, newline=""))
    assert [row["model"] for row in read] == texts


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
