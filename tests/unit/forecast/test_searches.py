# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is told of a search beforehand, held against what it then does; its duration in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from model_analyzer.domain.settings import SearchMode, SearchSettings
from model_analyzer.forecast.run_plan import Forecast, Minutes, forecast
from model_analyzer.search.plan import Subject
from tests.unit.search.surfaces import (
    SHARES,
    UNBOUNDED,
    bounds,
    composing,
    counts,
    ensemble,
    flat,
    growing,
    latency_within,
    limits,
    load,
    measurement,
    model,
    saturating,
    search,
    sequence,
    shares,
    subject,
    together,
)

SMALL = limits(instances=(1, 2), batch=(1, 4), concurrency=(1, 8))


def forecast_of(
    target: Subject, search_settings: SearchSettings = SMALL, **settings: Any
) -> Forecast:
    quick, optuna = settings.get("quick", UNBOUNDED), settings.get("optuna", SHARES)
    return forecast(target, replace(search_settings, quick=quick, optuna=optuna))


def varied(result: Forecast) -> dict[str, Sequence[Any]]:
    return {f"{item.model}.{item.parameter}": item.values for item in result.varied}


def test_a_brute_search_lists_all_possible_trials() -> None:
    result = forecast_of(subject())

    assert result.mode is SearchMode.BRUTE
    assert result.trials is not None
    assert result.size == len(result.trials) == 7 * 4
    assert (result.variants, result.loads, result.most_trials) == (7, 7, 28)
    assert not result.is_exact
    assert varied(result) == {
        "m.instance_count": (1, 2),
        "m.max_batch_size": (1, 2, 4),
        "m.batch_sizes": (1,),
        "m.concurrency": (1, 2, 4, 8),
    }


@pytest.mark.parametrize("respond", [growing, flat, saturating], ids=["grows", "flat", "ends"])
def test_a_brute_search_measures_only_listed_trials(respond: Any) -> None:
    result = forecast_of(subject())
    assert result.trials is not None

    measured = sequence(search(subject(), SMALL), respond)

    listed = [str(trial) for trial in result.trials]
    assert [str(trial) for trial in measured] == [
        name for name in listed if name in map(str, measured)
    ]


def test_lists_of_loads_are_exact() -> None:
    target = subject(loads=(1, 3), parameters={**counts(1, 4), "max_batch_size": (2, 8)})

    result = forecast_of(target)

    assert result.is_exact
    assert result.trials is not None
    assert list(map(str, result.trials)) == list(map(str, sequence(search(target, SMALL), flat)))
    assert varied(result)["m.instance_count"] == (1, 4)
    assert varied(result)["m.concurrency"] == (1, 3)


def test_a_constraint_may_add_trials_at_the_end() -> None:
    result = forecast_of(subject(constraints=(latency_within(10),)))

    assert result.trials is not None
    assert result.most_trials == len(result.trials) + 4 * 5
    assert result.loads == 7 + 4


ILLEGAL = [
    subject(model(dynamic_batching={"preferred_batch_size": [4]})),
    subject(batch_sizes=(1, 4, 16)),
    subject(
        batch_sizes=(2, 8),
        loads=(1, 2),
        parameters={
            "max_batch_size": (1, 4, 8),
            "dynamic_batching": [{}, {"preferred_batch_size": [8]}],
        },
    ),
    subject(batch_sizes=(1, 4), parameters={"max_batch_size": (1, 4)}),
    together(
        subject(
            model("m"), loads=(1, 2), batch_sizes=(1, 4), parameters={"max_batch_size": (1, 8)}
        ),
        subject(model("n"), loads=(4,)),
    ),
]


@pytest.mark.parametrize("target", ILLEGAL)
def test_illegal_trials_are_not_counted(target: Subject) -> None:
    result = forecast_of(target)

    measured = sequence(search(target, SMALL), growing)

    assert result.trials is not None
    assert list(map(str, result.trials)) == list(map(str, measured))
    assert result.size == result.most_trials == len(measured)
    assert result.variants == len({trial.content for trial in measured})
    assert result.loads == sum(
        before is None or before.content != trial.content
        for before, trial in zip([None, *measured], measured, strict=False)
    )


