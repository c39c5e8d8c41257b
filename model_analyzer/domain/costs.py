# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What inferences cost and use: prices of hardware, a server's cost per hour and per inference, and
the energy of GPUs, from counters that grow as they use it.

Amounts are decimal numbers, exact as the user wrote them. What has no price, or no value, is
unknown, never free. Metrics that follow from measured ones are not stored: prices change, and the
idle server may be observed later.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

from model_analyzer.domain.measurements import CounterReading, Measurement, ModelMeasurement, Values
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.models import empty
from model_analyzer.domain.settings import LaunchMode
from model_analyzer.domain.trials import Trial
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


METERED_POWER, ENERGY_PER_INFERENCE = "gpu_metered_power", "energy_per_inference"
_POWER = "gpu_power_usage"

# The time (s) and the value (J) of an energy counter.
_Point = tuple[float, float]


def with_metered_power(
    gpus: Mapping[str, Values],
    readings: Sequence[CounterReading],
    during: tuple[float, float] | None = None,
) -> Mapping[str, Values]:
    """The values of GPUs, with their metered power as far as it is known: that between the times
    `during`; if these are unknown or too close to each other, that of all readings.

    Between the times, it also replaces the sampled power: drivers report a mean of the last second,
    which is too low shortly after the load has begun.
    """
    exact = {} if during is None else power_during(readings, during)
    metered = {
        uuid: {METERED_POWER: round(watts, 3)}
        for uuid, watts in {**metered_power(readings), **exact}.items()
    }
    sampled = {uuid: {_POWER: round(watts, 1)} for uuid, watts in exact.items()}
    return {
        uuid: {**values, **metered.get(uuid, {}), **sampled.get(uuid, {})}
        for uuid, values in gpus.items()
    }


def metered_power(readings: Sequence[CounterReading]) -> Mapping[str, float]:
    """The mean power of each GPU in watts, by UUID, from readings in order of time.

    A GPU is left out if it has no counter (MIG, GPUs before Volta), if a reading lacks it, if its
    counter fell (the driver was loaded again, or the counter wrapped around), or if it stood still:
    no GPU uses nothing.
    """
    return _growth([(uuid, points[0], points[-1]) for uuid, points in _counters(readings)])


def power_during(
    readings: Sequence[CounterReading], during: tuple[float, float]
) -> Mapping[str, float]:
    """As `metered_power`, but between two times, in seconds.

    A GPU updates its counter only every 0.1 seconds or so. Reading it at a random moment misses up
    to an update at each end, a quarter of the energy of a short load: power is that from the first
    to the last update between the times. A GPU with fewer than two is left out.
    """
    begin, end = during
    updates = [
        (uuid, [point for point in _updates(points) if begin <= point[0] <= end])
        for uuid, points in _counters(readings)
    ]
    return _growth([(uuid, points[0], points[-1]) for uuid, points in updates if points])


def _counters(readings: Sequence[CounterReading]) -> Sequence[tuple[str, Sequence[_Point]]]:
    """The counters that are usable: known at each reading, never falling, and grown."""
    uuids = readings[0][1] if readings else ()
    return [
        (uuid, [(time_s, counters[uuid]) for time_s, counters in readings])
        for uuid in uuids
        if _grows([counters.get(uuid) for _, counters in readings])
    ]


def _updates(points: Sequence[_Point]) -> Sequence[_Point]:
    """The counter where it has grown: at an unknown time between two readings, so in the middle."""
    return [
        ((before_s + time_s) / 2, joules)
        for (before_s, before), (time_s, joules) in pairwise(points)
        if joules > before
    ]


def _growth(spans: Sequence[tuple[str, _Point, _Point]]) -> Mapping[str, float]:
    """The growth per second from a first to a last point, if the last one is later."""
    return {
        uuid: (last - first) / (last_s - first_s)
        for uuid, (first_s, first), (last_s, last) in spans
        if last_s > first_s
    }


def _grows(counter: Sequence[float | None]) -> bool:
    """Whether the counter is known at each reading, never falls, and has grown."""
    known = [value for value in counter if value is not None]
    is_known = len(known) == len(counter) and all(a <= b for a, b in pairwise(known))
    return is_known and known[0] < known[-1]


def energy_per_inference(
    gpus: Mapping[str, Values], models: Sequence[ModelMeasurement]
) -> float | None:
    """The energy of all GPUs for an inference of any model, in joules; None if it is unknown for
    one of the GPUs, or without a GPU.
    """
    power = total_power(gpus)
    throughput = sum(model.values.get("perf_throughput", 0.0) for model in models)
    return None if power is None or throughput <= 0 else power / throughput


def total_power(gpus: Mapping[str, Values]) -> float | None:
    """The metered power of all GPUs together; None if it is unknown for one, or without a GPU."""
    powers = [values.get(METERED_POWER) for values in gpus.values()]
    known = [power for power in powers if power is not None]
    if not known or len(known) < len(powers):
        return None
    return METRICS[METERED_POWER].over_gpus.apply(known)


IDLE_ENERGY_PER_INFERENCE = "idle_energy_per_inference"

# What reports show beside throughput and latency, where it is known.
EFFICIENCY = (*COSTS, ENERGY_PER_INFERENCE)

_MB_OF_A_GB = 1000


class Efficiency:
    """Completes measurements. `prices` are None if they are unknown. `cores` are those of the
    machine that measured what does not name its machine (None: unknown). `server_only` has the
    values of each GPU, by UUID, while the server has no models.
    """

    def __init__(
        self,
        prices: Prices | None,
        *,
        cores: int | None,
        server_only: Mapping[str, Values],
    ) -> None:
        self._prices = prices
        self._cores = cores
        self._server_only = server_only
        self._is_metered = any(METERED_POWER in values for values in server_only.values())

    def resources(self, trial: Trial, measurement: Measurement) -> Resources:
        """What the server used."""
        memory_mb = measurement.host.get("cpu_used_ram")
        return Resources(
            gpus=trial.setup.devices,
            cores=self._cores_of(trial, measurement),
            memory_gb=None if memory_mb is None else Decimal(repr(memory_mb)) / _MB_OF_A_GB,
        )

    def _cores_of(self, trial: Trial, measurement: Measurement) -> int | None:
        if measurement.machine is not None:
            return measurement.machine.cores
        return None if trial.setup.launch == LaunchMode.REMOTE.value else self._cores

    def completed(self, trial: Trial, measurement: Measurement) -> Measurement:
        """The measurement with these metrics, as far as they are known."""
        if self._prices is None and not self._is_metered:
            return measurement
        values = {**self._costs(trial, measurement), **self._idle_energy(measurement)}
        return replace(measurement, host={**measurement.host, **values}) if values else measurement

    def _costs(self, trial: Trial, measurement: Measurement) -> Values:
        if self._prices is None:
            return {}
        hourly = hourly_cost(self._prices, self.resources(trial, measurement)).amount
        if hourly is None:
            return {}
        costs = {
            tag: cost_per_million(hourly, per_second)
            for tag, throughput in COSTS.items()
            if (per_second := measurement.value(throughput)) is not None
        }
        return {tag: float(cost) for tag, cost in costs.items() if cost is not None}

    def _idle_energy(self, measurement: Measurement) -> Values:
        throughput = measurement.value("perf_throughput")
        if not throughput or not all(uuid in self._server_only for uuid in measurement.gpus):
            return {}
        power = total_power({uuid: self._server_only[uuid] for uuid in measurement.gpus})
        return {} if power is None else {IDLE_ENERGY_PER_INFERENCE: power / throughput}
