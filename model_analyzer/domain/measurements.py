# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The outcome of a trial: values for each model and device, and notices about them. Many take
little memory: the names of values are shared, the numbers are packed.

Statistics that a server counts for each model: requests, inferences, executions, batch sizes.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence, Set
from dataclasses import astuple, dataclass, field, replace
from enum import Enum
from functools import cached_property, lru_cache, reduce
from itertools import chain
from operator import itemgetter
from typing import Any, TypeVar

from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.histograms import Histogram, JointHistogram
from model_analyzer.domain.metrics import METRICS, Source, canonical, is_best_high, metric_of
from model_analyzer.domain.models import empty
from model_analyzer.domain.trials import Failure, Workload, workload_words
from model_analyzer.domain.words import counted


@dataclass(frozen=True, slots=True)
class BatchStatistics:
    """Executions with a batch of `size` inferences: their number and total time."""

    size: int
    count: int
    ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCounts:
    """The requests of one model: those that were `answered`, also with an error of its code, and
    those that `failed`; and of the answered ones, those that the response cache answered (`hits`),
    or looked up in vain (`misses`). Requests that a full queue refused are in none of them.
    """

    answered: int = 0
    failed: int = 0
    hits: int = 0
    misses: int = 0

    @property
    def hit_rate(self) -> float | None:
        """The percentage of lookups that the cache answered; None without any."""
        lookups = self.hits + self.misses
        return 100 * self.hits / lookups if lookups else None

    def combined(self, other: RequestCounts, sign: int) -> RequestCounts:
        """The sum with other counts, or the difference from them."""
        return RequestCounts(
            answered=self.answered + sign * other.answered,
            failed=self.failed + sign * other.failed,
            hits=self.hits + sign * other.hits,
            misses=self.misses + sign * other.misses,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatistics:
    """Statistics of one model. An execution computes a batch of inferences; `batches` has each size
    once, in ascending order. For an ensemble, each request is an execution. `requests` is None in
    measurements of versions that did not store it.
    """

    inferences: int
    executions: int
    batches: tuple[BatchStatistics, ...] = ()
    requests: RequestCounts | None = None

    @property
    def mean_batch(self) -> float | None:
        """Inferences for each execution, if there was one."""
        return self.inferences / self.executions if self.executions else None

    @property
    def served(self) -> float:
        """The inferences with those that the response cache answered: each lookup in vain stands
        for as many as were executed on average.
        """
        if self.requests is None or not (self.requests.hits and self.requests.misses):
            return self.inferences
        return self.inferences * (1 + self.requests.hits / self.requests.misses)

    @property
    def busy_ms(self) -> float:
        """The time that all executions took, one after the other."""
        return sum(batch.ms for batch in self.batches)

    def __add__(self, other: ModelStatistics) -> ModelStatistics:
        return self._combined(other, 1)

    def since(self, before: ModelStatistics) -> ModelStatistics | None:
        """The difference from `before`; None if a counter fell (the server was restarted)."""
        rest = self._combined(before, -1)
        numbers: list[float] = [rest.inferences, rest.executions]
        numbers += [number for batch in rest.batches for number in (batch.count, batch.ms)]
        if rest.requests is not None:
            numbers += astuple(rest.requests)
        if min(numbers) < 0:
            return None
        batches = tuple(batch for batch in rest.batches if batch.count)
        return replace(rest, batches=batches)

    def _combined(self, other: ModelStatistics, sign: int) -> ModelStatistics:
        mine = {batch.size: batch for batch in self.batches}
        others = {batch.size: batch for batch in other.batches}
        none = BatchStatistics(0, 0, 0.0)
        return ModelStatistics(
            inferences=self.inferences + sign * other.inferences,
            executions=self.executions + sign * other.executions,
            batches=tuple(
                BatchStatistics(
                    size,
                    mine.get(size, none).count + sign * others.get(size, none).count,
                    # as exact as the server counts: to the nanosecond
                    round(mine.get(size, none).ms + sign * others.get(size, none).ms, 6),
                )
                for size in sorted({*mine, *others})
            ),
            requests=None
            if self.requests is None or other.requests is None
            else self.requests.combined(other.requests, sign),
        )


# The statistics of each model by its name; empty if the server provides none.
ServerStatistics = Mapping[str, ModelStatistics]


def counted_between(before: ServerStatistics, after: ServerStatistics) -> ServerStatistics:
    """The statistics from one reading to the next; empty if the server was restarted in between, or
    if a reading is missing.
    """
    if before.keys() != after.keys():
        return empty()
    counted = {name: after[name].since(before[name]) for name in after}
    complete = {name: model for name, model in counted.items() if model is not None}
    return complete if len(complete) == len(counted) else empty()


def added(several: Iterable[ServerStatistics]) -> ServerStatistics:
    """The counts of several measurements together."""
    models: dict[str, list[ModelStatistics]] = {}
    for statistics in several:
        for name, model in statistics.items():
            models.setdefault(name, []).append(model)
    return {name: reduce(ModelStatistics.__add__, counts) for name, counts in models.items()}


D = TypeVar("D")


@lru_cache(maxsize=1024)
def _places(names: tuple[str, ...]) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(names)}


