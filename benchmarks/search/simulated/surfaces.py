# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The sets of simulated surfaces: the draws of all families, free and within constraints.

No formula of a search is in the simulation, nor of machine.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any
from zlib import crc32

import numpy as np

from benchmarks.search.draws import drawn_noise
from benchmarks.search.families import SurfaceSet
from benchmarks.search.machine import Setting
from benchmarks.search.simulated.families import DRAWS, FAMILIES, Draw
from benchmarks.search.simulated.limits import LIMITS
from benchmarks.search.simulated.simulator import Simulator
from benchmarks.search.simulated.source import simulated
from benchmarks.search.surface import THROUGHPUT, Surface, ensemble, single
from model_analyzer.domain.trials import LoadKind

# Draws have two kinds of constraints each, and take turns.
_KINDS = tuple(LIMITS)

# What seeds the draws of a set, beside the family and the number.
_DRAWN = {SurfaceSet.TUNING: (), SurfaceSet.REPORTING: (1,)}


def simulated_surfaces(
    simulator: Simulator,
    which: SurfaceSet,
    is_wanted: Callable[[str], bool] = lambda name: True,
) -> Iterator[Surface]:
    """The surfaces of a set that are wanted by their names, always the same: each draw free, and
    within constraints that 5 to 10 % of its points meet. Only servers of these are simulated.

    Raises NoSimulatorError.
    """
    for index, (family, number) in enumerate(product(FAMILIES, range(DRAWS))):
        name = f"{family}-{number}"
        kinds = [_KINDS[(2 * index + turn) % len(_KINDS)] for turn in range(2)]
        names = [name, *(f"{name}-{kind}" for kind in kinds)]
        if not any(map(is_wanted, names)):
            continue
        free = drawn(family, number, which, simulator)
        limited = [LIMITS[kind](free) for kind in kinds]
        for name, surface in zip(names, [free, *limited], strict=True):
            if is_wanted(name):
                yield replace(surface, name=name)


def drawn(family: str, number: int, which: SurfaceSet, simulator: Simulator) -> Surface:
    """A draw of a family as a surface, without constraints. Raises NoSimulatorError."""
    random = np.random.default_rng([crc32(family.encode()), number, *_DRAWN[which]])
    draw = FAMILIES[family](random, number)
    axes = dict.fromkeys(draw.server.stages, draw.grid.axis)
    parts = [single(name) for name in axes]
    facts = parts[0] if len(parts) == 1 else ensemble("pipeline", parts)
    as_they_come = Setting(instances=1, batch_limit=8, forms_batches=False)
    chosen = product(*(axis.settings() for axis in axes.values()))
    settings = [
        dict.fromkeys(axes, as_they_come),
        *(dict(zip(axes, each, strict=True)) for each in chosen),
    ]
    return Surface(
        name=f"{family}-{number}",
        family=family,
        facts=(facts,),
        options=_options(facts.name, draw),
        axes=axes,
        loads=draw.grid.loads,
        source=simulated(draw.server, settings, draw.grid.loads, simulator),
        noise=drawn_noise(random),
        load_kind=_load_kind(draw),
    )


def _load_kind(draw: Draw) -> LoadKind:
    return LoadKind.REQUEST_RATE if draw.server.open_loop else LoadKind.CONCURRENCY


def _options(model: str, draw: Draw) -> Mapping[str, Any]:
    grid = draw.grid
    kind = _load_kind(draw).value
    options: dict[str, Any] = {
        "model_repository": "/models",
        "profile_models": {model: {"cpu_only": True}},
        "objectives": {THROUGHPUT: 1},
        "run_config_search_max_instance_count": grid.instances,
        "run_config_search_max_model_batch_size": grid.batch_limits[-1],
        f"run_config_search_min_{kind}": grid.loads[0],
        f"run_config_search_max_{kind}": grid.loads[-1],
    }
    if len(grid.delays_us) > 1:
        options["profile_models"][model]["model_config_parameters"] = {
            "max_batch_size": list(grid.batch_limits),
            "instance_group": [{"kind": "KIND_CPU", "count": list(range(1, grid.instances + 1))}],
            "dynamic_batching": {"max_queue_delay_microseconds": list(grid.delays_us)},
        }
    return options
