# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What each sink shows of the same run: a screen of a width, lines, JSON."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from model_analyzer.app.progress.events import Silence, TrialStarted
from model_analyzer.app.progress.tracker import shown_tags
from model_analyzer.cli.console import TerminalView, is_ci
from model_analyzer.cli.progress.screen import Screen, _named, clock, duration, values_text
from model_analyzer.cli.progress.sinks import JsonLines, Lines, LiveView
from model_analyzer.domain.profiles import Outlook
from model_analyzer.domain.settings import ProgressMode
from model_analyzer.domain.slots import Overdue
from tests.unit.builders import at_most, goal, objectives, trial, variant
from tests.unit.builders import measurement as one
from tests.unit.builders import together as two_models
from tests.unit.cli.progress.runs import Clock, in_windows, play_overdue, play_run
from tests.unit.search.surfaces import measurement as surface
from tests.unit.search.surfaces import subject, together


def lines(width: int, height: int = 24, *, stopping: bool = False, **run: Any) -> list[str]:
    screen = Screen()
    sink = Silence()
    sink.show = screen.show  # type: ignore[method-assign]
    elapsed_s = play_run(sink, **run).now - 100.0
    return [
        line.plain.rstrip() for line in screen.lines(width, height, elapsed_s, stopping=stopping)
    ]


def test_the_screen_in_eighty_columns() -> None:
    assert lines(79, model_ends=False) == [
        "── m ───────────────────────────────────────────────────────────── measuring ──",
        "━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━   measurement 5 of about 5   nearly done",
        "now   choosing the next configuration",
        "best  210 infer/s · p99 20.0 ms  +50 % over the default  (measured once)",
        "      m_config_0 at concurrency 1",
        "limit Max p99 Latency: 80 ms   ○ misses it",
        "trend ▄█  100 to 210 infer/s at concurrency 1",
        "✓  1  100 infer/s · p99 10.0 ms  m_config_default at concurrency 1",
        "○  2  150 infer/s · p99 90.0 ms  m_config_default at concurrency 2",
        "✓  3  140 infer/s · p99 60.0 ms  m_config_default at concurrency 4",
        "✓  4  210 infer/s · p99 20.0 ms  m_config_0 at concurrency 1",
        "✗  5  m did not load",
        "Ctrl-C: finish this measurement, then write the reports",
    ]


def test_the_mark_of_a_miss_is_explained_where_it_is_shown() -> None:
    """The second trial misses a constraint: it leaves the list first, and then the chart."""
    assert "limit Max p99 Latency: 80 ms   ○ misses it" in lines(79, 18, model_ends=False)
    screen = Screen()
    sink = Silence()
    sink.show = screen.show  # type: ignore[method-assign]
    play_run(sink, model_ends=False)
    screen.outcomes = tuple(event for event in screen.outcomes if event.number != 2)
    small = [line.plain.rstrip() for line in screen.lines(79, 24, 0.0, stopping=False)]
    assert "limit Max p99 Latency: 80 ms" in small
    large = [line.plain.rstrip() for line in screen.lines(199, 49, 0.0, stopping=False)]
    assert "limit Max p99 Latency: 80 ms   ○ misses it" in large


LONG = Overdue(for_s=10.4, expected_s=1.08, limit_s=40.8)


def test_the_screen_names_a_measurement_that_takes_long() -> None:
    screen = Screen()
    sink = Silence()
    sink.show = screen.show  # type: ignore[method-assign]
    play_overdue(sink, LONG)
    shown = [line.plain.rstrip() for line in screen.lines(99, 24, 12.0, stopping=False)]
    assert "now   0:12  m_config_default at concurrency 1" in "\n".join(shown)
    assert any("still measuring: expected 1 s, given up after 40 s" in line for line in shown)


