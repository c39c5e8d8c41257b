# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoint entries to profile values. All checks of entries are here.

Files may come from anybody, with correct checksums. So each kind of entry has a table of its
fields, which checks types and ranges. An invalid entry is reported and left out. Other code does
not check again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

from model_analyzer.domain.conclusions import Conclusion, StopReason
from model_analyzer.domain.environment import Veil
from model_analyzer.domain.goals import Constraint, Goal, ModelGoal, Objective
from model_analyzer.domain.hardware import WITHOUT_GPU, Machine
from model_analyzer.domain.histograms import Histogram, is_histogram
from model_analyzer.domain.joint_histogram import JointHistogram, is_joint_histogram
from model_analyzer.domain.lanes import Lane
from model_analyzer.domain.measurements import (
    Measurement,
    ModelMeasurement,
    Notice,
    NoticeKind,
    Outcome,
    Values,
)
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.domain.models import ModelVariant, empty
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.resources import ResourceUse
from model_analyzer.domain.shared_hosts import SharedHost, Shift
from model_analyzer.domain.slots import Asked
from model_analyzer.domain.statistics import BatchStatistics, ModelStatistics
from model_analyzer.domain.traffic import Arrivals, Stage, Traffic
from model_analyzer.domain.trials import (
    Failure,
    FailureReason,
    Load,
    LoadKind,
    ServerSetup,
    Trial,
    Workload,
)
from model_analyzer.state.format.codec import BASES, KINDS, MODE
from model_analyzer.state.format.config_fields import model_config
from model_analyzer.state.format.fields import (
    Field,
    Malformed,
    amount,
    amounts,
    anything,
    device,
    flags,
    integer,
    keyed,
    list_of,
    mapping_of,
    metrics,
    name,
    node,
    number,
    one_of,
    optional,
    or_null,
    record,
    row,
    seconds,
    switch,
    text,
    tree,
)
from model_analyzer.state.format.lines import Entry
from model_analyzer.state.own_key import own_key

T = TypeVar("T")

_EMPTY: Mapping[str, Any] = empty()
_TAGS = {tag: tag for tag in (*METRICS, *ALIASES)}
_count = integer()
_texts = list_of(text)


def _pair(*items: T) -> tuple[T, ...]:
    return items


# -- definitions, which outcomes refer to ----------------------------------------------------------


def _container(value: Any) -> Mapping[str, Any]:
    arguments = tree(value)
    keyed(environment=optional(list_of(text), ()))(value)
    return arguments


def _make_setup(shown: Sequence[str] | None, **fields: Any) -> ServerSetup:
    veil = Veil(key=own_key()) if shown is None else Veil(shown=frozenset(shown))
    return ServerSetup(**fields, veil=veil)


_machine = record(
    Machine,
    host=optional(text, ""),
    devices=optional(list_of(device), ()),
    driver=optional(text, ""),
    processor=optional(text, ""),
    cores=optional(_count, None),
    niceness=optional(integer(-20, 19), None),
    threads=optional(text, ""),
)
_setup = record(
    _make_setup,
    launch=text,
    version=text,
    protocol=text,
    devices=list_of(text),
    flags=flags,
    environment=mapping_of(text),
    container=optional(_container, _EMPTY),  # since format 2
    shown=optional(list_of(text), None),  # versions that masked less did not write it
)
_traffic = record(
    Traffic,
    arrivals=one_of({arrivals.value: arrivals for arrivals in Arrivals}),
    seed=_count,
    cv=optional(number(0), 1.0),
    stages=optional(list_of(row(Stage, amount, amount)), ()),
    speed=optional(number(0), 1.0),
    column=optional(text, ""),
    unit=optional(text, ""),
    input=optional(text, ""),
    generators=optional(_count, 1),
    log=optional(text, ""),
)
_generator = keyed(
    flags=flags,
    inputs=text,
    traffic=optional(_traffic, None),
    times_tokens=optional(switch, False),
    genai_perf=optional(flags, _EMPTY),
    base=optional(text, ""),
)
_variant = keyed(
    model=name,
    name=name,
    files=text,
    config=model_config,
    composing=list_of(row(_pair, name, name)),
)
_identity = keyed(id=name)

# -- outcomes --------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _load(kind: str, value: int, batch_size: int) -> Load:
    """A load; many trials share it."""
    return Load(kind=LoadKind(kind), value=value, batch_size=batch_size)


