# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares `adaptive` with measuring everything, on a real server: the result and the time.

    python benchmarks/brute_force.py
    python benchmarks/brute_force.py --model-repository REPOSITORY --model MODEL --latency-budget 40
    python benchmarks/brute_force.py --instalments --instances 2 --batch 8 --concurrency 32

Profiles one model in mode `brute` and in mode `adaptive` within the same bounds. Then it measures
both recommended configurations again, in turn, each on its own server. Prints the difference of
their medians, and the spread of the measurements of one configuration.

Both modes measure in the same windows. With --instalments, no flags say how to measure: `brute`
measures in perf_analyzer's own windows, as Triton Model Analyzer does, and `adaptive` in
instalments.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import timed, write_config

STARTER = Path(__file__).parents[1] / "model_analyzer" / "starter" / "model_repository"
MODES = ("brute", "adaptive")
# How each of them measures without flags.
_MEASUREMENT = {"brute": "perf_analyzer", "adaptive": "auto"}

Row = Mapping[str, str]


@dataclass(frozen=True)
class Recommendation:
    """The recommendation of a mode: configuration, load, number of measurements and time."""

    config: Path
    variant: str
    concurrency: int
    measurements: int
    seconds: float


def main() -> None:
    given = _options()
    tool = Path(sys.executable).with_name("model-analyzer")
    with tempfile.TemporaryDirectory(prefix="brute-force-") as temporary:
        directory = Path(temporary)
        recommended = {mode: _search(tool, directory / mode, given, mode) for mode in MODES}
        for mode, result in recommended.items():
            print(
                f"{mode:9} {result.measurements:4} measurements in {result.seconds:6.1f} s:"
                f" {result.variant}, concurrency {result.concurrency}",
                flush=True,
            )
        share = recommended["adaptive"].seconds / recommended["brute"].seconds
        print(f"adaptive took {share:.3f} (1/{1 / share:.1f}) of the time")
        again: dict[str, list[Row]] = {mode: [] for mode in MODES}
        for turn in range(given.n):
            for mode in MODES if turn % 2 else reversed(MODES):
                place = directory / f"{mode}-{turn}"
                again[mode].append(_again(tool, place, given, recommended[mode]))
        for column in ("Throughput (infer/sec)", "p99 Latency (ms)"):
            _compare(column, {mode: [float(row[column]) for row in again[mode]] for mode in MODES})


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model-repository", type=Path, default=STARTER)
    options.add_argument("--model", default="sim_gpu")
    options.add_argument("--instances", type=int, default=5, help="most instances")
    options.add_argument("--batch", type=int, default=32, help="largest max_batch_size")
    options.add_argument("--concurrency", type=int, default=256, help="highest concurrency")
    options.add_argument("--latency-budget", type=int, help="highest p99 latency in ms")
    options.add_argument("--window", type=int, default=500, help="ms of a measurement window")
    options.add_argument("--instalments", action="store_true", help="without measurement flags")
    options.add_argument("-n", type=int, default=5, help="measurements of each recommendation")
    return options.parse_args()


def _settings(given: argparse.Namespace, repository: Path) -> dict[str, object]:
    settings: dict[str, object] = {
        "model_repository": str(repository),
        "profile_models": {given.model: {"cpu_only": True}},
    }
    if given.latency_budget is not None:
        settings["latency_budget"] = given.latency_budget
    return settings


def _windows(given: argparse.Namespace) -> dict[str, object]:
    return {
        "perf_analyzer_flags": {
            "measurement-mode": "time_windows",
            "measurement-interval": given.window,
            "stability-percentage": 25,
        }
    }


def _search(tool: Path, directory: Path, given: argparse.Namespace, mode: str) -> Recommendation:
    directory.mkdir()
    bounds = {
        "run_config_search_mode": mode,
        "run_config_search_max_instance_count": given.instances,
        "run_config_search_max_model_batch_size": given.batch,
        "run_config_search_max_concurrency": given.concurrency,
    }
    measuring = {"measurement": _MEASUREMENT[mode]} if given.instalments else _windows(given)
    settings = _settings(given, given.model_repository) | bounds | measuring
    seconds, rows = _profile(tool, directory, settings)
    best = rows[0]
    return Recommendation(
        config=directory / "best" / given.model / "config.pbtxt",
        variant=f"{best['Model Config Path']} ({best['Instance Group']},"
        f" max batch size {best['Max Batch Size']})",
        concurrency=int(best["Concurrency"]),
        measurements=len(rows),
        seconds=seconds,
    )


def _again(
    tool: Path, directory: Path, given: argparse.Namespace, recommended: Recommendation
) -> Row:
    """One more measurement of the recommended configuration, as deployed."""
    repository = directory / "repository"
    shutil.copytree(given.model_repository / given.model, repository / given.model)
    shutil.copy(recommended.config, repository / given.model / "config.pbtxt")
    only = {"run_config_search_disable": True, "concurrency": recommended.concurrency}
    return _profile(tool, directory, _settings(given, repository) | only | _windows(given))[1][0]


def _profile(
    tool: Path, directory: Path, config: Mapping[str, object]
) -> tuple[float, Sequence[Row]]:
    """Wall seconds of the command, and its table of measurements, best first."""
    file = write_config(directory / "config.yaml", config)
    command = [str(tool), "profile", "-f", str(file)]
    seconds = timed(command, cwd=directory, log=directory / "log")
    table = directory / "results" / "metrics-model-inference.csv"
    return seconds, [row for row in csv.DictReader(table.read_text().splitlines()) if row["Model"]]


def _compare(column: str, values: Mapping[str, Sequence[float]]) -> None:
    brute, adaptive = (statistics.median(values[mode]) for mode in MODES)
    spread = max(
        (max(value) - min(value)) / 2 / statistics.median(value) for value in values.values()
    )
    print(
        f"{column:24} brute {brute:8.1f}   adaptive {adaptive:8.1f}"
        f"   difference {(adaptive / brute - 1) * 100:+.1f} %   spread ±{spread * 100:.1f} %"
    )


if __name__ == "__main__":
    main()