@pytest.mark.parametrize(
    ("overdue", "slot", "line"),
    [
        (LONG, "", ", for 10 s; expected 1 s, given up after 40 s"),
        (
            replace(LONG, for_s=41.0, limit_s=600.0),
            "",
            ", for 40 s; expected 1 s, given up after 10 min",
        ),
        (replace(LONG, limit_s=None), "a", " on a, for 10 s; expected 1 s"),
    ],
)
def test_a_line_names_a_measurement_that_takes_long(
    overdue: Overdue, slot: str, line: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        play_overdue(Lines(), overdue, slot=slot)
    named = [message for message in caplog.messages if message.startswith("Still measuring")]
    assert named == [f"Still measuring: m_config_default at concurrency 1{line}"]


def test_programs_learn_of_a_measurement_that_takes_long() -> None:
    written: list[str] = []
    trial = play_overdue(JsonLines(written.append), LONG)
    (event,) = [each for each in map(json.loads, written) if each["event"] == "still_measuring"]
    assert event["trial"] == trial.key
    assert (event["for_s"], event["expected_s"], event["given_up_after_s"]) == (10.4, 1.08, 40.8)
    assert event["workloads"][0]["concurrency"] == 1
    assert "slot" not in event


LITTLE = Outlook(chance=0.12, gain=0.004, margin=0.03, feasible=True)
NOTHING_YET = replace(LITTLE, feasible=False)


@pytest.mark.parametrize(
    ("outlook", "text"),
    [
        (LITTLE, "12 % chance that another configuration is more than 3 % better"),
        (replace(LITTLE, chance=0.001), "Less than 1 % chance that another configuration is more"),
        (NOTHING_YET, "12 % chance that another configuration meets the constraints"),
    ],
)
def test_a_search_that_learns_says_what_it_expects(outlook: Outlook, text: str) -> None:
    shown = lines(79, model_ends=False, outlook=outlook)

    assert shown[6].startswith(f"      {text}")
    assert not any("chance" in line for line in lines(79, 12, model_ends=False, outlook=outlook))
    assert not any("chance" in line for line in lines(79, model_ends=False))


@pytest.mark.parametrize(
    ("outlook", "fields"),
    [
        (LITTLE, {"chance_of_better": 0.12, "better_by_percent": 3.0}),
        (NOTHING_YET, {"chance_to_meet_constraints": 0.12}),
        (None, {}),
    ],
)
def test_programs_get_what_a_search_expects(
    outlook: Outlook | None, fields: Mapping[str, float]
) -> None:
    written: list[str] = []
    play_run(JsonLines(written.append), outlook=outlook)

    events = [event for event in map(json.loads, written) if event["event"] == "trial_started"]
    for event in events:
        assert {name: event[name] for name in event if "chance" in name or "better" in name} == (
            fields
        )


@pytest.mark.parametrize("width", [20, 40, 59, 79, 119, 200])
@pytest.mark.parametrize("height", [1, 4, 10, 20, 40])
def test_it_fits_every_terminal(width: int, height: int) -> None:
    shown = lines(width, height, model_ends=False)

    assert max(map(len, shown)) <= width
    assert len(shown) <= max(height - 1, 1)


def test_large_terminals_have_a_chart_and_more_outcomes() -> None:
    shown = lines(199, 49, model_ends=False)
    assert "Throughput (infer/sec)" in shown
    assert sum(line.count("◉") for line in shown) == 1
    assert sum(line.count("○") for line in shown) == 3  # in the chart, the list and its explanation
    assert "Throughput (infer/sec)" not in lines(199, 24, model_ends=False)
    assert "Throughput (infer/sec)" not in lines(100, 49, model_ends=False)


def test_few_lines_leave_out_outcomes_first() -> None:
    shown = lines(59, 12, model_ends=False)

    assert not any(line.startswith("limit") for line in shown)

    assert [line[:1] for line in shown].count("✓") + [line[:1] for line in shown].count("✗") == 3
    assert shown[-1].startswith("Ctrl-C")


def test_a_wish_to_stop_is_seen() -> None:
    shown = lines(79, stopping=True, model_ends=False)

    assert shown[-1] == "Stopping after this measurement (third Ctrl-C: stop at once)"
    assert "left" not in shown[1]


def test_reports_are_a_phase() -> None:
    shown = lines(79)

    assert "writing reports" in shown[0]
    assert not any("Ctrl-C" in line for line in shown)


def test_a_run_that_goes_on_says_what_was_known() -> None:
    shown = lines(79, resumed=2, model_ends=False)

    assert shown[7].endswith("m_config_default at concurrency 1 (resumed)")


def test_before_anything_is_measured() -> None:
    assert "best  none yet" in lines(79, outcomes=[], model_ends=False)


class _Unsteady(io.StringIO):
    def isatty(self) -> bool:
        return True


def on(terminal: io.StringIO) -> Console:
    return Console(
        file=terminal,
        force_terminal=True,
        force_interactive=True,
        width=80,
        height=24,
        color_system=None,
    )


def test_the_live_view_draws_itself_below_what_is_printed() -> None:
    terminal = _Unsteady()
    console = on(terminal)
    view = LiveView(console, clock=Clock(), stopping=lambda: False)

    play_run(view, model_ends=False)
    console.print("a log line")
    view.close()
    view.close()

    text = terminal.getvalue()
    assert "measurement 5 of about 5" in text[: text.index("a log line")]
    assert text.rindex("measurement 5 of about 5") > text.rindex(
        "a log line"
    )  # drawn again below it


def test_a_pause_takes_the_live_view_away() -> None:
    terminal = _Unsteady()
    view = LiveView(on(terminal), clock=Clock(), stopping=lambda: False)
    play_run(view, model_ends=False)

    with view.paused():
        before = len(terminal.getvalue())
        terminal.write("Stop? ")
        assert terminal.getvalue()[before:] == "Stop? "
    view.close()

    assert "measuring" in terminal.getvalue()[before:]


# -- lines -----------------------------------------------------------------------------------------


def test_lines(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="model_analyzer.cli.progress.sinks"):
        play_run(Lines(), resumed=1)

    messages = [record.getMessage() for record in caplog.records if record.name.endswith(".sinks")]
    assert messages[:3] == [
        "Existing measurement found for run config. Skipping profile of m_config_default:"
        " concurrency=1",
        "Profiling m_config_default: concurrency=2",
        "  150 infer/s, p99 90.0 ms  (measurement 2 of about 6; best so far 100 infer/s,"
        " p99 10.0 ms, measured once; about 7 s left)",
    ]


def test_a_repetition_has_a_line_of_its_own_form(caplog: pytest.LogCaptureFixture) -> None:
    """Scripts count the lines `Profiling …`: one for each new trial."""
    first = trial(variant())
    with caplog.at_level(logging.INFO, logger="model_analyzer.cli.progress.sinks"):
        for repetition in range(3):
            Lines().show(
                TrialStarted(
                    elapsed_s=1.0,
                    time_left_s=None,
                    trial=replace(first, repetition=repetition),
                    number=repetition + 1,
                    expected_trials=3,
                )
            )

    assert caplog.messages == [
        "Profiling m_config_0: concurrency=1",
        "Measuring m_config_0 again: concurrency=1",
        "Measuring m_config_0 again: concurrency=1",
    ]


def test_lines_tell_what_the_best_misses(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="model_analyzer.cli.progress.sinks"):
        play_run(Lines(), outcomes=[surface(100.0, latency=120.0), surface(1.0, latency=10.0)])

    best = "best so far 100 infer/s, p99 120 ms, misses the constraints by 50 %, measured once"
    assert best in caplog.text


def test_the_screen_claims_no_gain_that_the_answer_would_not() -> None:
    fails = surface(300.0, latency=90.0)
    for outcomes, says in (
        ([fails, fails, fails, surface(200.0, latency=20.0)], "p99 20.0 ms  (measured once)"),
        ([surface(100.0, latency=9.0)] * 3 + [surface(100.3, latency=9.0)],
         "no clear gain over the default (+0 %)  (measured once)"),
        ([in_windows(100.0, 0.2)] * 3 + [in_windows(110.0, 0.2)],
         "no clear gain over the default (-40 to +100 %)  (measured once)"),
        ([in_windows(100.0, 0.02)] * 3 + [in_windows(200.0, 0.02)],
         "+100 ± 12 % over the default  (measured once)"),
    ):  # fmt: skip
        best = next(line for line in lines(100, outcomes=outcomes) if line.startswith("best"))
        assert best.endswith(says)


def test_a_name_that_is_too_long_is_cut_and_the_load_is_not() -> None:
    long = trial(variant("a_model_with_a_name_as_long_as_names_are_config_12"), concurrency=64)
    assert _named(long, 80).endswith("_config_12 at concurrency 64")
    assert _named(long, 30) == "…_are_config_12 concurrency 64"
    assert len(_named(long, 5)) == len("…config_12 concurrency 64")


# -- JSON ------------------------------------------------------------------------------------------


def documents(**run: Any) -> list[Mapping[str, Any]]:
    text = io.StringIO()
    play_run(JsonLines(text.write), **run)
    return [json.loads(line) for line in text.getvalue().splitlines()]


def test_json_names_units_and_trials() -> None:
    events = documents()

    finished = [event for event in events if event["event"] == "trial_finished"]
    assert finished[0]["metrics"]["perf_throughput_infer_per_s"] == 100.0
    assert finished[0]["metrics"]["perf_latency_p99_ms"] == 10.0
    assert len({event["trial"] for event in finished}) == 4
    (failed,) = (event for event in events if event["event"] == "trial_failed")
    assert (failed["reason"], failed["hint"]) == ("model_not_loaded", None)
    best = [event for event in events if event["event"] == "best"]
    assert (best[-1]["gain_percent"], best[-1]["times_measured"]) == (50.0, 1)
    assert (best[-1]["gain_noise_percent"], best[-1]["gain_is_clear"]) == (None, True)
    assert best[0]["gain_is_clear"] is None
    assert events[0]["schema"] == 1
    assert events[-1]["event"] == "run_finished"
    assert all(event["elapsed_s"] >= 0 for event in events)


def test_json_has_the_constraints_and_the_settings_of_variants() -> None:
    events = documents()

    (started,) = (event for event in events if event["event"] == "model_started")
    assert started["constraints"] == [
        {"model": "m", "metric": "perf_latency_p99", "minimum": None, "maximum": 80}
    ]
    trials = [event for event in events if event["event"] == "trial_started"]
    settings = [trial["workloads"][0]["settings"] for trial in trials]
    assert {name for each in settings for name in each} == {"m_config_default", "m_config_0"}
    assert settings[-1]["m_config_0"]["instance_group"] == [{"count": 2}]


def test_json_has_the_metrics_of_each_of_several_models() -> None:
    target = together(subject(loads=(1,)), subject(loads=(2,)))
    outcome = two_models({"perf_throughput": 10.0}, {"perf_throughput": 30.0})

    events = documents(target=target, outcomes=[outcome])

    (finished,) = (event for event in events if event["event"] == "trial_finished")
    assert finished["metrics"] == {"perf_throughput_infer_per_s": 40.0}
    own = [work["metrics"]["perf_throughput_infer_per_s"] for work in finished["workloads"]]
    assert own == [10.0, 30.0]


# -- which one -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mode", "verbosity", "kind"),
    [
        (ProgressMode.AUTO, 0, Lines),
        (ProgressMode.PLAIN, 0, Lines),
        (ProgressMode.LIVE, 0, Lines),
        (ProgressMode.AUTO, -1, Silence),
        (ProgressMode.JSON, -1, JsonLines),
        (ProgressMode.NONE, 1, Silence),
    ],
)
def test_without_a_terminal_nothing_is_live(
    logger: logging.Logger, mode: ProgressMode, verbosity: int, kind: type
) -> None:
    sink = TerminalView(verbosity).progress(mode, clock=Clock(), stopping=lambda: False)

    assert type(sink) is kind


