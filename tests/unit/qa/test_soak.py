# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The soak's checks can fail: each is given what it is there to find."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import pytest

from model_analyzer.domain.slots import NOTHING_NOW, Asked
from qa.soaking import checks
from qa.soaking.census import excess
from qa.soaking.checks import Event, Outcome
from qa.soaking.deck import Deck
from qa.soaking.replays import Book, forgotten, out_of_order, unasked, unlike
from qa.soaking.table import Counts
from tests.unit.profiling.test_loop import ListedSearch, succeeding
from tests.unit.search.surfaces import failure
from tests.unit.state.samples import several

TRIALS = 6
FAULTS = {"kill": False, "stop": False, "disk full": False, "kill perf_analyzer": True}
DECK = Deck(FAULTS, seed=3)


# -- the deck ------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("rounds", [4, 12, 40])
def test_every_fault_comes_equally_often(rounds: int, size: int) -> None:
    deck = replace(DECK, size=size)
    cards = [deck.draw(number, TRIALS) for number in range(1, rounds + 1)]
    drawn = Counter(blow.fault for card in cards for blow in card.blows)

    assert drawn == dict.fromkeys(FAULTS, rounds * size // 4)


def test_a_round_is_the_same_again_by_its_seed_and_number_alone() -> None:
    cards = [DECK.draw(number, TRIALS) for number in range(1, 9)]
    [blow], [again] = cards[6].blows, DECK.draw(7, TRIALS).blows

    assert again == blow
    assert again.dice.random() == blow.dice.random()
    assert replace(DECK, seed=4).draw(7, TRIALS) != cards[6]


def test_moments_are_spread_over_the_whole_run() -> None:
    blows = [blow for number in range(1, 500) for blow in DECK.draw(number, TRIALS).blows]
    moments = [blow.moment for blow in blows]

    assert {moment.outcomes for moment in moments} == set(range(TRIALS + 1))
    assert len({moment.delay_s for moment in moments}) > 300
    assert max(moment.delay_s for moment in moments if moment.outcomes < TRIALS) < 1
    early = {blow.moment.outcomes for blow in blows if FAULTS[blow.fault]}
    assert early == set(range(TRIALS - 1))


def test_several_faults_of_a_round_come_soon_after_one_another() -> None:
    blows = replace(DECK, size=7).draw(1, TRIALS).blows

    assert len({blow.dice.random() for blow in blows}) == 7
    assert max(blow.moment.outcomes for blow in blows) <= 1


# -- the table -----------------------------------------------------------------------------------


def test_the_table_counts_what_came_too_late_and_says_what_was_skipped() -> None:
    counts = Counts()
    counts.add("kill", hit=True, has_finding=True)
    counts.add("kill", hit=False, has_finding=False)
    counts.add("stop", hit=True, has_finding=False)

    lines = counts.table({"chmod": "root may write everywhere"}).splitlines()

    assert [line.split() for line in lines[:4]] == [
        ["rounds", "hit", "late", "findings"],
        ["kill", "2", "1", "1", "1"],
        ["stop", "1", "1", "0", "0"],
        ["total", "3", "2", "1", "1"],
    ]
    assert lines[4:] == ["skipped: chmod: root may write everywhere"]


def test_a_soak_that_was_interrupted_at_once_has_a_table() -> None:
    assert Counts().table({}).splitlines()[1].split() == ["total", "0", "0", "0", "0"]


# -- acknowledged and kept -----------------------------------------------------------------------


def outcome(number: int, *, has_failed: bool = False) -> Outcome:
    return Outcome(f"key {number}", "m_config_0", 1000.0 + number, has_failed)


SAID = [outcome(1), outcome(2), outcome(3)]


def test_a_stored_outcome_is_not_lost() -> None:
    rounded = [replace(each, started=each.started + 0.0005) for each in SAID]

    assert checks.losses(SAID, [*rounded, outcome(9)]) == []


def test_a_planted_loss_is_noticed() -> None:
    (problem,) = checks.losses(SAID, [outcome(1), outcome(3)])

    assert problem == "lost: acknowledged outcome key 2 is not in the checkpoint"


@pytest.mark.parametrize(
    "other",
    [replace(outcome(2), started=1500.0), outcome(2, has_failed=True)],
    ids=["new", "failed"],
)
def test_another_outcome_in_place_of_an_acknowledged_measurement_is_noticed(other: Outcome) -> None:
    (problem,) = checks.losses(SAID, [outcome(1), other, outcome(3)])

    assert "key 2 has a different outcome" in problem


def test_a_failure_may_have_been_tried_again_but_not_be_forgotten() -> None:
    failed = [outcome(1, has_failed=True)]

    assert checks.losses(failed, [replace(outcome(1), started=1500.0)]) == []
    assert checks.losses(failed, failed) == []
    assert len(checks.losses(failed, [])) == 1


def test_a_planted_repetition_is_noticed() -> None:
    twice = replace(outcome(1), variant="m_config_default")  # a variant under two names is none

    assert checks.repetitions([*SAID, twice]) == []
    assert checks.repetitions([*SAID, outcome(2)]) == [
        "trial key 2 of m_config_0 is in the checkpoint 2 times"
    ]


def test_a_measurement_that_was_made_again_is_noticed() -> None:
    said = [outcome(1), outcome(2, has_failed=True)]

    assert checks.measured_again(said, [outcome(2), outcome(3)]) == []
    assert len(checks.measured_again(said, [outcome(1), outcome(2)])) == 1


def test_a_set_of_trials_that_differs_is_noticed() -> None:
    undisturbed = {(each.trial, each.variant) for each in SAID}

    assert checks.differences(SAID, undisturbed) == []
    (missing,) = checks.differences([*SAID[:2], outcome(3, has_failed=True)], undisturbed)
    (additional,) = checks.differences([*SAID, outcome(4)], undisturbed)
    assert missing.startswith("missing: ")
    assert "key 3" in missing
    assert additional.startswith("not expected: ")
    assert "key 4" in additional


def test_what_is_measured_again_at_the_end_may_differ() -> None:
    again = [replace(outcome(5), repetition=1), replace(outcome(6), repetition=2)]

    assert checks.trials_of([*SAID, *again]) == checks.trials_of(SAID)
    assert checks.differences([*SAID, *again], checks.trials_of(SAID)) == []


def test_a_run_that_only_repeats_is_not_complete() -> None:
    events = [{**event, "repetition": 1} for event in finished(0, 6)[:-1]]

    assert checks.wrong_status(0, {0}, [*events, *finished(0, 5)], "", trials=6) == [
        "exit status 0 after 5 of 6 trials"
    ]


def trial_event(kind: str, number: int, *, resumed: bool = False) -> Event:
    return {
        "event": kind,
        "trial": f"key {number}",
        "known": resumed,
        "started": 1000.0 + number,
        "repetition": 0,
        "workloads": [{"variant": "m_config_0"}],
    }


def test_acknowledged_is_what_this_run_has_said_to_be_over() -> None:
    events = [
        trial_event("trial_started", 1),
        trial_event("trial_finished", 1),
        trial_event("trial_finished", 2, resumed=True),
        trial_event("trial_failed", 3),
    ]

    assert checks.acknowledged(events) == [outcome(1), outcome(3, has_failed=True)]


def test_stored_outcomes_come_from_the_export() -> None:
    rows = [
        {"trial": "key 1", "variant": "m_config_0", "started": "1970-01-01T00:16:41.000+00:00",
         "repetition": 0},
        {"trial": "key 2", "variant": "m_config_0", "started": "1970-01-01T00:16:42.000+00:00",
         "failure": "SERVER", "repetition": 0},
    ]  # fmt: skip

    assert checks.kept(json.dumps(rows)) == [outcome(1), outcome(2, has_failed=True)]


@pytest.mark.parametrize("line", ["", '{"event":"trial_fin', "null", "[]", "{}"])
def test_a_line_without_an_event_acknowledges_nothing(line: str) -> None:
    assert checks.event_of(line) is None


# -- the end of a run ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "Traceback (most recent call last):\n",
        "Exception ignored in: <function f>\n",
        "Fatal Python error: Aborted\n",
    ],
)
def test_a_planted_crash_is_noticed(text: str) -> None:
    assert checks.crashes("standard error", "all is well\n") == []
    assert len(checks.crashes("standard error", f"first\n{text}last\n")) == 1


