# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Renders reports as Markdown, for a pull request or a wiki, with inserted text never read as
markup.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from model_analyzer.domain.trials import trial_words
from model_analyzer.domain.words import capitalized, counted
from model_analyzer.reports.build import Detail, Page, Summary, setup_rows
from model_analyzer.reports.explain_text import ExplainReport
from model_analyzer.reports.images import Drawings
from model_analyzer.reports.importance import Importance, MapGrid
from model_analyzer.reports.plots import Chart
from model_analyzer.reports.tables import Table

# A comment of a pull request holds 65 536 characters.
_MOST_ROWS = 100


def escaped(text: str) -> str:
    """A text on one line, with the special characters of Markdown and HTML escaped."""
    text = re.sub(r"\s+", " ", text).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_|\[\]@#])", r"\\\1", text)


def markdown_table(table: Table, others: str = "more") -> Sequence[str]:
    """The lines of a table: numbers are right-aligned, missing values are `-`. If it is long, a
    line at the end says how many `others` there are.
    """
    first = table.rows[0] if table.rows else ("",) * len(table.headers)
    rules = ["---:" if isinstance(cell, (int, float)) else "---" for cell in first]
    shown = Table(headers=table.headers, rows=table.rows[:_MOST_ROWS])
    rows = [
        ["-" if cell is None else "<br>".join(map(escaped, cell.split("\n"))) for cell in row]
        for row in shown.texts()
    ]
    lines = [[escaped(header) for header in table.headers], rules, *rows]
    count = len(table.rows) - len(shown.rows)
    rest = ["", f"… and {count} {others}."] if count else []
    return [*(f"| {' | '.join(cells)} |" for cells in lines), *rest]


