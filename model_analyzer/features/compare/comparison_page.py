# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of two checkpoints as a page: changes of configurations beside those of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from model_analyzer.features.compare.comparison_charts import comparison_charts
from model_analyzer.features.compare.comparison_report import (
    ComparisonReport,
    best_table,
    best_title,
    changes_table,
    result_text,
    rules_table,
    trials_table,
    trials_title,
)
from model_analyzer.features.compare.facts.comparison import ModelComparison, verdict
from model_analyzer.features.compare.facts.gate import Status
from model_analyzer.reports.changes import changes_between
from model_analyzer.reports.html import charts_data, render_page
from model_analyzer.reports.images import Drawings
from model_analyzer.reports.plots import Chart
from model_analyzer.reports.tables import Table
from model_analyzer.results.change import ChangeVerdict
from model_analyzer.results.ranking import Ranking

_SCRIPTS = (
    "dom.js",
    "theme.js",
    "tip.js",
    "charts.js",
    "ordering.js",
    "sortable.js",
    "comparison.js",
)

# A longer table of trials is folded: the charts above it show the same.
_MOST_OPEN = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedModel:
    """The comparison of a model on one kind of hardware, as shown. `changes` (name, value in BASE,
    value in NEW) are those from the best configuration and load of BASE to those of NEW.
    """

    name: str
    title: str
    changes: tuple[tuple[str, str, str], ...]
    best: Table
    trials_title: str
    trials: Table
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPage:
    """The whole content of the page. `state` is good, bad or open: the result of the rules, and
    open without rules. `overview` has a row for each model, None for a single one.
    """

    report: ComparisonReport
    state: str
    result: str
    rules: Table | None
    overview: Table | None
    models: tuple[ComparedModel, ...]

    @property
    def charts(self) -> tuple[Chart, ...]:
        return tuple(chart for model in self.models for chart in model.charts)


def comparison_page(report: ComparisonReport) -> ComparisonPage:
    """The page of a comparison."""
    state, result = _result(report)
    comparisons = report.comparisons
    return ComparisonPage(
        report=report,
        state=state,
        result=result,
        rules=rules_table(report) if report.judgements else None,
        overview=_overview(comparisons) if len(comparisons) > 1 else None,
        models=tuple(
            _model(comparison, *rankings, f"model-{place}")
            for place, (comparison, rankings) in enumerate(
                zip(comparisons, report.rankings, strict=True), start=1
            )
        ),
    )


def render_comparison(page: ComparisonPage, drawings: Drawings) -> str:
    """The page as HTML."""
    return render_page(
        "comparison.html.j2",
        _SCRIPTS,
        page=page,
        drawings=drawings,
        most_open=_MOST_OPEN,
        charts=charts_data(page.charts),
    )


def _result(report: ComparisonReport) -> tuple[str, str]:
    if report.wrong_outputs or report.judgements:
        is_certain = all(each.status is Status.PASSED for each in report.judgements)
        state = "bad" if report.is_regression else "good" if is_certain else "open"
        return state, result_text(report)
    worse = [comparison.name for comparison in report.comparisons if _is_worse(comparison)]
    if worse:
        return "open", f"No rules were checked; worse: {', '.join(worse)}"
    return "open", "No rules were checked; nothing is clearly worse"


def _is_worse(comparison: ModelComparison) -> bool:
    """Whether a change of the best, or of all common trials, is for the worse."""
    best = comparison.best
    if best is None:
        return True
    parts = (best.changes, comparison.overall) if comparison.trials else (best.changes,)
    return any(
        verdict(tag, changes[tag]) is ChangeVerdict.WORSE
        for changes in parts
        for tag in comparison.tags
    )


def _overview(comparisons: Sequence[ModelComparison]) -> Table:
    """A row for each model: the change of its best, by metric."""
    rows = (
        ((each.name,), None if each.best is None else each.best.changes) for each in comparisons
    )
    return changes_table(("Model",), comparisons[0].tags, rows)


def _model(comparison: ModelComparison, base: Ranking, new: Ranking, folder: str) -> ComparedModel:
    best = comparison.best
    return ComparedModel(
        name=comparison.name,
        title=best_title(comparison),
        changes=() if best is None else tuple(changes_between(best.base, best.new)),
        best=best_table(comparison),
        trials_title=trials_title(comparison),
        trials=trials_table(comparison),
        charts=tuple(comparison_charts(comparison, base, new, folder)),
    )
