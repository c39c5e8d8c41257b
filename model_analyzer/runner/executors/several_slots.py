# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The executor over slots elsewhere: what is lost, what starts again, what is retired; and slots
with a thread each, for servers that run elsewhere: a `Cluster` without Ray."""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from queue import SimpleQueue
from threading import Event, Thread
from typing import Protocol

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Runner
from model_analyzer.domain.slots import Finished, Lost, Overdue, Slot, Unfinished
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.words import counted
from model_analyzer.errors import ClusterError, ServerError
from model_analyzer.noise.first_look import FIRST_LOOK_S, overdue_s

log = logging.getLogger(__name__)

# A slot that was lost so often without an outcome in between does not start again.
MOST_LOSSES = 3

# Whether the node of a slot works is checked when the slot has given no answer for this time, and
# each time after twice as long. For a trial, it is at least so many times the longest trial so far.
_LEASE_S, _LEASE_FACTOR = 30.0, 3.0

_PAUSE_S = 0.5


class SlotLostError(Exception):
    """A slot is lost. The text is the reason."""


class Cluster(Protocol):
    """The slots of a cluster, by name. A ticket stands for an answer that is still missing."""

    def run(self, slot: str, trial: Trial, *, is_test: bool = False) -> Hashable:
        """Begins a trial; the answer is its outcome. That of a test is not stored on the node."""

    def restart(self, slot: str) -> Hashable:
        """Ends a slot, if anything of it is left, and begins to start it again."""

    def first_ready(self, tickets: Sequence[Hashable], timeout_s: float) -> Hashable | None:
        """A ticket whose answer is there, or None."""

    def answer(self, ticket: Hashable) -> Outcome | None:
        """The outcome of a trial, or None from a slot that is ready. Raises SlotLostError, and
        ClusterError if a slot cannot start or its node cannot measure any more.
        """

    def is_reachable(self, slot: str) -> bool:
        """Whether the node of a slot answers."""


def _expected_s(trial: Trial) -> float | None:
    """How long a round is measured; None for other measurements."""
    return None if trial.round_s is None else trial.round_s or FIRST_LOOK_S


@dataclass(slots=True)
class _Debt:
    """A slot owes an answer: the outcome of a trial, or without one that it is ready.

    Its node is checked at `check_s`, and then again, each time after twice as long. If `expected_s`
    is known, the user learns once that the answer is late.
    """

    slot: str
    trial: Trial | None
    began_s: float
    lease_s: float
    expected_s: float | None = None
    check_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.check_s = self.began_s + self.lease_s

    def renew(self, now_s: float) -> None:
        self.lease_s *= 2
        self.check_s = now_s + self.lease_s


class ClusterExecutor:
    """Measures on the slots of a cluster.

    Interrupts may be raised within `interruptible` blocks only. `clock` returns seconds.
    """

    def __init__(
        self,
        cluster: Cluster,
        slots: Iterable[Slot],
        *,
        interruptible: Callable[[], AbstractContextManager[object]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._slots = {slot.name: slot for slot in slots}
        self._debts: dict[Hashable, _Debt] = {}
        self._losses: Counter[str] = Counter()
        self._longest_s = 0.0
        self._interruptible = interruptible
        self._clock = clock

    @property
    def slots(self) -> Sequence[Slot]:
        return tuple(self._slots.values())

    @property
    def free(self) -> Sequence[Slot]:
        taken = {debt.slot for debt in self._debts.values()}
        return tuple(slot for slot in self.slots if slot.name not in taken)

    def start(self, trial: Trial, slot: Slot, *, is_test: bool = False) -> None:
        self._slots[slot.name] = replace(slot, loaded=trial.content)
        lease_s = max(_LEASE_S, _LEASE_FACTOR * self._longest_s)
        ticket = self._cluster.run(slot.name, trial, is_test=is_test)
        self._debts[ticket] = _Debt(slot.name, trial, self._clock(), lease_s, _expected_s(trial))

    def wait(self) -> Finished | Unfinished | None:
        before = self.slots, self.free
        while (finished := self._step() or self._overdue()) is None:
            if before != (self.slots, self.free):
                return None
        return finished

    def _overdue(self) -> Unfinished | None:
        """A trial that takes long, once."""
        for debt in self._debts.values():
            for_s, expected_s = self._clock() - debt.began_s, debt.expected_s
            if debt.trial is None or expected_s is None or for_s <= overdue_s(expected_s):
                continue
            debt.expected_s = None
            overdue = Overdue(for_s=for_s, expected_s=expected_s, limit_s=None)
            return Unfinished(trial=debt.trial, slot=self._slots[debt.slot], overdue=overdue)
        return None

    def _step(self) -> Finished | None:
        """Takes the next answer, if it comes soon, or notices a slot that will not give one."""
        with self._interruptible():
            hanging = self._hanging()
        if hanging is not None:
            return self._lost(hanging, "its node does not answer")
        with self._interruptible():
            ticket = self._cluster.first_ready([*self._debts], _PAUSE_S)
        return None if ticket is None else self._take(ticket)

    def _hanging(self) -> Hashable | None:
        """A ticket whose node does not answer, which the cluster itself notices late."""
        for ticket, debt in self._debts.items():
            if self._clock() >= debt.check_s:
                if not self._cluster.is_reachable(debt.slot):
                    return ticket
                debt.renew(self._clock())
        return None

    def _take(self, ticket: Hashable) -> Finished | None:
        debt = self._debts[ticket]
        try:
            outcome = self._cluster.answer(ticket)
        except SlotLostError as error:
            return self._lost(ticket, str(error))
        except ClusterError as error:
            if debt.trial is not None:
                return self._lost(ticket, str(error))  # it may work after a restart
            del self._debts[ticket]
            self._retire(self._slots[debt.slot], str(error))
            return None
        del self._debts[ticket]
        if debt.trial is None:
            log.info("%s works again", debt.slot)
            return None
        assert outcome is not None, "a trial has an outcome"
        self._losses[debt.slot] = 0
        self._longest_s = max(self._longest_s, self._clock() - debt.began_s)
        return Finished(trial=debt.trial, slot=self._slots[debt.slot], result=outcome)

    def _lost(self, ticket: Hashable, reason: str) -> Finished | None:
        debt = self._debts.pop(ticket)
        slot = self._slots[debt.slot] = replace(self._slots[debt.slot], loaded="")
        self._restart(slot, reason)
        if debt.trial is None:
            return None
        return Finished(trial=debt.trial, slot=slot, result=Lost(reason))

    def _restart(self, slot: Slot, reason: str) -> None:
        self._losses[slot.name] += 1
        if self._losses[slot.name] >= MOST_LOSSES:
            self._retire(slot, f"lost {self._losses[slot.name]} times in a row: {reason}")
            return
        ticket = self._cluster.restart(slot.name)
        self._debts[ticket] = _Debt(slot.name, None, self._clock(), _LEASE_S)

    def _retire(self, slot: Slot, reason: str) -> None:
        del self._slots[slot.name]
        log.warning("%s is not used any more (%s); %s left", slot.name, reason, self._left)

    @property
    def _left(self) -> str:
        return counted(len(self._slots), "slot")


# Slots end in this time, or they are left to end with the program.
_END_S = 20.0

# Whether the slot must leave what it does. It asks that while it waits.
IsLeaving = Callable[[], bool]

# Builds the runner of a slot, in its thread; the stack ends what it starts. Raises SlotLostError if
# that may work later, and ClusterError if not.
Build = Callable[[IsLeaving, ExitStack], Runner]


class SlotThreads:
    """Slots by name, each with the function that builds its runner, and one to see if its host
    answers. A context manager: leaving it ends the slots.
    """

    def __init__(self, slots: Mapping[str, tuple[Build, Callable[[], bool]]]) -> None:
        self._slots = {name: _Slot(name, build) for name, (build, _) in slots.items()}
        self._answers = {name: answers for name, (_, answers) in slots.items()}

    def __enter__(self) -> SlotThreads:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def begin(self) -> None:
        """Builds all runners, at the same time. Raises the error of the first that fails."""
        for ticket in [slot.prepare() for slot in self._slots.values()]:
            ticket.result()

    def end(self) -> None:
        """Ends all slots: those in the middle of something leave it."""
        endings = [slot.end() for slot in self._slots.values()]
        self._slots.clear()
        wait_for(endings, _END_S)

    # -- see `Cluster` -----------------------------------------------------------------------

    def run(self, slot: str, trial: Trial, *, is_test: bool = False) -> Hashable:
        return self._slots[slot].run(trial)

    def restart(self, slot: str) -> Hashable:
        return self._slots[slot].prepare()

    def first_ready(self, tickets: Sequence[Hashable], timeout_s: float) -> Hashable | None:
        futures = [ticket for ticket in tickets if isinstance(ticket, Future)]
        done, _ = wait_for(futures, timeout_s, FIRST_COMPLETED)
        return next((future for future in futures if future in done), None)

    def answer(self, ticket: Hashable) -> Outcome | None:
        assert isinstance(ticket, Future), "a ticket of these slots"
        outcome: Outcome | None = ticket.result()
        return outcome

    def is_reachable(self, slot: str) -> bool:
        return self._answers[slot]()


class _Slot:
    """A thread that does one thing after another: build the runner, run trials, end.

    It is a daemon: what it waits for must not keep the program from ending.
    """

    def __init__(self, name: str, build: Build) -> None:
        self._build = build
        self._stack = ExitStack()
        self._runner: Runner | None = None
        self._leaves = Event()  # for what it does now, or is to do next
        self._tasks: SimpleQueue[tuple[Future[Outcome | None], Callable[[], Outcome | None]]] = (
            SimpleQueue()
        )
        self._is_ended = False
        Thread(target=self._work, name=name, daemon=True).start()

    def prepare(self) -> Future[Outcome | None]:
        """Leaves what it does, and builds the runner again."""
        self._leaves.set()
        leaves = self._leaves = Event()
        return self._add(lambda: self._prepare(leaves.is_set))

    def run(self, trial: Trial) -> Future[Outcome | None]:
        return self._add(lambda: self._run(trial))

    def end(self) -> Future[Outcome | None]:
        """Leaves what it does, and ends; calling it twice is fine."""
        self._leaves.set()
        return self._add(self._end)

    def _add(self, task: Callable[[], Outcome | None]) -> Future[Outcome | None]:
        ticket: Future[Outcome | None] = Future()
        self._tasks.put((ticket, task))
        return ticket

    def _work(self) -> None:
        while not self._is_ended:
            ticket, task = self._tasks.get()
            try:
                ticket.set_result(task())
            except BaseException as error:  # noqa: BLE001 (raised in the main thread)
                ticket.set_exception(error)

    def _prepare(self, is_leaving: IsLeaving) -> None:
        self._close()
        with ExitStack() as stack:
            self._runner = self._build(is_leaving, stack)
            self._stack = stack.pop_all()

    def _run(self, trial: Trial) -> Outcome:
        assert self._runner is not None, "prepare comes first"
        return self._runner.run(trial)

    def _end(self) -> None:
        self._is_ended = True
        self._close()

    def _close(self) -> None:
        self._runner = None
        self._stack.close()


class Reached(Protocol):
    """The server of a slot."""

    @property
    def is_alive(self) -> bool:
        """Whether it answers."""


class RemoteSlot:
    """Measures with `runner` on `server`. Raises SlotLostError if the server does not answer any
    more; a ServerError of one that answers would also come from every other server.
    """

    def __init__(self, runner: Runner, server: Reached) -> None:
        self._runner = runner
        self._server = server

    def run(self, trial: Trial) -> Outcome:
        try:
            return self._runner.run(trial)
        except ServerError as error:
            if self._server.is_alive:
                raise
            raise SlotLostError(str(error)) from error
