# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which hardware: the answers on several kinds of it, side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

import jsonschema

from model_analyzer.domain.costs import Prices, Resources
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.features.capacity.capacity_text import (
    CapacityReport,
    answer_lines,
    capacity_schema,
    cheapest_text,
    kinds_table,
)
from model_analyzer.features.capacity.command import rendered
from model_analyzer.features.capacity.facts.sizing import Count, Demand
from model_analyzer.features.capacity.question import capacity_report
from tests.features.capacity.replicas import capacity, closed_load, open_load

PRICES = Prices(
    currency="USD",
    date="2026-11-01",
    gpus={"NVIDIA L4": Decimal("0.80"), "NVIDIA H100": Decimal("4.00")},
)

# 88 and 440 requests/s
SMALL = (open_load(80, 20, energy_per_inference=0.5), open_load(100, 200))
BIG = (open_load(400, 20, energy_per_inference=0.25), open_load(500, 200))


def report(kind: str, *records: TrialRecord, prices: Prices | None = PRICES) -> CapacityReport:
    """For 500 requests/s with 20 % headroom, on one GPU of this kind."""
    known = capacity(*records)
    used = replace(known.replica, resources=Resources(gpus=(kind,)))
    on_kind = replace(known, kind=f"1 x {kind}", replica=used, prices=prices)
    return capacity_report(on_kind, Demand(rate=500))


def both(prices: Prices | None = PRICES) -> Sequence[CapacityReport]:
    return (report("NVIDIA L4", *SMALL, prices=prices), report("NVIDIA H100", *BIG, prices=prices))


def test_kinds_are_compared_in_a_table() -> None:
    table = kinds_table(both())

    rows = [dict(zip(table.headers, row, strict=True)) for row in table.rows]
    assert [row["Hardware"] for row in rows] == ["1 x NVIDIA L4", "1 x NVIDIA H100"]
    assert [row["Replicas"] for row in rows] == ["7", "2"]
    assert [row["Cost per hour"] for row in rows] == ["5.60 USD", "8.00 USD"]
    assert [row["J per inference"] for row in rows] == [0.5, 0.25]


def test_a_kind_without_a_price_is_not_the_cheapest() -> None:
    only_big = replace(PRICES, gpus={"NVIDIA H100": Decimal(4)})

    assert cheapest_text(both(only_big)) == (
        "Cheapest: 1 x NVIDIA H100, at 8.00 USD an hour; the cost of 1 other is unknown."
    )


def test_an_interval_that_rounds_to_one_number_is_not_shown() -> None:
    known = report("NVIDIA L4", open_load(1389, 20), open_load(1736, 30, answered=1393))

    sentences = [line for line in answer_lines(known) if line.startswith("One replica")]
    assert sentences == [
        "One replica carries 1,393 requests/s. Above, it does not keep up (measured: kept at 1,389,"
        " broken at 1,736)."
    ]


def test_a_single_replica_that_surely_suffices_has_no_interval() -> None:
    """Fewer than one cannot serve, even if a server may carry more."""
    known = report("NVIDIA L4", open_load(1000, 20))

    assert known.sizing is not None
    assert known.sizing.replicas == Count(number=1, fewest=None, most=1)
    assert "of at most 50 ms and 20 % headroom." in next(answer_lines(known))


def test_a_rate_that_may_be_too_high_is_uncertain() -> None:
    """Its interval has no lower end, and an upper one that rounds to the rate itself."""
    known = report("NVIDIA L4", open_load(1000, 49.9, answered=1000.1))

    sentences = [line for line in answer_lines(known) if line.startswith("One replica")]
    assert sentences == [
        "One replica carries 1,000 requests/s (uncertain): the highest measured rate; no higher one"
        " was measured."
    ]


def test_programs_get_all_kinds() -> None:
    unknown = report("NVIDIA T4", closed_load(2, 90))
    text = rendered((*both(), unknown), "json")

    assert text is not None
    document = json.loads(text)
    jsonschema.validate(document, capacity_schema())
    assert document["cheapest"] == "1 x NVIDIA L4"
    assert [each["kind"] for each in document["hardware"]] == [
        "1 x NVIDIA L4", "1 x NVIDIA H100", "1 x NVIDIA T4"
    ]  # fmt: skip
    assert [each["answer"] is None for each in document["hardware"]] == [False, False, True]


def test_a_comment_has_a_section_for_each_kind() -> None:
    text = rendered(both(), "md")

    assert text is not None
    assert text.index("Cheapest: 1 x NVIDIA L4") < text.index("### 1 x NVIDIA L4")
    assert text.index("7 replicas") < text.index("### 1 x NVIDIA H100")
