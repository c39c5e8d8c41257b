# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The pictures that a command writes: charts as images or inside pages, pages as PDF, and the
answer for one model as a card to share (1200 x 630 pixels, as previews of links have).

A picture that cannot be drawn affects neither other pictures nor other files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from textwrap import wrap

from model_analyzer.domain.words import counted, drawable, drawable_values, first_few, shortened
from model_analyzer.reports.build import Standing, Summary
from model_analyzer.reports.engines import PDF, PNG, SVG
from model_analyzer.reports.plots import Chart
from model_analyzer.reports.renderer import Limits, Order, Picture, Renderer
from model_analyzer.reports.templating import render

# Pictures by the key of their chart.
Drawings = Mapping[str, Picture]

_PDF_S = 300  # a page with many measurements takes long
_MOST_NAMES = 3


class Images:
    """Draws pictures, and collects failures. A context manager: leaving it ends the child processes
    that draw. `charts` draws charts, if there is one that has begun already.
    """

    def __init__(self, limits: Limits | None = None, *, charts: Renderer | None = None) -> None:
        self._charts = charts or Renderer(limits)
        self._pages = Renderer(limits or Limits(seconds=_PDF_S))
        self._stack = ExitStack()
        self._missing: dict[tuple[str, str], list[str]] = {}

    def __enter__(self) -> Images:
        self._stack.enter_context(self._charts)
        self._stack.enter_context(self._pages)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def svg(self, charts: Iterable[Chart], subject: str) -> Drawings:
        """The charts with data as SVG, drawn in the background. `subject` names what they show.

        Texts are escaped first: invalid characters would crash the engine.
        """
        orders = {
            chart.key: self._charts.order(SVG, json.dumps(drawable_values(chart.spec)))
            for chart in charts
            if chart.has_data
        }
        return _Drawings(orders, lambda order, name: self._taken(order, f"{name} of {subject}"))

    def png(self, drawings: Drawings) -> Drawings:
        """The drawings as PNG, without those that could not be drawn."""
        orders = {
            name: self._charts.order(PNG, picture.content.decode())
            for name, picture in drawings.items()
            if picture.content is not None
        }
        return _Drawings(orders, lambda order, name: self._taken(order, f"{name}.png"))

    def pdf(self, page: str, name: str) -> Picture:
        """A printed page (HTML) as PDF."""
        picture = self._pages.take(self._pages.order(PDF, page))
        if picture.content is None:
            self._miss("PDF", name, picture.why)
        return picture

    def remarks(self) -> Sequence[str]:
        """Which pictures could not be drawn: a sentence for each reason."""
        return [
            f"{counted(len(names), kind)} not drawn ({first_few(names, _MOST_NAMES)}): {why};"
            " everything else is complete"
            + (", and pages draw their charts in a browser" if kind == "chart" else "")
            for (kind, why), names in self._missing.items()
        ]

    def _taken(self, order: Order, name: str) -> Picture:
        """The picture of an ordered chart; a failure is collected."""
        picture = self._charts.take(order)
        if picture.content is None:
            self._miss("chart", name, picture.why)
        elif order.kind == SVG:
            # the engine may have resolved an escape in a text
            return Picture(drawable(picture.content.decode()).encode())
        return picture

    def _miss(self, kind: str, name: str, why: str) -> None:
        self._missing.setdefault((kind, why), []).append(name)


class _Drawings(Mapping[str, Picture]):
    """Pictures that are awaited on first access."""

    def __init__(self, orders: Mapping[str, Order], take: Callable[[Order, str], Picture]) -> None:
        self._orders = orders
        self._take = take
        self._taken: dict[str, Picture] = {}

    def __getitem__(self, name: str) -> Picture:
        if name not in self._taken:
            self._taken[name] = self._take(self._orders[name], name)
        return self._taken[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._orders)

    def __len__(self) -> int:
        return len(self._orders)


# So many characters fit into a line of the advice, of the name, of the settings, of a label, and of
# a change.
_ADVICE, _NAME, _SETTINGS, _LABEL, _CHANGE = 78, 36, 84, 30, 84
_MOST_FIGURES, _MOST_CHANGES, _MOST_LIMITS = 3, 3, 2

# The colours of a page (`static/report.css`).
_COLOURS = {Standing.GOOD: "#0b6b3a", Standing.UNSURE: "#7a4300", Standing.BAD: "#a31621"}


def render_card(part: Summary) -> str:
    """The picture as SVG: its texts are short enough for their places."""
    statement = part.statement
    name, settings = part.recommended
    picture = render(
        "card.svg.j2",
        advice=shortened(part.advice, _ADVICE),
        colour=_COLOURS[statement.standing],
        name=shortened(name or part.model, _NAME),
        settings=wrap(settings or statement.sentence, _SETTINGS, max_lines=2, placeholder=" …"),
        figures=[
            replace(figure, label=shortened(figure.label, _LABEL))
            for figure in part.figures[:_MOST_FIGURES]
        ],
        limits=[*_limits(part)][:_MOST_LIMITS],
        changes=[*_changes(part)],
        footer=shortened(
            " · ".join(filter(None, (part.model, part.hardware, part.origin.tool))), _CHANGE
        ),
    )
    return drawable(picture)


def _limits(part: Summary) -> Iterator[str]:
    for limit in part.limits:
        met = "?" if limit.missed_by is None else "✗" if limit.missed_by else "✓"
        yield f"{met} {limit.constraint}"


def _changes(part: Summary) -> Iterator[str]:
    changes = part.changes
    for name, before, after in changes[:_MOST_CHANGES]:
        yield shortened(f"{name} {before} → {after}", _CHANGE)
    more = len(changes) - _MOST_CHANGES
    if more > 0:
        yield f"and {more} more"
