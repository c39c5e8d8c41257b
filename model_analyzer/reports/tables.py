# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Tables: headers and rows, independent of the output format."""

from __future__ import annotations

import csv
import io
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple, TextIO, TypeVar

from model_analyzer.domain.costs import COSTS, EFFICIENCY
from model_analyzer.domain.goals import Goal, are_met
from model_analyzer.domain.measurements import Values
from model_analyzer.domain.metrics import METRICS, Source, canonical
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.trials import LoadKind, Workload, load_words
from model_analyzer.domain.words import decimals_of, number_text, percent_text
from model_analyzer.noise.response_cache import HIT_RATE
from model_analyzer.reports.headline import gain_text, times_text
from model_analyzer.reports.parameters import Axes, swept_values, token_tags
from model_analyzer.results.answer import Answer, AnswerVerdict
from model_analyzer.results.columns import (
    BATCH_SIZE,
    CONFIGURATION_PATH,
    INSTANCE_GROUP,
    LOADS,
    MAX_BATCH_SIZE,
    NAME,
    REQUESTS,
    SETTINGS,
    Cell,
    Column,
    Mark,
    backend_parameter,
    data_text,
    joined,
    metric_column,
    metric_of_each,
    metric_over_all,
    reports_gpus,
    with_data,
)
from model_analyzer.results.ranking import Ranking, VariantResult

log = logging.getLogger(__name__)

Subject = TypeVar("Subject")

# A spreadsheet computes what begins with one of these, also in full width (for East Asian users).
_FORMULAS = (
    "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Headers and rows; every row has one cell for each header. `marks` of cells are by (row,
    column), counted from 0. `decimals` are those of columns with more cells than these rows, by
    column. A narrow terminal may do without the `dispensable` columns, the first ones first.
    """

    headers: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    marks: Mapping[tuple[int, int], Mark] = field(default_factory=lambda: MappingProxyType({}))
    decimals: Mapping[int, int] = field(default_factory=lambda: MappingProxyType({}))
    dispensable: tuple[int, ...] = ()

    def texts(self) -> Sequence[Sequence[str | None]]:
        """The cells as text for people: each column of numbers with one precision."""
        columns = [
            _texts([row[place] for row in self.rows], self.decimals.get(place))
            for place in range(len(self.headers))
        ]
        return list(zip(*columns, strict=True))

    def to_csv(self) -> str:
        """CSV with a header line, and an empty line at the end. People open it in spreadsheets: no
        text is a formula.
        """
        text = io.StringIO()
        writer = csv.writer(UnixLines(text))
        for row in (self.headers, *self.rows):
            writer.writerow(
                as_text(cell) if isinstance(cell, str) else data_text(cell) for cell in row
            )
        return text.getvalue() + "\n"


class UnixLines:
    """A file for a csv writer with the line terminator `\\r\\n`: only then does it quote a carriage
    return in a cell. Here, lines end with `\\n`.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, line: str) -> int:
        return self._file.write(line.removesuffix("\r\n") + "\n")


def as_text(cell: str) -> str:
    """A text that no spreadsheet computes: one that looks like a formula has an apostrophe before
    it, which spreadsheets know as the mark of a text.
    """
    return f"'{cell}" if cell.startswith(_FORMULAS) else cell


def decimals_of_column(cells: Iterable[Cell]) -> int:
    """The decimals of the numbers in a column; 0 if it has whole numbers only."""
    return decimals_of(cell for cell in cells if isinstance(cell, float))


def _texts(cells: Sequence[Cell], decimals: int | None) -> Sequence[str | None]:
    """The cells of a column as text, by default with the decimals that these cells need."""
    decimals = decimals_of_column(cells) if decimals is None else decimals
    return [
        cell if cell is None or isinstance(cell, str) else number_text(cell, decimals)
        for cell in cells
    ]


def table_of(columns: Sequence[Column[Subject]], subjects: Sequence[Subject]) -> Table:
    """A table with a row for each subject."""
    marks = {
        (row, place): mark
        for place, column in enumerate(columns)
        if column.mark is not None
        for row, subject in enumerate(subjects)
        if (mark := column.mark(subject)) is not None
    }
    return Table(
        headers=tuple(column.header for column in columns),
        rows=tuple(tuple(column.value(subject) for column in columns) for subject in subjects),
        marks=MappingProxyType(marks),
    )


