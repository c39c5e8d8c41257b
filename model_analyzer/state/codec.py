# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profile values to checkpoint entries and back.

What many outcomes share (server setups, variants, how the load is generated) is written once and
referred to by its identity. Secrets in flags and variables are masked; identities do not depend
on them. What is empty is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from math import isfinite
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.conclusions import Conclusion, StopReason
from model_analyzer.domain.environment import Veil
from model_analyzer.domain.goals import Constraint, Goal, ModelGoal, Objective
from model_analyzer.domain.measurements import (
    Measurement,
    ModelMeasurement,
    Notice,
    NoticeKind,
    Outcome,
    Values,
)
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.models import ModelVariant, empty, fingerprint, freeze, thaw
from model_analyzer.domain.profiles import Device, TrialRecord
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.statistics import BatchStatistics, ModelStatistics, ServerStatistics
from model_analyzer.domain.trials import (
    Failure,
    FailureReason,
    Load,
    LoadKind,
    ServerSetup,
    Trial,
    Workload,
)
from model_analyzer.state.copies import copy_entry
from model_analyzer.state.lines import Entry, encode
from model_analyzer.state.own_key import own_key

SERVER_ONLY = "server-only"
CONCLUSION = "conclusion"
DEFINITIONS = frozenset({"setup", "variant", "generator"})
OUTCOMES = frozenset({"measurement", "failure"})


class Encoder:
    """Turns records into entries; what was written before is referred to.

    With the second outcome that needs a definition comes a copy of it: so the loss of any line
    costs one outcome at most.
    """

    def __init__(self) -> None:
        self._written: dict[str, _Definition] = {}
        self._kinds: dict[tuple[str, str], list[bytes]] = {}

    def record(self, key: str, record: TrialRecord) -> Iterator[Entry]:
        """The entries that are needed to read this record back, the outcome last."""
        trial = record.trial
        setup = trial.setup.identity[:_DIGITS]
        yield from self._definition("setup", setup, lambda: _setup_entry(trial.setup))
        workloads = []
        for work in trial.workloads:
            yield from self._variant(work.variant)
            generator = _generator(work)
            identity = fingerprint(generator)[:_DIGITS]
            yield from self._definition("generator", identity, partial(dict, generator))
            workloads.append(_workload(work, identity))
        yield {
            "entry": "measurement" if isinstance(record.outcome, Measurement) else "failure",
            "key": key,
            **({"node": record.node, "number": record.number} if record.node else {}),
            "setup": setup,
            "workloads": workloads,
            **_unless_empty("repetition", trial.repetition),
            **_outcome(record.outcome),
        }

    def _variant(self, variant: ModelVariant) -> Iterator[Entry]:
        for part in variant.composing:
            yield from self._variant(part)
        yield from self._definition(
            "variant",
            variant.identity[:_DIGITS],
            partial(_variant_entry, variant),
            name=variant.name,
            model=variant.model,
        )

    def _definition(
        self,
        kind: str,
        identity: str,
        fields: Callable[[], Entry],
        *,
        name: str = "",
        model: str = "",
    ) -> Iterator[Entry]:
        """The definition where it is used first, and a copy where it is used again."""
        key = f"{kind} {identity} {name}"
        definition = self._written.get(key)
        if definition is None:
            entry = {"entry": kind, "id": identity, **fields()}
            definition = self._written[key] = _Definition(encode(entry))
            self._kinds.setdefault((kind, model), []).append(definition.line)
            yield entry
        elif not definition.is_copied:
            definition.is_copied = True
            others = self._kinds[kind, model][-2:]
            like = next((line for line in others if line != definition.line), b"")
            yield copy_entry(definition.line, like)


@dataclass(slots=True)
class _Definition:
    """A line that outcomes refer to, and whether there is a second one."""

    line: bytes
    is_copied: bool = False


