# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Sets of unknowns that follow measurements, held against what follows by arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from model_analyzer.search.adaptive.queueing_model import Floats
from model_analyzer.search.adaptive.sampling import Likelihood, update_particles

UNKNOWNS = 15


def after(likelihood: Likelihood, *, times: int, seed: int) -> Floats:
    """The particles after so many passes."""
    generator = np.random.default_rng(seed)
    particles: Floats = generator.standard_normal((384, UNKNOWNS))
    value: Floats = np.zeros(len(particles))
    for _ in range(times):
        particles, value = update_particles(particles, value, likelihood, generator)
    return particles


@pytest.mark.parametrize("seed", range(3))
def test_a_known_sum_leaves_its_parts_unknown(seed: int) -> None:
    def likelihood(particles: Floats) -> Floats:
        return np.asarray(-0.5 * ((particles[:, 0] + particles[:, 1] - 2) / 0.05) ** 2)

    particles = after(likelihood, times=8, seed=seed)
    total, apart = particles[:, 0] + particles[:, 1], particles[:, 0] - particles[:, 1]
    assert total.mean() == pytest.approx(2, abs=0.02)
    assert total.std() == pytest.approx(0.05, rel=0.3)
    assert apart.std() == pytest.approx(np.sqrt(2), rel=0.25)
    assert particles[:, 2:].std(axis=0) == pytest.approx(np.ones(UNKNOWNS - 2), rel=0.3)


@pytest.mark.parametrize("seed", range(3))
def test_separate_explanations_live_on(seed: int) -> None:
    def likelihood(particles: Floats) -> Floats:
        return np.asarray(-0.5 * ((np.abs(particles[:, 0]) - 1.5) / 0.1) ** 2)

    first = after(likelihood, times=8, seed=seed)[:, 0]
    assert np.abs(first).mean() == pytest.approx(1.5, abs=0.1)
    assert 0.25 < (first > 0).mean() < 0.75


def test_metrics_that_are_not_measured_keep_their_prior() -> None:
    particles = after(lambda particles: np.zeros(len(particles)), times=5, seed=0)
    assert particles.mean() == pytest.approx(0, abs=0.05)
    assert particles.std() == pytest.approx(1, abs=0.05)
