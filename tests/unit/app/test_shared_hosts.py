# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The test of shared hosts before the first trial: with which trial, how often, what is told; the
test of slots that share a host, on a cluster with a virtual clock.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from model_analyzer.app.run.measuring import (
    PAIRS,
    compare_shared,
    examine_shared_hosts,
    plain_trial,
)
from model_analyzer.domain.hardware import WITHOUT_GPU
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import freeze
from model_analyzer.domain.slots import SharedHost, Slot
from model_analyzer.domain.trials import Load, LoadKind, Trial
from model_analyzer.runner.executors.several_slots import ClusterExecutor, SlotLostError
from model_analyzer.search.plan import Subject
from model_analyzer.state.profile_state import ProfileState
from tests.fakes.cluster import Answer, FakeCluster
from tests.unit.builders import failure, measurement, trial
from tests.unit.search import surfaces

SHARED = {"gpu1": ("gpu1", "gpu1 #2")}

# runs of a test on two slots: both load the model, then one, then both
RUNS = 2 + 3 * PAIRS


def subject(**changes: Any) -> Subject:
    """A subject whose model has these settings."""
    plain = surfaces.subject(surfaces.model("m"))
    settings = replace(plain.models[0].settings, **changes)
    return replace(plain, models=(replace(plain.models[0], settings=settings),))


class Slots:
    """An executor whose slots together have `percent` less throughput."""

    def __init__(self, percent: float, fault: bool = False, kind: str = WITHOUT_GPU) -> None:
        self.percent, self.fault = percent, fault
        self.trials: list[Trial] = []
        cluster = FakeCluster(self._measure)
        names = [name for slots in SHARED.values() for name in slots]
        self.executor = ClusterExecutor(
            cluster,
            [Slot(name=name, host="gpu1", kind=kind) for name in names],
            interruptible=nullcontext,
            clock=cluster.clock,
        )

    def _measure(self, slot: str, trial: Trial) -> tuple[Answer, float]:
        self.trials.append(trial)
        if self.fault:
            return failure("the model did not load"), 1.0
        is_alone = len(self.trials) % 3 == 0  # two load the model, then one, then two, …
        return measurement(100.0 if is_alone else 100.0 - self.percent, 10.0), 1.0


@pytest.fixture
def examine(tmp_path: Path) -> Callable[..., list[Trial]]:
    """Runs the test in a run of its own; the trials that were measured."""

    def call(
        slots: Slots,
        *of: Subject,
        shared: Mapping[str, Sequence[str]] = SHARED,
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> list[Trial]:
        with ProfileState(tmp_path) as state:
            examine_shared_hosts(
                shared, of or [subject()], slots.executor, state, is_stopping=is_stopping
            )
            assert not len(state.profile.records), "its measurements are no outcomes"
        return slots.trials

    return call


@pytest.mark.parametrize(
    ("changes", "flags"),
    [
        ({}, {}),
        (
            {"perf_analyzer_flags": {"measurement-interval": "9000", "shape": "x:3"}},
            {"shape": "x:3"},
        ),
        (
            {"perf_analyzer_flags": {"measurement-interval": "100"}},
            {"measurement-interval": "100"},
        ),
        (
            {"perf_analyzer_flags": {"measurement-request-count": "9", "shape": "x:3"}},
            {"shape": "x:3"},
        ),
        (
            {
                "perf_analyzer_flags": {
                    "measurement-mode": "time_windows", "measurement-interval": "9000",
                }
            },
            {},
        ),
        (
            {
                "perf_analyzer_flags": {
                    "measurement-mode": "time_windows", "measurement-interval": "100",
                }
            },
            {"measurement-mode": "time_windows", "measurement-interval": "100"},
        ),
        (
            {
                "load_kind": LoadKind.REQUEST_INTERVALS,
                "perf_analyzer_flags": {"request-intervals": "times.txt"},
            },
            {},
        ),
        ({"load_kind": LoadKind.REQUEST_RATE, "loads": (100,), "batch_sizes": (4,)}, {}),
    ],
)  # fmt: skip
def test_the_trial_is_the_default_under_a_plain_load(
    changes: dict[str, Any], flags: dict[str, str]
) -> None:
    [work] = plain_trial(subject(**changes)).workloads
    assert work.variant.is_default
    assert work.load == Load(value=8)
    assert work.flags == freeze({**flags, "stability-percentage": "999"})


def test_it_is_done_once_for_the_same_host_slots_and_model(examine) -> None:
    assert len(examine(Slots(3))) == RUNS
    assert not examine(Slots(3))
    more = {"gpu1": ("gpu1", "gpu1 #2"), "gpu2": ("gpu1", "gpu1 #2")}
    assert examine(Slots(3), shared={"gpu2": more["gpu2"]})
    assert not examine(Slots(3), shared=more)
    changed = surfaces.subject(replace(surfaces.model("m"), files="other"))
    assert len(examine(Slots(3), changed)) == RUNS


def test_a_host_is_tested_on_its_kind_of_hardware(examine) -> None:
    plain = subject()
    small = replace(plain, setup=replace(plain.setup, devices=("NVIDIA L4",)))

    trials = examine(Slots(3, kind="1 x NVIDIA L4"), plain, small)

    assert {trial.setup.kind for trial in trials} == {"1 x NVIDIA L4"}
    assert len(trials) == RUNS


@pytest.mark.parametrize(("percent", "level"), [(3.0, logging.INFO), (6.0, logging.WARNING)])
def test_the_result_is_told_in_each_run(examine, caplog, percent: float, level: int) -> None:
    caplog.set_level(logging.INFO)
    for _ in range(2):
        caplog.clear()
        examine(Slots(percent))
        [line] = [each for each in caplog.records if "compared with one alone" in each.message]
        assert line.levelno == level
        words = f"2 slots on gpu1, compared with one alone: {percent:.2f} % less throughput"
        assert words in line.message
        assert ("use a smaller --slots-per-host" in line.message) == (level == logging.WARNING)


def test_a_test_that_fails_is_told_and_done_again(examine, caplog) -> None:
    examine(Slots(3, fault=True))

    assert "The slots on gpu1 could not be tested: the model did not load" in caplog.text
    assert len(examine(Slots(3))) == RUNS


def test_an_interrupt_records_nothing(examine) -> None:
    slots = Slots(3)

    examine(slots, is_stopping=lambda: len(slots.trials) > 5)

    assert len(examine(Slots(3))) == RUNS


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
    assert {slot for slot, time in machines.runs if times[time] == 2} == {"a", "d"}


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
