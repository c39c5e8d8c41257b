# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a measurement used: the difference of two readings; other work on the machine: what counts
as busy, and how often that is told.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

import psutil
import pytest

from model_analyzer.domain.measurements import Notice, NoticeKind, ResourceUse, joined
from model_analyzer.runner.monitors.usage import (
    Neighbours,
    ResourceMonitor,
    ResourceReading,
    Usage,
    read_resources,
    read_usage,
    share_of_others,
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


def usage(everybody: float, own: float, available: float) -> Usage:
    return Usage(all_programs=everybody, own_processes=own, available=available)


START = usage(1000.0, 50.0, 4000.0)


@pytest.mark.parametrize(
    ("after", "share"),
    [
        (usage(1030.0, 80.0, 4040.0), 0.0),  # all of it is ours
        (usage(1030.0, 60.0, 4040.0), 0.5),
        (usage(1030.0, 81.0, 4040.0), 0.0),  # clocks are read one after the other
        (START, 0.0),
    ],
)
def test_what_is_not_ours_is_that_of_others(after: Usage, share: float) -> None:
    assert share_of_others(START, after) == share


def notices_of(neighbours: Neighbours) -> tuple[Notice, ...]:
    with neighbours.during("m_config_0 at concurrency 2") as monitor:
        pass
    return monitor.observation.notices


def test_a_disturbed_load_gets_a_notice_and_the_log_one_line(caplog) -> None:
    quiet, busy = usage(1012.0, 60.0, 4040.0), usage(1030.0, 60.0, 4040.0)
    readings = iter([START, quiet, START, busy, START, busy])
    neighbours = Neighbours(lambda: next(readings))

    with caplog.at_level(logging.WARNING):
        first, second, third = (notices_of(neighbours) for _ in range(3))

    assert first == ()
    assert second == third
    (notice,) = second
    assert notice.kind is NoticeKind.BUSY_MACHINE
    assert notice.text == (
        "m_config_0 at concurrency 2: other programs used 50 % of the machine's CPU time;"
        " stop them and measure again with another --checkpoint-directory (--fresh would delete all"
        " measurements in this one)"
    )
    assert len(caplog.records) == 1
    assert "use 50 % of this machine's CPU time" in caplog.text


def test_this_machine_can_be_read() -> None:
    before, after = read_usage(), read_usage()

    assert 0 < before.own_processes < before.all_programs
    assert 0.0 <= share_of_others(before, after) <= 1.0
