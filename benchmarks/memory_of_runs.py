# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How many measurements an adaptive search saves by what other runs taught.

    python benchmarks/memory_of_runs.py --set tuning --jobs 2

Each surface is searched without knowledge and, with the same seed, with the checkpoints of donors:
`sibling` (the same model on two other machines), `family` (three other draws of its family),
`others` (a draw of each other family), `misleading` (of these, the one whose best configuration
is the worst for this surface). A search needs as many measurements as it has made when the
recommendation by its measurements first has 99 % of the best value, and 24 if it never has.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatch
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from statistics import fmean
from zlib import crc32

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.search import drive
from benchmarks.search.draws import log_uniform
from benchmarks.search.families import SurfaceSet, surfaces
from benchmarks.search.machine import Client, Machine, Point, Station
from benchmarks.search.surface import P99, THROUGHPUT, Surface
from benchmarks.search.truth import Truth, of_metric
from benchmarks.search.verdict import value_of
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.trials import Trial
from model_analyzer.results.ranking import rank
from model_analyzer.search.adaptive.donors import donors_among, foretell
from model_analyzer.search.trial_map import TrialMap

_MEMORIES = ("none", "sibling", "family", "others", "misleading")
_ENOUGH, _NEARLY = 0.99, 0.97
_OF_DONORS = 16  # measurements
_POINTS = 20  # whose predictions are compared with the truth
_MOST = 24  # measurements, unless whole runs are wanted
_JITTER, _FASTER = 0.15, 4.0  # how machines differ: shape (log), and scale


@dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """A search: the values of its recommendation after each measurement."""

    surface: str
    family: str
    memory: str
    seed: int
    values: Sequence[float]
    covered: Mapping[str, float] = field(default_factory=dict)

    def needed(self, share: float = _ENOUGH) -> int:
        reached = (n for n, value in enumerate(self.values, start=1) if value >= share)
        return next(reached, max(len(self.values), _MOST))


def sibling(surface: Surface, number: int) -> Surface:
    """The models of a surface on another machine: faster or slower, and a little different."""
    random = np.random.default_rng([crc32(surface.name.encode()), number])
    pace = log_uniform(random, 1 / _FASTER, _FASTER)

    def other(value: float, scale: float = 1.0) -> float:
        return float(value * scale * math.exp(_JITTER * random.standard_normal()))

    def station(old: Station) -> Station:
        return replace(
            old,
            base_ms=other(old.base_ms, pace),
            item_ms=other(old.item_ms, pace),
            over_ms=other(old.over_ms, pace),
            knee=other(old.knee),
        )

    old = surface.source
    assert isinstance(old, Machine)
    machine = replace(
        old,
        stations={name: station(each) for name, each in old.stations.items()},
        slots=other(old.slots),
        contention=other(old.contention),
        client_ms=other(old.client_ms, pace),
        ceiling=other(old.ceiling, 1 / pace),
        thrash=other(old.thrash),
        fades=other(old.fades),
        fades_above=other(old.fades_above),
    )
    return replace(surface, name=f"{surface.name}-sibling-{number}", source=machine)


@cache
def _all(which: SurfaceSet) -> Sequence[Surface]:
    return [*surfaces(which)]


_measured: dict[str, Sequence[TrialRecord]] = {}


def _donor(surface: Surface) -> Sequence[TrialRecord]:
    """What a search without knowledge measured first on a donor, once: as a model of its own."""
    if surface.name not in _measured:
        run = drive.run(surface, "adaptive", 100, until=lambda records: len(records) >= _OF_DONORS)
        assert run is not None, "the adaptive search supports all models"
        _measured[surface.name] = [
            TrialRecord(_of_model(record.trial, surface.name), record.outcome)
            for record in run.records
        ]
    return _measured[surface.name]


def _of_model(trial: Trial, base: str) -> Trial:
    return replace(trial, workloads=tuple(replace(work, base=base) for work in trial.workloads))


