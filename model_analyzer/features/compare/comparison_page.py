# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of two checkpoints as a page: changes of configurations beside those of values,
and charts of the change of each common trial and of the fronts of both sides.

Compares two checkpoints and judges the changes by the rules of `--fail-on`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from model_analyzer.app.selection import goal_text, goals_of, measured_subjects, require_limits
from model_analyzer.config.goal_kinds import Tag
from model_analyzer.config.nodes import Node
from model_analyzer.domain.goals import Goal, GoalOverride
from model_analyzer.domain.hardware import WITHOUT_GPU, with_place
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.settings import PlotSettings
from model_analyzer.domain.trials import load_words
from model_analyzer.domain.words import number_text
from model_analyzer.errors import CheckpointError, wrong
from model_analyzer.features.compare.comparison_report import (
    ComparisonReport,
    Side,
    best_table,
    best_title,
    changes_table,
    comparison_remarks,
    result_text,
    rules_table,
    trials_table,
    trials_title,
)
from model_analyzer.features.compare.facts.comparison import (
    ComparedPair,
    ModelComparison,
    Rule,
    Status,
    compare,
    judge,
    verdict,
)
from model_analyzer.reports.front import Point, front_points, points_of, thinned
from model_analyzer.reports.html import charts_data, render_page
from model_analyzer.reports.images import Drawings, Images
from model_analyzer.reports.parameters import Axes, changes_between
from model_analyzer.reports.plots import (
    Chart,
    better_places,
    by_kind,
    limit_layers,
    plots_over_latency,
    vega_lite,
    x_axis,
    y_axis,
)
from model_analyzer.reports.tables import Table
from model_analyzer.results.change import Change, ChangeVerdict
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.find import LATEST
from model_analyzer.state.mismatch import checkpoint_differences

# A chart of changes shows this many trials. An interval is cut if it needs an axis that is this
# many times as long as the changes do.
_MOST_TRIALS = 40
_CUT = 3
_SHORTEST_AXIS = 10.0  # percent

_ROW = 22  # pixels
_FRONT_HEIGHT = 400
_LONGEST_LABEL = 300  # pixels
_SIDE_COLOURS = {"BASE": "#2480c4", "NEW": "#d55e00"}
_LOOKS = {  # colour and shape of each verdict
    ChangeVerdict.BETTER: ("#009e73", "triangle-up"),
    ChangeVerdict.WORSE: ("#d55e00", "triangle-down"),
    ChangeVerdict.SAME: ("#8a8a8a", "circle"),
    ChangeVerdict.UNKNOWN: ("#8a8a8a", "diamond"),
}
_QUANTITATIVE = "quantitative"


def comparison_charts(
    comparison: ModelComparison, base: Ranking, new: Ranking, folder: str
) -> Sequence[Chart]:
    """The charts of a comparison of these rankings. The `folder` distinguishes them from the charts
    of other comparisons on the same page.
    """
    changes = (_changes(comparison, tag, folder) for tag in comparison.tags)
    return [*filter(lambda chart: chart.has_data, changes), *_fronts(base, new, folder)]


def _changes(comparison: ModelComparison, tag: str, folder: str) -> Chart:
    """The change of a metric in each common trial: a dumbbell from BASE, at 0, to NEW."""
    metric = METRICS[tag]
    known = [pair for pair in comparison.trials if pair.changes[tag].percent is not None]
    shown = known[:_MOST_TRIALS]
    low, high, is_cut = _extent([pair.changes[tag] for pair in shown])
    points = [_dumbbell(pair, tag, place, low, high) for place, pair in enumerate(shown)]
    caption = (
        f"Change of {metric.name} in each common trial, from BASE (0 %) to NEW;"
        f" {metric.better.value} is better. Thin lines are 95 % intervals"
        + (", cut at the edge of the chart." if is_cut else ".")
    )
    if len(shown) < len(known):
        caption += f" {len(shown)} of {len(known)} trials: the largest regressions."
    x = {"type": _QUANTITATIVE, "scale": {"domain": [low, high], "nice": False}}
    title = f"Change of {metric.name} (%)"
    return Chart(
        name=f"change_of_{tag}",
        folder=folder,
        caption=caption,
        spec=vega_lite(points, _dumbbell_layers(x, title), height=_ROW * len(shown)),
    )


