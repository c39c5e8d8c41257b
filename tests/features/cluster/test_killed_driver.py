# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Slots that share the checkpoint directory, and a driver that is killed at any moment.

The loop, the executor, the state and the journals are the real ones; the cluster is pretended. A
driver is killed by going on with a copy of its directory.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import pytest

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.slots import Lane, Slot
from model_analyzer.domain.trials import Trial
from model_analyzer.profiling.loop import Event, TrialFinished, TrialLost
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.runner.executors.several_slots import ClusterExecutor, SlotLostError
from model_analyzer.state.checkpoint import load, read_file
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.node import NodeJournal
from model_analyzer.state.profile_state import ProfileState
from tests.fakes.cluster import Answer, FakeCluster
from tests.unit.profiling.test_loop import ListedSearch
from tests.unit.state.samples import measurement, several

NAMES = ("gpu1", "gpu2", "gpu3")
TRIALS = several(7)

# An outcome of its own for each measurement, so that it shows which one counts.
_NUMBERS = count(1)

Measure = Callable[[str, Trial], tuple[Answer, float]]
Outcomes = dict[str, Outcome]  # by key of the trial


def run(directory: Path, measure: Measure, watch: Callable[[Event], None]) -> None:
    """A driver measures all trials and saves."""
    cluster = FakeCluster(measure)
    executor = ClusterExecutor(
        cluster,
        [Slot(name=name, host=name, node=name) for name in NAMES],
        interruptible=nullcontext,
        clock=cluster.clock,
    )
    with ProfileState(directory) as state:
        for event in measure_all({Lane("m"): ListedSearch(TRIALS)}, executor, state):
            watch(event)
        state.save()


@dataclass
class Moment:
    """The directory at a moment, and what was known then."""

    directory: Path
    acknowledged: Outcomes
    stored: Outcomes
    under_way: dict[str, Trial]  # by slot, if its outcome is not stored


@dataclass
class Killed:
    """A driver whose directory is copied at each moment. Each slot stores its outcome long before
    the driver gets it, or not at all.
    """

    directory: Path
    dice: random.Random
    moments: list[Moment] = field(default_factory=list)
    acknowledged: Outcomes = field(default_factory=dict)
    stored: Outcomes = field(default_factory=dict)
    under_way: dict[str, Trial] = field(default_factory=dict)

    def run(self) -> None:
        directory = self.directory / "run"
        directory.mkdir()
        with ExitStack() as stack:
            journals = {name: stack.enter_context(NodeJournal(directory, name)) for name in NAMES}

            def measure(slot: str, trial: Trial) -> tuple[Answer, float]:
                outcome = measurement(next(_NUMBERS))
                if self.dice.random() < 0.5:
                    journals[slot].record(trial, outcome)
                    self.stored[trial.key] = outcome
                else:
                    self.under_way[slot] = trial
                self._look()
                return outcome, self.dice.uniform(1, 9)

            run(directory, measure, self._watch)

    def _watch(self, event: Event) -> None:
        if isinstance(event, TrialFinished):
            self.acknowledged[event.trial.key] = event.outcome
            assert event.slot is not None
            self.under_way.pop(event.slot.name, None)
        self._look()

    def _look(self) -> None:
        copy = self.directory / str(len(self.moments))
        shutil.copytree(self.directory / "run", copy)
        self.moments.append(
            Moment(copy, dict(self.acknowledged), dict(self.stored), dict(self.under_way))
        )


def outcomes(directory: Path) -> Outcomes:
    return {key: record.outcome for key, record in load(directory).records.items()}


def newest(directory: Path) -> Path:
    layout = Layout(directory)
    return layout.checkpoint(layout.indices()[-1])


@pytest.mark.parametrize("seed", range(3))
def test_a_driver_killed_at_any_moment_loses_unfinished_trials_only(
    tmp_path: Path, seed: int
) -> None:
    killed = Killed(tmp_path, random.Random(seed))
    killed.run()
    assert len(killed.moments) == 3 * len(TRIALS)
    for moment in killed.moments:
        known = {**moment.stored, **moment.acknowledged}
        measured = Outcomes()

        def measure(slot: str, trial: Trial, measured: Outcomes = measured) -> tuple[Answer, float]:
            assert trial.key not in measured
            measured[trial.key] = measurement(next(_NUMBERS))
            return measured[trial.key], 1.0

        run(moment.directory, measure, lambda _: None)

        assert not known.keys() & measured.keys(), "measured twice"
        assert outcomes(moment.directory) == {**known, **measured}
        assert len(load(moment.directory).records) == len(TRIALS)
        assert read_file(newest(moment.directory)).is_accessible
        assert not [path for path in moment.directory.iterdir() if path.suffix != ".ckpt"]


