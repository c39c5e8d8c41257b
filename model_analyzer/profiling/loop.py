# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The main loop: ask the search, look up or measure the trial, record and tell its outcome."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Executor, Search, State
from model_analyzer.domain.slots import Finished, Lane, Lost, Slot, Unfinished
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import ClusterError
from model_analyzer.profiling.failures import LostTrials
from model_analyzer.profiling.loop_events import (
    Event,
    TrialFinished,
    TrialLost,
    TrialOverdue,
    TrialStarted,
)
from model_analyzer.profiling.questions import RunningLane


def profile(
    searches: Mapping[Lane, Search],
    executor: Executor,
    state: State,
    *,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Runs all searches to their end at the same time, each on the slots of its kind, with as many
    trials at once as there are slots.

    Once `is_stopping`, it starts no further trials and ends with those under way. To stop at once,
    stop iterating. Raises ClusterError at its end if a search could not go on without slots.
    """
    run = _Run(executor, state, is_stopping)
    lanes = {
        lane.kind: RunningLane(lane, search, state, executor) for lane, search in searches.items()
    }
    for lane in lanes.values():
        yield from run.finish(lane, lane.questions.replay(), None)
    while True:
        for lane in lanes.values():
            yield from run.fill(lane)
        if not any(map(run.is_open, lanes.values())):
            break
        finished = executor.wait()
        if isinstance(finished, Unfinished):
            yield TrialOverdue(finished.trial, finished.slot, finished.overdue)
        elif finished is not None:
            yield from run.take(lanes[finished.slot.kind], finished)
    for lane in lanes.values():
        if lane.given_up is not None:
            yield lane.given_up
    stuck = [lane for lane in lanes.values() if not lane.is_over]
    if stuck and not is_stopping():
        which = f" with {'; '.join(lane.kind for lane in stuck)}" if len(lanes) > 1 else ""
        raise ClusterError(
            f"all slots{which} were lost: look at their machines, then run again to continue"
        )


class _Run:
    """The steps of the loop."""

    def __init__(self, executor: Executor, state: State, is_stopping: Callable[[], bool]) -> None:
        self._executor = executor
        self._state = state
        self._is_stopping = is_stopping
        self._losses = LostTrials(state)

    def fill(self, lane: RunningLane) -> Iterator[Event]:
        """Starts trials on the free slots of a lane."""
        while not (lane.is_over or self._is_stopping()) and (free := lane.free):
            trial = lane.next()
            if trial is None:
                break
            outcome = self._state.outcome_of(trial) or lane.foresight.failure_of(trial)
            if outcome is not None:
                yield from self.finish(lane, lane.questions.answer(trial.key, outcome), None)
            elif trial.key not in lane.under_way and not self._is_stopping():
                slot = best_slot(free, trial, lost_on=self._losses.hosts(trial))
                yield TrialStarted(trial, slot, lane.questions.outlook)
                lane.under_way.add(trial.key)
                self._executor.start(trial, slot)

    def is_open(self, lane: RunningLane) -> bool:
        """Whether something of a lane is worth waiting for: a trial, or a slot that starts."""
        is_waiting = not (lane.is_over or self._is_stopping()) and bool(lane.slots)
        return bool(lane.under_way) or is_waiting

    def take(self, lane: RunningLane, finished: Finished) -> Iterator[Event]:
        """Records the result of a trial; one that was lost is the next of its lane."""
        trial, slot, result = finished.trial, finished.slot, finished.result
        lane.under_way.remove(trial.key)
        if isinstance(result, Lost):
            outcome = self._losses.add(trial, slot, result)
            if outcome is None:
                lane.questions.again(trial)
                yield TrialLost(trial, slot, result.reason)
                return
            result = outcome
        yield from self.finish(lane, lane.questions.answer(trial.key, result), slot)

    def finish(
        self, lane: RunningLane, answered: Iterable[tuple[Trial, Outcome]], slot: Slot | None
    ) -> Iterator[Event]:
        """Records outcomes, before the search gets them; the first is from the slot, if any."""
        for trial, outcome in answered:
            # on disk before anything else happens
            self._state.record(trial, outcome, node="" if slot is None else slot.node)
            yield TrialFinished(trial, outcome, slot)
            lane.foresight.add(trial, outcome)
            lane.patience.add(trial, outcome, is_new=slot is not None)
            slot = None  # further trials have the same content: they are known now


def best_slot(free: Sequence[Slot], trial: Trial, *, lost_on: Collection[str] = ()) -> Slot:
    """The slot of `free` (at least one) that measures `trial` soonest.

    That is a slot with its variants loaded, then one that has loaded nothing. A host that lost this
    trial comes last.
    """

    def cost(slot: Slot) -> tuple[bool, bool, bool]:
        return slot.host in lost_on, slot.loaded != trial.content, bool(slot.loaded)

    return min(free, key=cost)
