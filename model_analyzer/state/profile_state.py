# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The state of a run: stores outcomes durably, and writes numbered checkpoints."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Measurement, Outcome, Values
from model_analyzer.domain.profiles import Conclusion, Profile, Proof, TrialRecord
from model_analyzer.domain.slots import Asked, Lane, SharedHost
from model_analyzer.domain.trials import Failure, Trial, has_more_time
from model_analyzer.errors import CheckpointError, UnusableCheckpoint, is_wrong_path
from model_analyzer.noise.pooling import is_replaced
from model_analyzer.state.checkpoint import (
    Checkpoint,
    headers,
    load,
    metadata_entry,
    put_question,
    search_entry,
    with_values,
)
from model_analyzer.state.contents import read_checkpoint, read_journal
from model_analyzer.state.format import codec
from model_analyzer.state.format.header import Header, header_entry
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.lock import Lock
from model_analyzer.state.node import Fault, Journal, NodeJournals
from model_analyzer.state.records import Records
from model_analyzer.writing import create_file

log = logging.getLogger(__name__)


class StateFiles:
    """The files that a run writes, and what they contain: the journal, and numbered checkpoints.

    `on_save` gets the path of each saved checkpoint.
    """

    _content: Checkpoint  # with the records that it began with
    _records: Records
    _earlier: set[str]
    _newest: Path | None
    _encoder: codec.Encoder
    _pending: list[codec.Entry]
    _next: int  # number of a checkpoint
    _unsaved: int  # outcomes since the last one
    _has_saved: bool

    def __init__(self, layout: Layout, on_save: Callable[[Path], None] | None) -> None:
        """Takes the lock of the directory, which is created if needed."""
        self._layout = layout
        self._on_save = on_save
        self._create_directory(is_first=True)
        with ExitStack() as files:
            self._lock = Lock(layout.lock())
            files.callback(self._lock.release)
            self._journal = Journal(layout.journal())
            files.callback(self._journal.close)
            self._files = files.pop_all()

    @property
    def newest(self) -> Path | None:
        """The newest checkpoint (or the journal), or None while there is none."""
        return self._newest

    @property
    def checkpoint(self) -> Checkpoint:
        """Everything recorded so far, as the next checkpoint would contain it."""
        return replace(self._content, records=self._records.copy(), path=self._newest)

    def _begin(self, loaded: Checkpoint) -> None:
        self._content = _without_history(loaded)
        self._records = loaded.records
        self._earlier = set(loaded.records.keys())
        self._newest = loaded.path
        self._begin_journal()

    def _begin_journal(self) -> None:
        """The next line of the journal is a header, and refers to nothing before it."""
        self._encoder = codec.Encoder()
        self._pending = []
        self._header_is_due = True

    def _change_header(self, **changes: Any) -> None:
        header = replace(self._content.header, **changes)
        self._content = replace(self._content, header=header)
        self._header_is_due = True

    def _note(self, entries: Sequence[codec.Entry], **changes: Any) -> None:
        """Stores entries, and what they change of the content."""
        self._check_files()
        self._append(entries)
        self._content = replace(self._content, **changes)

    def _write_checkpoint(self) -> Path:
        self._create_directory()
        self._include_others()
        path = self._layout.checkpoint(self._next)
        header = Header.next(self._content.header, self._next)
        try:
            create_file(path, replace(self.checkpoint, header=header).lines())
        except FileExistsError:
            return self._write_checkpoint()  # another run was faster
        except OSError as error:
            raise CheckpointError(
                f"{path}: cannot be written: {error.strerror}; what was measured is kept in"
                f" {self._layout.journal()}: make room and run again"
            ) from error
        self._journal.clear()
        self._content = replace(self._content, header=header)
        self._begin_journal()
        self._unsaved = 0
        self._next += 1
        self._newest = path
        self._has_saved = True
        log.info("Saved checkpoint to %s", path)
        if self._on_save is not None:
            self._on_save(path)
        return path

    def _include_others(self) -> None:
        """Includes outcomes that another run wrote here although this one holds the lock, so the
        next checkpoint has every acknowledged outcome.
        """
        newer = [index for index in self._layout.indices() if index >= self._next]
        files = [(path, read_checkpoint(path)) for path in map(self._layout.checkpoint, newer)]
        if self._journal.fault is Fault.EXTENDED:
            path = self._layout.journal()
            files.append((path, read_journal(path)))
        for _, content in files:
            records = content.records
            records.update(self._records)
            self._records = records
            metadata = {**content.metadata, **self._content.metadata}
            self._content = replace(self._content, metadata=metadata)
        self._next = max([self._next, *(index + 1 for index in newer)])

    def _check_files(self) -> None:
        """Detects that another program removed or changed our files. Then everything in memory is
        written to a checkpoint, and the journal is started again.

        Raises CheckpointError if another run has the directory now.
        """
        if self._journal.is_moved:
            return
        self._create_directory()
        fault = self._journal.fault
        try:
            self._lock.renew(is_guarded=self._journal.is_in_place)
        except CheckpointError as error:
            raise CheckpointError(
                f"{error}; everything measured so far is in {self._write_checkpoint()}"
            ) from error
        if fault is not None:
            path = self._write_checkpoint()
            log.warning(
                "%s %s while in use: everything measured so far is in %s; continuing",
                self._layout.journal(),
                fault.value,
                path,
            )

    def _append(self, entries: Sequence[codec.Entry]) -> Sequence[bytes]:
        """Appends entries to the journal; returns their lines."""
        first = self._pending
        if self._header_is_due:
            header = replace(
                self._content.header.stamped(), uuid=""
            )  # only checkpoints have a uuid
            first = [header_entry(header), *first]
        try:
            lines = self._journal.append([*first, *entries])
        except BaseException:
            self._encoder = codec.Encoder()  # the journal may lack what it refers to
            raise
        self._header_is_due = False
        self._pending = []
        return lines[len(first) :]

    def _create_directory(self, *, is_first: bool = False) -> None:
        """Creates the directory. If that fails the first time, the user may have named a wrong one;
        later, the directory was removed.
        """
        directory = self._layout.directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            is_wrong = is_first and is_wrong_path(error)
            kind = UnusableCheckpoint if is_wrong else CheckpointError
            raise kind(
                f"{directory}: cannot be created: {error.strerror};"
                " choose another --checkpoint-directory"
            ) from error

    def _remove_all(self) -> None:
        layout = self._layout
        journals = map(layout.journal, layout.nodes())
        for path in (*map(layout.checkpoint, layout.indices()), *journals):
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise CheckpointError(f"{path}: cannot be removed: {error.strerror}") from error
        self._journal.clear()

    def _remove_leftovers(self) -> None:
        for path in self._layout.leftovers():
            with suppress(OSError):  # leftovers are harmless
                path.unlink()


