# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which hardware is the cheapest, in the table of the best configurations on each kind."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from model_analyzer.domain.costs import Prices
from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.reports.tables import hardware_table
from model_analyzer.results.answer import answer_of
from model_analyzer.results.columns import Cell
from model_analyzer.results.ranking import rank
from tests.unit.builders import at_most, goal, measurement, record, variant

# the one costs 2.78 USD for a million inferences, the other 1.11
RECORDS = tuple(
    record(variant(), measurement(throughput, p99), setup=ServerSetup(devices=(name,)))
    for name, throughput, p99 in (("NVIDIA L4", 100, 30), ("NVIDIA H100", 1000, 70))
)


def marked(
    gpus: Mapping[str, str], constraints: tuple[Constraint, ...] = ()
) -> Mapping[Cell, Cell] | None:
    """What the column says, by kind of hardware; None without the column."""
    prices = Prices(
        currency="USD", date="", gpus={name: Decimal(price) for name, price in gpus.items()}
    )
    profile = Profile(records=RECORDS, prices=prices)
    table = hardware_table(
        [answer_of(ranking) for ranking in rank(profile, "m", goal(*constraints))]
    )
    if table.headers[-1] != "Cheapest":
        return None
    return {row[0]: row[-1] for row in table.rows}


def test_the_cheapest_kind_is_marked() -> None:
    assert marked({"NVIDIA L4": "1", "NVIDIA H100": "4"}) == {
        "1 x NVIDIA L4": "", "1 x NVIDIA H100": "yes"
    }  # fmt: skip
    assert marked({"NVIDIA L4": "1", "NVIDIA H100": "20"}) == {
        "1 x NVIDIA L4": "yes", "1 x NVIDIA H100": ""
    }  # fmt: skip


def test_a_kind_that_does_not_keep_the_constraints_is_no_alternative() -> None:
    assert marked({"NVIDIA L4": "1", "NVIDIA H100": "4"}, at_most(perf_latency_p99=50)) is None


def test_nothing_is_marked_if_only_one_cost_is_known() -> None:
    assert marked({"NVIDIA L4": "1"}) is None
