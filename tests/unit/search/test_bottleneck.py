# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The step that limits a chain of models, by what the server counted, and what follows from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from model_analyzer.domain.measurements import BatchStatistics, Measurement, ModelStatistics
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.trials import Trial
from model_analyzer.search.adaptive.bottleneck import busy_shares, likelihood
from model_analyzer.search.adaptive.queueing_model import Flow, Settings
from model_analyzer.search.adaptive.surrogate import THROUGHPUT, Points, Surrogate
from tests.unit.search.surfaces import ensemble, limits, measurement, model, search, subject


def counted(inferences: int, *batches: tuple[int, int, float]) -> ModelStatistics:
    return ModelStatistics(
        inferences=inferences,
        executions=sum(count for _, count, _ in batches),
        batches=tuple(BatchStatistics(*batch) for batch in batches),
    )


def measured(throughput: float = 100.0, **models: ModelStatistics) -> Measurement:
    return replace(measurement(throughput), statistics=models)


def shares(*several: Measurement, top: str, instances: Mapping[str, int]) -> np.ndarray:
    rates = np.array([100.0 for _ in several])
    counts = np.array([list(instances.values())] * len(several), dtype=float)
    return np.exp(busy_shares(several, rates, top, list(instances), counts))


# -- who is busy -----------------------------------------------------------------------------------


def test_a_share_is_the_time_of_executions_in_that_of_the_instances() -> None:
    # 100 inferences per second; for each, "a" works 8 ms / 4 and "b" 36 ms / 4
    counts = measured(
        m=counted(400, (1, 400, 0.0)),
        a=counted(400, (4, 100, 800.0)),
        b=counted(400, (2, 50, 900.0), (6, 50, 2700.0)),
    )

    busy = shares(counts, top="m", instances={"a": 1, "b": 2})

    assert busy[0] == pytest.approx([0.2, 0.45])


def test_a_step_that_works_twice_on_a_request_is_as_busy_as_both_times_make_it() -> None:
    counts = measured(m=counted(100, (1, 100, 0.0)), a=counted(200, (1, 200, 400.0)))

    assert shares(counts, top="m", instances={"a": 1})[0] == pytest.approx([0.4])


def test_without_counts_shares_are_unknown() -> None:
    idle = measured(m=counted(0), a=counted(0))

    assert np.isnan(shares(measured(), idle, top="m", instances={"a": 1})).all()


@pytest.mark.parametrize(("called_ms", "is_known"), [(2.0, True), (9.0, False)])
def test_a_model_that_waits_for_one_that_it_calls_only_seems_to_be_busy(
    called_ms: float, is_known: bool
) -> None:
    counts = measured(
        top=counted(100, (1, 100, 100 * 9.5)), called=counted(100, (1, 100, 100 * called_ms))
    )

    busy = shares(counts, top="top", instances={"top": 1, "called": 1})

    assert busy[0, 1] == pytest.approx(called_ms / 10)
    assert np.isnan(busy[0, 0]) != is_known


def flows(*limits: tuple[float, float]) -> Flow:
    """Sets of unknowns, each with what two stations allow; the throughput is 1."""
    of_stations = np.array(limits).T[:, :, None]
    none = np.zeros((len(limits), 1))
    return Flow(throughput=none, latency=none, utilisation=none + 1, limits=list(of_stations))


def test_a_flow_that_explains_the_shares_is_more_likely() -> None:
    first_limits, second_limits = likelihood(np.array([[-2.0, 0.0]]), flows((0, 2), (2, 0)))

    assert second_limits > first_limits


def test_the_step_that_does_not_limit_may_have_been_busier_than_the_law_thinks() -> None:
    exact, idler, busier = likelihood(np.array([[-1.0, 0.0]]), flows((1, 0), (3, 0), (0.2, 0)))

    assert exact == idler == 0
    assert busier < 0


def test_missing_counts_change_no_likelihood() -> None:
    shares = np.array([[np.nan, np.nan], [np.nan, 0.0]])
    flow = flows((0, 0), (3, 0), (3, 3))
    flow = replace(
        flow, throughput=np.zeros((3, 2)), limits=[np.tile(limit, 2) for limit in flow.limits]
    )

    first, other, third = likelihood(shares, flow)

    assert first == other == 0
    assert third < 0


# -- what follows ----------------------------------------------------------------------------------


def gained(shares: Sequence[float] | None, seed: int) -> tuple[float, float]:
    """The throughput that a second instance of the first step, and of the second, is expected to
    give, when a chain with one of each was measured; by how busy they were.
    """
    surrogate = Surrogate(2, is_open=False, seed=seed)
    busy = None if shares is None else np.log([shares])
    surrogate.learn(points([1, 1]), {THROUGHPUT: np.array([100.0])}, busy)
    predictions = surrogate.predict(points([2, 1], [1, 2]))
    first, second = np.median(predictions.values[THROUGHPUT], axis=0) / 100
    return float(first), float(second)


def points(*instances: Sequence[int]) -> Points:
    """Trials of two steps with so many instances each, and many requests in flight."""
    counts = np.array(instances, dtype=float)
    ones, column = np.ones_like(counts), np.ones(len(counts))
    return Points(Settings(counts, 8 * ones, 64 * column, column, 0 * ones), np.log2(counts) / 2)


@pytest.mark.parametrize("seed", range(3))
def test_another_instance_is_expected_to_help_the_step_that_limits(seed: int) -> None:
    first, second = gained([0.97, 0.3], seed)
    assert first > 1.25
    assert second < 1.1

    first, second = gained([0.3, 0.97], seed)
    assert first < 1.1
    assert second > 1.25


def test_without_statistics_the_steps_are_alike() -> None:
    first, second = gained(None, 0)

    assert first == pytest.approx(second, rel=0.1)


def asked(busy: str, facts: ModelFacts) -> list[Trial]:
    """The first trials of a search whose answers differ in nothing but which step was `busy`."""
    searched = search(subject(facts), limits(mode=SearchMode.ADAPTIVE))
    trials = []
    for _ in range(4):
        trial = searched.ask()
        assert trial is not None
        trials.append(trial)
        steps = {name: counted(100, (1, 100, 980.0 if name == busy else 90.0)) for name in "ab"}
        searched.tell(
            trial, replace(measured(m=counted(100)), statistics={"m": counted(100), **steps})
        )
    return trials


def test_the_busy_step_decides_the_next_trial() -> None:
    chain = ensemble(model("a"), model("b"))

    default, *others = asked("a", chain)
    other_default, *other_others = asked("b", chain)

    assert default == other_default
    assert others != other_others


def test_a_model_alone_is_searched_without_statistics() -> None:
    assert asked("a", model()) == asked("b", model())
