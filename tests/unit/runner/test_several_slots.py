# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Slots that are lost, start again, hang, and are retired."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace

import pytest

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.slots import Finished, Lost, Slot, Unfinished
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import ClusterError, Interrupted
from model_analyzer.noise.first_look import FIRST_LOOK_S
from model_analyzer.runner.executors.several_slots import (
    MOST_LOSSES,
    ClusterExecutor,
    SlotLostError,
)
from tests.fakes.cluster import NEVER, Answer, FakeCluster, next_finished
from tests.unit.state.samples import measurement, trial

# The answers of each slot to its trials, in order; after that, it measures.
Script = dict[str, list[tuple[Answer, float]]]

SLOTS = [Slot(name=name, host=f"host {name}") for name in "ab"]
LOST = SlotLostError("the actor died")


def measuring(script: Script) -> Callable[[str, Trial], tuple[Answer, float]]:
    def measure(slot: str, trial: Trial) -> tuple[Answer, float]:
        return script[slot].pop(0) if script.get(slot) else (measurement(), 2.0)

    return measure


def cluster_of(script: Script | None = None) -> FakeCluster:
    return FakeCluster(measuring(script or {}))


def executor_of(cluster: FakeCluster, slots: Sequence[Slot] = SLOTS) -> ClusterExecutor:
    return ClusterExecutor(cluster, slots, interruptible=nullcontext, clock=cluster.clock)


def names(executor: ClusterExecutor) -> list[str]:
    return [slot.name for slot in executor.slots]


def run_on(executor: ClusterExecutor, name: str) -> Finished:
    """Runs a trial on the slot with this name, and until that is free, on others."""
    while True:
        while not executor.free:
            assert executor.wait() is None
        slot = next((slot for slot in executor.free if slot.name == name), executor.free[0])
        executor.start(trial(), slot)
        finished = next_finished(executor)
        if slot.name == name:
            return finished


def test_a_trial_of_a_lost_slot_is_lost_and_the_slot_starts_again() -> None:
    cluster = cluster_of({"a": [(LOST, 5.0)]})
    executor = executor_of(cluster, SLOTS[:1])

    finished = run_on(executor, "a")

    assert finished.result == Lost("the actor died")
    assert finished.slot.name == "a"
    assert finished.slot.loaded == ""
    assert cluster.restarted == ["a"]
    assert [slot.loaded for slot in executor.slots] == [""]


def wait_while_slots_start(executor: ClusterExecutor) -> None:
    """Until each slot works again, or will not work any more."""
    while len(executor.free) < len(executor.slots):
        assert executor.wait() is None


def test_waiting_ends_when_a_slot_has_started_again() -> None:
    cluster = cluster_of({"a": [(LOST, 5.0)]})
    cluster.restarts["a"] = [(None, 60.0)]
    executor = executor_of(cluster, SLOTS[:1])
    run_on(executor, "a")

    assert not executor.free
    assert executor.wait() is None
    assert [slot.name for slot in executor.free] == ["a"]
    assert cluster.now_s == 65.0


def test_a_slot_that_starts_does_not_keep_the_others_waiting() -> None:
    cluster = cluster_of({"a": [(LOST, 5.0)]})
    cluster.restarts["a"] = [(None, NEVER)]
    executor = executor_of(cluster)
    run_on(executor, "a")

    assert [slot.name for slot in executor.free] == ["b"]
    executor.start(trial(), executor.free[0])
    assert not executor.free
    assert next_finished(executor).result == measurement()
    assert cluster.now_s == 7.0


def test_a_slot_that_is_lost_three_times_in_a_row_is_retired(caplog) -> None:
    cluster = cluster_of({"a": [(LOST, 1.0)] * MOST_LOSSES})
    executor = executor_of(cluster)

    with caplog.at_level(logging.WARNING):
        for _ in range(MOST_LOSSES):
            assert isinstance(run_on(executor, "a").result, Lost)

    assert names(executor) == ["b"]
    assert cluster.restarted == ["a"] * (MOST_LOSSES - 1)
    assert caplog.messages == [
        "a is not used any more (lost 3 times in a row: the actor died); 1 slot left"
    ]


def test_an_outcome_between_losses_keeps_the_slot() -> None:
    losses: list[tuple[Answer, float]] = [(LOST, 1.0)] * (MOST_LOSSES - 1)
    cluster = cluster_of({"a": [*losses, (measurement(), 1.0), *losses]})
    executor = executor_of(cluster, SLOTS[:1])

    results = [run_on(executor, "a").result for _ in range(2 * MOST_LOSSES - 1)]

    assert [isinstance(result, Lost) for result in results] == [True, True, False, True, True]
    assert names(executor) == ["a"]


def test_losses_while_a_slot_starts_count(caplog) -> None:
    cluster = cluster_of({"a": [(LOST, 1.0)]})
    cluster.restarts["a"] = [(SlotLostError("it died again"), 1.0)] * 2
    executor = executor_of(cluster, SLOTS[:1])
    run_on(executor, "a")

    wait_while_slots_start(executor)

    assert not executor.slots
    assert "a is not used any more (lost 3 times in a row: it died again)" in caplog.text


def test_a_slot_that_cannot_start_again_is_retired_at_once(caplog) -> None:
    cluster = cluster_of({"a": [(LOST, 1.0)]})
    cluster.restarts["a"] = [(ClusterError("host a: the disk is full"), 1.0)]
    executor = executor_of(cluster)
    run_on(executor, "a")

    executor.start(trial(), executor.free[0])

    assert next_finished(executor).slot.name == "b"
    assert names(executor) == ["b"]
    assert caplog.messages == ["a is not used any more (host a: the disk is full); 1 slot left"]


