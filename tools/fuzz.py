# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Tries random and damaged input of every kind, and reports input that is neither used nor refused.

python tools/fuzz.py --minutes 10 --seed 1
python tools/fuzz.py --examples 200000 --kind texts --kind trees

The input comes from the unit tests, which try a few examples of it. Each kind runs in one process
for each core. Hypothesis stores its examples in memory, so they run in batches, each with its own
seed. A finding is shrunk, printed and stored in tests/golden/corpus, which tests/test_corpus.py
runs again; the other kinds continue, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.adapter import server_answers
from tests.cli import paths, streams
from tests.corpus import LIMIT_S, Kind, as_kept, keep, within
from tests.unit import foreign_files
from tests.unit.config import configurations, extreme_numbers
from tests.unit.reading import logs
from tests.unit.reports import csv_cells
from tests.unit.runner import load_outputs, model_configurations
from tests.unit.state import hostile_checkpoints

BATCH = 1000

# A process that needs more memory than this gets a MemoryError, which is a finding.
MOST_BYTES = 4 * 2**30

# The time in seconds to shrink a finding after the time of its kind is up.
SHRINK_S = 30.0

KINDS: Mapping[str, Kind] = {
    "texts": Kind(configurations.mutated_texts(), configurations.text_resolves_or_tells, 2),
    "trees": Kind(configurations.CONFIGURATIONS, configurations.tree_resolves_or_tells, 1.5),
    "anything": Kind(configurations.TREES, configurations.tree_resolves_or_tells, 0.5),
    "command lines": Kind(
        configurations.command_lines(), configurations.command_line_resolves_or_tells, 1
    ),
    "numbers": Kind(extreme_numbers.EXAMPLES, extreme_numbers.is_refused_or_stored, 1),
    "model configurations": Kind(
        model_configurations.REPOSITORIES, model_configurations.is_planned_or_refused, 3
    ),
    "HTTP answers": Kind(server_answers.HTTP_ANSWERS, server_answers.http_is_used_or_refused, 2),
    "gRPC answers": Kind(server_answers.GRPC_ANSWERS, server_answers.grpc_is_used_or_refused, 2),
    "logs": Kind(logs.LOGS, logs.is_read_or_refused, 1),
    "files": Kind(foreign_files.FILES, foreign_files.is_read_or_refused, 2),
    "CSV": Kind(csv_cells.TABLES, csv_cells.is_safe_or_exact, 0.5),
    "metrics": Kind(server_answers.METRICS, server_answers.metrics_are_used_or_left_out, 0.5),
    "load outputs": Kind(load_outputs.OUTPUTS, load_outputs.is_measured_or_failed, 2),
    "checkpoints": Kind(hostile_checkpoints.CHECKPOINTS, hostile_checkpoints.check_checkpoint, 4),
    "foreign checkpoints": Kind(
        hostile_checkpoints.UPSTREAM_CHECKPOINTS, hostile_checkpoints.check_checkpoint, 1.5
    ),
    "paths": Kind(paths.PATHS, paths.is_used_or_refused, 4),
    "streams": Kind(streams.STREAMS, streams.ends_well, 2.5),
}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--minutes", type=float, default=10, help="minutes for all kinds together")
    options.add_argument("--examples", type=int, help="number of examples, instead of a time")
    options.add_argument("--seed", type=int, default=int(time.time()))
    options.add_argument(
        "--kind", action="append", choices=KINDS, help="only this kind; repeatable"
    )
    options.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options.add_argument("--worker", help=argparse.SUPPRESS)  # the task of one process, as JSON
    chosen = options.parse_args()
    if chosen.worker is not None:
        return work(**json.loads(chosen.worker))
    kinds = chosen.kind or [*KINDS]
    amount = f"{chosen.examples} examples" if chosen.examples else f"{chosen.minutes:g} minutes"
    print(f"{amount}, seed {chosen.seed}, {chosen.jobs} processes", flush=True)
    whole = sum(KINDS[name].share for name in kinds)
    has_failed = False
    for name in kinds:
        share = KINDS[name].share / whole
        began = time.time()
        results = try_kind(
            name,
            chosen.seed,
            chosen.jobs,
            examples=round(chosen.examples * share) if chosen.examples else None,
            until=None if chosen.examples else began + chosen.minutes * 60 * share,
        )
        tried = sum(result["tried"] for result in results)
        print(f"{name}: {tried} in {time.time() - began:.0f} s", flush=True)
        for finding in (finding for result in results for finding in result["findings"]):
            has_failed = True
            show(name, **finding)
    return int(has_failed)