def memories(
    which: SurfaceSet, surface: Surface, wanted: Sequence[str]
) -> Iterator[tuple[str, Sequence[TrialRecord]]]:
    """The outcomes of the donors, by the name of the memory."""
    draws = {_draw(each): each for each in reversed(_all(which))}  # without constraints: the first
    own = draws[_draw(surface)]
    last = max(number for _, number in draws)
    family = [each for (name, _), each in draws.items() if name == own.family and each is not own]
    rest = [
        each
        for (name, number), each in draws.items()
        if name not in (own.family, "none-feasible")
        and number == last
        and each.load_kind is own.load_kind
        and len(each.axes) == len(own.axes)
        and len(each.facts) == 1
    ]
    donors: dict[str, Sequence[Surface]] = {
        "none": (),
        "sibling": [sibling(own, number) for number in (1, 2)],
        "family": family[:3],
        "others": rest,
    }
    if rest and len(own.axes) == 1:
        donors["misleading"] = [min(rest, key=partial(_helps, surface))]
    for memory in wanted:
        if memory == "none" or donors.get(memory):
            yield memory, [record for each in donors[memory] for record in _donor(each)]


def _draw(surface: Surface) -> tuple[str, int]:
    """The family and the number of a draw."""
    number = surface.name.removeprefix(f"{surface.family}-").partition("-")[0]
    return surface.family, int(number)


def _helps(surface: Surface, donor: Surface) -> float:
    """The value of the donor's best configuration on this surface."""
    truth = Truth(surface)
    best = Truth(donor).best
    assert best.settings is not None
    (setting,) = best.settings.values()
    names = [*surface.axes]
    point = Point(
        settings={names[0]: setting},
        clients=[Client(kind=surface.load_kind, values=np.asarray(best.loads[:1]))],
    )
    merit = truth.merit_of(point)
    return -math.inf if merit is None else merit


def course(
    surface: Surface,
    truth: Truth,
    memory: str,
    known: Sequence[TrialRecord],
    seed: int,
    *,
    whole: bool,
) -> Course:
    names = ",".join(facts.name for facts in surface.facts)
    values: list[float] = []

    def has_ended(records: Sequence[TrialRecord]) -> bool:
        while len(values) < len(records):
            (ranking,) = rank(Profile(records=records[: len(values) + 1]), names, surface.goal)
            best = ranking.results[0] if ranking.results else None
            point = None if best is None else Point.of(best.best.trial)
            moment = drive.Moment(0.0, point, passes=best is not None and best.passes)
            values.append(round(value_of(surface, truth, moment) or 0.0, 4))
        return not whole and bool(values) and (values[-1] >= _ENOUGH or len(values) >= _MOST)

    run = drive.run(surface, "adaptive", seed, known=known, until=has_ended)
    assert run is not None
    has_ended(run.records)
    if whole:
        final = drive.Moment(0.0, run.recommended, run.passes)
        values[-1] = value_of(surface, truth, final) or 0.0
    return Course(
        surface=surface.name,
        family=surface.family,
        memory=memory,
        seed=seed,
        values=values,
        covered=_covered(surface, truth, known, seed),
    )


def _covered(
    surface: Surface, truth: Truth, known: Sequence[TrialRecord], seed: int
) -> Mapping[str, float]:
    """The share of the true values that the 90 % intervals before the first measurement contain."""
    settings = surface.settings(SearchMode.ADAPTIVE)
    subject = surface.subject(settings)
    donors = [*donors_among(known, len(surface.axes), surface.load_kind)]
    if not donors or len(subject.models) > 1:
        return {}
    trial_map = TrialMap(subject, settings.search, use_formula=False)
    random = np.random.default_rng(seed)
    trials: list[Trial] = []
    sizes = [len(dimension.values) for dimension in trial_map.space.dimensions]
    while len(trials) < _POINTS:
        at = tuple(int(random.integers(size)) for size in sizes)
        if trial_map.is_legal(at):
            trial = trial_map.trial(at, VariantNames())
            if truth.merit_of(Point.of(trial)) is not None:
                trials.append(trial)
    responses = [surface.response(Point.of(trial)) for trial in trials]
    foretold = foretell(donors, "", "", trials)
    shares = {}
    for tag, samples in foretold.items():
        low, high = np.quantile(samples, [0.05, 0.95], axis=0)
        true = np.array([of_metric(each, 0, tag)[0] for each in responses if each is not None])
        shares[tag] = float(np.mean((low <= true) & (true <= high)))
    return shares


