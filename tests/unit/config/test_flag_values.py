# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Values of flags: perf_analyzer 2.51 and tritonserver 2.51 accept and refuse the same ones.

What they accept was found by starting the real programs with each value. They also accept numbers
with any text after them, of which they read the numbers: here, that is a mistake.
"""

from __future__ import annotations

import pytest

from model_analyzer.config.flag_values import PERF_ANALYZER_VALUES, TRITON_SERVER_VALUES
from model_analyzer.config.model_options import PERF_ANALYZER, TRITON_SERVER
from model_analyzer.domain.flags import PERF_ANALYZER_FLAGS, TRITON_SERVER_FLAGS
from tests.unit.builders import parse_problem, yaml

PERF_ANALYZER_ACCEPTS = [
    "measurement-interval: 5000", "measurement-interval: 5.5", "measurement-interval: 5000ms",
    "measurement-interval: ' 7'", "percentile: -1", "percentile: 99", "percentile: 99.9",
    "stability-percentage: 0", "stability-percentage: 999", "stability-percentage: 2.5",
    "latency-threshold: 0", "output-shared-memory-size: 0", "sequence-length: -5",
    "measurement-mode: time_windows", "request-distribution: poisson", "shared-memory: system",
    "grpc-compression-algorithm: gzip", "ssl-https-private-key-type: DER", "string-data: ''",
    "request-count: 0", "request-period: 5", "sequence-length-variation: .5", "trace-count: -1",
    "log-frequency: 0", "trace-level: OFF", "trace-rate: abc", "request-parameter: 'a::string'",
    "request-parameter: ['a:1:int', 'b:2:int']", "serial-sequences: true", "endpoint: v1/x",
    "periodic-concurrency-range: '1:4:1'", "input-tensor-format: json", "data-directory: data",
]  # fmt: skip
PERF_ANALYZER_REFUSES = [
    "measurement-interval: abc", "measurement-interval: 0", "measurement-interval: -5",
    "measurement-interval: ''", "measurement-interval: 5s",
    "measurement-interval: 1e99", "measurement-interval: 5000 --async", "max-trials: 5ms",
    "percentile: 99 --async", "percentile: 9e1", "latency-threshold: 1s",
    "measurement-interval: 0x10", "measurement-interval: true",
    "measurement-request-count: many", "max-trials: 0", "max-threads: 0", "percentile: 0",
    "percentile: 100", "percentile: 200", "percentile: 5000ms", "stability-percentage: -5",
    "latency-threshold: -5", "string-length: 0", "sequence-length: abc", "metrics-interval: 0",
    "measurement-mode: TIME_WINDOWS", "request-distribution: gamma", "shared-memory: SYSTEM",
    "grpc-compression-algorithm: zip", "ssl-https-client-certificate-type: pem",
    "request-count: -5", "request-count: abc", "request-period: 0", "log-frequency: -1",
    "sequence-length-variation: abc", "trace-count: abc", "request-parameter: a=1",
]  # fmt: skip
TRITON_SERVER_ACCEPTS = [
    "log-verbose: 1", "log-verbose: -5", "log-verbose: true", "log-info: TRUE",
    "log-info: 'on'", "log-info: 0", "log-info: yes", "http-thread-count: +5",
    "metrics-interval-ms: 5.5", "exit-timeout-secs: -1", "log-format: ISO8601",
    "grpc-keepalive-permit-without-calls: true", "id: anything",
]  # fmt: skip
TRITON_SERVER_REFUSES = [
    "log-verbose: abc", "log-verbose: 5s", "http-thread-count: 8k",
    "log-verbose: ''", "log-info: maybe", "log-info: 'yes'", "log-info: 2",
    "http-thread-count: true", "metrics-interval-ms: .5x", "log-format: iso8601",
    "strict-model-config: often", "trace-rate: abc",
]  # fmt: skip


@pytest.mark.parametrize("written", PERF_ANALYZER_ACCEPTS)
def test_a_value_that_perf_analyzer_accepts_is_accepted(written: str) -> None:
    assert PERF_ANALYZER.parse(yaml(written))


@pytest.mark.parametrize("written", PERF_ANALYZER_REFUSES)
def test_a_value_that_perf_analyzer_refuses_is_refused_at_its_place(written: str) -> None:
    problem = parse_problem(PERF_ANALYZER, yaml(written))
    assert problem.where == f"f.yaml:1:{written.index(': ') + 3}"
    assert problem.message.startswith("expected ")


@pytest.mark.parametrize("written", TRITON_SERVER_ACCEPTS)
def test_a_value_that_tritonserver_accepts_is_accepted(written: str) -> None:
    assert TRITON_SERVER.parse(yaml(written))


@pytest.mark.parametrize("written", TRITON_SERVER_REFUSES)
def test_a_value_that_tritonserver_refuses_is_refused(written: str) -> None:
    assert parse_problem(TRITON_SERVER, yaml(written)).message.startswith("expected ")


def test_flags_of_other_versions_are_accepted_with_any_value() -> None:
    flags = PERF_ANALYZER.parse(yaml("{fixed-schedule: true, request-file: [a, b]}"))
    assert flags == {"fixed-schedule": "true", "request-file": ("a", "b")}
    assert TRITON_SERVER.parse(yaml("{http_max_input_size: 5}")) == {"http-max-input-size": "5"}


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("measurment-interval: 5", "did you mean 'measurement-interval'?"),
        ("measurement_mode: x", "did you mean 'measurement-mode'?"),
        ("a_b: 1", ""),
        ("'a b': 1", ""),
    ],
)
def test_a_misspelled_flag_is_refused(written: str, hint: str) -> None:
    problem = parse_problem(PERF_ANALYZER, yaml(written))
    assert problem.message.startswith("perf_analyzer has no flag")
    assert problem.hint == hint


def test_only_flags_that_exist_have_values() -> None:
    assert PERF_ANALYZER_VALUES.keys() <= set(PERF_ANALYZER_FLAGS)
    assert TRITON_SERVER_VALUES.keys() <= set(TRITON_SERVER_FLAGS)
