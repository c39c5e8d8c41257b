# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A run with several slots, as each sink shows it; A run on several kinds of hardware, as each sink
shows it.

The chart of measurements in a terminal.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Sequence

import pytest

from model_analyzer.app.progress.events import (
    BestChanged,
    ModelFinished,
    ModelStarted,
    Silence,
    TrialEnded,
    TrialLost,
    TrialStarted,
)
from model_analyzer.cli.progress.screen import Dot, Screen, scatter
from model_analyzer.cli.progress.sinks import JsonLines, Lines
from model_analyzer.search.plan import Subject
from tests.unit.cli.progress.runs import Kept, listed, play_kinds, play_slots
from tests.unit.search.surfaces import counts


def several_variants() -> Subject:
    """Six variants with loads 1, 2 and 4: each is a chain of its own."""
    return listed(parameters=counts(2, 3, 4, 5, 6), constraints=())


def screen(steps: int, *, width: int = 79, height: int = 24, slots: int = 3) -> list[str]:
    shown = Screen()
    sink = Silence()
    sink.show = shown.show  # type: ignore[method-assign]
    elapsed_s = play_slots(sink, several_variants(), slots, steps=steps)
    return [line.plain.rstrip() for line in shown.lines(width, height, elapsed_s, stopping=False)]


def test_each_slot_has_a_line() -> None:
    # after three trials of a second, each slot has the next load of its variant
    assert [line for line in screen(9) if "slot" in line] == [
        "slots 3 of 3 measuring, 100% of their time used",
        "      slot 1  0:00  m_config_default at concurrency 2",
        "      slot 2  0:00  m_config_0 at concurrency 2",
        "      slot 3  0:00  m_config_1 at concurrency 2",
    ]


@pytest.mark.parametrize("width", [20, 59, 119])
@pytest.mark.parametrize("height", [1, 4, 10, 20])
def test_many_slots_fit_every_terminal(width: int, height: int) -> None:
    shown = screen(9, width=width, height=height, slots=40)

    assert max(map(len, shown)) <= width
    assert len(shown) <= max(height - 1, 1)


def test_slots_that_have_no_line_are_counted() -> None:
    assert any(line.strip().startswith("and ") for line in screen(9, height=14, slots=6))


def test_events_name_their_slot() -> None:
    kept = Kept()
    play_slots(kept, several_variants(), 3, steps=8)

    (model,) = [event for event in kept.events if isinstance(event, ModelStarted)]
    assert model.slots == ("slot 1", "slot 2", "slot 3")
    started = [event for event in kept.events if isinstance(event, TrialStarted)]
    assert [event.slot for event in started[:3]] == ["slot 1", "slot 2", "slot 3"]
    assert [event.number for event in started[:3]] == [1, 2, 3]
    finished = [event for event in kept.events if isinstance(event, TrialEnded)]
    assert all(event.slot for event in finished)


def documents(steps: int, slots: int, lost: tuple[int, ...] = ()) -> list[dict[str, object]]:
    output = io.StringIO()
    play_slots(JsonLines(output.write), several_variants(), slots, steps=steps, lost=lost)
    return [json.loads(line) for line in output.getvalue().splitlines()]


def test_json_lines_have_the_slot_only_if_there_are_several() -> None:
    for document in documents(8, 3):
        assert ("slot" in document) == str(document["event"]).startswith("trial")
    assert not any("slot" in document or "slots" in document for document in documents(8, 1))


def test_a_lost_trial_is_told(caplog: pytest.LogCaptureFixture) -> None:
    kept = Kept()
    play_slots(kept, several_variants(), 3, steps=12, lost=(2,))

    (lost,) = [event for event in kept.events if isinstance(event, TrialLost)]
    assert (lost.slot, lost.reason) == ("slot 1", "its host is gone")
    assert any("lost on slot 1 (its host is gone)" in message for message in caplog.messages)
    (document,) = [each for each in documents(12, 3, lost=(2,)) if each["event"] == "trial_lost"]
    assert document["reason"] == "its host is gone"


def test_log_lines_say_where(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)

    play_slots(Lines(), several_variants(), 3, steps=3)

    assert "Profiling m_config_default: concurrency=1 on slot 1" in caplog.messages


H100, L4 = "1 x H100", "2 x L4"
KINDS = {H100: ("H100",), L4: ("L4", "L4")}
TARGET = listed(parameters=counts(2, 3), constraints=())


def test_each_kind_has_its_best_and_the_model_has_all_trials() -> None:
    kept = Kept()
    play_kinds(kept, TARGET, KINDS)

    (started,) = [event for event in kept.events if isinstance(event, ModelStarted)]
    assert started.kinds == (H100, L4)
    finished = [event for event in kept.events if isinstance(event, TrialEnded)]
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
        if isinstance(event, TrialEnded) and 0.3 < event.elapsed_s / seconds < 0.6
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
    lines = shown.lines(60, height, play_kinds(sink, TARGET, KINDS), stopping=False)

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


DOTS = [Dot(1, 0, True), Dot(10, 50, False), Dot(100, 100, True)]


def plain(dots: Sequence[Dot], best: Dot | None, *, width: int = 30, height: int = 7) -> list[str]:
    lines = scatter(dots, best, ("ms", "infer/s"), width, height)
    return [line.plain.rstrip() for line in lines]


def test_dots_are_where_their_values_are() -> None:
    assert plain(DOTS, None) == [
        "infer/s",
        "100 │                        •",
        "    │",
        "    │            ○",
        "    │",
        "  0 │•",
        "     1.00        ms        100",
    ]


def test_the_best_covers_others() -> None:
    shown = "\n".join(plain(DOTS, DOTS[2]))
    assert shown.count("◉") == 1
    assert shown.count("•") == 1


@pytest.mark.parametrize("dots", [[], DOTS[:1], [Dot(0, 5, True), Dot(-1, 5, True)]])
def test_without_two_measurements_there_is_no_chart(dots: list[Dot]) -> None:
    assert plain(dots, None) == []


def test_equal_values_are_one_place() -> None:
    shown = "\n".join(plain([Dot(5, 0, True), Dot(5, 0, False)], None))
    assert shown.count("•") == 1
    assert "○" not in shown


@pytest.mark.parametrize(("width", "height"), [(14, 7), (30, 4), (1, 1)])
def test_too_small_a_place_has_no_chart(width: int, height: int) -> None:
    assert plain(DOTS, None, width=width, height=height) == []
