# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The column catalogue: name, unit, precision and value of each column that shows measurements.

Tables, pages and files choose columns from here; they only decide how cells are written.

All outcomes as flat rows, for use in other programs; and filters of them.
"""

from __future__ import annotations

import marshal
import operator
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from difflib import get_close_matches
from enum import Enum
from itertools import chain
from math import isnan
from typing import Any, Generic, TypeVar

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS, Better, Unit, canonical, is_best_high, metric_of
from model_analyzer.domain.models import PARAMETER, ModelVariant, differing_parameters, is_openai
from model_analyzer.domain.profiles import MeasuredTrial, TrialRecord, measured_trials
from model_analyzer.domain.secrets import masked
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.domain.words import decimals_for
from model_analyzer.noise.pooling import pooled_trials
from model_analyzer.results.ranking import VariantResult

Cell = str | int | float | None

Subject = TypeVar("Subject")
Other = TypeVar("Other")

# Significant digits of measured numbers in compact output.
_DIGITS = 6


class Mark(Enum):
    """How a cell is highlighted."""

    MET = "met"
    MISSED = "missed"


@dataclass(frozen=True, kw_only=True)
class Column(Generic[Subject]):
    """A column with a cell for each subject, for example a measured trial or a variant.

    `key` names it in options and files. `value` gives the unrounded cell, `mark` its highlight.
    Compact output rounds numbers to `digits` significant digits. `better` is the better direction
    of a metric. Pages show columns that are not `is_usual` only on request.
    """

    key: str
    name: str
    value: Callable[[Subject], Cell]
    unit: Unit | None = None
    is_number: bool = False
    digits: int | None = None
    better: Better | None = None
    is_usual: bool = True
    mark: Callable[[Subject], Mark | None] | None = None

    @property
    def header(self) -> str:
        """The name with the unit."""
        return self.name if self.unit is None else f"{self.name} ({self.unit})"

    def renamed(self, name: str) -> Column[Subject]:
        """A copy with another name."""
        return replace(self, name=name)

    def adapted(self, subject: Callable[[Other], Subject]) -> Column[Other]:
        """The same column for other objects; `subject` gets its subject from such an object."""
        value = self.value
        # mypy assumes that a copy has the field types of the original
        return replace(self, value=lambda other: value(subject(other)))  # type: ignore[arg-type,return-value]


def with_data(
    columns: Iterable[Column[Subject]], subjects: Sequence[Subject]
) -> list[Column[Subject]]:
    """The columns in which any subject has a value."""
    return [
        column
        for column in columns
        if any(column.value(subject) is not None for subject in subjects)
    ]


def data_text(cell: Cell) -> str:
    """A cell as text in files of data: without exponents and thousands separators; None is empty.

    Floats have one decimal from 100 on, as in Triton Model Analyzer, three below, and below 1 as
    many as four significant digits need (nine at most): so none is off by more than 0.05 %.
    """
    if cell is None:
        return ""
    if not isinstance(cell, float):
        return str(cell)
    size = abs(cell)
    if size >= 99.95:
        return f"{cell:.1f}"
    decimals = 3 if size >= 1 or not size else min(decimals_for(size, digits=4), 9)
    text = f"{cell:.{decimals}f}".rstrip("0")
    text = f"{text}0" if text.endswith(".") else text
    return text.removeprefix("-") if float(text) == 0 else text


def joined(cells: Iterable[Cell]) -> Cell:
    """The cells of several models joined by commas; a single cell unchanged; None if all are."""
    values = list(cells)
    if all(cell is None for cell in values):
        return None
    return values[0] if len(values) == 1 else ",".join(map(data_text, values))


# ------------------------------------------------------------------------------------- metrics


def metric_column(tag: str, value: Callable[[Subject], Cell]) -> Column[Subject]:
    """The column of a metric; `value` gets it from the subject."""
    metric = metric_of(tag)
    return Column(
        key=tag,
        name=metric.name,
        unit=metric.unit,
        value=value,
        is_number=True,
        digits=_DIGITS,
        better=metric.better,
    )


def metric_over_all(tag: str) -> Column[MeasuredTrial]:
    """A metric over all models and GPUs of a trial."""
    return metric_column(tag, lambda item: item.measurement.value(tag))


def metric_of_each(tag: str) -> Column[MeasuredTrial]:
    """A metric of a trial; for several models also of each: `total, [first,second]`."""

    def value(item: MeasuredTrial) -> Cell:
        total = item.measurement.value(tag)
        if len(item.trial.workloads) == 1 or total is None or METRICS[tag].is_of_the_server:
            return total
        own = [model.values.get(tag) for model in item.measurement.models]
        return f"{data_text(total)}, [{','.join(map(data_text, own))}]"

    return metric_column(tag, value)


# ----------------------------------------------------------------------------------- the load


def _load(kind: LoadKind, name: str) -> Column[MeasuredTrial]:
    def value(work: Workload) -> Cell:
        return work.load.value if work.load.kind is kind else None

    return Column(key=kind.value, name=name, value=_of_each(value), is_number=True)


def _of_each(cell: Callable[[Workload], Cell]) -> Callable[[MeasuredTrial], Cell]:
    """Joins the cells of all models of a trial."""
    return lambda item: joined(map(cell, item.trial.workloads))


def _intervals(work: Workload) -> Cell:
    """Where the times of requests come from."""
    return work.flags.get("request-intervals") if work.traffic is None else str(work.traffic)


# The load columns, by key.
LOADS = {
    column.key: column
    for column in (
        _load(LoadKind.CONCURRENCY, "Concurrency"),
        _load(LoadKind.REQUEST_RATE, "Request Rate"),
        Column[MeasuredTrial](
            key=LoadKind.REQUEST_INTERVALS.value,
            name="Request Intervals",
            value=_of_each(_intervals),
        ),
    )
}

BATCH_SIZE = Column[MeasuredTrial](
    key="batch_size",
    name="Batch",
    value=_of_each(lambda work: work.load.batch_size),
    is_number=True,
)


# ----------------------------------------------------------------------------- configurations

NAME = Column[VariantResult](
    key="configuration", name="Configuration", value=lambda result: result.telling_name
)

CONFIGURATION_PATH = Column[MeasuredTrial](
    key="model_config_path",
    name="Model Config Path",
    value=_of_each(lambda work: work.variant.full_name),
)

MAX_BATCH_SIZE = Column[MeasuredTrial](
    key="max_batch_size",
    name="Max Batch Size",
    value=lambda item: joined(
        None if is_openai(part.config) else part.max_batch_size for part in _served(item)
    ),
    is_number=True,
)


def _instances(item: MeasuredTrial) -> Cell:
    texts = (instances_text(work.variant, gpus=item.trial.gpus) for work in item.trial.workloads)
    return joined(texts)


INSTANCE_GROUP = Column[MeasuredTrial](
    key="instance_group", name="Instance Group", value=_instances
)

# What a search varies.
SETTINGS = (
    INSTANCE_GROUP.renamed("Instances"),
    MAX_BATCH_SIZE.renamed("Max batch size"),
    Column[MeasuredTrial](
        key="dynamic_batching",
        name="Dynamic batching",
        value=lambda item: joined(
            None if is_openai(part.config) else "on" if part.has_dynamic_batching else "off"
            for part in _served(item)
        ),
    ),
)


def instances_text(variant: ModelVariant, *, gpus: int) -> str:
    """The instances of a variant on so many GPUs, for example `2:GPU + 1:CPU`; for an ensemble
    those of its parts, separated by commas.
    """
    if is_openai(variant.config):
        return "unknown"
    return ",".join(own_instances_text(part, gpus=gpus) for part in variant.served)


def own_instances_text(variant: ModelVariant, *, gpus: int) -> str:
    """The instances of the variant itself, for example `2:GPU + 1:CPU`."""
    return " + ".join(f"{count}:{kind}" for count, kind in variant.instances(gpus=gpus))


def backend_parameter(field: str) -> Column[MeasuredTrial]:
    """A backend parameter, given as the output field `backend_parameter/KEY`."""
    key = field.partition("/")[2]

    def value(work: Workload) -> Cell:
        parameters = work.variant.config.get("parameters", {})
        text: str | None = parameters.get(key, {}).get("string_value")
        return None if text is None else masked(key, text)

    return Column(key=field, name=field, value=_of_each(value))


def _served(item: MeasuredTrial) -> Iterable[ModelVariant]:
    return (part for work in item.trial.workloads for part in work.variant.served)


# --------------------------------------------------------------------------------------- GPUs


def reports_gpus(item: MeasuredTrial, *, always: bool) -> bool:
    """Whether to show the GPU metrics of this measurement: it has some, and either its variants use
    GPUs or `always` is set.
    """
    return bool(item.measurement.gpus) and (
        always or any(work.variant.uses_gpus(gpus=item.trial.gpus) for work in item.trial.workloads)
    )


# --------------------------------------------------------------------------------- reliability


def requests_behind(measurement: Measurement) -> Cell:
    """The number of measured requests; for several models, of each."""
    counts = [model.requests for model in measurement.models]
    if all(count is None for count in counts):
        return None
    if len(counts) == 1:
        return counts[0]
    return " + ".join(data_text(count) or "?" for count in counts)


def fewest_requests(measurement: Measurement) -> int | None:
    """The number of measured requests; for several models, the smallest that is known."""
    counts = (model.requests for model in measurement.models)
    return min((count for count in counts if count is not None), default=None)


REQUESTS = Column[MeasuredTrial](
    key="requests",
    name="Requests",
    value=lambda item: requests_behind(item.measurement),
    is_number=True,
)


# The values of a model in a trial, by column. Unknown values are left out.
Row = dict[str, Cell]

_FIRST = ("trial", "first_trial", "repetition", "model", "variant", "composing")
_LOAD = ("load", "concurrency", "request_rate", "batch_size")
_PLACE = ("hardware", "host", "node")
_LAST = (
    "server_batch_size", "measurements", "requests", "doubts", "failure", "message", *_PLACE,
    "started", "duration_s",
)  # fmt: skip

# The columns to filter and sort by, besides metrics.
TEXTS = ("model", "variant", "hardware", "host")
NUMBERS = ("concurrency", "request_rate", "batch_size")

_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "!=": operator.ne,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_FORM = re.compile(rf"\s*([\w/]+)\s*({'|'.join(_OPERATORS)})\s*(.*?)\s*", re.DOTALL)


class Rows(Collection[Row]):
    """One row for each model of each trial, in the order of the records (key and record).

    Rows are packed until they are used, since many take a lot of memory, and records are slow to
    make. `config.…` columns are the parameters in which the variants of a model differ: they are
    known after the last record. With `repetitions`, rows of single measurements also say which
    ones belong together: they have the key of the first measurement of their trial
    (`first_trial`), and the number of the `repetition`, which is 0 for the first.
    """

    def __init__(
        self, records: Iterable[tuple[str, TrialRecord]], *, repetitions: bool = False
    ) -> None:
        self._packed: list[bytes] = []
        layouts: dict[tuple[str, ...], int] = {}
        variants: dict[str, dict[str, ModelVariant]] = {}
        for key, record in records:
            for index, work in enumerate(record.trial.workloads):
                variant = work.variant
                variants.setdefault(variant.model, {})[variant.identity] = variant
                row = _row(key, record, index, work)
                if repetitions:
                    repetition = record.trial.repetition
                    row["first_trial"] = record.trial.first.key if repetition else key
                    row["repetition"] = repetition
                layout = layouts.setdefault(tuple(row), len(layouts))
                self._packed.append(marshal.dumps((layout, variant.identity, *row.values())))
        self._layouts = [*layouts]
        self._parameters = {
            identity: differing
            for by_identity in variants.values()
            for identity, differing in differing_parameters(by_identity.values()).items()
        }
        columns = chain.from_iterable((*self._layouts, *self._parameters.values()))
        self.columns = _in_display_order(dict.fromkeys(columns))

    def __len__(self) -> int:
        return len(self._packed)

    def __contains__(self, row: object) -> bool:
        return any(row == other for other in self)

    def __iter__(self) -> Iterator[Row]:
        for packed in self._packed:
            layout, identity, *cells = marshal.loads(packed)
            row: Row = dict(zip(self._layouts[layout], cells, strict=True))
            row.update(self._parameters[identity])
            yield row


def rows_of(records: Iterable[tuple[str, TrialRecord]]) -> Sequence[Row]:
    """The `Rows` of these records, as a list."""
    return [*Rows(records)]


def pooled_rows(records: Iterable[tuple[str, TrialRecord]]) -> Sequence[Row]:
    """The rows of trials, each with its measurements pooled as in rankings, and those of failures.

    The column `measurements` is added: the number of pooled ones. Place, host and node are those of
    the first of them.
    """
    pairs = [*records]
    measured = measured_trials(record for _, record in pairs)
    pooled = {id(item.trial): item for item in pooled_trials(measured)}
    counts: list[int] = []
    shown: list[tuple[str, TrialRecord]] = []
    for key, record in pairs:
        if isinstance(record.outcome, Measurement):
            item = pooled.get(id(record.trial))
            if item is None:
                continue  # it is pooled with an earlier one
            record = record._replace(outcome=item.measurement)
            counts += [len(item.runs)] * len(record.trial.workloads)
        else:
            counts += [0] * len(record.trial.workloads)
        shown.append((key, record))
    return [row | {"measurements": count} for row, count in zip(Rows(shown), counts, strict=True)]


def columns_of(rows: Iterable[Row], first: Sequence[str] = ()) -> Sequence[str]:
    """The columns that have data, in display order; the metrics in `first` before the others."""
    if isinstance(rows, Rows):
        return _in_display_order(rows.columns, first)
    present: dict[str, None] = {}
    for row in rows:
        present.update(dict.fromkeys(row))
    return _in_display_order(present, first)


def _in_display_order(present: Collection[str], first: Sequence[str] = ()) -> Sequence[str]:
    parameters = [name for name in present if name.startswith(PARAMETER)]
    standard = dict.fromkeys((*_FIRST, *parameters, *_LOAD, *first, *METRICS))
    others = [name for name in present if name not in standard and name not in _LAST]
    return [name for name in (*standard, *others, *_LAST) if name in present]


def sort_rows(rows: Iterable[Row], column: str, *, descending: bool) -> Sequence[Row]:
    """The rows sorted by a column; rows without it come last."""
    all_rows = list(rows)

    def cell(row: Row) -> Any:
        return row[column]

    having = [row for row in all_rows if column in row]
    lacking = [row for row in all_rows if column not in row]
    return [*sorted(having, key=cell, reverse=descending), *lacking]


def best_of_variants(rows: Iterable[Row], tag: str) -> Sequence[Row]:
    """For each variant on each kind of hardware, its best row by a metric, in the order of `rows`;
    a row of a failure if it has no measurement.

    The columns `measurements` and `failures` have their numbers. The rows are `pooled_rows`.
    """
    groups: dict[tuple[Cell, ...], list[Row]] = {}
    for row in rows:
        identity = (row["model"], row["variant"], row.get("composing"), row["hardware"])
        groups.setdefault(identity, []).append(row)
    chosen = []
    for group in groups.values():
        failures = sum("failure" in row for row in group)
        measurements = sum(int(row["measurements"] or 0) for row in group)
        best = sort_rows(group, tag, descending=is_best_high(tag))[0]
        chosen.append(best | {"measurements": measurements, "failures": failures})
    return chosen


def _row(key: str, record: TrialRecord, index: int, work: Workload) -> Row:
    outcome, load = record.outcome, work.load
    row: Row = {
        "trial": key,
        "model": work.variant.model,
        "variant": work.variant.name,
        "load": load.kind.value,
        "batch_size": load.batch_size,
        "hardware": record.trial.setup.kind,
        "duration_s": outcome.duration_s,
    }
    if outcome.machine is not None:
        row["host"] = outcome.machine.host
    if load.kind is not LoadKind.REQUEST_INTERVALS:
        row[load.kind.value] = load.value
    if work.traffic is not None:
        row["arrivals"] = str(work.traffic)
    if work.variant.composing:
        row["composing"] = ", ".join(part.full_name for part in work.variant.composing)
    if record.node:
        row["node"] = record.node
    if outcome.started:
        row["started"] = moment_text(outcome.started)
    if not isinstance(outcome, Measurement):
        return row | {"failure": outcome.reason.name, "message": outcome.message}
    if outcome.doubts:
        row["doubts"] = " ".join(doubt.sentence for doubt in outcome.doubts)
    model = outcome.models[index]
    row.update(model.values)
    row.update(outcome.host)
    for tag in dict.fromkeys(tag for values in outcome.gpus.values() for tag in values):
        row[tag] = outcome.value(tag)
    if model.requests is not None:
        row["requests"] = model.requests
    counters = outcome.statistics.get(work.variant.model)
    # an ensemble itself executes no batches
    if counters and counters.mean_batch and not work.variant.is_ensemble:
        row["server_batch_size"] = round(counters.mean_batch, 3)
    return row


def moment_text(seconds: float) -> str | None:
    """Seconds since the epoch as ISO 8601 text in UTC; None if unknown (0)."""
    if not seconds:
        return None
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="milliseconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFilter:
    """A comparison of a column with a value. A row without that column never matches."""

    column: str
    operator: str
    value: str | float

    @classmethod
    def parse(cls, text: str) -> RowFilter:
        """Parses `COLUMN OPERATOR VALUE`. Raises ValueError with a message for the user."""
        match = _FORM.fullmatch(text)
        if match is None or not match[3]:
            raise ValueError(f"{text!r} is not a filter: write, for example, perf_latency_p99<20")
        column, sign, value = column_named(match[1]), match[2], match[3]
        if column in TEXTS:
            if sign not in ("=", "==", "!="):
                raise ValueError(f"{text!r}: {column} is text: compare it with = or !=")
            return cls(column=column, operator=sign, value=value)
        try:
            number = float(value)
        except ValueError as error:
            raise ValueError(f"{text!r}: {value!r} is not a number") from error
        if isnan(number):
            raise ValueError(f"{text!r}: {value!r} is not a number")
        return cls(column=column, operator=sign, value=number)

    def matches(self, row: Row) -> bool:
        cell = row.get(self.column)
        return cell is not None and _OPERATORS[self.operator](cell, self.value)


def column_named(name: str) -> str:
    """The column with this name, or with this old name of a metric, to filter or sort by. Raises
    ValueError with the nearest name if there is none.
    """
    name = canonical(name)
    names = (*TEXTS, *NUMBERS, *METRICS)
    if name not in names:
        nearest = get_close_matches(name, names, n=1)
        hint = f"did you mean {nearest[0]!r}?" if nearest else ""
        hint = hint or f"give a metric or one of {', '.join((*TEXTS, *NUMBERS))}"
        raise ValueError(f"unknown column {name!r}: {hint}")
    return name
