# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The quality of the recommendation over the seconds of a run, for every search: a chart.

    python benchmarks/search/over_time.py --set reporting --surfaces '*-4*' docs/images/seconds.svg

Every search of the product measures in rounds; `brute` also measures in perf_analyzer's own
windows. At each moment, the quality is the true value of the configuration that the measurements
so far recommend, as a share of the best one that meets the constraints: 0 as long as there is no
answer, or if it breaks a constraint. A line is the mean over surfaces and seeds. It ends where half
of the runs have ended, and a point marks that.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.search import drive
from benchmarks.search.families import is_constrained
from benchmarks.search.sets import HELP as SET_HELP
from benchmarks.search.sets import surfaces_of
from benchmarks.search.surface import Surface
from benchmarks.search.truth import Truth
from benchmarks.search.verdict import value_of

# Each line of the chart: the search, and whether it measures in rounds.
LINES = {
    "adaptive": ("adaptive", True),
    "quick": ("quick", True),
    "optuna": ("optuna", True),
    "brute": ("brute", True),
    "brute, perf_analyzer's windows": ("brute", False),
}
_KINDS = ("Without constraints", "With constraints")
_FIRST_S, _LAST_S, _POINTS = 3.0, 20_000.0, 120


@dataclass(frozen=True, slots=True)
class Course:
    """The values of a run at its moments, in seconds; the last one is its end."""

    line: str
    kind: str
    seconds: Sequence[float]
    values: Sequence[float]

    def at(self, seconds: float) -> float:
        """The value at a time: that of the last moment before it, 0 before the first."""
        position = int(np.searchsorted(self.seconds, seconds, side="right"))
        return self.values[position - 1] if position else 0.0


def courses_on(surface: Surface, seeds: int) -> Sequence[Course]:
    """A course for each run of each search that supports the models of the surface."""
    truth = Truth(surface)
    kind = _KINDS[is_constrained(surface)]
    courses = []
    for line, (mode, in_rounds) in LINES.items():
        for seed in range(seeds):
            run = drive.run(surface, mode, seed, in_rounds=in_rounds, with_moments=True)
            if run is None:
                continue
            values = [value_of(surface, truth, moment) for moment in run.moments]
            if None not in values:
                seconds = [moment.seconds for moment in run.moments]
                # the answer of the whole run counts its confirmation, or its conclusion
                final = drive.Moment(run.seconds, run.recommended, passes=run.passes)
                last = value_of(surface, truth, final)
                courses.append(
                    Course(line, kind, [*seconds, run.seconds], [*map(_number, [*values, last])])
                )
    return courses


def _number(value: float | None) -> float:
    return 0.0 if value is None else value


def means(courses: Sequence[Course]) -> Iterator[Mapping[str, Any]]:
    """A row for each line at each time of the chart."""
    groups: Mapping[tuple[str, str], list[Course]] = defaultdict(list)
    for course in courses:
        groups[course.kind, course.line].append(course)
    for (kind, line), runs in groups.items():
        end = statistics.median(run.seconds[-1] for run in runs)
        times = [t for t in np.geomspace(_FIRST_S, _LAST_S, _POINTS) if t < end]
        for seconds in [*times, end]:
            yield {
                "kind": kind,
                "search": line,
                "seconds": round(float(seconds), 2),
                "value": round(100 * statistics.fmean(run.at(seconds) for run in runs), 2),
                "is_end": bool(seconds == end),
            }


def chart(rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The Vega-Lite chart of the rows."""
    encoding = {
        "x": {
            "field": "seconds",
            "type": "quantitative",
            "scale": {"type": "log"},
            "axis": {"values": [3, 10, 30, 100, 300, 1000, 3000, 10000], "format": "~s"},
            "title": "seconds of the run",
        },
        "y": {
            "field": "value",
            "type": "quantitative",
            "scale": {"domain": [0, 100]},
            "title": "quality of the answer, % of the best",
        },
        "color": {
            "field": "search",
            "sort": [*LINES],
            "scale": {"domain": [*LINES], "range": _COLOURS},
            "legend": {"orient": "bottom", "title": None, "columns": 5, "labelLimit": 250},
        },
    }
    return {
        "data": {"values": [*rows]},
        "facet": {"field": "kind", "sort": [*_KINDS], "title": None},
        "spec": {
            "width": 400,
            "height": 260,
            "encoding": encoding,
            "layer": [
                {"mark": {"type": "line", "strokeWidth": 2}},
                {
                    "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                    "transform": [{"filter": "datum.is_end"}],
                },
            ],
        },
        "config": {"background": "white"},
    }


_COLOURS = ["#0f766e", "#b45309", "#7c3aed", "#2563eb", "#94a3b8"]


def main() -> None:
    options = _options()
    patterns = options.surfaces.split(",")
    chosen = surfaces_of(
        options.set, lambda name: any(fnmatch(name, pattern) for pattern in patterns)
    )
    if not chosen:
        sys.exit(f"--surfaces: no surface matches {options.surfaces}")
    courses: list[Course] = []
    _inherited.extend(partial(courses_on, surface, options.seeds) for surface in chosen)
    with ProcessPoolExecutor(options.jobs, get_context("fork")) as pool:
        for number, of_surface in enumerate(pool.map(_run, range(len(chosen))), start=1):
            courses += of_surface
            print(f"{number}/{len(chosen)} {chosen[number - 1].name}", file=sys.stderr, flush=True)
    rows = [*means(courses)]
    _draw(rows, options.picture)
    for row in rows:
        if row["is_end"]:
            print(
                f"{row['kind']:20} {row['search']:32} {row['seconds']:8.0f} s {row['value']:6.1f} %"
            )


# The tasks of the processes of the pool, which inherit them: surfaces cannot be sent.
_inherited: list[partial[Sequence[Course]]] = []


def _run(number: int) -> Sequence[Course]:
    return _inherited[number]()


def _draw(rows: Sequence[Mapping[str, Any]], picture: Path) -> None:
    import vl_convert  # a heavy import

    picture.write_text(vl_convert.vegalite_to_svg(json.dumps(chart(rows))))


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--set", default="tuning", help=SET_HELP)
    options.add_argument("--surfaces", default="*", help="patterns of names, with commas")
    options.add_argument("--seeds", type=int, default=1, help="runs of each search on each surface")
    options.add_argument("--jobs", type=int, default=1, help="surfaces at the same time")
    options.add_argument("picture", type=Path, help="the file for the chart (SVG)")
    return options.parse_args()


if __name__ == "__main__":
    main()