class ValueRow(Mapping[str, float]):
    """Numbers by name, read-only, in a third of the memory of a dictionary."""

    __slots__ = ("_numbers", "_places")

    def __init__(self, names: tuple[str, ...], numbers: array[float]) -> None:
        """One of the `numbers` (of type "d") for each of the `names`."""
        self._places = _places(names)
        self._numbers = numbers

    def __getitem__(self, name: str) -> float:
        return self._numbers[self._places[name]]

    def get(self, name: str, default: D | None = None) -> float | D | None:  # type: ignore[override]
        place = self._places.get(name)
        return default if place is None else self._numbers[place]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._numbers)

    def keys(self) -> KeysView[str]:
        return self._places.keys()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)})"

    def __reduce__(self) -> tuple[type[ValueRow], tuple[tuple[str, ...], array[float]]]:
        return ValueRow, (tuple(self._places), self._numbers)


class DerivedValues(Mapping[str, float]):
    """`measured` values, and the one with this `name`, which `compute` gives when it is read first.
    It is none of those that are measured.
    """

    __slots__ = ("_derived", "compute", "measured", "name")

    def __init__(
        self, measured: Mapping[str, float], name: str, compute: Callable[[], float]
    ) -> None:
        self.measured = measured
        self.name = name
        self.compute = compute
        self._derived: float | None = None

    def __getitem__(self, name: str) -> float:
        if name != self.name:
            return self.measured[name]
        if self._derived is None:
            self._derived = self.compute()
        return self._derived

    def get(self, name: str, default: D | None = None) -> float | D | None:  # type: ignore[override]
        return self[name] if name == self.name else self.measured.get(name, default)

    def __contains__(self, name: object) -> bool:
        return name == self.name or name in self.measured

    def __iter__(self) -> Iterator[str]:
        yield from self.measured
        yield self.name

    def __len__(self) -> int:
        return len(self.measured) + 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)})"


class ValueTable:
    """Rows that are read column by column."""

    def __init__(self, rows: Sequence[Mapping[str, float]]) -> None:
        rows = [row.measured if isinstance(row, DerivedValues) else row for row in rows]
        self._rows: Sequence[Mapping[str, float] | array[float]] = rows
        self._places: Mapping[str, int] | None = None
        places = {id(row._places): row._places for row in rows if isinstance(row, ValueRow)}
        if len(places) == 1 and all(isinstance(row, ValueRow) for row in rows):
            # nearly always, and much faster
            ((_, self._places),) = places.items()
            self._rows = [row._numbers for row in rows if isinstance(row, ValueRow)]

    def column(self, name: str) -> Sequence[float]:
        """The measured value of each row. Raises KeyError if a row has none."""
        step: str | int = name if self._places is None else self._places[name]
        return list(map(itemgetter(step), self._rows))


# Metric values by tag, in catalogue units.
Values = Mapping[str, float]

# The energy counter of each GPU in joules, by UUID, at a time in seconds since the epoch.
CounterReading = tuple[float, Mapping[str, float]]

# Requests needed in a window to claim a 99th percentile with 95 % confidence.
REQUESTS_FOR_P99 = 299


