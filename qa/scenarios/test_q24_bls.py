# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q24: a model that calls another from its code, named in the data that it is sent."""

from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_bls_model(scenario, short_windows) -> None:
    data = Path(__file__).with_name("bls_input_data.json")

    run = scenario.profile(
        profile_models=["bls"],
        bls_composing_models=["add"],
        perf_analyzer_flags={**short_windows, "input-data": str(data)},
    )

    assert run.status == 0, run.output
    assert 20 <= run.profiled("bls") <= 80
