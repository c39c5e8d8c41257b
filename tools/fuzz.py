# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Tries random and damaged configurations and command lines until one is not told what is wrong.

python tools/fuzz.py --examples 200000 --seed 1

Hypothesis remembers what it tried, so the examples are tried in batches, each with its own seed.
The first finding is shrunk and shown, with the batch that found it.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.unit.config import configurations

BATCH = 1000

# what is tried, how it is checked, and its share of the examples
KINDS: dict[str, tuple[SearchStrategy[Any], Callable[[Any], None], float]] = {
    "texts": (configurations.mutated_texts(), configurations.text_resolves_or_tells, 0.4),
    "trees": (configurations.CONFIGURATIONS, configurations.tree_resolves_or_tells, 0.3),
    "anything": (configurations.TREES, configurations.tree_resolves_or_tells, 0.1),
    "command lines": (
        configurations.command_lines(), configurations.command_line_resolves_or_tells, 0.2,
    ),
}  # fmt: skip


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--examples", type=int, default=200_000)
    options.add_argument("--seed", type=int, default=int(time.time()))
    chosen = options.parse_args()
    print(f"{chosen.examples} examples, seed {chosen.seed}", flush=True)
    for name, (strategy, check, share) in KINDS.items():
        wanted, done, batch = round(chosen.examples * share), 0, 0
        began = time.perf_counter()
        while done < wanted:
            most = min(BATCH, wanted - done)
            done += try_batch(strategy, check, most, f"{chosen.seed} {name} {batch}")
            batch += 1
        print(f"{name}: {done} in {time.perf_counter() - began:.0f} s", flush=True)


def try_batch(
    strategy: SearchStrategy[Any], check: Callable[[Any], None], most: int, name: str
) -> int:
    """How many examples were tried; `name` is the seed."""
    tried = 0

    @seed(name)
    @settings(
        max_examples=most,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate, Phase.shrink],
    )
    @given(strategy)
    def run(example: Any) -> None:
        nonlocal tried
        tried += 1
        check(example)

    try:
        run()
    except BaseException:
        print(f"found in batch {name!r}", file=sys.stderr)
        raise
    return max(tried, 1)


if __name__ == "__main__":
    main()
