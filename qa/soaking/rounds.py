# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One round: profile with a fault, profile again, and compare with a run without a fault."""

from __future__ import annotations

import shutil
import signal
import subprocess
import time
from collections.abc import Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from qa.soaking.checks import (
    crashes,
    differences,
    losses,
    measured_again,
    refusals,
    repetitions,
    wrong_status,
)
from qa.soaking.deck import TRIALS, Card, Moment
from qa.soaking.faults import FAULTS, Fault, Strike
from qa.soaking.program import Program, leftovers, marked, send, settles
from qa.soaking.scene import Scene

_SETTLES_S = 15.0
_ENDS_S = 120.0
_REFUSED = frozenset({0, 1, 2})  # a second run, which may come too late to be refused

# Trials with their variants.
Trials = Set[tuple[str, str]]


@dataclass
class Result:
    """The result of a round."""

    directory: Path
    hit: bool = False
    acknowledged: int = 0
    durations_s: Sequence[float] = ()  # of every run
    findings: list[str] = field(default_factory=list)


def undisturbed(directory: Path) -> Trials:
    """The trials of a run without a fault. Raises RuntimeError if it has findings."""
    with ExitStack() as closes:
        scene = Scene(directory, closes)
        scene.set_up()
        closes.callback(_end, scene)
        run = scene.start("run")
        run.wait(_ENDS_S)
        trials = {(outcome.trial, outcome.variant) for outcome in scene.kept()}
        findings = [*_ended(run, {0}), *_left(scene), *_agreed(scene, trials)]
    if findings or len({trial for trial, _ in trials}) != TRIALS:
        raise RuntimeError(
            f"a run without a fault, in {directory}: {len(trials)} trials {findings}"
        )
    shutil.rmtree(directory)
    return trials


def play(card: Card, directory: Path, expected: Trials) -> Result:
    """Plays one round; removes its directory if there is no finding."""
    result = Result(directory)
    fault = FAULTS[card.fault]
    with ExitStack() as closes:
        scene = Scene(directory, closes)
        closes.callback(_end, scene)
        try:
            fault.prepare(scene)
            scene.set_up()
            with scene.mends:
                result.findings += _disturb(scene, card, fault, result)
            result.findings += losses(scene.acknowledged, scene.kept())
            result.acknowledged = len(scene.acknowledged)
            result.findings += _resume(scene, expected)
        except (OSError, ValueError, psutil.Error, subprocess.SubprocessError) as error:
            result.findings.append(f"the round could not be finished: {error!r}")
        result.durations_s = [program.duration_s for program in scene.programs]
    if not result.findings:
        shutil.rmtree(directory)
    return result


def _disturb(scene: Scene, card: Card, fault: Fault, result: Result) -> list[str]:
    """Runs the program with the fault, to its end."""
    run = scene.start("run")
    if _comes(card.moment, run):
        scene.note_ports()
        result.hit = fault.strike(Strike(scene, run, card.dice))
    scene.note_ports()
    if not run.wait(fault.within_s):
        _end(scene)
        return [f"the run did not end within {fault.within_s:g} s"]
    allowed = {*fault.statuses, 0}  # it may just have finished
    findings = _ended(run, allowed if run.events else allowed | fault.statuses_early)
    for another in scene.programs[1:]:
        findings += [
            *_ended(another, _REFUSED),
            *refusals(another.process.returncode, another.errors),
        ]
    return findings if fault.is_swept_later else [*findings, *_left(scene)]


def _comes(moment: Moment, run: Program) -> bool:
    """Waits for the moment; False if the run ends before."""
    run.until(lambda: len(run.acknowledged) >= moment.outcomes, _ENDS_S)
    at = time.monotonic() + moment.delay_s
    run.until(lambda: time.monotonic() >= at)
    return not run.has_ended


def _resume(scene: Scene, expected: Trials) -> list[str]:
    """Findings of the next run, without a fault."""
    before = scene.acknowledged
    scene.prefix = ()
    run = scene.start("resume", "--retry-failed")
    if not run.wait(_ENDS_S):
        return [f"the next run did not end within {_ENDS_S:g} s"]
    return [
        *_ended(run, {0}),
        *measured_again(before, run.acknowledged),
        *_left(scene),
        *(f"file left: {path}" for path in scene.temporary.iterdir()),
        *(f"file left: {path}" for path in scene.work.rglob("*.tmp")),
        *_agreed(scene, expected),
    ]


def _ended(run: Program, allowed: Set[int]) -> list[str]:
    """Findings about the end of a run."""
    status = run.process.returncode
    problems = [
        *wrong_status(status, allowed, run.events, run.errors, TRIALS),
        *crashes("standard output", run.output),
        *crashes("standard error", run.errors),
    ]
    return [f"{run.name}: {problem}" for problem in problems]


def _left(scene: Scene) -> list[str]:
    return settles(lambda: leftovers(scene.mark, scene.programs, scene.ports), _SETTLES_S)


def _agreed(scene: Scene, expected: Trials) -> list[str]:
    """Findings about the checkpoint: its content, and whether every command can use it."""
    there = scene.kept()
    names = {path.name for path in scene.checkpoints.iterdir()}
    return [
        *losses(scene.acknowledged, there),
        *repetitions(there),
        *differences(there, expected),
        *(f"not removed: checkpoints/{name}" for name in names if not name.endswith(".ckpt")),
        *_works(scene, "checkpoint", "verify"),
        *_works(scene, "best", "-m", "add_sub"),
        *_works(scene, "report", "-n", "add_sub_config_default", "-e", "exported"),
    ]


def _works(scene: Scene, *words: str) -> list[str]:
    status, output, errors = scene.run(*words)
    name = " ".join(words[:2])
    problems = crashes(name, output + errors)
    if status:
        problems.append(f"{name}: exit status {status}: {errors.strip()[-300:]}")
    return problems


def _end(scene: Scene) -> None:
    """Kills all processes of a round, after a hang or an interrupt."""
    send(marked(scene.mark), signal.SIGKILL)
    for program in scene.programs:
        program.wait(5)
