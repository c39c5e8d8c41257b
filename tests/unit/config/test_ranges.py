# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an option accepts is what a checkpoint stores: extreme numbers are refused, or stored.

`make fuzz` tries the same for much longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given

from model_analyzer.config.kinds import Integer, Integers
from model_analyzer.config.nodes import Node
from model_analyzer.domain.numbers import MOST_COUNT, MOST_SECONDS
from model_analyzer.errors import ConfigError
from tests.unit.config.extreme_numbers import (
    EXAMPLES,
    EXTREMES,
    FIELDS,
    GOALS,
    LOADS,
    NUMERIC,
    OPTIONS,
    is_refused_or_stored,
)


def test_there_are_numeric_options() -> None:
    assert len(NUMERIC) > 35


@pytest.mark.parametrize("of", [*NUMERIC, *LOADS, *GOALS, *FIELDS])
def test_extreme_numbers_are_refused_or_stored(of: str) -> None:
    for value in EXTREMES:
        is_refused_or_stored({"of": of, "value": value})


@given(EXAMPLES)
def test_any_number_is_refused_or_stored(example: Mapping[str, Any]) -> None:
    is_refused_or_stored(example)


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


@pytest.mark.parametrize("key", NUMERIC)
def test_a_whole_number_fits_into_a_flag_of_the_client(key: str) -> None:
    kind = NUMERIC[key].kind
    if isinstance(kind, (Integer, Integers)):
        with pytest.raises(ConfigError, match="must be at most"):
            kind.parse(Node(MOST_COUNT + 1, "here"))
