# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The overview of many models as a page: one row for each model on each kind of hardware."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType

from model_analyzer.domain.costs import COSTS
from model_analyzer.domain.goals import Constraint
from model_analyzer.domain.metrics import METRICS, metric_of
from model_analyzer.domain.models import ModelVariant
from model_analyzer.domain.trials import load_words
from model_analyzer.domain.words import counted, limit_text, number_text
from model_analyzer.reports.front import Point, first_points, front_points
from model_analyzer.reports.headline import (
    compared_at,
    gain_text,
    limits_of,
    settings_text,
    unit_text,
)
from model_analyzer.reports.html import render_page
from model_analyzer.reports.parameters import Axes, swept_text
from model_analyzer.reports.plots import evenly, is_higher_better
from model_analyzer.reports.remarks import UNFINISHED, certainty_text, is_unfinished, is_unsure
from model_analyzer.results.answer import Answer, AnswerVerdict, ModelAnswer, is_low
from model_analyzer.results.columns import instances_text
from model_analyzer.results.ranking import Ranking

_SCRIPTS = ("dom.js", "theme.js", "ordering.js", "fleet.js")

# With more rows, the page has small text, so that 50 models fit on a screen.
_MOST_ROOMY = 20

_VERDICTS: Mapping[AnswerVerdict, tuple[str, str]] = MappingProxyType(
    {
        AnswerVerdict.RECOMMENDED: ("recommended", "met"),
        AnswerVerdict.EQUAL: ("no clear gain", ""),
        AnswerVerdict.KEEP: ("keep the default", ""),
        AnswerVerdict.NEAREST: ("limits missed", "missed"),
        AnswerVerdict.NOTHING: ("not measured", "missed"),
    }
)

# The styles of answers that a person has to look at, the most urgent first.
_URGENT = ("missed", "unchecked")


# The size of a picture of all measurements, without its margins, in its own units.
WIDTH = 140
HEIGHT = 24

_MOST_POINTS = 60
_MOST_ON_FRONT = 40

# The axis of latencies is logarithmic, from at least this value on.
_LEAST_MS = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Sparkline:
    """Dots, the line of the Pareto front, and the best, as places in the picture (x, y from the
    upper left corner); the x of the latency limit, if it is in the picture; `label` says the same
    in words.
    """

    dots: tuple[tuple[float, float], ...]
    front: tuple[tuple[float, float], ...]
    best: tuple[float, float] | None
    limit: float | None
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetModel:
    """A model with its `answer` on each kind of hardware, and a relative `link` to its page.
    `source` is the directory of its checkpoint, "" if all models are from the same. The search of
    an incomplete run did not finish.
    """

    answer: ModelAnswer
    link: str
    source: str = ""
    is_complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCell:
    """A cell: its `text`, the number to sort by (None: the text), more text in a `title`, and
    whether it is good or bad: a class of the style sheet, or "".
    """

    text: str
    value: float | None = None
    title: str = ""
    style: str = ""


_EMPTY = FleetCell(text="")


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetRow:
    """A model on one kind of hardware; `spark` is None if nothing was measured."""

    link: str
    cells: tuple[FleetCell, ...]
    spark: Sparkline | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetColumn:
    """A column; the `key` names it in the address of the page. The `unit` may be words."""

    key: str
    name: str
    unit: str = ""
    is_number: bool = False
    is_long: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPage:
    """The whole content of the page; `remarks` are about what it does not show."""

    sentence: str
    columns: tuple[FleetColumn, ...]
    rows: tuple[FleetRow, ...]
    remarks: tuple[str, ...]
    written: str
    tool: str

    @property
    def is_compact(self) -> bool:
        return len(self.rows) > _MOST_ROOMY


def fleet_page(
    models: Sequence[FleetModel], *, written: str, tool: str, remarks: Sequence[str] = ()
) -> FleetPage:
    """The page of these models, those first that need a person; `written` is the time, by which
    `tool`.
    """
    rows = sorted(
        ((model, answer) for model in models for answer in model.answer.answers), key=_urgency
    )
    columns = [
        (column, [cell(model, answer) for model, answer in rows])
        for column, cell in _columns([answer.ranking for _, answer in rows])
    ]
    of_goal = [cell.value for column, cells in columns if column.key == _GOAL for cell in cells]
    shown = [
        (column, cells)
        for column, cells in columns
        if column.key not in _OPTIONAL or any(cell.text for cell in cells)
        if column.key not in _REPEATED or [cell.value for cell in cells] != of_goal
    ]
    return FleetPage(
        sentence=_sentence(rows),
        columns=tuple(column for column, _ in shown),
        rows=tuple(
            FleetRow(
                link=model.link,
                cells=tuple(cells[place] for _, cells in shown),
                spark=sparkline(answer.ranking),
            )
            for place, (model, answer) in enumerate(rows)
        ),
        remarks=tuple(remarks),
        written=written,
        tool=tool,
    )


