# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Slots with a thread each, for servers that run elsewhere: a `Cluster` without Ray."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future
from concurrent.futures import wait as wait_for
from contextlib import ExitStack
from queue import SimpleQueue
from threading import Event, Thread
from typing import Protocol

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Runner
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import ServerError
from model_analyzer.runner.executors.several_slots import SlotLostError

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
