# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Other work on the machine: what counts as busy, and how often that is told."""

from __future__ import annotations

import logging

import pytest

from model_analyzer.domain.measurements import Notice, NoticeKind
from model_analyzer.runner.monitors.neighbours import (
    Neighbours,
    Usage,
    read_usage,
    share_of_others,
)


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


def test_a_disturbed_load_gets_a_notice_and_the_log_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
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
