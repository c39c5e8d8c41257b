# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which times of the server follow one another."""

from __future__ import annotations

from typing import Any

import pytest

from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.parts import add_up, longest_path
from tests.unit.builders import variant

TIMES = {"a": 1.0, "b": 5.0, "c": 3.0, "d": 2.0}


def part(model: str, **config: Any) -> ModelVariant:
    return variant(f"{model}_config_0", model=model, **config)


def step(model: str, inputs: str, outputs: str) -> dict[str, Any]:
    return {
        "model_name": model,
        "input_map": {f"IN{tensor}": tensor for tensor in inputs},
        "output_map": {f"OUT{tensor}": tensor for tensor in outputs},
    }


def ensemble(*steps: dict[str, Any], parts: str = "abcd", model: str = "m") -> ModelVariant:
    config: dict[str, Any] = {"ensemble_scheduling": {"step": list(steps)}}
    return (
        part(model, **config)
        if not parts
        else variant(f"{model}_config_0", model=model, composing=[*map(part, parts)], **config)
    )


def path(of: ModelVariant) -> str:
    return "".join(each.model for each in longest_path(of, lambda part: TIMES[part.model]))


CHAIN = ensemble(step("a", "X", "Y"), step("b", "Y", "Z"))
DIAMOND = ensemble(
    step("d", "UV", "Z"), step("a", "X", "Y"), step("b", "Y", "U"), step("c", "Y", "V")
)


def test_a_chain_adds_up() -> None:
    assert add_up(CHAIN)
    assert path(CHAIN) == "ab"


def test_branches_run_at_the_same_time() -> None:
    assert not add_up(DIAMOND)
    assert path(DIAMOND) == "abd"


def test_a_step_that_is_an_ensemble_stands_for_its_path() -> None:
    config: dict[str, Any] = {
        "ensemble_scheduling": {"step": [step("m", "X", "Z"), step("a", "Z", "W")]}
    }
    outer = variant("o_config_0", model="o", composing=[DIAMOND, part("a")], **config)
    assert path(outer) == "abda"
    assert not add_up(outer)
    of_chain = variant("o_config_0", model="o", composing=[CHAIN, part("a")], **config)
    assert path(of_chain) == "aba"
    assert add_up(of_chain)


def test_a_model_that_is_called_twice_counts_twice() -> None:
    assert path(ensemble(step("a", "X", "Y"), step("a", "Y", "Z"))) == "aa"


@pytest.mark.parametrize(
    "config",
    [{"model_transaction_policy": {"decoupled": True}}, {"response_cache": {"enable": True}}],
)
def test_a_model_that_answers_otherwise_does_not_add_up(config: dict[str, Any]) -> None:
    assert not add_up(variant(**config))
    assert add_up(variant())


def test_invalid_ensembles_do_not_hang() -> None:
    assert path(ensemble(step("a", "Z", "Y"), step("b", "Y", "Z"))) in ("ab", "ba")
    assert path(ensemble(step("unknown", "X", "Y"), step("a", "Y", "Z"), parts="a")) == "a"
    assert path(ensemble()) == ""
