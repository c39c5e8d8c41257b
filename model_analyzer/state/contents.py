# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the files of a checkpoint directory, line by line.

`N.ckpt` is complete and never changed. Its last line has the number and the digest of the others.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Values
from model_analyzer.domain.profiles import Conclusion, Profile, Proof, ProofSubject, TrialRecord
from model_analyzer.domain.slots import Asked, Lane, SharedHost
from model_analyzer.errors import CheckpointError
from model_analyzer.reading.untrusted import open_regular
from model_analyzer.state.format import codec, decoder
from model_analyzer.state.format.header import Header, decode_header, header_entry
from model_analyzer.state.format.losses import (
    MOST_NAMED,
    Losses,
    contents_lines,
    in_words,
    outcome_of,
)
from model_analyzer.state.records import CONTENTS, Records, without_collecting
from model_analyzer.state.upgrade import Upgrade

_END = "end"

# What reads checkpoints of upstream (Triton Model Analyzer): a feature, imported for such a file.
_UPSTREAM_READER = "model_analyzer.features.upstream.reader"
_FIRST_KEY_OF_UPSTREAM = re.compile(rb'\s*\{\s*"[A-Z][A-Za-z]*\.[a-z_]+"')

# the metadata key for values that only upstream uses
UPSTREAM = "upstream"
UPSTREAM_TOOL = "Triton Model Analyzer"
_MOST_OF_UPSTREAM = 256 * 2**20  # bytes; its files are read as a whole
# bytes that the copies in a file may take, in addition to twice its size
_SOME_BYTES = 2**20


@dataclass(slots=True)
class Content:
    """The readable content of a file. `damage` is one line about its damage, or "".

    * `header` is the last one: a journal has one for each run.
    * `metadata` has values by key; None means removed. `searches` are by model group, `conclusions`
      by search. `asked` has questions to searches, with their numbers; one replaces all from its
      number on. `shared_hosts` are tests of hosts with several slots, `proofs` are by what they are
      about. `server_only` is None if the file has no such entry. `remarks` are warnings.
    * `intact` is the number of used lines, `lost` of unusable ones. `announced` is the number of
      entries that the last line of a checkpoint states. `is_endless` means that this line is
      missing. `lost_outcomes` describes the loss if there is damage.
    * `copies` and `contents` are second copies of entries and the list of outcomes, for repairs.
    * `upgrade` changes definitions and outcomes of older formats.
    """

    header: Header | None = None
    records: Records = field(default_factory=Records)
    server_only: Mapping[str, Values] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    searches: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    conclusions: dict[Lane, Conclusion] = field(default_factory=dict)
    asked: list[tuple[Lane, int, Asked]] = field(default_factory=list)
    shared_hosts: dict[str, SharedHost] = field(default_factory=dict)
    proofs: dict[ProofSubject, Proof] = field(default_factory=dict)
    damage: str = ""
    remarks: Sequence[str] = ()
    intact: int = 0
    lost: int = 0
    announced: int | None = None
    lost_outcomes: str = ""
    copies: list[codec.Entry] = field(default_factory=list)
    contents: Any = None
    is_endless: bool = False
    upgrade: Upgrade = field(default_factory=Upgrade)

    @property
    def is_complete(self) -> bool:
        """Whether the file is not empty and has all its lines, damaged or not."""
        announced = self.intact if self.announced is None else self.announced
        return self.intact > 0 and self.intact + self.lost >= announced and not self.is_endless

    def take(self, entry: codec.Entry, line: bytes, where: str) -> None:
        """Adds the entry of a line. Raises ValueError if it is unusable, and CheckpointError if
        it needs a newer program; `where` names the file in the message.
        """
        if entry["entry"] not in codec.OUTCOMES:
            codec.encode(entry)  # such entries are written again: fails for numbers that JSON lacks
        match entry["entry"]:
            case kind if kind in codec.DEFINITIONS:
                self.records.take(*self.upgrade.definition(entry, line))
            case kind if kind in codec.OUTCOMES:
                line = codec.without_serial(line) if "serial" in entry else line
                self.upgrade.take(entry, line, self.records)
            case codec.COPY:
                self.copies.append(decoder.decode_copy(entry))
            case kind if kind == CONTENTS:
                self.contents = decoder.decode_contents(entry)
            case codec.HEADER:
                _check_format(entry, where)
                self.take_header(entry)
            case _:
                self._take_note(entry)

    def _take_note(self, entry: codec.Entry) -> None:
        """Adds what is neither an outcome nor part of one."""
        match entry["entry"]:
            case codec.SERVER_ONLY:
                self.server_only = decoder.decode_server_only(entry)
            case codec.METADATA:
                key, self.metadata[key] = decoder.decode_metadata(entry)
            case codec.SEARCH:
                subject, self.searches[subject] = decoder.decode_search(entry)
            case codec.CONCLUSION:
                lane, self.conclusions[lane] = decoder.decode_conclusion(entry)
            case codec.ASKED:
                self.asked.append(decoder.decode_asked(entry))
            case codec.SHARED_HOST:
                shared = decoder.decode_shared_host(entry)
                self.shared_hosts[shared.host] = shared
            case codec.PROOF:
                proof = decoder.decode_proof(entry)
                self.proofs[proof.subject] = proof
            case kind:
                raise ValueError(f"unknown kind of entry {kind!r}")

    def take_header(self, entry: codec.Entry) -> None:
        self.header = decode_header(entry)
        self.upgrade.begin(entry.get("format"), self.header.devices)

    def prepare(self, lines: Iterable[bytes]) -> None:
        """Adds the header and the definitions among lines that were restored, in any order."""
        entries = [(entry, line) for line in lines if (entry := _entry_or_none(line)) is not None]
        for entry, _ in entries:
            if entry["entry"] == codec.HEADER and self.header is None:
                with suppress(ValueError):
                    self.take_header(entry)
        self.records.prepare(
            self.upgrade.definition(entry, line)
            for entry, line in entries
            if entry["entry"] in codec.DEFINITIONS
        )


