# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Energy from counters: exact, or unknown, and never 0 for something unknown; metrics that follow
from measured ones: costs, and the energy of idle GPUs.

Costs of servers and inferences: exact to the cent, or unknown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

import pytest

from model_analyzer.domain.costs import (
    Efficiency,
    NodeType,
    Prices,
    Resources,
    cheapest,
    cost_per_million,
    energy_per_inference,
    fleet_for,
    hourly_cost,
    in_cents,
    metered_power,
    money,
    power_during,
    with_metered_power,
)
from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.measurements import CounterReading, Measurement, ModelMeasurement, Values
from model_analyzer.domain.trials import ServerSetup
from tests.unit.builders import measurement, together, trial


@pytest.mark.parametrize(
    ("readings", "power"),
    [
        ([(0.0, {"a": 100.0}), (10.0, {"a": 1100.0})], {"a": 100.0}),
        ([(5.0, {"a": 1.0, "b": 0.0}), (7.0, {"a": 3.0, "b": 1.0})], {"a": 1.0, "b": 0.5}),
        # what happens in between does not matter: only the first and the last reading count
        ([(0.0, {"a": 0.0}), (1.0, {"a": 90.0}), (2.0, {"a": 100.0})], {"a": 50.0}),
        # unknown: the counter stood still, fell, is missing, or was read once
        ([(0.0, {"a": 7.0}), (2.0, {"a": 7.0})], {}),
        ([(0.0, {"a": 7.0}), (2.0, {"a": 6.0})], {}),
        ([(0.0, {"a": 7.0}), (1.0, {"a": 1.0}), (2.0, {"a": 9.0})], {}),
        ([(0.0, {"a": 7.0}), (1.0, {}), (2.0, {"a": 9.0})], {}),
        ([(0.0, {}), (2.0, {"a": 9.0})], {}),
        ([(0.0, {"a": 7.0})], {}),
        ([(3.0, {"a": 7.0}), (3.0, {"a": 9.0})], {}),
        ([], {}),
    ],
)
def test_metered_power(readings: Sequence[CounterReading], power: Mapping[str, float]) -> None:
    assert metered_power(readings) == power


def load(*, begin: float, end: float, until: float, phase: float) -> Sequence[CounterReading]:
    """Readings every 0.02 s of a GPU that takes 120 W, and 470 W from `begin` to `end`; it updates
    its counter every 0.1 s, first after `phase`.
    """

    def joules(time_s: float) -> float:
        return 120 * time_s + 350 * min(max(time_s - begin, 0.0), end - begin)

    readings = []
    for number in range(round(until / 0.02) + 1):
        time_s = 0.02 * number
        updates = (time_s - phase) // 0.1
        readings.append((time_s, {"a": joules(phase + 0.1 * updates)}))
    return readings


@pytest.mark.parametrize("phase", [0.001, 0.02, 0.04, 0.06, 0.08, 0.099])
@pytest.mark.parametrize("seconds", [0.36, 1.2])
def test_a_short_load_has_its_power_whenever_the_counter_is_updated(
    phase: float, seconds: float
) -> None:
    """A first look: perf_analyzer takes 0.15 s to start, and some time to end."""
    end = 0.15 + seconds
    readings = load(begin=0.15, end=end, until=end + 0.1, phase=phase)

    # a reading every 0.02 s places an update to 0.01 s
    error = 0.02 / (seconds - 0.2)
    assert power_during(readings, (0.15, end))["a"] == pytest.approx(470, rel=error)
    assert metered_power(readings)["a"] < 0.9 * 470, "with the time before and after it"


def test_power_is_that_of_all_readings_if_the_time_is_too_short_or_another_one() -> None:
    readings = load(begin=0.2, end=1.2, until=1.4, phase=0.03)
    gpus = {"a": {"gpu_power_usage": 215.9}}
    whole = {"a": {"gpu_power_usage": 215.9, "gpu_metered_power": 370.0}}

    for during in (None, (0.5, 0.55), (1e9, 1e9 + 1)):
        observed = with_metered_power(gpus, readings, during)
        assert observed["a"] == pytest.approx(whole["a"], rel=0.06)
    exact = with_metered_power(gpus, readings, (0.2, 1.2))
    assert exact["a"] == pytest.approx(
        {"gpu_power_usage": 470.0, "gpu_metered_power": 470.0}, rel=0.06
    )


def test_a_gpu_without_a_counter_keeps_its_sampled_power() -> None:
    gpus = {"MIG-1": {"gpu_used_memory": 1.0}, "b": {"gpu_power_usage": 80.0}}
    assert with_metered_power(gpus, [(0.0, {}), (1.0, {})], (0.0, 1.0)) == gpus
    assert with_metered_power(gpus, (), (0.0, 1.0)) == gpus