def pairs_table(values: Mapping[str, object]) -> Table:
    """Names and values."""
    rows = tuple((name, str(value)) for name, value in values.items())
    return Table(headers=("Name", "Value"), rows=rows)


# ----------------------------------------------------------------- tables whose fields are options


_HARDWARE = "hardware"


class _Line(NamedTuple):
    """The subject of a row: a measured trial in its ranking, and one of its GPUs."""

    item: MeasuredTrial
    ranking: Ranking
    uuid: str = ""


def inference_table(rankings: Sequence[Ranking], fields: Sequence[str]) -> Table:
    """One row for each measurement, by model and best first. `fields` name the columns; columns
    without data are left out with a warning.
    """
    lines = _lines(rankings)
    fields = _with_hardware(fields, rankings)
    parameters = [name for name in fields if name.startswith("backend_parameter/")]
    sparse = _by_key(backend_parameter(name).adapted(_item) for name in parameters)

    def metric(tag: str) -> Column[_Line]:
        return metric_of_each(tag).adapted(_item)

    return _table("Inference", _with_loads(fields, lines), lines, _columns(), metric, sparse)


def gpu_table(rankings: Sequence[Ranking], fields: Sequence[str], *, always: bool) -> Table:
    """One row for each measurement and GPU, in the order of the inference table. CPU-only variants
    have no rows, unless `always`.
    """
    lines = [
        line._replace(uuid=uuid)
        for line in _lines(rankings)
        if reports_gpus(line.item, always=always)
        for uuid in line.item.measurement.gpus
    ]
    fields = _with_hardware(fields, rankings)
    uuids: Column[_Line] = Column(key="gpu_uuid", name="GPU UUID", value=lambda line: line.uuid)

    def metric(tag: str) -> Column[_Line]:
        return metric_column(tag, lambda line: line.item.measurement.gpus[line.uuid].get(tag))

    columns = {**_columns(), uuids.key: uuids}
    return _table("GPU", _with_loads(fields, lines), lines, columns, metric)


def server_table(server_only: Mapping[str, Values], fields: Sequence[str]) -> Table:
    """One row for each GPU (by UUID) while the server has no models."""
    columns = _by_key(
        [
            Column[str](key="model_name", name="Model", value=lambda uuid: "triton-server"),
            Column[str](key="gpu_uuid", name="GPU UUID", value=lambda uuid: uuid),
        ]
    )

    def metric(tag: str) -> Column[str]:
        return metric_column(tag, lambda uuid: server_only[uuid].get(tag))

    return _table("Server", fields, list(server_only), columns, metric)


def _lines(rankings: Sequence[Ranking]) -> Sequence[_Line]:
    return [_Line(item, ranking) for ranking in rankings for item in ranking.measured]


def _item(line: _Line) -> MeasuredTrial:
    return line.item


def _columns() -> Mapping[str, Column[_Line]]:
    """The columns that are not metrics, by key."""
    model = Column[_Line](key="model_name", name="Model", value=lambda line: line.ranking.model)
    hardware = Column[_Line](key=_HARDWARE, name="Hardware", value=lambda line: line.ranking.kind)
    constraints = Column[_Line](
        key="satisfies_constraints",
        name="Satisfies Constraints",
        value=lambda line: "Yes" if line.ranking.goal.passes(line.item.measurement) else "No",
    )
    item_columns = (
        BATCH_SIZE, *LOADS.values(), CONFIGURATION_PATH, INSTANCE_GROUP, MAX_BATCH_SIZE,
    )  # fmt: skip
    of_items = [column.adapted(_item) for column in item_columns]
    return _by_key([model, hardware, *of_items, constraints])


def _with_hardware(fields: Sequence[str], rankings: Sequence[Ranking]) -> Sequence[str]:
    """The fields, with the hardware after the first, if a model was measured on several kinds."""
    if _HARDWARE in fields or len({ranking.kind for ranking in rankings}) < 2:
        return fields
    return [*fields[:1], _HARDWARE, *fields[1:]]


def _by_key(columns: Iterable[Column[Subject]]) -> Mapping[str, Column[Subject]]:
    return {column.key: column for column in columns}