def read_checkpoint(path: Path) -> Content:
    """Reads a numbered checkpoint, or its intact part. Raises CheckpointError if a newer program
    wrote it.
    """
    try:
        with open_regular(path) as file:
            return read_checkpoint_from(file, str(path))
    except OSError as error:
        return Content(damage=f"cannot be read: {error.strerror}")


def read_listed(path: Path) -> Content:
    """Like `read_checkpoint`, but a file of a newer program counts as damaged, for lists."""
    try:
        return read_checkpoint(path)
    except CheckpointError as error:
        return Content(damage=str(error).removeprefix(f"{path}: "))


def read_checkpoint_from(file: BinaryIO, where: str) -> Content:
    """Like `read_checkpoint`, from an open file; `where` names it in messages."""
    beginning = file.read(100)
    file.seek(0)
    if is_upstream(beginning):
        return _read_upstream(file, where)
    with without_collecting():
        return _repaired(file, where, _read_checkpoint_once)


def is_foreign(file: BinaryIO) -> bool:
    """Whether a file has content, but no line like those of our checkpoints or upstream's."""
    file.seek(0)
    beginning = file.read(100)
    if not beginning or is_upstream(beginning):
        return False
    file.seek(0)
    return not any(b'"entry":"' in line or b',"crc":"' in line for line in codec.split(file))


def is_upstream(first_bytes: bytes) -> bool:
    """Whether a file with this beginning is a checkpoint of upstream; 100 bytes are enough."""
    return _FIRST_KEY_OF_UPSTREAM.match(first_bytes) is not None


def _read_checkpoint_once(file: BinaryIO, where: str, content: Content) -> Losses:
    digest = hashlib.sha256()
    previous = b""
    last: codec.Entry = {}
    losses = Losses()
    for number, line, entry in _entries(file, content, losses):
        digest.update(previous)
        previous, last = line, entry or {}
        if last and last["entry"] != _END:
            _take(content, last, line, where, number, losses)
    content.announced = _announced(last)
    content.is_endless = content.announced is None
    if not content.damage:
        content.damage = _damage(last, digest.hexdigest())
    return losses


