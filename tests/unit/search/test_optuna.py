# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optuna search: how many trials there are, what they are worth, and that they can be replayed."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from math import sqrt
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import OptunaSettings, SearchMode
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.search.choose import check
from model_analyzer.search.modes.optuna import OptunaMode, trial_counts
from model_analyzer.search.plan import PlannedSearch, Subject
from tests.sizes import costly, small_and_full
from tests.unit.search.surfaces import (
    SHARES,
    Respond,
    all_parts,
    batch_limit,
    client_batch,
    composing,
    counts,
    ensemble,
    failure,
    flat,
    instances,
    latency_within,
    limits,
    load,
    measurement,
    model,
    saturating,
    search,
    searched,
    sequence,
    shares,
    short_name,
    subject,
    together,
    visits,
)

OPTUNA = limits(mode=SearchMode.OPTUNA, sweeps=False)

TWENTY = shares(None, None, trials=(20, 20))
SIXTY = shares(None, None, trials=(60, 60))

DELAYS = {"dynamic_batching": [{"max_queue_delay_microseconds": delay} for delay in (100, 200)]}
KINDS = [
    subject(constraints=[latency_within(20)]),
    subject(batch_sizes=(1, 4, 16), parameters={**counts(1, 2, 4), **DELAYS}),
    subject(ensemble(model("a"), model("b")), composing("a", parameters=DELAYS)),
    subject(model("m", ensemble(model("a"), model("b"), name="inner"), model("c"))),
    together(subject(model("m")), subject(model("n", max_batch_size=0))),
]
NAMES = ["plain", "lists", "ensemble", "BLS", "several"]


def trials_of(
    target: Subject, respond: Respond, optuna: OptunaSettings = SHARES, seed: int = 0
) -> list[Trial]:
    """Every trial of an Optuna search without the sweep behind it."""
    where = replace(OPTUNA, optuna=optuna)
    plan = OptunaMode(target, where).strategy(VariantNames(), seed).plan()
    return sequence(PlannedSearch(plan, None), respond)


def queueing(trial: Trial) -> Measurement:
    """Throughput grows with the load up to what the sizes can do; too many instances and too
    large batches cost some of it. Latency is what the load makes of it.
    """
    limit, count, requests = batch_limit(trial), instances(trial), load(trial)
    capacity = 1000 * sqrt(min(limit, 16)) * sqrt(min(count, 4)) / (1 + max(count - 4, 0) / 10)
    throughput = min(capacity, 200.0 * requests)
    return measurement(throughput, latency=1000 * requests / throughput)


def every_few_fail(trial: Trial) -> Outcome:
    """The default does not, and neither do most others."""
    fails = short_name(trial) != "default" and int(trial.key, 16) % 4 == 0
    return failure() if fails else saturating(trial)


def throughputs(trials: Sequence[Trial], respond: Respond) -> list[float]:
    outcomes = [respond(trial) for trial in trials]
    return [
        outcome.value("perf_throughput") or 0.0
        for outcome in outcomes
        if isinstance(outcome, Measurement)
    ]


# -- how many ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "optuna", "least", "most"),
    [
        (120, shares(), 6, 12),
        (120, shares(None, None, trials=(6, 6)), 6, 6),
        (120, shares(5, None, trials=(None, 6)), 6, 6),
        (120, shares(5, 3, trials=(None, 6)), 3, 3),
        (440, shares(), 22, 44),
        (440, shares(None, 10, trials=(30, None)), 30, 44),
        (440, shares(5, 10, trials=(30, 200)), 30, 44),
        (440, shares(None, 10, trials=(60, None)), 44, 44),
        (440, shares(None, 10, trials=(60, None), limit_gives_way=True), 60, 60),
        (440, shares(None, 10, trials=(30, None), limit_gives_way=True), 30, 44),
        (440, shares(5, 10, trials=(10, 20)), 20, 20),
        (32, shares(), 1, 3),
        (3025, shares(1, 1), 30, 30),
        (6, shares(), 1, 1),
        (1, shares(), 1, 1),
        (6, shares(0, None, trials=(None, 200)), 1, 6),
    ],
)
def test_shares_and_numbers_make_the_number_of_trials(
    size: int, optuna: OptunaSettings, least: int, most: int
) -> None:
    assert trial_counts(size, optuna) == (least, most)


