# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Families of surfaces, and the two sets drawn from them: one to tune on, one to report on.

The sets have no draw in common, and each has families that the other does not have. Use only the
tuning set while you change a search; published numbers come from the reporting set.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any
from zlib import crc32

import numpy as np

from benchmarks.search.draws import Random, drawn_noise, log_uniform
from benchmarks.search.machine import Bump, Machine, Station, Tail
from benchmarks.search.surface import (
    MEMORY,
    P99,
    THROUGHPUT,
    Axis,
    Noise,
    Source,
    Surface,
    ensemble,
    single,
)
from benchmarks.search.truth import Truth
from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.trials import LoadKind
from model_analyzer.search.plan import doubling

Family = Callable[[Random], Surface]


class SurfaceSet(Enum):
    """Which draws."""

    TUNING = "tuning"
    REPORTING = "reporting"


# Numbers of draws. The first ten for reports are not used any more: they were used for tuning.
_NUMBERS = {SurfaceSet.TUNING: range(6), SurfaceSet.REPORTING: range(10, 12)}


def surfaces(which: SurfaceSet) -> Iterator[Surface]:
    """The surfaces of a set, always the same: each draw without constraints, and with constraints
    that 5 to 10 % of its points meet.
    """
    families = _TUNING if which is SurfaceSet.TUNING else _REPORTING
    for name, family in families.items():
        for number in _NUMBERS[which]:
            random = np.random.default_rng([crc32(f"{which.value} {name}".encode()), number])
            drawn = replace(family(random), name=f"{name}-{number}", family=name)
            if name == "none-feasible":
                yield _without_answer(drawn, random)
                continue
            yield from each_way(drawn, number, random)


def each_way(surface: Surface, number: int, random: Random) -> Iterator[Surface]:
    """A draw without constraints, and with two of the kinds of constraints, by its number."""
    yield surface
    for limited in _LIMITED[number % 2 :: 2]:
        yield limited(surface, random.uniform(0.05, 0.10))


def limited_ways(surface: Surface) -> Sequence[Callable[[Surface, float], Surface]]:
    """The kinds of constraints that a share of the points of a surface meets."""
    has_memory = len(set(Truth(surface).metric(MEMORY))) > 1
    return [way for way in _LIMITED if has_memory or way is not _small]


def is_constrained(surface: Surface) -> bool:
    return any(goal.constraints for goal in surface.goal.models)


# -- constraints: how a surface is limited to a share of its points ------------------------------


def _fast(surface: Surface, share: float) -> Surface:
    """Throughput within a tight p99: the few points with little load."""
    limit = Truth(surface).limit(P99, share)
    return replace(surface.within(limit), name=f"{surface.name}-fast")


def _productive(surface: Surface, share: float) -> Surface:
    """The lowest p99 with much throughput."""
    surface = replace(surface, options={**surface.options, "objectives": {P99: 1}})
    limit = Truth(surface).limit(THROUGHPUT, share)
    return replace(surface.within(limit), name=f"{surface.name}-productive")


def _small(surface: Surface, share: float) -> Surface:
    """Throughput within a p99 that many points meet, and a memory limit that few of them meet."""
    latency = Truth(surface).limit(P99, 4 * share)
    memory = Truth(surface.within(latency)).limit(MEMORY, share)
    return replace(surface.within(latency, memory), name=f"{surface.name}-small")


def _between(surface: Surface, share: float) -> Surface:
    """Throughput within a p99 that half of the points meet, and above a minimum throughput that few
    of them reach.
    """
    latency = Truth(surface).limit(P99, 0.5)
    least = Truth(surface.within(latency)).limit(THROUGHPUT, share)
    return replace(surface.within(latency, least), name=f"{surface.name}-between")


_LIMITED = (_fast, _productive, _small, _between)


def _without_answer(surface: Surface, random: Random) -> Surface:
    """A latency limit that no point meets, by a margin larger than the noise."""
    least = float(Truth(surface).metric(P99).min())
    return surface.within(Constraint(tag=P99, maximum=least * random.uniform(0.5, 0.75)))


# -- parts -------------------------------------------------------------------------------------


def _station(random: Random, **changes: Any) -> Station:
    base = log_uniform(random, 2, 12)
    item = base * log_uniform(random, 0.01, 0.2)
    drawn: Mapping[str, Any] = {
        "base_ms": base,
        "item_ms": item,
        "knee": 2 ** random.uniform(3, 6),
        "over_ms": item * random.uniform(0.2, 2),
        "eager": random.uniform(0.7, 1),
        "weights_mb": random.uniform(100, 900),
        "item_mb": random.uniform(0.5, 8),
    }
    return Station(**{**drawn, **changes})


