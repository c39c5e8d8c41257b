# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run keeps a record as `stored` gives it: it equals the record that a later run reads; lines in
little memory: every line comes back as it was added.

Checkpoint lines: plain JSON for others, and proof against damage for us.
"""

from __future__ import annotations

import json
import math
import tracemalloc
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.foreign_json import parse_unambiguous
from model_analyzer.domain.histograms import Histogram
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome, ResourceUse
from model_analyzer.domain.models import freeze
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.secrets import Veil
from model_analyzer.domain.trials import Failure, FailureReason, Load, LoadKind, ServerSetup, Trial
from model_analyzer.state import records as state_records
from model_analyzer.state.checkpoint import load
from model_analyzer.state.format.codec import DamagedLine, Encoder, decode, encode, stored
from model_analyzer.state.format.decoder import Decoder
from model_analyzer.state.profile_state import ProfileState
from model_analyzer.state.records import PackedLines
from tests.unit.state.samples import SECRETS, rich_failure, rich_measurement, rich_trial, trial

_TEXTS = st.sampled_from(["", "plain", "größe", "hf_" + "a" * 20, "password=s3cr3t", "\udcff"])
_NAMES = st.sampled_from(["HF_TOKEN", "LD_PRELOAD", "USER_NAME", "http-header", "shape", "größe"])
_SCALARS = st.one_of(_TEXTS, st.integers(-5, 5), st.booleans())
_FLAGS = st.dictionaries(_NAMES, st.one_of(_SCALARS, st.lists(_TEXTS).map(tuple))).map(freeze)
_AMOUNTS = st.floats(0, 1e9) | st.integers(0, 10**9)
_VALUES = st.dictionaries(_TEXTS, _AMOUNTS).map(freeze)
_TIMES = {"started": st.floats(0, 2e9), "duration_s": st.floats(0, 1e5)}

_SETUPS = st.builds(
    ServerSetup,
    version=_TEXTS,
    devices=st.lists(_TEXTS).map(tuple),
    flags=_FLAGS,
    environment=st.dictionaries(_NAMES, _TEXTS).map(freeze),
    container=st.dictionaries(_NAMES, _SCALARS).map(freeze),
    access=_FLAGS,
    veil=st.builds(Veil, key=st.none() | st.just(b"key"), shown=st.frozensets(_NAMES)),
)
_LOADS = st.builds(
    Load, kind=st.sampled_from(LoadKind), value=st.integers(0, 2**40), batch_size=st.integers(1, 9)
)
_HISTOGRAMS = st.builds(Histogram.of, st.lists(st.floats(0, 1e9)), st.floats(1, 1e6))
_MODELS = st.builds(
    ModelMeasurement,
    values=_VALUES,
    requests=st.none() | st.integers(0, 2**40),
    windows=st.lists(_AMOUNTS).map(tuple),
    seconds=st.floats(0, 1e5),
    histograms=st.dictionaries(_TEXTS, _HISTOGRAMS).map(freeze),
    composing=st.dictionaries(_TEXTS, _VALUES).map(freeze),
    raised=_FLAGS,
)
_OUTCOMES = st.builds(
    Measurement,
    models=st.tuples(_MODELS),
    gpus=st.dictionaries(_TEXTS, _VALUES).map(freeze),
    host=_VALUES,
    commands=st.lists(_TEXTS).map(tuple),
    loading_s=st.floats(0, 100),
    resources=st.none()
    | st.builds(
        ResourceUse,
        seconds=_AMOUNTS,
        server_cpu_s=_AMOUNTS,
        client_cpu_s=_AMOUNTS,
        memory_before=_AMOUNTS,
        memory_after=_AMOUNTS,
    ),
    **_TIMES,
) | st.builds(
    Failure,
    reason=st.sampled_from(FailureReason),
    message=_TEXTS,
    log=st.lists(_TEXTS).map(tuple),
    hint=_TEXTS,
    **_TIMES,
)


@st.composite
def records(draw: st.DrawFn) -> TrialRecord:
    (work,) = trial().workloads
    work = replace(
        work,
        load=draw(_LOADS),
        flags=draw(_FLAGS),
        genai_perf=draw(_FLAGS),
        inputs=draw(_TEXTS),
        base=draw(_TEXTS),
        times_tokens=draw(st.booleans()),
    )
    sample = Trial(workloads=(work,), setup=draw(_SETUPS), repetition=draw(st.integers(0, 3)))
    return TrialRecord(sample, draw(_OUTCOMES), draw(st.sampled_from(["", "node"])))


def read_back(record: TrialRecord) -> TrialRecord:
    """The record after it has been in a file."""
    decoder = Decoder()
    *definitions, outcome = map(encode, Encoder().record(record.trial.key, record))
    for line in definitions:
        decoder.define(decode(line))
    read = decoder.record(decode(outcome))
    assert decoder.record_again(outcome) == read
    return read


@given(records())
def test_a_stored_record_equals_the_one_that_is_read_back(record: TrialRecord) -> None:
    kept = stored(record)

    assert kept == read_back(record)
    assert kept == read_back(kept) == stored(kept)
    assert kept.trial.key == record.trial.key


def test_unchanged_parts_of_a_record_are_the_same_objects() -> None:
    record = TrialRecord(trial(), rich_measurement())

    kept = stored(record)

    assert kept.outcome is record.outcome
    assert kept.trial.workloads[0] is record.trial.workloads[0]


def test_a_run_sees_its_outcomes_as_the_next_run_does(tmp_path: Path) -> None:
    outcomes: list[Outcome] = [
        rich_failure(),
        replace(rich_measurement(), started=0.12345, duration_s=1.0005, loading_s=0.0001),
    ]
    with ProfileState(tmp_path) as state:
        for number, outcome in enumerate(outcomes):
            state.record(rich_trial(number), outcome)
        kept_records = [*state.profile.records]

    assert kept_records == [*load(tmp_path).records]
    assert not [secret for secret in SECRETS if secret in repr(kept_records)]


@pytest.fixture(params=[0, 5, 1000], ids=["all packed", "some packed", "none packed"])
def plain(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(state_records, "_PLAIN", request.param)
    monkeypatch.setattr(state_records, "_BLOCK", 4)
    return int(request.param)


def line(number: int) -> bytes:
    return f"line {number}\r\n".encode()


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("count", [0, 1, 4, 5, 9, 13])
def test_each_line_is_there_in_the_order_of_adding(count: int) -> None:
    lines = PackedLines[int]()
    for number in range(count):
        lines[number] = line(number)

    assert [*lines.items()] == [(number, line(number)) for number in range(count)]
    assert [lines[number] for number in reversed(range(count))] == [*lines.values()][::-1]
    assert (len(lines), 0 in lines, count in lines) == (count, count > 0, False)


@pytest.mark.usefixtures("plain")
def test_a_line_can_be_replaced_and_removed() -> None:
    lines = PackedLines[int]()
    for number in range(10):
        lines[number] = line(number)
    lines[3] = line(30)
    del lines[4]

    assert lines[3] == line(30)
    assert [*lines] == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    with pytest.raises(KeyError):
        lines[4]


def test_lines_that_are_alike_take_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_records, "_PLAIN", 0)
    lines, size = PackedLines[int](), 0
    tracemalloc.start()
    try:
        for number in range(5000):
            text = b"a part that all have " * 40 + line(number)
            lines[number] = text
            size += len(text)
        held = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()

    assert held < size / 4


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