@pytest.mark.parametrize("respond", [flat, saturating, growing], ids=["flat", "ends", "grows"])
@pytest.mark.parametrize("target", ILLEGAL[:2])
def test_no_search_exceeds_its_forecast(target: Subject, respond: Any) -> None:
    model_settings = target.models[0].settings
    goal = replace(model_settings.goal, constraints=(latency_within(15),))
    settings = replace(model_settings, goal=goal)
    target = replace(target, models=(replace(target.models[0], settings=settings),))
    search_settings = limits(instances=(1, 2), batch=(1, 4), concurrency=(1, 64))
    result = forecast_of(target, search_settings)

    measured = sequence(search(target, search_settings), respond)

    assert result.trials is not None
    assert result.most_trials is not None
    assert result.loads is not None
    assert len(measured) <= result.most_trials
    loads = 1 + sum(before.content != trial.content for before, trial in pairwise(measured))
    assert loads <= result.loads


def test_for_another_objective_the_best_may_come_back() -> None:
    target = subject(objective="perf_latency_p99")
    search_settings = limits(instances=(1, 2), batch=(1, 2), concurrency=(1, 64))
    result = forecast_of(target, search_settings)

    # the larger the load, the better: what the search left out is worth the sweep
    measured = sequence(
        search(target, search_settings), lambda trial: measurement(9, latency=99 / load(trial))
    )

    assert result.most_trials == result.size
    assert result.loads is not None
    loads = 1 + sum(before.content != trial.content for before, trial in pairwise(measured))
    assert 3 < loads <= result.loads


def test_only_existing_variants_are_refined() -> None:
    result = forecast_of(subject(constraints=(latency_within(10),)), limits(disable=True))

    assert result.trials is not None
    assert (result.variants, result.loads) == (1, 2)
    assert result.most_trials == len(result.trials) + 5


def test_a_long_list_is_complete() -> None:
    search_settings = limits(instances=(1, 200))

    result = forecast_of(subject(), search_settings)

    assert result.trials is not None
    # 8 batch limits under 11 loads, and the default
    assert len(result.trials) == (200 * 8 + 1) * 11
    assert result.most_trials == len(result.trials)


@pytest.mark.parametrize("mode", list(SearchMode))
def test_a_search_too_large_to_list_has_numbers(mode: SearchMode) -> None:
    search_settings = limits(instances=(1, 2**31 - 1), mode=mode)

    result = forecast_of(
        subject(), search_settings, quick=bounds(instances=(1, 2**31 - 1), batch=(1, 8))
    )

    assert result.trials is None
    (counted,) = [item for item in result.varied if item.parameter == "instance_count"]
    assert counted.values[:3] == (1, 2, 3)
    assert not counted.is_bounded
    if mode is SearchMode.QUICK:
        assert result.size is None
    else:
        assert result.size is not None
        assert result.size > 2**31


MANY = tuple(range(1, 10_001))


def test_illegal_variants_are_skipped_for_all_loads_at_once() -> None:
    loads = MANY[:1000]
    result = forecast_of(
        subject(loads=loads, batch_sizes=MANY), limits(instances=(1, 3), batch=(1, 1))
    )

    assert result.trials is not None
    # 3 variants and the default, which takes batches up to 8
    assert len(result.trials) == 1000 * (3 + 8)


def test_several_models_with_too_many_trials_are_not_listed() -> None:
    parameters = {"max_batch_size": tuple(range(1, 100_001))}
    target = together(
        subject(model("m"), loads=MANY, batch_sizes=MANY, parameters=parameters),
        subject(model("n"), loads=MANY, parameters=parameters),
    )

    result = forecast_of(target, limits(instances=(1, 2**31 - 1)))

    assert result.trials is None
    # the defaults with each other, and the others with each other
    assert result.size == 10**12 * (1 + 10**10)


