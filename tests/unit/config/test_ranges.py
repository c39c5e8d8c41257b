# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an option accepts is what a checkpoint stores: extreme numbers are refused, or stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from msgspec import convert

from model_analyzer.config.goals import Constraints, Objectives
from model_analyzer.config.kinds import Duration, Integer, Integers, ListOf, Number
from model_analyzer.config.model_options import MODEL_OPTIONS, PARAMETER_OPTIONS
from model_analyzer.config.nodes import Node
from model_analyzer.config.options import options_of
from model_analyzer.config.sources import parse_yaml
from model_analyzer.config.table import PROFILE, REPORT, Option
from model_analyzer.config.traffic import Load
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.ranges import (
    MOST_COUNT,
    MOST_INTEGER,
    MOST_NUMBER,
    MOST_RATE,
    MOST_SECONDS,
)
from model_analyzer.domain.trials import Load as TrialLoad
from model_analyzer.domain.trials import LoadKind, ServerSetup, Trial, Workload
from model_analyzer.errors import ConfigError
from model_analyzer.state.format.codec import Encoder
from model_analyzer.state.format.decoder import Decoder
from model_analyzer.state.format.lines import decode, encode
from model_analyzer.state.format.schema import Amount
from model_analyzer.state.format.schema import Number as Stored
from tests.unit.builders import variant
from tests.unit.state.samples import measurement

OPTIONS = {
    option.key: option
    for option in (
        *options_of(PROFILE), *options_of(REPORT), *MODEL_OPTIONS, *PARAMETER_OPTIONS,
    )
}  # fmt: skip
NUMERIC = [
    option
    for option in OPTIONS.values()
    if isinstance(option.kind, (Integer, Integers, Number, Duration))
    or (isinstance(option.kind, ListOf) and isinstance(option.kind.item, (Integer, Number)))
]
EXTREMES = (
    0, 1, -1, 2**31, MOST_RATE + 1, 10**9, MOST_NUMBER, MOST_NUMBER + 1, 10**16, MOST_INTEGER,
    2**63, 2**64, 10**29, -(2**63), -(2**64), 0.5, 1e-300, 5e-324, 1e15, 1e16, -1e16, 1e300, -1e300,
    "1e16", "9" * 29, "999999999h", "999999999h" * 400,
)  # fmt: skip


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, (int, float)):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from numbers_in(item)


def node_of(text: str) -> Node:
    node = parse_yaml(text, "here")
    assert node is not None
    return node


def read_back(record: TrialRecord) -> TrialRecord:
    """The record as a checkpoint holds it."""
    decoder = Decoder()
    *definitions, outcome = (decode(encode(entry)) for entry in Encoder().record("key", record))
    for entry in definitions:
        decoder.define(entry)
    return decoder.record(outcome)


def is_stored(number: float) -> bool:
    """Whether a field of a checkpoint holds the number as it is."""
    return convert(number, Stored if isinstance(number, float) else int) == number and (
        isinstance(number, float) or abs(number) <= MOST_INTEGER
    )


def test_there_are_numeric_options() -> None:
    assert len(NUMERIC) > 35


@pytest.mark.parametrize("option", NUMERIC, ids=lambda option: option.key)
def test_extreme_numbers_are_refused_or_stored(option: Option) -> None:
    for value in EXTREMES:
        try:
            parsed = option.kind.parse(Node(value, "here"))
        except ConfigError:
            continue
        assert all(map(is_stored, numbers_in(parsed))), value


@pytest.mark.parametrize(
    "key",
    [
        "perf_analyzer_timeout",
        "model_load_timeout",
        "client_max_retries",
        "duration_seconds",
        "monitoring_interval",
    ],
)
def test_no_wait_is_longer_than_the_operating_system_takes(key: str) -> None:
    kind = OPTIONS[key].kind

    assert kind.parse(Node(MOST_SECONDS, "here")) == MOST_SECONDS
    assert MOST_SECONDS * 1000 < 2**31  # milliseconds, as `poll` takes them
    with pytest.raises(ConfigError, match="must be at most"):
        kind.parse(Node(MOST_SECONDS + 1, "here"))


def test_readings_have_time_between_them() -> None:
    with pytest.raises(ConfigError, match=r"must be at least 0\.001, found 1e-300"):
        OPTIONS["monitoring_interval"].kind.parse(Node("1e-300", "here"))


@pytest.mark.parametrize("option", NUMERIC, ids=lambda option: option.key)
def test_a_whole_number_fits_into_a_flag_of_the_client(option: Option) -> None:
    if isinstance(option.kind, (Integer, Integers)):
        with pytest.raises(ConfigError, match="must be at most"):
            option.kind.parse(Node(MOST_COUNT + 1, "here"))


@pytest.mark.parametrize("value", EXTREMES)
@pytest.mark.parametrize(
    "template",
    [
        "{{arrivals: gamma, cv: {}, rate: 5}}",
        "{{arrivals: poisson, rate: {}}}",
        "{{arrivals: poisson, rate: [5, {}]}}",
        "{{arrivals: poisson, rate: {{start: 5, stop: {}, step: 1000}}}}",
        "{{arrivals: constant, rate: 5, seed: {}}}",
        "{{replay: a, speed: {}}}",
        "{{stages: [{{rate: {}, for: 1s}}]}}",
        "{{stages: [{{rate: 1000, for: {}}}]}}",
    ],
)
def test_extreme_loads_are_refused_or_stored(template: str, value: object) -> None:
    try:
        given = Load().parse(node_of(template.format(value)))
    except ConfigError:
        return
    for rate in given.values[-1:]:
        assert rate <= MOST_RATE
        load = TrialLoad(kind=LoadKind.REQUEST_RATE, value=rate)
        work = Workload(variant=variant(), load=load, traffic=given.traffic)
        trial = Trial(workloads=(work,), setup=ServerSetup())
        assert read_back(TrialRecord(trial, measurement())).trial == trial


@pytest.mark.parametrize("value", EXTREMES)
def test_extreme_goals_are_refused_or_stored(value: object) -> None:
    for kind, text in ((Objectives(), f"{{perf_throughput: {value}}}"),
                       (Constraints(), f"{{perf_latency_p99: {{max: {value}}}}}")):  # fmt: skip
        try:
            parsed = kind.parse(node_of(text))
        except ConfigError:
            continue
        for part in parsed:
            fields: Mapping[str, Any] = {n: getattr(part, n) for n in part.__slots__}
            for name in {"weight", "minimum", "maximum"} & fields.keys():
                assert fields[name] is None or convert(fields[name], Amount) == fields[name]