def finished(status: int, trials: int = 0) -> list[Event]:
    measured = [trial_event("trial_finished", number) for number in range(trials)]
    return [*measured, {"event": "run_finished", "exit_status": status}]


@pytest.mark.parametrize(
    ("status", "events", "errors"),
    [
        pytest.param(0, finished(0, 6), "", id="complete"),
        pytest.param(0, [trial_event("trial_failed", 1), *finished(0)], "", id="after a failure"),
        pytest.param(1, finished(1, 2), "model-analyzer: interrupted\n", id="with its reason"),
        pytest.param(-9, [], "", id="killed"),
        pytest.param(-9, finished(0, 6), "", id="killed after its end"),
    ],
)
def test_a_right_exit_status_is_none_to_complain_about(
    status: int, events: list[Event], errors: str
) -> None:
    assert checks.wrong_status(status, {0, 1, -9}, events, errors, trials=6) == []


@pytest.mark.parametrize(
    ("status", "events", "errors"),
    [
        pytest.param(3, finished(3), "x", id="not one of the allowed"),
        pytest.param(1, finished(0), "x", id="not what the event says"),
        pytest.param(0, finished(0, 6)[:-1], "", id="no event"),
        pytest.param(0, finished(0, 5), "", id="not complete"),
        pytest.param(1, finished(1), "\n", id="no reason"),
    ],
)
def test_a_wrong_exit_status_is_noticed(status: int, events: list[Event], errors: str) -> None:
    assert len(checks.wrong_status(status, {0, 1}, events, errors, trials=6)) == 1