def _repaired(
    file: BinaryIO, where: str, read: Callable[[BinaryIO, str, Content], Losses]
) -> Content:
    """The content of a file. A damaged file is read twice: the second time with its copies."""
    content = Content()
    read(file, where, content)
    if not content.damage:
        return content
    size = file.tell()
    file.seek(0)
    definitions = chain(content.records.definitions, content.upgrade.former)
    intact = {codec.checksum_of(line): line for line in definitions}
    restored_lines = codec.restored(content.copies, intact, most_bytes=2 * size + _SOME_BYTES)
    repaired = Content()
    repaired.prepare([*intact.values(), *restored_lines])
    losses = read(file, where, repaired)
    contents = contents_lines(codec.inflated(repaired.contents, most_bytes=2 * size + _SOME_BYTES))
    if contents or repaired.is_complete:
        repaired.lost_outcomes = losses.in_words(contents)
    return repaired


def _read_upstream(file: BinaryIO, where: str) -> Content:
    """Reads a checkpoint of upstream, converted to our format; other values become metadata."""
    raw = file.read(_MOST_OF_UPSTREAM + 1)
    if len(raw) > _MOST_OF_UPSTREAM:
        return Content(damage=f"more than {_MOST_OF_UPSTREAM >> 20} MiB in one line")
    try:
        upstream = import_module(_UPSTREAM_READER).read_upstream(raw, where)
        profile: Profile = upstream.profile
        content = Content(
            header=decode_header(header_entry(_upstream_header(raw, where, profile.devices))),
            server_only=decoder.decode_server_only(codec.encode_server_only(profile.server_only)),
            remarks=upstream.remarks,
        )
    except (CheckpointError, ValueError) as error:
        return Content(damage=str(error).removeprefix(f"{where}: "))
    encoder, lost = codec.Encoder(), [*upstream.losses]
    for record in profile.records:
        reason = _take_record(content, encoder, record)
        if reason:
            lost.append((outcome_of(record.trial.variants), f"{record.trial}: {reason}"))
    content.lost, content.announced = len(lost), content.intact + len(lost)
    if lost:
        content.damage = lost[0][1]
        content.lost_outcomes = in_words([what for what, _ in lost[:MOST_NAMED]], len(lost))
    if upstream.metadata:
        content.metadata[UPSTREAM] = upstream.metadata
    return content


def _upstream_header(raw: bytes, where: str, devices: Sequence[Device]) -> Header:
    number = Path(where).stem
    return Header(
        uuid=str(UUID(bytes=hashlib.sha256(raw).digest()[:16])),
        index=int(number) if number.isdecimal() else None,
        tool=UPSTREAM_TOOL,
        devices=tuple(devices),
    )


def _take_record(content: Content, encoder: codec.Encoder, record: TrialRecord) -> str:
    """Adds a record of upstream, whose values may be out of range; returns why it is unusable,
    or "".
    """
    reason = ""
    for entry in encoder.record(record.trial.key, record):
        try:
            content.records.take(entry, codec.encode(entry))
            content.intact += 1
        except ValueError as error:
            reason = reason or str(error)
    return reason


def _announced(last: codec.Entry) -> int | None:
    """The number of entries that the last line of a checkpoint states; None if it is missing."""
    count = last.get("entries") if last.get("entry") == _END else None
    return count if isinstance(count, int) else None


def _damage(last: codec.Entry, digest: str) -> str:
    """The damage of a checkpoint of intact lines that ends with this entry; "" if none."""
    if not last:
        return "it is empty"
    if last["entry"] != _END:
        return "the end is missing"
    return "" if last.get("digest") == digest else "the digest does not match"


def read_journal(path: Path) -> Content:
    """Reads a journal; empty if there is none. An incomplete last line counts as damage."""
    try:
        with open_regular(path) as file:
            return read_journal_from(file, str(path))
    except FileNotFoundError:
        return Content()
    except OSError as error:
        return Content(damage=f"cannot be read: {error.strerror}")


