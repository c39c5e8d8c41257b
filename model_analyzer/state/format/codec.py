# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profile values to checkpoint entries; `decoder` reads them back.

Parts that many outcomes share (server setups on machines, variants, how the load is generated) are
written once; outcomes refer to their identity. Secrets in flags and variables are masked;
identities do not depend on them. Empty fields are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import WITHOUT_GPU, Machine
from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Outcome, Values
from model_analyzer.domain.models import ModelVariant, fingerprint, freeze, thaw
from model_analyzer.domain.profiles import Conclusion, Proof, TrialRecord
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.slots import Asked, Lane, SharedHost
from model_analyzer.domain.statistics import ModelStatistics
from model_analyzer.domain.traffic import Traffic
from model_analyzer.domain.trials import Failure, ServerSetup, Workload
from model_analyzer.state.format.lines import Entry, copy_entry, encode

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T", bound="DataclassInstance")

FORMAT = 5

HEADER = "header"
METADATA = "metadata"
SEARCH = "search"
# keys of a search entry: its mode, the bases of its models (see `Workload.base`), a list with the
# goal of each model, which early versions did not write, and the kinds of hardware with GPUs
MODE = "search.mode"
BASES = "bases"
REFUSED_VARIANTS = "refused"
GOALS = "goals"
KINDS = "kinds"
SERVER_ONLY = "server-only"
CONCLUSION = "conclusion"
ASKED = "asked"
SHARED_HOST = "shared-host"
PROOF = "proof"  # since format 5
DEFINITIONS = frozenset({"machine", "setup", "variant", "generator"})
OUTCOMES = frozenset({"measurement", "failure"})


