# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The chart of measurements in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from model_analyzer.cli.progress.screen import Dot, scatter

DOTS = [Dot(1, 0, True), Dot(10, 50, False), Dot(100, 100, True)]


def plain(dots: Sequence[Dot], best: Dot | None, *, width: int = 30, height: int = 7) -> list[str]:
    lines = scatter(dots, best, ("ms", "infer/s"), width, height)
    return [line.plain.rstrip() for line in lines]


def test_dots_are_where_their_values_are() -> None:
    assert plain(DOTS, None) == [
        "infer/s",
        "100 │                        •",
        "    │",
        "    │            ○",
        "    │",
        "  0 │•",
        "     1.00        ms        100",
    ]


def test_the_best_covers_others() -> None:
    shown = "\n".join(plain(DOTS, DOTS[2]))
    assert shown.count("◉") == 1
    assert shown.count("•") == 1


@pytest.mark.parametrize("dots", [[], DOTS[:1], [Dot(0, 5, True), Dot(-1, 5, True)]])
def test_without_two_measurements_there_is_no_chart(dots: list[Dot]) -> None:
    assert plain(dots, None) == []


def test_equal_values_are_one_place() -> None:
    shown = "\n".join(plain([Dot(5, 0, True), Dot(5, 0, False)], None))
    assert shown.count("•") == 1
    assert "○" not in shown


@pytest.mark.parametrize(("width", "height"), [(14, 7), (30, 4), (1, 1)])
def test_too_small_a_place_has_no_chart(width: int, height: int) -> None:
    assert plain(DOTS, None, width=width, height=height) == []
