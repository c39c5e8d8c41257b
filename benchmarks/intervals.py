# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How often the 95 % interval of rounds holds what a measurement ten times as long gives.

    python benchmarks/intervals.py --simulated 1000
    python benchmarks/intervals.py --real CONFIG --model sim_gpu --cases 15 --results real.jsonl
    python benchmarks/intervals.py --results real.jsonl

Each case is a configuration under a load. All cases of a run are measured in two rounds, one
case after the other, as a search does; then each in a measurement ten times as long as both
together. Intervals are those of the product, from all cases of the run. Simulated servers answer
single requests in batches, on a machine whose speed changes within milliseconds and minutes. With
--results, real cases are added to those in the file, and all of them are shown.
"""

from __future__ import annotations

import argparse
import heapq
import json
import math
import os
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_analyzer.app.bench.searched_subjects import searched_subjects
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.config.sources import read_yaml
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.trials import Trial
from model_analyzer.features.cluster.cluster_bench import SlotBench
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import pool
from model_analyzer.runner.load.profile_export import Export, Request, Requests
from model_analyzer.runner.load.sampling import sampled
from model_analyzer.runner.timings import Timings
from model_analyzer.search.modes.brute import BruteMode

Floats = npt.NDArray[np.float64]

TAGS = (
    "perf_throughput", "perf_latency_avg", "perf_latency_p50", "perf_latency_p90",
    "perf_latency_p99",
)  # fmt: skip
ROUNDS = 2
LONGER = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """The rounds of a trial, and the long measurement of the same."""

    name: str
    rounds: Sequence[Measurement]
    long: Measurement


Row = dict[str, Any]


def judged(run: Sequence[Case], most: int = ROUNDS) -> Iterator[Row]:
    """For each case, number of rounds (up to `most`) and metric: whether the interval held,
    and half of its width.
    """
    for count in range(1, most + 1):
        noise = NoiseModel(case.rounds[:count] for case in run)
        for case in run:
            runs = case.rounds[:count]
            for tag in TAGS:
                true, value = case.long.value(tag), pool(runs).value(tag)
                interval = noise.interval(runs, tag)
                assert true is not None, (case.name, tag)
                assert value is not None, (case.name, tag)
                assert interval is not None, (case.name, tag)
                yield {
                    "case": case.name,
                    "rounds": count,
                    "tag": tag,
                    "held": interval.low <= true <= interval.high,
                    "half": (interval.high - interval.low) / 2 / value,
                }


def show(rows: Sequence[Row]) -> None:
    print("| rounds | metric | cases | held | half the interval: median, 90 % below |")
    print("|--:|---|--:|--:|--:|")
    groups: dict[tuple[int, str], list[Row]] = defaultdict(list)
    for row in rows:
        groups[row["rounds"], row["tag"]].append(row)
    for (count, tag), group in groups.items():
        halves = sorted(row["half"] for row in group)
        middle, most = statistics.median(halves), halves[int(0.9 * (len(halves) - 1))]
        held = statistics.fmean(row["held"] for row in group)
        print(
            f"| {count} | {tag} | {len(group)} | {100 * held:.1f} %"
            f" | ± {100 * middle:.1f} %, ± {100 * most:.0f} % |"
        )


# ------------------------------------------------------------------------------------- real


def real_run(config: Path, model: str, count: int) -> Iterator[Case]:
    """The cases of one model: every so many of its trials, in the order of a brute search."""
    settings = resolve_profile([], read_yaml(config), Path.cwd()).settings
    chosen = tuple(each for each in settings.models if each.name == model)
    settings = replace(settings, models=chosen)
    with ExitStack() as stack:
        bench = SlotBench(settings=settings, timings=Timings())(dict(os.environ), stack)
        (subject,) = searched_subjects(settings, bench.facts.facts)
        trials = list(BruteMode(subject, settings.search).listed().trials())
        cases = trials[:: max(len(trials) // count, 1)][:count]
        passes = [[measured(bench.runner.run(trial), trial) for trial in cases]]
        for _ in range(ROUNDS - 1):
            passes.append([measured(bench.runner.run(trial), trial) for trial in cases])
        for trial, rounds in zip(cases, zip(*passes, strict=True), strict=True):
            seconds = LONGER * sum(each.models[0].seconds for each in rounds)
            long = measured(bench.runner.run(replace(trial, round_s=seconds)), trial)
            print(f"{trial}: {rounds[0].value(TAGS[0]):.1f}, {long.value(TAGS[0]):.1f}/s")
            yield Case(name=str(trial), rounds=rounds, long=long)


def measured(outcome: object, trial: Trial) -> Measurement:
    if not isinstance(outcome, Measurement):
        sys.exit(f"{trial}: {outcome}")
    return outcome


# -------------------------------------------------------------------------------- simulated


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine whose speed changes: the sum of random movements that last for so many seconds."""

    deviations: Sequence[tuple[float, float]]  # seconds, standard deviation

    def speeds(self, seconds: float, random: np.random.Generator) -> Floats:
        """The speed in each 20 ms."""
        steps = int(seconds / 0.02) + 2
        total = np.zeros(steps)
        for lasting, deviation in self.deviations:
            keep = math.exp(-0.02 / lasting)
            shocks = random.normal(0, deviation * math.sqrt(1 - keep**2), steps)
            level = random.normal(0, deviation)
            for step in range(steps):
                level = keep * level + shocks[step]
                total[step] += level
        return np.exp(total)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Instances that compute batches of requests, in a closed loop."""

    in_flight: int
    instances: int
    batch: int
    base_ms: float
    item_ms: float
    variation: float  # of the times, as the deviation of a logarithm
    slow_share: float  # of the batches, which take four times as long

    @property
    def rate(self) -> float:
        batch = min(self.batch, max(self.in_flight / self.instances, 1))
        return 1000 * self.instances * batch / (self.base_ms + self.item_ms * batch)

    def run(
        self, begin: float, seconds: float, speeds: Floats, random: np.random.Generator
    ) -> Export:
        """The export of a load that begins at a time on the machine (s)."""
        waiting, requests = [begin] * self.in_flight, []
        free = [begin] * self.instances
        heapq.heapify(free)
        end = begin + seconds
        busy: list[tuple[float, list[float]]] = []
        clock = begin
        while clock < end:
            while waiting and free and free[0] <= clock:
                heapq.heappop(free)
                taken, waiting = waiting[: self.batch], waiting[self.batch :]
                took = (self.base_ms + self.item_ms * len(taken)) / 1000
                took *= math.exp(self.variation * random.standard_normal())
                took *= 4 if random.random() < self.slow_share else 1
                took /= speeds[min(int(clock / 0.02), len(speeds) - 1)]
                heapq.heappush(busy, (clock + took, taken))
            clock, taken = heapq.heappop(busy)
            heapq.heappush(free, clock)
            for sent in taken:
                requests.append(request(sent, clock))
                waiting.append(clock + 0.0001)
        bounds = [nanoseconds(begin + seconds * part / 3) for part in range(4)]
        ended = [each for each in requests if each.ended < bounds[-1]]
        return Export(Requests.of(ended), bounds)


def nanoseconds(seconds: float) -> int:
    return round(1e9 * (1_700_000_000 + seconds))


def request(sent: float, ended: float) -> Request:
    end = nanoseconds(ended)
    return Request(nanoseconds(sent), [end], end, [1])


def simulated_run(number: int) -> Sequence[Case]:
    """Five cases on one machine."""
    random = np.random.default_rng(number)
    machine = Machine(
        [(0.1, random.uniform(0, 0.1)), (2, random.uniform(0, 0.05)), (60, random.uniform(0, 0.04))]
    )
    servers = [
        Server(
            in_flight=int(2 ** random.integers(0, 7)),
            instances=int(random.integers(1, 5)),
            batch=int(random.choice([1, 4, 8])),
            base_ms=float(random.uniform(2, 40)),
            item_ms=float(random.uniform(0.2, 2)),
            variation=float(random.uniform(0.02, 0.5)),
            slow_share=float(random.choice([0, 0.005, 0.02])),
        )
        for _ in range(5)
    ]
    lengths = [min(max(150 / server.rate, 0.36), 1.08) for server in servers]
    whole = sum(lengths) * ROUNDS * (LONGER + 2) + 60 * ROUNDS * len(servers)
    speeds = machine.speeds(whole, random)
    clock, rounds = 0.0, []
    for _ in range(ROUNDS):
        for server, length in zip(servers, lengths, strict=True):
            rounds.append(simulated(server, clock, length, speeds, random))
            clock += length + random.uniform(1, 30)
    cases = []
    for index, (server, length) in enumerate(zip(servers, lengths, strict=True)):
        seconds = LONGER * ROUNDS * length
        long = simulated(server, clock, seconds, speeds, random)
        clock += seconds + 1
        own = rounds[index :: len(servers)]
        cases.append(Case(name=str(server), rounds=own, long=long))
    return cases


def simulated(
    server: Server, begin: float, seconds: float, speeds: Floats, random: np.random.Generator
) -> Measurement:
    export = server.run(begin, seconds, speeds, random)
    model = sampled(export, in_flight=server.in_flight, batch_size=1, with_tokens=False)
    assert model is not None, server
    return Measurement(models=(model,))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--simulated", type=int, default=0, help="number of simulated cases")
    parser.add_argument("--real", type=Path, help="a configuration with the models")
    parser.add_argument("--model", help="the model of the configuration to measure")
    parser.add_argument("--cases", type=int, default=15)
    parser.add_argument("--results", type=Path, help="a file with the results of real cases")
    given = parser.parse_args()
    rows: list[Row] = []
    if given.results and given.results.exists():
        rows += [json.loads(line) for line in given.results.read_text().splitlines()]
    if given.real:
        new = list(judged(list(real_run(given.real, given.model, given.cases))))
        rows += new
        if given.results:
            with given.results.open("a") as file:
                file.writelines(f"{json.dumps(row)}\n" for row in new)
    for number in range(given.simulated // 5):
        rows += judged(simulated_run(number))
    show(rows)


if __name__ == "__main__":
    main()
