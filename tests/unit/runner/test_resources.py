# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a measurement used: the difference of two readings."""

from __future__ import annotations

from collections.abc import Sequence

import psutil

from model_analyzer.domain.measurements import ResourceUse, joined
from model_analyzer.runner.monitors.usage import (
    ResourceMonitor,
    ResourceReading,
    read_resources,
)


def reading(
    at: float, server: float, ended: float, memory: float, others: float = 0.0
) -> ResourceReading:
    return ResourceReading(at=at, server=server, ended=ended, others=others, memory=memory)


def use_of(*readings: ResourceReading) -> ResourceUse | None:
    iterator = iter(readings)
    with ResourceMonitor(lambda: next(iterator)) as monitor:
        pass
    return monitor.observation.resources


def test_the_use_is_the_difference_of_two_readings() -> None:
    use = use_of(reading(100, 7, 1, 250.0, 40), reading(110, 12, 3.5, 260.04, 47.5))

    assert use == ResourceUse(
        seconds=10,
        server_cpu_s=5,
        client_cpu_s=2.5,
        memory_before=250,
        memory_after=260,
        other_cpu_s=7.5,
    )
    assert (use.server_cores, use.client_cores, use.other_cores) == (0.5, 0.25, 0.75)
    assert use.growth == 10


def test_a_server_that_ended_leaves_no_use() -> None:
    assert use_of(reading(100, 7, 1, 250.0), reading(110, 0, 3.5, 0.0)) is None


def test_a_reading_has_all_processes_of_the_server() -> None:
    own = psutil.Process()

    alone, twice = read_resources(lambda: [own]), read_resources(lambda: [own, own])

    assert alone.memory > 0
    assert twice.memory > 1.5 * alone.memory
    assert twice.server > alone.server > 0


def test_a_process_that_has_ended_does_not_count() -> None:
    def processes() -> Sequence[psutil.Process]:
        ended = psutil.Process()
        ended.cpu_times = no_such_process  # type: ignore[method-assign, assignment]
        return [ended]

    def no_such_process() -> None:
        raise psutil.NoSuchProcess(1)

    assert read_resources(processes).memory == 0


def test_the_use_of_several_measurements_is_unknown_if_that_of_one_is() -> None:
    one = ResourceUse(
        seconds=1, server_cpu_s=0.5, client_cpu_s=0.1, memory_before=10, memory_after=20
    )
    other = ResourceUse(
        seconds=3, server_cpu_s=1.5, client_cpu_s=0.3, memory_before=25, memory_after=30
    )

    assert joined([one, None]) is None
    assert joined([]) is None
    together = joined([one, other])
    assert together is not None
    assert (together.seconds, together.server_cores, together.growth) == (4, 0.5, 20)