def _machine(random: Random, stations: Mapping[str, Station], **changes: Any) -> Machine:
    drawn: Mapping[str, Any] = {
        "chains": (tuple(stations),),
        "slots": random.uniform(1.5, 4.5),
        "contention": random.uniform(0.02, 0.12),
        "client_ms": random.uniform(0.2, 1),
        "blend": random.uniform(0.93, 0.99),
        "tail": Tail(base=random.uniform(1.05, 1.3), loaded=random.uniform(0.2, 1.2)),
    }
    return Machine(stations=stations, **{**drawn, **changes})


def _one(random: Random, machine: Machine, **changes: Any) -> Surface:
    (name,) = machine.stations
    return one_model(random, name, machine, **changes)


def one_model(random: Random, name: str, source: Source, **changes: Any) -> Surface:
    """A surface with one model with this name, within the product's default bounds."""
    limits = doubling(1, 128)
    drawn: Mapping[str, Any] = {
        "name": "",
        "family": "",
        "facts": (single(name),),
        "options": _options([name], instances=5, batch=128, load=1024),
        "axes": {name: Axis(instances=range(1, 6), batch_limits=limits)},
        "loads": doubling(1, 1024),
        "source": source,
        "noise": drawn_noise(random),
    }
    return Surface(**{**drawn, **changes})


def _options(names: Sequence[str], *, instances: int, batch: int, load: int) -> Mapping[str, Any]:
    return {
        "model_repository": "/models",
        "profile_models": {name: {"cpu_only": True} for name in names},
        "objectives": {THROUGHPUT: 1},
        "run_config_search_max_instance_count": instances,
        "run_config_search_max_model_batch_size": batch,
        "run_config_search_max_concurrency": load,
    }


def _peak(surface: Surface) -> float:
    return float(Truth(surface).metric(THROUGHPUT).max())


# -- families ----------------------------------------------------------------------------------


def _batching(random: Random) -> Surface:
    return _one(random, _machine(random, {"batching": _station(random)}))


def _contention(random: Random) -> Surface:
    """More instances cost nearly as much as they gain, or more."""
    station = _station(random, eager=1.0)
    machine = _machine(
        random, {"contended": station},
        slots=random.uniform(1, 2.2), contention=random.uniform(0.15, 0.5),
    )  # fmt: skip
    return _one(random, machine)


def _memory_wall(random: Random) -> Surface:
    """A quarter to a half of the variants do not load: the large ones, which are often the best."""
    station = _station(
        random, weights_mb=random.uniform(400, 1500), item_mb=random.uniform(10, 40), knee=1e9
    )
    machine = _machine(random, {"large": station}, slots=random.uniform(3, 6))
    sizes = [
        machine.fixed_mb + station.memory_mb(setting)
        for setting in Axis(instances=range(1, 6), batch_limits=doubling(1, 128)).settings()
    ]
    wall = float(np.quantile(sizes, random.uniform(0.5, 0.75)))
    return _one(random, replace(machine, memory_mb=wall))


def _two_peaks(random: Random) -> Surface:
    """Small and large batches are fast, medium ones are slow; also for some instance counts."""
    bumps = (
        Bump(centre=random.uniform(0.5, 2), width=0.9, gain=random.uniform(0.6, 1.6)),
        Bump(centre=random.uniform(5, 6.5), width=0.8, gain=random.uniform(0.3, 1.0)),
    )
    counts = (Bump(centre=random.choice([0, 1, 2]), width=0.3, gain=random.uniform(0.1, 0.4)),)
    item = random.uniform(0.2, 0.5)
    station = _station(random, bumps=bumps, instance_bumps=counts, item_ms=item, base_ms=4 * item)
    return _one(random, _machine(random, {"peaks": station}))


def _plateau(random: Random) -> Surface:
    """A limit outside the model, such as the network, makes many points equally good."""
    surface = _one(random, _machine(random, {"capped": _station(random)}, blend=0.995))
    ceiling = _peak(surface) * random.uniform(0.3, 0.6)
    assert isinstance(surface.source, Machine)
    return replace(surface, source=replace(surface.source, ceiling=ceiling))


def _tails(random: Random) -> Surface:
    """p99 is a multiple of the mean as soon as the machine is busy."""
    tail = Tail(base=1.08, loaded=random.uniform(3, 10), power=random.uniform(4, 12))
    return _one(random, _machine(random, {"tails": _station(random)}, tail=tail))


def _noisy(random: Random) -> Surface:
    surface = _batching(random)
    return replace(surface, noise=Noise(sigma=0.05, outliers=0.03))


def _request_rate(random: Random) -> Surface:
    """The load is a request rate: the client does not wait for responses."""
    machine = _machine(random, {"rated": _station(random)})
    options = dict(_options(["rated"], instances=5, batch=128, load=1024))
    del options["run_config_search_max_concurrency"]
    options["request_rate_search_enable"] = True
    loads = doubling(16, 8192)
    return _one(random, machine, options=options, loads=loads, load_kind=LoadKind.REQUEST_RATE)


