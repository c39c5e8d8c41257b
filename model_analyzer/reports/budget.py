# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a page needs to rank the measurements of a model again, at another limit of the latency.

The script `ranking.js` follows the rules of `results.ranking` and `noise.ties`. What those rules
derive from runs and configurations is computed here: costs, windows, the noise of rounds.
Values of metrics are those of the page's table. Cases in tests/golden/budget hold for both.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from heapq import nsmallest
from itertools import chain, groupby

from model_analyzer.domain.costs import EFFICIENCY
from model_analyzer.domain.goals import DEFAULT_OBJECTIVE, ModelGoal, Objective
from model_analyzer.domain.goodput import GOODPUT
from model_analyzer.domain.metrics import METRICS, Better, Unit, canonical, metric_of
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.noise.noise_model import NoiseModel
from model_analyzer.noise.pooling import in_rounds
from model_analyzer.noise.ties import cost, memory_steps, total_load
from model_analyzer.reports.axes import Axes
from model_analyzer.reports.plots import Chart, plots_over_latency
from model_analyzer.results.columns import reports_gpus
from model_analyzer.results.ranking import RANKING_RULES, Ranking, VariantResult

# Objectives that the reader can choose, besides that of the run.
_CHOICES = (DEFAULT_OBJECTIVE, "output_token_throughput", *EFFICIENCY)

# The noise of rounds takes time to compute. Of more measurements, only those are worth it that
# are among the best at some limit.
_MOST_WITH_NOISE = 2000

# A metric with its minimum and its maximum.
_Constraint = tuple[str, float | None, float | None]

# One number for each measurement; a single number if it is the same for all.
_Numbers = Sequence[float] | float


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectiveChoice:
    """A way to rank: `objectives` are pairs of metric and weight. `better` is 1 for each metric of
    which more is better, otherwise -1.
    """

    name: str
    unit: str
    objectives: tuple[tuple[str, float], ...]
    better: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherLimits:
    """The measurements of one model on one kind of hardware, to be ranked at other limits.

    `chart` is the key of the chart whose x axis is the metric `limit` (its y axis is `height`),
    `maximum` the limit of the run (None: no limit). `constraints` (metric, minimum, maximum) are
    the others. The first of the `choices` is that of the run. The rows of the page's table begin at
    `start`; `shown` are those in the table of the best configurations.

    Of each variant: `counts` has the number of rows, `contents` a number that is the same for equal
    configurations, `instances` its cost, `defaults` whether it is the default. Of each row: `loads`
    and `memory` (of GPUs, of the host) are costs as in `ties.cost`, `windows` has the spread of the
    windows as squares and degrees of freedom, `runs` the values of each metric of repeated rows,
    `errors` the standard error of each metric of rows in rounds, `usual` the usual error of a
    metric.
    """

    chart: str
    limit: str
    height: str
    name: str
    unit: str
    maximum: float | None
    constraints: tuple[_Constraint, ...]
    choices: tuple[ObjectiveChoice, ...]
    start: int
    shown: tuple[int, ...]
    counts: tuple[int, ...]
    contents: tuple[int, ...]
    instances: tuple[int, ...]
    defaults: tuple[bool, ...]
    loads: _Numbers
    memory: tuple[_Numbers, _Numbers]
    windows: tuple[_Numbers, _Numbers]
    runs: Mapping[int, Mapping[str, Sequence[float | None]]]
    errors: Mapping[str, Mapping[int, float | None]]
    usual: Mapping[str, float]


def budget_of(
    ranking: Ranking,
    charts: Sequence[Chart],
    shown: Sequence[VariantResult],
    *,
    start: int,
    always_gpus: bool,
) -> OtherLimits | None:
    """The data to rank again; None if no chart is over latency, or if the rules need more than the
    table of the page has: for several models, for metrics of GPUs that are not shown, and for
    goodput, which each limit changes.
    """
    axes = Axes(ranking.goal, ranking.results)
    drawn = {chart.name for chart in charts}
    plot = next((plot for plot in plots_over_latency(axes) if plot.name in drawn), None)
    if plot is None or ranking.is_across_models or len(ranking.goal.models) != 1:
        return None
    (goal,), items = ranking.goal.models, ranking.measured
    if GOODPUT in goal.tags:
        return None
    quantity = axes.quantity(plot.x_axis)
    on_limit = [each for each in goal.constraints if canonical(each.tag) == quantity.tag]
    choices = _choices(goal, ranking)
    tags = {quantity.tag, *goal.tags, *(tag for each in choices for tag, _ in each.objectives)}
    are_shown = [reports_gpus(item, always=always_gpus) for item in items]
    if any(tag.startswith("gpu_") for tag in tags) and not all(are_shown):
        return None
    upper = [each.maximum for each in on_limit if each.maximum is not None]
    memory = [memory_steps(item.measurement) for item in items]
    best_costs = [cost(each.best.trial, each.best.measurement) for each in ranking.results]
    contents = {each.best.trial.content: None for each in ranking.results}
    numbers = {content: number for number, content in enumerate(contents)}
    places = {id(item): place for place, item in enumerate(items)}
    metric = METRICS[quantity.tag]
    others = tuple(
        (canonical(each.tag), each.minimum, None if each in on_limit else each.maximum)
        for each in goal.constraints
        if each not in on_limit or each.minimum is not None
    )
    return OtherLimits(
        chart=next(chart.key for chart in charts if chart.name == plot.name),
        limit=quantity.tag,
        height=axes.quantity(plot.y_axis).tag,
        name=quantity.name,
        unit=str(metric.unit),
        maximum=min(upper, default=None),
        constraints=others,
        choices=choices,
        start=start,
        shown=tuple(places[id(result.best)] for result in shown),
        counts=tuple(len(result.measured) for result in ranking.results),
        contents=tuple(numbers[each.best.trial.content] for each in ranking.results),
        instances=tuple(int(each[2]) for each in best_costs),
        defaults=tuple(result.is_default for result in ranking.results),
        loads=_compact([total_load(item.trial) for item in items]),
        memory=(_compact([gpu for gpu, _ in memory]), _compact([host for _, host in memory])),
        windows=_windows(ranking),
        runs=_repeated(items, tags),
        errors=_errors(ranking, tags, quantity.tag, others),
        usual={tag: NoiseModel(()).expected_deviation(tag).error for tag in sorted(tags)},
    )


