# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The answer for one model as a picture to share: 1200 x 630 pixels, as previews of links have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap

from model_analyzer.domain.printable import drawable
from model_analyzer.domain.words import shortened
from model_analyzer.reports.build import Standing, Summary
from model_analyzer.reports.templating import render

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
