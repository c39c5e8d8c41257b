# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares `adaptive` with another search, on a real server: the result and the time.

    python benchmarks/brute_force.py
    python benchmarks/brute_force.py --model-repository REPOSITORY --model MODEL --latency-budget 40
    python benchmarks/brute_force.py --rounds --instances 2 --batch 8 --concurrency 32
    python benchmarks/brute_force.py --rounds --against upstream-quick --upstream /tmp/upstream

Profiles one model with the other search (`brute`, which measures everything, or one of Triton Model
Analyzer) and with `adaptive` within the same bounds. Then it measures both recommended
configurations again, in turn, each on its own server. Prints the difference of their medians, and
the spread of the measurements of one configuration.

Both searches measure in the same windows. With --rounds, no flags say how to measure:
`adaptive` measures in rounds, the other one in perf_analyzer's own windows, as Triton Model
Analyzer does.
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

from benchmarks.common import timed, upstream_command, wrap_programs, write_config

STARTER = Path(__file__).parents[1] / "model_analyzer" / "starter" / "model_repository"
OURS, BRUTE, UPSTREAM = "adaptive", "brute", ("upstream-quick", "upstream-optuna")

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
    searches = (given.against, OURS)
    with tempfile.TemporaryDirectory(prefix="brute-force-") as temporary:
        directory = Path(temporary)
        recommended = {
            search: _upstream_search(directory / search, given, search)
            if search in UPSTREAM
            else _search(tool, directory / search, given, search)
            for search in searches
        }
        for search, result in recommended.items():
            print(
                f"{search:15} {result.measurements:4} measurements in {result.seconds:6.1f} s:"
                f" {result.variant}, concurrency {result.concurrency}",
                flush=True,
            )
        share = recommended[OURS].seconds / recommended[given.against].seconds
        print(f"adaptive took {share:.3f} (1/{1 / share:.1f}) of the time", flush=True)
        again: dict[str, list[Row]] = {search: [] for search in searches}
        for turn in range(given.n):
            for search in searches if turn % 2 else reversed(searches):
                place = directory / f"{search}-{turn}"
                again[search].append(_again(tool, place, given, recommended[search]))
        for column in ("Throughput (infer/sec)", "p99 Latency (ms)"):
            _compare(column, {name: [float(row[column]) for row in again[name]] for name in again})


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--model-repository", type=Path, default=STARTER)
    options.add_argument("--model", default="sim_gpu")
    options.add_argument("--instances", type=int, default=5, help="most instances")
    options.add_argument("--batch", type=int, default=32, help="largest max_batch_size")
    options.add_argument("--concurrency", type=int, default=256, help="highest concurrency")
    options.add_argument("--latency-budget", type=int, help="highest p99 latency in ms")
    options.add_argument("--window", type=int, default=500, help="ms of a measurement window")
    options.add_argument("--rounds", action="store_true", help="without measurement flags")
    options.add_argument("--against", choices=(BRUTE, *UPSTREAM), default=BRUTE)
    options.add_argument(
        "--upstream", type=Path,
        help="directory with an environment for upstream; created if it does not exist",
    )  # fmt: skip
    options.add_argument("-n", type=int, default=5, help="measurements of each recommendation")
    given = options.parse_args()
    if given.against in UPSTREAM and given.upstream is None:
        options.error(f"--against {given.against} needs --upstream")
    return given


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


def _bounds(given: argparse.Namespace, mode: str) -> dict[str, object]:
    return {
        "run_config_search_mode": mode,
        "run_config_search_max_instance_count": given.instances,
        "run_config_search_max_model_batch_size": given.batch,
        "run_config_search_max_concurrency": given.concurrency,
    }


def _search(tool: Path, directory: Path, given: argparse.Namespace, mode: str) -> Recommendation:
    directory.mkdir()
    measurement = "auto" if mode == OURS else "perf_analyzer"
    measuring = {"measurement": measurement} if given.rounds else _windows(given)
    settings = _settings(given, given.model_repository) | _bounds(given, mode) | measuring
    seconds, rows = _profile(tool, directory, settings)
    return _recommendation(rows, directory / "best" / given.model / "config.pbtxt", seconds)


def _upstream_search(directory: Path, given: argparse.Namespace, search: str) -> Recommendation:
    """What a search of upstream recommends, on the same server and with the same perf_analyzer."""
    directory.mkdir()
    (directory / "results").mkdir()
    triton, perf_analyzer = wrap_programs(directory)
    own = {
        "output_model_repository_path": str(directory / "variants"),
        "checkpoint_directory": str(directory / "checkpoints"),
        "export_path": str(directory),
        "triton_server_path": str(triton),
        "perf_analyzer_path": str(perf_analyzer),
        "perf_analyzer_cpu_util": 100000,  # its limit stops perf_analyzer on few cores
        "triton_http_endpoint": f"localhost:{_PORT}",
        "triton_grpc_endpoint": f"localhost:{_PORT + 1}",
        "triton_metrics_url": f"http://localhost:{_PORT + 2}/metrics",
    }
    mode = search.removeprefix("upstream-")
    measuring = {} if given.rounds else _windows(given)
    settings = _settings(given, given.model_repository) | _bounds(given, mode) | measuring | own
    seconds, rows = _profile(
        upstream_command(given.upstream), directory, settings,
        PERF_ANALYZER_LOG=str(directory / "perf_analyzer.jsonl"),
        PYTHONPATH="",  # its package has the same name as ours
    )  # fmt: skip
    variant = Path(rows[0]["Model Config Path"]).name
    return _recommendation(rows, directory / "variants" / variant / "config.pbtxt", seconds)


# Upstream's server and its next ports: its own defaults may be taken.
_PORT = 28500


def _recommendation(rows: Sequence[Row], config: Path, seconds: float) -> Recommendation:
    """What the best row of a table recommends; `config` is its configuration."""
    best = rows[0]
    return Recommendation(
        config=config,
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
    tool: Path, directory: Path, config: Mapping[str, object], **variables: str
) -> tuple[float, Sequence[Row]]:
    """Wall seconds of the command, and its table of measurements, best first."""
    file = write_config(directory / "config.yaml", config)
    command = [str(tool), "profile", "-f", str(file)]
    seconds = timed(command, cwd=directory, log=directory / "log", **variables)
    table = directory / "results" / "metrics-model-inference.csv"
    return seconds, [row for row in csv.DictReader(table.read_text().splitlines()) if row["Model"]]


def _compare(column: str, values: Mapping[str, Sequence[float]]) -> None:
    (other, theirs), (_, ours) = values.items()
    medians = statistics.median(theirs), statistics.median(ours)
    spread = max(
        (max(value) - min(value)) / 2 / statistics.median(value) for value in values.values()
    )
    print(
        f"{column:24} {other} {medians[0]:8.1f}   adaptive {medians[1]:8.1f}"
        f"   difference {(medians[1] / medians[0] - 1) * 100:+.1f} %   spread ±{spread * 100:.1f} %"
    )


if __name__ == "__main__":
    main()
