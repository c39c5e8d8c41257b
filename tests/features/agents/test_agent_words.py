# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an agent is told: advice, and the words of its tools."""

from __future__ import annotations

from typing import Any

import pytest

from model_analyzer.features.agents.agent_tools import LIMITS, further, in_words_of_tools, too_long


def model(count: int, batch: int, concurrency: int, chance: float | None = None) -> dict[str, Any]:
    part = {"instances": [{"count": count, "kind": "KIND_CPU"}], "max_batch_size": batch}
    return {
        "model": "m",
        "recommended": {"loads": [{"kind": "concurrency", "value": concurrency}]},
        "variants": [{"models": [part]}],
        "conclusion": chance and {"chance_percent": chance},
    }


RANGES = dict(zip(LIMITS, (5, 128, 1024), strict=True))


@pytest.mark.parametrize(
    ("found", "named"),
    [
        (model(2, 4, 8), []),
        (model(5, 4, 8), LIMITS[:1]),
        (model(2, 128, 1024), LIMITS[1:]),
        ({"recommended": None, "conclusion": None}, []),
    ],
)
def test_limits_that_are_reached_are_named(found: dict[str, Any], named: list[str]) -> None:
    told = [*further(found, RANGES, 40, stopped=False)]

    assert [text.split("limit ")[1].split(":")[0] for text in told] == [*named]


@pytest.mark.parametrize(
    ("chance", "left_s", "stopped", "is_told"),
    [(30.0, 40, False, True), (30.0, 5, False, False), (2.0, 40, False, False),
     (None, 40, True, True), (None, 40, False, False)],
)  # fmt: skip
def test_a_search_is_continued_if_that_may_help(
    chance: float | None, left_s: float, stopped: bool, is_told: bool
) -> None:
    told = [*further(model(1, 1, 1, chance), RANGES, left_s, stopped=stopped)]

    assert bool(told) == is_told
    assert all("the 40 s of the budget" in text for text in told)


@pytest.mark.parametrize(
    ("minutes", "modes", "is_told"),
    [(2, ["brute"], True), (2, ["adaptive"], False), (0.5, ["quick"], False), (None, [], False)],
)
def test_a_search_that_takes_too_long_has_another(
    minutes: float | None, modes: list[str], is_told: bool
) -> None:
    plan = {"minutes": minutes, "subjects": [{"mode": mode} for mode in modes]}

    assert bool([*too_long(plan, 60)]) == is_told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("a longer --budget continues", "a longer duration continues"),
        ("or use --search adaptive", "or use search adaptive"),
        (
            "--measure takes it",
            "start with load: {arrivals: poisson, rate: [...]} in the config takes it",
        ),
        ("--conditions 2 ranks them", "the user's --conditions 2 ranks them"),
        ("`model-analyzer best --latency-budget MS`", "`what_if latency_budget MS`"),
        ("model-analyzer explain says why", "explain says why"),
        ("the model-analyzer of a-b --", "the model-analyzer of a-b --"),
        ({"a": ["--bb"], "commands": ["--c"]}, {"a": ["bb"], "commands": ["--c"]}),
    ],
)  # fmt: skip
def test_words_are_those_of_the_tools(said: Any, told: Any) -> None:
    assert in_words_of_tools(said) == told
