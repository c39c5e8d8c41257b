# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The keeper of all outcomes: remembers, makes durable, writes numbered checkpoints."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

from model_analyzer.domain.conclusions import Conclusion
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Outcome, Values
from model_analyzer.domain.profiles import Device, Profile, TrialRecord
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import (
    Checkpoint,
    headers,
    load,
    metadata_entry,
    search_entry,
)
from model_analyzer.state.contents import read_checkpoint, read_journal
from model_analyzer.state.format.codec import (
    BASES,
    GOALS,
    Encoder,
    encode_conclusion,
    encode_server_only,
)
from model_analyzer.state.format.header import Header, header_entry
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.format.lines import Entry
from model_analyzer.state.format.records import Records
from model_analyzer.state.journal import Fault, Journal
from model_analyzer.state.lock import Lock
from model_analyzer.state.node import Follower
from model_analyzer.writing import create_file

log = logging.getLogger(__name__)


class ProfileState:
    """Outcomes by trial key, durable one by one.

    A context manager: on leaving, files are closed and the directory is free for the next run.
    """

    _header: Header
    _records: Records
    _earlier: set[str]
    _server_only: Mapping[str, Values]
    _metadata: dict[str, Any]
    _searches: dict[str, Mapping[str, Any]]
    _conclusions: dict[str, Conclusion]
    _newest: Path | None
    _encoder: Encoder
    _pending: list[Entry]

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
        """Opens `directory` for writing, creating it if needed, and loads what it holds.

        With `fresh`, its checkpoints and journals (with this `prefix`) are removed before. A
        numbered checkpoint is written every `save_every` outcomes, and whenever one is saved
        `on_save` is told its path. The log says what the run starts from, unless it is not
        decided yet: without `announces`, that is left to `announce` or `start_from`.
        """
        self._layout = Layout(directory, prefix)
        self._retry_failed = retry_failed
        self._save_every = save_every
        self._on_save = on_save
        self._is_emptied = fresh
        self._create_directory()
        self._lock = Lock(self._layout.lock())
        try:
            self._journal = Journal(self._layout.journal())
        except BaseException:
            self._lock.release()
            raise
        try:
            self._remove_leftovers()
            if fresh:
                self._remove_all()
            loaded = load(directory, prefix, with_nodes=False)
            self._next = max(self._layout.indices(), default=-1) + 1
            self._has_saved = False
            self._unsaved = 0
            self._followers: dict[str, Follower] = {}
            self._begin(loaded)
            self.fold()
            self._earlier = set(self._records.keys())
            self._journal.drop_torn_line()
        except BaseException:
            self._journal.close()
            self._lock.release()
            raise
        for sentence in loaded.damage:
            log.warning("%s: using the intact part", sentence)
        for sentence in loaded.remarks:
            log.warning("%s", sentence)
        if announces:
            self.announce()

    def __enter__(self) -> ProfileState:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._journal.close()
        self._lock.release()

    def announce(self) -> None:
        """Logs what the run starts from."""
        if self._newest is not None:
            log.info("Loaded checkpoint from file %s", self._newest)
        elif self._is_emptied:
            log.info("Starting a fresh run.")
        else:
            log.info("No checkpoint file found, starting a fresh run.")

    @property
    def newest(self) -> Path | None:
        """The newest checkpoint (or the journal), or None while there is none."""
        return self._newest

    @property
    def checkpoint(self) -> Checkpoint:
        """Everything known so far, as the next checkpoint would hold it."""
        return Checkpoint(
            header=self._header,
            records=self._records.copy(),
            server_only=self._server_only,
            metadata=MappingProxyType(dict(self._metadata)),
            searches=MappingProxyType(dict(self._searches)),
            conclusions=MappingProxyType(dict(self._conclusions)),
            path=self._newest,
        )

    @property
    def profile(self) -> Profile:
        """Everything measured so far."""
        return self.checkpoint.profile

    def start_from(self, base: Checkpoint) -> None:
        """Goes on from another checkpoint instead of the newest one here, which is kept, unless
        the other is that with more notes.

        From an empty one, everything is measured anew.
        """
        original = base.base or base
        if not self._journal.is_empty and not original.holds_same_as(self.checkpoint):
            self._write_checkpoint()
        if base.path is not None:
            log.info("Loaded checkpoint from file %s", base.path)
        elif not len(base.records):
            log.info("Starting a fresh run.")
        self._begin(replace(base, header=replace(base.header, nodes={})))
        self._write_checkpoint()

    def descends_from(self, base: Checkpoint) -> bool:
        """Whether what was loaded goes on from `base`, directly or by way of others here.

        What has no identity yet, a journal alone, is gone on from by what knows all its trials.
        """
        if not base.header.uuid:
            return bool(len(base.records)) and base.records.keys() <= self._records.keys()
        parents = {header.uuid: header.parent for header in headers(self._layout)}
        identity = self._header.uuid
        while identity and identity != base.header.uuid:
            identity = parents.pop(identity, "")
        return bool(identity)

    def describe(
        self, *, devices: Sequence[Device], host: Mapping[str, str], cores: int | None = None
    ) -> None:
        """Says where the coming outcomes are measured."""
        self._header = replace(
            self._header,
            devices=tuple(devices),
            host=MappingProxyType(dict(host)),
            cores=cores,
        )
        self._header_is_due = True

    def outcome_of(self, trial: Trial) -> Outcome | None:
        """The outcome recorded for this trial; a failure of an earlier run may be retried."""
        record = (
            self._records.of_trial(trial.key)
            or self._records.of_trial(trial.former_key)
            or self._records.unverified(trial)
        )
        outcome = None if record is None else record.outcome
        is_retried = (
            self._retry_failed
            and isinstance(outcome, Failure)
            and not self._earlier.isdisjoint((trial.key, trial.former_key))
        )
        return None if is_retried else outcome

    def record_server_only(self, gpus: Mapping[str, Values]) -> None:
        """Keeps the values of the GPUs under a server without models, in place of older ones."""
        self._mend()
        self._append([encode_server_only(gpus)])
        self._server_only = MappingProxyType(dict(gpus))

    def record_search(
        self, subject: str, search: Mapping[str, Any], goal: Goal, bases: Sequence[str] = ()
    ) -> None:
        """Keeps by what search the coming trials are chosen: what a replay needs; and by what
        others rank what was measured: the goal, and which models the variants derive from now.
        """
        entry = search_entry(subject, search, goal, bases)
        known = self._searches.get(subject, {})
        if known == entry:
            return
        self._searches[subject] = entry
        is_new = any(known.get(key) != entry.get(key) for key in (GOALS, BASES))
        if len(self._records) and is_new:
            self._mend()
            self._append([entry])  # it changes the answer, even if nothing more is measured
        else:
            self._pending.append(entry)  # on its own it is not worth a checkpoint

    def record_conclusion(self, subject: str, conclusion: Conclusion) -> None:
        """Keeps what a search came to, in place of what an earlier one did."""
        if self._conclusions.get(subject) != conclusion:
            self._mend()
            self._append([encode_conclusion(subject, conclusion)])
            self._conclusions[subject] = conclusion

    def record_metadata(self, values: Mapping[str, Any]) -> None:
        """Sets the user's own keys, each as a whole; None removes one."""
        self._mend()
        self._append([metadata_entry(key, value) for key, value in values.items()])
        for key, value in values.items():
            self._metadata.pop(key, None)
            if value is not None:
                self._metadata[key] = value

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Keeps the outcome: it is on disk when this returns.

        Recording again what is known changes nothing, unless the variant has another name now, or
        derives from another model: the model was edited, and comes to the same variant.
        """
        known = self._records.named(trial.key, trial.variants)
        if known is not None and known.outcome == outcome and known.trial.derives_like(trial):
            return
        record = TrialRecord(trial=trial, outcome=outcome)
        self._mend()
        entries = tuple(self._encoder.record(trial.key, record))
        lines = self._append(entries)
        try:
            for entry, line in zip(entries, lines, strict=True):
                self._records.take(entry, line)
        except ValueError as error:
            raise CheckpointError(f"{trial}: what was measured makes no sense: {error}") from error
        self._earlier -= {trial.key, trial.former_key}
        self._unsaved += 1
        self._mend()
        if self._save_every is not None and self._unsaved >= self._save_every:
            self.save()

    def count_node(self, node: str, outcomes: int) -> None:
        """Says how many outcomes a node of a cluster has by now in its journal: a checkpoint
        without them is not complete.
        """
        self._header = replace(self._header, nodes={**self._header.nodes, node: outcomes})
        self._header_is_due = True

    def fold(self) -> bool:
        """Takes in what nodes of a cluster have recorded; whether there was anything new."""
        before = len(self._records)
        self._fold_nodes()
        new = len(self._records) - before
        self._unsaved += new
        return new > 0

    def _fold_nodes(self) -> None:
        for node in self._layout.nodes():
            follower = self._followers.setdefault(node, Follower(self._layout.journal(node)))
            follower.read_into(self._records)

    def save(self, *, is_last: bool = True) -> Path | None:
        """Folds the journals into the next numbered checkpoint, if they hold anything new. That
        there is nothing new is said when it `is_last`, unless others were saved before it.
        """
        if not self.fold() and not self._unsaved and self._journal.is_empty:
            if is_last and not self._has_saved:  # else it would seem to deny that
                log.info("No changes made to analyzer data, no checkpoint saved.")
            return None
        return self._write_checkpoint()

    def _begin(self, loaded: Checkpoint) -> None:
        self._header = loaded.header
        self._records = loaded.records
        self._earlier = set(loaded.records.keys())
        self._server_only = loaded.server_only
        self._metadata = dict(loaded.metadata)
        self._searches = dict(loaded.searches)
        self._conclusions = dict(loaded.conclusions)
        self._newest = loaded.path
        self._encoder = Encoder()
        self._pending = []
        self._header_is_due = True

    def _write_checkpoint(self) -> Path:
        self._create_directory()
        self._take_in_others()
        path = self._layout.checkpoint(self._next)
        header = Header.next(self._header, self._next)
        here, told = self._records.nodes, header.nodes
        nodes = {node: max(here.get(node, 0), told.get(node, 0)) for node in {**here, **told}}
        header = replace(header, nodes=nodes)
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
        self._header = header
        self._encoder = Encoder()
        self._pending = []
        self._header_is_due = True
        self._unsaved = 0
        self._next += 1
        self._newest = path
        self._has_saved = True
        log.info("Saved checkpoint to %s", path)
        if self._on_save is not None:
            self._on_save(path)
        return path

    def _take_in_others(self) -> None:
        """Takes in what another run has left here, although this one holds the directory: nothing
        that somebody was told to be kept is missing in the checkpoint that is written next.
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
            self._metadata = {**content.metadata, **self._metadata}
        self._next = max([self._next, *(index + 1 for index in newer)])

    def _mend(self) -> None:
        """Notices that somebody has removed or changed our files, before anything is lost by it:
        what is in memory becomes a checkpoint, and the journal begins anew.

        Raises CheckpointError where another run has the directory by now.
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
                "%s %s while in use: everything measured so far is in %s; going on",
                self._layout.journal(),
                fault.value,
                path,
            )

    def _append(self, entries: Sequence[Entry]) -> Sequence[bytes]:
        """Appends entries to the journal; their lines."""
        before = self._pending
        if self._header_is_due:
            header = replace(self._header.stamped(), uuid="")  # only what is whole has an identity
            before = [header_entry(header), *before]
        try:
            lines = self._journal.append([*before, *entries])
        except BaseException:
            self._encoder = Encoder()  # nothing is known to have been written
            raise
        self._header_is_due = False
        self._pending = []
        return lines[len(before) :]

    def _create_directory(self) -> None:
        directory = self._layout.directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CheckpointError(
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
            with suppress(OSError):  # it does no harm
                path.unlink()