def _with_loads(fields: Sequence[str], lines: Iterable[_Line]) -> Sequence[str]:
    """The fields, with the load columns replaced by those of the kinds of load that were measured:
    a table always shows the measured load.
    """
    kinds = {work.load.kind.value for line in lines for work in line.item.trial.workloads}
    first = next((index for index, name in enumerate(fields) if name in LOADS), None)
    if first is None or not kinds:
        return fields
    others = [name for name in fields[first + 1 :] if name not in LOADS or name in kinds]
    return [
        *fields[:first],
        *(name for name in LOADS if name in kinds and name not in others),
        *others,
    ]


def _table(
    table: str,
    fields: Sequence[str],
    rows: Sequence[Subject],
    columns: Mapping[str, Column[Subject]],
    metric: Callable[[str], Column[Subject]],
    sparse: Mapping[str, Column[Subject]] = MappingProxyType({}),
) -> Table:
    """A table with the `fields` as columns: from `columns`, metrics or `sparse`. Metrics and sparse
    columns without data are left out with a warning.
    """
    chosen: list[Column[Subject]] = []
    for name in fields:
        tag = canonical(name)
        if name in columns:
            chosen.append(columns[name])
            continue
        if name not in sparse and tag not in METRICS:
            log.warning('%s output field "%s" is neither a metric nor a column', table, name)
            continue
        column = sparse[name] if name in sparse else metric(tag)
        if rows and not with_data([column], rows):
            log.warning('%s output field "%s", has no data', table, name)
            continue
        chosen.append(column)
    return table_of(chosen, rows)


# --------------------------------------------------------------- variants at their best measurement

# Metrics that tables of variants always show.
_IN_ANSWER = ("perf_throughput", "perf_latency_p99")
_IN_SUMMARY = (*_IN_ANSWER, "cpu_used_ram", "gpu_used_memory", "gpu_utilization")

# From this ratio on, a change is a factor, not a percentage.
_MANY_TIMES = 2

_MAX_RAM = "Max CPU Memory Usage"

_MEASURED = Column[VariantResult](
    key="measured", name="Measured", value=lambda result: times_text(result.best)
)
_LOAD = Column[MeasuredTrial](key="load", name="Load", value=lambda item: load_words(item.trial))


def summary_table(
    results: Sequence[VariantResult], ranking: Ranking, *, always_gpus: bool = False
) -> Table:
    """One row for each variant, with its best measurement: how good it is, by what the goal wishes
    for first, then what it is.
    """
    goal = ranking.goal
    is_sum = len(goal.models) > 1
    tokens = _measured_tags(results, token_tags(goal))
    names = {
        "perf_throughput": f"{'Total ' * is_sum}Throughput",
        "perf_latency_p99": f"{'Average ' * is_sum}p99 Latency",
    }

    def metric(tag: str) -> Column[VariantResult]:
        of_all = _by_model(tag, ranking.default)
        column = of_all if is_sum else metric_of_each(tag).adapted(_best)
        return column.renamed(names.get(tag, column.name))

    others = _goal_tags(results, goal, (*_IN_SUMMARY, *tokens))
    first = [metric(tag) for tag in _wishes_first(results, goal, (*tokens, *_IN_ANSWER, *others))]
    at_best = (_LOAD, *map(_on_lines, SETTINGS))
    settings = [*(column.adapted(_best) for column in at_best), *_swept(results)]
    resources = []
    if _has_ram(results):
        resources.append(metric_over_all("cpu_used_ram").renamed(_MAX_RAM))
    resources += map(metric_over_all, _efficiency_tags(results, goal))
    items = [result.best for result in results]
    resources += with_data(_gpu_columns(always=always_gpus), items)
    columns = [NAME, *first]
    if goal.has_constraints:
        columns.append(_constraints(goal))
    shown = {column.key for column in columns}
    settings += [column.adapted(_best) for column in resources]
    columns += [column for column in settings if column.key not in shown]
    if _has_repeated(results):
        columns.append(_MEASURED)
    return table_of(columns, results)


_SHORT_HEADERS = {
    "perf_throughput": "Infer/s",
    "perf_latency_p99": "p99 ms",
    "output_token_throughput": "Tokens/s",
    "cpu_used_ram": "RAM MB",
    "cost_per_million_inferences": "Cost/million",
    "cost_per_million_tokens": "Cost/million tokens",
    "energy_per_inference": "J/infer",
}


def answer_table(results: Sequence[VariantResult], goal: Goal) -> Table:
    """The summary in a narrow form for terminals. If the goal has token metrics, throughput and p99
    latency are shown only if the goal has them, too.
    """
    columns = _answer_columns(results, goal)
    table = table_of(columns, results)
    return replace(table, dispensable=_dispensable(columns, goal))


