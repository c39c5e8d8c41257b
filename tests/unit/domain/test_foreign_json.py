# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The reader for JSON that may be anything."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from model_analyzer.domain.foreign_json import (
    DEEPEST,
    TooDeep,
    parse_json,
    parse_standard,
    parse_unambiguous,
    parse_with,
)

READERS = (parse_json, parse_standard, parse_unambiguous, parse_with)


@pytest.mark.parametrize("parse", READERS)
@pytest.mark.parametrize("levels", [DEEPEST + 1, 1_000, 200_000])
@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_deep_values_are_refused(
    parse: Callable[..., Any], levels: int, opening: bytes, closing: bytes
) -> None:
    with pytest.raises(TooDeep):
        parse_with(opening * levels + b"1" + closing * levels)
    with pytest.raises(ValueError, match=r"nested too deeply|depth limit|recursion depth"):
        parse(opening * levels + b"1" + closing * levels)


@pytest.mark.parametrize("parse", READERS)
def test_wide_values_are_not_deep(parse: Callable[..., Any]) -> None:
    assert parse(b"[" * DEEPEST + b"]" * DEEPEST)
    assert parse(b'["[[", ' + b"[]," * 1000 + b"{}]")


@pytest.mark.parametrize("parse", READERS)
def test_large_texts_are_refused(parse: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="larger than 1 MiB"):
        parse(b" " * 2**20 + b"1", most_bytes=2**20)


def test_what_python_writes_is_read_where_it_may_be() -> None:
    assert math.isnan(parse_json('{"a": NaN}')["a"])
    for parse in (parse_standard, parse_unambiguous):
        with pytest.raises(ValueError, match=r"NaN|unexpected"):
            parse(b'{"a": NaN}')


def test_a_key_that_occurs_twice_is_ambiguous() -> None:
    assert parse_json('{"a": 1, "a": 2}') == {"a": 2}
    with pytest.raises(ValueError, match="the key 'a' occurs twice"):
        parse_unambiguous(b'{"a": 1, "a": 2}')


def test_an_error_has_its_place() -> None:
    for parse in (parse_json, parse_standard):
        with pytest.raises(json.JSONDecodeError) as raised:
            parse('{\n "a": ,}')
        assert raised.value.lineno == 2
