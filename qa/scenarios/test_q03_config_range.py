# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q3: batch sizes, concurrencies and models in every form in which they may be written."""

from typing import Any

import pytest

VALUES = [
    pytest.param({"start": 10, "stop": 12, "step": 2}, 2, id="range"),
    pytest.param(["10", "12"], 2, id="list of texts", marks=pytest.mark.slow),
    pytest.param("10,12", 2, id="text", marks=pytest.mark.slow),
    pytest.param("1", 1, id="one"),
]
MODELS = [
    pytest.param(["add_sub"], 1, id="one", marks=pytest.mark.slow),
    pytest.param(["add_sub", "other"], 2, id="list", marks=pytest.mark.slow),
    pytest.param("add_sub,other", 2, id="text", marks=pytest.mark.slow),
]


@pytest.fixture
def wide(scenario):
    """Models that take batches of more than ten."""
    scenario.edit("add_sub", "max_batch_size: 8", "max_batch_size: 16")
    scenario.clone("add_sub", "other")
    return scenario


def check(wide, values: Any, each: int, models: Any, count: int, **options: str) -> None:
    run = wide.profile(
        run_config_search_disable=True,
        batch_sizes=values,
        concurrency=values,
        profile_models=models,
        **options,
    )
    assert run.status == 0, run.output
    assert wide.tables == wide.expected(count * each * each)


@pytest.mark.parametrize(("values", "each"), VALUES)
def test_every_batch_size_meets_every_concurrency(wide, values, each: int) -> None:
    check(wide, values, each, ["add_sub"], 1)


@pytest.mark.parametrize(("models", "count"), MODELS)
def test_models_in_every_form(wide, models, count: int) -> None:
    check(wide, "1", 1, models, count)


@pytest.mark.slow
@pytest.mark.parametrize(("values", "each"), VALUES)
def test_in_a_container(wide, docker_image: str, values, each: int) -> None:
    check(
        wide, values, each, "add_sub,other", 2,
        triton_launch_mode="docker", triton_docker_image=docker_image,
    )  # fmt: skip
