# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The main loop: ask the search, look up or measure the trial, record and tell its outcome; and
its events.

With several trials under way, a search depends on the order in which outcomes arrive. A run with
several slots therefore records each question and what the search was told before it. The next run
repeats both, and so the search goes on exactly where it was.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from model_analyzer.domain.hardware import WITHOUT_GPU
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import instance_groups, kind_of_group
from model_analyzer.domain.profiles import Outlook
from model_analyzer.domain.protocols import Executor, Search, State
from model_analyzer.domain.slots import (
    NOTHING_NOW,
    Asked,
    Finished,
    Lane,
    Lost,
    Overdue,
    Slot,
    Unfinished,
)
from model_analyzer.domain.trials import Failure, FailureReason, Trial
from model_analyzer.errors import ClusterError


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial is about to be measured on a slot. `outlook` is what its search expected before."""

    trial: Trial
    slot: Slot
    outlook: Outlook | None = None


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """A trial has an outcome: from this run, on a `slot`, or from an earlier one, if None."""

    trial: Trial
    outcome: Outcome
    slot: Slot | None

    @property
    def resumed(self) -> bool:
        return self.slot is None


@dataclass(frozen=True, slots=True)
class TrialOverdue:
    """A trial on a slot takes much longer than expected."""

    trial: Trial
    slot: Slot
    overdue: Overdue


@dataclass(frozen=True, slots=True)
class TrialLost:
    """A trial was lost with its slot; it will be measured again."""

    trial: Trial
    slot: Slot
    reason: str


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Too many trials on a kind of hardware failed and none succeeded. `last` is the last failure;
    `resumed` means that all failures are from an earlier run.
    """

    failures: int
    last: Failure
    resumed: bool
    kind: str = WITHOUT_GPU


Event = TrialStarted | TrialOverdue | TrialFinished | TrialLost | GivenUp


# What the searches get of an outcome.
Complete = Callable[[Trial, Outcome], Outcome]