class Decoder:
    """Reads entries back. What an outcome refers to has to be defined before it."""

    def __init__(self) -> None:
        self._setups: dict[str, ServerSetup] = {}
        self._variants: dict[tuple[str, str], ModelVariant] = {}
        self._generators: dict[str, Mapping[str, Any]] = {}

    def learn(self, other: Decoder) -> None:
        """Takes over what the other one knows."""
        self._setups |= other._setups
        self._variants |= other._variants
        self._generators |= other._generators

    def define(self, entry: Entry) -> None:
        """Reads an entry that outcomes refer to. Raises ValueError if it is not complete."""
        try:
            match entry["entry"]:
                case "setup":
                    self._setups[entry["id"]] = _setup(entry)
                case "variant":
                    self._variants[entry["id"], entry["name"]] = self._variant(entry)
                case _:
                    self._generators[entry["id"]] = _generated(entry)
        except _INCOMPLETE as error:
            raise _incomplete(entry, error) from error

    def check(self, entry: Entry) -> Sequence[ModelVariant]:
        """The variants that an outcome is about. As thorough as `record`, and cheaper: it makes
        nothing that is kept. Raises ValueError if the entry is not complete.
        """
        try:
            _text(entry["key"])
            _text(entry.get("node", ""))
            _whole(entry.get("number", 0))
            _whole(entry.get("repetition", 0))
            self._setups[entry["setup"]]
            variants = [self._variant_of(work) for work in entry["workloads"]]
            _check_models(len(variants), _decoded_outcome(entry))
            return variants
        except _INCOMPLETE as error:
            raise _incomplete(entry, error) from error

    def record(self, entry: Entry) -> TrialRecord:
        """The record of an outcome. Raises ValueError if the entry is not complete."""
        try:
            _text(entry["key"])
            workloads = tuple([self._workload(work) for work in entry["workloads"]])
            repetition = _whole(entry.get("repetition", 0))
            trial = Trial(
                workloads=workloads, setup=self._setups[entry["setup"]], repetition=repetition
            )
            outcome = _decoded_outcome(entry)
            _check_models(len(workloads), outcome)
            return TrialRecord(
                trial, outcome, _text(entry.get("node", "")), _whole(entry.get("number", 0))
            )
        except _INCOMPLETE as error:
            raise _incomplete(entry, error) from error

    def _variant(self, entry: Entry) -> ModelVariant:
        return ModelVariant(
            model=_text(entry["model"]),
            name=_text(entry["name"]),
            files=_text(entry["files"]),
            config=_mapping(entry["config"]),
            composing=tuple(self._variants[part, name] for part, name in entry["composing"]),
        )

    def _variant_of(self, work: Mapping[str, Any]) -> ModelVariant:
        """The variant of a workload in which nothing is missing."""
        if "generator" in work:
            self._generators[work["generator"]]
        else:
            _generated(work)
        _LOAD_KINDS[work["kind"]]
        _whole(work["value"])
        _whole(work.get("batch_size", 1))
        return self._variants[work["variant"], work["name"]]

    def _workload(self, work: Mapping[str, Any]) -> Workload:
        identity = work.get("generator")
        # format 1 had it in place
        generated = _generated(work) if identity is None else self._generators[identity]
        return Workload(
            variant=self._variants[work["variant"], work["name"]],
            load=_load(work["kind"], _whole(work["value"]), _whole(work.get("batch_size", 1))),
            **generated,
        )


_LOAD_KINDS = {kind.value: kind for kind in LoadKind}  # faster than the enumeration itself
# so many digits of an identity tell apart what is in one file
_DIGITS = 16

_NUMBERS = (float, int)
_YEAR_10000_S = 253_402_300_800

# what reading something else than was written runs into
_INCOMPLETE = (KeyError, TypeError, AttributeError, ValueError, OverflowError)


def _incomplete(entry: Entry, error: Exception) -> ValueError:
    return ValueError(f"an incomplete {entry['entry']} entry ({error})")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise ValueError("no text where one should be")


