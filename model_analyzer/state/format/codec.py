# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Profile values to checkpoint entries; `decoder` reads them back; and checkpoint lines: one JSON
object each, ending with a checksum of the rest of the line.

Parts that many outcomes share (server setups on machines, variants, how the load is generated) are
written once; outcomes refer to their identity. Secrets in flags and variables are masked;
identities do not depend on them. Empty fields are left out.

A line reads `{"entry":KIND,…,"crc":"8 hex digits"}`. The checksum (CRC-32) covers the line as it
would be without the `crc` field, so any JSON tool can read the file and ours can trust it.

There are copies of lines that many outcomes need, so that a damaged line costs at most one outcome.
A `copy` entry holds whole lines, compressed (deflate, base64). A line that is similar to another
line of the file takes few bytes: the other line, which `like` names by its checksum, is the
dictionary of the compression. A damaged file is read again with the lines that its copies restore.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from model_analyzer.domain.foreign_json import TooDeep, parse_unambiguous
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import WITHOUT_GPU, Machine
from model_analyzer.domain.measurements import (
    Measurement,
    ModelMeasurement,
    ModelStatistics,
    Outcome,
    Values,
)
from model_analyzer.domain.models import ModelVariant, fingerprint, freeze, thaw
from model_analyzer.domain.profiles import Conclusion, Proof, TrialRecord
from model_analyzer.domain.secrets import masked_values
from model_analyzer.domain.slots import Asked, Lane, SharedHost
from model_analyzer.domain.traffic import Traffic
from model_analyzer.domain.trials import Failure, ServerSetup, Workload

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_MARK = b',"crc":"'
_TAIL = len(_MARK) + 8 + len(b'"}')
_MARK_END = len(_MARK) - _TAIL
MOST_BYTES = 64 * 2**20
_SERIAL = re.compile(rb',"serial":[1-9][0-9]{0,17}\Z')
# a damaged line end, between a checksum and the next line
_LINE_END = re.compile(rb'(?<=,"crc":"[0-9a-f]{8}"\}).?(?=\{")', re.DOTALL)

Entry = Mapping[str, Any]


class DamagedLine(ValueError):
    """A line that has changed since it was written; the message says how."""


def encode(entry: Entry) -> bytes:
    """The line for `entry`, with its line end."""
    text = json.dumps(entry, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    try:
        body = text.encode()
    except UnicodeEncodeError:  # a path or a program's output was not UTF-8
        body = json.dumps(entry, separators=(",", ":"), allow_nan=False).encode()
    return _sealed(body[:-1])


def _sealed(body: bytes) -> bytes:
    """The line with its checksum; `body` has no closing brace."""
    return body + _MARK + b"%08x" % zlib.crc32(body + b"}") + b'"}\n'


def checksum_of(line: bytes) -> str:
    """The checksum of an intact line with its line end."""
    return line[-11:-3].decode()


def with_serial(line: bytes, serial: int) -> bytes:
    """The line (with its line end) of an outcome, with its number in the journal."""
    return _sealed(line[: -_TAIL - 1] + b',"serial":%d' % serial)


def without_serial(line: bytes) -> bytes:
    """The line before `with_serial`. Raises ValueError if the number is not at its end."""
    body, replaced = _SERIAL.subn(b"", line[: -_TAIL - 1])
    if not replaced:
        raise ValueError("its serial number is not at its end")
    return _sealed(body)


def pieces(line: bytes) -> Sequence[bytes]:
    """The lines that became one because the end of the first is damaged."""
    return [piece.removesuffix(b"\n") + b"\n" for piece in _LINE_END.split(line)]


def split(file: BinaryIO) -> Iterator[bytes]:
    """The lines of a file with their ends; only the beginning of a line that is too long.

    Programs that copy texts, such as git, may have made CR LF of a line's end: here it is LF.
    """
    while line := file.readline(MOST_BYTES + 1):
        yield line[:-2] + b"\n" if line.endswith(b'"}\r\n') else line
        while len(line) > MOST_BYTES and not line.endswith(b"\n"):
            line = file.readline(MOST_BYTES + 1)


def decode(line: bytes) -> dict[str, Any]:
    """The entry of a line (with or without its line end)."""
    line = line.removesuffix(b"\n")
    if len(line) > MOST_BYTES:
        raise DamagedLine("a line of more than 64 MiB")
    if line[-_TAIL:_MARK_END] != _MARK or not line.endswith(b'"}'):
        raise DamagedLine("no checksum at its end")
    body = line[:-_TAIL] + b"}"
    if b"%08x" % zlib.crc32(body) != line[-10:-2]:
        raise DamagedLine("the checksum does not match")
    try:
        entry = parse_unambiguous(body, most_bytes=MOST_BYTES)
    except TooDeep as error:
        raise DamagedLine(str(error)) from error
    except ValueError as error:
        raise DamagedLine(f"not JSON: {error}") from error
    if not isinstance(entry, dict) or not isinstance(entry.get("entry"), str):
        raise DamagedLine("not an entry")
    return entry


def decode_again(line: bytes) -> dict[str, Any]:
    """The entry of a line that `decode` has checked before."""
    entry: dict[str, Any] = parse_unambiguous(line.removesuffix(b"\n"))
    return entry


COPY = "copy"

_RAW = -15  # deflate without a header: the lines have checksums of their own
_CHUNK = 2**22


def copy_entry(lines: bytes, similar: bytes = b"") -> Entry:
    """The entry with copies of some lines; `similar` is a similar line of the file."""
    return {
        "entry": COPY,
        **({"like": checksum_of(similar)} if similar else {}),
        "lines": deflated(lines, similar),
    }


def copy_entries(lines: Iterable[bytes]) -> Iterator[Entry]:
    """Entries with copies of all lines."""
    chunk: list[bytes] = []
    for line in lines:
        chunk.append(line)
        if sum(map(len, chunk)) > _CHUNK:
            yield copy_entry(b"".join(chunk))
            chunk = []
    if chunk:
        yield copy_entry(b"".join(chunk))


def restored(
    copies: Iterable[Entry], intact: Mapping[str, bytes], *, most_bytes: int
) -> Iterator[bytes]:
    """The readable lines in copies. `intact` has the lines of the file by their checksums; at most
    `most_bytes` are decompressed.
    """
    for entry in copies:
        similar = intact.get(entry.get("like", ""), b"")
        lines = inflated(entry.get("lines"), similar, most_bytes=most_bytes)
        most_bytes -= len(lines)
        yield from lines.splitlines(keepends=True)


def deflated(data: bytes, similar: bytes = b"") -> str:
    """The bytes, compressed, as a text."""
    packer = zlib.compressobj(9, zlib.DEFLATED, _RAW, zdict=similar)
    return base64.b64encode(packer.compress(data) + packer.flush()).decode()


def inflated(text: object, similar: bytes = b"", *, most_bytes: int) -> bytes:
    """The bytes of a text from `deflated`; b"" if it is not such a text, or too long."""
    if not isinstance(text, str) or most_bytes <= 0:
        return b""
    try:
        unpacker = zlib.decompressobj(_RAW, zdict=similar)
        data = unpacker.decompress(base64.b64decode(text, validate=True), most_bytes)
    except (ValueError, zlib.error):
        return b""
    return data if unpacker.eof else b""


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