def _dispensable(columns: Sequence[Column[Subject]], goal: Goal) -> tuple[int, ...]:
    """What a narrow terminal may leave out: first resources, then settings, which other
    tables have; never the load and the metrics of the goal.
    """
    settings = (MAX_BATCH_SIZE.key, _MEASURED.key, INSTANCE_GROUP.key)
    places = {column.key: place for place, column in enumerate(columns)}
    swept = (key for key in places if key.startswith(_SWEPT))
    first = ("cpu_used_ram", HIT_RATE, *settings, *swept)
    return tuple(places[key] for key in first if key in places and key not in goal.tags)


def hardware_table(answers: Sequence[Answer]) -> Table:
    """Which hardware: the best configuration of a model on each kind, in the columns of
    `answer_table`; each gain is over the default configuration on the same kind. If costs are
    known, the cheapest kind is marked.
    """
    goal = answers[0].ranking.goal
    results = [answer.best for answer in answers if answer.best is not None]
    hardware = Column[Answer](
        key="hardware", name="Hardware", value=lambda answer: answer.ranking.kind
    )
    gain = Column[Answer](key="gain", name="Over default", value=_gain_text)
    columns = [_of_best(column) for column in _answer_columns(results, goal)]
    shown = [hardware, *columns, gain, *_cheapest_column(answers)]
    return replace(table_of(shown, answers), dispensable=_dispensable(shown, goal))


def _cheapest_column(answers: Sequence[Answer]) -> Iterator[Column[Answer]]:
    """Which kind costs the least for an inference (or a token) and keeps the constraints; nothing
    if fewer than two costs are known.
    """
    known = [costs for tag in COSTS if len(costs := _costs_by_kind(answers, tag)) > 1]
    if known:
        least = min(known[0], key=known[0].__getitem__)
        yield Column(
            key="cheapest",
            name="Cheapest",
            value=lambda answer: "yes" if answer.ranking.kind == least else "",
        )


def _costs_by_kind(answers: Sequence[Answer], tag: str) -> Mapping[str, float]:
    return {
        answer.ranking.kind: cost
        for answer in answers
        if answer.best is not None
        and answer.best.passes
        and (cost := answer.best.best.measurement.value(tag)) is not None
    }


def _of_best(column: Column[VariantResult]) -> Column[Answer]:
    """The column of the recommendation; empty without measurements."""

    def value(answer: Answer) -> Cell:
        return None if answer.best is None else column.value(answer.best)

    # mypy assumes that a copy has the field types of the original
    return replace(column, value=value, mark=None)  # type: ignore[arg-type,return-value]


def _gain_text(answer: Answer) -> str | None:
    if answer.verdict is AnswerVerdict.KEEP:
        return "is the default"
    if answer.gain is None:
        return None
    return f"{gain_text(answer.gain, sign='+')} %"


def _answer_columns(
    results: Sequence[VariantResult], goal: Goal
) -> Sequence[Column[VariantResult]]:
    others = _goal_tags(results, goal, _IN_ANSWER)
    if _has_ram(results) and "cpu_used_ram" not in others:
        others.append("cpu_used_ram")
    if HIT_RATE not in others and any(
        HIT_RATE in result.best.measurement.totals for result in results
    ):
        others.append(HIT_RATE)
    has_tokens = any(METRICS[tag].source is Source.LLM for tag in others)
    usual = [tag for tag in _IN_ANSWER if tag in goal.tags or not has_tokens]
    shown = (*usual, *others, *_efficiency_tags(results, goal))
    settings = [INSTANCE_GROUP.renamed("Instances"), MAX_BATCH_SIZE.renamed("Batch")]
    at_best = [
        Column[MeasuredTrial](
            key="load", name="Load", value=lambda item: joined(map(_short, item.trial.workloads))
        ),
        *map(_short_metric, _wishes_first(results, goal, shown)),
        *(quantity.column for quantity in Axes(goal, results).of_single_models),
    ]
    columns = [
        NAME,
        *(column.adapted(_best) for column in settings),
        *_swept(results),
        *(column.adapted(_best) for column in at_best),
    ]
    if _has_repeated(results):
        columns.append(_MEASURED)
    if goal.has_constraints:
        columns.append(Column(key="meets", name="Meets", value=lambda result: _meets(result, goal)))
    return columns