@pytest.mark.parametrize(
    ("terminal", "ci", "mode", "verbosity", "kind"),
    [
        ("xterm", "", ProgressMode.AUTO, 0, LiveView),
        ("dumb", "", ProgressMode.AUTO, 0, Lines),
        ("dumb", "", ProgressMode.LIVE, 0, Lines),
        ("xterm", "true", ProgressMode.AUTO, 0, Lines),
        ("xterm", "true", ProgressMode.LIVE, 0, LiveView),
        ("xterm", "", ProgressMode.AUTO, 1, Lines),
        ("xterm", "", ProgressMode.PLAIN, 0, Lines),
    ],
)
def test_on_a_terminal(
    logger: logging.Logger,
    monkeypatch: pytest.MonkeyPatch,
    terminal: str,
    ci: str,
    mode: ProgressMode,
    verbosity: int,
    kind: type,
) -> None:
    monkeypatch.setattr("sys.stdout", _Unsteady())
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.setenv("CI", ci)

    sink = TerminalView(verbosity).progress(mode, clock=Clock(), stopping=lambda: False)

    assert type(sink) is kind


def test_what_searches_log_hypothetically_is_not_shown(logger: logging.Logger, capsys) -> None:
    view = TerminalView(0)

    with view.hypothetically():
        logging.getLogger("model_analyzer.search.modes.brute").info("Starting brute search")
        logging.getLogger("model_analyzer.cli.signals").warning("Received SIGINT")
    logging.getLogger("model_analyzer.search.modes.brute").info("Done")

    shown = capsys.readouterr().out
    assert "Starting" not in shown
    assert "Received SIGINT" in shown
    assert "Done" in shown


