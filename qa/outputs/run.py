# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checks the outputs of the models of cases.py on a real server, and counts the faults found.

    python -m qa.outputs.run DIRECTORY [faults|healthy|NAME ...]

The check is that of `profile`, with its default settings, of a configuration that is taken to be
the best; nothing is measured.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import yaml

from model_analyzer.app.bench.devices import Job
from model_analyzer.app.bench.workplace import serve
from model_analyzer.app.run.beginning import begin
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.config.sources import read_yaml
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import Proof, Verdict
from model_analyzer.features.proof.outputs import OutputCheck, OutputOptions
from model_analyzer.runner.server.triton import TritonServer
from qa.outputs.cases import FAULTS, HEALTHY, PART, Case

BUDGET_S = 4.0  # of each check: a twentieth of a run of 80 s


def proofs(cases: Sequence[Case], directory: Path) -> Iterator[tuple[Case, Proof]]:
    """The verdict on the altered configuration of each model."""
    shutil.rmtree(directory, ignore_errors=True)
    for case in (*cases, PART):
        case.write(directory / "models")
    config: dict[str, Any] = {
        "model_repository": str(directory / "models"),
        "output_model_repository_path": str(directory / "output"),
        "profile_models": {
            case.name: {"cpu_only": True, "perf_analyzer_flags": dict(case.flags)} for case in cases
        },
    }
    if any(case.kind == "calls" for case in cases):
        config["bls_composing_models"] = ["part"]
    path = directory / "config.yaml"
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    with ExitStack() as stack:
        job = Job.of(resolve_profile([], read_yaml(path), directory), os.environ)
        beginning = begin(job, stack)
        server = beginning.server
        assert isinstance(server, TritonServer)
        serving = serve(beginning.job, beginning.devices, beginning.place, server)
        subjects = {subject.name: subject for subject in serving.subjects}
        for case in cases:
            subject = subjects[case.name]
            (model,) = subject.models
            variant = VariantNames().variant(model.facts, case.changes)
            check = OutputCheck(server, subject, OutputOptions(), BUDGET_S)
            yield case, check.prove(subject.trial(model.workload(variant, 4, 1)))


def is_right(case: Case, proof: Proof) -> bool:
    """Whether a fault was found, or a healthy model was not accused."""
    return (proof.verdict is Verdict.FAILED) == bool(case.fault)


def main(place: Path, names: Sequence[str]) -> int:
    groups: Mapping[str, Sequence[Case]] = {"faults": FAULTS, "healthy": HEALTHY}
    by_name = {case.name: [case] for case in (*FAULTS, *HEALTHY)}
    chosen = [case for name in names or groups for case in {**by_name, **groups}[name]]
    # a run has models that call others alone
    runs = [[case for case in chosen if case.kind != "calls"]]
    runs += [[case] for case in chosen if case.kind == "calls"]
    verdicts: dict[str, Proof] = {}
    for number, cases in enumerate(filter(None, runs)):
        for case, proof in proofs(cases, place / str(number)):
            verdicts[case.name] = proof
            seconds = proof.numbers["seconds"]
            line = f"{case.name:36} {proof.verdict.value:8} {seconds:5.1f} s  {proof.sentence}"
            print("right " if is_right(case, proof) else "WRONG ", line, flush=True)
    for name, group in groups.items():
        own = [verdicts[case.name].verdict for case in group if case.name in verdicts]
        accused, unknown = own.count(Verdict.FAILED), own.count(Verdict.UNKNOWN)
        print(f"{name}: {accused} of {len(own)} accused, {unknown} not checked")
    return 0 if all(is_right(case, verdicts[case.name]) for case in chosen) else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
