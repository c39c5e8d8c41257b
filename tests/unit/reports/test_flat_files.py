# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Rows as text for programs, and as tables for people."""

from __future__ import annotations

import csv
import io
import json

from model_analyzer.reports.flat_files import to_csv, to_json, to_table
from model_analyzer.results.flat_rows import Row

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