def _whole(value: Any) -> int:
    if type(value) is int:
        return value
    raise ValueError("no whole number where one should be")


def _number(value: Any) -> float:
    """One that goals may have."""
    if type(value) in _NUMBERS and value >= 0 and isfinite(value):
        number: float = value
        return number
    raise ValueError("no number from 0 on where one should be")


def _mapping(value: Any) -> Mapping[str, Any]:
    if isinstance(value, dict):
        frozen: Mapping[str, Any] = freeze(value)
        return frozen
    raise ValueError("no mapping where one should be")


def _seconds(value: Any) -> float:
    """A duration, or a time since 1970 that a calendar has."""
    if type(value) in _NUMBERS and 0 <= value < _YEAR_10000_S:
        seconds: float = value
        return seconds
    raise ValueError("no time where one should be")


def _check_models(loaded: int, outcome: Outcome) -> None:
    """Raises ValueError where there is no model, or not as many are measured as are loaded."""
    if not loaded or (isinstance(outcome, Measurement) and len(outcome.models) != loaded):
        raise ValueError("measurements of more or fewer models than there are")


def encode_device(device: Device) -> Entry:
    return {"uuid": device.uuid, "name": device.name, "memory": device.memory}


def decode_device(entry: Mapping[str, Any]) -> Device:
    """Raises ValueError if it is not complete."""
    try:
        return Device(uuid=entry["uuid"], name=entry["name"], memory=float(entry["memory"]))
    except _INCOMPLETE as error:
        raise ValueError(f"an incomplete device ({error})") from error


def encode_server_only(gpus: Mapping[str, Values]) -> Entry:
    return {"entry": SERVER_ONLY, "gpus": {uuid: dict(values) for uuid, values in gpus.items()}}


def decode_server_only(entry: Entry) -> Mapping[str, Values]:
    """Raises ValueError if the entry is not complete."""
    try:
        return _values_by_name(entry["gpus"])
    except _INCOMPLETE as error:
        raise _incomplete(entry, error) from error


def encode_conclusion(subject: str, conclusion: Conclusion) -> Entry:
    fields = {**asdict(conclusion), "reason": conclusion.reason.name}
    return {**fields, "entry": CONCLUSION, "subject": subject}


def decode_conclusion(entry: Entry) -> tuple[str, Conclusion]:
    """The subject of a search, and what it came to. Raises ValueError if that is not complete."""
    try:
        return str(entry["subject"]), Conclusion(
            recommended=str(entry["recommended"]),
            goal=str(entry["goal"]),
            feasible=bool(entry["feasible"]),
            # first kept as `outcomes`, with repetitions: such a number counts where there were none
            trials=int(entry["trials"] if "trials" in entry else entry["outcomes"]),
            reason=_stop_reason(str(entry["reason"])),
            limit=None if entry.get("limit") is None else int(entry["limit"]),
            has_default_limit=bool(entry.get("has_default_limit", True)),
            margin=float(entry["margin"]),
            chance=float(entry["chance"]),
            gain=float(entry["gain"]),
        )
    except _INCOMPLETE as error:
        raise _incomplete(entry, error) from error


# The reasons were first kept as sentences.
_REASONS_IN_WORDS = {
    "it may take no more": StopReason.LIMIT,
    "the time is used up": StopReason.BUDGET,
    "nothing else is worth a measurement": StopReason.NOTHING_WORTH,
}


def _stop_reason(text: str) -> StopReason:
    if text in StopReason.__members__:
        return StopReason[text]
    return _REASONS_IN_WORDS.get(text, StopReason.UNKNOWN)


def encode_goal(goal: Goal) -> Sequence[Entry]:
    """What each model of a search is tuned for, in their order."""
    return [thaw(asdict(model)) for model in goal.models]


def decode_goal(models: Any) -> Goal | None:
    """The goal of a search; None where there is none, or this program cannot judge by it."""
    try:
        goal = Goal(models=tuple(map(_model_goal, models)))
    except _INCOMPLETE:
        return None
    is_known = all(tag in METRICS for tag in goal.tags)
    return goal if goal.models and is_known else None


