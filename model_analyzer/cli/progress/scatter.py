# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A chart of measurements for the terminal, as lines of text: pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from rich.cells import cell_len
from rich.text import Text

from model_analyzer.domain.words import number_text


class Dot(NamedTuple):
    """A measurement: across, up, and whether it meets the constraints."""

    x: float
    y: float
    passes: bool


# The marks, from the least to the most important: the last one in a place is shown.
_MISSES, _MEETS, _BEST = ("○", "yellow"), ("•", "cyan"), ("◉", "bold green")


def scatter(
    dots: Sequence[Dot], best: Dot | None, titles: tuple[str, str], width: int, height: int
) -> list[Text]:
    """The dots in `height` lines of at most `width` cells, with an axis that is logarithmic across
    and begins at zero upwards. `titles` are those across and up. Nothing without two positive dots.
    """
    dots = [dot for dot in dots if dot.x > 0 and dot.y >= 0]
    if len(dots) < 2:
        return []
    left, right = (math.log(edge(dot.x for dot in dots)) for edge in (min, max))
    top = max(dot.y for dot in dots) or 1.0
    margin = max(cell_len(number_text(top)), cell_len("0")) + 2
    columns, rows = width - margin, height - 2
    if columns < 10 or rows < 3:
        return []
    cells: dict[tuple[int, int], tuple[str, str]] = {}
    ordered = sorted(dots, key=lambda dot: dot.passes)
    marks = [(dot, _MEETS if dot.passes else _MISSES) for dot in ordered]
    marks += [(best, _BEST)] if best is not None and best.x > 0 else []
    for dot, mark in marks:
        across = (math.log(dot.x) - left) / ((right - left) or 1.0)
        column = min(max(round(across * (columns - 1)), 0), columns - 1)
        row = min(max(round((1 - dot.y / top) * (rows - 1)), 0), rows - 1)
        cells[row, column] = mark
    lines = [Text(titles[1], style="dim")]
    for row in range(rows):
        label = number_text(top) if row == 0 else "0" if row == rows - 1 else ""
        line = Text.assemble((f"{label:>{margin - 2}} │", "dim"))
        for column in range(columns):
            text, style = cells.get((row, column), (" ", ""))
            line.append(text, style=style)
        lines.append(line)
    ends = [number_text(math.exp(left)), number_text(math.exp(right))]
    between = columns - cell_len(ends[0]) - cell_len(ends[1])
    middle = titles[0].center(between) if between >= len(titles[0]) else " " * max(between, 1)
    lines.append(Text(f"{' ' * margin}{ends[0]}{middle}{ends[1]}", style="dim"))
    return lines
