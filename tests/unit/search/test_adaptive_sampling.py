# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of unknowns that follow measurements, held against what follows by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from model_analyzer.search.adaptive.queueing import Floats
from model_analyzer.search.adaptive.sampling import Likelihood, followed

UNKNOWNS = 15


def after(likelihood: Likelihood, *, times: int, seed: int) -> Floats:
    """The sets after so many rounds."""
    generator = np.random.default_rng(seed)
    sets: Floats = generator.standard_normal((384, UNKNOWNS))
    value: Floats = np.zeros(len(sets))
    for _ in range(times):
        sets, value = followed(sets, value, likelihood, generator)
    return sets


@pytest.mark.parametrize("seed", range(3))
def test_what_is_known_of_a_sum_leaves_its_parts_open(seed: int) -> None:
    def likelihood(sets: Floats) -> Floats:
        return np.asarray(-0.5 * ((sets[:, 0] + sets[:, 1] - 2) / 0.05) ** 2)

    sets = after(likelihood, times=8, seed=seed)
    total, apart = sets[:, 0] + sets[:, 1], sets[:, 0] - sets[:, 1]
    assert total.mean() == pytest.approx(2, abs=0.02)
    assert total.std() == pytest.approx(0.05, rel=0.3)
    assert apart.std() == pytest.approx(np.sqrt(2), rel=0.25)
    assert sets[:, 2:].std(axis=0) == pytest.approx(np.ones(UNKNOWNS - 2), rel=0.3)


@pytest.mark.parametrize("seed", range(3))
def test_separate_explanations_live_on(seed: int) -> None:
    def likelihood(sets: Floats) -> Floats:
        return np.asarray(-0.5 * ((np.abs(sets[:, 0]) - 1.5) / 0.1) ** 2)

    first = after(likelihood, times=8, seed=seed)[:, 0]
    assert np.abs(first).mean() == pytest.approx(1.5, abs=0.1)
    assert 0.25 < (first > 0).mean() < 0.75


def test_what_is_not_measured_stays_as_it_was_believed() -> None:
    sets = after(lambda sets: np.zeros(len(sets)), times=5, seed=0)
    assert sets.mean() == pytest.approx(0, abs=0.05)
    assert sets.std() == pytest.approx(1, abs=0.05)