def _choices(goal: ModelGoal, ranking: Ranking) -> tuple[ObjectiveChoice, ...]:
    """The objectives of the run, and single metrics that were measured."""
    own = [each for each in goal.objectives if each.weight > 0] or list(goal.objectives)
    others = [
        [Objective(tag=tag)]
        for tag in _CHOICES
        if tag in ranking.columns.tags and [canonical(each.tag) for each in own] != [tag]
    ]
    return tuple(_choice(each, ranking.currency) for each in (own, *others))


def _choice(objectives: Sequence[Objective], currency: str) -> ObjectiveChoice:
    metrics = [metric_of(each.tag) for each in objectives]
    unit = str(metrics[0].unit) if len(metrics) == 1 else ""
    return ObjectiveChoice(
        name=", ".join(metric.name for metric in metrics),
        unit=currency if metrics[0].unit is Unit.CURRENCY else unit,
        objectives=tuple(
            (metric.tag, each.weight) for metric, each in zip(metrics, objectives, strict=True)
        ),
        better=tuple(1 if metric.better is Better.HIGHER else -1 for metric in metrics),
    )


def _compact(numbers: Sequence[float]) -> _Numbers:
    return numbers[0] if len(set(numbers)) == 1 else numbers


def _windows(ranking: Ranking) -> tuple[_Numbers, _Numbers]:
    """The spread of the windows of each row, as squares and degrees of freedom; 0 if unknown."""
    squares, freedoms = [], []
    for item in ranking.measured:
        noise = None
        if not in_rounds(item.runs):
            noise = ranking.noise_model.between_windows(item.runs, 0)
        squares.append(0.0 if noise is None else _rounded(noise.error**2 * noise.freedom))
        freedoms.append(0.0 if noise is None else noise.freedom)
    return _compact(squares), _compact(freedoms)


def _rounded(number: float) -> float:
    return float(f"{number:.7g}")


def _repeated(
    items: Sequence[MeasuredTrial], tags: set[str]
) -> Mapping[int, Mapping[str, Sequence[float | None]]]:
    return {
        row: {tag: [run.value(tag) for run in item.runs] for tag in sorted(tags)}
        for row, item in enumerate(items)
        if len(item.runs) > 1
    }


def _errors(
    ranking: Ranking, tags: set[str], limit: str, constraints: Sequence[_Constraint]
) -> Mapping[str, Mapping[int, float | None]]:
    rows = [row for row, item in enumerate(ranking.measured) if in_rounds(item.runs)]
    if len(rows) > _MOST_WITH_NOISE:
        leading = _leading(ranking, limit, constraints)
        rows = [row for row in rows if row in leading]
    errors: dict[str, dict[int, float | None]] = {}
    for tag in sorted(tags):
        errors[tag] = {}
        for row in rows:
            noise = ranking.noise_model.of(ranking.measured[row].runs, tag)
            errors[tag][row] = None if noise is None else _rounded(noise.error)
    return errors


def _leading(ranking: Ranking, limit: str, constraints: Sequence[_Constraint]) -> Collection[int]:
    """The rows that are among the best at some limit of the latency; if too many, the first of
    each limit.
    """
    tag = canonical(ranking.goal.models[0].objectives[0].tag)
    sign = 1 if METRICS[tag].better is Better.HIGHER else -1
    values, over = ranking.columns.of(tag), ranking.columns.of(limit)
    rows = [row for row, value in enumerate(values) if value is not None]
    for other, minimum, maximum in constraints:
        low = -math.inf if minimum is None else minimum
        high = math.inf if maximum is None else maximum
        bounded = ranking.columns.of(other)
        # an unknown value cannot be checked
        rows = [row for row in rows if (value := bounded[row]) is None or low <= value <= high]
    # the handle of the limit has steps of three digits
    steps = {row: float(f"{over[row] or 0.0:.3g}") for row in rows}
    best: list[tuple[float, int]] = []
    places: list[tuple[int, int]] = []
    for _, group in groupby(sorted(rows, key=steps.__getitem__), key=steps.__getitem__):
        new = [(-sign * (values[row] or 0.0), row) for row in group]
        best = nsmallest(RANKING_RULES["CLOSEST"], chain(best, new))
        is_new = set(new)
        places += [(place, each[1]) for place, each in enumerate(best) if each in is_new]
    return {row for _, row in sorted(places)[:_MOST_WITH_NOISE]}
