# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reading and writing the files of a checkpoint directory, line by line.

`N.ckpt` is complete and never changed; its last line counts the others and has their digest.
"""

from __future__ import annotations

import gc
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

from model_analyzer.domain.conclusions import Conclusion
from model_analyzer.domain.measurements import Values
from model_analyzer.domain.models import thaw
from model_analyzer.domain.profiles import Device, TrialRecord
from model_analyzer.errors import CheckpointError
from model_analyzer.reading import open_regular
from model_analyzer.state.format.codec import (
    CONCLUSION,
    DEFINITIONS,
    FORMAT,
    HEADER,
    METADATA,
    OUTCOMES,
    SEARCH,
    SERVER_ONLY,
    Encoder,
    encode_server_only,
)
from model_analyzer.state.format.copies import COPY, inflated, restored
from model_analyzer.state.format.decoder import (
    decode_conclusion,
    decode_contents,
    decode_copy,
    decode_metadata,
    decode_search,
    decode_server_only,
)
from model_analyzer.state.format.header import Header, decode_header, header_entry
from model_analyzer.state.format.lines import (
    MOST_BYTES,
    DamagedLine,
    Entry,
    checksum_of,
    decode,
    encode,
    pieces,
    split,
    without_serial,
)
from model_analyzer.state.format.losses import (
    MOST_NAMED,
    Losses,
    contents_lines,
    in_words,
    outcome_of,
)
from model_analyzer.state.format.records import CONTENTS, Records
from model_analyzer.state.upstream.reading import SEED, is_upstream, read_upstream

_END = "end"

# the metadata that hold what only upstream has a use for
UPSTREAM = "upstream"
_MOST_OF_UPSTREAM = 256 * 2**20  # they are read as a whole
# what the copies in a file may hold beside twice its size
_SOME_BYTES = 2**20


@dataclass(slots=True)
class Content:
    """What could be read of a file, and in one line what is wrong with it, or "".

    `header` is the last one: a journal has one for each run. `metadata` has the values by key,
    and None for what was removed; `searches` the settings of the search by name of its subject,
    and `conclusions` what it came to.
    `server_only` is None where nothing is said about it; `remarks` are sentences about what is
    odd. `intact` lines are used and `lost` ones are not; `announced` is how many the end of a
    checkpoint says that there are before it. `lost_outcomes` is said where there is damage.
    `copies` and `contents` are what a file says about its own lines. Of a checkpoint
    `is_endless`, its end is missing.
    """

    header: Header | None = None
    records: Records = field(default_factory=Records)
    server_only: Mapping[str, Values] | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    searches: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    conclusions: dict[str, Conclusion] = field(default_factory=dict)
    damage: str = ""
    remarks: Sequence[str] = ()
    intact: int = 0
    lost: int = 0
    announced: int | None = None
    lost_outcomes: str = ""
    copies: list[Entry] = field(default_factory=list)
    contents: Any = None
    is_endless: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether there is something to read, and each line, damaged or not, is in its place."""
        announced = self.intact if self.announced is None else self.announced
        return self.intact > 0 and self.intact + self.lost >= announced and not self.is_endless

    def take(self, entry: Entry, line: bytes, where: str) -> None:
        """Takes the entry of a line. Raises ValueError if it cannot be used, and CheckpointError
        if this program is too old for it; `where` is the file then.
        """
        if entry["entry"] not in OUTCOMES:
            encode(entry)  # these are written anew: no number may be in them that cannot be
        match entry["entry"]:
            case kind if kind in DEFINITIONS:
                self.records.take(entry, line)
            case kind if kind in OUTCOMES:
                self.records.take(entry, without_serial(line) if "serial" in entry else line)
            case kind if kind == COPY:
                self.copies.append(decode_copy(entry))
            case kind if kind == CONTENTS:
                self.contents = decode_contents(entry)
            case kind if kind == HEADER:
                _check_format(entry, where)
                self.header = decode_header(entry)
            case kind if kind == SERVER_ONLY:
                self.server_only = decode_server_only(entry)
            case kind if kind == METADATA:
                key, self.metadata[key] = decode_metadata(entry)
            case kind if kind == SEARCH:
                subject, self.searches[subject] = decode_search(entry)
            case kind if kind == CONCLUSION:
                subject, self.conclusions[subject] = decode_conclusion(entry)
            case kind:
                raise ValueError(f"unknown kind of entry {kind!r}")


