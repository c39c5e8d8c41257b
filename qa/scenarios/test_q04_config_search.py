# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q4: how many measurements a search takes, and none of them a second time.

Here a checkpoint is guarded by checksums, so its GPUs cannot be altered by hand: the third run
uses others instead.
"""

from typing import Any

import pytest

SMALL = {
    "run_config_search_max_concurrency": 2,
    "run_config_search_max_instance_count": 2,
    "run_config_search_max_model_batch_size": 1,
}
CONFIGURATIONS = [
    ({"run_config_search_disable": True}, [1], True, 3),
    pytest.param(SMALL, [], True, 6, marks=pytest.mark.slow),
    (SMALL, [], False, 6),
    pytest.param(SMALL, [1], False, 3, marks=pytest.mark.slow),
    pytest.param(SMALL, [1], True, 3, marks=pytest.mark.slow),
]


def options(scenario, config: Any, concurrency: list[int], counts: bool) -> dict[str, Any]:
    model: dict[str, Any] = {"cpu_only": scenario.cpu_only}
    if concurrency:
        model["parameters"] = {"concurrency": concurrency}
    if counts:
        group = {"count": [1, 2], "kind": scenario.kind}
        model["model_config_parameters"] = {"instance_group": [group]}
    return {**config, "profile_models": {"add_sub": model}}


def check_twice(scenario, rows: int, **config: Any) -> None:
    for _ in range(2):
        run = scenario.profile("-v", **config)
        assert run.status == 0, run.output
        assert scenario.tables == run.tables == scenario.expected(rows)
    assert run.profiled("add_sub") == 0
    assert scenario.checkpoints == ["0.ckpt"]


@pytest.mark.parametrize(("config", "concurrency", "counts", "rows"), CONFIGURATIONS)
def test_a_server_of_our_own(scenario, config, concurrency, counts, rows: int) -> None:
    check_twice(scenario, rows, **options(scenario, config, concurrency, counts))


@pytest.mark.slow
@pytest.mark.parametrize(("config", "concurrency", "counts", "rows"), CONFIGURATIONS)
def test_a_remote_server(scenario, remote, config, concurrency, counts, rows: int) -> None:
    reached = remote("explicit").reached()

    check_twice(scenario, rows, **reached, **options(scenario, config, concurrency, counts))


LISTED = {"run_config_search_disable": True, "profile_models": ["add_sub"]}


def test_the_same_gpus_match_the_checkpoint(scenario) -> None:
    assert scenario.profile(**LISTED).status == 0

    assert "GPU devices match checkpoint" in scenario.profile(**LISTED).output


def test_other_gpus_do_not_match_the_checkpoint(scenario) -> None:
    if not scenario.gpus:
        pytest.skip("no GPU")
    assert scenario.profile(**LISTED).status == 0

    run = scenario.profile("--gpus", "[]", **LISTED)

    assert run.status == 1
    assert "GPU devices do not match checkpoint" in run.output