class StateNotes(StateFiles):
    """Records what is known besides outcomes."""

    def describe(
        self, *, devices: Sequence[Device], host: Mapping[str, str], cores: int | None = None
    ) -> None:
        """Sets where the next outcomes are measured."""
        self._change_header(devices=tuple(devices), host=MappingProxyType(dict(host)), cores=cores)

    def record_server_only(self, gpus: Mapping[str, Values]) -> None:
        """Stores the GPU values of a server without models; replaces older ones."""
        self._note([codec.encode_server_only(gpus)], server_only=MappingProxyType(dict(gpus)))

    def record_search(
        self,
        subject: str,
        search: Mapping[str, Any],
        goal: Goal,
        bases: Sequence[str] = (),
        kinds: Sequence[str] = (),
        refused: Sequence[str] = (),
    ) -> None:
        """Stores the search settings (for a replay), the goal and the bases of the models (for
        rankings), the kinds of hardware, and which variants are left out.
        """
        entry = search_entry(subject, search, goal, bases, kinds, refused)
        previous = self._content.searches.get(subject, {})
        if previous == entry:
            return
        searches = {**self._content.searches, subject: entry}
        is_new = any(
            previous.get(key) != entry.get(key)
            for key in (codec.GOALS, codec.BASES, codec.REFUSED_VARIANTS)
        )
        if len(self._records) and is_new:
            # it changes the answer, even if nothing more is measured
            self._note([entry], searches=searches)
        else:
            self._pending.append(entry)  # on its own it is not worth a checkpoint
            self._content = replace(self._content, searches=searches)

    def record_conclusion(self, lane: Lane, conclusion: Conclusion) -> None:
        """Stores the conclusion of a search; replaces an earlier one."""
        present = self._content.conclusions
        if present.get(lane) != conclusion:
            entry = codec.encode_conclusion(lane, conclusion)
            self._note([entry], conclusions={**present, lane: conclusion})

    def asked(self, lane: Lane) -> Sequence[Asked]:
        """The questions to a search, if several trials were under way at once."""
        return self._content.asked.get(lane, ())

    def record_asked(self, lane: Lane, number: int, asked: Asked) -> None:
        """Stores a question; it replaces all from `number` on."""
        questions = [*self.asked(lane)]
        put_question(questions, number, asked)
        entry = codec.encode_asked(lane, number, asked)
        self._note([entry], asked={**self._content.asked, lane: tuple(questions)})

    def record_shared_host(self, shared: SharedHost) -> None:
        """Stores the test of a host with several slots; replaces an earlier one of that host."""
        hosts = {**self._content.shared_hosts, shared.host: shared}
        self._note([codec.encode_shared_host(shared)], shared_hosts=hosts)

    def record_proof(self, proof: Proof) -> None:
        """Stores a proof; replaces an earlier one about the same."""
        proofs = {**self._content.proofs, proof.subject: proof}
        self._note([codec.encode_proof(proof)], proofs=proofs)

    def record_metadata(self, values: Mapping[str, Any]) -> None:
        """Sets keys of the user's metadata; each value replaces a whole tree, None removes it."""
        metadata = with_values(self._content.metadata, values)
        entries = [metadata_entry(key, value) for key, value in values.items()]
        self._note(entries, metadata=metadata)


