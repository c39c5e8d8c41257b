# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoint lines: plain JSON for others, and proof against damage for us."""

from __future__ import annotations

import json
import math
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.foreign_json import parse_unambiguous
from model_analyzer.state.format.lines import DamagedLine, decode, encode

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
)
ENTRIES = st.builds(
    lambda kind, fields: {"entry": kind, **fields},
    st.text(),
    st.dictionaries(st.text().filter(lambda key: key not in ("entry", "crc")), VALUES, max_size=5),
)


@given(entry=ENTRIES)
def test_an_entry_is_read_back_as_it_was_written(entry: dict[str, Any]) -> None:
    line = encode(entry)

    assert decode(line) == entry
    assert decode(line.removesuffix(b"\n")) == entry


@given(entry=ENTRIES)
def test_any_json_tool_reads_a_line(entry: dict[str, Any]) -> None:
    line = encode(entry)

    read = json.loads(line)
    checksum = read.pop("crc")

    assert read == entry
    assert line.count(b"\n") == 1
    assert checksum == f"{zlib.crc32(line[: line.rindex(b',')] + b'}'):08x}"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (b"1e-05", 1e-05),
        (b"1E3", 1000.0),
        (b"-0.0", -0.0),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
        (b'"\\udc80"', "\udc80"),
        (b'"\\u0041"', "A"),
        (b"[ 1, 2 ]", [1, 2]),
    ],
)
def test_json_may_be_spelt_in_other_ways_than_ours(written: bytes, value: Any) -> None:
    assert parse_unambiguous(b'{"a":' + written + b"}") == {"a": value}


@pytest.mark.parametrize(
    "text", [b'{"a":1,"a":1}', b'{"a":1,"\\u0061":2}', b'{"b":{"a" :1,"a":1}}', b'{"a":1}{"a":1}']
)
def test_ambiguous_json_is_refused(text: bytes) -> None:
    with pytest.raises(ValueError, match=r"twice|Extra data"):
        parse_unambiguous(text)


def test_text_stays_readable() -> None:
    assert "größe 模型 🙂".encode() in encode({"entry": "größe 模型 🙂"})


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_does_not_have_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        encode({"entry": "x", "value": value})


def test_every_flipped_bit_before_the_last_brace_shows() -> None:
    line = encode({"entry": "failure", "key": "größe", "values": [1.5, None, {"a": "b"}]})
    entry = decode(line)

    for position in range(len(line) - len(b'"}\n')):
        for bit in range(8):
            damaged = bytearray(line)
            damaged[position] ^= 1 << bit
            with pytest.raises(DamagedLine):
                decode(bytes(damaged))

    assert decode(line) == entry


def test_every_cut_shows() -> None:
    line = encode({"entry": "failure", "key": "größe"}).removesuffix(b"\n")

    for length in range(len(line)):
        with pytest.raises(DamagedLine):
            decode(line[:length])


def checked(body: bytes) -> bytes:
    """A line with a right checksum around a body that we would not write."""
    return body[:-1] + b',"crc":"%08x"}\n' % zlib.crc32(body)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        pytest.param(b"", "no checksum", id="nothing"),
        pytest.param(b"\0" * 200, "no checksum", id="zeros"),
        pytest.param(b'{"entry":"x"}\n', "no checksum", id="without checksum"),
        pytest.param(b'{"entry":"x","crc":"00000000"}\n', "does not match", id="another checksum"),
        pytest.param(
            encode({"entry": "x"}) + encode({"entry": "y"}), "does not match", id="two lines"
        ),
        pytest.param(checked(b'{"entry":x}'), "not JSON", id="bare word"),
        pytest.param(checked(b'{"entry":"\xff"}'), "not JSON", id="not UTF-8"),
        pytest.param(checked(b'{"a":' + b"[" * 100_000 + b"}"), "nested too deeply", id="deep"),
        pytest.param(checked(b'{"a":' + b"1" * 5_000 + b"}"), "not JSON|not an entry", id="long"),
        pytest.param(checked(b'{"kind":"x"}'), "not an entry", id="without kind"),
        pytest.param(checked(b'{"entry":7}'), "not an entry", id="kind is no text"),
        pytest.param(b" " * (64 * 2**20 + 1), "64 MiB", id="huge"),
    ],
)
def test_a_damaged_line_is_explained(line: bytes, reason: str) -> None:
    with pytest.raises(DamagedLine, match=reason):
        decode(line)


def test_the_very_end_of_a_line_counts_too() -> None:
    line = encode({"entry": "x"})
    with pytest.raises(DamagedLine):
        decode(line[:-3] + b"\0\0\n")


def test_text_that_is_no_utf8_survives() -> None:
    assert decode(encode({"entry": "x", "path": "a\udcffb"}))["path"] == "a\udcffb"