def render_fleet(page: FleetPage) -> str:
    """The page as HTML."""
    return render_page("fleet.html.j2", _SCRIPTS, has_charts=False, page=page)


def _urgency(row: tuple[FleetModel, Answer]) -> tuple[int, Sequence[tuple[int, str]]]:
    """A sort key: how much a model needs a person, then its name, with numbers by size."""
    model, answer = row
    _, style = _state(model, answer)
    parts = re.split(r"(\d+)", model.answer.model)
    name = [(int(part), "") if part.isdecimal() else (-1, part) for part in parts]
    return _URGENT.index(style) if style in _URGENT else len(_URGENT), name


def _sentence(rows: Sequence[tuple[FleetModel, Answer]]) -> str:
    """How many models there are, and how many have which answer."""
    models = len({id(model) for model, _ in rows})
    of_kinds = f" in {len(rows)} rows, by hardware" if len(rows) > models else ""
    counts = Counter(_state(model, answer)[0] for model, answer in rows)
    parts = ", ".join(f"{count} {state}" for state, count in counts.most_common())
    return f"{counted(models, 'model')}{of_kinds}: {parts}." if rows else "No model."


_Cell = Callable[[FleetModel, Answer], FleetCell]

# These columns are shown if any model has a value.
_OPTIONAL = frozenset({"hardware", "checkpoint", "tokens", "first-token", "certainty", "cost"})


# These are left out if they repeat the column of the goal.
_GOAL = "goal"
_REPEATED = frozenset({"throughput", "latency", "tokens", "first-token", "cost"})


def _columns(rankings: Sequence[Ranking]) -> Iterator[tuple[FleetColumn, _Cell]]:
    yield _text("model", "Model"), lambda model, _: FleetCell(text=model.answer.model)
    yield _text("hardware", "Hardware"), lambda _, answer: FleetCell(text=answer.ranking.hardware)
    yield _text("checkpoint", "Checkpoint"), lambda model, _: FleetCell(text=model.source)
    yield _text("answer", "Answer"), _answer
    yield from _goal_column(rankings)
    yield _number("throughput", "Throughput", "infer/sec"), _metric_cell("perf_throughput")
    yield _number("latency", "Latency", "ms"), _latency
    yield _number("tokens", "Tokens", "per sec"), _metric_cell("output_token_throughput")
    yield _number("first-token", "First token", "p99, ms"), _metric_cell("time_to_first_token_p99")
    yield _number("gain", "Gain", "% over default"), _gain
    yield _text("limits", "Limits", is_long=True), _limits
    yield _text("configuration", "Configuration", is_long=True), _settings
    yield _text("load", "Load", is_long=True), _load
    yield _number("certainty", "Certainty", "%"), _certainty
    yield _number("cost", "Cost", "per million"), _cost


def _text(key: str, name: str, *, is_long: bool = False) -> FleetColumn:
    return FleetColumn(key=key, name=name, is_long=is_long)


def _number(key: str, name: str, unit: str) -> FleetColumn:
    return FleetColumn(key=key, name=name, unit=unit, is_number=True)


def _state(model: FleetModel, answer: Answer) -> tuple[str, str]:
    """The answer in a few words, and its style."""
    text, style = _VERDICTS[answer.verdict]
    if is_unsure(answer, complete=model.is_complete) and answer.is_met:
        return "uncertain", "unchecked"
    return text, style


def _answer(model: FleetModel, answer: Answer) -> FleetCell:
    text, style = _state(model, answer)
    return FleetCell(text=text, style=style)


def _settings(model: FleetModel, answer: Answer) -> FleetCell:
    best = answer.best
    if best is None:
        return _EMPTY
    short = map(partial(_short, gpus=best.best.trial.gpus), best.variants)
    swept = [text for text in [swept_text(answer.ranking)] if text]
    return FleetCell(
        text=", ".join(("; ".join(short), *swept)),
        title=f"{best.name}: {', '.join((settings_text(best), *swept))}",
    )


