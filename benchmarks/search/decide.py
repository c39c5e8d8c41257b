# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The time that an adaptive search needs to decide on a trial, by the number of measurements.

    python benchmarks/search/decide.py --counts 50 200 2000

Measures random trials on surfaces of the tuning set, and then some trials that the search chooses.
It times these decisions, in this process and with one thread for linear algebra.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from benchmarks.search.families import SurfaceSet, surfaces
from benchmarks.search.machine import Point
from benchmarks.search.surface import Surface
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import SearchMode
from model_analyzer.search.adaptive.encoding import DEFAULT
from model_analyzer.search.adaptive.knowledge import Knowledge
from model_analyzer.search.modes.adaptive import LOAD_STEPS
from model_analyzer.search.plan import LearningPlan, PlannedSearch
from model_analyzer.search.trial_map import Coordinate, TrialMap


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--counts", type=int, nargs="+", default=[50, 200, 2000])
    options.add_argument("--surfaces", nargs="+", default=["batching-0", "tails-0-fast"])
    options.add_argument("--decisions", type=int, default=15, help="number of timed decisions")
    arguments = options.parse_args()
    drawn = {surface.name: surface for surface in surfaces(SurfaceSet.TUNING)}
    for name in arguments.surfaces:
        for count in arguments.counts:
            times_s = decision_times(drawn[name], count, arguments.decisions)
            spent = [1000 * time_s for time_s in times_s]
            print(
                f"{name}, {count} measurements: median {statistics.median(spent):.0f} ms,"
                f" longest {max(spent):.0f} ms",
                flush=True,
            )


def decision_times(surface: Surface, count: int, decisions: int) -> list[float]:
    """The seconds for each decision, after `count` measurements."""
    settings = surface.settings(SearchMode.ADAPTIVE)
    subject = surface.subject(settings)
    trial_map = TrialMap(subject, settings.search, use_formula=False, load_steps=LOAD_STEPS)
    knowledge = Knowledge(subject, trial_map, VariantNames(), seed=0)
    _measure(knowledge, DEFAULT, surface)
    random = np.random.default_rng(0)
    sizes = [len(dimension.values) for dimension in trial_map.space.dimensions]
    while len(knowledge.records) < count:
        coordinate = tuple(int(index) for index in random.integers(0, sizes))
        if not knowledge.attempts(coordinate) and trial_map.is_legal(coordinate):
            _measure(knowledge, coordinate, surface)
    times_s = []
    # the first decision is different: it learns from all measurements at once
    for _ in range(decisions + 1):
        began = time.perf_counter()
        candidate = knowledge.best_candidate()
        times_s.append(time.perf_counter() - began)
        if candidate is None:
            break
        _measure(knowledge, candidate.coordinate, surface)
    return times_s[1:]


def _measure(knowledge: Knowledge, coordinate: Coordinate, surface: Surface) -> None:
    search = PlannedSearch(_alone(knowledge, coordinate), 1)
    trial = search.ask()
    assert trial is not None
    search.tell(trial, surface.measure(Point.of(trial), 0, trial.repetition))


def _alone(knowledge: Knowledge, coordinate: Coordinate) -> LearningPlan:
    yield from knowledge.measure(coordinate)
    return None


if __name__ == "__main__":
    main()
