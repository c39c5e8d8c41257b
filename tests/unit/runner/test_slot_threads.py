# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Slots with a thread each: what is lost, and what is left at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from threading import Event
from time import monotonic

import pytest

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.slots import Lost
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import ClusterError, Interrupted, ServerError
from model_analyzer.runner.executors.several_slots import (
    ClusterExecutor,
    IsLeaving,
    RemoteSlot,
    SlotLostError,
    SlotThreads,
)
from tests.fakes.cluster import next_finished, slots_on
from tests.unit.search.surfaces import measurement
from tests.unit.state.samples import several

Answer = Callable[[], Outcome]


class Scripted:
    """A server whose runs and builds are written down; by default, they succeed. It notes when it
    is built and closed.
    """

    def __init__(self) -> None:
        self.runs: list[Answer] = []
        self.builds: list[Exception | None] = []
        self.notes: list[str] = []
        self.is_leaving: IsLeaving = lambda: False

    def build(self, is_leaving: IsLeaving, stack: ExitStack) -> Scripted:
        self.notes.append("build")
        self.is_leaving = is_leaving
        stack.callback(self.notes.append, "close")
        error = self.builds.pop(0) if self.builds else None
        if error is not None:
            raise error
        return self

    def run(self, trial: Trial) -> Outcome:
        return self.runs.pop(0)() if self.runs else measurement(1.0)

    def until_told(self) -> Outcome:
        """Waits until it must leave, as a trial on a remote server does."""
        end = monotonic() + 20
        while monotonic() < end:
            if self.is_leaving():
                raise Interrupted("interrupted")
            Event().wait(0.01)
        raise AssertionError("nobody told it to leave")


def failing(error: Exception) -> Answer:
    def answer() -> Outcome:
        raise error

    return answer


LOST = SlotLostError("the server is gone")


@pytest.fixture
def servers() -> dict[str, Scripted]:
    return {"a": Scripted(), "b": Scripted()}


@pytest.fixture
def threads(servers: dict[str, Scripted]) -> Iterator[SlotThreads]:
    with SlotThreads({name: (each.build, lambda: True) for name, each in servers.items()}) as made:
        yield made


@pytest.fixture
def executor(threads: SlotThreads) -> ClusterExecutor:
    threads.begin()
    return ClusterExecutor(threads, slots_on({"a": "a", "b": "b"}), interruptible=nullcontext)


def test_a_slot_that_is_lost_is_built_again(
    executor: ClusterExecutor, servers: dict[str, Scripted]
) -> None:
    servers["a"].runs = [failing(LOST)]
    (trial,) = several(1)

    executor.start(trial, executor.free[0])
    assert next_finished(executor).result == Lost("the server is gone")
    executor.start(trial, executor.free[0])
    assert isinstance(next_finished(executor).result, Measurement)


def test_a_slot_that_stays_lost_is_retired(
    executor: ClusterExecutor, servers: dict[str, Scripted], caplog: pytest.LogCaptureFixture
) -> None:
    servers["a"].runs = [failing(LOST)]
    servers["a"].builds = [LOST, LOST]
    first, second = several(2)

    executor.start(first, executor.free[0])
    assert isinstance(next_finished(executor).result, Lost)
    waits = Event()
    servers["b"].runs = [lambda: measurement(1.0) if waits.wait(20) else measurement(0.0)]
    executor.start(second, executor.free[0])
    while len(executor.slots) > 1:
        assert executor._step() is None
    waits.set()

    assert next_finished(executor).slot.name == "b"
    assert [slot.name for slot in executor.slots] == ["b"]
    assert "a is not used any more (lost 3 times in a row: the server is gone); 1 slot" in (
        caplog.text
    )


def test_a_server_that_has_changed_is_retired_at_once(
    executor: ClusterExecutor, servers: dict[str, Scripted]
) -> None:
    servers["a"].runs = [failing(LOST)]
    servers["a"].builds = [ClusterError("the server has changed")]
    servers["b"].runs = [failing(LOST)]
    servers["b"].builds = [ClusterError("the server has changed")]
    for trial, slot in zip(several(2), executor.free, strict=True):
        executor.start(trial, slot)

    while executor.slots:
        executor.wait()

    assert not executor.free


def test_an_error_that_every_server_would_give_ends_the_run(
    executor: ClusterExecutor, servers: dict[str, Scripted]
) -> None:
    servers["a"].runs = [failing(ServerError("loading is not allowed"))]
    (trial,) = several(1)
    executor.start(trial, executor.free[0])

    with pytest.raises(ServerError, match="not allowed"):
        next_finished(executor)


def test_a_slot_that_cannot_be_built_is_told_at_the_start(
    threads: SlotThreads, servers: dict[str, Scripted]
) -> None:
    servers["b"].builds = [ServerError("b does not answer")]

    with pytest.raises(ServerError, match="b does not answer"):
        threads.begin()


def test_ending_leaves_a_trial_and_then_closes_its_slot(
    threads: SlotThreads, servers: dict[str, Scripted]
) -> None:
    threads.begin()
    servers["a"].runs = [servers["a"].until_told]
    (trial,) = several(1)
    ticket = threads.run("a", trial)

    threads.end()

    with pytest.raises(Interrupted):
        threads.answer(ticket)
    assert servers["a"].notes == servers["b"].notes == ["build", "close"]


def test_a_restart_leaves_what_hangs(threads: SlotThreads, servers: dict[str, Scripted]) -> None:
    threads.begin()
    servers["a"].runs = [servers["a"].until_told]
    (trial,) = several(1)
    threads.run("a", trial)

    ticket = threads.restart("a")

    assert threads.first_ready([ticket], 20) is ticket
    assert threads.answer(ticket) is None
    assert servers["a"].notes == ["build", "close", "build"]
    assert isinstance(threads.answer(threads.run("a", trial)), Measurement)


class Server:
    def __init__(self, *, alive: bool) -> None:
        self.is_alive = alive


@pytest.mark.parametrize(("alive", "expected"), [(True, ServerError), (False, SlotLostError)])
def test_a_slot_is_lost_only_with_its_server(alive: bool, expected: type[Exception]) -> None:
    runner = Scripted()
    runner.runs = [failing(ServerError("no answer"))]
    (trial,) = several(1)

    with pytest.raises(expected, match="no answer"):
        RemoteSlot(runner, Server(alive=alive)).run(trial)