# The beginning of the keys of columns of swept parameters.
_SWEPT = "swept."


def _swept(results: Sequence[VariantResult]) -> Iterator[Column[VariantResult]]:
    """A column for each parameter that a user swept, and that has no other."""
    rows = dict(zip(map(id, results), swept_values(results), strict=True))
    for name in next(iter(rows.values()), {}):
        yield _swept_column(name, rows)


def _swept_column(name: str, rows: Mapping[int, Mapping[str, Cell]]) -> Column[VariantResult]:
    def value(result: VariantResult) -> Cell:
        return rows[id(result)][name]

    is_number = all(isinstance(row[name], (int, float)) for row in rows.values())
    return Column(key=f"{_SWEPT}{name}", name=name, value=value, is_number=is_number)


def _best(result: VariantResult) -> MeasuredTrial:
    return result.best


def _on_lines(column: Column[MeasuredTrial]) -> Column[MeasuredTrial]:
    """The column with a line for each model."""
    value = column.value

    def lines(item: MeasuredTrial) -> Cell:
        cell = value(item)
        return cell.replace(",", "\n") if isinstance(cell, str) else cell

    return replace(column, value=lines)


def _by_model(tag: str, default: VariantResult | None) -> Column[VariantResult]:
    """A metric over all models, with a line for each model that compares it with the default."""

    def value(result: VariantResult) -> Cell:
        measurement = result.best.measurement
        total = measurement.value(tag)
        if total is None or METRICS[tag].is_of_the_server:
            return total
        lines = [number_text(total)]
        for index, variant in enumerate(result.variants):
            own = measurement.models[index].values.get(tag)
            if own is None:
                continue
            base = None
            if default is not None and default is not result:
                base = default.best.measurement.model_value(index, tag)
            change = f" ({ratio_text(own / base)})" if base else ""
            lines.append(f"{variant.model} {number_text(own)}{change}")
        return "\n".join(lines)

    return metric_column(tag, value)


def ratio_text(ratio: float) -> str:
    """A ratio to the default: `4.4 times the default`, `+41 %`."""
    if ratio >= _MANY_TIMES:
        return f"{ratio:.1f} times the default"
    return f"{100 * (ratio - 1):+.0f} %"


def _short_metric(tag: str) -> Column[MeasuredTrial]:
    column = metric_over_all(tag)
    header = _SHORT_HEADERS.get(tag)
    return column if header is None else replace(column, name=header, unit=None)


def _measured_tags(results: Sequence[VariantResult], tags: Iterable[str]) -> list[str]:
    """The tags that any of the best measurements has."""
    return [
        tag
        for tag in tags
        if any(result.best.measurement.value(tag) is not None for result in results)
    ]


def _goal_tags(results: Sequence[VariantResult], goal: Goal, shown: Collection[str]) -> list[str]:
    """The measured metrics of the goal that are not shown otherwise."""
    return _measured_tags(results, (tag for tag in goal.tags if tag not in shown))


def _wishes_first(
    results: Sequence[VariantResult], goal: Goal, tags: Iterable[str]
) -> Sequence[str]:
    """The metrics in the order to show; wishes that nobody measured are not shown."""
    measured = _measured_tags(results, goal.wishes)
    known = {*tags, *measured}
    return [tag for tag in goal.wishes_first(tags) if tag in known]


def _efficiency_tags(results: Sequence[VariantResult], goal: Goal) -> list[str]:
    """The known costs and energy that are not metrics of the goal."""
    return _measured_tags(results, (tag for tag in EFFICIENCY if tag not in goal.tags))


def _has_ram(results: Sequence[VariantResult]) -> bool:
    return any(result.best.measurement.value("cpu_used_ram") for result in results)


def _has_repeated(results: Sequence[VariantResult]) -> bool:
    return any(len(result.best.runs) > 1 for result in results)


def _constraints(goal: Goal) -> Column[VariantResult]:
    """Whether the best load meets the constraints, in all of its measurements or in some."""

    def value(result: VariantResult) -> str:
        are_all_met = are_met(goal, result.best.measurement)
        if are_all_met is None:
            return "not measured"
        if not are_all_met:
            return f"missed by {percent_text(goal.shortfall(result.best.measurement))}"
        met, runs = _met(result, goal)
        return "met" if met == runs else f"met in {met} of {runs}"

    def mark(result: VariantResult) -> Mark | None:
        are_all_met = are_met(goal, result.best.measurement)
        if not are_all_met:
            return None if are_all_met is None else Mark.MISSED
        met, runs = _met(result, goal)
        return Mark.MET if met == runs else None

    return Column(key="constraints", name="Constraints", value=value, mark=mark)


