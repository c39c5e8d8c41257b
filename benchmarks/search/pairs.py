# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Adaptive searches in pairs: with one slot and with several, on the same surface and seed."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean, stdev

from benchmarks.search import drive
from benchmarks.search.families import is_constrained
from benchmarks.search.surface import Surface
from benchmarks.search.truth import Truth
from benchmarks.search.verdict import judge
from benchmarks.simulated_executor import SimulatedExecutor
from model_analyzer.domain.protocols import Runner
from model_analyzer.domain.slots import Slot
from model_analyzer.domain.trials import Trial

Seconds = Callable[[Trial, Slot], float]

# With a probability of 95 %, a mean is within so many standard errors.
_ERRORS = 1.96


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a search achieved: its `value` as in `Verdict`, with `wall_s` of virtual time."""

    value: float
    measurements: int
    wall_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """The results on a surface with one slot and with several."""

    surface: str
    constrained: bool
    seed: int
    slots: int
    single: Result
    several: Result


def run_pairs(
    chosen: Iterable[Surface],
    seeds: Sequence[int],
    slots: int,
    seconds: Callable[[int], Seconds],
    kept: Path | None = None,
) -> Iterator[Pair]:
    """A pair for each surface that has an answer and each seed; `seconds` gives the durations of
    trials, by seed. Pairs in the file `kept` are not run again; new ones are appended.
    """
    known = {(pair.surface, pair.seed, pair.slots): pair for pair in _read(kept)}
    for surface in chosen:
        truth = Truth(surface)
        for seed in seeds if truth.best.merit is not None else ():
            pair = known.get((surface.name, seed, slots))
            if pair is None:
                results = [_run(surface, truth, seed, each, seconds(seed)) for each in (1, slots)]
                single, several = results
                pair = Pair(
                    surface=surface.name,
                    constrained=is_constrained(surface),
                    seed=seed,
                    slots=slots,
                    single=single,
                    several=several,
                )
                _append(kept, pair)
            yield pair


def _run(surface: Surface, truth: Truth, seed: int, slots: int, seconds: Seconds) -> Result:
    executors: list[SimulatedExecutor] = []

    def executor(runner: Runner) -> SimulatedExecutor:
        executors.append(SimulatedExecutor(slots, lambda trial, _: runner.run(trial), seconds))
        return executors[0]

    run = drive.run(surface, "adaptive", seed, executor)
    assert run is not None, "the adaptive search supports all models"
    verdict = judge(surface, truth, "adaptive", seed, run)
    wall_s = executors[0].now_s - 1.0
    return Result(value=verdict.value or 0.0, measurements=verdict.measurements, wall_s=wall_s)


def _read(path: Path | None) -> Iterator[Pair]:
    if path is not None and path.exists():
        for line in path.read_text().splitlines():
            pair = json.loads(line)
            single, several = Result(**pair.pop("single")), Result(**pair.pop("several"))
            yield Pair(**pair, single=single, several=several)


def _append(path: Path | None, pair: Pair) -> None:
    if path is not None:
        with path.open("a") as file:
            file.write(json.dumps(asdict(pair)) + "\n")


def table(pairs: Sequence[Pair]) -> str:
    """The comparison of one slot with several, a row for each kind of surface."""
    lines = [
        "| surfaces | runs | one slot | several | difference | measurements | wall time |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    kinds = {
        "without constraints": [pair for pair in pairs if not pair.constrained],
        "with constraints": [pair for pair in pairs if pair.constrained],
        "all": pairs,
    }
    lines += [_row(kind, those) for kind, those in kinds.items() if those]
    return "\n".join(lines)


def _row(kind: str, pairs: Sequence[Pair]) -> str:
    single, several = [pair.single for pair in pairs], [pair.several for pair in pairs]
    difference, error = difference_of(pairs)
    measured = fmean(each.measurements for each in several) / fmean(
        each.measurements for each in single
    )
    wall = fmean(each.wall_s for each in several) / fmean(each.wall_s for each in single)
    return (
        f"| {kind} | {len(pairs)} | {fmean(each.value for each in single):.2%}"
        f" | {fmean(each.value for each in several):.2%}"
        f" | {100 * difference:+.2f} ± {100 * _ERRORS * error:.2f} points"
        f" | {measured:.2f} times | {wall:.3f} |"
    )


def difference_of(pairs: Iterable[Pair]) -> tuple[float, float]:
    """The mean gain in value by several slots, and its standard error (0 for a single surface).

    Runs on the same surface are not independent, so the error is that over surfaces.
    """
    gains = defaultdict(list)
    for pair in pairs:
        gains[pair.surface].append(pair.several.value - pair.single.value)
    means = [fmean(of_surface) for of_surface in gains.values()]
    error = stdev(means) / math.sqrt(len(means)) if len(means) > 1 else 0.0
    return fmean(means), error
