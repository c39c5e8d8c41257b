# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What every `State` promises; the same for the checkpoint directory and for the fake."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.slots import NOTHING_NOW, Asked, Lane
from model_analyzer.domain.trials import Load, ServerSetup, Trial
from model_analyzer.state.profile_state import ProfileState
from tests.contract.memory_state import Kept, MemoryState
from tests.unit.state.samples import (
    failure,
    measurement,
    rich_failure,
    rich_measurement,
    rich_round,
    rich_trial,
    several,
    trial,
)


class KnowingState(Protocol):
    """A `State` that shows all it knows."""

    @property
    def profile(self) -> Profile: ...

    def outcome_of(self, trial: Trial) -> Outcome | None: ...

    def record(self, trial: Trial, outcome: Outcome, node: str = "") -> None: ...

    def record_loss(self, trial: Trial, node: str) -> Outcome | None: ...

    def asked(self, lane: Lane) -> Sequence[Asked]: ...

    def record_asked(self, lane: Lane, number: int, asked: Asked) -> None: ...


class Runs(Protocol):
    """Each call is a further run on what earlier runs have recorded."""

    def __call__(self, *, retry_failed: bool = False) -> AbstractContextManager[KnowingState]: ...


@pytest.fixture(params=["directory", "directory, saved", "memory"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Runs:
    kept = Kept()

    @contextmanager
    def in_directory(*, retry_failed: bool = False) -> Iterator[KnowingState]:
        with ProfileState(tmp_path / "checkpoints", retry_failed=retry_failed) as state:
            yield state
            if request.param == "directory, saved":
                state.save()

    @contextmanager
    def in_memory(*, retry_failed: bool = False) -> Iterator[KnowingState]:
        yield MemoryState(kept, retry_failed=retry_failed)

    return in_memory if request.param == "memory" else in_directory


def with_load(of: Trial, load: Load) -> Trial:
    return replace(of, workloads=(replace(of.workloads[0], load=load),))


def test_of_a_new_trial_nothing_is_known(run: Runs) -> None:
    with run() as state:
        assert state.outcome_of(trial()) is None
        assert tuple(state.profile.records) == ()


@pytest.mark.parametrize(
    ("asked", "outcome"),
    [
        (trial(), measurement()),
        (rich_trial(), failure()),
        (rich_trial(), rich_measurement()),
        (rich_trial(), rich_failure()),
    ],
)
def test_what_was_recorded_is_known_at_once_and_in_later_runs(
    run: Runs, asked: Trial, outcome: Outcome
) -> None:
    with run() as state:
        state.record(asked, outcome)
        assert state.outcome_of(asked) == outcome
    for _ in range(2):
        with run() as state:
            assert state.outcome_of(asked) == outcome


def test_a_round_does_not_answer_for_own_windows_of_perf_analyzer(run: Runs) -> None:
    careful, short = rich_trial(), replace(rich_trial(), round_s=0.0)
    with run() as state:
        state.record(short, rich_round())
        assert state.outcome_of(short) == rich_round()
        assert state.outcome_of(careful) is None
    with run() as state:
        assert state.outcome_of(careful) is None
        state.record(careful, rich_measurement())
    with run() as state:
        assert state.outcome_of(careful) == rich_measurement()
        assert state.outcome_of(short) == rich_measurement()


@pytest.mark.parametrize(
    "other",
    [
        trial(2),
        with_load(trial(), Load(value=1, batch_size=2)),
        trial(flags={"percentile": 95}),
        replace(trial(), setup=ServerSetup(version="2.52.0")),
        replace(trial(), setup=ServerSetup(devices=("A100",))),
        replace(trial(), setup=ServerSetup(flags={"rate-limit": "off"})),
        replace(trial(), workloads=trial().workloads * 2),
    ],
)
def test_a_trial_that_could_come_out_otherwise_is_not_known(run: Runs, other: Trial) -> None:
    with run() as state:
        state.record(trial(), measurement())
        assert state.outcome_of(other) is None
    with run() as state:
        assert state.outcome_of(other) is None


@pytest.mark.parametrize(
    "same",
    [
        trial(),
        trial(name="m_config_3"),
        trial(flags={"url": "elsewhere:8001", "verbose": True}),
        replace(trial(), setup=ServerSetup(flags={"http-port": "9000", "log-verbose": "1"})),
    ],
)
def test_names_and_places_do_not_make_another_trial(run: Runs, same: Trial) -> None:
    with run() as state:
        state.record(trial(), measurement())
        assert state.outcome_of(same) == measurement()
    with run() as state:
        assert state.outcome_of(same) == measurement()


def test_the_last_outcome_of_a_trial_counts(run: Runs) -> None:
    with run() as state:
        state.record(trial(), measurement(1.0))
        state.record(trial(), measurement(2.0))
        assert state.outcome_of(trial()) == measurement(2.0)
        assert len(state.profile.records) == 1
    with run() as state:
        assert state.outcome_of(trial()) == measurement(2.0)
        assert len(state.profile.records) == 1


@pytest.mark.parametrize("outcome", [rich_measurement(), rich_failure()])
def test_to_record_what_is_known_changes_nothing(run: Runs, outcome: Outcome) -> None:
    with run() as state:
        state.record(rich_trial(), outcome)
        state.record(trial(), measurement())
        state.record(rich_trial(), outcome)
        before = tuple(state.profile.records)
        assert [record.trial.key for record in before] == [rich_trial().key, trial().key]
    with run() as state:
        before = tuple(state.profile.records)
        state.record(rich_trial(), outcome)
        state.record(trial(), measurement())
        assert tuple(state.profile.records) == before


def test_a_variant_that_derives_from_another_model_now_is_recorded_as_such(run: Runs) -> None:
    def derived(base: str) -> Trial:
        (work,) = trial().workloads
        return replace(trial(), workloads=(replace(work, base=base),))

    with run() as state:
        state.record(derived("before"), measurement())
    with run() as state:
        assert state.outcome_of(derived("now")) == measurement()
        state.record(derived("now"), measurement())
    with run() as state:
        (kept,) = state.profile.records
        assert kept.trial.bases == ("now",)
        state.record(derived(""), measurement())
        state.record(derived("now"), measurement())
    with run() as state:
        assert [record.trial.bases for record in state.profile.records] == [("now",)]


def test_a_variant_under_another_name_has_a_record_of_its_own(run: Runs) -> None:
    names = ["m_config_default", "m_config_3"]
    with run() as state:
        for name in names:
            state.record(trial(name=name), measurement())
        assert [record.trial.variants for record in state.profile.records] == names
    with run() as state:
        assert [record.trial.variants for record in state.profile.records] == names
        assert {variant.name for variant in state.profile.variants} <= set(names)


def test_records_stay_in_the_order_of_measuring(run: Runs) -> None:
    trials = [trial(concurrency) for concurrency in (4, 1, 8, 2)]
    for asked in trials:
        with run() as state:
            state.record(asked, measurement())
    with run() as state:
        assert [record.trial for record in state.profile.records] == trials


def test_an_outcome_recorded_again_moves_to_the_end(run: Runs) -> None:
    with run() as state:
        for item in several(3):
            state.record(item, failure())
        state.record(trial(1), measurement())
        assert [record.trial for record in state.profile.records] == [trial(2), trial(3), trial(1)]


def test_a_failure_is_not_tried_again_unless_asked(run: Runs) -> None:
    with run() as state:
        state.record(trial(), failure())
    with run() as state:
        assert state.outcome_of(trial()) == failure()
    with run(retry_failed=True) as state:
        assert state.outcome_of(trial()) is None


def test_measurements_are_never_tried_again(run: Runs) -> None:
    with run() as state:
        state.record(trial(), measurement())
    with run(retry_failed=True) as state:
        assert state.outcome_of(trial()) == measurement()


@pytest.mark.parametrize("second", [failure("again"), measurement()])
def test_a_failure_is_tried_again_once_in_a_run(run: Runs, second: Outcome) -> None:
    with run() as state:
        state.record(trial(), failure())
    with run(retry_failed=True) as state:
        assert state.outcome_of(trial()) is None
        state.record(trial(), second)
        assert state.outcome_of(trial()) == second
    with run() as state:
        assert state.outcome_of(trial()) == second


def test_a_failure_of_this_run_is_not_tried_again(run: Runs) -> None:
    with run(retry_failed=True) as state:
        state.record(trial(), failure())
        assert state.outcome_of(trial()) == failure()


def test_a_failure_that_is_to_be_tried_again_is_still_in_the_profile(run: Runs) -> None:
    with run() as state:
        state.record(trial(), failure())
    with run(retry_failed=True) as state:
        assert [record.outcome for record in state.profile.records] == [failure()]


def test_measurements_and_failures_are_told_apart(run: Runs) -> None:
    outcomes: list[Any] = [measurement(), failure(), rich_measurement(), rich_failure()]
    with run() as state:
        first, second, fourth = several(3)
        for tried, outcome in zip([first, second, rich_trial(), fourth], outcomes, strict=True):
            state.record(tried, outcome)
    with run() as state:
        profile = state.profile
    assert [item.measurement for item in profile.measured] == [outcomes[0], outcomes[2]]
    assert [item.failure for item in profile.failed] == [outcomes[1], outcomes[3]]
    assert all(isinstance(item.measurement, Measurement) for item in profile.measured)


# -- cluster nodes -----------------------------------------------------------------------------


def test_the_node_of_an_outcome_is_kept(run: Runs) -> None:
    with run() as state:
        state.record(trial(1), measurement(), "a")
        state.record(trial(2), failure())
    for _ in range(2):
        with run() as state:
            assert [record.node for record in state.profile.records] == ["a", ""]
            state.record(trial(1), measurement())  # a replay


def test_a_loss_is_no_outcome(run: Runs) -> None:
    with run() as state:
        for node in ("", "a"):
            assert state.record_loss(trial(), node) is None
            assert state.outcome_of(trial()) is None


# -- questions ---------------------------------------------------------------------------------

QUESTIONS = (
    Asked(key="a", after=()),
    Asked(key="b", after=()),
    Asked(key=NOTHING_NOW, after=("b",)),
    Asked(key="c", after=("a",)),
)


def test_questions_are_kept_in_order_by_subject(run: Runs) -> None:
    with run() as state:
        assert tuple(state.asked(Lane("m"))) == ()
        for number, question in enumerate(QUESTIONS):
            state.record_asked(Lane("m"), number, question)
        state.record_asked(Lane("n"), 0, QUESTIONS[1])
        assert tuple(state.asked(Lane("m"))) == QUESTIONS
    for _ in range(2):
        with run() as state:
            assert tuple(state.asked(Lane("m"))) == QUESTIONS
            assert tuple(state.asked(Lane("n"))) == QUESTIONS[1:2]


def test_a_question_replaces_all_from_its_number_on(run: Runs) -> None:
    with run() as state:
        for number, question in enumerate(QUESTIONS):
            state.record_asked(Lane("m"), number, question)
    with run() as state:
        state.record_asked(Lane("m"), 1, QUESTIONS[3])
        assert tuple(state.asked(Lane("m"))) == (QUESTIONS[0], QUESTIONS[3])
    with run() as state:
        assert tuple(state.asked(Lane("m"))) == (QUESTIONS[0], QUESTIONS[3])
