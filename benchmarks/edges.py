# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Seconds of a run that are not measuring: before the first measurement, between, behind the last.

    python benchmarks/edges.py [--other PROGRAM] [-n 3]

`hundred` measures add_sub a hundred times with short windows, on the installed runtime; `completed`
measures a model whose inputs and outputs only a server knows. Each repeats with the same cache
directory, so what a run remembers for the next one counts. The seconds of the server itself are
taken from its log: from its start until it listens, and each load. With --other, that program makes
the same runs, in pairs.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import wrap_programs, write_config

ROOT = Path(__file__).parents[1]
STARTER = ROOT / "model_analyzer" / "starter" / "model_repository"

ANSWER = re.compile(r"In \d+ measurements?")
LOG_TIME = re.compile(r"[IWE](\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6})")
LISTENS, LOADING, LOADED = "Started Metrics Service", '"loading: ', '"successfully loaded '

SHORT = {
    "measurement-mode": "time_windows", "measurement-interval": 100, "stability-percentage": 999,
}  # fmt: skip
RUNS: Mapping[str, Mapping[str, object]] = {
    "hundred": {
        "model_repository": str(STARTER),
        "run_config_search_max_instance_count": 3,
        "run_config_search_max_model_batch_size": 128,
        "run_config_search_max_concurrency": 8,
        "profile_models": {"add_sub": {"cpu_only": True}},
    },
    "completed": {
        "model_repository": str(ROOT / "qa" / "models"),
        "profile_models": {"untold": {"cpu_only": True, "parameters": {"concurrency": [1, 2]}}},
        "run_config_search_disable": True,
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Seconds:
    """The parts of one run."""

    measurements: int
    parts: Mapping[str, float]


def run(tool: Path, config: Mapping[str, object], directory: Path, cache: Path) -> Seconds:
    """One run, with its files in `directory`."""
    directory.mkdir(parents=True)
    triton, perf_analyzer = wrap_programs(directory)
    settings = write_config(
        directory / "config.yaml",
        {
            "output_model_repository_path": str(directory / "variants"),
            "checkpoint_directory": str(directory / "checkpoints"),
            "export_path": str(directory / "results"),
            "triton_server_path": str(triton),
            "triton_output_path": str(directory / "server.log"),
            "perf_analyzer_path": str(perf_analyzer),
            "perf_analyzer_flags": SHORT,
            **config,
        },
    )
    began = time.time()
    lines = list(_printed([str(tool), "profile", "-f", str(settings)], directory, cache))
    ended = time.time()
    text = "".join(f"{at - began:8.3f} {line}" for at, line in lines)
    (directory / "output.txt").write_text(text)
    answered = [at for at, line in lines if ANSWER.match(line)]
    if not answered:
        sys.exit(text)
    launches = [
        launch
        for launch in _json_lines(directory / "perf_analyzer.jsonl")
        if "-m " in launch["arguments"]
    ]
    first, last = launches[0]["start"], launches[-1]["end"]
    starts, loads = _server_work(directory)
    before = sum(end - start for start, end in (*starts, *loads) if end < first)
    gaps, changes = _between(launches, loads)
    return Seconds(
        measurements=len(launches),
        parts={
            "from the start to the first": first - began,
            "… without the server's own": first - began - before,
            "between two": statistics.median(gaps),
            "… and a change of variant, without the load": statistics.median(changes or [0]),
            "from the last to the answer": answered[0] - last,
            "… to the end": ended - last,
            "all outside perf_analyzer": ended
            - began
            - sum(p["end"] - p["start"] for p in launches),
        },
    )


def _printed(command: Sequence[str], directory: Path, cache: Path) -> Iterator[tuple[float, str]]:
    """The lines that the command prints, each with its time."""
    environment = {
        **os.environ,
        "PERF_ANALYZER_LOG": str(directory / "perf_analyzer.jsonl"),
        "SERVER_STARTS": str(directory / "server_starts.jsonl"),
        "XDG_CACHE_HOME": str(cache),
        "PYTHONUNBUFFERED": "1",
    }
    with subprocess.Popen(
        command, cwd=directory, env=environment, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as child:  # fmt: skip
        assert child.stdout is not None, "it is a pipe"
        for line in child.stdout:
            yield time.time(), line


def _between(
    launches: Sequence[Mapping[str, float]], loads: Sequence[tuple[float, float]]
) -> tuple[list[float], list[float]]:
    """Seconds between two measurements; and between two with a load, which does not count."""
    gaps: list[float] = []
    changes: list[float] = []
    for before, after in itertools.pairwise(launches):
        within = [end - start for start, end in loads if before["end"] < start < after["start"]]
        (changes if within else gaps).append(after["start"] - before["end"] - sum(within))
    return gaps, changes


def _server_work(directory: Path) -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Start and end of each start of a server, and of each load."""
    lines = (directory / "server.log").read_text(errors="replace").splitlines()
    timed = [(at, line) for line in lines if (at := _log_time(line)) is not None]
    begun = _json_lines(directory / "server_starts.jsonl")
    listens = [at for at, line in timed if LISTENS in line]
    loading: dict[str, float] = {}
    loads = []
    for at, line in timed:
        if LOADING in line:
            loading[line.split(LOADING)[1].rpartition(":")[0]] = at
        elif LOADED in line:
            loads.append((loading.pop(line.split(LOADED)[1].split("'")[1]), at))
    return list(zip(begun, listens, strict=True)), loads


def _log_time(line: str) -> float | None:
    """The time of a line of the server's log, which has no year."""
    match = LOG_TIME.match(line)
    if match is None:
        return None
    month, day, hour, minute, second, micro = map(int, match.groups())
    year = datetime.now(timezone.utc).year
    at = datetime(year, month, day, hour, minute, second, micro, tzinfo=timezone.utc)
    return at.timestamp()


def _json_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):8.3f} ({min(values):.3f} to {max(values):.3f})"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ours = Path(sys.executable).with_name("model-analyzer")
    options.add_argument("--ours", type=Path, default=ours, help="default: of this environment")
    options.add_argument("--other", type=Path, help="another model-analyzer, to compare with")
    options.add_argument("--runs", nargs="+", default=list(RUNS), choices=list(RUNS))
    options.add_argument("--keep", type=Path, help="keeps the files of the runs in this directory")
    options.add_argument("-n", type=int, default=3, help="number of pairs")
    chosen = options.parse_args()
    tools = {"ours": chosen.ours, **({"other": chosen.other} if chosen.other else {})}
    with tempfile.TemporaryDirectory(prefix="edges-") as temporary:
        place = chosen.keep or Path(temporary)
        for name in chosen.runs:
            runs: dict[str, list[Seconds]] = {tool: [] for tool in tools}
            for pair in range(chosen.n):
                for tool, program in tools.items():
                    directory = place / f"{name}-{tool}-{pair}"
                    cache = place / f"cache-{tool}"
                    runs[tool].append(run(program, RUNS[name], directory, cache))
            counts = {result.measurements for results in runs.values() for result in results}
            print(f"{name}, {' or '.join(map(str, sorted(counts)))} measurements; seconds:")
            for part in runs["ours"][0].parts:
                cells = [
                    f"{tool} {_spread([result.parts[part] for result in results])}"
                    for tool, results in runs.items()
                ]
                print(f"  {part:46}" + "   ".join(cells), flush=True)


if __name__ == "__main__":
    main()
