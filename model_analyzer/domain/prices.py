# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Prices of hardware, and what they say about a server: its cost per hour and per inference.

Amounts are decimal numbers, exact as the user wrote them. What has no price is unknown, never free.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal

from model_analyzer.domain.models import empty
from model_analyzer.domain.words import counted

COST_PER_MILLION_INFERENCES = "cost_per_million_inferences"
COST_PER_MILLION_TOKENS = "cost_per_million_tokens"

# Each cost, and the throughput that it is divided by.
COSTS: Mapping[str, str] = {
    COST_PER_MILLION_INFERENCES: "perf_throughput",
    COST_PER_MILLION_TOKENS: "output_token_throughput",
}

_HOUR_S, _MILLION = 3600, 1_000_000
_CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeType:
    """A machine that can be rented as a whole, for a `price` per hour, and what it has: GPUs by
    name with their number, CPU cores, and memory in GB (None: not stated).
    """

    name: str
    price: Decimal
    gpus: Mapping[str, int] = field(default_factory=empty)
    cores: int | None = None
    memory_gb: Decimal | None = None

    def replicas(self, used: Resources) -> int:
        """How many servers that use these resources fit on it.

        GPUs decide. Without GPUs, cores decide, and memory if both are known; a node with GPUs is
        not rented for them.
        """
        needed = Counter(map(str.casefold, used.gpus))
        present = {name.casefold(): count for name, count in self.gpus.items()}
        if needed:
            return min(present.get(name, 0) // count for name, count in needed.items())
        if present or self.cores is None or not used.cores:
            return 0
        fitting = [Decimal(self.cores // used.cores)]
        if self.memory_gb is not None and used.memory_gb:
            fitting.append(self.memory_gb // used.memory_gb)
        return int(min(fitting))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices per hour, in a `currency`, of a `date`: of GPUs by the name that the driver gives them
    (with the MIG profile), of a CPU core, of a GB (10^9 bytes) of memory, and of whole nodes. None:
    no price of its own.
    """

    currency: str
    date: str
    gpus: Mapping[str, Decimal] = field(default_factory=empty)
    cpu_core: Decimal | None = None
    memory_gb: Decimal | None = None
    nodes: tuple[NodeType, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """What a server uses: GPUs by name, CPU cores and memory in GB (None: unknown)."""

    gpus: tuple[str, ...] = ()
    cores: int | None = None
    memory_gb: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HourlyCost:
    """What a server costs in an hour; `amount` is None if it is unknown. `basis` says what the
    amount is made of, or why it is unknown.
    """

    amount: Decimal | None
    basis: str


def hourly_cost(prices: Prices, used: Resources) -> HourlyCost:
    """The cost of a server that uses these resources: its share of the cheapest node type that has
    them, or else the sum of their own prices.

    A kind of resource without any price counts as included in the price of the others.
    """
    shares = [(node.price / count, node, count) for node, count in _fitting(prices, used, None)]
    if not shares:
        return _by_parts(prices, used)
    amount, node, count = min(shares, key=lambda share: share[0])
    part = "" if count == 1 else f", of which {counted(count, 'replica')} share one"
    return HourlyCost(amount=amount, basis=f"node {node.name}{part}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """How several servers are rented: `on_each` of them on a unit, which costs `price` an hour.
    `unit` is the name of the node, or what the price is made of; if it is unknown (None), why.
    """

    price: Decimal | None
    on_each: int
    unit: str
    is_node: bool

    def amount(self, servers: int) -> Decimal | None:
        """The price of an hour of so many servers: whole units are rented."""
        return None if self.price is None else self._units(servers) * self.price

    def cost(self, servers: int) -> HourlyCost:
        """The same, with what it is made of."""
        basis, units = self.unit, self._units(servers)
        if self.is_node:
            basis = f"{counted(units, 'node')} {self.unit}"
        elif self.price is not None:
            basis = f"{units} x ({self.unit})"
        return HourlyCost(amount=self.amount(servers), basis=basis)

    def _units(self, servers: int) -> int:
        return -(-servers // self.on_each)


def fleet_for(
    prices: Prices, used: Resources, servers: int, *, per_node: int | None = None
) -> Fleet:
    """The cheapest way to rent so many servers: whole nodes of one type, or else their parts. A
    node has at most `per_node` servers; None: as many as fit. Without GPUs it has exactly so many:
    a server was measured with all cores of its machine, and may need fewer.
    """
    fleets = [
        Fleet(price=node.price, on_each=count, unit=node.name, is_node=True)
        for node, count in _fitting(prices, used, per_node)
    ]
    if fleets:
        return min(fleets, key=lambda fleet: fleet.amount(servers) or Decimal())
    single = _by_parts(prices, used)
    return Fleet(price=single.amount, on_each=1, unit=single.basis, is_node=False)


def _fitting(
    prices: Prices, used: Resources, per_node: int | None
) -> Iterator[tuple[NodeType, int]]:
    """The node types that have the resources, with the servers on each."""
    for node in prices.nodes:
        count = node.replicas(used)
        if count:
            limit = per_node or count
            yield node, min(limit, count) if used.gpus else limit


def _by_parts(prices: Prices, used: Resources) -> HourlyCost:
    """The sum of the prices of all resources."""
    missing = next(_without_price(prices, used), None)
    if missing is not None:
        return HourlyCost(amount=None, basis=missing)
    parts = [*_parts(prices, used)]
    return HourlyCost(
        amount=sum((price for price, _ in parts), Decimal()),
        basis=" + ".join(text for _, text in parts),
    )


def _without_price(prices: Prices, used: Resources) -> Iterator[str]:
    """Why the resources have no price, if they have none."""
    known = set(map(str.casefold, prices.gpus))
    for name in dict.fromkeys(used.gpus):
        if name.casefold() not in known:
            yield f"no price of {name}"
    if not used.gpus and prices.cpu_core is None:
        yield "no price of a CPU core, and of no node type with enough cores"
    if prices.cpu_core is not None and used.cores is None:
        yield "the number of cores is unknown"
    if prices.memory_gb is not None and used.memory_gb is None:
        yield "the memory was not measured (--collect-cpu-metrics)"


def _parts(prices: Prices, used: Resources) -> Iterator[tuple[Decimal, str]]:
    """The price of each kind of resource, with its name."""
    by_name = {name.casefold(): price for name, price in prices.gpus.items()}
    for name, count in Counter(used.gpus).items():
        yield count * by_name[name.casefold()], f"{count} x {name}"
    if prices.cpu_core is not None and used.cores is not None:
        yield used.cores * prices.cpu_core, counted(used.cores, "core")
    if prices.memory_gb is not None and used.memory_gb is not None:
        yield used.memory_gb * prices.memory_gb, f"{used.memory_gb:f} GB"


def cost_per_million(hourly: Decimal, per_second: float) -> Decimal | None:
    """The cost of a million (inferences, tokens) at so many per second; None if there are none."""
    if per_second <= 0:
        return None
    return hourly * _MILLION / (_HOUR_S * Decimal(repr(per_second)))


def in_cents(amount: Decimal) -> Decimal:
    """The amount rounded to whole cents, half a cent up."""
    return amount.quantize(_CENT, rounding=ROUND_HALF_UP)


def money(amount: Decimal, currency: str) -> str:
    """An amount as text: to the cent, and smaller ones with two digits that count."""
    if amount and abs(amount) < Decimal("0.1"):
        return f"{amount.normalize():.2g} {currency}"
    return f"{in_cents(amount):,.2f} {currency}".replace(",", " ")


def cheapest(amounts: Sequence[Decimal | None]) -> int | None:
    """The index of the lowest known amount; None if all are unknown."""
    known = [(amount, index) for index, amount in enumerate(amounts) if amount is not None]
    return min(known)[1] if known else None
