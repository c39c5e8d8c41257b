# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Some kinds of the zoo, with few steps each: `qa/zoo/run` takes all of them through every one."""

from __future__ import annotations

import pytest

from qa.zoo.truth import Kind, kinds
from qa.zoo.visit import Visit

OFTEN = [kind for kind in kinds() if kind.truth.often]


@pytest.mark.parametrize("kind", OFTEN, ids=lambda kind: kind.name)
def test_what_is_said_of_a_kind_is_true(kind: Kind, tmp_path, mark) -> None:
    steps = list(Visit(kind, tmp_path, mark.environment).steps(kind.truth.often))

    assert {step.name: step.faults for step in steps if step.faults} == {}
    assert mark.gone(), "processes were left behind"
