# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The search laboratory: runs every search mode on response surfaces with known results.

    python benchmarks/search/run.py --set reporting --modes quick,optuna,random --seeds 10

Modes are those of the product, `random` (`random:2` draws 2 % of the space), `upstream-quick` and
`upstream-optuna` (with --upstream). A set is `tuning`, `reporting`, `plain-tuning`, `plain`,
`simulated-tuning`, `simulated` (these two need a C compiler at first), or a directory of recorded
tables. The README of the benchmarks explains the columns.
"""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from fnmatch import fnmatch
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks.common import upstream_command
from benchmarks.search import drive, upstream
from benchmarks.search.durations import LOADING_S
from benchmarks.search.sets import HELP as SET_HELP
from benchmarks.search.sets import surfaces_of
from benchmarks.search.surface import Surface
from benchmarks.search.truth import Truth
from benchmarks.search.verdict import Verdict, calibration, judge, markdown, summarize
from model_analyzer.domain.settings import SearchMode

OURS = [mode.value for mode in SearchMode]


def main() -> None:
    options = _options()
    # searches log as in a run, but nothing is shown
    log = logging.getLogger("model_analyzer")
    log.addHandler(logging.NullHandler())
    log.setLevel(logging.INFO)
    log.propagate = False
    modes = options.modes.split(",")
    patterns = options.surfaces.split(",")
    for mode in modes:
        supported = [*OURS, *upstream.MODES]
        if mode.partition(":")[0] not in supported:
            _refuse(f"--modes: no mode {mode}: choose from {', '.join(supported)}")
    try:
        chosen = surfaces_of(
            options.set, lambda name: any(fnmatch(name, pattern) for pattern in patterns)
        )
    except ValueError as error:
        _refuse(f"--set {options.set}: {error}")
    if not chosen:
        _refuse(f"--surfaces: no surface matches {options.surfaces}")
    program = None
    if any(mode in upstream.MODES for mode in modes):
        if options.upstream is None:
            _refuse("--upstream: upstream's modes need a directory for its environment")
        program = upstream_command(options.upstream)
    began = time.monotonic()
    drive_mode = partial(drive.run, in_rounds=options.rounds, loading_s=options.loading_seconds)
    task = partial(_run_all, chosen, modes, range(options.seeds), program, drive_mode)
    verdicts: list[Verdict] = []
    results = _mapped(task, len(chosen), options.jobs)
    for surface, of_surface in zip(chosen, results, strict=True):
        verdicts += of_surface
        if options.verbose:
            _show(surface, of_surface)
    summaries = summarize(verdicts, modes)
    table = "\n".join([markdown(summaries), calibration(verdicts)])
    took = f"{time.monotonic() - began:.0f} s"
    print(f"{len(chosen)} surfaces, {options.seeds} seeds, {took}\n\n{table}")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / f"{Path(options.set).name}.md").write_text(table)
        content = {
            "summary": [asdict(summary) for summary in summaries],
            "runs": [asdict(verdict) for verdict in verdicts],
        }
        (options.out / f"{Path(options.set).name}.json").write_text(json.dumps(content))


def _options() -> argparse.Namespace:
    assert __doc__ is not None
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--set", default="tuning", help=SET_HELP)
    options.add_argument("--modes", default=",".join(OURS))
    options.add_argument("--surfaces", default="*", help="patterns of names, with commas")
    options.add_argument("--seeds", type=int, default=3, help="runs of each mode on each surface")
    options.add_argument("--jobs", type=int, default=1, help="surfaces at the same time")
    options.add_argument("--out", type=Path, help="directory for the table and all runs (JSON)")
    options.add_argument(
        "--rounds", action="store_true", help="measure trials of our modes in rounds"
    )
    options.add_argument(
        "--loading-seconds", type=float, default=LOADING_S, help="the time to load a variant"
    )
    options.add_argument(
        "--upstream",
        type=Path,
        help="directory with an environment for upstream; created if it does not exist",
    )
    options.add_argument("-v", "--verbose", action="store_true", help="a line for each surface")
    return options.parse_args()


def _refuse(problem: str) -> NoReturn:
    """Exits like after an invalid option."""
    print(problem, file=sys.stderr)
    sys.exit(2)


# The task of the processes of a pool: they inherit it, since surfaces cannot be sent to them.
_inherited: list[Callable[[int], Sequence[Verdict]]] = []


def _mapped(
    task: Callable[[int], Sequence[Verdict]], count: int, jobs: int
) -> Iterator[Sequence[Verdict]]:
    """The results of the task for every number below `count`, in order."""
    if jobs == 1:
        yield from map(task, range(count))
        return
    _inherited.append(task)
    with ProcessPoolExecutor(jobs, get_context("fork")) as pool:
        yield from pool.map(_inherited_task, range(count))


def _inherited_task(number: int) -> Sequence[Verdict]:
    return _inherited[0](number)


def _run_all(
    chosen: Sequence[Surface],
    modes: Sequence[str],
    seeds: range,
    program: Path | None,
    drive_mode: Callable[..., drive.Run | None],
    number: int,
) -> Sequence[Verdict]:
    """All runs on one surface, whose truth is computed once."""
    surface = chosen[number]
    truth = Truth(surface)
    verdicts = []
    for mode in modes:
        for seed in seeds:
            if program is not None and mode in upstream.MODES:
                result = upstream.run(surface, mode, seed, program)
            else:
                result = drive_mode(surface, mode, seed)
            if result is None:
                break
            verdicts.append(judge(surface, truth, mode, seed, result))
    return verdicts


def _show(surface: Surface, verdicts: Sequence[Verdict]) -> None:
    for mode in dict.fromkeys(verdict.mode for verdict in verdicts):
        of_mode = [verdict for verdict in verdicts if verdict.mode == mode]
        values = " ".join("-" if v.value is None else f"{v.value:.3f}" for v in of_mode)
        measured = sum(verdict.measurements for verdict in of_mode) / len(of_mode)
        print(f"{surface.name:26} {mode:16} measured {measured:6.1f}  {values}", flush=True)


if __name__ == "__main__":
    main()