def _extent(changes: Sequence[Change]) -> tuple[float, float, bool]:
    """Both ends of the axis, and whether they cut an interval."""
    percents = [0.0, *(change.percent for change in changes if change.percent is not None)]
    intervals = [change.interval for change in changes if change.interval is not None]
    low, high = min(percents), max(percents)
    most = _CUT * max(high - low, _SHORTEST_AXIS)
    middle = (low + high) / 2
    lowest = min([low, *(interval.low for interval in intervals)])
    highest = max([high, *(interval.high for interval in intervals)])
    start, end = max(lowest, middle - most / 2), min(highest, middle + most / 2)
    margin = 0.03 * max(end - start, 1)
    return start - margin, end + margin, start > lowest or end < highest


def _dumbbell(pair: ComparedPair, tag: str, place: int, low: float, high: float) -> dict[str, Any]:
    change, metric = pair.changes[tag], METRICS[tag]
    interval = change.interval
    between = (
        ""
        if interval is None
        else f" (95 % interval {interval.low:+.1f} to {interval.high:+.1f} %)"
    )
    name, load = pair.new.trial.variants, load_words(pair.new.trial)
    values = [number_text(float(value)) for value in (change.base, change.new) if value is not None]
    return {
        "row": f"{place + 1}. {name} · {load}",
        "place": place,
        "start": 0,
        "percent": change.percent,
        "low": None if interval is None else max(low, interval.low),
        "high": None if interval is None else min(high, interval.high),
        "verdict": verdict(tag, change).value,
        "tip": [
            f"{name}, {load}",
            f"{metric.name}: {' → '.join(values)} {metric.unit}",
            f"{change.percent:+.1f} %{between}: {verdict(tag, change).value}",
        ],
    }


def _dumbbell_layers(x: dict[str, Any], title: str) -> list[dict[str, Any]]:
    y = {
        "field": "row",
        "type": "nominal",
        "sort": {"field": "place"},
        "axis": {"title": None, "grid": True, "labelLimit": _LONGEST_LABEL},
    }
    verdicts = [each.value for each in _LOOKS]
    colour, shape = (
        by_kind("verdict", verdicts, looks, columns=4)
        for looks in zip(*_LOOKS.values(), strict=True)
    )
    start = {"field": "start", **x, "axis": {"title": title, "tickCount": 10}}
    solid = {"type": "rule", "strokeDash": [1, 0]}
    return [
        {
            "transform": [{"filter": "isValid(datum.low)"}],
            "mark": {**solid, "strokeWidth": 1.5, "clip": True},
            "encoding": {
                "x": {"field": "low", **x},
                "x2": {"field": "high"},
                "y": y,
                "color": colour,
            },
        },
        {
            "mark": {**solid, "strokeWidth": 6, "opacity": 0.45},
            "encoding": {"x": start, "x2": {"field": "percent"}, "y": y, "color": colour},
        },
        {
            "mark": {"type": "point", "filled": False, "size": 45, "color": "#8a8a8a"},
            "encoding": {"x": start, "y": y},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {
                "x": {"field": "percent", **x},
                "y": y,
                "color": colour,
                "shape": shape,
            },
        },
    ]


def _fronts(base: Ranking, new: Ranking, folder: str) -> Iterator[Chart]:
    """All measurements of both sides in one chart, each with its Pareto front."""
    axes = Axes(base.goal, (*base.results, *new.results))
    for plot in plots_over_latency(axes):
        sides = {
            name: (ranking, points_of(ranking, plot) if ranking.results else ())
            for name, ranking in zip(_SIDE_COLOURS, (base, new), strict=True)
        }
        if not all(points for _, points in sides.values()):
            continue
        values = [
            value
            for name, (ranking, points) in sides.items()
            for value in _front_values(name, ranking, plot, points)
        ]
        over, up = (
            x_axis(plot.x_axis, [value["x"] for value in values], axes),
            y_axis(plot.y_axis, [value["y"] for value in values], axes),
        )
        limits = limit_layers(plot, axes)
        drawn = len([value for value in values if value["part"] == "point"])
        count = sum(len(points) for _, points in sides.values())
        yield Chart(
            name=f"fronts_of_{plot.name}",
            folder=folder,
            caption=f"{axes.title(plot.title)} of both sides; {better_places(plot, axes)}."
            " Bands join measurements that no other of the same side beats in both (Pareto front);"
            " rings mark the best of each side"
            + (", dashed lines are constraints." if limits else ".")
            + (f" {drawn} of {count} points are shown." if drawn < count else ""),
            spec=vega_lite(values, [*_front_layers(over, up), *limits], height=_FRONT_HEIGHT),
        )


