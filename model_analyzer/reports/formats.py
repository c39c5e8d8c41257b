# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The formats of results: what is written in each, and how it is rendered."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from model_analyzer.domain.settings import OutputFormat
from model_analyzer.reports import html, markdown
from model_analyzer.reports.build import Detail, Page
from model_analyzer.reports.document import results_document, variant_document
from model_analyzer.reports.flat_files import to_csv, to_json, to_parquet
from model_analyzer.reports.images import Drawings, Images
from model_analyzer.results.columns import Row


class Pages(NamedTuple):
    """Renders the report of a model (`summary`) or of a variant (`detail`), with charts drawn."""

    summary: Callable[[Page, Drawings], str]
    detail: Callable[[Detail, Drawings], str]

    def render(self, report: Page | Detail, drawings: Drawings) -> str:
        if isinstance(report, Page):
            return self.summary(report, drawings)
        return self.detail(report, drawings)


class Format(NamedTuple):
    """What is written in a format; a part that it does not have is None.

    `pages` are reports; if they `are_printed`, they become PDF, and with `have_images`, their
    charts stand beside them. `results` and `variant` make documents of all results and of those of
    a variant, `rows` a table of measurements, in which `has_tables` adds those that scripts know,
    and `images` draws charts.
    """

    pages: Pages | None = None
    are_printed: bool = False
    have_images: bool = False
    results: Callable[..., Mapping[str, Any]] | None = None
    variant: Callable[..., Mapping[str, Any]] | None = None
    rows: Callable[[Collection[Row], Sequence[str]], bytes] | None = None
    has_tables: bool = False
    images: Callable[[Images, Drawings], Drawings] | None = None


_FORMATS: Mapping[OutputFormat, Format] = {
    OutputFormat.HTML: Format(pages=Pages(html.render_summary, html.render_detail)),
    OutputFormat.PDF: Format(
        pages=Pages(html.on_paper, html.on_paper), are_printed=True
    ),
    OutputFormat.MARKDOWN: Format(
        pages=Pages(markdown.render_summary, markdown.render_detail), have_images=True
    ),
    OutputFormat.JSON: Format(results=results_document, variant=variant_document),
    OutputFormat.CSV: Format(rows=to_csv, has_tables=True),
    OutputFormat.PARQUET: Format(rows=to_parquet),
    OutputFormat.PNG: Format(images=Images.png),
    OutputFormat.SVG: Format(images=lambda _, drawings: drawings),
}  # fmt: skip

# What encodes rows for a command that prints them, by the name of the format.
_ROWS = {"csv": to_csv, "json": to_json, "parquet": to_parquet}


def encode_rows(rows: Collection[Row], form: str, first: Sequence[str] = ()) -> bytes:
    """The rows as csv, json or parquet, with the metrics in `first` before the others. Raises
    OutputError if pyarrow is not installed.
    """
    return _ROWS[form](rows, first)


def rows_of_formats(formats: Collection[OutputFormat]) -> Iterator[tuple[str, Format]]:
    """The name and the row of each of these formats, in the order of writing. HTML is one of them:
    it is always written.
    """
    for form, row in _FORMATS.items():
        if form in formats or form is OutputFormat.HTML:
            yield form.value, row
