# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Explains kinds of models on the real programs, and judges by their true causes.

    python -m qa.explain_kinds.run DIRECTORY [looked|judged|later|fresh|all|NAME ...] [--confirm]

A kind that was measured in DIRECTORY before is only explained again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from qa.explain_kinds.kinds import FRESH, KINDS, LATER, Kind, judged, looked_at

PROGRAM = Path(sys.executable).with_name("model-analyzer")
LIMIT_S = 300


@dataclass(frozen=True)
class Verdict:
    """What `explain` said of a kind: its causes, the first one first, and of tested advice."""

    kind: Kind
    causes: Sequence[str]
    tested: Sequence[str]
    failure: str = ""

    @property
    def is_right(self) -> bool:
        # other programs may really have been busy
        named = [cause for cause in self.causes if cause != "noise"] or [""]
        return not self.failure and named[0] in self.kind.cause.split("|")

    def __str__(self) -> str:
        right = "right" if self.is_right else "WRONG"
        said = self.failure or ", ".join(self.causes) or "-"
        tested = "".join(f"\n      {each}" for each in self.tested)
        return f"{right}  {self.kind.name:28}  {self.kind.cause or '-':36}  {said}{tested}"


def judge(kind: Kind, directory: Path, *, confirm: bool) -> Verdict:
    """Measures a kind if that was not done before, and explains it."""
    place = directory / kind.name.replace(" ", "-").replace("'", "")
    file = place / "config.yaml"
    try:
        if not file.exists():
            shutil.rmtree(place, ignore_errors=True)
            place.mkdir(parents=True)
            config = kind.write(place)
            (place / "unfinished.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
            program("profile", "-f", "unfinished.yaml", at=place)
            (place / "unfinished.yaml").rename(file)
        said = explained(place, *(["--confirm"] if confirm else []))
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return Verdict(kind, (), (), failure=str(error)[-300:])
    return Verdict(
        kind,
        [cause["cause"] for cause in said["causes"]],
        [tested(each) for each in said["confirmed"]],
    )


def tested(confirmation: Any) -> str:
    """A tested advice in a line."""
    values = [
        f"{name} {confirmation['before'][tag]:.1f} -> {confirmation['after'][tag]:.1f}"
        for name, tag in (("infer/s", "perf_throughput"), ("p99", "perf_latency_p99"))
        if confirmation["after"] is not None
    ]
    return f"{confirmation['cause']}: {confirmation['effect']} ({', '.join(values)})"


def explained(place: Path, *arguments: str) -> Any:
    output = program("explain", "-f", "config.yaml", "--format", "json", *arguments, at=place)
    (place / "explained.json").write_text(output[output.index("{\n") :])
    (hardware,) = json.loads(output[output.index("{\n") :])["hardware"]
    return hardware


def program(*arguments: str, at: Path) -> str:
    """The output of the program. Raises RuntimeError if it fails."""
    done = subprocess.run(
        [PROGRAM, *arguments], cwd=at, text=True, timeout=LIMIT_S, check=False, capture_output=True
    )
    if done.returncode:
        raise RuntimeError(f"{arguments[0]}: status {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("kinds", nargs="*", default=["all"])
    parser.add_argument("--confirm", action="store_true")
    chosen = parser.parse_args()
    sets = {
        "looked": looked_at(),
        "judged": judged(),
        "later": LATER,
        "fresh": FRESH,
        "all": KINDS,
    }
    kinds = [
        kind
        for kind in KINDS
        if any(kind in sets.get(name, ()) or kind.name == name for name in chosen.kinds)
    ]
    verdicts = []
    for kind in kinds:
        verdicts.append(judge(kind, chosen.directory.absolute(), confirm=chosen.confirm))
        print(verdicts[-1], flush=True)
    for name, group in (
        ("slow", [each for each in verdicts if each.kind.cause]),
        ("healthy", [each for each in verdicts if not each.kind.cause]),
    ):
        print(f"{name}: {sum(each.is_right for each in group)} of {len(group)} right")
    return 0 if all(each.is_right for each in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
