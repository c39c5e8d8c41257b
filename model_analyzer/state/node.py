# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Cluster nodes that measure into one shared directory.

Each node appends to its own journal, so its outcomes are durable independently of other nodes. The
leader reads these journals and adds them to the numbered checkpoints. A journal that arrives late
is included as soon as a program reads the directory.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType

from model_analyzer.domain.hardware import Device
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import CheckpointError
from model_analyzer.reading import open_regular
from model_analyzer.state.checkpoint import load
from model_analyzer.state.contents import Content, read_checkpoint, read_journal, take_lines
from model_analyzer.state.format.codec import Encoder
from model_analyzer.state.format.header import Header, header_entry
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.journal import Journal
from model_analyzer.state.lock import Lock
from model_analyzer.state.records import Records

log = logging.getLogger(__name__)


class NodeJournal:
    """The journal of one node. A context manager: leaving it releases the node's lock."""

    def __init__(
        self,
        directory: Path,
        node: str,
        *,
        prefix: str = "",
        devices: Sequence[Device] = (),
        host: Mapping[str, str] = MappingProxyType({}),
        cores: int | None = None,
    ) -> None:
        """Opens the journal of `node`; its numbering continues.

        The directory must exist. Raises CheckpointError if another process writes for this node.
        """
        self._layout = layout = Layout(directory, prefix)
        self._node = node
        self._lock = Lock(layout.lock(node))
        try:
            self._recorded = load(directory, prefix).records.nodes.get(node, 0)
            self._journal = Journal(layout.journal(node))
        except BaseException:
            self._lock.release()
            raise
        self._journal.drop_torn_line()
        if self._is_folded(layout):
            self._journal.clear()
        self._header = Header(devices=tuple(devices), host=host, cores=cores).stamped()
        self._encoder = Encoder()
        self._header_is_due = True

    def __enter__(self) -> NodeJournal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._journal.close()
        self._lock.release()

    @property
    def recorded(self) -> int:
        """The number of outcomes that this node has ever recorded."""
        return self._recorded

    def record(self, trial: Trial, outcome: Outcome) -> int:
        """Stores the outcome: it is on disk when this returns. Returns its number, for the leader.

        Raises CheckpointError if it cannot be stored.
        """
        self._check()
        number = self._recorded + 1
        record = TrialRecord(trial=trial, outcome=outcome, node=self._node, number=number)
        entries = [*self._encoder.record(trial.key, record)]
        if self._header_is_due:
            entries.insert(0, header_entry(self._header))
        try:
            self._journal.append(entries)
        except BaseException:
            self._encoder = Encoder()  # the journal may lack what it refers to
            raise
        self._header_is_due = False
        self._recorded = number
        self._check()
        return number

    def _check(self) -> None:
        """Raises CheckpointError if another program removed or changed the journal."""
        fault = self._journal.fault
        if fault is not None:
            raise CheckpointError(
                f"{self._layout.journal(self._node)}: {fault.value} while in use; measurements of"
                " this node are not saved: start it again"
            )

    def _is_folded(self, layout: Layout) -> bool:
        """Whether the newest numbered checkpoint has all outcomes of this journal."""
        indices = layout.indices()
        if not indices:
            return False
        newest = read_checkpoint(layout.checkpoint(indices[-1]))
        return not newest.damage and newest.records.nodes.get(self._node, 0) == self._recorded


class Follower:
    """Reads the new lines of another process's journal, call by call."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = 0
        self._last = b""  # the line before the position

    def read_into(self, records: Records) -> None:
        """Adds new, intact lines; an incomplete line is read by the next call."""
        content = Content(records=records)
        try:
            with open_regular(self._path) as file:
                file.seek(self._position - len(self._last))
                if file.read(len(self._last)) != self._last:  # its owner has started a new one
                    self._position, self._last = 0, b""
                    file.seek(0)
                size, last = take_lines(file, content, str(self._path))
        except OSError as error:
            log.warning("%s: cannot be read now: %s", self._path, error.strerror)
            return
        self._position += size
        self._last = last or self._last
        if content.damage:
            log.warning("%s is damaged: using the intact part", self._path)
            records.update(read_journal(self._path).records)  # with what its copies restore