@pytest.mark.parametrize(
    ("powers", "throughputs", "joules"),
    [
        ([300.0], [150.0], 2.0),
        ([300.0, 150.0], [150.0], 3.0),
        ([300.0], [100.0, 50.0], 2.0),  # of any of the models
        ([300.0, None], [150.0], None),  # one GPU is unknown
        ([], [150.0], None),
        ([300.0], [0.0], None),
    ],
)
def test_energy_per_inference(
    powers: Sequence[float | None], throughputs: Sequence[float], joules: float | None
) -> None:
    gpus = {
        str(index): {"gpu_power_usage": 1.0}
        | ({} if power is None else {"gpu_metered_power": power})
        for index, power in enumerate(powers)
    }
    models = [ModelMeasurement(values={"perf_throughput": value}) for value in throughputs]

    assert energy_per_inference(gpus, models) == joules


PRICES = Prices(
    currency="EUR",
    date="2026-11-25",
    gpus={"NVIDIA L4": Decimal("0.60")},
    cpu_core=Decimal("0.05"),
    memory_gb=Decimal("0.01"),
)
ON_GPU = trial(setup=ServerSetup(devices=("NVIDIA L4",)))
IDLE: Values = {"gpu_metered_power": 30.0}


def efficiency(prices: Prices | None = PRICES, **server_only: Values) -> Efficiency:
    return Efficiency(prices, cores=8, server_only=server_only)


def values(measured: Measurement, by: Efficiency) -> Values:
    """What is added."""
    completed = by.completed(ON_GPU, measured)
    assert replace(completed, host=measured.host) == measured
    return {tag: value for tag, value in completed.host.items() if tag not in measured.host}


def test_costs_follow_from_gpus_cores_and_memory() -> None:
    measured = measurement(250, host={"cpu_used_ram": 10_000.0}, output_token_throughput=5000.0)

    costs = values(measured, efficiency())

    hourly = 0.60 + 8 * 0.05 + 10 * 0.01
    assert costs == {
        "cost_per_million_inferences": pytest.approx(hourly / 3600 / 250 * 1e6),
        "cost_per_million_tokens": pytest.approx(hourly / 3600 / 5000 * 1e6),
    }


def test_the_cores_are_those_of_the_machine_that_measured() -> None:
    measured = measurement(250, host={"cpu_used_ram": 10_000.0})
    by = efficiency()

    assert by.resources(ON_GPU, measured).cores == 8
    elsewhere = replace(measured, machine=Machine(host="node-2", cores=16))
    assert by.resources(ON_GPU, elsewhere).cores == 16


def test_the_cores_of_a_remote_server_are_unknown() -> None:
    remote = trial(setup=ServerSetup(launch="remote"))
    measured = measurement(250)

    for each in (measured, replace(measured, machine=Machine(host="10.0.0.7:8001"))):
        assert efficiency().resources(remote, each).cores is None


def test_several_models_share_the_cost_of_their_server() -> None:
    measured = replace(
        together({"perf_throughput": 100.0}, {"perf_throughput": 150.0}),
        host={"cpu_used_ram": 10_000.0},
    )

    assert values(measured, efficiency())["cost_per_million_inferences"] == pytest.approx(
        1.1 / 3600 / 250 * 1e6
    )


@pytest.mark.parametrize(
    "measured",
    [
        pytest.param(measurement(250), id="memory has a price, but was not measured"),
        pytest.param(measurement(0.0, host={"cpu_used_ram": 1.0}), id="nothing was answered"),
        pytest.param(measurement(None, host={"cpu_used_ram": 1.0}), id="no throughput"),
    ],
)
def test_an_unknown_cost_has_no_value(measured: Measurement) -> None:
    assert values(measured, efficiency()) == {}


def test_without_prices_nothing_is_added() -> None:
    measured = measurement(250, host={"cpu_used_ram": 10_000.0})

    assert efficiency(None).completed(ON_GPU, measured) is measured


def test_the_idle_part_of_the_energy_is_that_of_the_gpus_in_use() -> None:
    measured = measurement(100, gpus={"GPU-1": {"gpu_metered_power": 75.0}})
    both = replace(measured, gpus={**measured.gpus, "GPU-2": {"gpu_metered_power": 75.0}})
    by = efficiency(None, **{"GPU-1": IDLE, "GPU-2": IDLE})

    assert values(measured, by) == {"idle_energy_per_inference": pytest.approx(0.3)}
    assert values(both, by) == {"idle_energy_per_inference": pytest.approx(0.6)}


def test_an_unknown_idle_part_has_no_value() -> None:
    measured = measurement(100, gpus={"GPU-1": {"gpu_metered_power": 75.0}})

    assert values(measured, efficiency(None, **{"GPU-2": IDLE})) == {}
    assert values(measured, efficiency(None, **{"GPU-1": {}, "GPU-2": IDLE})) == {}
    assert values(measurement(100), efficiency(None, **{"GPU-1": IDLE})) == {}


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