def courses_on(
    which: SurfaceSet, surface: Surface, wanted: Sequence[str], seeds: Sequence[int], *, whole: bool
) -> Sequence[Course]:
    truth = Truth(surface)
    if truth.best.merit is None:
        return []
    return [
        course(surface, truth, memory, known, seed, whole=whole)
        for memory, known in memories(which, surface, wanted)
        for seed in seeds
    ]


def table(courses: Sequence[Course]) -> str:
    """A row for each memory beside the same searches without one; then the intervals."""
    without = {(c.surface, c.seed): c for c in courses if c.memory == "none"}
    lines = [
        "| knowledge | runs | to 99 % | without | difference: median, 90 % | to 97 % | without |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for memory in _MEMORIES[1:]:
        own = [c for c in courses if c.memory == memory and (c.surface, c.seed) in without]
        if not own:
            continue
        means = []
        for share in (_ENOUGH, _NEARLY):
            counts = [(c.needed(share), without[c.surface, c.seed].needed(share)) for c in own]
            means += [fmean(count) for count in zip(*counts, strict=True)]
            if share == _ENOUGH:
                more = [count - other for count, other in counts]
        near, far = np.median(more), np.percentile(more, 90)
        with_99, without_99, with_97, without_97 = (f"{mean:.1f}" for mean in means)
        lines.append(
            f"| {memory} | {len(own)} | {with_99} | {without_99} | {near:+.0f}, {far:+.0f}"
            f" | {with_97} | {without_97} |"
        )
    for tag in (THROUGHPUT, P99):
        for memory in _MEMORIES[1:]:
            shares = [c.covered[tag] for c in courses if c.memory == memory and tag in c.covered]
            if shares:
                lines.append(f"90 % intervals of {tag}, {memory}: {fmean(shares):.1%} contain it")
    return "\n".join(lines)


_inherited: list[Callable[[], Sequence[Course]]] = []


def _run(number: int) -> Sequence[Course]:
    return _inherited[number]()


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--set", default="tuning", choices=[each.value for each in SurfaceSet])
    options.add_argument("--surfaces", default="*")
    options.add_argument("--memories", default=",".join(_MEMORIES))
    options.add_argument("--seeds", type=int, default=1)
    options.add_argument("--jobs", type=int, default=1)
    options.add_argument("--out", type=Path, help="append courses (JSON lines)")
    options.add_argument("--whole", action="store_true", help="do not end searches early")
    chosen = options.parse_args()
    which = SurfaceSet(chosen.set)
    patterns = chosen.surfaces.split(",")
    found = [s for s in _all(which) if any(fnmatch(s.name, p) for p in patterns)]
    _inherited.extend(
        partial(
            courses_on,
            which,
            s,
            chosen.memories.split(","),
            range(chosen.seeds),
            whole=chosen.whole,
        )
        for s in found
    )
    courses: list[Course] = []
    with ProcessPoolExecutor(chosen.jobs, get_context("fork")) as pool:
        for of_surface in pool.map(_run, range(len(found))):
            courses += of_surface
            if of_surface:
                print(
                    of_surface[0].surface,
                    *(
                        f"{c.memory} {c.needed()}/{len(c.values)} {c.values[-1]:.3f};"
                        for c in of_surface
                    ),
                    flush=True,
                )
            if chosen.out:
                with chosen.out.open("a") as file:
                    for c in of_surface:
                        file.write(json.dumps(asdict(c)) + "\n")
    print(table(courses))


if __name__ == "__main__":
    main()
