# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Tables on a terminal: no wider than it is, and no word broken. If the columns do not fit, those
that the table can do without are left out; if that is not enough, each row is a block of lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import zip_longest
from types import NoneType

from rich import box
from rich.cells import cell_len, chop_cells
from rich.console import RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from model_analyzer.domain.words import one_line, printable
from model_analyzer.reports.tables import Table

_HEADER_WIDTH = 11  # long headers take more lines, so that names need not
_BETWEEN = 2  # blanks between columns
# After blanks, and after commas that do not separate thousands.
_BREAK = re.compile(r"(?<= )(?! )|(?<=[,;])(?! |\d{3}(?!\d))")
_INDENT = 2  # of the lines of a block below its first


def cell_text(text: str | None) -> str:
    """A cell on a terminal, never empty: programs split the columns of a log at blanks."""
    return one_line(text or "") or "-"


def laid_out(table: Table, width: int) -> Iterator[RenderableType]:
    """What a terminal of this width shows of a table."""
    texts = [[*map(cell_text, row)] for row in table.texts()]
    headers = [printable(header) for header in table.headers]
    names = [*map(_header, headers)]
    columns = [*zip(*texts, strict=True)] or [()] * len(headers)

    def fitting(places: Sequence[int]) -> Sequence[int] | None:
        return _widths([names[each] for each in places], [columns[each] for each in places], width)

    places = _shown(len(headers), table.dispensable, lambda chosen: fitting(chosen) is not None)
    widths = fitting(places)
    if widths is not None:
        shown = [columns[place] for place in places]
        yield _grid(table, places, [names[place] for place in places], shown, widths)
        gone = [name for place, name in enumerate(headers) if place not in places]
        if gone:
            yield _lines(f"Not shown in {width} columns: {', '.join(gone)}", width, "dim")
        return
    for row in texts:
        yield _block(headers, row, width)


def _shown(
    count: int, dispensable: Sequence[int], fits: Callable[[Sequence[int]], bool]
) -> Sequence[int]:
    """The columns that are shown: all, or without those that can be spared first, until they fit.
    Of these, those that fit nevertheless are shown, too: a narrow one may have gone before a wide
    one.
    """
    places, gone = list(range(count)), list[int]()
    for place in dispensable:
        if fits(places):
            break
        places.remove(place)
        gone.append(place)
    for place in reversed(gone):
        if fits(sorted([*places, place])):
            places = sorted([*places, place])
    return places


def wrapped(text: str, width: int) -> Sequence[str]:
    """The text in lines of at most this width, broken at blanks and after commas; only a word that
    is longer is broken.
    """
    lines: list[str] = []
    for paragraph in text.split("\n"):
        line = ""
        for piece in _pieces(paragraph):
            if line and cell_len(line + piece.rstrip()) > width:
                lines.append(line.rstrip())
                line = ""
            line += piece
            if cell_len(line.rstrip()) > width:
                *whole, line = chop_cells(line, max(width, 1))
                lines += whole
        lines.append(line.rstrip())
    return lines


def _pieces(text: str) -> Sequence[str]:
    """The parts that stay together, each with the blanks after it."""
    return _BREAK.split(text)


def _header(text: str) -> str:
    return "\n".join(wrapped(text, max(_HEADER_WIDTH, _narrowest(text))))


def _narrowest(text: str) -> int:
    return max(cell_len(piece.rstrip()) for line in text.split("\n") for piece in _pieces(line))


def _widths(
    headers: Sequence[str], columns: Sequence[Sequence[str]], width: int
) -> Sequence[int] | None:
    """The widths of columns that fit side by side; None if they do not without broken words."""
    least = [max(map(_narrowest, texts)) for texts in _with_headers(headers, columns)]
    widths = [
        max(cell_len(line) for text in texts for line in text.split("\n"))
        for texts in _with_headers(headers, columns)
    ]
    room = width - _BETWEEN * (len(columns) - 1)
    if sum(least) > room:
        return None
    while sum(widths) > room:
        slack = [own - smallest for own, smallest in zip(widths, least, strict=True)]
        widths[slack.index(max(slack))] -= 1
    return widths


def _with_headers(
    headers: Sequence[str], columns: Sequence[Sequence[str]]
) -> Iterator[Sequence[str]]:
    for header, column in zip(headers, columns, strict=True):
        yield [header, *column]


def _grid(
    table: Table,
    places: Sequence[int],
    headers: Sequence[str],
    columns: Sequence[Sequence[str]],
    widths: Sequence[int],
) -> RichTable:
    grid = RichTable(
        box=box.SIMPLE_HEAD,
        header_style="bold",
        show_edge=False,
        padding=(0, 0, 0, _BETWEEN - 1),
        pad_edge=False,
    )
    for place, header, width in zip(places, headers, widths, strict=True):
        numbers = all(isinstance(row[place], (int, float, NoneType)) for row in table.rows)
        grid.add_column(
            Text("\n".join(wrapped(header, width))),
            justify="right" if numbers else "left",
            no_wrap=True,
        )
    for row in zip(*columns, strict=True):
        lines = (wrapped(text, width) for text, width in zip(row, widths, strict=True))
        grid.add_row(*(Text("\n".join(each)) for each in lines))
    return grid


def _block(headers: Sequence[str], row: Sequence[str], width: int) -> Text:
    """A row as lines: its first cell, and each further cell beside its header, or below it if it
    is too wide for that.
    """
    column = min(max(map(cell_len, headers)), width // 2)
    room = width - column - 2 * _INDENT
    text = _lines(row[0], width, "bold")
    for header, cell in zip(headers[1:], row[1:], strict=True):
        names = wrapped(header, column)
        if _narrowest(cell) > room:
            names = [
                *names,
                *(f"{' ' * _INDENT}{line}" for line in wrapped(cell, width - 2 * _INDENT)),
            ]
            pairs = [(name, "") for name in names]
        else:
            pairs = [*zip_longest(names, wrapped(cell, room), fillvalue="")]
        for name, own in pairs:
            blanks = " " * (column - cell_len(name) + _INDENT)
            text.append(f"\n{' ' * _INDENT}{name}{blanks}{own}".rstrip(" "))
    return text


def _lines(text: str, width: int, style: str) -> Text:
    return Text("\n".join(wrapped(text, width)), style=style)
