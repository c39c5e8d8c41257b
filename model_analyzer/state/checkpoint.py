# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The content of a checkpoint, read from a directory, a file or bytes."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, takewhile
from operator import itemgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import WITHOUT_GPU, Device
from model_analyzer.domain.measurements import Measurement, Values
from model_analyzer.domain.models import empty, freeze, thaw
from model_analyzer.domain.profiles import Conclusion, MeasuredTrial, Profile, Proof, ProofSubject
from model_analyzer.domain.settings import SearchMode
from model_analyzer.domain.slots import Asked, Lane, SharedHost
from model_analyzer.errors import CheckpointError, UnusableCheckpoint, unreadable
from model_analyzer.reading.untrusted import open_regular
from model_analyzer.state.contents import (
    UPSTREAM_TOOL,
    Content,
    checkpoint_lines,
    is_foreign,
    read_checkpoint,
    read_checkpoint_from,
    read_journal,
    read_journal_from,
    read_listed,
)
from model_analyzer.state.format import codec
from model_analyzer.state.format.decoder import decode_goal
from model_analyzer.state.format.header import Header, decode_header, header_entry
from model_analyzer.state.format.layout import Layout, is_journal, number_of, prefix_of
from model_analyzer.state.lock import living_owner
from model_analyzer.state.records import Records
from model_analyzer.state.upgrade import Notes, upgraded_notes

# the searches that end with a conclusion
_LEARNING = {mode.value for mode in SearchMode if mode.facts.learns}

K = TypeVar("K")
T = TypeVar("T")
C = TypeVar("C", bound="Checkpoint")

SORTS = ("time", "index")