def _delays(random: Random) -> Surface:
    """Batches fill only with a queue delay, which is one of the listed fields."""
    delays, counts, limits = (0, 200, 1000, 5000), (1, 2, 3, 4), (4, 8, 16, 32, 64)
    station = _station(random, eager=random.uniform(0.15, 0.5))
    machine = _machine(random, {"delayed": station})
    options = dict(_options(["delayed"], instances=5, batch=128, load=1024))
    options["profile_models"] = {
        "delayed": {
            "cpu_only": True,
            "model_config_parameters": {
                "max_batch_size": limits,
                "instance_group": [{"kind": "KIND_CPU", "count": counts}],
                "dynamic_batching": {"max_queue_delay_microseconds": delays},
            },
        }
    }
    axes = {"delayed": Axis(instances=counts, batch_limits=limits, delays_us=delays)}
    return _one(random, machine, options=options, axes=axes)


def _thrash(random: Random) -> Surface:
    """Throughput falls with too many requests in flight."""
    station = _station(random)
    return _one(
        random, _machine(random, {"thrashed": station}, thrash=log_uniform(random, 16, 200))
    )


def _fading(random: Random) -> Surface:
    """Above some load, each doubling of the load costs a little throughput."""
    changes = {"fades": random.uniform(0.03, 0.15), "fades_above": log_uniform(random, 8, 300)}
    return _one(random, _machine(random, {"faded": _station(random)}, **changes))


def _overload(random: Random) -> Surface:
    """Above some load, requests fail."""
    station = _station(random)
    most = log_uniform(random, 40, 400)
    return _one(random, _machine(random, {"brittle": station}, most_in_flight=most))


def _cliff(random: Random) -> Surface:
    """One batch size fits into a cache: a narrow peak, and a steep rise of the cost above it."""
    edge = random.integers(2, 6)
    item = random.uniform(0.05, 0.3)
    station = _station(
        random, item_ms=item, knee=2.0**edge, over_ms=item * random.uniform(3, 8),
        bumps=(Bump(centre=float(edge), width=0.5, gain=random.uniform(0.2, 0.6)),),
    )  # fmt: skip
    return _one(random, _machine(random, {"cached": station}))


def _ensemble(random: Random, *, parts: int, instances: int, batch: int) -> Surface:
    """A pipeline with one step, at any position, as the bottleneck."""
    slow = int(random.integers(parts))
    stations = {}
    for index in range(parts):
        drawn = _station(random, eager=1.0)
        pace = random.uniform(2, 5) if index == slow else 1.0
        stations[f"part{index}"] = replace(
            drawn, base_ms=drawn.base_ms * pace, item_ms=drawn.item_ms * pace
        )
    facts = [single(name) for name in stations]
    axis = Axis(instances=range(1, instances + 1), batch_limits=doubling(1, batch))
    machine = _machine(random, stations, slots=random.uniform(2.5, 6))
    return Surface(
        name="",
        family="",
        facts=(ensemble("pipeline", facts),),
        options=_options(["pipeline"], instances=instances, batch=batch, load=1024),
        axes=dict.fromkeys(stations, axis),
        loads=doubling(1, 1024),
        source=machine,
        noise=drawn_noise(random),
    )


def _two_parts(random: Random) -> Surface:
    return _ensemble(random, parts=2, instances=3, batch=16)


def _three_parts(random: Random) -> Surface:
    return _ensemble(random, parts=3, instances=2, batch=8)


def _two_models(random: Random) -> Surface:
    """Two models measured together, which share the machine and slow each other down."""
    stations = {name: _station(random) for name in ("first", "second")}
    facts: tuple[ModelFacts, ...] = tuple(single(name) for name in stations)
    machine = _machine(random, stations, chains=(("first",), ("second",)))
    options = {
        **_options([*stations], instances=2, batch=16, load=64),
        "run_config_profile_models_concurrently_enable": True,
    }
    axis = Axis(instances=(1, 2), batch_limits=doubling(1, 16))
    return Surface(
        name="",
        family="",
        facts=facts,
        options=options,
        axes=dict.fromkeys(stations, axis),
        loads=doubling(1, 64),
        source=machine,
        noise=drawn_noise(random),
    )


_BOTH: Mapping[str, Family] = {
    "batching": _batching,
    "contention": _contention,
    "memory-wall": _memory_wall,
    "two-peaks": _two_peaks,
    "plateau": _plateau,
    "tails": _tails,
    "noisy": _noisy,
    "none-feasible": _batching,
}
_TUNING: Mapping[str, Family] = {
    **_BOTH,
    "request-rate": _request_rate,
    "queue-delay": _delays,
    "ensemble-2": _two_parts,
    "fading": _fading,
}
_REPORTING: Mapping[str, Family] = {
    **_BOTH,
    "request-rate": _request_rate,
    "queue-delay": _delays,
    "thrash": _thrash,
    "overload": _overload,
    "cliff": _cliff,
    "ensemble-3": _three_parts,
    "two-models": _two_models,
}
