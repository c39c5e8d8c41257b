# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is told of a search beforehand, held against what it then does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from model_analyzer.domain.settings import SearchMode, SearchSettings
from model_analyzer.forecast.searches import Forecast, forecast
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


def of(what: Subject, where: SearchSettings = SMALL, **settings: Any) -> Forecast:
    quick, optuna = settings.get("quick", UNBOUNDED), settings.get("optuna", SHARES)
    return forecast(what, replace(where, quick=quick, optuna=optuna))


def varied(found: Forecast) -> dict[str, Sequence[Any]]:
    return {f"{one.model}.{one.parameter}": one.values for one in found.varied}


def test_a_brute_search_names_all_that_it_could_come_to() -> None:
    found = of(subject())

    assert found.mode is SearchMode.BRUTE
    assert found.trials is not None
    assert found.size == len(found.trials) == 7 * 4
    assert (found.variants, found.loads, found.most_trials) == (7, 7, 28)
    assert not found.is_exact
    assert varied(found) == {
        "m.instance_count": (1, 2),
        "m.max_batch_size": (1, 2, 4),
        "m.batch_sizes": (1,),
        "m.concurrency": (1, 2, 4, 8),
    }


@pytest.mark.parametrize("respond", [growing, flat, saturating], ids=["grows", "flat", "ends"])
def test_a_brute_search_does_what_was_told_or_less(respond: Any) -> None:
    found = of(subject())
    assert found.trials is not None

    done = sequence(search(subject(), SMALL), respond)

    told = [str(trial) for trial in found.trials]
    assert [str(trial) for trial in done] == [name for name in told if name in map(str, done)]


def test_what_is_listed_is_told_exactly() -> None:
    what = subject(loads=(1, 3), parameters={**counts(1, 4), "max_batch_size": (2, 8)})

    found = of(what)

    assert found.is_exact
    assert found.trials is not None
    assert list(map(str, found.trials)) == list(map(str, sequence(search(what, SMALL), flat)))
    assert varied(found)["m.instance_count"] == (1, 4)
    assert varied(found)["m.concurrency"] == (1, 3)


def test_a_constraint_may_add_trials_at_the_end() -> None:
    found = of(subject(constraints=(latency_within(10),)))

    assert found.trials is not None
    assert found.most_trials == len(found.trials) + 4 * 5
    assert found.loads == 7 + 4


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


@pytest.mark.parametrize("what", ILLEGAL)
def test_what_is_illegal_is_in_none_of_the_numbers(what: Subject) -> None:
    found = of(what)

    done = sequence(search(what, SMALL), growing)

    assert found.trials is not None
    assert list(map(str, found.trials)) == list(map(str, done))
    assert found.size == found.most_trials == len(done)
    assert found.variants == len({trial.content for trial in done})
    assert found.loads == sum(
        before is None or before.content != trial.content
        for before, trial in zip([None, *done], done, strict=False)
    )


@pytest.mark.parametrize("respond", [flat, saturating, growing], ids=["flat", "ends", "grows"])
@pytest.mark.parametrize("what", ILLEGAL[:2])
def test_no_search_comes_to_more_than_was_told(what: Subject, respond: Any) -> None:
    model_settings = what.models[0].settings
    goal = replace(model_settings.goal, constraints=(latency_within(15),))
    settings = replace(model_settings, goal=goal)
    what = replace(what, models=(replace(what.models[0], settings=settings),))
    where = limits(instances=(1, 2), batch=(1, 4), concurrency=(1, 64))
    found = of(what, where)

    done = sequence(search(what, where), respond)

    assert found.trials is not None
    assert found.most_trials is not None
    assert found.loads is not None
    assert len(done) <= found.most_trials
    loads = 1 + sum(before.content != trial.content for before, trial in pairwise(done))
    assert loads <= found.loads


def test_for_another_objective_the_best_may_come_back() -> None:
    what = subject(objective="perf_latency_p99")
    where = limits(instances=(1, 2), batch=(1, 2), concurrency=(1, 64))
    found = of(what, where)

    # the larger the load, the better: what the search left out is worth the sweep
    done = sequence(search(what, where), lambda trial: measurement(9, latency=99 / load(trial)))

    assert found.most_trials == found.size
    assert found.loads is not None
    loads = 1 + sum(before.content != trial.content for before, trial in pairwise(done))
    assert 3 < loads <= found.loads


def test_nothing_is_refined_but_the_variants_there_are() -> None:
    found = of(subject(constraints=(latency_within(10),)), limits(disable=True))

    assert found.trials is not None
    assert (found.variants, found.loads) == (1, 2)
    assert found.most_trials == len(found.trials) + 5


def test_a_long_list_is_told_to_its_end() -> None:
    where = limits(instances=(1, 200))

    found = of(subject(), where)

    assert found.trials is not None
    # 8 batch limits under 11 loads, and the default
    assert len(found.trials) == (200 * 8 + 1) * 11
    assert found.most_trials == len(found.trials)


