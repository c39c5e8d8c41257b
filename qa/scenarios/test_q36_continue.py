# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q36: the next run goes on where an interrupted one stopped."""

import pytest


@pytest.mark.slow
def test_the_rest_is_measured(scenario, three_models, interrupted) -> None:
    run = scenario.profile(**three_models["multi"])

    assert run.status == 0, run.output
    assert [run.profiled(model) for model in "arv"] == [0, 4, 2]
