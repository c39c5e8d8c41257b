# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run on several kinds of hardware, as each sink shows it."""

from __future__ import annotations

import io
import json
import logging

import pytest

from model_analyzer.app.progress.events import (
    BestChanged,
    ModelFinished,
    ModelStarted,
    Silence,
    TrialFinished,
)
from model_analyzer.cli.progress.screen import Screen
from model_analyzer.cli.progress.sinks import JsonLines, Lines
from tests.unit.cli.progress.runs import Kept, listed, play_kinds
from tests.unit.search.surfaces import counts

H100, L4 = "1 x H100", "2 x L4"
KINDS = {H100: ("H100",), L4: ("L4", "L4")}
TARGET = listed(parameters=counts(2, 3), constraints=())


def test_each_kind_has_its_best_and_the_model_has_all_trials() -> None:
    kept = Kept()
    play_kinds(kept, TARGET, KINDS)

    (started,) = [event for event in kept.events if isinstance(event, ModelStarted)]
    assert started.kinds == (H100, L4)
    finished = [event for event in kept.events if isinstance(event, TrialFinished)]
    assert [event.number for event in finished] == [*range(1, len(finished) + 1)]
    best = [event for event in kept.events if isinstance(event, BestChanged)]
    assert {event.kind for event in best} == {H100, L4}
    assert all(event.kind == event.trial.setup.kind for event in best)
    (ended,) = [event for event in kept.events if isinstance(event, ModelFinished)]
    assert ended.trials == len(finished)


def test_the_slowest_kind_decides_about_the_time_left() -> None:
    kept = Kept()
    seconds = play_kinds(kept, TARGET, KINDS)

    halfway = [
        event
        for event in kept.events
        if isinstance(event, TrialFinished) and 0.3 < event.elapsed_s / seconds < 0.6
    ]
    assert halfway
    for event in halfway:
        assert event.time_left_s == pytest.approx(seconds - event.elapsed_s, rel=0.4)


def test_the_live_view_has_the_best_of_each_kind() -> None:
    shown, sink = Screen(), Silence()
    sink.show = shown.show  # type: ignore[method-assign]
    seconds = play_kinds(sink, TARGET, KINDS)

    lines = [line.plain.rstrip() for line in shown.lines(100, 30, seconds, stopping=False)]

    at = next(number for number, line in enumerate(lines) if line.startswith("best"))
    assert lines[at].startswith(f"best  {H100}  ")
    assert lines[at + 2].startswith(f"      {L4}  ")
    assert "m_config" in lines[at + 1]
    assert "m_config" in lines[at + 3]


@pytest.mark.parametrize("height", [1, 5, 12, 16, 40])
def test_the_live_view_fits_every_terminal(height: int) -> None:
    shown, sink = Screen(), Silence()
    sink.show = shown.show  # type: ignore[method-assign]
    seconds = play_kinds(sink, TARGET, KINDS)

    lines = shown.lines(60, height, seconds, stopping=False)

    assert len(lines) <= max(height - 1, 1)


def test_json_lines_have_the_hardware() -> None:
    output = io.StringIO()
    play_kinds(JsonLines(output.write), TARGET, KINDS)
    documents = [json.loads(line) for line in output.getvalue().splitlines()]

    (started,) = [each for each in documents if each["event"] == "model_started"]
    assert started["hardware"] == [H100, L4]
    assert {each["hardware"] for each in documents if each["event"] == "best"} == {H100, L4}


def test_log_lines_say_on_which_hardware_the_best_is(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    play_kinds(Lines(), TARGET, KINDS)

    assert f"Searching m on {H100}, and on {L4}" in caplog.messages
    assert any(f"best so far on {L4} " in message for message in caplog.messages)
    assert any(f"best so far on {H100} " in message for message in caplog.messages)