@lru_cache(maxsize=1024)
def _shared(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The same texts. Many measurements have the same commands: those of other variants under the
    same load.
    """
    return texts


def _commands(value: Any) -> tuple[str, ...]:
    return _shared(_texts(value))


def _notice(kind: NoticeKind, text: str) -> Notice:
    return Notice(kind=kind, text=text)


def _histogram(value: Any) -> str:
    # its bins are read when somebody needs them
    if type(value) is str and is_histogram(value):
        return value
    raise Malformed("a histogram", value)


def _joint(value: Any) -> JointHistogram:
    if type(value) is str and is_joint_histogram(value):
        return JointHistogram(value)
    raise Malformed("a joint histogram", value)


_work = keyed(
    variant=name,
    name=name,
    kind=one_of({kind.value: kind.value for kind in LoadKind}),  # quicker than the kind itself
    value=_count,
    batch_size=optional(integer(1), 1),
    generator=optional(name, ""),  # in format 1, its fields are in the workload
)
_common: Mapping[str, Field[Any]] = {
    "commands": _commands,
    "started": seconds,
    "duration_s": seconds,
}
_failure = keyed(
    reason=one_of(FailureReason.__members__),
    message=text,
    log=list_of(text),
    hint=text,
    **_common,
)
_model = record(
    ModelMeasurement,
    values=metrics,
    requests=or_null(_count),
    windows=amounts,
    seconds=optional(seconds, 0.0),
    histograms=optional(mapping_of(row(Histogram, _histogram, number(1))), _EMPTY),
    joint=optional(_joint, None),
    composing=optional(mapping_of(metrics), _EMPTY),
    raised=optional(flags, _EMPTY),
)
_counter = integer(0, 2**64 - 1)  # as Triton counts
_statistics = record(
    ModelStatistics,
    inferences=_counter,
    executions=_counter,
    batches=list_of(row(BatchStatistics, _counter, _counter, amount)),
)
_resources = record(
    ResourceUse,
    seconds=seconds,
    server_cpu_s=seconds,
    client_cpu_s=seconds,
    memory_before=amount,
    memory_after=amount,
)
_measurement = keyed(
    models=list_of(_model),
    gpus=optional(mapping_of(metrics), _EMPTY),
    host=optional(metrics, _EMPTY),
    statistics=optional(mapping_of(_statistics), _EMPTY),
    notices=optional(
        list_of(row(_notice, one_of({kind.value: kind for kind in NoticeKind}), text)), ()
    ),
    loading_s=optional(seconds, 0.0),
    resources=optional(_resources, None),
    **_common,
)


class Decoder:
    """Reads outcomes, and before them the definitions that they refer to."""

    def __init__(self) -> None:
        self._machines: dict[str, Machine] = {}
        self._setups: dict[str, tuple[ServerSetup, Machine | None]] = {}
        self._variants: dict[tuple[str, str], ModelVariant] = {}
        self._generators: dict[str, Mapping[str, Any]] = {}
        self._place = keyed(
            machine=optional(partial(_defined, self._machines, "machine"), None)  # since format 4
        )
        self._trial = keyed(
            key=name,
            node=optional(node, ""),
            setup=partial(_defined, self._setups, "setup"),
            workloads=list_of(self._workload),
            repetition=optional(_count, 0),
        )

    @property
    def machines(self) -> Collection[Machine]:
        return self._machines.values()

    def learn(self, other: Decoder) -> None:
        """Adds the definitions of another decoder."""
        self._machines.update(other._machines)
        self._setups.update(other._setups)
        self._variants.update(other._variants)
        self._generators.update(other._generators)

    def define(self, entry: Entry) -> None:
        """Adds a definition. Raises ValueError if it is invalid."""
        _decoded(self._define, entry)

    def record(self, entry: Entry) -> TrialRecord:
        """The record of an outcome. Raises ValueError if it is invalid."""
        return _decoded(self._record, entry)

    def _define(self, entry: Entry) -> None:
        identity = _identity(entry)["id"]
        match entry["entry"]:
            case "machine":
                self._machines[identity] = _machine(entry)
            case "setup":
                self._setups[identity] = _setup(entry), self._place(entry)["machine"]
            case "variant":
                fields = _variant(entry)
                fields["composing"] = tuple(map(self._variant, fields["composing"]))
                self._variants[identity, fields["name"]] = ModelVariant(**fields)
            case _:
                self._generators[identity] = _generator(entry)

    def _record(self, entry: Entry) -> TrialRecord:
        fields = self._trial(entry)
        workloads = fields["workloads"]
        setup, machine = fields["setup"]
        outcome: Outcome
        if entry["entry"] == "measurement":
            outcome = Measurement(**_measurement(entry), machine=machine)
        else:
            outcome = Failure(**_failure(entry), machine=machine)
        measured = len(outcome.models) if isinstance(outcome, Measurement) else len(workloads)
        if measured != len(workloads) or not workloads:
            raise ValueError("measurements of more or fewer models than its workloads have")
        trial = Trial(
            workloads=workloads,
            setup=setup,
            repetition=fields["repetition"],
        )
        return TrialRecord(trial, outcome, fields["node"])

    def _workload(self, entry: Any) -> Workload:
        work = _work(entry)
        generator = work["generator"]
        return Workload(
            variant=self._variant((work["variant"], work["name"])),
            load=_load(work["kind"], work["value"], work["batch_size"]),
            **(
                _defined(self._generators, "generator", generator)
                if generator
                else _generator(entry)
            ),
        )

    def _variant(self, reference: tuple[str, str]) -> ModelVariant:
        return _defined(self._variants, "variant", reference)


def _defined(table: Mapping[Any, T], kind: str, identity: Any) -> T:
    try:
        return table[identity]
    except (KeyError, TypeError):
        raise Malformed(f"the identity of an earlier {kind}", identity) from None


def _decoded(field: Field[T], entry: Entry) -> T:
    try:
        return field(entry)
    except ValueError as error:
        raise ValueError(f"an unusable {entry['entry']} entry ({error})") from None


# -- entries of which a file has few ---------------------------------------------------------------

_lane = keyed(subject=text, kind=optional(name, WITHOUT_GPU))
_gpus = keyed(gpus=mapping_of(metrics))
_metadata = keyed(key=text, value=anything)
_search = keyed(
    subject=text,
    **{
        MODE: optional(text, ""),
        BASES: optional(list_of(text), ()),
        KINDS: optional(list_of(text), ()),
    },
)
_copy = keyed(like=optional(text, ""), lines=text)
_contents = keyed(outcomes=text)


def decode_server_only(entry: Entry) -> Mapping[str, Values]:
    """The values of each GPU by its UUID. Raises ValueError if the entry is invalid."""
    gpus: Mapping[str, Values] = _decoded(_gpus, entry)["gpus"]
    return gpus


_asked = keyed(number=_count, key=text, after=list_of(text))


def decode_asked(entry: Entry) -> tuple[Lane, int, Asked]:
    """A question to a search, with its number. Raises ValueError if the entry is invalid."""
    lane, fields = Lane(**_decoded(_lane, entry)), _decoded(_asked, entry)
    return lane, fields["number"], Asked(key=fields["key"], after=fields["after"])


_shift = row(Shift, number(), amount)

_shared_host = record(
    SharedHost,
    host=name,
    slots=integer(1),
    model=text,
    trial=name,
    throughput=_shift,
    latency_p99=or_null(_shift),
    started=seconds,
)


def decode_shared_host(entry: Entry) -> SharedHost:
    """The test of a host with several slots. Raises ValueError if the entry is invalid."""
    shared: SharedHost = _decoded(_shared_host, entry)
    return shared


def decode_metadata(entry: Entry) -> tuple[str, Any]:
    """A key with its value; None if it was removed. Raises ValueError if the entry is invalid."""
    return _decoded(_metadata, entry)["key"], entry["value"]


def decode_search(entry: Entry) -> tuple[str, Entry]:
    """The subject of a search, and its settings. Raises ValueError if the entry is invalid."""
    return _decoded(_search, entry)["subject"], entry


def decode_copy(entry: Entry) -> Entry:
    """Copies of other entries. Raises ValueError if the entry is invalid."""
    _decoded(_copy, entry)
    return entry


def decode_contents(entry: Entry) -> str:
    """The list of the outcomes of a file. Raises ValueError if the entry is invalid."""
    outcomes: str = _decoded(_contents, entry)["outcomes"]
    return outcomes


# Early versions wrote the reasons as sentences.
_REASONS_BY_SENTENCE = {
    "it may take no more": StopReason.LIMIT,
    "the time is used up": StopReason.BUDGET,
    "nothing else is worth a measurement": StopReason.NOTHING_WORTH,
}


def _reason(value: Any) -> StopReason:
    reason = text(value)
    if reason in StopReason.__members__:
        return StopReason[reason]
    return _REASONS_BY_SENTENCE.get(reason, StopReason.UNKNOWN)


_conclusion = record(
    Conclusion,
    recommended=text,
    goal=text,
    feasible=switch,
    trials=_count,
    reason=_reason,
    limit=optional(or_null(_count), None),
    has_default_limit=optional(switch, True),
    margin=number(),
    chance=number(),
    gain=number(),
)


def decode_conclusion(entry: Entry) -> tuple[Lane, Conclusion]:
    """A search and its conclusion. Raises ValueError if the entry is invalid."""
    if "trials" not in entry and "outcomes" in entry:
        # early versions wrote the number of outcomes, repetitions included
        entry = {**entry, "trials": entry["outcomes"]}
    return Lane(**_decoded(_lane, entry)), _decoded(_conclusion, entry)


_goal = list_of(
    record(
        ModelGoal,
        objectives=list_of(record(Objective, tag=one_of(_TAGS), weight=amount)),
        constraints=list_of(
            record(Constraint, tag=one_of(_TAGS), minimum=or_null(amount), maximum=or_null(amount))
        ),
        weighting=amount,
    )
)


def decode_goal(models: Any) -> Goal | None:
    """The goal of a search; None if it is missing, or if this version does not know it."""
    try:
        goal = Goal(models=_goal(models))
    except Malformed:
        return None
    weights = [sum(objective.weight for objective in model.objectives) for model in goal.models]
    is_weighed = all(weights) and all(model.weighting for model in goal.models)
    return goal if weights and is_weighed else None