def _model_goal(model: Mapping[str, Any]) -> ModelGoal:
    objectives = [
        Objective(tag=_text(one["tag"]), weight=_number(one["weight"]))
        for one in model["objectives"]
    ]
    if not (model["weighting"] and any(objective.weight for objective in objectives)):
        raise ValueError("no weight where one should be")
    return ModelGoal(
        objectives=tuple(objectives),
        constraints=tuple(
            Constraint(
                tag=_text(one["tag"]),
                minimum=_number_or_none(one["minimum"]),
                maximum=_number_or_none(one["maximum"]),
            )
            for one in model["constraints"]
        ),
        weighting=_number(model["weighting"]),
    )


def _number_or_none(value: Any) -> float | None:
    return None if value is None else _number(value)


@lru_cache(maxsize=1024)
def _load(kind: str, value: int, batch_size: int) -> Load:
    """Many trials are under the same load."""
    return Load(kind=_LOAD_KINDS[kind], value=value, batch_size=batch_size)


def _variant_entry(variant: ModelVariant) -> Entry:
    return {
        "model": variant.model,
        "name": variant.name,
        "files": variant.files,
        "config": thaw(variant.config),
        "composing": [[part.identity[:_DIGITS], part.name] for part in variant.composing],
    }


def _setup_entry(setup: ServerSetup) -> Entry:
    return {
        "launch": setup.launch,
        "version": setup.version,
        "protocol": setup.protocol,
        "devices": list(setup.devices),
        "flags": masked_values(setup.flags),
        "environment": dict(setup.kept_environment),
        "container": thaw(setup.kept_container),
        # without it: kept by a version that masked less
        "shown": sorted(setup.veil.shown),
    }


def _setup(entry: Entry) -> ServerSetup:
    shown = entry.get("shown")
    veil = Veil(key=own_key()) if shown is None else Veil(shown=frozenset(map(_text, shown)))
    return ServerSetup(
        launch=entry["launch"],
        version=entry["version"],
        protocol=entry["protocol"],
        devices=tuple(entry["devices"]),
        flags=freeze(entry["flags"]),
        environment=_texts(entry["environment"]),
        container=freeze(entry.get("container", {})),  # since format 2
        veil=veil,
    )


def _texts(values: Any) -> Mapping[str, str]:
    return MappingProxyType({_text(name): _text(value) for name, value in values.items()})


def _generator(work: Workload) -> dict[str, Any]:
    return {
        "flags": masked_values(work.flags),
        "inputs": work.inputs,
        "times_tokens": work.times_tokens,
        "genai_perf": masked_values(work.genai_perf),
        **_unless_empty("base", work.base),
    }


def _generated(entry: Entry) -> Mapping[str, Any]:
    """The fields of a workload that say how its load is generated."""
    return {
        "flags": freeze(entry["flags"]),
        "inputs": entry["inputs"],
        "times_tokens": entry.get("times_tokens", False),
        "genai_perf": freeze(entry.get("genai_perf", {})),
        "base": _text(entry.get("base", "")),
    }