def test_above_the_live_view_is_what_it_does_not_show_itself(
    logger: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def shown(mode: ProgressMode, verbosity: int) -> str:
        terminal = _Unsteady()
        monkeypatch.setattr("sys.stdout", terminal)
        TerminalView(verbosity).progress(mode, clock=Clock(), stopping=lambda: False)
        logging.getLogger("model_analyzer.search.variants").info("Creating it")
        logging.getLogger("model_analyzer.search.variants").info("")
        logging.getLogger("model_analyzer.runner.load.perf_analyzer").info("Window increased")
        logging.getLogger("model_analyzer.search.modes.brute").warning("Careful")
        logging.getLogger("model_analyzer.search.conclusions").info("The search ends")
        logging.getLogger("model_analyzer.state.stores").info("Uploaded it")
        return terminal.getvalue()

    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("CI", "")
    live = shown(ProgressMode.LIVE, 0)
    assert "" not in live.splitlines()
    assert "Creating" not in live
    assert "Window" not in live
    for words in ("Careful", "The search ends", "Uploaded it"):
        assert words in live
    for mode, verbosity in ((ProgressMode.PLAIN, 0), (ProgressMode.LIVE, 1)):
        assert "Creating it" in shown(mode, verbosity)


@pytest.mark.parametrize(("value", "is_one"), [("", False), ("false", False), ("true", True)])
def test_ci(value: str, is_one: bool) -> None:
    assert is_ci({"CI": value}) is is_one


# -- values ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("objective", "tags"),
    [
        ("perf_throughput", ("perf_throughput", "perf_latency_p99")),
        ("perf_latency_avg", ("perf_latency_avg", "perf_throughput", "perf_latency_p99")),
        ("cpu_used_ram", ("cpu_used_ram", "perf_throughput", "perf_latency_p99")),
    ],
)
def test_shown_are_the_goal_and_what_is_usual(objective: str, tags: tuple[str, ...]) -> None:
    assert shown_tags(subject(objective=objective))[:2] == tags[:2]


