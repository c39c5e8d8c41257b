# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The test of slots that share a host, on a cluster with a virtual clock."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import nullcontext

import pytest

from model_analyzer.app.examine_shared_hosts import PAIRS, compare_shared
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.slots import SharedHost, Slot
from model_analyzer.domain.trials import Trial
from model_analyzer.runner.executors.several_slots import ClusterExecutor, SlotLostError
from tests.fakes.cluster import Answer, FakeCluster
from tests.unit.builders import failure, measurement, trial

HOSTS = {"gpu1": ("a", "b", "c"), "gpu2": ("d", "e")}
SLOTS = [name for names in HOSTS.values() for name in names]


class Machines:
    """Slots of a machine that becomes faster by and by. All at once, they are slower by `loss` and
    `wait`.
    """

    def __init__(self, loss: float = 0.1, wait: float = 0.2) -> None:
        self.runs: list[tuple[str, float]] = []
        self.loss, self.wait = loss, wait
        self.faults: dict[str, Exception | Outcome] = {}
        self.cluster = FakeCluster(self.measure)
        self.executor = ClusterExecutor(
            self.cluster,
            [Slot(name=name, host=f"node {name}") for name in SLOTS],
            interruptible=nullcontext,
            clock=self.cluster.clock,
        )

    def measure(self, slot: str, _: Trial) -> tuple[Answer, float]:
        self.runs.append((slot, self.cluster.now_s))
        if slot in self.faults:
            return self.faults[slot], 1.0
        step = len({time for _, time in self.runs}) - 1  # 0 loads the model, odd ones are alone
        drift = 1 + 0.01 * step
        loss, wait = (0.0, 0.0) if step % 2 else (self.loss, self.wait)
        return measurement(100 * drift * (1 - loss), 10 / drift * (1 + wait)), 1.0


@pytest.fixture
def machines() -> Machines:
    return Machines()


def compared(machines: Machines, **options: Callable[[], bool]) -> dict[str, SharedHost | str]:
    return dict(compare_shared(machines.executor, trial(), HOSTS, **options))


def test_the_slow_down_of_each_host_is_measured(machines: Machines) -> None:
    results = compared(machines)

    assert list(results) == ["gpu1", "gpu2"]
    for host, result in results.items():
        assert isinstance(result, SharedHost)
        assert result.slots == len(HOSTS[host])
        assert result.throughput.percent == pytest.approx(-10, abs=2)
        assert result.latency_p99 is not None
        assert result.latency_p99.percent == pytest.approx(20, abs=3)
        assert result.trial == trial().key
        assert result.model == "m"


def test_alone_and_together_alternate_on_all_hosts_at_once(machines: Machines) -> None:
    compared(machines)

    times = Counter(time for _, time in machines.runs)
    # loading everywhere, then one slot of each host, then all, …
    assert list(times.values()) == [5, *([2, 5] * PAIRS)]
    alone = {slot for slot, time in machines.runs if times[time] == 2}
    assert alone == {"a", "d"}


def test_its_outcomes_are_none_of_the_run(machines: Machines) -> None:
    compared(machines)

    assert machines.cluster.tests == len(machines.runs)


def test_hosts_that_are_not_slower_are_told_too() -> None:
    for result in compared(Machines(loss=0.0, wait=0.0)).values():
        assert isinstance(result, SharedHost)
        assert not result.is_slower


def test_a_trial_that_fails_tests_nothing(machines: Machines) -> None:
    machines.faults = dict.fromkeys(SLOTS, failure("the model did not load"))

    assert compared(machines) == dict.fromkeys(HOSTS, "the model did not load")
    assert len(machines.runs) == len(SLOTS)


def test_a_slot_that_is_lost_ends_the_test_of_its_host_only(machines: Machines) -> None:
    machines.faults = {"b": SlotLostError("its node has died")}

    results = compared(machines)

    assert results["gpu1"] == "b was lost: its node has died"
    assert isinstance(results["gpu2"], SharedHost)
    assert machines.cluster.restarted == ["b"]
    assert len(machines.executor.slots) == len(SLOTS)


def test_a_slot_that_does_not_work_yet_ends_the_test_of_its_host(machines: Machines) -> None:
    machines.faults = {"e": SlotLostError("lost")}
    machines.cluster.restarts["e"] = [(None, 1e6)]
    compared(machines)

    results = compared(machines)

    assert results["gpu2"] == "e was lost"
    assert isinstance(results["gpu1"], SharedHost)


def test_an_interrupt_ends_it_without_a_result(machines: Machines) -> None:
    assert compared(machines, is_stopping=lambda: len(machines.runs) > 8) == {}
    assert not machines.cluster._answers, "a trial is still under way"