def _meets(result: VariantResult, goal: Goal) -> str:
    met, runs = _met(result, goal)
    if 0 < met < runs:
        return f"{met} of {runs}"
    are_all_met = are_met(goal, result.best.measurement)
    return "not measured" if are_all_met is None else "yes" if are_all_met else "NO"


def _met(result: VariantResult, goal: Goal) -> tuple[int, int]:
    """How many measurements of the best load meet the constraints, and how many there are."""
    runs = result.best.runs
    return sum(map(goal.passes, runs)), len(runs)


def _short(work: Workload) -> Cell:
    load = work.load
    if load.kind is LoadKind.REQUEST_INTERVALS:
        return "from file" if work.traffic is None else work.traffic.arrivals.value
    value = f"{load.value}/s" if load.kind is LoadKind.REQUEST_RATE else load.value
    return value if load.batch_size == 1 else f"{value} x {load.batch_size}"


# ------------------------------------------------------------------------------------ one variant

# The metrics of detailed reports, with their headers there.
_DETAILED = {
    "perf_latency_p99": "p99 Latency",
    "perf_client_response_wait": "Client Response Wait",
    "perf_server_queue": "Server Queue",
    "perf_server_compute_input": "Server Compute Input",
    "perf_server_compute_infer": "Server Compute Infer",
    "perf_server_compute_output": "Server Compute Output",
    HIT_RATE: "Cache Hit Rate",
    "perf_throughput": "Throughput",
    "time_to_first_token_p99": "p99 Time To First Token",
    "inter_token_latency_p99": "p99 Inter Token Latency",
    "output_token_throughput": "Output Token Throughput",
    "cpu_used_ram": _MAX_RAM,
}
_COMPOSING = (
    "perf_throughput",
    "perf_server_queue",
    "perf_server_compute_input",
    "perf_server_compute_infer",
    "perf_server_compute_output",
)


def detailed_table(
    result: VariantResult, *, offline: bool = False, always_gpus: bool = False
) -> Table:
    """Every measurement of one variant: highest p99 latency first; offline, highest throughput
    first.
    """
    order = "perf_throughput" if offline else "perf_latency_p99"
    measured = sorted(
        result.measured, key=lambda item: item.measurement.value(order) or 0, reverse=True
    )
    metrics = [metric_over_all(tag).renamed(name) for tag, name in _DETAILED.items()]
    metrics += _gpu_columns(always=always_gpus)
    return table_of([_LOAD, *with_data(metrics, measured), REQUESTS], measured)


def _gpu_columns(*, always: bool) -> Sequence[Column[MeasuredTrial]]:
    """The GPU columns of reports."""

    def value(item: MeasuredTrial, tag: str) -> float | None:
        is_shown = reports_gpus(item, always=always)
        return item.measurement.value(tag) if is_shown else None

    def whole_memory(item: MeasuredTrial) -> int | None:
        memory = value(item, "gpu_used_memory")
        return None if memory is None else round(memory)

    return (
        metric_column("gpu_used_memory", whole_memory).renamed("Max GPU Memory Usage"),
        metric_column("gpu_utilization", lambda item: value(item, "gpu_utilization")).renamed(
            "Average GPU Utilization"
        ),
    )


class _Composing(NamedTuple):
    """A composing model with its server statistics."""

    name: str
    values: Values


def composing_table(result: VariantResult) -> Table | None:
    """The server statistics of the composing models at the best measurement, in the order of their
    calls; None without data.
    """
    rows = []
    for variant, model in zip(result.variants, result.best.measurement.models, strict=True):
        order = {part.model: place for place, part in enumerate(variant.with_parts())}
        names = sorted(model.composing, key=lambda name: order.get(name, len(order)))
        rows += [_Composing(name, model.composing[name]) for name in names]
    columns = [
        Column[_Composing](key="model", name="Composing Model", value=lambda row: row.name),
        *(_composing_column(tag) for tag in _COMPOSING),
    ]
    return table_of(columns, rows) if rows else None


def _composing_column(tag: str) -> Column[_Composing]:
    return metric_column(tag, lambda row: row.values.get(tag)).renamed(_DETAILED[tag])