@pytest.mark.parametrize(
    ("answers", "optuna", "count"),
    [
        # without a new best the least share is tried, if it is more than the patience
        ("flat", shares(), 22),
        ("flat", shares(early_exit=30), 30),
        ("flat", shares(1, 10), 10),
        ("flat", shares(1, 10, early_exit=3), 4),
        ("flat", shares(5, 10, trials=(None, 12)), 12),
        ("rising", shares(), 44),
        ("failing", shares(), 22),
    ],
)
def test_it_ends_if_nothing_better_is_measured(
    answers: str, optuna: OptunaSettings, count: int
) -> None:
    number = 0

    def respond(trial: Trial) -> Outcome:
        nonlocal number
        number += 1
        if answers == "rising":
            return measurement(float(number))
        return failure() if answers == "failing" and number > 1 else flat(trial)

    assert len(trials_of(subject(), respond, optuna)) == 1 + count


def test_models_of_other_runs_do_not_count() -> None:
    target = [subject(model("m")), subject(model("n"))]

    assert [len(trials_of(target, flat)) for target in target] == [23, 23]


def test_a_small_space_has_a_trial_and_a_whole_one_every_trial() -> None:
    small = subject(model(max_batch_size=0), loads=(1, 2), parameters=counts(1, 2))

    assert len(trials_of(small, flat)) == 2
    all_of_it = trials_of(small, flat, shares(100, 100))
    assert {(instances(trial), load(trial)) for trial in all_of_it[1:]} == {
        (1, 1), (1, 2), (2, 1), (2, 2),
    }  # fmt: skip
    assert len(all_of_it) == 5


# -- what is tried -----------------------------------------------------------------------------


@pytest.mark.parametrize("target", KINDS, ids=NAMES)
@small_and_full("most", 20, 60)
def test_the_default_is_first_and_nothing_is_illegal_or_asked_twice(
    target: Subject, most: int
) -> None:
    trials = trials_of(target, saturating, shares(None, None, trials=(most, most)))

    assert trials[0].variants.count("_config_default") == len(target.models)
    assert len(trials) == 1 + most
    assert all(trial.is_legal for trial in trials)
    # the same as the default may come again, under a name of its own
    assert len({trial.key for trial in trials[1:]}) == most


def test_the_batch_limit_of_an_ensemble_is_that_of_its_smallest_step() -> None:
    target = subject(ensemble(model("a"), model("b")))

    for trial in trials_of(target, saturating, TWENTY)[1:]:
        parts = all_parts(trial)
        assert parts["m"].max_batch_size == min(parts[name].max_batch_size for name in "ab")


def test_several_models_have_their_own_loads() -> None:
    target = together(subject(model("m")), subject(model("n")))

    trials = trials_of(target, saturating, TWENTY)

    assert any(len({work.load.value for work in trial.workloads}) > 1 for trial in trials)


def test_request_rates_are_searched_on_request() -> None:
    trials = trials_of(subject(load_kind=LoadKind.REQUEST_RATE), saturating)

    assert {trial.workloads[0].load.kind for trial in trials} == {LoadKind.REQUEST_RATE}
    assert load(trials[0]) == 16
    assert len(set(map(load, trials))) > 3


def test_all_client_batches_are_tried_where_they_fit() -> None:
    trials = trials_of(KINDS[1], saturating, SIXTY)

    assert {client_batch(trial) for trial in trials} == {1, 4, 16}


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_another_seed_is_another_search(seed: int) -> None:
    assert trials_of(subject(), saturating, seed=seed) != trials_of(subject(), saturating)


# -- what is found -----------------------------------------------------------------------------


def test_a_tenth_of_the_space_finds_nearly_the_best() -> None:
    bests = [max(throughputs(trials_of(subject(), queueing, seed=s), queueing)) for s in range(12)]

    assert mean(bests) >= 0.95 * 8000


def test_within_a_constraint_it_finds_nearly_the_best() -> None:
    target = subject(constraints=[latency_within(10)])

    def best(seed: int) -> float:
        trials = trials_of(target, queueing, seed=seed)
        return max(throughputs([t for t in trials if target.goal.passes(queueing(t))], queueing))

    at_most = max(
        1000 * sqrt(min(limit, 16)) * sqrt(count)
        for limit, count in product((1, 2, 4, 8, 16), (1, 2, 3, 4))
    )
    assert mean(best(seed) for seed in range(12)) >= 0.8 * at_most


def test_regions_that_fail_are_avoided() -> None:
    def large_ones_do_not_load(trial: Trial) -> Outcome:
        return failure() if batch_limit(trial) > 8 else queueing(trial)

    failed = [
        mean(
            large_ones_do_not_load(trial) == failure()
            for trial in trials_of(subject(), large_ones_do_not_load, seed=seed)[12:]
        )
        for seed in range(8)
    ]

    # half of the batch limits fail, and the best ones lie beside them
    assert mean(failed) < 0.4