# The journals of cluster nodes, by node, as `assemble` takes files.
Late = Mapping[str, tuple[Path | str, Content]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """All outcomes, with the user's notes and the searches of the runs.

    `path` is the file it came from (of several, the one with the lowest number); None for an empty
    directory, and for bytes. `is_growing` means that a run was writing to its directory. `base` is
    the checkpoint before notes were added. `metadata` are the user's notes. `searches` are search
    settings, by model group; `conclusions` the results of searches, and `asked` the questions to
    searches with several slots. `shared_hosts` has the tests of hosts with several slots, by host,
    and `proofs` what was proven, by what it is about.
    `missing` has the number of outcomes that the part of a cluster node lacks. `damage` has a line
    for each damaged file, `damage_warnings` the same with what is used of it, or instead of it;
    `remarks` are other warnings.
    """

    header: Header = field(default_factory=Header)
    records: Records = field(default_factory=Records)
    server_only: Mapping[str, Values] = field(default_factory=empty)
    metadata: Mapping[str, Any] = field(default_factory=empty)
    searches: Mapping[str, Mapping[str, Any]] = field(default_factory=empty)
    conclusions: Mapping[Lane, Conclusion] = field(default_factory=empty)
    asked: Mapping[Lane, tuple[Asked, ...]] = field(default_factory=empty)
    shared_hosts: Mapping[str, SharedHost] = field(default_factory=empty)
    proofs: Mapping[ProofSubject, Proof] = field(default_factory=empty)
    path: Path | None = None
    is_growing: bool = field(default=False, compare=False)
    missing: Mapping[str, int] = field(default_factory=empty)
    damage: tuple[str, ...] = ()
    damage_warnings: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    base: Checkpoint | None = field(default=None, repr=False, compare=False)

    @property
    def profile(self) -> Profile:
        """The content that rankings and reports use."""
        return Profile(
            records=self.records,
            devices=self.devices,
            host=self.header.host,
            cores=self.header.cores,
            server_only=self.server_only,
            conclusions=self.conclusions,
            bases={
                subject: tuple(search.get(codec.BASES, ()))
                for subject, search in self.searches.items()
            },
            refused={
                subject: tuple(search.get(codec.REFUSED_VARIANTS, ()))
                for subject, search in self.searches.items()
            },
            unfinished=frozenset(
                lane
                for subject, search in self.searches.items()
                if search.get(codec.MODE) in _LEARNING
                for kind in search.get(codec.KINDS) or (WITHOUT_GPU,)
                if (lane := Lane(subject, kind)) not in self.conclusions
            ),
            is_growing=self.is_growing,
            shared_hosts=self.shared_hosts,
            proofs=tuple(self.proofs.values()),
        )

    @property
    def devices(self) -> tuple[Device, ...]:
        """The GPUs of the header and of all machines, each once."""
        machines = (machine.devices for machine in self.records.machines)
        devices = {each.uuid: each for each in chain(self.header.devices, *machines)}
        return tuple(devices.values())

    def goal_of(self, subject: str) -> Goal | None:
        """The goal of the last search of a model or model group (`a,b`); None if unknown, as in
        checkpoints of other programs or of early versions.
        """
        search = self.searches.get(subject)
        return None if search is None else decode_goal(search.get(codec.GOALS))

    @property
    def is_accessible(self) -> bool:
        """Whether the file is intact, with the outcomes of each node. The file is read again.
        Without a file, the content in memory counts.
        """
        if self.damage or self.missing or self.path is None:
            return not (self.damage or self.missing)
        read = read_journal if is_journal(self.path) else read_listed
        return os.path.exists(self.path) and not read(self.path).damage

    def measurements(self) -> Iterator[MeasuredTrial]:
        """Each single measurement, also each round, in the order of measuring."""
        for record in self.records:
            if isinstance(record.outcome, Measurement):
                yield MeasuredTrial(trial=record.trial, measurement=record.outcome)

    def with_metadata(self: C, **values: Any) -> C:
        """A copy with these top-level keys set: a value replaces a whole tree, None removes it."""
        merged = {**self.metadata, **freeze(values)}
        metadata = {key: value for key, value in merged.items() if value is not None}
        return replace(self, metadata=MappingProxyType(metadata), base=self.base or self)

    def lines(self) -> Iterator[bytes]:
        """The lines of a numbered checkpoint with this content."""
        entries = [*self._entries()]
        copies = self.records.copies([codec.encode(entries[0])])
        return checkpoint_lines(entries, chain(self.records.lines(), map(codec.encode, copies)))

    def to_bytes(self) -> bytes:
        """A numbered checkpoint with this content, as bytes."""
        return b"".join(self.lines())

    @classmethod
    def from_bytes(cls, data: bytes, where: str = "the bytes") -> Checkpoint:
        """Reads the result of `to_bytes`, or the content of a checkpoint file.

        Raises CheckpointError if it is damaged; `where` names it in the message.
        """
        return _intact(read_bytes(data, where))

    def holds_same_as(self, other: Checkpoint) -> bool:
        """Whether both have the same content, ignoring their headers."""
        return self.records == other.records and [*self._notes()] == [*other._notes()]

    def _entries(self) -> Iterator[codec.Entry]:
        yield header_entry(replace(self.header, nodes=self.records.nodes))
        yield from self._notes()

    def _notes(self) -> Iterator[codec.Entry]:
        if self.server_only:
            yield codec.encode_server_only(self.server_only)
        for key, value in self.metadata.items():
            yield metadata_entry(key, value)
        for subject, search in self.searches.items():
            yield search_entry(subject, search)
        for lane, conclusion in self.conclusions.items():
            yield codec.encode_conclusion(lane, conclusion)
        for lane, questions in self.asked.items():
            for number, asked in enumerate(questions):
                yield codec.encode_asked(lane, number, asked)
        yield from map(codec.encode_shared_host, self.shared_hosts.values())
        yield from map(codec.encode_proof, self.proofs.values())


def load(directory: Path, prefix: str = "", *, with_nodes: bool = True) -> Checkpoint:
    """Everything in a directory: the newest intact checkpoint, the journal, and the journals of
    cluster nodes. Intact entries of newer, damaged checkpoints are added.
    """
    layout = Layout(directory, prefix)
    while True:
        indices = layout.indices()
        # before the other files: what a run takes from these, it adds to those
        journals = {node: layout.journal(node) for node in (layout.nodes() if with_nodes else ())}
        late = {node: (path, read_journal(path)) for node, path in journals.items()}
        contents = _contents(layout, indices)
        if layout.indices() == indices:
            return assemble(contents, late)
        # meanwhile a run moved its journal into a new checkpoint, and we may have read neither


def _contents(layout: Layout, indices: Sequence[int]) -> list[tuple[Path | str, Content]]:
    """The contents of the files to combine, oldest first."""
    contents: list[tuple[Path | str, Content]] = []
    for path in map(layout.checkpoint, reversed(indices)):
        contents.append((path, read_checkpoint(path)))
        if not contents[-1][1].damage:
            break
    contents.reverse()
    return [*contents, (layout.journal(), read_journal(layout.journal()))]


def load_existing(directory: Path, prefix: str = "") -> Checkpoint:
    """Like `load`, for commands that need outcomes. Raises CheckpointError if there are none."""
    loaded = load(directory, prefix)
    if loaded.path is None and loaded.damage:
        raise CheckpointError(f"nothing can be read: {'; '.join(loaded.damage)}")
    if loaded.path is None:
        raise UnusableCheckpoint(
            f"{directory}: no checkpoint found: run `model-analyzer profile` first, or give"
            " --checkpoint-directory"
        )
    return replace(loaded, is_growing=_is_growing(Layout(directory, prefix)))


def read_file(path: Path) -> Checkpoint:
    """Reads a checkpoint file or a journal. Raises CheckpointError if it is damaged or none."""
    try:
        with open_regular(path) as file:
            reader = read_journal_from if is_journal(path) else read_checkpoint_from
            content = reader(file, str(path))
            is_named_as_ours = is_journal(path) or number_of(path) is not None
            if not (is_named_as_ours or content.intact) and is_foreign(file):
                raise UnusableCheckpoint(f"{path}: is not a checkpoint")
    except OSError as error:
        raise unreadable(path, error) from error
    checkpoint = _intact(assemble([(path, content)]))
    return replace(checkpoint, is_growing=_is_growing(Layout(path.parent, prefix_of(path))))


def _is_growing(layout: Layout) -> bool:
    """Whether a run writes to the directory at this moment."""
    return any(living_owner(layout.lock(node)) for node in ("", *layout.nodes()))


def load_chosen(file: Path | None, directory: Path, prefix: str) -> Checkpoint:
    """Reads the file if given, otherwise the directory. Raises CheckpointError if that fails."""
    return read_file(file) if file is not None else load_existing(directory, prefix)


def _intact(checkpoint: Checkpoint) -> Checkpoint:
    """The checkpoint, unless it is damaged. After a bad value in one of upstream, all else in it is
    used: its files are JSON as a whole or not at all, so that is as it was written.
    """
    is_whole = checkpoint.header.tool == UPSTREAM_TOOL and len(checkpoint.records)
    if checkpoint.damage and not is_whole:
        raise CheckpointError(f"{checkpoint.damage[0]}: it cannot be used")
    return checkpoint


def read_bytes(data: bytes, where: str) -> Checkpoint:
    """Reads the content of a checkpoint file, or its intact part. `where` names it."""
    return assemble([(where, read_checkpoint_from(io.BytesIO(data), where))])


def assemble(
    files: Sequence[tuple[Path | str, Content]],
    late: Late = MappingProxyType({}),
) -> Checkpoint:
    """Combines the contents of files into one checkpoint; later files override earlier ones. Each
    file has its path, or a name for messages if the content was not read from a file. The journals
    of cluster nodes are `late`: they only add what the other files lack, see `Records.news`.
    """
    contents = [content for _, content in files]
    all_files = [*files, *late.values()]
    damaged = [(place, content) for place, content in all_files if content.damage]
    with_outcomes = [place for place, content in all_files if len(content.records)]
    missing = _missing(contents, late)
    records = _combined_records(contents)
    for node, (_, content) in late.items():
        records.update(records.news(content.records, node))
    idle = [content.server_only for content in contents if content.server_only is not None]
    notes = [*_notes(contents, records)]
    return Checkpoint(
        header=_combined_header(files),
        records=records,
        server_only=idle[-1] if idle else empty(),
        metadata=_combined_metadata(contents),
        searches=merged(each.searches for each in notes),
        conclusions=merged(each.conclusions for each in notes),
        asked=_combined_questions(notes),
        shared_hosts=merged(content.shared_hosts for content in contents),
        proofs=merged(content.proofs for content in contents),
        path=next((place for place in with_outcomes if isinstance(place, Path)), None),
        missing=missing,
        damage=tuple(_damage_line(place, content) for place, content in damaged),
        damage_warnings=tuple(
            f"{_damage_line(place, content)}: {_used(place, content, files)}"
            for place, content in damaged
        ),
        remarks=tuple(
            f"{place}: {remark}" for place, content in all_files for remark in content.remarks
        ),
    )


def _missing(contents: Sequence[Content], late: Late) -> Mapping[str, int]:
    """The number of outcomes that are missing, by node: those that the header of the newest
    numbered checkpoint counts and the file lacks, and damaged lines in the journals of nodes.
    """
    missing: Counter[str] = Counter()
    for content in contents:
        if content.header is not None and content.header.uuid:
            missing = Counter(content.header.nodes) - Counter(content.records.nodes)
    for node, (_, content) in late.items():
        if content.damage:
            missing[node] += max(content.lost, 1)
    return MappingProxyType(dict(missing))


def _combined_header(files: Iterable[tuple[Path | str, Content]]) -> Header:
    header = saved = Header()
    index: int | None = None
    for place, content in files:
        header = content.header or header
        if header.uuid:
            saved = header  # headers of journals have no uuid
        if index is None or (content.header and content.header.uuid):
            number = number_of(place) if isinstance(place, Path) else None
            index = header.index if number is None else number  # copies may be renumbered
    nodes = saved.nodes
    return replace(header, uuid=saved.uuid, parent=saved.parent, index=index, nodes=nodes)


def _combined_records(contents: Iterable[Content]) -> Records:
    records = Records()
    for content in contents:
        if len(records):
            records.update(content.records)
        else:
            records = content.records
    return records


def _notes(contents: Sequence[Content], records: Records) -> Iterator[Notes]:
    keys = {old: new for content in contents for old, new in content.upgrade.keys.items()}
    for content in contents:
        notes = Notes(
            searches=content.searches, conclusions=content.conclusions, asked=content.asked
        )
        yield upgraded_notes(notes, keys, records) if content.upgrade.is_needed else notes


def _combined_metadata(contents: Iterable[Content]) -> Mapping[str, Any]:
    metadata: Mapping[str, Any] = {}
    for content in contents:
        metadata = with_values(metadata, content.metadata)
    frozen: Mapping[str, Any] = freeze(metadata)
    return frozen


def with_values(metadata: Mapping[str, Any], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The metadata with these keys set: a value replaces a whole tree, None removes it."""
    changed = dict(metadata)
    for key, value in values.items():
        changed.pop(key, None)
        if value is not None:
            changed[key] = value
    return changed


def _combined_questions(notes: Iterable[Notes]) -> Mapping[Lane, tuple[Asked, ...]]:
    asked: dict[Lane, list[Asked]] = {}
    for lane, number, question in chain.from_iterable(each.asked for each in notes):
        put_question(asked.setdefault(lane, []), number, question)
    return MappingProxyType({lane: tuple(questions) for lane, questions in asked.items()})


def put_question(questions: list[Asked], number: int, question: Asked) -> None:
    """Replaces all questions from `number` on. If an earlier question is missing, because it was
    lost, this one is ignored.
    """
    if number <= len(questions):
        questions[number:] = [question]


def _damage_line(place: Path | str, content: Content) -> str:
    lost = f"; lost: {content.lost_outcomes}" if content.lost_outcomes else ""
    reason = content.damage + lost
    return f"{place} is damaged ({reason})"


def _used(place: Path | str, content: Content, files: Sequence[tuple[Path | str, Content]]) -> str:
    """What is used of a damaged file, or instead of it; `files` are the oldest first."""
    if content.intact:
        return "using the intact part"
    older = list(takewhile(lambda file: file[0] != place, files))
    readable = [file[0] for file in older if file[1].intact]
    is_numbered = isinstance(place, Path) and number_of(place) is not None
    if is_numbered and readable:
        return f"nothing in it can be read; using the older {readable[-1]}"
    return "nothing in it can be read"


def merged(mappings: Iterable[Mapping[K, T]]) -> Mapping[K, T]:
    """All entries; later ones replace earlier ones with the same key."""
    return MappingProxyType({key: item for mapping in mappings for key, item in mapping.items()})


def metadata_entry(key: str, value: Any) -> codec.Entry:
    """The entry that sets the user's `key` to a value; None removes the key."""
    return {"entry": codec.METADATA, "key": key, "value": thaw(value)}


def search_entry(
    subject: str,
    search: Mapping[str, Any],
    goal: Goal | None = None,
    bases: Sequence[str] = (),
    kinds: Sequence[str] = (),
    refused: Sequence[str] = (),
) -> codec.Entry:
    additions = {
        codec.GOALS: None if goal is None else codec.encode_goal(goal),
        codec.BASES: list(bases),
        codec.KINDS: [] if [*kinds] == [WITHOUT_GPU] else list(kinds),
        codec.REFUSED_VARIANTS: list(refused),
    }
    present = {key: value for key, value in additions.items() if value}
    return {**thaw(search), **present, "entry": codec.SEARCH, "subject": subject}


def read_header(path: Path) -> Header | None:
    """The header of a checkpoint file; None if it cannot be read."""
    try:
        with open_regular(path) as file:
            return decode_header(codec.decode(next(codec.split(file))))
    except (OSError, StopIteration, ValueError):
        return None  # reading the whole file reports the reason


def headers(layout: Layout) -> Sequence[Header]:
    """The readable headers of the numbered checkpoints in a directory, oldest first."""
    all_headers = map(read_header, map(layout.checkpoint, layout.indices()))
    return [header for header in all_headers if header is not None]


def in_order(items: Iterable[T], value: Callable[[T], Any], *, is_descending: bool) -> list[T]:
    """The items sorted by a value; items without a value (None) come last."""
    pairs = [(value(item), item) for item in items]
    present = [pair for pair in pairs if pair[0] is not None]
    present.sort(key=itemgetter(0), reverse=is_descending)
    return [item for _, item in (*present, *(pair for pair in pairs if pair[0] is None))]
