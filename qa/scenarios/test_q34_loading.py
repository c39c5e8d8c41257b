# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q34: what is in the checkpoint is not measured again."""

import pytest


@pytest.mark.slow
def test_nothing_is_measured_again(scenario, three_models) -> None:
    assert scenario.profile(**three_models["single"]).status == 0
    before = scenario.checkpoints

    run = scenario.profile(**three_models["single"])

    assert run.status == 0, run.output
    assert "Profiling " not in run.output.replace("Profiling server", "")
    assert scenario.checkpoints == before
