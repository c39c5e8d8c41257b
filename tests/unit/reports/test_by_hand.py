# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Commands of a page that a user pastes into a shell."""

from __future__ import annotations

import pytest

from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.reports.method import measuring_commands
from tests.unit.builders import measurement, trial

COMMAND = "perf_analyzer -m m -b 1 -u {} -i grpc --concurrency-range 8 --shape 'A B:1'"


def text_of(*commands: str, launch: str = "local") -> str:
    setup = ServerSetup(launch=launch)
    return measuring_commands(
        MeasuredTrial(trial(setup=setup), measurement(1.0, commands=commands))
    )


@pytest.mark.parametrize("launch", ["local", "docker"])
def test_the_address_of_a_server_that_has_ended_is_left_out(launch: str) -> None:
    assert text_of(COMMAND.format("127.0.0.1:42849"), launch=launch) == (
        "model-analyzer runtime run perf_analyzer -m m -b 1 -i grpc --concurrency-range 8"
        " --shape 'A B:1'"
    )


def test_a_remote_server_is_still_there() -> None:
    command = COMMAND.format("triton:8001")

    assert text_of(command, launch="remote") == f"model-analyzer runtime run {command}"


def test_equal_commands_of_a_measurement_are_one() -> None:
    assert text_of("perf_analyzer -m m", "perf_analyzer -m n", "perf_analyzer -m m").split(
        "\n"
    ) == [
        "model-analyzer runtime run perf_analyzer -m m",
        "model-analyzer runtime run perf_analyzer -m n",
    ]


def test_a_command_that_needs_a_file_of_the_run_is_not_offered() -> None:
    made = "/tmp/model-analyzer-03e97bww/tmp7wv4nubl/intervals.txt"

    assert text_of(f"perf_analyzer -m m --request-intervals {made}") == ""
    assert text_of("perf_analyzer -m m --request-intervals /data/mine.txt") != ""


def test_without_commands_there_is_nothing_to_copy() -> None:
    assert text_of() == ""