def test_a_node_that_cannot_measure_any_more_loses_its_trial() -> None:
    error = ClusterError("host a: the server does not start")
    cluster = cluster_of({"a": [(error, 1.0)]})
    cluster.restarts["a"] = [(error, 1.0)]
    executor = executor_of(cluster)

    assert run_on(executor, "a").result == Lost("host a: the server does not start")
    executor.start(trial(), executor.free[0])
    assert next_finished(executor).result == measurement()
    assert names(executor) == ["b"]


def test_waiting_ends_when_a_slot_will_not_work_any_more() -> None:
    cluster = cluster_of({"a": [(LOST, 1.0)]})
    cluster.restarts["a"] = [(ClusterError("host a: the disk is full"), 1.0)]
    executor = executor_of(cluster, SLOTS[:1])
    run_on(executor, "a")

    assert executor.wait() is None
    assert not executor.slots


def test_a_hanging_node_loses_its_trial() -> None:
    cluster = cluster_of({"a": [(measurement(), NEVER)]})
    cluster.unreachable = {"a"}
    finished = run_on(executor_of(cluster), "a")

    assert finished.result == Lost("its node does not answer")
    assert cluster.checked == [("a", 30.0)]
    assert cluster.restarted == ["a"]


def test_a_long_trial_on_a_node_that_answers_goes_on() -> None:
    cluster = cluster_of({"a": [(measurement(), 300.0)]})
    assert run_on(executor_of(cluster), "a").result == measurement()
    assert cluster.checked == [("a", 30.0), ("a", 90.0), ("a", 210.0)]
    assert not cluster.restarted


def test_the_first_check_comes_later_if_trials_take_long() -> None:
    cluster = cluster_of({"a": [(measurement(), 100.0), (measurement(), 310.0)]})
    executor = executor_of(cluster, SLOTS[:1])
    run_on(executor, "a")
    cluster.checked.clear()

    run_on(executor, "a")

    assert cluster.checked == [("a", 100.0 + 300.0)]


def test_a_hanging_node_is_noticed_although_others_answer_all_the_time() -> None:
    quick: list[tuple[Answer, float]] = [(measurement(), 0.1)] * 1000
    cluster = cluster_of({"a": [(measurement(), NEVER)], "b": quick})
    cluster.unreachable = {"a"}
    executor = executor_of(cluster)
    executor.start(trial(), executor.slots[0])

    results = list[object]()
    while not any(isinstance(result, Lost) for result in results):
        executor.start(trial(), next(slot for slot in executor.free if slot.name == "b"))
        finished = next_finished(executor)
        if finished.slot.name == "a":
            next_finished(executor)
        results.append(finished.result)

    assert cluster.now_s < 31


def test_a_node_that_hangs_while_its_slot_starts_is_retired() -> None:
    cluster = cluster_of({"a": [(LOST, 1.0)]})
    cluster.restarts["a"] = [(None, NEVER)] * MOST_LOSSES
    cluster.unreachable = {"a"}
    executor = executor_of(cluster, SLOTS[:1])
    run_on(executor, "a")

    wait_while_slots_start(executor)

    assert not executor.slots


def test_interrupts_are_raised_only_where_the_executor_waits() -> None:
    inside: list[bool] = [False]

    @contextmanager
    def interruptible() -> Iterator[None]:
        inside[0] = True
        yield
        inside[0] = False

    class Watched(FakeCluster):
        def run(self, slot: str, trial: Trial, *, is_test: bool = False) -> Hashable:
            assert not inside[0]
            return super().run(slot, trial, is_test=is_test)

        def first_ready(self, tickets: Sequence[Hashable], timeout_s: float) -> Hashable | None:
            assert inside[0]
            return super().first_ready(tickets, timeout_s)

        def answer(self, ticket: Hashable) -> Outcome | None:
            assert not inside[0]
            return super().answer(ticket)

        def restart(self, slot: str) -> Hashable:
            assert not inside[0]
            return super().restart(slot)

        def is_reachable(self, slot: str) -> bool:
            assert inside[0]
            return super().is_reachable(slot)

    cluster = Watched(measuring({"a": [(measurement(), NEVER)]}))
    cluster.unreachable = {"a"}
    executor = ClusterExecutor(cluster, SLOTS, interruptible=interruptible, clock=cluster.clock)

    assert isinstance(run_on(executor, "a").result, Lost)
    assert cluster.restarted


def test_an_interrupt_leaves_the_wait() -> None:
    @contextmanager
    def interruptible() -> Iterator[None]:
        raise Interrupted("interrupted")
        yield

    cluster = cluster_of()
    executor = ClusterExecutor(cluster, SLOTS, interruptible=interruptible, clock=cluster.clock)

    with pytest.raises(Interrupted):
        run_on(executor, "a")


def test_a_trial_that_takes_long_is_told_once() -> None:
    cluster = cluster_of({"a": [(measurement(), 25.0)], "b": [(measurement(), 12.0)]})
    executor = executor_of(cluster)
    look = replace(trial(), round_s=0.0)
    executor.start(look, SLOTS[0])
    executor.start(trial(), SLOTS[1])  # in windows that the user sized
    waited = [executor.wait() for _ in range(3)]
    overdue = [each for each in waited if isinstance(each, Unfinished)]
    assert [(each.trial, each.slot.name) for each in overdue] == [(look, "a")]
    assert overdue[0].overdue.for_s == pytest.approx(10, abs=1)
    assert overdue[0].overdue.expected_s == FIRST_LOOK_S
    assert [each.slot.name for each in waited if isinstance(each, Finished)] == ["b", "a"]