def test_what_is_bounded_is_shown_however_much_is_wished_for() -> None:
    plain = subject(objective="perf_throughput")
    wished = objectives(perf_throughput=3, gpu_used_memory=2, cpu_used_ram=1)
    by = goal(*at_most(perf_latency_p90=10), wished=wished)

    (model,) = plain.models
    bounded = replace(model, settings=replace(model.settings, goal=by.models[0]))

    shown = shown_tags(replace(plain, models=(bounded,)))

    assert shown == ("perf_throughput", "perf_latency_p90", "gpu_used_memory")


def test_of_language_models_tokens_are_shown() -> None:
    plain = subject(objective="output_token_throughput")
    (model,) = plain.models
    of_tokens = replace(plain, models=(replace(model, times_tokens=True),))

    assert shown_tags(of_tokens) == ("output_token_throughput", "time_to_first_token_p99")
    values = one(output_token_throughput=812.4, time_to_first_token_p99=45.67)
    assert values_text(values, shown_tags(of_tokens)) == "812 tokens/s · TTFT p99 45.7 ms"


def test_times_are_short() -> None:
    assert [duration(seconds) for seconds in (7, 42, 119, 128, 1000, 7300)] == [
        "7 s", "40 s", "2 min", "2 min 10 s", "17 min", "2 h 02 min",
    ]  # fmt: skip
    assert [clock(seconds) for seconds in (7, 65, 3700)] == ["0:07", "1:05", "1:01:40"]
