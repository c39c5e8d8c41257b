# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profile values to checkpoint entries and back.

Variants and server setups are written once and referred to by their identity. Secrets in
flags and variables are masked; identities do not depend on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.measurements import (
    Measurement,
    ModelMeasurement,
    Notice,
    NoticeKind,
    Outcome,
    Values,
)
from model_analyzer.domain.models import ModelVariant, freeze, thaw
from model_analyzer.domain.profiles import Device, TrialRecord
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.trials import (
    Failure,
    FailureReason,
    Load,
    LoadKind,
    ServerSetup,
    Trial,
    Workload,
)
from model_analyzer.state.lines import Entry

SERVER_ONLY = "server-only"


class Encoder:
    """Turns records into entries; what was written before is referred to."""

    def __init__(self) -> None:
        self._written: set[str] = set()

    def record(self, key: str, record: TrialRecord) -> Iterator[Entry]:
        """The entries that are needed to read this record back, the outcome last."""
        trial = record.trial
        if self._is_new(trial.setup.identity):
            yield _setup_entry(trial.setup)
        for work in trial.workloads:
            yield from self._variant(work.variant)
        yield {
            "entry": "measurement" if isinstance(record.outcome, Measurement) else "failure",
            "key": key,
            "setup": trial.setup.identity,
            "workloads": [_workload(work) for work in trial.workloads],
            **_outcome(record.outcome),
        }

    def _variant(self, variant: ModelVariant) -> Iterator[Entry]:
        for part in variant.composing:
            yield from self._variant(part)
        if self._is_new(variant.identity + variant.name):
            yield {
                "entry": "variant",
                "id": variant.identity,
                "model": variant.model,
                "name": variant.name,
                "files": variant.files,
                "config": thaw(variant.config),
                "composing": [[part.identity, part.name] for part in variant.composing],
            }

    def _is_new(self, identity: str) -> bool:
        new = identity not in self._written
        self._written.add(identity)
        return new


class Decoder:
    """Reads entries back, in the order in which they were written."""

    def __init__(self) -> None:
        self._setups: dict[str, ServerSetup] = {}
        self._variants: dict[tuple[str, str], ModelVariant] = {}

    def record(self, entry: Entry) -> tuple[str, TrialRecord] | None:
        """Key and record of an outcome; None for entries that only prepare one.

        Raises ValueError if the entry is not complete.
        """
        try:
            match entry["entry"]:
                case "setup":
                    self._setups[entry["id"]] = _setup(entry)
                case "variant":
                    self._variants[entry["id"], entry["name"]] = self._variant(entry)
                case "measurement":
                    return str(entry["key"]), self._trial_record(entry, _measurement(entry))
                case "failure":
                    return str(entry["key"]), self._trial_record(entry, _failure(entry))
                case kind:
                    raise ValueError(f"unknown kind of entry {kind!r}")
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"an incomplete {entry['entry']} entry ({error})") from error
        return None

    def _variant(self, entry: Entry) -> ModelVariant:
        return ModelVariant(
            model=entry["model"],
            name=entry["name"],
            files=entry["files"],
            config=freeze(entry["config"]),
            composing=tuple(self._variants[part, name] for part, name in entry["composing"]),
        )

    def _trial_record(self, entry: Entry, outcome: Outcome) -> TrialRecord:
        workloads = tuple(
            Workload(
                variant=self._variants[work["variant"], work["name"]],
                load=Load(
                    kind=LoadKind(work["kind"]), value=work["value"], batch_size=work["batch_size"]
                ),
                flags=freeze(work["flags"]),
                inputs=work["inputs"],
                times_tokens=work.get("times_tokens", False),
                genai_perf=freeze(work.get("genai_perf", {})),
            )
            for work in entry["workloads"]
        )
        trial = Trial(workloads=workloads, setup=self._setups[entry["setup"]])
        return TrialRecord(trial=trial, outcome=outcome)


def encode_device(device: Device) -> Entry:
    return {"uuid": device.uuid, "name": device.name, "memory": device.memory}


def decode_device(entry: Mapping[str, Any]) -> Device:
    return Device(uuid=entry["uuid"], name=entry["name"], memory=entry["memory"])


def encode_server_only(gpus: Mapping[str, Values]) -> Entry:
    return {"entry": SERVER_ONLY, "gpus": {uuid: dict(values) for uuid, values in gpus.items()}}


def decode_server_only(entry: Entry) -> Mapping[str, Values]:
    """Raises ValueError if the entry is not complete."""
    if not isinstance(entry.get("gpus"), Mapping):
        raise ValueError(f"an incomplete {SERVER_ONLY} entry")
    gpus: Mapping[str, Values] = freeze(entry["gpus"])
    return gpus


def _setup_entry(setup: ServerSetup) -> Entry:
    return {
        "entry": "setup",
        "id": setup.identity,
        "launch": setup.launch,
        "version": setup.version,
        "protocol": setup.protocol,
        "devices": list(setup.devices),
        "flags": masked_values(setup.flags),
        "environment": masked_values(setup.environment),
        "container": masked_values(setup.container),
    }


def _setup(entry: Entry) -> ServerSetup:
    return ServerSetup(
        launch=entry["launch"],
        version=entry["version"],
        protocol=entry["protocol"],
        devices=tuple(entry["devices"]),
        flags=freeze(entry["flags"]),
        environment=freeze(entry["environment"]),
        container=freeze(entry["container"]),
    )


def _workload(work: Workload) -> Entry:
    return {
        "variant": work.variant.identity,
        "name": work.variant.name,
        "kind": work.load.kind.value,
        "value": work.load.value,
        "batch_size": work.load.batch_size,
        "flags": masked_values(work.flags),
        "inputs": work.inputs,
        "times_tokens": work.times_tokens,
        "genai_perf": masked_values(work.genai_perf),
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
        "models": [
            {
                "values": dict(model.values),
                "requests": model.requests,
                "windows": list(model.windows),
                "composing": {name: dict(values) for name, values in model.composing.items()},
            }
            for model in outcome.models
        ],
        "gpus": {uuid: dict(values) for uuid, values in outcome.gpus.items()},
        "host": dict(outcome.host),
        "notices": [[notice.kind.value, notice.text] for notice in outcome.notices],
        **common,
    }


def _measurement(entry: Entry) -> Measurement:
    return Measurement(
        models=tuple(
            ModelMeasurement(
                values=MappingProxyType(model["values"]),
                requests=model["requests"],
                windows=tuple(model["windows"]),
                composing=freeze(model["composing"]),
            )
            for model in entry["models"]
        ),
        gpus=freeze(entry["gpus"]),
        host=MappingProxyType(entry["host"]),
        notices=tuple(Notice(kind=NoticeKind(kind), text=text) for kind, text in entry["notices"]),
        commands=tuple(entry["commands"]),
        started=entry["started"],
        duration_s=entry["duration_s"],
    )


def _failure(entry: Entry) -> Failure:
    return Failure(
        reason=FailureReason[entry["reason"]],
        message=entry["message"],
        log=tuple(entry["log"]),
        hint=entry["hint"],
        commands=tuple(entry["commands"]),
        started=entry["started"],
        duration_s=entry["duration_s"],
    )
