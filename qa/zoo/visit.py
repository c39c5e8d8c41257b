# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Takes one kind of model through every command of the program."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from qa.zoo.judge import (
    GIVEN_UP_S,
    LONGEST_S,
    judge_capacity,
    judge_explanation,
    judge_run,
    judge_surfaces,
)
from qa.zoo.truth import Kind

PROGRAM = str(Path(sys.executable).with_name("model-analyzer"))

# A command that says nothing for so long hangs: three times as long as a measurement may take.
SILENT_S = 3 * LONGEST_S


@dataclass
class Step:
    """What a command did, and what is wrong with it."""

    name: str
    command: str = ""
    seconds: float = 0.0
    status: int | None = None
    faults: list[str] = field(default_factory=list)


@dataclass
class Answer:
    """What a command printed."""

    status: int | None
    output: str
    messages: str


class Visit:
    """The scene of one kind, with the configuration of its runs."""

    def __init__(self, kind: Kind, directory: Path, environment: Mapping[str, str] = os.environ):
        self.kind = kind
        self.scene = directory / kind.name
        self.config = kind.place(self.scene)
        self.environment = dict(environment)

    def steps(self, wanted: Iterable[str] = ()) -> Iterator[Step]:
        """The steps with these names, or all but `SINGLE`, in their order."""
        possible = set(self.kind.truth.steps or STEPS)
        chosen = possible & (set(wanted) or set(STEPS) - SINGLE)
        for name, take in STEPS.items():
            if name in chosen:
                step = Step(name)
                try:
                    take(self, step)
                except (AttributeError, LookupError, OSError, TypeError, ValueError) as error:
                    step.faults.append(f"left nothing to judge: {error!r}")
                yield step

    def write(self, name: str, **changes: Any) -> None:
        options = {
            **self.config,
            "checkpoint_directory": f"{name}/checkpoints",
            "export_path": name,
            **changes,
        }
        if options.get("run_config_search_mode") == "quick":  # takes bounds, not lists
            options["run_config_search_max_concurrency"] = max(options.pop("concurrency"))
        (self.scene / f"{name}.yaml").write_text(yaml.safe_dump(options, sort_keys=False))

    def call(
        self, step: Step, *arguments: str, until: Callable[[str], bool] = lambda line: False
    ) -> Answer:
        """Runs the program to its end, or kills it after a line `until`. Tracebacks and hangs are
        judged here.
        """
        started = time.monotonic()
        with tempfile.TemporaryFile("w+") as errors:
            process = subprocess.Popen(
                [PROGRAM, *arguments],
                cwd=self.scene, env=self.environment, text=True,
                stdout=subprocess.PIPE, stderr=errors,
            )  # fmt: skip
            output = "".join(_lines(process, until))
            process.wait()
            errors.seek(0)
            messages = errors.read()
        step.seconds += time.monotonic() - started
        step.command = " ".join(arguments)
        step.status = process.returncode
        with open(self.scene / f"{step.name}.log", "a") as log:
            log.write(f"$ model-analyzer {step.command}\n{output}{messages}\n")
        is_wanted = any(map(until, output.splitlines()))
        if step.status == -signal.SIGKILL and not is_wanted:
            step.faults.append(f"hangs: killed after {SILENT_S} s without a word")
        if "Traceback" in output + messages:
            step.faults.append("ends in a traceback: " + messages.strip().splitlines()[-1])
        return Answer(process.returncode, output, messages)

    def expect(self, step: Step, answer: Answer) -> bool:
        """Judges status and words; whether there is more to judge."""
        status = self.kind.truth.status.get(step.name, 0)
        text = answer.output + answer.messages
        if answer.status != status:
            last = [line for line in text.strip().splitlines() if line.strip()][-1:]
            step.faults.append(f"status {answer.status}, not {status}: {''.join(last)[:300]}")
        said = self.kind.truth.says.get(step.name)
        if said and not re.search(said, " ".join(text.split())):
            step.faults.append(f"does not say {said!r}")
        return answer.status == status == 0


def _lines(process: subprocess.Popen[str], until: Callable[[str], bool]) -> Iterator[str]:
    """What a program prints. It is killed after a line `until`, or if it says nothing for long."""
    assert process.stdout is not None
    with process.stdout as output:
        while True:
            silence = threading.Timer(SILENT_S, process.kill)
            silence.start()
            line = output.readline()
            silence.cancel()
            if not line:
                return
            yield line
            if until(line):
                process.kill()


def _validate(visit: Visit, step: Step) -> None:
    visit.write("adaptive", run_config_search_mode="adaptive")
    visit.expect(step, visit.call(step, "config", "validate", "adaptive.yaml"))


def _doctor(visit: Visit, step: Step) -> None:
    visit.write("adaptive", run_config_search_mode="adaptive")
    visit.expect(step, visit.call(step, "doctor", "-f", "adaptive.yaml"))


def _dry_run(visit: Visit, step: Step) -> None:
    visit.write("adaptive", run_config_search_mode="adaptive")
    answer = visit.call(step, "profile", "-f", "adaptive.yaml", "--dry-run", "--json")
    if visit.expect(step, answer):
        for subject in json.loads(answer.output)["subjects"]:
            planned = subject.get("variants")
            if planned is not None and planned < (visit.kind.truth.variants or 1):
                step.faults.append(f"plans {planned} of {visit.kind.truth.variants} variants")


def _profile(name: str, **options: Any) -> Callable[[Visit, Step], None]:
    def take(visit: Visit, step: Step) -> None:
        visit.write(name, **options)
        _judge_profile(visit, step, name)

    return take