def read_journal_from(file: BinaryIO, where: str) -> Content:
    """Like `read_journal`, from an open file; `where` names it in messages."""
    return _repaired(file, where, _read_journal_once)


def _read_journal_once(file: BinaryIO, where: str, content: Content) -> Losses:
    losses = Losses()
    for number, line, entry in _entries(file, content, losses):
        if entry is not None:
            _take(content, entry, line, where, number, losses)
    return losses


def take_lines(file: BinaryIO, content: Content, where: str) -> tuple[int, bytes]:
    """Adds the complete lines of a journal that another process appends to. Returns their size in
    bytes, and the last line.
    """
    size, last = 0, b""
    losses = Losses(first=None)
    for number, line, entry in _entries(file, content, losses):
        if not line.endswith(b"\n"):
            content.damage = ""  # it is being written
            break
        size, last = size + len(line), line
        if entry is not None:
            _take(content, entry, line, where, number, losses)
    return size, last


def _entries(
    file: BinaryIO, content: Content, losses: Losses
) -> Iterator[tuple[int, bytes, codec.Entry | None]]:
    """The number, the bytes and the entry of each line. Damaged lines have the entry None, and are
    recorded in `content` and `losses`.
    """
    for number, line in enumerate(codec.split(file), start=1):
        intact_entry = _entry_or_none(line) if line.endswith(b"\n") else None
        if intact_entry is not None:  # nearly always
            yield number, line, intact_entry
            continue
        for piece, entry, damage in _read_damaged(line):
            content.damage = content.damage or f"line {number}{damage}"
            if entry is None:
                content.lost += 1
                losses.see_damaged(number, piece)
            yield number, piece, entry


def _read_damaged(line: bytes) -> Iterator[tuple[bytes, codec.Entry | None, str]]:
    """The parts of a damaged line, each with its entry (or None) and a description of the damage.
    There are two parts if a line end was lost, otherwise one.
    """
    if not line.endswith(b"\n") and len(line) <= codec.MOST_BYTES:
        yield line, None, " is cut off"
        return
    damage = ""
    try:
        codec.decode(line)
    except codec.DamagedLine as error:
        damage = f": {error}"
    parts = codec.pieces(line)
    for part in parts if len(parts) > 1 else ():
        yield part, _entry_or_none(part), damage
    if len(parts) == 1:
        yield line, None, damage


def _entry_or_none(line: bytes) -> codec.Entry | None:
    try:
        return codec.decode(line)
    except codec.DamagedLine:
        return None


def _take(
    content: Content, entry: codec.Entry, line: bytes, where: str, number: int, losses: Losses
) -> None:
    if losses.see(number, entry, line) and not content.damage:
        content.damage = f"line {number}: outcomes before it are missing"
    try:
        content.take(entry, line, where)
        content.intact += 1
    except ValueError as error:
        content.damage = content.damage or f"line {number}: {error}"
        content.lost += 1
        losses.see_unusable(number, entry, line)


def _check_format(header: codec.Entry, where: str) -> None:
    version = header.get("format", codec.FORMAT)
    if type(version) is int and version > codec.FORMAT:
        tool = str(header.get("tool", "unknown"))[:40]
        raise CheckpointError(
            f"{where}: written in format {version} by a newer model-analyzer ({tool}); this one"
            f" reads up to format {codec.FORMAT}: update it"
        )


def checkpoint_lines(entries: Iterable[codec.Entry], lines: Iterable[bytes]) -> Iterator[bytes]:
    """All lines of a numbered checkpoint: `entries` (the header first), `lines`, and the last line
    with number and digest.
    """
    digest = hashlib.sha256()
    count = 0
    for line in chain(map(codec.encode, entries), lines):
        digest.update(line)
        count += 1
        yield line
    yield codec.encode({"entry": _END, "entries": count, "digest": digest.hexdigest()})
