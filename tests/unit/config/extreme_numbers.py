# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Extreme numbers in options, and what must hold for all of them: they are refused at the start, or
a checkpoint has them as they are.

Shared by the tests, which try some for each option, and tools/fuzz.py, which tries as many as it is
told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from hypothesis import strategies as st
from msgspec import convert

from model_analyzer.config.goal_kinds import Constraints, Objectives
from model_analyzer.config.kinds import Duration, Integer, Integers, ListOf, Number
from model_analyzer.config.model_options import (
    MODEL_OPTIONS,
    PARAMETER_OPTIONS,
    ModelConfigParameters,
)
from model_analyzer.config.nodes import Node
from model_analyzer.config.options import options_of
from model_analyzer.config.sources import parse_yaml
from model_analyzer.config.table import PROFILE, REPORT, Option
from model_analyzer.config.traffic_options import OpenLoad
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Load, LoadKind, ServerSetup, Trial, Workload
from model_analyzer.domain.words import MOST_INTEGER, MOST_NUMBER, MOST_RATE
from model_analyzer.errors import ConfigError
from model_analyzer.state.format.codec import Encoder, decode, encode
from model_analyzer.state.format.decoder import Decoder
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
NUMERIC: Mapping[str, Option] = {
    key: option
    for key, option in OPTIONS.items()
    if isinstance(option.kind, (Integer, Integers, Number, Duration))
    or (isinstance(option.kind, ListOf) and isinstance(option.kind.item, (Integer, Number)))
}
EXTREMES = (
    0, 1, -1, 2**31, MOST_RATE + 1, 10**9, MOST_NUMBER, MOST_NUMBER + 1, 10**16, MOST_INTEGER,
    2**63, 2**64, 10**29, -(2**63), -(2**64), 0.5, 1e-300, 5e-324, 1e15, 1e16, -1e16, 1e300, -1e300,
    "1e16", "9" * 29, "999999999h", "999999999h" * 400,
)  # fmt: skip
LOADS = (
    "{{arrivals: gamma, cv: {}, rate: 5}}",
    "{{arrivals: poisson, rate: {}}}",
    "{{arrivals: poisson, rate: [5, {}]}}",
    "{{arrivals: poisson, rate: {{start: 5, stop: {}, step: 1000}}}}",
    "{{arrivals: constant, rate: 5, seed: {}}}",
    "{{replay: a, speed: {}}}",
    "{{stages: [{{rate: {}, for: 1s}}]}}",
    "{{stages: [{{rate: 1000, for: {}}}]}}",
)
GOALS: Mapping[str, tuple[Objectives | Constraints, str]] = {
    "objectives": (Objectives(), "{{perf_throughput: {}}}"),
    "constraints": (Constraints(), "{{perf_latency_p99: {{max: {}}}}}"),
    "least of constraints": (Constraints(), "{{perf_throughput: {{min: {}}}}}"),
}
FIELDS = (
    "{{max_batch_size: {}}}",
    "{{instance_group: [{{kind: KIND_CPU, count: {}}}]}}",
    "{{dynamic_batching: {{max_queue_delay_microseconds: {}}}}}",
    "{{dynamic_batching: {{preferred_batch_size: [[4, {}]]}}}}",
    "{{optimization: {{priority: {}}}}}",
    "{{version_policy: {{specific: {{versions: [[{}]]}}}}}}",
)

_UNITS = st.sampled_from(["", "", "ms", "s", "m", "h", "%", "e9", "e400", ".5", " "])
NUMBERS = st.one_of(
    st.sampled_from(EXTREMES),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.builds("{}{}".format, st.integers(-1, 10**20) | st.floats(0, 1e30), _UNITS),
)
# An option, a load, a goal or a field of a model's configuration, and a number for it.
EXAMPLES = st.fixed_dictionaries(
    {"of": st.sampled_from([*NUMERIC, *LOADS, *GOALS, *FIELDS]), "value": NUMBERS}
)


def is_refused_or_stored(example: Mapping[str, Any]) -> None:
    of, value = example["of"], example["value"]
    try:
        if of in NUMERIC:
            parsed = NUMERIC[of].kind.parse(Node(value, "here"))
            assert all(map(is_stored, numbers_in(parsed))), parsed
        elif of in GOALS:
            kind, text = GOALS[of]
            for part in kind.parse(node_of(text, value)):
                assert_that_a_bound_is_stored(part)
        elif of in LOADS:
            assert_that_a_load_is_stored(OpenLoad().parse(node_of(of, value)))
        else:
            assert_that_fields_are_stored(ModelConfigParameters().parse(node_of(of, value)))
    except ConfigError as error:
        for problem in error.problems:
            assert problem.message.strip()
            assert str(problem).isprintable(), problem


def numbers_in(value: Any) -> Iterator[float]:
    if isinstance(value, (int, float)):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from numbers_in(item)


def node_of(template: str, value: object) -> Node:
    """A template with the value, as somebody would write it."""
    written = json.dumps(value) if isinstance(value, str) else str(value)
    node = parse_yaml(template.format(written), "here")
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


def assert_that_a_bound_is_stored(part: Any) -> None:
    for name in {"weight", "minimum", "maximum"} & set(part.__slots__):
        number = getattr(part, name)
        assert number is None or convert(number, Amount) == number


def assert_that_a_load_is_stored(given: Any) -> None:
    for rate in given.values[-1:]:
        assert rate <= MOST_RATE
        load = Load(kind=LoadKind.REQUEST_RATE, value=rate)
        work = Workload(variant=variant(), load=load, traffic=given.traffic)
        trial = Trial(workloads=(work,), setup=ServerSetup())
        assert read_back(TrialRecord(trial, measurement())).trial == trial


def assert_that_fields_are_stored(sweep: Mapping[str, Any]) -> None:
    """The first configuration of a sweep."""
    fields = {name: alternatives[0] for name, alternatives in sweep.items()}
    work = Workload(variant=variant(**fields), load=Load(value=1))
    trial = Trial(workloads=(work,), setup=ServerSetup())
    assert read_back(TrialRecord(trial, measurement())).trial == trial
