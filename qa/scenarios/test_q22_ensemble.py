# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q22: an ensemble is searched by what it is made of, quickly, without being told to."""

import pytest


@pytest.mark.slow
def test_an_ensemble(scenario) -> None:
    run = scenario.profile(profile_models=["ensemble_add_sub"])

    assert run.status == 0, run.output
    assert 20 <= run.profiled("ensemble_add_sub") <= 80
    assert scenario.rows()
    assert not (scenario.directory / "reports" / "detailed").exists()