def _front_values(
    name: str, ranking: Ranking, plot: PlotSettings, points: Sequence[Point]
) -> Iterator[dict[str, Any]]:
    front = front_points(ranking, plot, points)
    for part, chosen in (("front", front), ("point", thinned(points))):
        for row, x, y in chosen:
            item = ranking.measured[row]
            yield {
                "part": part,
                "side": name,
                "x": x,
                "y": y,
                "best": part == "point" and row == 0,  # never thinned out
                "tip": [
                    f"{name}: {item.trial.variants}",
                    load_words(item.trial),
                    f"{number_text(y)} at {number_text(x)}",
                ],
            }


def _front_layers(x: dict[str, Any], y: dict[str, Any]) -> list[dict[str, Any]]:
    looks = [*_SIDE_COLOURS.values()], ["circle", "square"]
    colour, shape = (by_kind("side", [*_SIDE_COLOURS], each) for each in looks)
    return [
        {
            "transform": [{"filter": "datum.part === 'front'"}],
            "mark": {
                "type": "line",
                "strokeWidth": 8,
                "opacity": 0.3,
                "strokeCap": "round",
                "strokeJoin": "round",
            },
            "encoding": {
                "x": x,
                "y": y,
                "color": colour,
                "order": {"field": "x", "type": _QUANTITATIVE},
            },
        },
        {
            "transform": [{"filter": "datum.part === 'point'"}],
            "mark": {"type": "point", "filled": True, "size": 45, "opacity": 0.75},
            "encoding": {"x": x, "y": y, "color": colour, "shape": shape},
        },
        {
            "transform": [{"filter": "datum.best"}],
            "mark": {"type": "point", "style": "ring"},
            "encoding": {"x": x, "y": y},
        },
    ]


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


def parse_rule(text: str) -> Rule:
    """A rule of --fail-on. Raises ConfigError where it is not one."""
    try:
        rule = Rule.parse(text)
    except ValueError as error:
        raise wrong("--fail-on", str(error)) from error
    return replace(rule, tag=Tag().parse(Node(rule.tag, "--fail-on")))


def parse_metrics(text: str) -> list[str]:
    """The metrics of --metrics. Raises ConfigError where there is no such metric."""
    return [Tag().parse(Node(tag.strip(), "--metrics")) for tag in text.split(",")]


def checkpoint_place(text: str, directory: Path) -> tuple[str, Path]:
    """Which checkpoint of which directory BASE or NEW is: a directory, DIR@WHICH, or WHICH in
    `directory`.
    """
    path, at, which = text.rpartition("@")
    if os.path.isdir(whole := os.path.expanduser(text)):
        return LATEST, Path(whole)
    if at and os.path.isdir(part := os.path.expanduser(path)):
        return which, Path(part)
    return text, directory


