# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles the models of cases.py on the real programs, and counts the faults that were found.

    python -m qa.outputs.run DIRECTORY [faults|healthy|NAME ...]
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from qa.outputs.cases import FAULTS, HEALTHY, PART, Case

PROGRAM = Path(sys.executable).with_name("model-analyzer")


def configuration(cases: Sequence[Case], directory: Path) -> Mapping[str, Any]:
    """Writes the models; returns the configuration that profiles them."""
    models = directory / "models"
    for case in (*cases, PART):
        case.write(models)
    return {
        "model_repository": str(models),
        "profile_models": {case.name: dict(case.settings) for case in cases},
        **({"bls_composing_models": ["part"]} if cases[0].kind == "calls" else {}),
        "override_output_model_repository": True,
        "skip_detailed_reports": True,
        "output_formats": ["json"],
        "outputs": True,
    }


def verdicts(results: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    """The proof of each model's altered configuration; of those that were checked."""
    return {
        model["model"]: proof
        for model in results["models"]
        for proof in model["proofs"]
        if not proof["variant"].endswith("_default")
    }


def main(place: Path, names: Sequence[str]) -> int:
    groups = {"faults": FAULTS, "healthy": HEALTHY}
    chosen = [
        case
        for name in names or groups
        for case in groups.get(name, [each for each in (*FAULTS, *HEALTHY) if each.name == name])
    ]
    calls = [case for case in chosen if case.kind == "calls"]
    proofs: dict[str, Mapping[str, Any]] = {}
    # a run has calling models alone
    for number, cases in enumerate([[case] for case in calls] or [[]]):
        proofs |= profiled(cases, place / f"calls{number}") if cases else {}
    proofs |= profiled([case for case in chosen if case not in calls], place / "all")
    wrong = 0
    for case in chosen:
        proof = proofs.get(case.name, {"verdict": "none", "sentence": "", "numbers": {}})
        is_right = (proof["verdict"] == "failed") == bool(case.fault)
        is_right = is_right and proof["verdict"] != "none"
        wrong += not is_right
        seconds = proof["numbers"].get("seconds", 0)
        print(
            f"{'right' if is_right else 'WRONG'}  {case.name:36} {proof['verdict']:8}"
            f" {seconds:6.1f} s  {proof['sentence']}"
        )
    for name, group in groups.items():
        own = [proofs[case.name]["verdict"] for case in group if case.name in proofs]
        print(f"{name}: {own.count('failed')} of {len(own)} accused, {own.count('unknown')} unknown")
    return 1 if wrong else 0


def profiled(cases: Sequence[Case], directory: Path) -> Mapping[str, Mapping[str, Any]]:
    if not cases:
        return {}
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    config = yaml.safe_dump(dict(configuration(cases, directory)), sort_keys=False)
    (directory / "config.yaml").write_text(config)
    with (directory / "log.txt").open("w") as log:
        subprocess.run(
            [PROGRAM, "profile", "-f", "config.yaml", "--progress", "plain"],
            cwd=directory, stdout=log, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    return verdicts(json.loads((directory / "results" / "results.json").read_text()))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