@pytest.mark.parametrize("seed", range(3))
def test_slots_of_a_killed_driver_may_finish_at_any_time(tmp_path: Path, seed: int) -> None:
    """Their outcomes count if the next driver has none, and never replace what it has recorded."""
    dice = random.Random(seed)
    killed = Killed(tmp_path, dice)
    killed.run()
    for moment in killed.moments[:: dice.randint(2, 4)]:
        recorded = dict(moment.acknowledged)
        with slots_that_go_on(moment, dice) as finish_one:

            def watch(event: Event, recorded: Outcomes = recorded) -> None:
                if isinstance(event, TrialFinished):
                    assert recorded.setdefault(event.trial.key, event.outcome) == event.outcome
                finish_one()

            run(
                moment.directory,
                lambda *_: (measurement(next(_NUMBERS)), dice.uniform(1, 9)),
                watch,
            )
            assert outcomes(moment.directory) == recorded

        with ProfileState(moment.directory) as state:
            state.save()
        assert outcomes(moment.directory) == recorded
        assert len(load(moment.directory).records) == len(TRIALS)
        assert not [path for path in moment.directory.iterdir() if path.suffix != ".ckpt"]


@contextmanager
def slots_that_go_on(moment: Moment, dice: random.Random) -> Iterator[Callable[[], None]]:
    """The slots of a killed driver, with the trials that were under way: a function that lets one
    of them finish now and then. The others finish at the end.
    """
    with ExitStack() as stack:
        left = [
            (stack.enter_context(NodeJournal(moment.directory, name)), trial)
            for name, trial in moment.under_way.items()
        ]

        def finish_one() -> None:
            if left and dice.random() < 0.3:
                journal, trial = left.pop()
                journal.record(trial, measurement(next(_NUMBERS)))
                if dice.random() < 0.5:
                    journal.close()

        yield finish_one
        for journal, trial in left:
            journal.record(trial, measurement(next(_NUMBERS)))


# -- a slot that is lost ---------------------------------------------------------------------------


def lost_once(directory: Path, slot: NodeJournal, *, stores: bool) -> tuple[list[Event], list[str]]:
    """The events of a run whose first trial is lost on gpu1; and on which slots each trial ran."""
    ran: list[str] = []
    events: list[Event] = []

    def measure(name: str, trial: Trial) -> tuple[Answer, float]:
        ran.append(name)
        if len(ran) > 1:
            return measurement(), 1.0
        if stores:
            slot.record(trial, measurement(77))
        return SlotLostError("the actor died"), 0.5

    run(directory, measure, events.append)
    return events, ran


def test_a_slot_that_dies_before_it_answers_has_not_lost_its_trial(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "gpu1") as slot:
        events, ran = lost_once(tmp_path, slot, stores=True)

    first = next(event for event in events if isinstance(event, TrialFinished))
    assert (first.trial, first.outcome) == (TRIALS[0], measurement(77))
    assert first.slot is not None
    assert first.slot.name == "gpu1"
    assert not [event for event in events if isinstance(event, TrialLost)]
    assert len(ran) == len(TRIALS)
    assert dict(load(tmp_path).header.lost) == {}


def test_a_slot_that_dies_before_it_stores_has_lost_its_trial(tmp_path: Path) -> None:
    with NodeJournal(tmp_path, "gpu1") as slot:
        events, ran = lost_once(tmp_path, slot, stores=False)

    assert len([event for event in events if isinstance(event, TrialLost)]) == 1
    assert len(ran) == len(TRIALS) + 1
    assert dict(read_file(newest(tmp_path)).header.lost) == {"gpu1": 1}


def test_the_outcome_of_a_slot_that_hung_comes_too_late(tmp_path: Path) -> None:
    """Meanwhile another slot has measured the trial, and the search has got that outcome."""
    with NodeJournal(tmp_path, "gpu1") as slot:
        lost_once(tmp_path, slot, stores=False)
        before = outcomes(tmp_path)
        slot.record(TRIALS[0], measurement(88))
    with ProfileState(tmp_path) as state:
        assert state.save() is None

    assert outcomes(tmp_path) == before
    assert [path.name for path in tmp_path.iterdir()] == ["0.ckpt"]


def test_without_a_shared_directory_only_the_driver_stores(tmp_path: Path) -> None:
    run(tmp_path, lambda *_: (measurement(), 1.0), lambda _: None)

    records = load(tmp_path).records
    assert {record.node for record in records} == set(NAMES)
    assert [path.name for path in tmp_path.iterdir()] == ["0.ckpt"]
