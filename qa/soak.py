#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles with the real programs, injects a fault, resumes, and checks that nothing is lost.

    python qa/soak.py --minutes 5
    python qa/soak.py --rounds 200 --seed 7
    python qa/soak.py --seed 7 --only-round 42        repeats the same fault at the same moment

The faults are in qa/soaking/faults.py, and the checks after them in qa/soaking/checks.py. A round
with a finding keeps its directory, and the soak continues; then its exit status is 1.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from qa.soaking.deck import Card, draw
from qa.soaking.faults import FAULTS
from qa.soaking.rounds import Result, Trials, play, undisturbed
from qa.soaking.scene import COMMAND
from qa.soaking.table import Counts


def main() -> int:
    options = _options()
    skipped = {name: reason for name in options.fault if (reason := FAULTS[name].unavailable())}
    faults = {name: FAULTS[name].latest for name in options.fault if name not in skipped}
    if not faults:
        sys.exit(f"soak: nothing to do: {skipped}")
    subprocess.run([COMMAND, "runtime", "install"], check=True)
    out = Path(options.out or tempfile.mkdtemp(prefix="soak-")).absolute()
    out.mkdir(parents=True, exist_ok=True)
    print(f"seed {options.seed}, {len(faults)} faults, findings are kept in {out}", flush=True)
    counts = Counts()
    try:
        expected = undisturbed(out / "undisturbed")
        cards = (draw(number, faults, options.seed) for number in _numbers(options))
        _soak(cards, out, expected, counts)
    except KeyboardInterrupt:
        print("interrupted")
    print(counts.table(skipped))
    return 1 if counts.findings.total() else 0


def _soak(cards: Iterable[Card], out: Path, expected: Trials, counts: Counts) -> None:
    for card in cards:
        began = time.monotonic()
        result = play(card, out / f"round-{card.number}", expected)
        counts.add(card.fault, hit=result.hit, has_finding=bool(result.findings))
        print(_line(card, result, time.monotonic() - began), flush=True)
        for finding in result.findings:
            print(f"    {finding}", flush=True)


def _line(card: Card, result: Result, duration_s: float) -> str:
    runs = " + ".join(f"{each:.1f}" for each in result.durations_s)
    verdict = f"FINDING, see {result.directory}" if result.findings else "ok"
    return (
        f"{card.seed}: {card.fault}, {card.moment}{'' if result.hit else ' (late)'},"
        f" {result.acknowledged} acknowledged, {duration_s:.1f} s (runs: {runs}): {verdict}"
    )


def _numbers(options: argparse.Namespace) -> Iterator[int]:
    """The numbers of the rounds, until there were enough or the time is up."""
    if options.only_round:
        yield options.only_round
        return
    end = time.monotonic() + (options.minutes or float("inf")) * 60
    for number in itertools.count(1):
        if number > (options.rounds or float("inf")) or time.monotonic() > end:
            return
        yield number


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--rounds", type=int, metavar="N", help="how many rounds")
    length.add_argument("--minutes", type=float, metavar="M", help="no new round after that time")
    length.add_argument("--only-round", type=int, metavar="K", help="one round of this seed")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="default: 0")
    parser.add_argument("--out", metavar="DIR", help="where rounds with a finding are kept")
    parser.add_argument(
        "--fault", action="append", choices=list(FAULTS), metavar="NAME",
        help=f"only this fault (can be repeated): {', '.join(FAULTS)}",
    )  # fmt: skip
    options = parser.parse_args()
    options.fault = options.fault or list(FAULTS)
    return options


if __name__ == "__main__":
    sys.exit(main())
