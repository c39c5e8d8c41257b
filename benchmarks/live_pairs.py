# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How often does `compare --live` find a server that is 5 % slower, and accuse one that is not?

    model-analyzer compare --live models models --budget 5m --outputs off \\
        --fail-on 'perf_throughput<0%' --format json -o equal.json
    python benchmarks/live_pairs.py equal.json --tries 40

The pairs of two equal servers are the noise: tries draw from them, each with its sides as measured
or exchanged, for as many pairs as fit into ten minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))

from model_analyzer.domain.metrics import METRICS, Better
from model_analyzer.features.compare.facts.comparison import Pairs, verdict
from model_analyzer.results.change import ChangeVerdict

_BUDGET_S = 600.0

Values = Mapping[str, Sequence[tuple[float, float]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", nargs="+", type=Path)
    parser.add_argument("--tries", type=int, default=40)
    parser.add_argument("--slower", type=float, default=5.0, help="percent")
    options = parser.parse_args()
    print("| recording | pairs in 10 min | slower | found or accused | decided | seconds, median |")
    print("|---|--:|--:|--:|--:|--:|")
    for path in options.recordings:
        (model,) = json.loads(path.read_text())["models"]
        live = model["live"]
        pair_s = live["seconds"] / live["pairs"]
        most = int(_BUDGET_S / pair_s)
        for slower in (options.slower, 0.0):
            draws = random.Random(slower)
            tries = [tried(live["values"], slower, most, draws) for _ in range(options.tries)]
            worse = sum(is_worse for is_worse, _, _ in tries)
            decided = sum(is_decided for _, is_decided, _ in tries)
            seconds = median(count for _, _, count in tries) * pair_s
            print(
                f"| {path.stem} | {most} | {slower:g} % | {worse} of {len(tries)} |"
                f" {decided} of {len(tries)} | {seconds:.0f} |"
            )


def tried(noise: Values, slower: float, most: int, draws: random.Random) -> tuple[bool, bool, int]:
    """Whether the new side was found to be worse, whether it was decided, and after how many pairs.

    The new side is so many percent slower.
    """
    pairs = Pairs(values={tag: [] for tag in noise}, intervals=len(noise))
    count, factor = len(next(iter(noise.values()))), 1 - slower / 100
    for _ in range(most):
        place, is_exchanged = draws.randrange(count), draws.random() < 0.5
        for tag, values in noise.items():
            base, new = reversed(values[place]) if is_exchanged else values[place]
            is_rate = METRICS[tag].better is Better.HIGHER
            pairs.values[tag].append((base, new * factor if is_rate else new / factor))
        if pairs.is_decided([]):
            break
    verdicts = [verdict(tag, pairs.change(tag)) for tag in noise]
    used = len(next(iter(pairs.values.values())))
    return ChangeVerdict.WORSE in verdicts, pairs.is_decided([]), used


if __name__ == "__main__":
    main()