def show(kind: str, example: Any, failed: str, trace: str) -> None:
    print(f"{trace}\nFOUND in {kind}: {failed}\n  {json.dumps(example)[:4000]}")
    print(f"  stored as {keep(kind, example, failed)}", flush=True)


def try_kind(
    name: str, base: int, jobs: int, *, examples: int | None, until: float | None
) -> Sequence[Mapping[str, Any]]:
    """The results of all jobs, each in its own process."""
    each = None if examples is None else -(-examples // jobs)
    with ThreadPoolExecutor(jobs) as pool, TemporaryDirectory() as directory:
        tasks = [
            {
                "kind": name,
                "name": f"{base} {name} {job}",
                "examples": each,
                "until": until,
                "last": f"{directory}/{job}",
            }
            for job in range(jobs)
        ]
        return [*pool.map(run_worker, tasks)]


def run_worker(task: Mapping[str, Any]) -> Mapping[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--worker", json.dumps(task)],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        result: Mapping[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return result
    example = json.loads(Path(task["last"]).read_text())
    failed = f"the process that tried it ended with status {done.returncode}"
    return {"tried": 0, "findings": [{"example": example, "failed": failed, "trace": ""}]}


def work(kind: str, name: str, examples: int | None, until: float | None, last: str) -> int:
    """Tries one kind, for a number of examples or until a time; the result is a line of JSON. The
    file `last` contains the current example, in case it ends the process.
    """
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, MOST_BYTES))
    logging.getLogger().addHandler(logging.NullHandler())  # the log is not read
    attempt = Attempt(KINDS[kind], examples, until, Path(last))
    for batch in range(2**31):
        if not attempt.batch(f"{name} {batch}"):
            break
    print(json.dumps({"tried": attempt.tried, "findings": attempt.findings}))
    return 0


class OutOfTime(KeyboardInterrupt):
    """Ends Hypothesis, which continues after any other exception."""


@dataclass
class Attempt:
    """One kind of input in one process."""

    kind: Kind
    examples: int | None
    until: float | None
    last: Path
    tried: int = 0
    failures: dict[str, tuple[Any, str, str]] = field(default_factory=dict)
    shrink_until: float = 0.0

    @property
    def findings(self) -> Sequence[Mapping[str, Any]]:
        """One failure for each place, the smallest example."""
        return [
            {"example": example, "failed": failed, "trace": trace}
            for example, failed, trace in self.failures.values()
        ]

    def batch(self, name: str) -> bool:
        """Runs one batch; returns whether to continue."""
        most = BATCH if self.examples is None else min(BATCH, self.examples - self.tried)
        if most <= 0:
            return False
        before = self.tried

        @seed(name)
        @settings(
            max_examples=most,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
        )
        @given(self.kind.strategy)
        def run(example: Any) -> None:
            self.attempt(example)

        try:
            run()
        except OutOfTime:
            return False
        except Exception:
            if not self.failures:  # an error of the strategy, not of the check
                raise
            print(f"found in batch {name!r}", file=sys.stderr)
            return False
        return self.tried > before or self.examples is None

    def attempt(self, example: Any) -> None:
        now = time.time()
        limit = self.shrink_until if self.failures else self.until
        if limit is not None and now > limit:
            raise OutOfTime
        self.tried += 1
        example = as_kept(example)
        self.last.write_text(json.dumps(example))
        try:
            with within(LIMIT_S):
                self.kind.check(example)
        except Exception as error:
            self.note(example, error)
            raise

    def note(self, example: Any, error: Exception) -> None:
        if not self.failures:
            self.shrink_until = max(time.time(), self.until or 0.0) + SHRINK_S
        frames = traceback.extract_tb(error.__traceback__)
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}"
        lines = str(error).splitlines() or [""]
        failed = f"{type(error).__name__} at {place}: {lines[0]}"[:500]
        trace = "".join(traceback.format_exception(error))[-4000:]
        self.failures[f"{type(error).__name__} {place}"] = (example, failed, trace)


if __name__ == "__main__":
    sys.exit(main())