class Encoder:
    """Turns records into entries; definitions are written once.

    The second outcome that needs a definition comes with a copy of it: so the loss of any line
    costs at most one outcome.
    """

    def __init__(self) -> None:
        self._written: dict[str, _Definition] = {}
        self._kinds: dict[tuple[str, str], list[bytes]] = {}

    def record(self, key: str, record: TrialRecord) -> Iterator[Entry]:
        """The entries to read this record back, the outcome last."""
        trial = record.trial
        setup = yield from self._setup(trial.setup, record.outcome.machine)
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
            **_unless_empty("node", record.node),
            "setup": setup,
            "workloads": workloads,
            **_unless_empty("repetition", trial.repetition),
            **_outcome(record.outcome),
        }

    def _setup(self, setup: ServerSetup, machine: Machine | None) -> Generator[Entry, None, str]:
        """Defines the setup on a machine; returns its identity."""
        if machine is None:
            identity = setup.identity[:_DIGITS]
            yield from self._definition("setup", identity, partial(_setup_entry, setup))
            return identity
        place = machine.identity[:_DIGITS]
        yield from self._definition("machine", place, partial(_machine_entry, machine))
        identity = setup.identity[: _DIGITS // 2] + place[: _DIGITS // 2]
        yield from self._definition(
            "setup", identity, lambda: {**_setup_entry(setup), "machine": place}
        )
        return identity

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
        """The definition at its first use, and a copy of it at the second."""
        key = f"{kind} {identity} {name}"
        definition = self._written.get(key)
        if definition is None:
            entry = {"entry": kind, "id": identity, **fields()}
            definition = self._written[key] = _Definition(encode(entry))
            self._kinds.setdefault((kind, model), []).append(definition.line)
            yield entry
        elif not definition.is_copied:
            definition.is_copied = True
            recent = self._kinds[kind, model][-2:]
            similar = next((line for line in recent if line != definition.line), b"")
            yield copy_entry(definition.line, similar)


# enough digits of an identity for the definitions of one file
_DIGITS = 16


@dataclass(slots=True)
class _Definition:
    """A line that outcomes refer to, and whether the file has a copy of it."""

    line: bytes
    is_copied: bool = False


def stored(record: TrialRecord) -> TrialRecord:
    """The record as it is read back: secrets are masked, and times are rounded."""
    trial, outcome = record.trial, record.outcome
    workloads = tuple(
        _changed(
            work,
            flags=freeze(masked_values(work.flags)),
            genai_perf=freeze(masked_values(work.genai_perf)),
        )
        for work in trial.workloads
    )
    times = {"started": _rounded(outcome.started), "duration_s": _rounded(outcome.duration_s)}
    if isinstance(outcome, Measurement):
        times["loading_s"] = _rounded(outcome.loading_s)
    return record._replace(
        trial=_changed(trial, workloads=workloads, setup=trial.setup.kept),
        outcome=_changed(outcome, **times),
    )


def _changed(value: T, **fields: Any) -> T:
    """The value with these fields; the same object if they are equal."""
    is_same = all(getattr(value, name) == field for name, field in fields.items())
    return value if is_same else replace(value, **fields)


def _rounded(seconds: float) -> float:
    return round(seconds, 3)


def _machine_entry(machine: Machine) -> Entry:
    return {name: value for name, value in asdict(machine).items() if value not in ("", None, ())}


def encode_server_only(gpus: Mapping[str, Values]) -> Entry:
    return {"entry": SERVER_ONLY, "gpus": {uuid: dict(values) for uuid, values in gpus.items()}}


def encode_conclusion(lane: Lane, conclusion: Conclusion) -> Entry:
    fields = {**asdict(conclusion), "reason": conclusion.reason.name}
    return {**fields, "entry": CONCLUSION, **_lane(lane)}


def encode_asked(lane: Lane, number: int, asked: Asked) -> Entry:
    return {
        "entry": ASKED,
        **_lane(lane),
        "number": number,
        "key": asked.key,
        "after": list(asked.after),
    }


def encode_shared_host(shared: SharedHost) -> Entry:
    latency = shared.latency_p99
    return {
        **asdict(shared),
        "throughput": astuple(shared.throughput),
        "latency_p99": None if latency is None else astuple(latency),
        "started": _rounded(shared.started),
        "entry": SHARED_HOST,
    }


def encode_proof(proof: Proof) -> Entry:
    return {
        **{field.name: getattr(proof, field.name) for field in fields(proof)},
        "kind": proof.kind.name,
        "verdict": proof.verdict.name,
        "numbers": dict(proof.numbers),
        "at": _rounded(proof.at),
        "entry": PROOF,
    }


def _lane(lane: Lane) -> Entry:
    return {"subject": lane.subject, **({} if lane.kind == WITHOUT_GPU else {"kind": lane.kind})}


def encode_goal(goal: Goal) -> Sequence[Entry]:
    """The goals of the models of a search, in their order."""
    return [thaw(asdict(model)) for model in goal.models]


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
        **({"uncached": True} if setup.uncached else {}),
        # versions that masked less did not write it
        "shown": sorted(setup.veil.shown),
    }


def _generator(work: Workload) -> dict[str, Any]:
    return {
        "flags": masked_values(work.flags),
        "inputs": work.inputs,
        **({} if work.traffic is None else {"traffic": _traffic(work.traffic)}),
        "times_tokens": work.times_tokens,
        "genai_perf": masked_values(work.genai_perf),
        **_unless_empty("base", work.base),
    }


def _traffic(traffic: Traffic) -> Entry:
    return {**traffic.meaning, **_unless_empty("log", traffic.log)}


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
        "started": _rounded(outcome.started),
        "duration_s": _rounded(outcome.duration_s),
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
        **_unless_empty("loading_s", _rounded(outcome.loading_s)),
        **({} if outcome.resources is None else {"resources": asdict(outcome.resources)}),
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
        **_unless_empty("seconds", model.seconds),
        **_unless_empty(
            "histograms",
            {name: [each.text, each.clustering] for name, each in model.histograms.items()},
        ),
        **({} if model.joint is None else {"joint": model.joint.text}),
        **_unless_empty("composing", composing),
        **_unless_empty("raised", thaw(model.raised)),
        **_unless_empty("evidence", dict(model.evidence)),
    }


def _counts(model: ModelStatistics) -> Entry:
    return {
        "inferences": model.inferences,
        "executions": model.executions,
        "batches": [[batch.size, batch.count, batch.ms] for batch in model.batches],
        **({} if model.requests is None else {"requests": asdict(model.requests)}),
    }


def _unless_empty(key: str, value: Any) -> dict[str, Any]:
    return {key: value} if value else {}
