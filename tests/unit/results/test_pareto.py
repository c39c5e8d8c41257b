# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Points that nothing beats in both respects."""

from __future__ import annotations

from model_analyzer.reports.front import pareto_front


def test_the_front_goes_from_the_cheapest_to_the_best() -> None:
    points = [(3.0, 30.0), (1.0, 10.0), (2.0, 5.0), (2.0, 20.0), (4.0, 30.0)]
    assert pareto_front(points) == [1, 3, 0]


def test_the_first_of_equal_points_is_on_the_front() -> None:
    assert pareto_front([(1.0, 1.0), (1.0, 1.0)]) == [0]


def test_no_points_have_no_front() -> None:
    assert pareto_front([]) == []