class NoticeKind(Enum):
    """A notice to the user about a result."""

    UNSTABLE = "unstable"
    FEW_REQUESTS = "few requests"
    UNVERIFIED = "unverified"
    BUSY_MACHINE = "busy machine"
    LONGER_WINDOW = "longer window"
    CLIENT_LAGGED = "client lagged"
    LAG_UNKNOWN = "lag unknown"
    STOOD_STILL = "stood still"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A remark about a measurement, stored with it; `text` is one sentence that says what to do."""

    kind: NoticeKind
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A law that a measurement breaks (see `noise.laws`): a reason not to believe it. A `gross`
    doubt makes it a failed trial.

    `text` says which numbers contradict each other, `hint` what to do, both without a full stop.
    """

    law: str
    text: str
    hint: str
    gross: bool = False

    @property
    def sentence(self) -> str:
        """The doubt as it is shown."""
        return f"Doubtful: {self.text}; {self.hint}."


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMeasurement:
    """The measured values of one model of a trial.

    `requests` is the number of requests behind the latencies, if known. `windows` holds the
    throughput (inferences per second) of each measurement window that the result is made of:
    their spread is the noise of the measurement. A round also has the `seconds` in which the
    requests were counted, in windows of equal length; and, unless perf_analyzer could not export
    its requests, `histograms` of the latencies, by the name of a metric without its percentile.
    That of a language model has the times of each request in the `joint` histogram, too.
    `composing` holds server-side values of the models that an ensemble or BLS model called.
    `raised` holds the flags of perf_analyzer, with their values, that upstream raised by itself: it
    measured over a longer window than asked for. `evidence` holds numbers that only laws compare,
    by name (see `noise.laws`).
    """

    values: Values
    requests: int | None = None
    windows: tuple[float, ...] = ()
    seconds: float = 0.0
    histograms: Mapping[str, Histogram] = field(default_factory=empty)
    joint: JointHistogram | None = None
    composing: Mapping[str, Values] = field(default_factory=empty)
    raised: Mapping[str, Any] = field(default_factory=empty)
    evidence: Values = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """Values that a monitor observed: of the whole server (`host`), and of each GPU by its UUID;
    readings of the energy counters of the GPUs, in order of time; notices for the user; and what
    the measurement used of the machine, if known.
    """

    host: Values = field(default_factory=empty)
    gpus: Mapping[str, Values] = field(default_factory=empty)
    counters: Sequence[CounterReading] = ()
    notices: tuple[Notice, ...] = ()
    resources: ResourceUse | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """All values of one trial.

    `models` is in the order of the trial's workloads; `gpus` maps a GPU's UUID to its values;
    `host` holds values of the whole server (memory, energy), and `statistics` the counts of the
    server for its models, including those that other models call. `started` is in seconds since
    the epoch. `loading_s` is the part of `duration_s` in which a server loaded the variant: almost
    0 with the C API, where perf_analyzer loads it. `resources` is known for a local server only.
    `machine` is None if unknown. `doubts` follow from the other values (see `noise.laws`), so they
    are not stored.
    """

    models: tuple[ModelMeasurement, ...]
    gpus: Mapping[str, Values] = field(default_factory=empty)
    host: Values = field(default_factory=empty)
    statistics: ServerStatistics = field(default_factory=empty)
    notices: tuple[Notice, ...] = ()
    doubts: Sequence[Doubt] = field(default=(), compare=False)
    commands: tuple[str, ...] = ()
    started: float = 0.0
    duration_s: float = 0.0
    loading_s: float = 0.0
    resources: ResourceUse | None = None
    machine: Machine | None = None

    def value(self, tag: str) -> float | None:
        """The metric over all models and GPUs; None if it was not measured."""
        if len(self.models) == 1:
            value = self.models[0].values.get(tag)
            if value is not None:
                return value  # the usual case
        metric = metric_of(tag)
        if metric.is_of_the_host:
            return self.host.get(metric.tag)
        if metric.source is Source.GPU:
            values = [gpu.get(metric.tag) for gpu in self.gpus.values()]
            reduction = metric.over_gpus
        else:
            values = [model.values.get(metric.tag) for model in self.models]
            reduction = metric.over_models
        present = [value for value in values if value is not None]
        return reduction.apply(present) if present else None

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know about the values: a sentence for each doubt, and each notice."""
        doubts = [doubt.sentence for doubt in self.doubts]
        return (*doubts, *[notice.text for notice in self.notices])

    @property
    def is_round(self) -> bool:
        """Whether it is one of several short measurements, or could be."""
        return 0.0 not in [model.seconds for model in self.models]

    @property
    def totals(self) -> Values:
        """Every measured metric over all models and GPUs, in the order of the catalogue."""
        models = (model.values for model in self.models)
        present = set(chain(self.host, *self.gpus.values(), *models))
        return {
            tag: value
            for tag in METRICS
            if tag in present and (value := self.value(tag)) is not None
        }

    def model_value(self, index: int, tag: str) -> float | None:
        """The metric of one model of the trial; device metrics belong to the whole server."""
        if len(self.models) == 1:
            return self.value(tag)
        metric = metric_of(tag)
        if metric.is_of_the_server:
            return self.value(metric.tag)
        return self.models[index].values.get(metric.tag)


class Columns:
    """The metrics of many measurements, by tag. A report reads millions of values, so each column
    is made once, from all measurements together.
    """

    def __init__(self, measurements: Sequence[Measurement]) -> None:
        self._measurements = measurements
        self._columns: dict[str, Sequence[float | None]] = {}

    @cached_property
    def tags(self) -> Sequence[str]:
        """The metrics that any measurement has, in the order of the catalogue."""
        present = set(self._of_models)
        for measurement in self._measurements:
            present.update(measurement.host, *measurement.gpus.values())
        return [tag for tag in METRICS if tag in present]

    def of(self, tag: str) -> Sequence[float | None]:
        """The `value` of each measurement, in their order."""
        column = self._columns.get(tag)
        if column is None:
            column = self._columns[tag] = self._column(canonical(tag))
        return column

    def _column(self, tag: str) -> Sequence[float | None]:
        try:
            return self._own.column(tag)
        except KeyError:
            pass
        if tag not in self.tags:
            return [None] * len(self._measurements)
        if METRICS[tag].is_of_the_host and tag not in self._of_models:
            return [measurement.host.get(tag) for measurement in self._measurements]
        return [measurement.value(tag) for measurement in self._measurements]

    @cached_property
    def _own(self) -> ValueTable:
        """The values of the model; empty for measurements of several models."""
        return ValueTable(
            [
                measurement.models[0].values if len(measurement.models) == 1 else empty()
                for measurement in self._measurements
            ]
        )

    @cached_property
    def _of_models(self) -> Set[str]:
        present: set[str] = set()
        for measurement in self._measurements:
            for model in measurement.models:
                present.update(model.values)
        return present


def few_requests(work: Workload, requests: int) -> str:
    """What to know about a p99 of so few requests."""
    return (
        f"{workload_words(work)}: p99 is based on {counted(requests, 'request')};"
        f" {REQUESTS_FOR_P99} are needed for 95 % confidence"
    )


Outcome = Measurement | Failure


def best_of(values: Iterable[float], tag: str) -> float | None:
    """The best of these values of a metric; None if there are none."""
    return (max if is_best_high(tag) else min)(values, default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceUse:
    """CPU seconds of the server's processes, of the load generators, and of other programs (None if
    unknown) within `seconds`; and the memory of the server's processes, in MB, without what they
    share: before and after.
    """

    seconds: float
    server_cpu_s: float
    client_cpu_s: float
    memory_before: float
    memory_after: float
    other_cpu_s: float | None = None

    @property
    def server_cores(self) -> float:
        """The cores that the server kept busy, on average."""
        return self.server_cpu_s / self.seconds if self.seconds else 0.0

    @property
    def client_cores(self) -> float:
        """The cores that the load generators kept busy, on average."""
        return self.client_cpu_s / self.seconds if self.seconds else 0.0

    @property
    def other_cores(self) -> float:
        """The cores that other programs kept busy, on average; 0 if unknown."""
        return (self.other_cpu_s or 0.0) / self.seconds if self.seconds else 0.0

    @property
    def growth(self) -> float:
        """The memory (MB) that the server took meanwhile; negative if it returned some."""
        return self.memory_after - self.memory_before


def joined(several: Sequence[ResourceUse | None]) -> ResourceUse | None:
    """The use of several measurements together, in their order; None if that of one is unknown."""
    known = [use for use in several if use is not None]
    if not known or len(known) < len(several):
        return None
    others = [use.other_cpu_s for use in known]
    return ResourceUse(
        seconds=sum(use.seconds for use in known),
        server_cpu_s=sum(use.server_cpu_s for use in known),
        client_cpu_s=sum(use.client_cpu_s for use in known),
        memory_before=known[0].memory_before,
        memory_after=known[-1].memory_after,
        other_cpu_s=None if None in others else sum(each or 0.0 for each in others),
    )