def _short(variant: ModelVariant, gpus: int) -> str:
    """The main settings of a variant: `2:GPU, max batch 8, dynamic` (batching)."""
    parts = [instances_text(variant, gpus=gpus)]
    if variant.max_batch_size:
        parts.append(f"max batch {variant.max_batch_size}")
    if variant.has_dynamic_batching:
        parts.append("dynamic")
    return ", ".join(parts)


def _load(model: FleetModel, answer: Answer) -> FleetCell:
    best = answer.best
    text = "" if best is None else load_words(best.best.trial)
    return FleetCell(text=text, title=text)


def _goal_column(rankings: Sequence[Ranking]) -> Iterator[tuple[FleetColumn, _Cell]]:
    """What the models are judged by, unless that is the throughput of all."""
    wishes = {ranking.goal.wishes[0] for ranking in rankings}
    if all(ranking.goal.is_for_throughput for ranking in rankings):
        return
    if len(wishes) > 1:
        yield _number(_GOAL, "Goal", "of each model"), _wish
        return
    metric = METRICS[wishes.pop()]
    unit = unit_text(metric.tag, rankings[0].currency)
    yield _number(_GOAL, metric.name, unit), _metric_cell(metric.tag)


def _wish(model: FleetModel, answer: Answer) -> FleetCell:
    """The metric that a model is judged by first, with its name."""
    tag = answer.ranking.goal.wishes[0]
    cell, name = _metric(answer, tag), METRICS[tag].name
    unit = unit_text(tag, answer.ranking.currency)
    return replace(cell, text=f"{name} {cell.text} {unit}") if cell.text else cell


def _latency(model: FleetModel, answer: Answer) -> FleetCell:
    """The constrained latency, or else p99."""
    best = answer.best
    if best is None:
        return _EMPTY
    quantity = Axes(answer.ranking.goal, [best]).quantity("perf_latency_p99")
    value = quantity.value(best.best.measurement)
    if value is None:
        return _EMPTY
    short = quantity.name.replace(" Latency", "")
    return FleetCell(
        text=f"{short} {number_text(value)}",
        value=value,
        title=quantity.name,
    )


def _cost(model: FleetModel, answer: Answer) -> FleetCell:
    """The first of the costs that is known, with its currency."""
    cells = ((tag, _metric(answer, tag)) for tag in COSTS)
    for tag, cell in cells:
        if cell.text:
            return replace(cell, text=f"{cell.text} {unit_text(tag, answer.ranking.currency)}")
    return _EMPTY


def _metric_cell(tag: str) -> _Cell:
    return lambda _, answer: _metric(answer, tag)


def _metric(answer: Answer, tag: str) -> FleetCell:
    """A metric of the recommendation."""
    best = answer.best
    value = None if best is None else best.best.measurement.value(tag)
    if value is None:
        return _EMPTY
    unit = unit_text(tag, answer.ranking.currency)
    return FleetCell(
        text=number_text(value),
        value=value,
        title=f"{METRICS[tag].name}: {value:.6g} {unit}",
    )


def _gain(model: FleetModel, answer: Answer) -> FleetCell:
    """The gain over the default; none where the default itself is the answer."""
    gain = answer.gain
    if gain is None or not answer.is_met or answer.verdict is AnswerVerdict.KEEP:
        return _EMPTY
    default = answer.ranking.default
    fails = default is not None and not default.passes
    notes = "the default configuration misses the limits" if fails else "", compared_at(gain)
    return FleetCell(
        text=gain_text(gain, sign="+"),
        value=gain.percent,
        title=", ".join(filter(None, notes)),
        style="met" if gain.is_clear else "",
    )


def _limits(model: FleetModel, answer: Answer) -> FleetCell:
    """Whether the limits are met; if not, by how much the worst is missed."""
    limits = limits_of(answer)
    if not limits:
        return FleetCell(text="" if answer.best is None else "no limits")
    title = "; ".join(f"{limit.constraint} ({limit.value})" for limit in limits)
    missed = [limit for limit in limits if limit.missed_by != 0]
    if not missed:
        bounds = (bound for model in answer.ranking.goal.models for bound in model.constraints)
        text, compliance = ", ".join(map(_bound, bounds)), answer.compliance
        if compliance is not None and compliance.is_doubtful:
            count = counted(len(compliance.measurements), "measurement")
            title = f"{title}; met in {compliance.times_met} of {count}"
            return FleetCell(text=f"? {text}", title=title, style="unchecked")
        return FleetCell(text=f"✓ {text}", title=title, style="met")
    excesses = [limit.missed_by for limit in missed if limit.missed_by is not None]
    if not excesses:
        return FleetCell(text="? not measured", title=title, style="unchecked")
    return FleetCell(
        text=f"✗ missed by {max(excesses):.0f} %{_would_be_met(answer)}",
        value=max(excesses),
        title=title,
        style="missed",
    )


