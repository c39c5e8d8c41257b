# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Costs of servers and inferences: exact to the cent, or unknown."""

from __future__ import annotations

from decimal import Decimal

import pytest

from model_analyzer.domain.prices import (
    NodeType,
    Prices,
    Resources,
    cheapest,
    cost_per_million,
    fleet_for,
    hourly_cost,
    in_cents,
    money,
)

L4, A100, MIG = "NVIDIA L4", "NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"
PARTS = Prices(
    currency="EUR",
    date="2026-11-25",
    gpus={L4: Decimal("0.60"), A100: Decimal("3.67"), MIG: Decimal("0.55")},
    cpu_core=Decimal("0.03"),
    memory_gb=Decimal("0.004"),
)
NODES = Prices(
    currency="EUR",
    date="2026-11-25",
    gpus={L4: Decimal("0.60")},
    nodes=(
        NodeType(name="one", price=Decimal("0.90"), gpus={L4: 1}, cores=12),
        NodeType(name="eight", price=Decimal("5.60"), gpus={L4: 8}),
        NodeType(name="mixed", price=Decimal("9.99"), gpus={L4: 1, A100: 2}),
        NodeType(name="small", price=Decimal("0.10"), cores=4, memory_gb=Decimal(16)),
        NodeType(name="large", price=Decimal("0.33"), cores=16, memory_gb=Decimal(32)),
    ),
)
GB = Decimal(1)

# prices, GPUs, cores, GB of memory, cost of an hour, what it is made of
GOLDEN = [
    (PARTS, (L4,), 8, 10 * GB, "0.88", "1 x NVIDIA L4 + 8 cores + 10 GB"),
    (PARTS, (L4, L4), 8, 10 * GB, "1.48", "2 x NVIDIA L4 + 8 cores + 10 GB"),
    (PARTS, (L4, A100), 1, GB, "4.304", f"1 x {L4} + 1 x {A100} + 1 core + 1 GB"),
    (PARTS, (MIG,), 4, Decimal("2.5"), "0.68", f"1 x {MIG} + 4 cores + 2.5 GB"),
    (PARTS, ("nvidia l4",), 1, GB, "0.634", "1 x nvidia l4 + 1 core + 1 GB"),
    (PARTS, (), 16, 32 * GB, "0.608", "16 cores + 32 GB"),
    (NODES, (L4,), 4, None, "0.70", "node eight, of which 8 replicas share one"),
    (NODES, (L4, L4, L4), 4, None, "2.80", "node eight, of which 2 replicas share one"),
    (NODES, (A100,), None, None, "4.995", "node mixed, of which 2 replicas share one"),
    (NODES, (L4,) * 9, 4, None, "5.40", "9 x NVIDIA L4"),
    (NODES, (), 4, None, "0.0825", "node large, of which 4 replicas share one"),
    (NODES, (), 4, 16 * GB, "0.10", "node small"),
    (NODES, (), 8, 8 * GB, "0.165", "node large, of which 2 replicas share one"),
    # unknown, with the reason
    (PARTS, ("NVIDIA H100",), 8, GB, None, "no price of NVIDIA H100"),
    (PARTS, (L4, "NVIDIA H100"), 8, GB, None, "no price of NVIDIA H100"),
    (PARTS, (L4,), None, GB, None, "the number of cores is unknown"),
    (PARTS, (L4,), 8, None, None, "the memory was not measured (--collect-cpu-metrics)"),
    (NODES, (A100,) * 3, 4, None, None, "no price of NVIDIA A100-SXM4-40GB"),
    (NODES, (), 32, GB, None, "no price of a CPU core, and of no node type with enough cores"),
    (NODES, (), None, None, None, "no price of a CPU core, and of no node type with enough cores"),
]  # fmt: skip


@pytest.mark.parametrize(("prices", "gpus", "cores", "memory", "amount", "basis"), GOLDEN)
def test_the_cost_of_an_hour(
    prices: Prices,
    gpus: tuple[str, ...],
    cores: int | None,
    memory: Decimal | None,
    amount: str | None,
    basis: str,
) -> None:
    cost = hourly_cost(prices, Resources(gpus=gpus, cores=cores, memory_gb=memory))

    assert cost.amount == (None if amount is None else Decimal(amount))
    assert cost.basis == basis


@pytest.mark.parametrize(
    ("prices", "gpus", "replicas", "per_node", "amount", "basis"),
    [
        # whole nodes: nine replicas need a second node of eight, or nine small ones
        (NODES, (L4,), 7, None, "5.60", "1 node eight"),
        (NODES, (L4,), 6, None, "5.40", "6 nodes one"),
        (NODES, (L4,), 9, None, "8.10", "9 nodes one"),
        (NODES, (L4,), 16, None, "11.20", "2 nodes eight"),
        (NODES, (L4,), 9, 4, "8.10", "9 nodes one"),
        (NODES, (L4,), 28, 7, "22.40", "4 nodes eight"),
        (NODES, (), 8, None, "1.32", "4 nodes large"),
        (NODES, (), 8, 4, "0.66", "2 nodes large"),
        (PARTS, (L4,), 3, None, "2.64", f"3 x (1 x {L4} + 8 cores + 10 GB)"),
        (PARTS, ("NVIDIA H100",), 3, None, None, "no price of NVIDIA H100"),
    ],
)
def test_the_cost_of_several_servers(
    prices: Prices,
    gpus: tuple[str, ...],
    replicas: int,
    per_node: int | None,
    amount: str | None,
    basis: str,
) -> None:
    used = Resources(gpus=gpus, cores=8, memory_gb=10 * GB)
    cost = fleet_for(prices, used, replicas, per_node=per_node).cost(replicas)

    assert cost.amount == (None if amount is None else Decimal(amount))
    assert cost.basis == basis


@pytest.mark.parametrize(
    ("hourly", "per_second", "cost"),
    [
        # by hand: 0.90 / 3600 / 100 * 10^6
        ("0.90", 100.0, "2.50"),
        ("3.67", 1274.3, "0.80"),
        ("0.10", 0.5, "55.56"),
        ("12", 33.333, "100.00"),
        ("0.01", 7.0, "0.40"),
        # half a cent is rounded up, whatever a binary number makes of it
        ("0.018", 1000.0, "0.01"),
        ("3.6018", 1000.0, "1.00"),
        ("3.618", 1000.0, "1.01"),
        ("1.2393", 100.0, "3.44"),
        ("0.000001", 1e-9, "277777.78"),
    ],
)
def test_the_cost_of_a_million_is_exact_to_the_cent(
    hourly: str, per_second: float, cost: str
) -> None:
    exact = cost_per_million(Decimal(hourly), per_second)

    assert exact is not None
    assert in_cents(exact) == Decimal(cost)


def test_nothing_per_second_costs_nothing_that_is_known() -> None:
    assert cost_per_million(Decimal(1), 0.0) is None


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("1234567.885", "1 234 567.89 EUR"), ("0.1", "0.10 EUR"), ("0.0125", "0.012 EUR"),
        ("0.000041", "0.000041 EUR"), ("0", "0.00 EUR"), ("2.5", "2.50 EUR"),
    ],
)  # fmt: skip
def test_amounts_are_shown_to_the_cent_and_small_ones_with_two_digits(
    amount: str, text: str
) -> None:
    assert money(Decimal(amount), "EUR") == text


def test_the_cheapest_is_the_lowest_known_amount() -> None:
    assert cheapest([None, Decimal(2), Decimal(1)]) == 2
    assert cheapest([Decimal(1), Decimal(1)]) == 0
    assert cheapest([None]) is None