def _workload(work: Workload, generator: str) -> Entry:
    return {
        "variant": work.variant.identity[:_DIGITS],
        "name": work.variant.name,
        "kind": work.load.kind.value,
        "value": work.load.value,
        **({} if work.load.batch_size == 1 else {"batch_size": work.load.batch_size}),
        "generator": generator,
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    common = {
        "commands": list(outcome.commands),
        "started": round(outcome.started, 3),
        "duration_s": round(outcome.duration_s, 3),
    }
    if isinstance(outcome, Failure):
        return {
            "reason": outcome.reason.name,
            "message": outcome.message,
            "log": list(outcome.log),
            "hint": outcome.hint,
            **common,
        }
    return {
        "models": [_model(model) for model in outcome.models],
        **_unless_empty("gpus", {uuid: dict(values) for uuid, values in outcome.gpus.items()}),
        **_unless_empty("host", dict(outcome.host)),
        **_unless_empty(
            "statistics",
            {name: _counts(model) for name, model in outcome.statistics.items()},
        ),
        **_unless_empty("loading_s", round(outcome.loading_s, 3)),
        **_unless_empty(
            "notices", [[notice.kind.value, notice.text] for notice in outcome.notices]
        ),
        **common,
    }


def _model(model: ModelMeasurement) -> Entry:
    composing = {name: dict(values) for name, values in model.composing.items()}
    return {
        "values": dict(model.values),
        "requests": model.requests,
        "windows": list(model.windows),
        **_unless_empty("composing", composing),
        **_unless_empty("raised", thaw(model.raised)),
    }


def _counts(model: ModelStatistics) -> Entry:
    return {
        "inferences": model.inferences,
        "executions": model.executions,
        "batches": [[batch.size, batch.count, batch.ms] for batch in model.batches],
    }


def _unless_empty(key: str, value: Any) -> dict[str, Any]:
    return {key: value} if value else {}


def _decoded_outcome(entry: Entry) -> Outcome:
    return _measurement(entry) if entry["entry"] == "measurement" else _failure(entry)


def _measurement(entry: Entry) -> Measurement:
    return Measurement(
        models=tuple([_model_measurement(model) for model in entry["models"]]),
        gpus=_values_by_name(entry.get("gpus")),
        host=_values(entry.get("host", {})),
        statistics=_statistics(entry.get("statistics")),
        notices=tuple(
            [Notice(kind=NoticeKind(kind), text=text) for kind, text in entry.get("notices", ())]
        ),
        commands=tuple(entry["commands"]),
        started=_seconds(entry["started"]),
        duration_s=_seconds(entry["duration_s"]),
        loading_s=_seconds(entry.get("loading_s", 0.0)),
    )


def _model_measurement(model: Mapping[str, Any]) -> ModelMeasurement:
    return ModelMeasurement(
        values=_values(model["values"]),
        requests=model["requests"],
        windows=_finite(model["windows"]),
        composing=_values_by_name(model.get("composing")),
        raised=_mapping(model["raised"]) if "raised" in model else empty(),
    )


def _statistics(models: dict[str, Any] | None) -> ServerStatistics:
    if not models:
        return empty()
    return MappingProxyType({name: _model_statistics(model) for name, model in models.items()})


def _model_statistics(model: Mapping[str, Any]) -> ModelStatistics:
    batches = [
        BatchStatistics(_whole(size), _whole(count), ms) for size, count, ms in model["batches"]
    ]
    _check_finite([batch.ms for batch in batches])
    return ModelStatistics(
        inferences=_whole(model["inferences"]),
        executions=_whole(model["executions"]),
        batches=tuple(batches),
    )


def _check_finite(values: Collection[float]) -> None:
    """Raises ValueError or TypeError where one is no finite number."""
    # the sum of what is finite nearly always is, and that of anything else never
    if not isfinite(sum(values)) and not all(map(isfinite, values)):
        raise ValueError("a value is no finite number")


def _finite(values: list[float]) -> tuple[float, ...]:
    _check_finite(values)
    return tuple(values)


def _values(values: dict[str, float]) -> Values:
    _check_finite(values.values())
    return MappingProxyType(values)


def _values_by_name(values: dict[str, dict[str, float]] | None) -> Mapping[str, Values]:
    if not values:
        return empty()
    return MappingProxyType({name: _values(inner) for name, inner in values.items()})


def _failure(entry: Entry) -> Failure:
    return Failure(
        reason=FailureReason[entry["reason"]],
        message=entry["message"],
        log=tuple(entry["log"]),
        hint=entry["hint"],
        commands=tuple(entry["commands"]),
        started=_seconds(entry["started"]),
        duration_s=_seconds(entry["duration_s"]),
    )