def test_other_fields_have_their_values() -> None:
    batching = ({"max_queue_delay_microseconds": 0}, {"max_queue_delay_microseconds": 100})
    result = forecast_of(subject(parameters={**counts(1, 2), "dynamic_batching": batching}))

    assert varied(result)["m.dynamic_batching"] == batching
    assert result.variants == 5


def test_a_quick_search_without_bounds_has_none() -> None:
    result = forecast_of(subject(), limits(mode=SearchMode.QUICK))

    assert (result.size, result.trials, result.most_trials) == (None, None, None)
    assert (result.variants, result.loads) == (None, None)
    assert [item.is_bounded for item in result.varied] == [False, False]
    assert varied(result)["m.instance_count"] == (1, 2, 3, 4)


def test_a_quick_search_within_bounds_has_a_size() -> None:
    result = forecast_of(
        subject(), limits(mode=SearchMode.QUICK), quick=bounds(instances=(1, 3), batch=(1, 8))
    )

    assert result.size == 3 * 4
    assert result.trials is None
    assert result.variants == 13  # with the default


def test_an_ensemble_is_varied_by_its_parts() -> None:
    parts = ensemble(model("a"), model("b"))

    result = forecast_of(subject(parts, composing("a", parameters=counts(1, 2))), limits())

    assert result.mode is SearchMode.QUICK
    assert varied(result)["a.instance_count"] == (1, 2)
    assert "b.max_batch_size" in varied(result)


def test_the_forecast_of_optuna_has_its_share() -> None:
    result = forecast_of(
        subject(), limits(mode=SearchMode.OPTUNA, sweeps=False), optuna=shares(most=10)
    )

    assert result.size == 5 * 8 * 11
    assert result.trials is None
    assert result.most_trials == 1 + result.size // 10
    assert result.variants == 41
    assert result.loads == result.most_trials


def test_the_forecast_of_an_adaptive_search_has_loads_between_doublings() -> None:
    search_settings = limits(mode=SearchMode.ADAPTIVE, concurrency=(1, 64))

    result = forecast_of(subject(), search_settings)

    loads = {load(trial) for trial in sequence(search(subject(), search_settings), saturating)}
    assert loads <= set(varied(result)["m.concurrency"])
    assert {16, 17, 19, 21, 23, 32} <= set(varied(result)["m.concurrency"])
    assert result.size == 8 * 5 * len(varied(result)["m.concurrency"])


def test_the_forecast_of_an_adaptive_search_keeps_listed_loads() -> None:
    result = forecast_of(subject(loads=(3, 60)), limits(mode=SearchMode.ADAPTIVE))

    assert varied(result)["m.concurrency"] == (3, 60)


def test_without_dynamic_sizes_optuna_may_take_loads_from_them() -> None:
    result = forecast_of(subject(), limits(mode=SearchMode.OPTUNA), optuna=shares(formula=True))

    assert "m.concurrency" not in varied(result)


def test_several_models_have_all_combinations() -> None:
    target = together(
        subject(model("m"), loads=(1, 2)), subject(model("n"), loads=(4,), parameters=counts(1, 3))
    )

    result = forecast_of(target)

    assert result.is_exact
    assert result.size == 2 * (1 + (2 * 3) * 2)  # sizes of m, and what is listed of n
    assert varied(result)["n.instance_count"] == (1, 3)
    assert varied(result)["m.concurrency"] == (1, 2)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.1, 0.1, "less than a minute"),
        (0.3, 0.9, "less than a minute"),
        (0.5, 1.5, "roughly 0.5 to 1.5 minutes"),
        (1.8, 10.6, "roughly 1.8 to 10.6 minutes"),
    ],
)
def test_a_duration_below_a_minute_has_no_range(low: float, high: float, text: str) -> None:
    assert str(Minutes(low, high)) == text
