# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which models and goals of a checkpoint a command is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from model_analyzer.app.recommend import recommend
from model_analyzer.app.selection import chosen_subjects, measured_subjects, subject_of
from model_analyzer.domain.goals import Constraint, GoalOverride, Objective
from model_analyzer.errors import CheckpointError, ConfigError
from model_analyzer.state.checkpoint import Checkpoint, load
from model_analyzer.state.profile_state import ProfileState
from tests.unit.builders import measurement, record, variant

Made = Callable[..., Checkpoint]


@pytest.fixture
def checkpoint(tmp_path: Path) -> Made:
    """Makes a checkpoint with one measurement of each model."""

    def made(*names: str) -> Checkpoint:
        with ProfileState(tmp_path) as state:
            for name in names:
                kept = record(variant(f"{name}_config_0", model=name), measurement(100.0, 5.0))
                state.record(kept.trial, kept.outcome)
        return load(tmp_path)

    return made


def test_a_model_is_found_by_its_name_also_with_a_comma_in_it(checkpoint: Made) -> None:
    measured = checkpoint("m", "a,b")

    assert measured_subjects(measured) == {"m": 1, r"a\,b": 1}
    assert subject_of(measured, "a,b") == r"a\,b"
    assert subject_of(measured, "m") == "m"
    with pytest.raises(CheckpointError, match="model 'x' was not measured; measured: m,"):
        subject_of(measured, "x")


def test_with_several_models_the_user_must_name_one(checkpoint: Made) -> None:
    measured = checkpoint("m", "n")

    with pytest.raises(ConfigError, match="several models were measured: choose one of m, n"):
        chosen_subjects(measured, None, several=False)
    assert chosen_subjects(measured, None, several=True) == ["m", "n"]
    assert chosen_subjects(measured, "n", several=False) == ["n"]


def test_a_given_goal_decides_the_recommendation(checkpoint: Made) -> None:
    measured = checkpoint("m")
    bound = Constraint(tag="perf_latency_p99", maximum=1.0)

    for constraints, is_met in (((), True), ((bound,), False)):
        recommendations = recommend(measured, GoalOverride(constraints=constraints))
        (answer,) = recommendations.answers
        assert answer.is_met is is_met
        assert recommendations.remarks == []


def test_goodput_without_a_latency_constraint_is_no_goal(checkpoint: Made) -> None:
    measured = checkpoint("m")
    wished = (Objective(tag="perf_goodput"),)
    bound = Constraint(tag="perf_latency_p99", maximum=10.0)

    with pytest.raises(ConfigError, match="the latency constraints, and there are none .give"):
        recommend(measured, GoalOverride(objectives=wished))
    recommendations = recommend(measured, GoalOverride(objectives=wished, bounds=(bound,)))

    (answer,) = recommendations.answers
    assert answer.ranking.unmeasured == ("perf_goodput",)
