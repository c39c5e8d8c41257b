# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the journals of cluster nodes, for the run that has the lock of the directory."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.words import counted
from model_analyzer.errors import CheckpointError
from model_analyzer.reading.untrusted import open_regular
from model_analyzer.state.contents import Content, read_journal, take_lines
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.format.lines import Entry, decode_again
from model_analyzer.state.lock import Lock
from model_analyzer.state.records import Records

log = logging.getLogger(__name__)


class NodeJournals:
    """The journals of all nodes in the directory of the `layout`.

    Slots write to them: those of this run, and for a while those of a run that was killed.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._followers: dict[str, Follower] = {}

    def news(self, known: Records, *, removes: bool = False) -> Iterator[tuple[str, TrialRecord]]:
        """What new lines add to the `known` outcomes, to which the caller adds it: outcomes with
        the keys of their trials.

        With `removes`, an intact journal to which no slot writes any more is removed after that.
        Raises CheckpointError if a newer program wrote a journal; once the directory is in use,
        that is a warning.
        """
        for node in self.layout.nodes():
            follower = self._followers.setdefault(node, Follower(self.layout.journal(node), node))
            yield from self._news(follower, known)
            if removes and follower.is_own and follower.is_intact:
                with ExitStack() as stack:
                    if self._has_ended(node, stack):
                        yield from self._news(follower, known)
                        follower.remove()

    def remove(self) -> None:
        """Removes the journals that were read. Slots that still write to one notice it, and write
        nothing more.
        """
        for follower in self._followers.values():
            if follower.is_own:
                follower.remove()

    def _news(self, follower: Follower, known: Records) -> Iterator[tuple[str, TrialRecord]]:
        try:
            news = known.news(follower.read(), follower.node)
        except CheckpointError as error:
            if not self.layout.is_in_use:
                raise
            follower.warn(str(error))
            return
        yield from news.items()
        if len(news):
            outcomes = counted(len(news), "outcome")
            log.info("%s: added %s that its run had not stored", follower.path, outcomes)

    def _has_ended(self, node: str, stack: ExitStack) -> bool:
        """Whether no slot writes for this node; none can then begin before the `stack` ends."""
        try:
            stack.callback(Lock(self.layout.lock(node)).release)
        except CheckpointError:
            return False
        return True


class Follower:
    """Reads the new lines of a journal that another process may still write, call by call.

    It `is_intact` if no complete line is damaged, and `is_own` if it is a journal of this `node`,
    and not just another file with such a name.
    """

    def __init__(self, path: Path, node: str) -> None:
        self.path = path
        self.node = node
        self.is_intact = True
        self.is_own = True
        self._warning = ""
        self._position = 0
        self._last = b""  # the line before the position
        self._definitions: list[tuple[Entry, bytes]] = []

    def read(self) -> Records:
        """The outcomes in new, intact lines; an incomplete line is read by a later call. If the
        journal cannot be read, that is a warning.

        Raises CheckpointError if it needs a newer program.
        """
        content = Content()
        content.records.prepare(self._definitions)
        try:
            with open_regular(self.path) as file:
                self._read(file, content)
        except FileNotFoundError:
            return content.records
        except OSError as error:
            self.is_intact = False
            self.warn(f"{self.path}: cannot be read now: {error.strerror}")
        records = content.records
        if content.damage:
            self.is_intact = False
            self.is_own &= content.intact > 0
            self.warn(f"{self.path} is damaged ({content.damage}): using the intact part")
            records.update(read_journal(self.path).records)  # with what its copies restore
        self.is_own &= all(record.node == self.node for record in records)
        self._definitions = [(decode_again(line), line) for line in records.definitions]
        return records

    def remove(self) -> None:
        """Removes the journal. If that fails, each run reads it again, which is harmless."""
        try:
            self.path.unlink(missing_ok=True)
        except OSError as error:
            self.warn(f"{self.path}: cannot be removed: {error.strerror}")

    def warn(self, warning: str) -> None:
        """Logs a warning, unless it is the same as the last one."""
        if warning != self._warning:
            log.warning("%s", warning)
        self._warning = warning

    def _read(self, file: BinaryIO, content: Content) -> None:
        file.seek(self._position - len(self._last))
        if file.read(len(self._last)) != self._last:  # its owner has started a new one
            self._position, self._last, self.is_intact = 0, b"", True
            file.seek(0)
        size, last = take_lines(file, content, str(self.path))
        self._position += size
        self._last = last or self._last