def profile(
    searches: Mapping[Lane, Search],
    executor: Executor,
    state: State,
    *,
    complete: Complete = lambda _, outcome: outcome,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Iterator[Event]:
    """Runs all searches to their end at the same time, each on the slots of its kind, with as many
    trials at once as there are slots.

    What searches and events get of an outcome is what `complete` makes of it: with the metrics that
    follow from measured ones, and are not recorded. Once `is_stopping`, it starts no further trials
    and ends with those under way. To stop at once, stop iterating. Raises ClusterError at its end
    if a search could not go on without slots.
    """
    run = _Run(executor, state, complete, is_stopping)
    lanes = {
        lane.kind: RunningLane(lane, search, state, executor, complete)
        for lane, search in searches.items()
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

    def __init__(
        self,
        executor: Executor,
        state: State,
        complete: Complete,
        is_stopping: Callable[[], bool],
    ) -> None:
        self._executor = executor
        self._state = state
        self._complete = complete
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
            yield TrialFinished(trial, self._complete(trial, outcome), slot)
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


class SearchQuestions:
    """Asks a search for trials and tells it their outcomes.

    With `records`, each question is recorded in the state.
    """

    def __init__(
        self, search: Search, state: State, lane: Lane, complete: Complete, *, records: bool
    ) -> None:
        self._search = search
        self._complete = complete
        self._state = state
        self._lane = lane
        self._records = records
        self._number = 0
        self._told: list[str] = []
        # without an outcome, by key: the search may ask for the same content under several names
        self._open: dict[str, list[Trial]] = {}
        self._due: deque[Trial] = deque()

    def replay(self) -> Iterator[tuple[Trial, Outcome]]:
        """Repeats the recorded questions; yields each trial with its outcome before the search is
        told.

        It ends where the search asks for another trial than recorded (its settings have changed),
        or where an outcome is missing. What the search has asked for by then is due next.
        """
        for asked in self._state.asked(self._lane):
            recorded = [(key, self._recorded(key)) for key in asked.after]
            for key, outcome in recorded:
                if outcome is not None:
                    yield from self.answer(key, outcome)
            if any(outcome is None for _, outcome in recorded):
                break
            if self._ask(asked.key)[1] != asked.key:
                break
        self._due.extend(trials[0] for trials in self._open.values())

    def next(self) -> Trial | None:
        """The next trial; None if there is none now. Its content may be under way already."""
        if self._due:
            return self._due.popleft()
        return self._ask()[0]

    @property
    def outlook(self) -> Outlook | None:
        """What further trials could bring, as far as the search knows."""
        return self._search.outlook

    def again(self, trial: Trial) -> None:
        """Makes a trial that was lost the next one."""
        self._due.appendleft(trial)

    def answer(self, key: str, outcome: Outcome) -> Iterator[tuple[Trial, Outcome]]:
        """Tells the search the outcome of all trials with this key; yields each of them before."""
        self._told.append(key)
        for trial in self._open.pop(key):
            yield trial, outcome
            self._search.tell(trial, self._complete(trial, outcome))

    def _ask(self, recorded: str | None = None) -> tuple[Trial | None, str]:
        """The answer of the search and its key, recorded unless it is the `recorded` one."""
        trial = self._search.ask()
        if trial is not None:
            self._open.setdefault(trial.key, []).append(trial)
        key = NOTHING_NOW if trial is None else trial.key
        # a search that has nothing now, asked again without an outcome in between, is the same
        if trial is not None or self._told:
            if key != recorded and self._records:
                asked = Asked(key=key, after=tuple(self._told))
                self._state.record_asked(self._lane, self._number, asked)
            self._number += 1
            self._told = []
        return trial, key

    def _recorded(self, key: str) -> Outcome | None:
        return self._state.outcome_of(self._open[key][0]) if key in self._open else None


class RunningLane:
    """Its questions, its patience, and the keys of its trials `under_way`.

    Questions are recorded if several of its trials may be under way at once.
    """

    def __init__(
        self, lane: Lane, search: Search, state: State, executor: Executor, complete: Complete
    ) -> None:
        self.kind = lane.kind
        self._executor = executor
        records = len(self.slots) > 1
        self.questions = SearchQuestions(search, state, lane, complete, records=records)
        self.foresight = Foresight()
        self.patience = SearchPatience(lane.kind)
        self.under_way: set[str] = set()
        self._has_ended = False

    @property
    def slots(self) -> Sequence[Slot]:
        """Its working slots."""
        return [slot for slot in self._executor.slots if slot.kind == self.kind]

    @property
    def free(self) -> Sequence[Slot]:
        """Its slots without a trial."""
        return [slot for slot in self._executor.free if slot.kind == self.kind]

    @property
    def is_over(self) -> bool:
        """Whether the search has ended or is given up. A trial may be under way yet."""
        return self._has_ended or self.patience.is_exhausted

    @property
    def given_up(self) -> GivenUp | None:
        """Set if no trial succeeded."""
        return self.patience.given_up

    def next(self) -> Trial | None:
        """The next trial; None if there is none now, or none at all."""
        trial = self.questions.next()
        self._has_ended = trial is None and not self.under_way
        return trial


# The number of failures before the first success after which a model is given up: then the model or
# the machine is the cause, not the configuration.
MOST_FAILURES = 2


class SearchPatience:
    """Counts the outcomes of a search on a kind of hardware."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._has_succeeded = False
        self._is_new = False
        # a variant under two names, or one that does not load, fails once
        self._failures: dict[str, Failure] = {}

    def add(self, trial: Trial, outcome: Outcome, *, is_new: bool) -> None:
        """Adds an outcome; `is_new` if it is from this run."""
        self._is_new |= is_new
        if isinstance(outcome, Failure):
            key = trial.content if outcome.is_of_variant else trial.key
            self._failures.pop(key, None)
            self._failures[key] = outcome
        else:
            self._has_succeeded = True

    @property
    def is_exhausted(self) -> bool:
        """Whether no further trial is worth a start. A trial that is under way may succeed yet."""
        return not self._has_succeeded and len(self._failures) >= MOST_FAILURES

    @property
    def given_up(self) -> GivenUp | None:
        """Set if no trial succeeded."""
        if not self.is_exhausted:
            return None
        *_, last = self._failures.values()
        return GivenUp(len(self._failures), last, resumed=not self._is_new, kind=self._kind)


class Foresight:
    """Foresees failures on one kind of hardware: a variant that did not load does not load under
    another load, and a server without GPUs refuses every instance of KIND_GPU.
    """

    def __init__(self) -> None:
        self._failed: dict[str, Failure] = {}  # by content
        self._loaded: set[str] = set()
        self._lacks_gpus = False

    def add(self, trial: Trial, outcome: Outcome) -> None:
        if not isinstance(outcome, Failure):
            self._loaded.add(trial.content)
        elif outcome.is_of_variant:
            self._failed[trial.content] = outcome
            self._lacks_gpus |= outcome.lacks_gpus

    def failure_of(self, trial: Trial) -> Failure | None:
        """How a new trial would fail; None if nobody knows."""
        failed = self._failed.get(trial.content)
        if failed is not None and trial.content not in self._loaded:
            return replace(failed, duration_s=0.0)
        if self._lacks_gpus and _is_for_gpus(trial):
            return Failure(
                reason=FailureReason.MODEL_NOT_LOADED,
                message=f"{trial.variants} was not tried: the server has no GPU for its instances"
                " of KIND_GPU",
                hint="set `cpu_only: true` for the model",
            )
        return None


def _is_for_gpus(trial: Trial) -> bool:
    variants = [part for work in trial.workloads for part in work.variant.served]
    groups = [group for variant in variants for group in instance_groups(variant.config)]
    return any(kind_of_group(group) == "GPU" for group in groups)


# A trial that was lost so often is a failure: it may be the cause.
MOST_LOSSES = 3


class LostTrials:
    """Counts the losses of each trial."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._hosts: defaultdict[str, list[str]] = defaultdict(list)  # by key of the trial

    def hosts(self, trial: Trial) -> Sequence[str]:
        """The hosts that have lost this trial."""
        return self._hosts[trial.key]

    def add(self, trial: Trial, slot: Slot, lost: Lost) -> Outcome | None:
        """The outcome of a trial that was lost on a slot: what its node had stored before, or a
        failure if it was lost too often; otherwise None.
        """
        self._hosts[trial.key].append(slot.host)
        stored = self._state.record_loss(trial, slot.node)
        if stored is None and len(self._hosts[trial.key]) >= MOST_LOSSES:
            return Failure(reason=FailureReason.LOST, message=lost.reason)
        return stored
