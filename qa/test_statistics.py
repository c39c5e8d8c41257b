# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What the server counts while it is measured is kept, and adds up."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from model_analyzer.domain.measurements import Measurement, ModelStatistics
from model_analyzer.state.checkpoint import load
from tests.sizes import small_and_full

IN_FLIGHT = 4


def counted(scene, protocol: str, model: str, **options) -> Mapping[str, ModelStatistics]:
    """The statistics of the only measurement."""
    status, output = scene.profile(
        "--client-protocol", protocol, "--run-config-search-disable", "-c", str(IN_FLIGHT),
        profile_models=[model], **options,
    )  # fmt: skip
    assert status == 0, output
    (record,) = load(scene.directory / "checkpoints").profile.records
    assert isinstance(record.outcome, Measurement)
    return record.outcome.statistics


@small_and_full("protocol", "grpc", "http")
@small_and_full("model", "ensemble_chain", "bls_chain")
def test_counts_of_a_model_and_of_those_that_it_calls_add_up(
    scene, protocol: str, model: str
) -> None:
    calls = {"bls_composing_models": ["scale", "add_sub"]} if model == "bls_chain" else {}
    statistics = counted(scene, protocol, model, **calls)

    assert set(statistics) == {model, "scale", "add_sub"}
    for statistic in statistics.values():
        assert statistic.executions == sum(batch.count for batch in statistic.batches) > 0
        assert statistic.inferences == sum(batch.count * batch.size for batch in statistic.batches)
        assert all(batch.ms > 0 for batch in statistic.batches)
    # a request is in one place or another when they are read
    sent = [statistic.inferences for statistic in statistics.values()]
    assert max(sent) - min(sent) <= 2 * IN_FLIGHT


@pytest.mark.slow
def test_there_are_none_with_the_c_api(scene) -> None:
    assert counted(scene, "grpc", "add_sub", triton_launch_mode="c_api") == {}