def _would_be_met(answer: Answer) -> str:
    """The upper limit that the nearest configuration would meet; "" if it misses others, too."""
    best, models = answer.best, answer.ranking.goal.models
    if best is None or len(models) != 1:
        return ""
    missed = [
        (bound, value)
        for bound in models[0].constraints
        if (value := best.best.measurement.value(bound.tag)) is None or bound.excess(value) > 0
    ]
    match missed:
        case [(Constraint(maximum=float() | int() as most) as bound, float() | int() as value)] if (
            value > most
        ):
            limit = limit_text(_rounded_up(value))
            return f": a limit of {limit} {metric_of(bound.tag).unit} would be met by {best.name}"
    return ""


def _rounded_up(value: float) -> float:
    """With two digits, or all of its whole part."""
    step = 10.0 ** min(0, math.floor(math.log10(value)) - 1) if value > 0 else 1.0
    return math.ceil(value / step) * step


def _bound(constraint: Constraint) -> str:
    """A constraint in short: `p99 ≤ 20 ms`."""
    metric = metric_of(constraint.tag)
    limits = ((constraint.minimum, "≥"), (constraint.maximum, "≤"))
    signs = " and ".join(
        f"{sign} {limit_text(limit)}" for limit, sign in limits if limit is not None
    )
    return f"{metric.name.replace(' Latency', '')} {signs} {metric.unit}"


def _certainty(model: FleetModel, answer: Answer) -> FleetCell:
    """The chance that the search missed nothing clearly better, if it estimates one."""
    conclusion = answer.conclusion
    if conclusion is not None:
        sure = 1 - conclusion.chance
        percent = min(99, max(1, round(100 * sure)))
        sign = ">" if sure > 0.99 else "<" if sure < 0.01 else ""
        return FleetCell(
            text=f"{sign}{percent}",
            value=sure,
            title=certainty_text(answer),
            style="unchecked" if is_low(conclusion) else "",
        )
    if is_unfinished(answer, complete=model.is_complete):
        return FleetCell(text="unfinished", title=UNFINISHED, style="unchecked")
    return _EMPTY


def sparkline(ranking: Ranking) -> Sparkline | None:
    """The picture of a ranking; None without a measurement that has both metrics."""
    plot, points = first_points(ranking)
    if not points:
        return None
    latencies, heights = [x for _, x, _ in points], [y for _, _, y in points]
    low, high = (math.log(max(bound, _LEAST_MS)) for bound in (min(latencies), max(latencies)))
    top = max(heights) or 1.0

    def share(latency: float) -> float:
        at = math.log(max(latency, _LEAST_MS))
        return (at - low) / (high - low) if high > low else 0.5

    def place(point: Point) -> tuple[float, float]:
        _, latency, height = point
        return round(WIDTH * share(latency), 1), round(HEIGHT * (1 - height / top), 1)

    axes = Axes(ranking.goal, ranking.results)
    over, up = axes.quantity(plot.x_axis), axes.quantity(plot.y_axis)
    limits = [limit for limit, sign in axes.limits(over) if sign == "≤"]
    bound = f"up to {number_text(max(heights))}"
    if not is_higher_better(plot, axes):
        bound = f"down to {number_text(min(heights))}"
    inside = [limit for limit in limits if min(latencies) <= limit <= max(latencies)]
    # the first of a ranking is its best
    best = next((place(point) for point in points if point[0] == 0), None)
    return Sparkline(
        dots=tuple(map(place, evenly(points, _MOST_POINTS))),
        front=tuple(map(place, evenly(front_points(ranking, plot, points), _MOST_ON_FRONT))),
        best=best,
        limit=round(WIDTH * share(min(inside)), 1) if inside else None,
        label=(
            f"{METRICS[up.tag].name} over latency of {counted(len(points), 'measurement')}:"
            f" {bound} {unit_text(up.tag, ranking.currency)}, latencies from"
            f" {number_text(min(latencies))} to {number_text(max(latencies))} ms"
        ),
    )