@pytest.mark.parametrize("mode", list(SearchMode))
def test_what_nobody_can_list_has_numbers_all_the_same(mode: SearchMode) -> None:
    where = limits(instances=(1, 2**31 - 1), mode=mode)

    found = of(subject(), where, quick=bounds(instances=(1, 2**31 - 1), batch=(1, 8)))

    assert found.trials is None
    (counted,) = [one for one in found.varied if one.parameter == "instance_count"]
    assert counted.values[:3] == (1, 2, 3)
    assert not counted.is_bounded
    if mode is SearchMode.QUICK:
        assert found.size is None
    else:
        assert found.size is not None
        assert found.size > 2**31


MANY = tuple(range(1, 10_001))


def test_what_is_illegal_is_passed_over_without_trying_it_under_all_loads() -> None:
    loads = MANY[:1000]
    found = of(subject(loads=loads, batch_sizes=MANY), limits(instances=(1, 3), batch=(1, 1)))

    assert found.trials is not None
    # 3 variants and the default, which takes batches up to 8
    assert len(found.trials) == 1000 * (3 + 8)


def test_several_models_have_no_list_in_memory_of_what_nobody_can_list() -> None:
    parameters = {"max_batch_size": tuple(range(1, 100_001))}
    what = together(
        subject(model("m"), loads=MANY, batch_sizes=MANY, parameters=parameters),
        subject(model("n"), loads=MANY, parameters=parameters),
    )

    found = of(what, limits(instances=(1, 2**31 - 1)))

    assert found.trials is None
    # the defaults with each other, and the others with each other
    assert found.size == 10**12 * (1 + 10**10)


def test_other_fields_are_told_with_their_values() -> None:
    batching = ({"max_queue_delay_microseconds": 0}, {"max_queue_delay_microseconds": 100})
    found = of(subject(parameters={**counts(1, 2), "dynamic_batching": batching}))

    assert varied(found)["m.dynamic_batching"] == batching
    assert found.variants == 5


def test_a_quick_search_without_bounds_has_none() -> None:
    found = of(subject(), limits(mode=SearchMode.QUICK))

    assert (found.size, found.trials, found.most_trials) == (None, None, None)
    assert (found.variants, found.loads) == (None, None)
    assert [one.is_bounded for one in found.varied] == [False, False]
    assert varied(found)["m.instance_count"] == (1, 2, 3, 4)


def test_a_quick_search_within_bounds_has_a_size() -> None:
    found = of(
        subject(), limits(mode=SearchMode.QUICK), quick=bounds(instances=(1, 3), batch=(1, 8))
    )

    assert found.size == 3 * 4
    assert found.trials is None
    assert found.variants == 13  # with the default


def test_an_ensemble_is_varied_by_its_parts() -> None:
    parts = ensemble(model("a"), model("b"))

    found = of(subject(parts, composing("a", parameters=counts(1, 2))), limits())

    assert found.mode is SearchMode.QUICK
    assert varied(found)["a.instance_count"] == (1, 2)
    assert "b.max_batch_size" in varied(found)


def test_optuna_tells_its_share() -> None:
    found = of(subject(), limits(mode=SearchMode.OPTUNA, sweeps=False), optuna=shares(most=10))

    assert found.size == 5 * 8 * 11
    assert found.trials is None
    assert found.most_trials == 1 + found.size // 10
    assert found.variants == 41
    assert found.loads == found.most_trials


def test_an_adaptive_search_tells_the_loads_between_doublings() -> None:
    where = limits(mode=SearchMode.ADAPTIVE, concurrency=(1, 64))

    found = of(subject(), where)

    asked = {load(trial) for trial in sequence(search(subject(), where), saturating)}
    assert asked <= set(varied(found)["m.concurrency"])
    assert {16, 17, 19, 21, 23, 32} <= set(varied(found)["m.concurrency"])
    assert found.size == 8 * 5 * len(varied(found)["m.concurrency"])


def test_of_listed_loads_an_adaptive_search_tells_these_alone() -> None:
    found = of(subject(loads=(3, 60)), limits(mode=SearchMode.ADAPTIVE))

    assert varied(found)["m.concurrency"] == (3, 60)


def test_without_dynamic_sizes_optuna_may_take_loads_from_them() -> None:
    found = of(subject(), limits(mode=SearchMode.OPTUNA), optuna=shares(formula=True))

    assert "m.concurrency" not in varied(found)


def test_several_models_are_told_in_all_combinations() -> None:
    what = together(
        subject(model("m"), loads=(1, 2)), subject(model("n"), loads=(4,), parameters=counts(1, 3))
    )

    found = of(what)

    assert found.is_exact
    assert found.size == 2 * (1 + (2 * 3) * 2)  # sizes of m, and what is listed of n
    assert varied(found)["n.instance_count"] == (1, 3)
    assert varied(found)["m.concurrency"] == (1, 2)
