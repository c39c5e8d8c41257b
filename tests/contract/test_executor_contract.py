# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The promises of every `Executor`: with one slot, with threads, on a cluster, and simulated."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, nullcontext

import pytest

from benchmarks.simulated_executor import SimulatedExecutor
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Executor
from model_analyzer.domain.slots import Finished, Slot
from model_analyzer.domain.trials import Trial
from model_analyzer.runner.executors.several_slots import ClusterExecutor, SlotThreads
from model_analyzer.runner.trial_runner import LocalExecutor
from tests.fakes.cluster import FakeCluster, next_finished
from tests.unit.search.surfaces import failure, load, measurement
from tests.unit.state.samples import several

SLOTS = [Slot(name=name, host=f"host {name}") for name in "abc"]


class LoadRunner:
    """The throughput is the load; a load of 2 fails."""

    def run(self, trial: Trial) -> Outcome:
        return failure() if load(trial) == 2 else measurement(float(load(trial)))


def simulated(slots: int) -> SimulatedExecutor:
    return SimulatedExecutor(
        slots, lambda trial, _: LoadRunner().run(trial), lambda trial, _: 1.0 / load(trial)
    )


def on_cluster() -> ClusterExecutor:
    cluster = FakeCluster(lambda _, trial: (LoadRunner().run(trial), 1.0 / load(trial)))
    return ClusterExecutor(cluster, SLOTS, interruptible=nullcontext, clock=cluster.clock)


def on_threads(stack: ExitStack) -> ClusterExecutor:
    slots = {slot.name: (lambda *_: LoadRunner(), lambda: True) for slot in SLOTS}
    threads = stack.enter_context(SlotThreads(slots))
    threads.begin()
    return ClusterExecutor(threads, SLOTS, interruptible=nullcontext)


@pytest.fixture(params=["local", "threads", "cluster", "simulated 1", "simulated 3"])
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with ExitStack() as stack:
        match request.param:
            case "local":
                yield LocalExecutor(LoadRunner())
            case "threads":
                yield on_threads(stack)
            case "cluster":
                yield on_cluster()
            case name:
                yield simulated(int(name.split()[1]))


def names(executor: Executor) -> list[str]:
    return [slot.name for slot in executor.slots]


def test_slots_have_different_names_and_are_all_free_at_first(executor: Executor) -> None:
    assert executor.slots
    assert len(set(names(executor))) == len(executor.slots)
    assert list(executor.free) == list(executor.slots)
    assert all(slot.loaded == "" for slot in executor.slots)


def test_a_slot_with_a_trial_is_not_free(executor: Executor) -> None:
    trials = several(len(executor.slots))

    for count, trial in enumerate(trials):
        assert len(executor.free) == len(trials) - count
        executor.start(trial, executor.free[0])

    assert not executor.free
    assert len(executor.slots) == len(trials)


def test_each_trial_finishes_once_with_its_own_outcome(executor: Executor) -> None:
    trials = several(7)
    waiting, finished = list(trials), list[Finished]()

    while len(finished) < len(trials):
        while waiting and executor.free:
            executor.start(waiting.pop(0), executor.free[0])
        finished.append(next_finished(executor))

    assert sorted(load(each.trial) for each in finished) == [load(trial) for trial in trials]
    for each in finished:
        expected = LoadRunner().run(each.trial)
        assert type(each.result) is type(expected)
        if load(each.trial) != 2:
            assert each.result.models == expected.models  # type: ignore[union-attr]


def test_a_slot_is_free_again_and_has_loaded_what_it_measured(executor: Executor) -> None:
    (trial,) = several(1)
    (slot, *others) = executor.free

    executor.start(trial, slot)
    finished = next_finished(executor)

    assert finished.slot.name == slot.name
    assert finished.slot.loaded == trial.content
    assert names(executor) == [each.name for each in executor.free]
    assert next(each for each in executor.free if each.name == slot.name) == finished.slot
    assert all(each.loaded == "" for each in executor.free if each.name != slot.name)
    assert len(executor.free) == 1 + len(others)


def test_outcomes_of_several_slots_come_in_the_order_of_their_ends() -> None:
    executor = simulated(3)
    first, second, third = several(3)  # they take 1, 1/2 and 1/3 seconds

    for trial in (first, second, third):
        executor.start(trial, executor.free[0])

    assert [next_finished(executor).trial for _ in range(3)] == [third, second, first]
    assert executor.now_s == pytest.approx(2.0)
    assert executor.busy_s == pytest.approx(1 + 1 / 2 + 1 / 3)
