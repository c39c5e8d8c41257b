# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q38: tables show the models of the present configuration, with all that is known of them."""

from collections import Counter


def test_only_present_models_are_shown(scenario, three_models) -> None:
    assert scenario.profile(**three_models["mixed first"]).status == 0

    run = scenario.profile("-v", **three_models["mixed second"])

    assert run.status == 0, run.output
    assert [run.profiled(model) for model in "arv"] == [0, 2, 2]
    assert Counter(row[0] for row in scenario.rows()) == {"r": 4, "v": 2}
    assert run.tables == scenario.tables
