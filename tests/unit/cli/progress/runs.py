# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A short run, played for a tracker with its own clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import islice

from benchmarks.simulated_executor import SimulatedExecutor
from model_analyzer.app.progress.events import Event, Phase, Silence, Sink
from model_analyzer.app.progress.tracker import Tracker
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import Outlook
from model_analyzer.domain.slots import Lost, Overdue, Slot
from model_analyzer.domain.trials import Trial
from model_analyzer.forecast.time_left import Durations, LanePart, TimeLeft, TrialsLeft
from model_analyzer.profiling.loop import TrialFinished, TrialOverdue, TrialStarted
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.search.plan import Subject
from tests.contract.memory_state import MemoryState
from tests.unit.search.surfaces import (
    counts,
    failure,
    growing,
    latency_within,
    limits,
    load,
    measurement,
    search,
    subject,
)

WHERE = limits()


class Kept(Silence):
    """Keeps the events."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def show(self, event: Event) -> None:
        self.events.append(event)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def listed(**settings: object) -> Subject:
    """A model with three listed loads, by default as it is and with two instances."""
    given = {"parameters": counts(2), "constraints": [latency_within(80)], **settings}
    return subject(loads=(1, 2, 4), **given)  # type: ignore[arg-type]


OUTCOMES: Sequence[Outcome] = (
    measurement(100.0, latency=10.0),
    measurement(150.0, latency=90.0),  # breaks the constraint
    measurement(140.0, latency=60.0),
    measurement(210.0, latency=20.0),
    failure(),
)


def in_windows(throughput: float, spread: float) -> Measurement:
    """A measurement with three windows that differ by this share."""
    (model,) = measurement(throughput).models
    parts = tuple(throughput * (1 + off) for off in (-spread, 0.0, spread))
    return Measurement(models=(replace(model, windows=parts),))


def play_run(
    sink: Sink,
    target: Subject | None = None,
    outcomes: Sequence[Outcome] = OUTCOMES,
    *,
    resumed: int = 0,
    model_ends: bool = True,
    outlook: Outlook | None = None,
) -> Clock:
    """Plays a run over `target` for `sink`. Each outcome comes after two seconds; the first
    `resumed` ones are from an earlier run. The search always expects the `outlook`.
    """
    target = target or listed()
    clock = Clock()
    tracker = Tracker(sink, clock=clock, hypothetically=nullcontext)
    tracker.run_started([target.name])
    tracker.phase(Phase.STARTING_SERVER)
    clock.now += 3
    part = LanePart(TrialsLeft(target, WHERE), Durations(1.5, 1.0))
    tracker.searches([target], lambda _: TimeLeft([part]))
    chosen = search(target, WHERE)
    tracker.model_started(0)
    for number, outcome in enumerate(outcomes):
        trial = chosen.ask()
        assert trial is not None
        if number >= resumed:
            tracker.tell(TrialStarted(trial, Slot(), outlook))
            clock.now += 2
        tracker.tell(TrialFinished(trial, outcome, None if number < resumed else Slot()))
        chosen.tell(trial, outcome)
    if model_ends:
        tracker.model_finished()
        tracker.phase(Phase.REPORTS)
        tracker.run_finished(0)
        tracker.close()
    return clock


def play_overdue(sink: Sink, overdue: Overdue, *, slot: str = "") -> Trial:
    """The beginning of a run, whose first trial takes long: `overdue` after 12 seconds. With the
    name of a `slot`, its executor has several and notices that.
    """
    target = listed()
    clock = Clock()
    tracker = Tracker(sink, clock=clock, hypothetically=nullcontext)
    tracker.searches(
        [target], lambda _: TimeLeft([LanePart(TrialsLeft(target, WHERE), Durations(1.5, 1.0))])
    )
    slots = [Slot(name=name) for name in (slot, "other")] if slot else [Slot()]
    tracker.model_started(0, slots)
    tracker.overdue(overdue)  # nothing is under way
    trial = search(target, WHERE).ask()
    assert trial is not None
    tracker.tell(TrialStarted(trial, slots[0]))
    clock.now += 12
    if slot:
        tracker.tell(TrialOverdue(trial, slots[0], overdue))
    else:
        tracker.overdue(overdue)
    return trial


def play_slots(
    sink: Sink, target: Subject, slots: int, *, steps: int, lost: Sequence[int] = ()
) -> float:
    """The first steps of a run with several slots; trials of these loads are lost once. Trials take
    as many seconds as their load. Returns the seconds since the run began.
    """
    unlucky = set(lost)

    def measure(trial: Trial, _slot: Slot) -> Outcome | Lost:
        if load(trial) in unlucky:
            unlucky.remove(load(trial))
            return Lost("its host is gone")
        return growing(trial)

    executor = SimulatedExecutor(slots, measure, lambda trial, _: float(load(trial)))
    began = executor.now_s
    tracker = Tracker(sink, clock=lambda: executor.now_s, hypothetically=nullcontext)
    tracker.run_started([target.name])
    expectation = TrialsLeft(target, WHERE, slots=slots)
    part = LanePart(expectation, Durations(1.5 / slots, 0.0))
    tracker.searches([target], lambda _: TimeLeft([part]))
    tracker.model_started(0, executor.slots)
    for event in islice(
        measure_all({target.lane: search(target, WHERE)}, executor, MemoryState()), steps
    ):
        tracker.tell(event)
    return executor.now_s - began


def play_kinds(sink: Sink, target: Subject, kinds: Mapping[str, tuple[str, ...]]) -> float:
    """A whole run on these kinds of hardware (their GPUs by kind), one slot each; the first kind
    takes a second for each trial, the next one two, and so on. Returns the seconds it took.
    """
    placed = [
        replace(target, setup=replace(target.setup, devices=devices)) for devices in kinds.values()
    ]
    slow = {kind: float(number) for number, kind in enumerate(kinds, 1)}
    executor = SimulatedExecutor(
        len(kinds), lambda trial, _: growing(trial), lambda _, slot: slow[slot.kind], [*kinds]
    )
    began = executor.now_s
    tracker = Tracker(sink, clock=lambda: executor.now_s, hypothetically=nullcontext)
    tracker.run_started([target.name])
    parts = [
        LanePart(TrialsLeft(each, WHERE), Durations(1.5, 0.0), lane=each.lane) for each in placed
    ]
    tracker.searches(placed, lambda _: TimeLeft(parts))
    tracker.model_started(0, executor.slots)
    searches = {each.lane: search(each, WHERE) for each in placed}
    for event in measure_all(searches, executor, MemoryState()):
        tracker.tell(event)
    tracker.model_finished()
    return executor.now_s - began
