# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""One round: profile with faults, profile again, and compare with what should be there."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import time
from collections import deque
from collections.abc import Sequence, Set
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from qa.soaking.census import Census
from qa.soaking.checks import (
    crashes,
    differences,
    losses,
    measured_again,
    refusals,
    repetitions,
    trials_of,
    wrong_status,
)
from qa.soaking.deck import Blow, Card, Moment
from qa.soaking.faults import Fault, Strike
from qa.soaking.program import Program, marked, send, settles
from qa.soaking.replays import Book, forgotten, out_of_order, search_of, unasked, unlike
from qa.soaking.scene import Scene
from qa.soaking.venue import Venue

# Limits on a machine that needs so long for a run without a fault.
_ENDS_S, _USUAL_S = 120.0, 30.0
# The limit of that run itself.
_MOST_S = 600.0
_HASTY = 0.5
_REFUSED = frozenset({0, 1, 2})  # a second run, which may come too late to be refused

# Trials with their variants.
Trials = Set[tuple[str, str]]


@dataclass
class Result:
    """The result of a round. `hits` are the faults that took effect, `late` the others."""

    directory: Path
    hits: list[str] = field(default_factory=list)
    late: list[str] = field(default_factory=list)
    acknowledged: int = 0
    durations_s: Sequence[float] = ()  # of every run
    longest_left_s: float = 0.0  # until nothing was left of a run
    findings: list[str] = field(default_factory=list)


def undisturbed(directory: Path, venue: Venue) -> tuple[Trials, float]:
    """The trials of a run without a fault, and how much longer than usual it took: at least 1.
    Raises RuntimeError if it has findings.
    """
    with ExitStack() as closes:
        scene = venue.scene(directory, closes, 1)
        scene.set_up()
        closes.callback(_end, scene)
        run = scene.start("run")
        run.wait(_MOST_S)
        trials = trials_of(scene.kept())
        findings = [*_ended(scene, run, {0}), *_left(scene), *_agreed(scene, trials)]
    if findings or len({trial for trial, _ in trials}) != scene.task.trials:
        raise RuntimeError(
            f"a run without a fault, in {directory}: {len(trials)} trials {findings}"
        )
    shutil.rmtree(directory)
    return trials, max(1.0, run.duration_s / _USUAL_S)


def play(card: Card, directory: Path, venue: Venue, expected: Trials | None) -> Result:
    """Plays one round; removes its directory if there is no finding.

    `expected` are the trials of a run without a fault; None where the questions are recorded.
    """
    result = Result(directory)
    with ExitStack() as closes:
        scene = venue.scene(directory, closes, card.number)
        closes.callback(_end, scene)
        try:
            for blow in card.blows:
                venue.faults[blow.fault].prepare(scene)
            scene.set_up()
            with Census(scene) as census:
                result.findings += _disturb(scene, venue, card, result)
                result.findings += losses(scene.acknowledged, scene.kept())
                result.acknowledged = len(scene.acknowledged)
                result.findings += _resume(scene, expected)
            result.findings += sorted(census.findings)
        except (OSError, ValueError, psutil.Error, subprocess.SubprocessError) as error:
            result.findings.append(f"the round could not be finished: {error!r}")
        result.longest_left_s = scene.longest_left_s
        result.durations_s = [program.duration_s for program in scene.programs]
    if not result.findings:
        shutil.rmtree(directory)
    return result


def _disturb(scene: Scene, venue: Venue, card: Card, result: Result) -> list[str]:
    """Runs the program with the faults, and again each time that they have ended it."""
    blows = deque(card.blows)
    findings = []
    while blows:
        findings += _disturbed_run(scene, venue, blows, result)
    return findings


def _disturbed_run(scene: Scene, venue: Venue, blows: deque[Blow], result: Result) -> list[str]:
    """Runs the program with as many of the faults as it takes, to its end."""
    before, dice = _book(scene), blows[0].dice
    run = scene.start(f"run-{len(scene.programs)}")
    with scene.mends:
        faults = _strike(scene, venue, run, blows, result)
        scene.note_ports()
        within_s = scene.patience * min(fault.within_s for fault in faults)
        if not run.wait(within_s):
            _end(scene)
            return [f"the run did not end within {within_s:.0f} s"]
        statuses = {0, *(status for fault in faults for status in fault.statuses)}
        if not run.events or run.events[-1]["event"] == "run_finished":
            statuses |= {status for fault in faults for status in fault.statuses_idle}
        findings = [*_ended(scene, run, statuses), *_second_runs(scene, run)]
        if not (any(fault.is_swept_later for fault in faults) or _is_hasty(run, dice)):
            findings += _left(scene)
    return [*findings, *_replayed(scene, before, run)]


