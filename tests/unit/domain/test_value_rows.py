# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Packed rows of values behave like read-only dictionaries."""

from __future__ import annotations

import pickle
from array import array

import pytest

from model_analyzer.domain.value_rows import ValueRow, ValueTable

VALUES = {"a": 1.5, "b": -0.1}


def row(**values: float) -> ValueRow:
    return ValueRow(tuple(values), array("d", values.values()))


def test_a_row_is_equal_to_a_dictionary() -> None:
    packed = row(**VALUES)
    assert packed == VALUES
    assert packed == VALUES
    assert packed != {"a": 1.5}
    assert dict(packed) == {**packed} == VALUES
    assert list(packed.items()) == list(VALUES.items())


def test_a_name_may_be_missing() -> None:
    packed = row(**VALUES)
    assert "c" not in packed
    assert packed.get("c") is None
    assert packed.get("c", 2.0) == 2.0
    with pytest.raises(KeyError):
        packed["c"]


def test_a_row_can_be_sent_to_another_process() -> None:
    assert pickle.loads(pickle.dumps(row(**VALUES))) == VALUES


@pytest.mark.parametrize(
    "rows",
    [
        [row(a=1.0, b=2.0), row(a=3.0, b=4.0)],
        [row(a=1.0, b=2.0), row(b=4.0, a=3.0)],
        [row(a=1.0, b=2.0), {"a": 3.0, "b": 4.0}],
        [{"b": 2.0}, {"b": 4.0}],
    ],
)
def test_a_column_has_the_value_of_each_row(rows: list[ValueRow]) -> None:
    assert ValueTable(rows).column("b") == [2.0, 4.0]


def test_a_column_that_a_row_lacks_is_refused() -> None:
    for rows in ([row(a=1.0)], [row(a=1.0), row(b=1.0)], [{"a": 1.0}]):
        with pytest.raises(KeyError):
            ValueTable(rows).column("b")


def test_a_table_may_be_empty() -> None:
    assert ValueTable([]).column("a") == []