def read_checkpoint(path: Path) -> Content:
    """A numbered checkpoint; of a damaged one, what is intact."""
    try:
        with open_regular(path) as file:
            return read_checkpoint_from(file, str(path))
    except OSError as error:
        return Content(damage=f"cannot be read: {error.strerror}")


def read_listed(path: Path) -> Content:
    """The same; that a newer program has written it is damage, too: others are still to be seen."""
    try:
        return read_checkpoint(path)
    except CheckpointError as error:
        return Content(damage=str(error).removeprefix(f"{path}: "))


def read_checkpoint_from(file: BinaryIO, where: str) -> Content:
    """The same from an open file; `where` names it in messages."""
    beginning = file.read(100)
    file.seek(0)
    if is_upstream(beginning):
        return _read_upstream(file, where)
    with _without_collecting():
        return _repaired(file, where, _read_checkpoint_once)


def _read_checkpoint_once(file: BinaryIO, where: str, content: Content) -> Losses:
    digest = hashlib.sha256()
    previous = b""
    last: Entry = {}
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
    """The content of a file; of a damaged one also what its copies and a second look give."""
    content = Content()
    read(file, where, content)
    if not content.damage:
        return content
    size = file.tell()
    file.seek(0)
    known = {checksum_of(line): line for line in content.records.definitions}
    lines = [*known.values(), *restored(content.copies, known, most_bytes=2 * size + _SOME_BYTES)]
    again = Content()
    again.records.prepare(_definitions(lines))
    losses = read(file, where, again)
    if again.header is None:
        again.header = next(_headers(lines), None)
    listed = inflated(again.contents, most_bytes=2 * size + _SOME_BYTES)
    contents = contents_lines(listed) if listed else ()
    if contents or again.is_complete:
        again.lost_outcomes = losses.in_words(contents)
    return again


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Without the garbage collector: nothing that is read is garbage, and of 100 000 measurements
    it would look through all of them again and again, a tenth of the time in all.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _read_upstream(file: BinaryIO, where: str) -> Content:
    """A checkpoint of upstream, as if we had written it; what has no place is kept as metadata."""
    raw = file.read(_MOST_OF_UPSTREAM + 1)
    if len(raw) > _MOST_OF_UPSTREAM:
        return Content(damage=f"more than {_MOST_OF_UPSTREAM >> 20} MiB in one line")
    try:
        read = read_upstream(raw, where)
        content = Content(
            header=decode_header(header_entry(_upstream_header(raw, where, read.profile.devices))),
            server_only=decode_server_only(encode_server_only(read.profile.server_only)),
            remarks=read.remarks,
        )
    except (CheckpointError, ValueError) as error:
        return Content(damage=str(error).removeprefix(f"{where}: "))
    encoder, lost = Encoder(), []
    for record in read.profile.records:
        reason = _take_record(content, encoder, record)
        if reason:
            content.damage = content.damage or f"{record.trial}: {reason}"
            lost.append(record.trial.variants)
    content.lost, content.announced = len(lost), content.intact + len(lost)
    if lost:
        content.lost_outcomes = in_words(map(outcome_of, lost[:MOST_NAMED]), len(lost))
    kept = {**thaw(read.others), **({} if read.seed is None else {SEED: read.seed})}
    if kept:
        content.metadata[UPSTREAM] = kept
    return content


def _upstream_header(raw: bytes, where: str, devices: Sequence[Device]) -> Header:
    number = Path(where).stem
    return Header(
        uuid=str(UUID(bytes=hashlib.sha256(raw).digest()[:16])),
        index=int(number) if number.isdecimal() else None,
        tool="Triton Model Analyzer",
        devices=tuple(devices),
    )


def _take_record(content: Content, encoder: Encoder, record: TrialRecord) -> str:
    """Takes a record as if we had written it; why it cannot be used, or ""."""
    reason = ""
    for entry in encoder.record(record.trial.key, record):
        try:
            content.records.take(entry, encode(entry))
            content.intact += 1
        except ValueError as error:
            reason = reason or str(error)
    return reason


def _announced(last: Entry) -> int | None:
    """How many entries a checkpoint has before its last one, where that is its end."""
    count = last.get("entries") if last.get("entry") == _END else None
    return count if isinstance(count, int) else None