def comparison(
    base: tuple[str, Checkpoint],
    new: tuple[str, Checkpoint],
    asked: GoalOverride,
    tags: Sequence[str],
    rules: Sequence[Rule],
    *,
    strict: bool,
) -> ComparisonReport:
    """The changes from one checkpoint to the other; each comes with the name that the user gave.

    Both sides are ranked by the goal of the new one's run, with the parts that are `asked` for in
    place of its own. `rules` are the regressions to detect, and `tags` the metrics to compare
    beside those of the goal and of the rules. Each kind of hardware is compared with the same kind.
    Raises CheckpointError if the checkpoints have no model in common, and ConfigError for goodput
    without latency constraints.
    """
    tags = [*tags, *(rule.tag for rule in rules)]
    goals, remarks_on_goals = _goals(base[1], new[1], asked)
    for goal in goals.values():
        require_limits(goal, tags)
    base_rankings, new_rankings = (_rankings(checkpoint, goals) for _, checkpoint in (base, new))
    base_rankings = [ranking for ranking in base_rankings if ranking.results]
    pairs = [*_pairs(base_rankings, new_rankings)]
    if not pairs:
        raise CheckpointError(
            f"nothing to compare: {base[0]} has measurements of {_names(base_rankings)}, {new[0]}"
            f" has outcomes of {_names(new_rankings)}"
        )
    comparisons = [
        compare(of_base, of_new, [*of_base.goal.wishes_first(tags)]) for of_base, of_new in pairs
    ]
    trials = [
        (comparison.best.base.trial, comparison.best.new.trial)
        for comparison in comparisons
        if comparison.best is not None
    ]
    remarks = (
        ["BASE and NEW are the same checkpoint, so they show no change"]
        if base[1].holds_same_as(new[1])
        else [text for comparison in comparisons for text in comparison_remarks(comparison)]
    )
    remarks += remarks_on_goals
    remarks += _unmatched("BASE", base_rankings, {id(of_base) for of_base, _ in pairs})
    remarks += _unmatched("NEW", new_rankings, {id(of_new) for _, of_new in pairs})
    return ComparisonReport(
        base=_side(*base),
        new=_side(*new),
        differences=tuple(
            (difference.subject, difference.then, difference.now)
            for difference in checkpoint_differences(base[1], new[1], trials)
        ),
        remarks=tuple(remarks),
        comparisons=tuple(comparisons),
        rankings=tuple(pairs),
        judgements=tuple(
            judge(rule, comparison, strict=strict) for comparison in comparisons for rule in rules
        ),
    )


def page_of(report: ComparisonReport) -> tuple[str, Sequence[str]]:
    """The comparison as an HTML page, and remarks about images that are missing in it."""
    page = comparison_page(report)
    with Images() as images:
        drawings = images.svg(page.charts, "the comparison")
        return render_comparison(page, drawings), images.remarks()


def _pairs(base: Sequence[Ranking], new: Sequence[Ranking]) -> Iterator[tuple[Ranking, Ranking]]:
    """The rankings of the same model on the same kind of hardware. If each side has one kind, these
    may differ: then the difference is reported.
    """
    for of_base in base:
        for of_new in new:
            are_single = not of_base.hardware and not of_new.hardware
            if of_base.model == of_new.model and (are_single or of_base.kind == of_new.kind):
                yield of_base, of_new


def _unmatched(side: str, rankings: Iterable[Ranking], compared: Set[int]) -> Iterator[str]:
    unmatched = [ranking for ranking in rankings if id(ranking) not in compared]
    if unmatched:
        yield f"only in {side}, so not compared: {_names(unmatched)}"


def _goals(
    base: Checkpoint, new: Checkpoint, asked: GoalOverride
) -> tuple[Mapping[str, Goal], Sequence[str]]:
    """The goal of each measured model or group, and remarks on those that come from a run."""
    in_base, in_new = measured_subjects(base), measured_subjects(new)
    goals, remarks = goals_of(new, [*in_new], asked)
    others, more = goals_of(base, [name for name in in_base if name not in in_new], asked)
    both = [name for name in in_base if name in in_new]
    of_base, _ = goals_of(base, both, asked)
    differing = [
        f"{name} was measured with other goals in BASE:"
        f" {', '.join(map(goal_text, of_base[name].models))}"
        for name in both
        if of_base[name] != goals[name]
    ]
    return {**goals, **others}, [*remarks, *more, *differing]


def _rankings(checkpoint: Checkpoint, goals: Mapping[str, Goal]) -> Sequence[Ranking]:
    """The rankings of each measured model or group, one for each kind of hardware."""
    return [
        ranking
        for model in measured_subjects(checkpoint)
        for ranking in rank(checkpoint.profile, model, goals[model])
    ]


def _names(rankings: Iterable[Ranking]) -> str:
    return ", ".join(map(_name, rankings)) or "nothing"


def _name(ranking: Ranking) -> str:
    has_gpus = ranking.kind != WITHOUT_GPU
    return with_place(ranking.model, ranking.kind if has_gpus else ranking.hardware)


def _side(name: str, checkpoint: Checkpoint) -> Side:
    return Side(name=name, uuid=checkpoint.header.uuid, time=checkpoint.header.time)
