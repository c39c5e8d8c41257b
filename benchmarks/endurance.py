# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How often does `endure` find a loss of 1 % per minute, a leak of 1 MB per minute, and a stall of
0.8 s every four minutes, within 15 minutes; and how often does it accuse a healthy model?

    python benchmarks/endurance.py JOURNAL ... --tries 60
    python benchmarks/endurance.py --real 15m

The first puts faults into the noise of healthy models, on a virtual clock: a JOURNAL is the
`endurance-*.jsonl` of a healthy run of 15 minutes. A try is made of blocks of it, of three minutes
each. The second serves models with these faults, at the same time, on the real server.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from model_analyzer.features.proof.facts.endurance import MEMORY, Sample, judged
from model_analyzer.state.format.codec import decode
from qa.prepared_models import Served

SECONDS, BLOCK, WARM, AFTER = 900.0, 18, 3, 4
DECAY, LEAK, STALL_S, PERIOD_S = 0.01, 1.0, 0.8, 240.0
# a fault, and the word by which it is told
FAULTS = {"none": "held", "decay": "loses", "leak": "grows", "stall": "stands still"}
MODELS = {
    "none": {},
    "decay": {"slower_each_min": 0.012},
    "leak": {"leak_kb": 0.15},
    "stall": {"still_s": STALL_S, "still_each_s": PERIOD_S},
}


def healthy(journal: Sequence[Sample], chance: random.Random) -> Sequence[Sample]:
    """Fifteen minutes of noise: blocks that begin anywhere (a moving block bootstrap)."""
    samples: list[Sample] = []
    while True:
        begin = chance.randint(WARM, len(journal) - BLOCK)
        for sample in journal[begin : begin + BLOCK]:
            if sum(each.seconds for each in samples) >= SECONDS - 5:
                return samples
            values = {**sample.values, MEMORY: 50.0}
            samples.append(replace(sample, begin=0, run=0, values=values))


def spoilt(samples: Sequence[Sample], fault: str, chance: random.Random) -> Iterator[Sample]:
    elapsed, phase = 0.0, chance.uniform(0, PERIOD_S)
    for sample in samples:
        ticks, values = [], dict(sample.values)
        for seconds, requests in sample.ticks:
            share = 1.0
            if fault == "decay":
                share -= DECAY * elapsed / 60
            if fault == "stall":
                stalls = [phase + PERIOD_S * number for number in range(-1, 5)]
                share -= sum(
                    max(min(elapsed + seconds, at + STALL_S) - max(elapsed, at), 0) for at in stalls
                ) / max(seconds, 1e-9)
            ticks.append((seconds, requests * share))
            elapsed += seconds
        if fault == "leak":
            values[MEMORY] += LEAK * elapsed / 60
        yield replace(sample, ticks=ticks, values=values)


def simulate(paths: Sequence[Path], tries: int) -> None:
    chance = random.Random(1)
    journals = [
        [Sample(**decode(line)["sample"]) for line in path.read_bytes().splitlines()]
        for path in paths
    ]
    for fault, word in FAULTS.items():
        verdicts, found = Counter[str](), 0
        for _ in range(tries):
            samples = healthy(chance.choice(journals), chance)
            after = samples[-AFTER:]  # as neighbours were at the end, without the fault
            result = judged([*spoilt(samples, fault, chance)], after, is_open=False)
            verdicts[result.verdict.value] += 1
            found += word in result.sentence
        print(f"{fault}: {word!r} in {found} of {tries}; {dict(verdicts)}", flush=True)


def serve(duration: str) -> None:
    with tempfile.TemporaryDirectory() as directory:
        running = {}
        for fault, does in MODELS.items():
            place = Path(directory, fault)
            Served(does={"sleep_ms": 8, **does}).write(place / "models" / "m")
            config = {
                "model_repository": "models",
                "output_model_repository_path": "output",
                "profile_models": {"m": {"cpu_only": True}},
                "run_config_search_disable": True,
                "concurrency": [4],
                "endurance": duration,
            }
            (place / "config.yaml").write_text(yaml.safe_dump(config))
            command = ["model-analyzer", "profile", "-f", "config.yaml", "-q"]
            running[fault] = subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL)
        for fault, process in running.items():
            process.wait()
            results = Path(directory, fault, "results", "results.json")
            for proof in json.loads(results.read_text())["models"][0]["proofs"]:
                print(f"{fault}: {proof['verdict']}: {proof['sentence']}", flush=True)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("journals", type=Path, nargs="*")
    parser.add_argument("--tries", type=int, default=60)
    parser.add_argument("--real", metavar="DURATION")
    options = parser.parse_args()
    if options.journals:
        simulate(options.journals, options.tries)
    if options.real:
        serve(options.real)


if __name__ == "__main__":
    main()
