# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""How variants that a server would refuse are counted."""

from __future__ import annotations

from typing import Any

import pytest

from model_analyzer.domain.settings import SearchMode
from model_analyzer.search.choose import mode_for
from model_analyzer.search.plan import Subject
from tests.unit.search.surfaces import bounds, limits, model, search, subject

PREFERS_64 = model(max_batch_size=64, dynamic_batching={"preferred_batch_size": [16, 64]})
ABOVE = "preferred_batch_size 64 is above max_batch_size"


def sentences(target: Subject, mode: SearchMode, **settings: Any) -> list[str]:
    return [part.sentence for part in mode_for(target, limits(mode=mode, **settings)).left_out()]


def test_a_search_that_is_empty_says_so_with_the_remedy() -> None:
    where = {"instances": (1, 4), "batch": (1, 32), "quick": bounds(batch=(None, 32))}

    assert sentences(subject(PREFERS_64), SearchMode.BRUTE, **where) == [
        "m: 24 of 24 variants left out, because the server would refuse them:"
        f" {ABOVE} 1, 2, 4, 8, 16, 32; raise run_config_search_max_model_batch_size"
    ]


@pytest.mark.parametrize("mode", [SearchMode.BRUTE, SearchMode.OPTUNA, SearchMode.ADAPTIVE])
def test_a_part_of_a_search_is_counted(mode: SearchMode) -> None:
    where = {"instances": (1, 2), "batch": (32, 64)}

    assert sentences(subject(PREFERS_64), mode, **where) == [
        f"m: 2 of 4 variants left out, because the server would refuse them: {ABOVE} 32"
    ]


@pytest.mark.parametrize("listed", [{"max_batch_size": [8, 16]}, {"model_warmup": [[{}]]}])
def test_listed_values_are_no_bounds_of_a_search(listed: dict[str, Any]) -> None:
    prefers = model(max_batch_size=16, dynamic_batching={"preferred_batch_size": [64]})
    (sentence,) = sentences(subject(prefers, parameters=listed), SearchMode.BRUTE)

    assert sentence.endswith("; list max_batch_size 64")


@pytest.mark.parametrize("mode", [SearchMode.BRUTE, SearchMode.OPTUNA, SearchMode.ADAPTIVE])
def test_listed_batch_limits_are_what_is_counted(mode: SearchMode) -> None:
    listed: dict[str, list[Any]] = {"max_batch_size": [8, 64], "instance_group": [[{"count": 1}]]}

    (sentence,) = sentences(subject(PREFERS_64, parameters=listed), mode)

    assert sentence.startswith("m: 1 of 2 variants left out")
    assert sentence.endswith(f"{ABOVE} 8")


def test_the_usual_bound_is_raised_so_that_something_is_left() -> None:
    target = subject(model(max_batch_size=200, dynamic_batching={"preferred_batch_size": [200]}))
    where = limits(instances=(1, 1), batch=(64, 128), concurrency=(1, 1))

    trial = search(target, where).ask()

    assert trial is not None
    assert trial.is_legal
    assert (
        "2 of 3 variants"
        in sentences(target, SearchMode.BRUTE, instances=(1, 1), batch=(64, 128))[0]
    )


def test_listed_fields_are_counted_with_every_reason() -> None:
    target = subject(
        parameters={
            "dynamic_batching": [
                {"preferred_batch_size": [256]},
                {"priority_levels": 2},
                {"max_queue_delay_microseconds": 5},
            ]
        }
    )

    (sentence,) = sentences(target, SearchMode.BRUTE)

    assert sentence == (
        "m: 2 of 3 variants left out, because the server would refuse them: preferred_batch_size"
        " 256 is above max_batch_size 8; default_priority_level 0 is not in 1 to 2"
    )


def test_nothing_is_said_if_nothing_is_left_out() -> None:
    for mode in SearchMode:
        assert not sentences(subject(), mode)
