# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions that filter rows, such as `perf_latency_p99<20`."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from math import isnan
from typing import Any

from model_analyzer.domain.metrics import METRICS, canonical
from model_analyzer.results.flat_rows import NUMBERS, TEXTS, Row

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_FORM = re.compile(rf"\s*([\w/]+)\s*({'|'.join(_OPERATORS)})\s*(.*?)\s*", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A comparison of a column with a value. A row without that column never meets it."""

    column: str
    operator: str
    value: str | float

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Parses `COLUMN OPERATOR VALUE`. Raises ValueError with a message for the user."""
        match = _FORM.fullmatch(text)
        if match is None or not match[3]:
            raise ValueError(
                f"{text!r} is not a condition: write, for example, perf_latency_p99<20"
            )
        column, sign, value = column_named(match[1]), match[2], match[3]
        if column in TEXTS:
            if sign not in ("=", "!="):
                raise ValueError(f"{text!r}: {column} is text: compare it with = or !=")
            return cls(column=column, operator=sign, value=value)
        try:
            number = float(value)
        except ValueError as error:
            raise ValueError(f"{text!r}: {value!r} is not a number") from error
        if isnan(number):
            raise ValueError(f"{text!r}: {value!r} is not a number")
        return cls(column=column, operator=sign, value=number)

    def is_met_by(self, row: Row) -> bool:
        cell = row.get(self.column)
        return cell is not None and _OPERATORS[self.operator](cell, self.value)


def column_named(name: str) -> str:
    """The column with this name, or with this old name of a metric, to filter or sort by. Raises
    ValueError with the nearest name if there is none.
    """
    name = canonical(name)
    names = (*TEXTS, *NUMBERS, *METRICS)
    if name not in names:
        nearest = get_close_matches(name, names, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else ""
        hint = hint or f"give a metric or one of {', '.join((*TEXTS, *NUMBERS))}"
        raise ValueError(f"unknown column {name!r}: {hint}")
    return name
