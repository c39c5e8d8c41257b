# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an option accepts is what a checkpoint stores: extreme numbers are refused, or stored.

`make fuzz` tries the same for much longer.

The file with prices: exact numbers, and no placeholders.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from model_analyzer.config.kinds import Integer, Integers
from model_analyzer.config.nodes import Node
from model_analyzer.config.sources import parse_prices, read_prices
from model_analyzer.domain.costs import NodeType, Prices
from model_analyzer.domain.words import MOST_COUNT, MOST_SECONDS
from model_analyzer.errors import ConfigError
from tests.unit.builders import yaml
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


EXAMPLE = Path(__file__).parents[3] / "config" / "prices.yaml"
HEAD = "currency: EUR\ndate: 2026-11-25\n"


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as raised:
        parse_prices(yaml(text))
    return [str(problem) for problem in raised.value.problems]


def test_prices_are_exact_as_they_are_written() -> None:
    prices = parse_prices(
        yaml(
            HEAD + "gpus: {NVIDIA L4: 0.1000000000000000055, NVIDIA L4 MIG 1g.5gb: '1e-2'}\n"
            "cpu_core: 0.03\nmemory_gb: .004\n"
            "nodes:\n  small: {price: 0.1, cores: 4, memory_gb: 16}\n"
            "  large: {price: 12, gpus: {NVIDIA L4: 8}}\n"
        )
    )

    assert prices == Prices(
        currency="EUR",
        date="2026-11-25",
        gpus={
            "NVIDIA L4": Decimal("0.1000000000000000055"),
            "NVIDIA L4 MIG 1g.5gb": Decimal("0.01"),
        },
        cpu_core=Decimal("0.03"),
        memory_gb=Decimal("0.004"),
        nodes=(
            NodeType(name="small", price=Decimal("0.1"), cores=4, memory_gb=Decimal(16)),
            NodeType(name="large", price=Decimal(12), gpus={"NVIDIA L4": 8}),
        ),
    )


def test_the_example_is_refused_until_every_placeholder_is_filled_in(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as raised:
        read_prices(EXAMPLE)

    text = EXAMPLE.read_text()
    values = [line.partition("#")[0] for line in text.splitlines()]
    assert len(raised.value.problems) == sum("FILL_IN" in value for value in values) == 9
    assert all("is a placeholder" in str(problem) for problem in raised.value.problems)
    filled = tmp_path / "prices.yaml"
    filled.write_text(text.replace("FILL_IN", "1.25"))
    assert read_prices(filled).cpu_core == Decimal("1.25")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (HEAD, "f.yaml:1:1: has no prices"),
        ("cpu_core: 1\n", "f.yaml:1:1: currency is missing"),
        (HEAD + "cpu: 1\n", "f.yaml:3:1: unknown key 'cpu' (one of: currency, date, gpus"),
        (HEAD + "cpu_core: 0\n", "f.yaml:3:11: must be above 0; remove the line if it is unknown"),
        (HEAD + "cpu_core: -1\n", "f.yaml:3:11: must be above 0"),
        (HEAD + "cpu_core: .nan\n", "f.yaml:3:11: expected a number"),
        (HEAD + "cpu_core: 1e99\n", "f.yaml:3:11: expected a price per hour"),
        (HEAD + "cpu_core: cheap\n", "f.yaml:3:11: expected a number, found 'cheap'"),
        (HEAD + "cpu_core: [1]\n", "f.yaml:3:11: expected a number, found a list"),
        (HEAD + "cpu_core:\n", "f.yaml:3:10: expected a number, found nothing"),
        (HEAD + "gpus: 1\n", "f.yaml:3:7: expected a mapping"),
        ("currency: ''\ndate: x\ncpu_core: 1\n", "f.yaml:1:11: must not be empty"),
        (HEAD + "gpus: {FILL_IN: 1}\n", "f.yaml:3:8: FILL_IN is a placeholder: replace it"),
        (HEAD + "nodes: {a: {cores: 4}}\n", "f.yaml:3:12: price is missing"),
        (HEAD + "nodes: {a: {price: 1, gpus: {x: 0}}}\n", "f.yaml:3:33: must be at least 1"),
        ("[1]\n", "f.yaml:1:1: expected a mapping with currency, date"),
    ],
)
def test_a_mistake_is_named_with_its_place(text: str, problem: str) -> None:
    assert any(problem in each for each in problems(text)), problems(text)


def test_an_empty_file_has_no_prices(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text("# nothing\n")

    with pytest.raises(ConfigError, match="has no prices"):
        read_prices(path)