def _is_hasty(run: Program, dice: random.Random) -> bool:
    """Whether the next run starts at once: half of the time after the program was killed."""
    return run.process.returncode == -signal.SIGKILL and dice.random() < _HASTY


def _strike(
    scene: Scene, venue: Venue, run: Program, blows: deque[Blow], result: Result
) -> list[Fault]:
    """Strikes the run until it has ended, or no blow is left; at least with one, which may come too
    late. Returns the faults.
    """
    faults: list[Fault] = []
    while blows and not (faults and run.has_ended):
        is_in_time = _comes(blows[0].moment, run)
        if faults and not is_in_time:
            break  # for the next run
        blow = blows.popleft()
        fault = venue.faults[blow.fault]
        scene.note_ports()
        hits = is_in_time and fault.strike(Strike(scene, run, blow.dice))
        (result.hits if hits else result.late).append(blow.fault)
        faults.append(fault)
    return faults


def _comes(moment: Moment, run: Program) -> bool:
    """Waits for the moment; False if the run ends before."""
    before = len(run.acknowledged)
    run.until(lambda: len(run.acknowledged) >= before + moment.outcomes, _MOST_S)
    at = time.monotonic() + moment.delay_s
    run.until(lambda: time.monotonic() >= at)
    return not run.has_ended


def _second_runs(scene: Scene, first: Program) -> list[str]:
    """Findings about the runs that were started during the first."""
    findings = []
    for program in scene.programs[scene.programs.index(first) + 1 :]:
        if not program.wait(limit_s := scene.patience * _ENDS_S):
            findings.append(f"{program.name} did not end within {limit_s:.0f} s")
            continue
        findings += [
            *_ended(scene, program, _REFUSED),
            *refusals(program.process.returncode, program.errors),
        ]
    return findings


def _resume(scene: Scene, expected: Trials | None) -> list[str]:
    """Findings of the next run, without a fault."""
    before = _book(scene)
    acknowledged = scene.acknowledged
    scene.prefix = ()
    run = scene.start("resume", "--retry-failed")
    if not run.wait(limit_s := scene.patience * _ENDS_S):
        return [f"the next run did not end within {limit_s:.0f} s"]
    return [
        *_ended(scene, run, {0}),
        *measured_again(acknowledged, run.acknowledged),
        *_left(scene),
        *(f"file left: {path}" for path in scene.temporary_files()),
        *_agreed(scene, expected),
        *_replayed(scene, before, run, retries=True),
        *_complete(scene),
    ]


def _ended(scene: Scene, run: Program, allowed: Set[int]) -> list[str]:
    """Findings about the end of a run."""
    status = run.process.returncode
    problems = [
        *wrong_status(status, allowed, run.events, run.errors, scene.task.trials),
        *crashes("standard output", run.output),
        *crashes("standard error", run.errors),
    ]
    return [f"{run.name}: {problem}" for problem in problems]


def _left(scene: Scene) -> list[str]:
    """What is left of all runs, some time after they have ended."""
    began = time.monotonic()
    remains = settles(scene.leftovers, scene.patience * scene.task.settles_s)
    scene.longest_left_s = max(scene.longest_left_s, time.monotonic() - began)
    return remains


def _agreed(scene: Scene, expected: Trials | None) -> list[str]:
    """Findings about the checkpoint: its content, and whether every command can use it."""
    there = scene.kept()
    names = {path.name for path in scene.checkpoints.iterdir()}
    return [
        *losses(scene.acknowledged, there),
        *repetitions(there),
        *(differences(there, expected) if expected is not None else ()),
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


# -- questions of runs with several slots --------------------------------------------------------


def _book(scene: Scene) -> Book:
    """What is recorded by now; nothing where runs record no questions."""
    return Book() if scene.nodes is None else Book.of(scene.checkpoints)


def _replayed(scene: Scene, before: Book, run: Program, *, retries: bool = False) -> list[str]:
    """Findings about what a run has asked: it keeps the questions from before, and goes on as a
    replay would, unless it `retries` failures.
    """
    if scene.nodes is None:
        return []
    after = _book(scene)
    findings = forgotten(before.before_failures() if retries else before.asked, after.asked)
    if not (retries and before.failed):
        started = [event["trial"] for event in run.events if event["event"] == "trial_started"]
        findings += [*out_of_order(before, after.asked, started), *unasked(after)]
    return findings


def _complete(scene: Scene) -> list[str]:
    """Findings if a search without interruption, with the same outcomes, asks for other trials."""
    book = _book(scene)
    return unlike(search_of(scene.config, book.example), book) if book.example else []
