# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checkpoint entries to profile values.

`schema` has the types and ranges of all fields. What it cannot say is checked here: references to
other entries, and the texts of histograms. An invalid entry is reported and left out. Other code
does not check again.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import UNSET, DecodeError, UnsetType
from msgspec.json import Decoder as JsonDecoder
from msgspec.structs import asdict

from model_analyzer.domain.goals import Constraint, Goal, ModelGoal, Objective
from model_analyzer.domain.hardware import Device, Machine
from model_analyzer.domain.histograms import (
    Histogram,
    JointHistogram,
    is_histogram,
    is_joint_histogram,
)
from model_analyzer.domain.measurements import (
    BatchStatistics,
    Measurement,
    ModelMeasurement,
    ModelStatistics,
    Notice,
    RequestCounts,
    ResourceUse,
    ValueRow,
    Values,
)
from model_analyzer.domain.metrics import ALIASES, METRICS
from model_analyzer.domain.models import ModelConfig, ModelVariant, empty, freeze, group_name
from model_analyzer.domain.profiles import (
    Conclusion,
    Proof,
    ProofKind,
    StopReason,
    TrialRecord,
    Verdict,
)
from model_analyzer.domain.secrets import Veil
from model_analyzer.domain.slots import Asked, Lane, SharedHost, Shift
from model_analyzer.domain.traffic import Stage, Traffic
from model_analyzer.domain.trials import (
    Failure,
    FailureReason,
    Load,
    LoadKind,
    ServerSetup,
    Trial,
    Workload,
)
from model_analyzer.noise.laws import judged
from model_analyzer.state.format import schema
from model_analyzer.state.format.codec import Entry, decode_again
from model_analyzer.state.format.schema import Malformed, checked, model_config
from model_analyzer.state.own_key import own_key

K = TypeVar("K")
T = TypeVar("T")
V = TypeVar("V")

_TAGS = frozenset((*METRICS, *ALIASES))
_FLOAT = frozenset({float})
_EMPTY = empty()

# A checked outcome: it refers to definitions that a `Decoder` has.
CheckedOutcome = schema.StoredMeasurement | schema.StoredFailure
_OUTCOME = JsonDecoder(CheckedOutcome)


@lru_cache(maxsize=1024)
def _load(kind: LoadKind, value: int, batch_size: int) -> Load:
    """A load; many trials share it."""
    return Load(kind=kind, value=value, batch_size=batch_size)


