# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The column catalogue: name, unit, precision and value of each column that shows measurements.

Tables, pages and files choose columns from here; they only decide how cells are written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Generic, TypeVar

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.metrics import METRICS, Better, Unit, metric_of
from model_analyzer.domain.models import ModelVariant, is_openai
from model_analyzer.domain.profiles import MeasuredTrial
from model_analyzer.domain.secrets import masked
from model_analyzer.domain.trials import LoadKind, Workload
from model_analyzer.domain.words import decimals_for
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
