#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles with the real programs, injects faults, resumes, and checks that nothing is lost.

    python qa/soak.py --minutes 5
    python qa/soak.py --rounds 200 --seed 7
    python qa/soak.py --seed 7 --only-round 42        repeats the same fault at the same moment
    python qa/soak.py --executor ray --rounds 200     with two slots of a local Ray cluster

The faults are in qa/soaking/faults.py and cluster_faults.py, and the checks after them in
qa/soaking/checks.py and replays.py. A round with a finding keeps its directory, and the soak
continues; then its exit status is 1.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from qa.soaking.deck import Card, Deck
from qa.soaking.ray_nodes import RayNodes
from qa.soaking.rounds import Result, Trials, play, undisturbed
from qa.soaking.scene import COMMAND
from qa.soaking.table import Counts
from qa.soaking.venue import FAULTS, Venue, on_cluster, on_one_machine


def main() -> int:
    options = _options()
    with ExitStack() as stack:
        venue = _venue(options, stack)
        reasons = {name: fault.unavailable() for name, fault in venue.faults.items()}
        skipped = {name: reason for name, reason in reasons.items() if reason}
        faults = {
            name: fault.needs_trial for name, fault in venue.faults.items() if name not in skipped
        }
        if not faults:
            sys.exit(f"soak: nothing to do: {skipped}")
        deck = Deck(faults, options.seed, options.faults_per_round)
        out = Path(options.out or tempfile.mkdtemp(prefix="soak-")).absolute()
        out.mkdir(parents=True, exist_ok=True)
        print(f"seed {options.seed}, {len(faults)} faults, findings are kept in {out}", flush=True)
        counts = Counts()
        try:
            expected = None
            if venue.nodes is None:
                expected, patience = undisturbed(out / "undisturbed", venue)
                venue = replace(venue, patience=patience)
            cards = (deck.draw(n, venue.task(n).outcomes) for n in _numbers(options))
            _soak(cards, out, venue, expected, counts)
        except KeyboardInterrupt:
            print("interrupted")
    print(counts.table(skipped))
    return 1 if counts.findings.total() else 0


def _venue(options: argparse.Namespace, stack: ExitStack) -> Venue:
    """Where the rounds take place, with the faults of the options."""
    subprocess.run([COMMAND, "runtime", "install"], check=True)
    is_cluster = options.executor == "ray"
    venue = on_cluster(stack.enter_context(RayNodes())) if is_cluster else on_one_machine()
    names = options.fault or [*venue.faults]
    return replace(venue, faults={name: venue.faults[name] for name in names})


def _soak(
    cards: Iterable[Card], out: Path, venue: Venue, expected: Trials | None, counts: Counts
) -> None:
    for card in cards:
        began = time.monotonic()
        result = play(card, out / f"round-{card.number}", venue, expected)
        for faults, hit in ((result.hits, True), (result.late, False)):
            for fault in faults:
                counts.add(fault, hit=hit, has_finding=bool(result.findings))
        print(_line(card, result, time.monotonic() - began), flush=True)
        for finding in result.findings:
            print(f"    {finding}", flush=True)


def _line(card: Card, result: Result, duration_s: float) -> str:
    runs = " + ".join(f"{each:.1f}" for each in result.durations_s)
    verdict = f"FINDING, see {result.directory}" if result.findings else "ok"
    late = f" (late: {', '.join(result.late)})" if result.late else ""
    return (
        f"{card.seed}: {'; '.join(map(str, card.blows))}{late},"
        f" {result.acknowledged} acknowledged, {duration_s:.1f} s (runs: {runs};"
        f" nothing left after {result.longest_left_s:.1f} s): {verdict}"
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
    parser.add_argument("--executor", choices=list(FAULTS), default="local", help="default: local")
    parser.add_argument(
        "--faults-per-round", type=int, default=1, metavar="N",
        help="the program starts again each time that they have ended it (default: 1)",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="where rounds with a finding are kept")
    names = dict.fromkeys(name for faults in FAULTS.values() for name in faults)
    parser.add_argument(
        "--fault", action="append", choices=list(names), metavar="NAME",
        help=f"only this fault (can be repeated): {', '.join(names)}",
    )  # fmt: skip
    options = parser.parse_args()
    for name in options.fault or ():
        if name not in FAULTS[options.executor]:
            parser.error(f"--fault: {name} is not possible with --executor {options.executor}")
    return options


if __name__ == "__main__":
    sys.exit(main())