def scores(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """(score, best score) of every trial, as the log tells them."""
    lines = [line for line in caplog.messages if line.startswith("Objective score for ")]
    return [
        (line.split(": ")[1].split(" ")[0], line.rpartition("(")[2].rstrip(")")) for line in lines
    ]


def test_a_missed_constraint_scores_below_every_met_one(caplog: pytest.LogCaptureFixture) -> None:
    answers: list[Outcome] = [
        measurement(100.0, latency=5.0),
        measurement(9000.0, latency=40.0),  # misses it by far
        measurement(9000.0, latency=11.0),  # and by a little
        measurement(1.0, latency=10.0),
        measurement(120.0, latency=10.0),
        failure(),
    ]
    target = subject(constraints=[latency_within(10)])
    remaining = iter(answers)

    with caplog.at_level(logging.DEBUG):
        trials_of(target, lambda _: next(remaining), shares(None, None, trials=(5, 5)))

    assert scores(caplog) == [
        ("-500", "0"),
        ("-210", "0"),
        ("-196", "0"),
        ("18", "18"),
        ("none", "18"),
    ]


def test_a_default_that_misses_constraints_is_no_standard(caplog: pytest.LogCaptureFixture) -> None:
    target = subject(constraints=[latency_within(10)])
    remaining = iter([measurement(100.0, latency=20.0), measurement(50.0, latency=5.0)])

    with caplog.at_level(logging.DEBUG):
        trials_of(target, lambda _: next(remaining), shares(None, None, trials=(1, 1)))

    assert scores(caplog) == [("-66", "-66")]


def test_a_default_that_fails_ends_the_search(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        trials = searched(respond=lambda _: failure(), mode=SearchMode.OPTUNA)

    assert len(trials) == 1
    (error,) = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert "m: the search stops" in error.getMessage()
    assert "m did not load" in error.getMessage()
    assert caplog.records[-1] is error


def test_without_a_legal_default_the_smallest_is_the_base_of_comparisons(caplog) -> None:
    target = subject(model(max_batch_size=2, dynamic_batching={"preferred_batch_size": [4]}))

    with caplog.at_level(logging.INFO):
        trials = trials_of(target, queueing, TWENTY)

    assert (
        "Skipping illegal run configuration: m_config_default: concurrency=4"
        " (preferred_batch_size 4 is above max_batch_size 2)"
    ) in caplog.messages
    assert all(trial.is_legal for trial in trials)
    assert (instances(trials[0]), batch_limit(trials[0]), load(trials[0])) == (1, 4, 1)
    assert len({trial.key for trial in trials}) == len(trials) == 1 + 20


# -- replay ------------------------------------------------------------------------------------


@small_and_full("every", 7, 1)
@pytest.mark.parametrize("target", KINDS, ids=NAMES)
def test_a_search_resumed_anywhere_asks_the_same_trials(target: Subject, every: int) -> None:
    whole = trials_of(target, every_few_fail, TWENTY)

    for count in range(0, len(whole), every):
        names = VariantNames.known(
            work.variant for trial in whole[:count] for work in trial.workloads
        )
        where = replace(OPTUNA, optuna=TWENTY)
        plan = OptunaMode(target, where).strategy(names, 0).plan()
        assert sequence(PlannedSearch(plan, None), every_few_fail) == whole


ANSWERS = st.lists(
    st.one_of(st.tuples(st.floats(0.5, 1000), st.floats(0.5, 100)), st.none()),
    min_size=1,
    max_size=20,
)


@costly(3)
@given(target=st.sampled_from(KINDS[:2]), answers=ANSWERS, seed=st.integers(0, 100))
def test_the_same_answers_bring_the_same_questions(
    target: Subject, answers: Sequence[tuple[float, float] | None], seed: int
) -> None:
    def respond(trial: Trial) -> Outcome:
        answer = answers[int(trial.key, 16) % len(answers)]
        return measurement(answer[0], latency=answer[1]) if answer else failure()

    optuna = shares(None, None, trials=(15, 25), early_exit=5)

    first, second = (trials_of(target, respond, optuna, seed) for _ in range(2))

    assert first == second
    assert len(first) <= 26
    assert all(trial.is_legal for trial in first)


# -- the sweep behind it -----------------------------------------------------------------------


def test_the_best_and_the_default_are_swept_over_all_loads(caplog) -> None:
    where = limits(mode=SearchMode.OPTUNA, concurrency=(1, 8))
    asked = search(subject(), where, best=1)

    with caplog.at_level(logging.INFO):
        trials = sequence(asked, queueing)

    best = max(trials, key=lambda trial: queueing(trial).value("perf_throughput") or 0)
    for name in (short_name(best), "default"):
        assert {value for short, value in visits(trials) if short == name} == {1, 2, 4, 8}
    assert caplog.messages[-2:] == [
        "Done with Optuna mode search. Gathering concurrency sweep measurements for reports",
        "Done gathering concurrency sweep measurements for reports",
    ]


def test_only_listed_loads_are_swept() -> None:
    target = subject(loads=(3, 5, 7), constraints=[latency_within(40)])

    trials = searched(target, queueing, best=1, mode=SearchMode.OPTUNA)

    assert {load(trial) for trial in trials if short_name(trial) == "default"} == {3, 5, 7}
    assert {load(trial) for trial in trials} == {3, 5, 7}


@pytest.mark.parametrize(
    ("target", "where"),
    [
        (subject(), OPTUNA),
        (subject(loads=(4,)), limits(mode=SearchMode.OPTUNA)),
        (
            together(subject(model("m"), loads=(1, 2)), subject(model("n"), loads=(2, 3))),
            limits(mode=SearchMode.OPTUNA, batch=(1, 2)),
        ),
    ],
    ids=["disabled", "fixed", "different"],
)
def test_a_disabled_sweep_does_not_run(target: Subject, where: object, caplog) -> None:
    with caplog.at_level(logging.INFO):
        sequence(search(target, where), saturating)  # type: ignore[arg-type]

    assert caplog.messages[-1] == "Done with Optuna mode search."


@costly(3)
@given(answers=ANSWERS, best=st.integers(0, 3), constrained=st.booleans())
def test_there_are_no_more_trials_than_announced(
    answers: Sequence[tuple[float, float] | None], best: int, constrained: bool
) -> None:
    target = subject(constraints=[latency_within(30)] if constrained else ())
    where = limits(mode=SearchMode.OPTUNA, concurrency=(1, 16), instances=(1, 2), batch=(1, 4))
    asked = search(target, where, best=best, optuna=shares(10, 40))

    def respond(trial: Trial) -> Outcome:
        answer = answers[int(trial.key, 16) % len(answers)]
        return measurement(answer[0], latency=answer[1]) if answer else failure()

    announced = asked.most_trials

    assert announced == 1 + 12 + (best + 1) * (5 + (5 if constrained else 0))
    assert len(sequence(asked, respond)) <= announced


# -- what is said ------------------------------------------------------------------------------


def test_the_log_names_the_space_and_every_trial(caplog: pytest.LogCaptureFixture) -> None:
    target = subject(batch_sizes=(1, 2), parameters=DELAYS)

    with caplog.at_level(logging.DEBUG):
        trials = trials_of(target, queueing, shares(None, None, trials=(3, 3)))

    lines = [line for line in caplog.messages if line]
    assert lines[:11] == [
        "Starting Optuna mode search to find optimal configs",
        "Number of configs in search space: 1760",
        "Model m:",
        "  max_batch_size: 1 to 128 (8)",
        "  instance_count: 1 to 5 (5)",
        "  dynamic_batching: (2)",
        "  batch_sizes: 1 to 2 (2)",
        "  concurrency: 1 to 1024 (11)",
        "Minimum number of trials: 3",
        "Maximum number of trials: 3",
        "Measuring default configuration to establish a baseline measurement",
    ]
    assert len(scores(caplog)) == len(trials) - 1
    assert lines[-1].startswith(f"Objective score for {trials[-1].variants}: ")


def test_optuna_itself_says_nothing(caplog, capfd: pytest.CaptureFixture[str]) -> None:
    with caplog.at_level(logging.DEBUG):
        sequence(search(subject(), OPTUNA), every_few_fail)

    assert not [record for record in caplog.records if record.name.startswith("optuna")]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("mode", "expected"), [(SearchMode.BRUTE, "False"), (SearchMode.OPTUNA, "True")]
)
def test_optuna_is_imported_only_where_it_is_used(mode: SearchMode, expected: str) -> None:
    code = f"""
import sys
import model_analyzer.app.profile
from model_analyzer.domain.settings import SearchMode
from tests.unit.search.surfaces import flat, limits, search, sequence, subject
sequence(search(subject(loads=(1,)), limits(mode={mode})), flat)
print("optuna" in sys.modules)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )

    assert done.stdout.strip() == expected


def test_without_the_package_a_message_says_how_to_install_it() -> None:
    code = """
import sys
sys.modules["optuna"] = None
from model_analyzer.errors import ConfigError
from tests.unit.search.test_optuna import OPTUNA, check, subject
try:
    check([subject()], OPTUNA)
except ConfigError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )

    assert done.stdout.startswith("--search: search mode optuna needs the package")
    assert "(pip install 'optuna>=3.6')" in done.stdout
    assert len(done.stdout.splitlines()) == 1


@pytest.mark.parametrize("target", KINDS, ids=NAMES)
def test_supported_searches_pass(target: Subject) -> None:
    assert check([target], OPTUNA) == []