def _brute(visit: Visit, step: Step) -> None:
    """A run that is killed after its first measurement, and then goes on."""
    visit.write("brute", run_config_search_mode=visit.kind.truth.exhaustive)
    arguments = ("profile", "-f", "brute.yaml", "--progress", "json")
    killed = visit.call(step, *arguments, until=lambda line: '"event":"trial_finished"' in line)
    acknowledged = _measured(_events(killed.output))
    if again := acknowledged & _measured(_judge_profile(visit, step, "brute")):
        step.faults.append(f"measures {len(again)} again that it acknowledged before the kill")


def _measured(events: Iterable[Mapping[str, Any]]) -> set[tuple[str, int]]:
    """The trials that this run measured itself, with their repetitions."""
    return {(e["trial"], e["repetition"]) for e in events if e.get("known") is False}


def _judge_profile(visit: Visit, step: Step, name: str) -> list[dict[str, Any]]:
    answer = visit.call(step, "profile", "-f", f"{name}.yaml", "--progress", "json")
    events = _events(answer.output)
    for event in events:
        limit_s: float = GIVEN_UP_S if event["event"] == "trial_failed" else LONGEST_S
        if name == "windows":  # they last until they are stable
            limit_s = math.inf
        if not event.get("known") and event.get("duration_s", 0) > limit_s:
            (workload, *_) = event["workloads"]
            step.faults.append(f"{workload['variant']} took {event['duration_s']:.0f} s")
    if visit.expect(step, answer):
        results = json.loads((visit.scene / name / "results" / "results.json").read_text())
        is_searched = name not in SINGLE
        step.faults += judge_run(visit.kind.truth, results, is_searched=is_searched)
        if is_searched:
            told = [event["sentence"] for event in events if event["event"] == "answer"]
            for model in results["models"]:
                pages = visit.scene / name / "reports" / "summaries" / model["model"]
                page = (pages / "result_summary.html").read_text()
                step.faults += judge_surfaces(model, told, page)
    return events


def _verified(visit: Visit, step: Step) -> None:
    """The recommendation performs as promised on a plain server with the written files."""
    visit.write("verified", verify=True, run_config_search_mode="adaptive", max_measurements=10)
    _judge_profile(visit, step, "verified")
    if step.status == 0:
        results = json.loads((visit.scene / "verified" / "results" / "results.json").read_text())
        proofs = [proof for model in results["models"] for proof in model["proofs"]]
        deployed = [proof for proof in proofs if proof["kind"] == "deployed"]
        step.faults += [p["sentence"] for p in deployed if p["verdict"] != "passed"]
        if not deployed:
            step.faults.append("proves nothing")


def _resume(visit: Visit, step: Step) -> None:
    """The same run again measures nothing."""
    answer = visit.call(step, "profile", "-f", "adaptive.yaml", "--progress", "json")
    if visit.expect(step, answer) and (measured := _measured(_events(answer.output))):
        step.faults.append(f"measures {len(measured)} trials again")


def _report(visit: Visit, step: Step) -> None:
    name = _recommended(visit)
    answer = visit.call(step, "report", "-f", "adaptive.yaml", "-n", name, "-e", "page", "-o", "md")
    if visit.expect(step, answer):
        (page,) = visit.scene.glob("page/reports/detailed/*/detailed_report.md")
        if "nan" in page.read_text().split():
            step.faults.append(f"{page.name} shows a value that is not a number")


def _best(visit: Visit, step: Step) -> None:
    answer = visit.call(step, "best", "-f", "adaptive.yaml")
    if visit.expect(step, answer):
        written = (visit.scene / "adaptive" / "best" / "m" / "config.pbtxt").read_text()
        if answer.output.strip() != written.strip():
            step.faults.append("prints another configuration than the run wrote")


def _explain(visit: Visit, step: Step) -> None:
    variant = [visit.kind.truth.explained] if visit.kind.truth.explained else []
    answer = visit.call(step, "explain", "-f", "brute.yaml", "--format", "json", *variant)
    if visit.expect(step, answer):
        step.faults += judge_explanation(visit.kind.truth, _document(answer.output))


def _capacity(visit: Visit, step: Step) -> None:
    given = visit.kind.truth.capacity
    arguments = ("--rate", str(given.get("rate", 100)), "--format", "json", *given.get("flags", ()))
    answer = visit.call(step, "capacity", "-f", "brute.yaml", *arguments)
    if answer.status not in (0, 1):
        step.faults.append(f"status {answer.status}: {answer.messages.strip()[-300:]}")
    elif "replicas" in given or answer.status == 1:
        step.faults += judge_capacity(visit.kind.truth, _document(answer.output))


def _recommended(visit: Visit) -> str:
    results = json.loads((visit.scene / "adaptive" / "results" / "results.json").read_text())
    return str(results["models"][0]["recommended"]["variant"])


def _document(output: str) -> Any:
    """The JSON that a command printed, after whatever else it said."""
    return json.loads(output[output.index("{\n") :])


def _events(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


STEPS: dict[str, Callable[[Visit, Step], None]] = {
    "validate": _validate,
    "doctor": _doctor,
    "dry run": _dry_run,
    "default": _profile("default", run_config_search_disable=True),
    "adaptive": _profile("adaptive", run_config_search_mode="adaptive", max_measurements=10),
    "resume": _resume,
    "brute": _brute,
    "windows": _profile("windows", measurement="perf_analyzer", run_config_search_disable=True),
    "verified": _verified,
    "report": _report,
    "best": _best,
    "explain": _explain,
    "capacity": _capacity,
}

# Steps that are taken if they are named: with the model's own configuration only, the second in
# perf_analyzer's own windows; and a search whose recommendation is verified.
SINGLE = {"default", "windows", "verified"}