def test_a_second_run_must_say_that_there_is_a_first() -> None:
    assert checks.refusals(0, "") == []
    assert checks.refusals(1, "lock: in use by another run; wait for it\n") == []
    assert len(checks.refusals(1, "out of memory\n")) == 1


@pytest.mark.parametrize(
    "reason",
    ["vm: in use by another run, process 7", "resources of vm are still in use after 60 s"],
)
def test_a_second_run_on_a_cluster_is_refused_for_its_hosts(reason: str) -> None:
    assert checks.refusals(1, f"model-analyzer: {reason}; wait\n") == []


# -- slots ---------------------------------------------------------------------------------------


def test_servers_of_two_runs_or_too_many_of_one_are_noticed() -> None:
    assert excess({}, slots=2) == []
    assert excess({"run": 2}, slots=2) == []
    assert excess({"run": 3}, slots=2) == ["run: 3 servers on 2 slots"]
    assert excess({"run": 1, "another": 1}, slots=2) == [
        "servers of another and run at the same time"
    ]


# -- questions -----------------------------------------------------------------------------------

FIRST, SECOND, THIRD = several(3)

# Two slots: the second trial ends first, and then the third one is asked for.
ASKED = (
    Asked(key=FIRST.key, after=()),
    Asked(key=SECOND.key, after=()),
    Asked(key=THIRD.key, after=(SECOND.key,)),
    Asked(key=NOTHING_NOW, after=(FIRST.key,)),
    Asked(key=NOTHING_NOW, after=(THIRD.key,)),
)
COMPLETE = Book(asked=ASKED, outcomes={trial.key: succeeding(trial) for trial in several(3)})
KILLED = Book(asked=ASKED[:3], outcomes={SECOND.key: succeeding(SECOND)})


def test_questions_that_are_kept_and_continued_are_no_finding() -> None:
    assert forgotten(KILLED.asked, ASKED) == []


@pytest.mark.parametrize("after", [ASKED[:2], (ASKED[0], ASKED[2], ASKED[1])])
def test_a_forgotten_or_changed_question_is_noticed(after: tuple[Asked, ...]) -> None:
    assert len(forgotten(KILLED.asked, after)) == 1


@pytest.mark.parametrize("started", [[FIRST, THIRD], [FIRST], [FIRST, THIRD, FIRST]])
def test_a_resumed_run_starts_what_was_asked_in_vain_in_order(started) -> None:
    assert out_of_order(KILLED, ASKED, [trial.key for trial in started]) == []


@pytest.mark.parametrize("started", [[THIRD, FIRST], [FIRST, SECOND], [FIRST, THIRD, SECOND]])
def test_another_order_is_noticed(started) -> None:
    assert len(out_of_order(KILLED, ASKED, [trial.key for trial in started])) == 1


def test_a_search_that_asks_the_same_again_and_is_at_its_end_is_no_finding() -> None:
    assert unlike(ListedSearch(several(3)), COMPLETE) == []
    assert unasked(COMPLETE) == []


def test_a_search_that_asks_for_something_else_is_noticed() -> None:
    (problem,) = unlike(ListedSearch([FIRST, THIRD, SECOND]), COMPLETE)

    assert problem.startswith("question 1: the search asks for")


def test_a_search_that_would_go_on_is_noticed() -> None:
    (problem,) = unlike(ListedSearch(several(4)), COMPLETE)

    assert problem.startswith("question 3: the search asks for")


def test_a_trial_that_was_asked_for_and_forgotten_is_noticed() -> None:
    problems = unlike(ListedSearch(several(3)), Book(KILLED.asked, KILLED.outcomes))

    assert len(problems) == 2


def test_an_outcome_that_nobody_asked_for_is_noticed() -> None:
    (problem,) = unasked(Book(ASKED[:2], COMPLETE.outcomes))

    assert THIRD.key in problem


def test_questions_after_a_failure_that_is_tried_again_may_change() -> None:
    book = replace(COMPLETE, outcomes={**COMPLETE.outcomes, FIRST.key: failure()})

    assert book.before_failures() == ASKED[:3]