@lru_cache(maxsize=1024)
def _shared(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The same texts. Many measurements have the same commands: those of other variants under the
    same load.
    """
    return texts


class Decoder:
    """Reads outcomes, and before them the definitions that they refer to."""

    def __init__(self) -> None:
        self._machines: dict[str, Machine] = {}
        self._setups: dict[str, tuple[ServerSetup, Machine | None]] = {}
        self._variants: dict[tuple[str, str], ModelVariant] = {}
        self._generators: dict[str, Mapping[str, Any]] = {}
        self._has_unverified = False

    @property
    def has_unverified(self) -> bool:
        """Whether the model files of any variant are unknown, as in upstream's checkpoints."""
        return self._has_unverified

    @property
    def machines(self) -> Collection[Machine]:
        return self._machines.values()

    def learn(self, other: Decoder) -> None:
        """Adds the definitions of another decoder."""
        self._machines.update(other._machines)
        self._setups.update(other._setups)
        self._variants.update(other._variants)
        self._generators.update(other._generators)
        self._has_unverified |= other._has_unverified

    def define(self, entry: Entry) -> None:
        """Adds a definition. Raises ValueError if it is invalid."""
        try:
            self._define(entry)
        except ValueError as error:
            raise _unusable(entry, error) from None

    def check(self, entry: Entry) -> CheckedOutcome:
        """The fields of an outcome. Raises ValueError if it is invalid."""
        try:
            return self._check(entry)
        except ValueError as error:
            raise _unusable(entry, error) from None

    def record(self, entry: Entry) -> TrialRecord:
        """The record of an outcome. Raises ValueError if it is invalid."""
        return self._record(self.check(entry))

    def record_again(self, line: bytes) -> TrialRecord:
        """The same for the line of an outcome that was checked before; takes less time."""
        return self._record(self._check_again(line))

    def models(self, line: bytes) -> str:
        """The names of the models of such a line, as `Trial.models` has them."""
        works = self._check_again(line).workloads
        return group_name([self._variants[work.variant, work.name].model for work in works])

    def variants(self, outcome: CheckedOutcome) -> str:
        """The names of its variants, as `Trial.variants` has them."""
        works = outcome.workloads
        # not its own names: those of a variant are one object, of which there are fewer
        return group_name([self._variants[work.variant, work.name].name for work in works])

    def _define(self, entry: Entry) -> None:
        match entry["entry"]:
            case "machine":
                machine = checked(schema.StoredMachine, entry)
                self._machines[machine.id] = _machine(machine)
            case "setup":
                setup = checked(schema.Setup, entry)
                self._setups[setup.id] = _setup(setup), self._machine(setup)
            case "variant":
                variant = checked(schema.Variant, entry)
                self._has_unverified |= not variant.files
                self._variants[variant.id, variant.name] = ModelVariant(
                    model=variant.model,
                    name=variant.name,
                    files=variant.files,
                    config=_config(variant),
                    composing=tuple(
                        [_defined(self._variants, "variant", pair) for pair in variant.composing]
                    ),
                )
            case _:
                identity = checked(schema.Definition, entry).id
                self._generators[identity] = _generator(checked(schema.StoredGenerator, entry))

    def _machine(self, setup: schema.Setup) -> Machine | None:
        if setup.machine is UNSET:
            return None
        return _defined(self._machines, "machine", setup.machine, "machine")

    def _check(self, entry: Entry) -> CheckedOutcome:
        outcome: CheckedOutcome
        if entry["entry"] == "measurement":
            outcome = checked(schema.StoredMeasurement, entry)
            measured = len(outcome.models)
            _check_histograms(outcome)
        else:
            outcome = checked(schema.StoredFailure, entry)
            measured = len(outcome.workloads)
            if outcome.reason not in FailureReason.__members__:
                reasons = ", ".join(FailureReason.__members__)
                raise Malformed(f"one of {reasons}", outcome.reason, "reason")
        _defined(self._setups, "setup", outcome.setup, "setup")
        for index, work in enumerate(outcome.workloads):
            try:
                _defined(self._variants, "variant", (work.variant, work.name))
                if work.generator is UNSET:
                    work.generator = self._add_generator(entry["workloads"][index])
                _defined(self._generators, "generator", work.generator)
            except Malformed as error:
                raise error.inside(index).inside("workloads") from None
        if measured != len(outcome.workloads) or not measured:
            raise ValueError("measurements of more or fewer models than its workloads have")
        return outcome

    def _check_again(self, line: bytes) -> CheckedOutcome:
        try:
            outcome: CheckedOutcome = _OUTCOME.decode(line)
        except DecodeError:  # it is valid, but only the slower parser knows it
            return self.check(decode_again(line))
        for work in outcome.workloads:
            if work.generator is UNSET:
                return self.check(decode_again(line))  # which completes it
        return outcome

    def _record(self, outcome: CheckedOutcome) -> TrialRecord:
        setup, machine = self._setups[outcome.setup]
        trial = Trial(
            workloads=tuple([self._workload(work) for work in outcome.workloads]),
            setup=setup,
            repetition=outcome.repetition,
        )
        made = (
            _measurement(outcome, machine)
            if isinstance(outcome, schema.StoredMeasurement)
            else _failure(outcome, machine)
        )
        return TrialRecord(trial, judged(trial, made), outcome.node)

    def _add_generator(self, work: Any) -> str:
        """The identity of the generator whose fields a workload has itself, as in format 1."""
        generator = checked(schema.StoredGenerator, work)
        identity = str(generator)
        self._generators.setdefault(identity, _generator(generator))
        return identity

    def _workload(self, work: schema.StoredWorkload) -> Workload:
        return Workload(
            variant=self._variants[work.variant, work.name],
            load=_load(work.kind, work.value, work.batch_size),
            **self._generators[str(work.generator)],
        )


def _defined(table: Mapping[K, T], kind: str, identity: K, place: str = "") -> T:
    try:
        return table[identity]
    except KeyError:
        raise Malformed(f"the identity of an earlier {kind}", identity, place) from None


def _unusable(entry: Entry, error: ValueError) -> ValueError:
    return ValueError(f"an unusable {entry['entry']} entry ({error})")


# -- definitions, which outcomes refer to ----------------------------------------------------------


def _machine(machine: schema.StoredMachine) -> Machine:
    present = {name: each for name, each in asdict(machine).items() if each is not UNSET}
    del present["id"]
    return Machine(**{**present, "devices": devices_of(machine.devices)})


def _setup(setup: schema.Setup) -> ServerSetup:
    try:
        checked(schema.Container, setup.container)
    except Malformed as error:
        raise error.inside("container") from None
    shown = or_none(setup.shown)
    return ServerSetup(
        launch=setup.launch,
        version=setup.version,
        protocol=setup.protocol,
        devices=tuple(setup.devices),
        flags=freeze(setup.flags),
        environment=MappingProxyType(setup.environment),
        container=freeze(setup.container),
        uncached=setup.uncached,
        veil=Veil(key=own_key()) if shown is None else Veil(shown=frozenset(shown)),
    )


def _config(variant: schema.Variant) -> ModelConfig:
    try:
        return model_config(variant.config)
    except Malformed as error:
        raise error.inside("config") from None


def _generator(generator: schema.StoredGenerator) -> Mapping[str, Any]:
    """The fields of a workload that say how its load is generated."""
    traffic = or_none(generator.traffic)
    return {
        "flags": freeze(generator.flags),
        "inputs": generator.inputs,
        "traffic": None if traffic is None else _traffic(traffic),
        "times_tokens": generator.times_tokens,
        "genai_perf": freeze(generator.genai_perf),
        "base": generator.base,
    }


def _traffic(traffic: schema.StoredTraffic) -> Traffic:
    stages = tuple([Stage(*stage) for stage in traffic.stages])
    return Traffic(**{**asdict(traffic), "stages": stages})


# -- outcomes --------------------------------------------------------------------------------------


def _check_histograms(measurement: schema.StoredMeasurement) -> None:
    for index, model in enumerate(measurement.models):
        place = f"models[{index}]"
        for name, (text, _) in model.histograms.items():
            if not is_histogram(text):
                raise Malformed("a histogram", text, f"{place}.histograms.{name}")
        if model.joint is not UNSET and not is_joint_histogram(model.joint):
            raise Malformed("a joint histogram", model.joint, f"{place}.joint")


def _measurement(measurement: schema.StoredMeasurement, machine: Machine | None) -> Measurement:
    # most of these are empty, and there may be a million: so no more calls than necessary
    gpus, statistics, notices = measurement.gpus, measurement.statistics, measurement.notices
    resources = measurement.resources
    return Measurement(
        models=tuple([_model(model) for model in measurement.models]),
        gpus=_each(values_of, gpus) if gpus else _EMPTY,
        host=values_of(measurement.host) if measurement.host else _EMPTY,
        statistics=_each(_statistics, statistics) if statistics else _EMPTY,
        notices=tuple([Notice(kind=kind, text=text) for kind, text in notices]) if notices else (),
        commands=_shared(tuple(measurement.commands)),
        started=measurement.started,
        duration_s=measurement.duration_s,
        loading_s=measurement.loading_s,
        resources=None if resources is UNSET else ResourceUse(**asdict(resources)),
        machine=machine,
    )


def _model(model: schema.Model) -> ModelMeasurement:
    histograms, joint, composing = model.histograms, model.joint, model.composing
    return ModelMeasurement(
        values=values_of(model.values),
        requests=model.requests,
        windows=tuple(model.windows),
        seconds=model.seconds,
        histograms=_each(_histogram, histograms) if histograms else _EMPTY,
        joint=None if joint is UNSET else JointHistogram(joint),
        composing=_each(values_of, composing) if composing else _EMPTY,
        raised=freeze(model.raised) if model.raised else _EMPTY,
        evidence=values_of(model.evidence) if model.evidence else _EMPTY,
    )


def _histogram(pair: tuple[str, float]) -> Histogram:
    return Histogram(*pair)


def _failure(failure: schema.StoredFailure, machine: Machine | None) -> Failure:
    return Failure(
        reason=FailureReason[failure.reason],
        message=failure.message,
        log=tuple(failure.log),
        hint=failure.hint,
        commands=_shared(tuple(failure.commands)),
        started=failure.started,
        duration_s=failure.duration_s,
        machine=machine,
    )


def _statistics(model: schema.Statistics) -> ModelStatistics:
    return ModelStatistics(
        inferences=model.inferences,
        executions=model.executions,
        batches=tuple([BatchStatistics(*batch) for batch in model.batches]),
        requests=None if model.requests is UNSET else RequestCounts(**asdict(model.requests)),
    )


def values_of(values: schema.Values) -> Values:
    """The values in little memory."""
    numbers = [*values.values()]  # of other iterables, an array takes more memory
    if _FLOAT.issuperset(map(type, numbers)):
        return ValueRow(tuple(values), array("d", numbers))
    return MappingProxyType(values)


def _each(make: Callable[[V], T], items: dict[str, V]) -> Mapping[str, T]:
    return MappingProxyType({name: make(item) for name, item in items.items()})


# -- parts that several kinds of entries have ------------------------------------------------------


def devices_of(devices: Sequence[schema.StoredDevice]) -> tuple[Device, ...]:
    return tuple([Device(**asdict(each)) for each in devices])


def or_none(value: T | UnsetType) -> T | None:
    """The value of a field that may be missing."""
    return None if isinstance(value, UnsetType) else value


# -- entries of which a file has few ---------------------------------------------------------------


def decode_server_only(entry: Entry) -> Mapping[str, Values]:
    """The values of each GPU by its UUID. Raises ValueError if the entry is invalid."""
    return _each(values_of, _usable(schema.ServerOnly, entry).gpus)


def decode_asked(entry: Entry) -> tuple[Lane, int, Asked]:
    """A question to a search, with its number. Raises ValueError if the entry is invalid."""
    lane, asked = _lane(entry), _usable(schema.StoredAsked, entry)
    return lane, asked.number, Asked(key=asked.key, after=tuple(asked.after))


def decode_shared_host(entry: Entry) -> SharedHost:
    """The test of a host with several slots. Raises ValueError if the entry is invalid."""
    shared = _usable(schema.StoredSharedHost, entry)
    latency = shared.latency_p99
    shifts = {
        "throughput": Shift(*shared.throughput),
        "latency_p99": None if latency is None else Shift(*latency),
    }
    return SharedHost(**{**asdict(shared), **shifts})


def decode_proof(entry: Entry) -> Proof:
    """A proof. Raises ValueError if the entry is invalid."""
    proof = _usable(schema.StoredProof, entry)
    try:
        kind, verdict = ProofKind[proof.kind], Verdict[proof.verdict]
    except KeyError as error:
        raise _unusable(entry, ValueError(f"unknown name {error}")) from None
    values = {"kind": kind, "verdict": verdict, "numbers": values_of(proof.numbers)}
    return Proof(**{**asdict(proof), **values})


def decode_metadata(entry: Entry) -> tuple[str, Any]:
    """A key with its value; None if it was removed. Raises ValueError if the entry is invalid."""
    metadata = _usable(schema.Metadata, entry)
    return metadata.key, metadata.value


def decode_search(entry: Entry) -> tuple[str, Entry]:
    """The subject of a search, and its settings. Raises ValueError if the entry is invalid."""
    return _usable(schema.StoredSearch, entry).subject, entry


def decode_copy(entry: Entry) -> Entry:
    """Copies of other entries. Raises ValueError if the entry is invalid."""
    _usable(schema.Copy, entry)
    return entry


def decode_contents(entry: Entry) -> str:
    """The list of the outcomes of a file. Raises ValueError if the entry is invalid."""
    return _usable(schema.Contents, entry).outcomes


# Early versions wrote the reasons as sentences.
_REASONS_BY_SENTENCE = {
    "it may take no more": StopReason.LIMIT,
    "the time is used up": StopReason.BUDGET,
    "nothing else is worth a measurement": StopReason.NOTHING_WORTH,
}


def _reason(text: str) -> StopReason:
    if text in StopReason.__members__:
        return StopReason[text]
    return _REASONS_BY_SENTENCE.get(text, StopReason.UNKNOWN)


def decode_conclusion(entry: Entry) -> tuple[Lane, Conclusion]:
    """A search and its conclusion. Raises ValueError if the entry is invalid."""
    if "trials" not in entry and "outcomes" in entry:
        # early versions wrote the number of outcomes, repetitions included
        entry = {**entry, "trials": entry["outcomes"]}
    lane, conclusion = _lane(entry), _usable(schema.StoredConclusion, entry)
    return lane, Conclusion(**{**asdict(conclusion), "reason": _reason(conclusion.reason)})


def _lane(entry: Entry) -> Lane:
    lane = _usable(schema.StoredLane, entry)
    return Lane(lane.subject, lane.kind)


def _usable(kind: type[T], entry: Entry) -> T:
    try:
        return checked(kind, entry)
    except Malformed as error:
        raise _unusable(entry, error) from None


def decode_goal(models: Any) -> Goal | None:
    """The goal of a search; None if it is missing, or if this version does not know it."""
    try:
        goals = checked(list[schema.StoredModelGoal], models)
    except Malformed:
        return None
    tags = {each.tag for goal in goals for each in goal.objectives}
    tags |= {each.tag for goal in goals for each in goal.constraints}
    weights = [sum(objective.weight for objective in goal.objectives) for goal in goals]
    is_weighed = all(weights) and all(goal.weighting for goal in goals)
    if not (goals and is_weighed and tags <= _TAGS):
        return None
    return Goal(models=tuple(map(_model_goal, goals)))


def _model_goal(goal: schema.StoredModelGoal) -> ModelGoal:
    return ModelGoal(
        objectives=tuple([Objective(**asdict(each)) for each in goal.objectives]),
        constraints=tuple([Constraint(**asdict(each)) for each in goal.constraints]),
        weighting=goal.weighting,
    )