class ProfileState(StateNotes):
    """Outcomes by trial key, durable one by one.

    A context manager: on leaving, files are closed and the directory is free for the next run.
    """

    def __init__(
        self,
        directory: Path,
        *,
        prefix: str = "",
        retry_failed: bool = False,
        save_every: int | None = None,
        fresh: bool = False,
        on_save: Callable[[Path], None] | None = None,
        announces: bool = True,
    ) -> None:
        """Opens `directory` for writing, creating it if needed, and loads its content.

        With `fresh`, its checkpoints and journals (with this `prefix`) are removed first. A
        numbered checkpoint is written every `save_every` outcomes; `on_save` gets the path of each
        saved checkpoint. With `announces`, the log says what the run starts from; otherwise call
        `announce` or `start_from`. Raises CheckpointError if the directory is in use or unusable.
        """
        super().__init__(Layout(directory, prefix), on_save)
        self._nodes = NodeJournals(self._layout)
        self._retry_failed = retry_failed
        self._save_every = save_every
        self._is_emptied = fresh
        with ExitStack() as files:
            files.callback(self._files.close)
            self._load()
            files.pop_all()
        if announces:
            self.announce()

    def __enter__(self) -> ProfileState:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._store_late(self._nodes.news(self._records, removes=True))
        except CheckpointError as problem:
            log.warning("%s", problem)
        finally:
            self._files.close()

    def _load(self) -> None:
        """Loads the content of the directory, or removes it for a fresh run."""
        self._remove_leftovers()
        if self._is_emptied:
            self._remove_all()
        loaded = load(self._layout.directory, self._layout.prefix, with_nodes=False)
        self._next = max(self._layout.indices(), default=-1) + 1
        self._has_saved = False
        self._unsaved = 0
        self._begin(loaded)
        self._journal.drop_torn_line()
        self._store_late(self._nodes.news(self._records, removes=True))
        if self._newest is None and len(self._records):
            self._newest = self._layout.journal()
        self._earlier = set(self._records.keys())
        for warning in loaded.damage_warnings:
            log.warning("%s", warning)
        for remark in loaded.remarks:
            log.warning("%s", remark)
        self._layout = self._nodes.layout = replace(self._layout, is_in_use=True)

    def announce(self) -> None:
        """Logs what the run starts from."""
        if self._newest is not None:
            log.info("Loaded checkpoint from file %s", self._newest)
        elif self._is_emptied:
            log.info("Starting a fresh run.")
        else:
            log.info("No checkpoint file found, starting a fresh run.")

    @property
    def profile(self) -> Profile:
        """All outcomes so far."""
        return self.checkpoint.profile

    def start_from(self, base: Checkpoint) -> None:
        """Continues from another checkpoint instead of the newest one here. The newest one is saved
        first, unless `base` is the same with more notes.

        An empty `base` means a fresh start.
        """
        original = base.base or base
        self.fold()
        if not self._journal.is_empty and not original.holds_same_as(self.checkpoint):
            self._write_checkpoint()
        self._nodes.remove()  # they belong to what is left here
        if base.path is not None:
            log.info("Loaded checkpoint from file %s", base.path)
        elif not len(base.records):
            log.info("Starting a fresh run.")
        self._begin(base)
        self._write_checkpoint()

    def descends_from(self, base: Checkpoint) -> bool:
        """Whether the loaded checkpoint continues `base`, directly or through others here.

        A `base` without a uuid (a journal alone) is continued if all its trials are here.
        """
        if not base.header.uuid:
            return bool(len(base.records)) and base.records.keys() <= self._records.keys()
        parents = {header.uuid: header.parent for header in headers(self._layout)}
        identity = self._content.header.uuid
        while identity and identity != base.header.uuid:
            identity = parents.pop(identity, "")
        return bool(identity)

    def outcome_of(self, trial: Trial) -> Outcome | None:
        """The outcome recorded for this trial. None if it is to be measured again: a failure of an
        earlier run may be retried, one at the end of its budget if more is left now, and a round
        does not answer for perf_analyzer's own windows, or if these have measured the trial since.
        """
        record = (
            self._records.of_trial(trial.key)
            or self._records.of_trial(trial.former_key)
            or self._records.unverified(trial)
        )
        outcome = None if record is None else record.outcome
        is_retried = (
            isinstance(outcome, Failure)
            and (self._retry_failed or has_more_time(trial, outcome))
            and not self._earlier.isdisjoint((trial.key, trial.former_key))
        )
        return None if is_retried or self._is_replaced(trial, outcome) else outcome

    def _is_replaced(self, trial: Trial, outcome: Outcome | None) -> bool:
        """Whether an outcome is a round that does not count for this trial."""
        if not isinstance(outcome, Measurement) or not outcome.is_round:
            return False
        if trial.round_s is None:
            return True
        first = self._records.of_trial(trial.first.key) if trial.repetition else None
        careful = None if first is None else first.outcome
        return isinstance(careful, Measurement) and is_replaced(outcome, [careful])

    def record(self, trial: Trial, outcome: Outcome, node: str = "") -> None:
        """Stores the outcome, which a cluster node has measured if one is given: it is on disk when
        this returns. Raises CheckpointError otherwise.

        Recording the same outcome again has no effect, unless the variant has another name now, or
        derives from an edited model. A round in its place becomes a later repetition.
        """
        recorded = self._records.named(trial.key, trial.variants)
        if (
            recorded is not None
            and recorded.outcome == outcome
            and recorded.trial.derives_like(trial)
        ):
            return
        known = self._records.of_trial(trial.key)
        if not node and known is not None and known.outcome == outcome:
            node = known.node  # it is stored under another name, too
        self._check_files()
        if recorded is not None and recorded.outcome != outcome:
            self._set_aside(recorded)
        self._store(trial.key, TrialRecord(trial=trial, outcome=outcome, node=node))
        self._check_files()
        if self._save_every is not None and self._unsaved >= self._save_every:
            self.save()

    def record_loss(self, trial: Trial, node: str) -> Outcome | None:
        """Counts a trial that was lost with its slot on a cluster node. If the slot had stored an
        outcome before, that is the result, and nothing is counted.
        """
        if not node:
            return None
        self.fold()
        outcome = self.outcome_of(trial)
        if outcome is None:
            self._check_files()
            lost = self._content.header.lost
            lost = MappingProxyType({**lost, node: lost.get(node, 0) + 1})
            self._change_header(lost=lost)
            self._append([])
        return outcome

    def fold(self) -> None:
        """Stores the outcomes that only the journals of cluster nodes have."""
        self._store_late(self._nodes.news(self._records))

    def save(self, *, is_last: bool = True) -> Path | None:
        """Writes the journals into the next numbered checkpoint, if they have anything new; returns
        its path. If nothing is new, the log says so, but only for the last call of a run that
        saved nothing (`is_last`).
        """
        self.fold()
        if not self._unsaved and self._journal.is_empty:
            if is_last and not self._has_saved:
                log.info("No changes made to analyzer data, no checkpoint saved.")
            return None
        return self._write_checkpoint()

    def _store_late(self, late: Iterable[tuple[str, TrialRecord]]) -> None:
        """Stores outcomes from journals of nodes, while they are read."""
        for key, record in late:
            self._check_files()
            present = self._records.named(key, record.trial.variants)
            if present is not None:
                self._set_aside(present)
            self._store(key, record)

    def _set_aside(self, record: TrialRecord) -> None:
        """Stores a round as the next free repetition of its trial, before another outcome
        takes its place. A run that was killed between the two may have done so already.
        """
        if not isinstance(record.outcome, Measurement) or not record.outcome.is_round:
            return
        repetition = self._records.as_repetition(record)
        self._store(repetition.trial.key, repetition)

    def _store(self, key: str, record: TrialRecord) -> None:
        """Appends the record to the journal, and adds it to those in memory."""
        entries = tuple(self._encoder.record(key, record))
        lines = self._append(entries)
        stored_record = codec.stored(record)
        try:
            for entry, line in zip(entries, lines, strict=True):
                self._records.take(entry, line, stored_record)
        except ValueError as error:
            trial = record.trial
            raise CheckpointError(f"{trial}: the outcome cannot be stored: {error}") from error
        self._earlier -= {key, record.trial.former_key}
        self._unsaved += 1


def _without_history(loaded: Checkpoint) -> Checkpoint:
    """Its content, without what is true of its files only."""
    return replace(
        loaded, is_growing=False, missing={}, damage=(), damage_warnings=(), remarks=(), base=None
    )