def _damage(last: Entry, digest: str) -> str:
    """What is wrong with a checkpoint that ends with this entry, all lines being intact."""
    if not last:
        return "it is empty"
    if last["entry"] != _END:
        return "the end is missing"
    return "" if last.get("digest") == digest else "the digest does not match"


def read_journal(path: Path) -> Content:
    """A journal, or nothing if there is none; a torn last line is left out and named."""
    try:
        with open_regular(path) as file:
            return read_journal_from(file, str(path))
    except FileNotFoundError:
        return Content()
    except OSError as error:
        return Content(damage=f"cannot be read: {error.strerror}")


def read_journal_from(file: BinaryIO, where: str) -> Content:
    """The same from an open file; `where` names it in messages."""
    return _repaired(file, where, _read_journal_once)


def _read_journal_once(file: BinaryIO, where: str, content: Content) -> Losses:
    losses = Losses()
    for number, line, entry in _entries(file, content, losses):
        if entry is not None:
            _take(content, entry, line, where, number, losses)
    return losses


def take_lines(file: BinaryIO, content: Content, where: str) -> tuple[int, bytes]:
    """Takes the whole lines of a journal that somebody appends to: how many bytes they are, and
    the last of them.
    """
    read, last = 0, b""
    losses = Losses(first=None)
    for number, line, entry in _entries(file, content, losses):
        if not line.endswith(b"\n"):
            content.damage = ""  # it is being written
            break
        read, last = read + len(line), line
        if entry is not None:
            _take(content, entry, line, where, number, losses)
    return read, last


def _entries(
    file: BinaryIO, content: Content, losses: Losses
) -> Iterator[tuple[int, bytes, Entry | None]]:
    """The numbers of lines, and the lines, with their entries, or None where they are damaged,
    which is noted.
    """
    for number, line in enumerate(split(file), start=1):
        intact = _entry_or_none(line) if line.endswith(b"\n") else None
        if intact is not None:  # nearly always
            yield number, line, intact
            continue
        for piece, entry, damage in _read_damaged(line):
            content.damage = content.damage or f"line {number}{damage}"
            if entry is None:
                content.lost += 1
                losses.see_damaged(number, piece)
            yield number, piece, entry


def _read_damaged(line: bytes) -> Iterator[tuple[bytes, Entry | None, str]]:
    """The parts of a damaged line with their entries, and the damage; one part where its end is
    intact, else two.
    """
    if not line.endswith(b"\n") and len(line) <= MOST_BYTES:
        yield line, None, " is cut off"
        return
    damage = ""
    try:
        decode(line)
    except DamagedLine as error:
        damage = f": {error}"
    parts = pieces(line)
    for part in parts if len(parts) > 1 else ():
        yield part, _entry_or_none(part), damage
    if len(parts) == 1:
        yield line, None, damage


def _entry_or_none(line: bytes) -> Entry | None:
    try:
        return decode(line)
    except DamagedLine:
        return None


def _take(
    content: Content, entry: Entry, line: bytes, where: str, number: int, losses: Losses
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


def _definitions(lines: Iterable[bytes]) -> Iterator[tuple[Entry, bytes]]:
    return ((entry, line) for entry, line in _decoded(lines) if entry["entry"] in DEFINITIONS)


def _headers(lines: Iterable[bytes]) -> Iterator[Header]:
    for entry, _ in _decoded(lines):
        if entry["entry"] == HEADER:
            with suppress(ValueError):
                yield decode_header(entry)


def _decoded(lines: Iterable[bytes]) -> Iterator[tuple[Entry, bytes]]:
    for line in lines:
        entry = _entry_or_none(line)
        if entry is not None:
            yield entry, line


def _check_format(header: Entry, where: str) -> None:
    version = header.get("format", FORMAT)
    if type(version) is int and version > FORMAT:
        tool = str(header.get("tool", "unknown"))[:40]
        raise CheckpointError(
            f"{where}: written in format {version} by a newer model-analyzer ({tool}); this one"
            f" reads up to format {FORMAT}: update it"
        )


def checkpoint_lines(entries: Iterable[Entry], lines: Iterable[bytes]) -> Iterator[bytes]:
    """All lines of a numbered checkpoint: `entries`, beginning with the header, then `lines`,
    and the one that ends it.
    """
    digest = hashlib.sha256()
    count = 0
    for line in chain(map(encode, entries), lines):
        digest.update(line)
        count += 1
        yield line
    yield encode({"entry": _END, "entries": count, "digest": digest.hexdigest()})
