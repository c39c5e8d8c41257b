# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The sets of surfaces, by their names on the command line."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from benchmarks.search.families import SurfaceSet, surfaces
from benchmarks.search.plain import plain_surfaces
from benchmarks.search.recorded import recorded_surfaces
from benchmarks.search.simulated.simulator import NoSimulatorError, Simulator
from benchmarks.search.simulated.surfaces import simulated_surfaces
from benchmarks.search.surface import Surface
from model_analyzer.domain.secrets import cache_directory

HELP = (
    "tuning, reporting, plain-tuning, plain, simulated-tuning, simulated (servers simulated request"
    " by request; the first time it needs a C compiler, and minutes), or a directory of recordings"
)

_SIMULATED = {"simulated-tuning": SurfaceSet.TUNING, "simulated": SurfaceSet.REPORTING}
_PLAIN = {"plain-tuning": SurfaceSet.TUNING, "plain": SurfaceSet.REPORTING}


def surfaces_of(name: str, is_wanted: Callable[[str], bool] = lambda _: True) -> Sequence[Surface]:
    """The surfaces of a set with wanted names.

    Raises ValueError if there is no such set, if a recording has gaps, or without a simulator.
    """
    if name in _SIMULATED:
        return _simulated(_SIMULATED[name], is_wanted)
    if name in _PLAIN:
        return [surface for surface in plain_surfaces(_PLAIN[name]) if is_wanted(surface.name)]
    if name in [surface_set.value for surface_set in SurfaceSet]:
        drawn = surfaces(SurfaceSet(name))
        return [surface for surface in drawn if is_wanted(surface.name)]
    if not Path(name).is_dir():
        raise ValueError("neither a set nor a directory")
    return [surface for surface in recorded_surfaces(Path(name)) if is_wanted(surface.name)]


def _simulated(which: SurfaceSet, is_wanted: Callable[[str], bool]) -> Sequence[Surface]:
    try:
        simulator = Simulator(cache_directory(os.environ) / "search-laboratory", os.environ)
        return list(simulated_surfaces(simulator, which, is_wanted))
    except NoSimulatorError as error:
        raise ValueError(str(error)) from error