def fenced(text: str, language: str = "") -> Sequence[str]:
    """The lines of a code block; its fence is longer than any in the text."""
    longest = max((len(ticks) for ticks in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", *text.splitlines(), fence]


def render_summary(report: Page, drawings: Drawings) -> str:
    """The summary of a model: which hardware, if there are several kinds; for each kind the answer,
    what to do, table, charts, parameters, failures and caveats; the measurement setup. Charts are
    images beside it, named by their keys.
    """
    lines = [f"# Result summary: {escaped(report.model)}", ""]
    if report.hardware is not None:
        lines += _section("Which hardware", markdown_table(report.hardware))
    for part in report.parts:
        if report.hardware is not None:
            lines += [f"## {escaped(part.heading)}", ""]
        lines += _part(part, drawings, level=2 if report.hardware is None else 3)
    return _text([*lines, *_setup(report)])


def _part(report: Summary, drawings: Drawings, level: int) -> Sequence[str]:
    """The answer on one kind of hardware, with headings of this level."""
    sentence = "".join(
        f"**{escaped(part)}**" if index % 2 else escaped(part)
        for index, part in enumerate(report.statement.headline)
    )
    lines = [sentence, ""]
    for text in filter(None, (report.statement.caution, *report.statement.lines)):
        lines += [escaped(text), ""]
    if report.choices:
        choices = [f"* {escaped(choice)}" for choice in report.choices]
        lines += ["You could also choose:", "", *choices, ""]
    remarks = [f"* {escaped(remark)}" for remark in report.statement.folded]
    if remarks:
        summary = f"<summary>{counted(len(remarks), 'remark')}</summary>"
        lines += ["<details>", summary, "", *remarks, "", "</details>", ""]
    lines += _section("What to do", _what_to_do(report), level)
    if report.table.rows:
        about = [f"Constraint targets: {escaped(report.constraints)}.", escaped(report.gpus)]
        table = markdown_table(report.table)
        lines += _section("Best configurations", [" ".join(about).rstrip(), "", *table], level)
    if report.composing is not None:
        title = "Composing models of the best configuration"
        lines += _section(title, markdown_table(report.composing), level)
    lines += _charts(report.charts, drawings, level)
    if report.same_memory:
        lines += [escaped(report.same_memory), ""]
    if report.search_map is not None:
        grid = _map(report.search_map.grids[0])
        lines += _section(
            "Map of the search", [escaped(report.search_map.method), "", *grid], level
        )
    if report.importance is not None:
        lines += _section("Best for each value", _parameters(report.importance), level)
    if report.why is not None:
        lines += _section("Why p99 is what it is", _why(report.why), level)
    if report.failures:
        lines += _section("Failed trials", markdown_table(_failures(report)), level)
    if report.notices:
        lines += _section("Caveats", [f"* {escaped(text)}" for text in report.notices], level)
    return lines


def _what_to_do(report: Summary) -> Sequence[str]:
    name, settings = map(escaped, report.recommended)
    lines = [f"{report.advice}: **{name}** ({settings})." if name else f"{report.advice}."]
    if report.difference:
        lines += ["", "Changes to config.pbtxt:", "", *fenced(report.difference, "diff")]
    return lines


def _charts(charts: Sequence[Chart], drawings: Drawings, level: int = 2) -> Sequence[str]:
    """The section with the charts that could be drawn; nothing if there are none."""
    lines: list[str] = []
    for chart in charts:
        if chart.has_data and chart.key in drawings and drawings[chart.key].content is not None:
            title = chart.caption.partition(";")[0]
            lines += [f"![{escaped(title)}](<{chart.key}.svg>)", ""]
            lines += [escaped(chart.caption), ""]
    return _section("Charts", lines[:-1], level) if lines else []


def _map(grid: MapGrid) -> Sequence[str]:
    """A map as a table."""
    rows = tuple(
        (label, *("\n".join((cell.value, *cell.lines)) for cell in cells))
        for label, cells in grid.rows
    )
    corner = f"{grid.down} / {grid.across}" if grid.down else grid.across
    return markdown_table(Table(headers=(corner, *grid.columns), rows=rows))


def _parameters(importance: Importance) -> Iterator[str]:
    yield escaped(importance.method)
    yield ""
    rows = tuple(
        (row.name if index == 0 else "", bar.value, bar.best, bar.load, bar.measurements)
        for row in importance.rows
        for index, bar in enumerate(row.bars)
    )
    yield from markdown_table(
        Table(headers=("Parameter", "Value", "Best", "Load", "Measurements"), rows=rows)
    )


def _why(report: ExplainReport) -> Iterator[str]:
    yield escaped(f"{report.subject} {report.times}")
    yield ""
    if report.failure:
        yield from (escaped(report.failure), "")
    elif not report.findings:
        yield "Nothing unusual."
    for finding in report.findings:
        evidence = "; ".join(finding.evidence)
        cause = capitalized(finding.cause.value)
        yield f"1. **{escaped(cause)}**: {escaped(evidence)}. Advice: {escaped(finding.advice)}."
    for note in report.notes:
        yield from ("", escaped(note))


def _failures(report: Summary) -> Table:
    columns = 3 if report.has_hints else 2
    rows = (
        (trial_words(failed.trial), failed.failure.message, failed.failure.hint)
        for failed in report.failures
    )
    return Table(
        headers=("Trial", "What happened", "What to do")[:columns],
        rows=tuple(row[:columns] for row in rows),
    )


def render_detail(report: Detail, drawings: Drawings) -> str:
    """The detailed report of one variant. Charts are images beside it, named by their keys."""
    lines = [f"# Detailed report: {escaped(report.variant)}", "", escaped(report.sentence), ""]
    lines += _charts(report.charts, drawings)
    lines += _section("Measurements", markdown_table(report.table))
    if report.composing is not None:
        lines += _section(
            "Composing models at the best measurement", markdown_table(report.composing)
        )
    lines += _section("Configuration", fenced(report.configuration))
    if report.commands:
        lines += _section("Command of the best measurement", fenced(report.commands[0], "sh"))
    return _text([*lines, *_setup(report)])


def _section(title: str, lines: Iterable[str], level: int = 2) -> Sequence[str]:
    return [f"{'#' * level} {title}", "", *lines, ""]


def _setup(report: Page | Detail) -> Sequence[str]:
    table = Table(headers=("Item", "Value"), rows=tuple(setup_rows(report)))
    return _section("How it was measured", markdown_table(table))


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines).rstrip() + "\n"
