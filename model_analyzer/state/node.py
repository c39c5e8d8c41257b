# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The journals of cluster nodes that share the checkpoint directory of a run: a slot writes, and
the run reads. And which nodes share it: each is asked to sign a file there.

A slot appends an outcome to the journal of its node before it answers. So an outcome that the run
did not record, because it died, is not lost: the next run finds it.

The journal: the outcomes since the newest numbered checkpoint.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from enum import Enum
from functools import partial
from pathlib import Path
from typing import BinaryIO

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.words import counted
from model_analyzer.errors import CheckpointError, UnusableCheckpoint, is_wrong_path
from model_analyzer.reading.untrusted import open_regular
from model_analyzer.state.contents import Content, read_journal, take_lines
from model_analyzer.state.format.codec import (
    OUTCOMES,
    Encoder,
    Entry,
    decode_again,
    encode,
    with_serial,
)
from model_analyzer.state.format.header import Header, header_entry
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.lock import Lock
from model_analyzer.state.records import Records
from model_analyzer.writing import open_own, sync_directory


class Fault(Enum):
    """A change of the journal by another program; the value is for messages."""

    REMOVED = "was removed"
    SHORTENED = "was shortened"
    EXTENDED = "was written to by another program"


class Journal:
    """An append-only file of lines, for the one process that holds the lock.

    The file itself is locked, too, in case somebody removes the lock file.
    """

    _size: int
    _serial: int

    def __init__(self, path: Path) -> None:
        """Opens or creates the file. Call `drop_torn_line` before the first `append`."""
        self._path = path
        self._file = -1
        self._open()

    @property
    def is_empty(self) -> bool:
        return self._size == 0

    @property
    def is_in_place(self) -> bool:
        """Whether the path still leads to the opened file."""
        try:
            current = os.stat(self._path, follow_symlinks=False)
        except OSError:
            return False
        return os.path.samestat(os.fstat(self._file), current)

    @property
    def is_moved(self) -> bool:
        """Whether somebody moved the whole directory; writing continues there."""
        return os.fstat(self._file).st_nlink > 0 and not self._path.parent.exists()

    @property
    def fault(self) -> Fault | None:
        """How another program changed the file since the last write; None if unchanged."""
        size = os.fstat(self._file).st_size
        if not (self.is_in_place or self.is_moved):
            return Fault.REMOVED
        if size == self._size:
            return None
        return Fault.SHORTENED if size < self._size else Fault.EXTENDED

    def append(self, entries: Sequence[Entry]) -> Sequence[bytes]:
        """Appends entries; outcomes get a serial number. When this returns, they are on disk; if it
        raises CheckpointError, none is in the file. Returns their lines without serial numbers.
        """
        lines = [*map(encode, entries)]
        serial = self._serial
        data = b""
        for entry, line in zip(entries, lines, strict=True):
            if entry["entry"] in OUTCOMES:
                serial += 1
                data += with_serial(line, serial)
            else:
                data += line
        try:
            position = 0
            while position < len(data):
                position += os.write(self._file, data[position:])
            os.fsync(self._file)
        except BaseException as error:
            self._cut(self._size)
            if not isinstance(error, OSError):
                raise
            raise CheckpointError(
                f"{self._path}: cannot be written: {error.strerror}; everything measured before"
                " is kept: make room and run again"
            ) from error
        self._size += len(data)
        self._serial = serial
        return lines

    def clear(self) -> None:
        """Empties the journal after all outcomes were written to a numbered checkpoint; opens a new
        file if ours was removed. If that fails, outcomes are in both files, which is harmless.
        """
        if not self.is_in_place:
            try:
                self._open()
            except CheckpointError:
                return  # then every outcome gets its own checkpoint
        if self._cut(0):
            self._size = self._serial = 0

    def drop_torn_line(self) -> None:
        """Removes an incomplete last line: its outcome was never acknowledged."""
        size = end = self._size
        while end > 0:
            start = max(0, end - 65536)
            block = os.pread(self._file, end - start, start)
            newline = block.rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            try:
                os.ftruncate(self._file, end)
            except OSError as error:
                raise self._cannot_open(error) from error
        self._size = end

    def close(self) -> None:
        """Closes the file, and removes it if it is empty. Calling it twice is allowed."""
        if self._file < 0:
            return
        self._remove_if_empty()
        os.close(self._file)
        self._file = -1

    def _open(self) -> None:
        """Raises CheckpointError if another process has locked the file."""
        try:
            file = open_own(self._path, os.O_RDWR | os.O_APPEND)
        except OSError as error:
            raise self._cannot_open(error) from error
        try:
            self._lock(file)
            sync_directory(self._path.parent)  # not every file system does that with the file
        except BaseException as error:
            os.close(file)
            if isinstance(error, OSError):
                raise self._cannot_open(error) from error
            raise
        if self._file >= 0:
            os.close(self._file)
        self._file = file
        self._size = os.fstat(file).st_size
        self._serial = 0

    def _lock(self, file: int) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise CheckpointError(
                f"{self._path}: in use by another run, whose lock file was removed; wait for it,"
                " or choose another --checkpoint-directory"
            ) from error
        except OSError:
            pass  # not every file system can; the lock file counts

    def _remove_if_empty(self) -> None:
        try:
            if os.fstat(self._file).st_size == 0 and self.is_in_place:
                os.unlink(self._path)
        except OSError:
            pass  # an empty journal does no harm

    def _cut(self, size: int) -> bool:
        try:
            os.ftruncate(self._file, size)
            os.fsync(self._file)
        except OSError:
            return False
        return True

    def _cannot_open(self, error: OSError) -> CheckpointError:
        kind = UnusableCheckpoint if is_wrong_path(error) else CheckpointError
        return kind(f"{self._path}: cannot be opened: {error.strerror}")


log = logging.getLogger(__name__)

# A network file system may hang.
_PATIENCE_S = 10.0

_SIGNED = b" is shared\n"


class NodeJournal:
    """The journal of a node, for the one slot that writes to it. A context manager: leaving it
    closes the journal.

    A run that starts from other checkpoints removes the journals in its directory. So one that was
    removed or changed is not written again: its slot may belong to an earlier run.
    """

    def __init__(self, directory: Path, node: str, *, prefix: str = "") -> None:
        """Opens the journal of `node`, or creates it.

        The directory must exist. Raises CheckpointError if another process writes for this node.
        """
        layout = Layout(directory, prefix)
        self._path = layout.journal(node)
        self._node = node
        with ExitStack() as files:
            files.callback(Lock(layout.lock(node)).release)
            self._journal = Journal(self._path)
            files.callback(self._journal.close)
            self._journal.drop_torn_line()
            self._files = files.pop_all()
        self._encoder = Encoder()
        self._header_is_due = True

    def __enter__(self) -> NodeJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the journal, and removes it if it is empty; calling it twice is fine."""
        self._files.close()

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Stores the outcome: it is on disk when this returns. Raises CheckpointError if it cannot
        be stored, or if another program removed or changed the journal; then open it again.
        """
        self._check()
        record = TrialRecord(trial=trial, outcome=outcome, node=self._node)
        entries: list[Entry] = [*self._encoder.record(trial.key, record)]
        if self._header_is_due:
            entries.insert(0, header_entry(Header().stamped()))
        self._journal.append(entries)
        self._header_is_due = False
        self._check()

    def _check(self) -> None:
        fault = self._journal.fault
        if fault is not None:
            raise CheckpointError(f"{self._path}: {fault.value} while in use")


class SlotJournal:
    """The journal of a node as its slot uses it: `open_journal` opens it, given the node. A context
    manager: leaving it closes the journal.

    Nothing here raises, or takes longer than `patience_s`.
    """

    def __init__(
        self, open_journal: Callable[[str], NodeJournal], *, patience_s: float = _PATIENCE_S
    ) -> None:
        self._open_journal = open_journal
        self._patience_s = patience_s
        self._journal: NodeJournal | None = None
        self._worker: threading.Thread | None = None
        self._problem = ""
        self._is_told = False

    def __enter__(self) -> SlotJournal:
        return self

    def __exit__(self, *_: object) -> None:
        self._within_patience(self._close)

    def begin(self, node: str) -> None:
        """Opens the journal of the node before a trial, unless it is open.

        A slot that is measuring has its journal open. So when the journals of a directory are
        removed, it stores nothing there any more.
        """
        self._problem = ""
        if self._journal is None:
            self._within_patience(lambda: self._open(node))

    def keep(self, trial: Trial, outcome: Outcome) -> str:
        """Stores the outcome of the trial; returns why that failed the first time, otherwise ""."""
        self._within_patience(lambda: self._record(trial, outcome))
        is_news = bool(self._problem) and not self._is_told
        self._is_told |= is_news
        return self._problem if is_news else ""

    def _open(self, node: str) -> None:
        self._journal = self._open_journal(node)

    def _record(self, trial: Trial, outcome: Outcome) -> None:
        if self._journal is None:
            return
        try:
            self._journal.record(trial, outcome)
        except BaseException:
            self._close()  # the next trial opens it again
            raise

    def _close(self) -> None:
        journal, self._journal = self._journal, None
        if journal is not None:
            journal.close()

    def _within_patience(self, work: Callable[[], None]) -> None:
        """Does the work in a thread, unless the one before still hangs."""
        if self._worker is None or not self._worker.is_alive():
            self._worker = threading.Thread(target=self._work, args=(work,), daemon=True)
            self._worker.start()
            self._worker.join(self._patience_s)
        if self._worker.is_alive():
            self._problem = f"the checkpoint directory does not answer in {self._patience_s:g} s"

    def _work(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (CheckpointError, OSError, ValueError) as error:
            self._problem = str(error).partition("; ")[0]  # the advice is for the run


class Sharing:
    """A file with a random token in the directory, for each of some names. A context manager:
    leaving it removes the files. Raises OSError if they cannot be written.

    Have each of the `questions` asked on the machine of its name, and then look at `shared`.
    """

    def __init__(self, layout: Layout, names: Iterable[str]) -> None:
        self._files = {
            name: (token := secrets.token_hex(16), layout.probe(token)) for name in names
        }

    def __enter__(self) -> Sharing:
        try:
            for token, path in self._files.values():
                with open(path, "xb") as file:
                    file.write(token.encode())
        except OSError:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._remove()

    @property
    def questions(self) -> Mapping[str, Callable[[], None]]:
        return {name: partial(sign, path, token) for name, (token, path) in self._files.items()}

    @property
    def shared(self) -> frozenset[str]:
        """The names whose files are signed."""
        return frozenset(name for name, file in self._files.items() if _is_signed(*file))

    def _remove(self) -> None:
        for _, path in self._files.values():
            with suppress(OSError):  # the next run removes it
                path.unlink()


def sign(path: Path, token: str) -> None:
    """Signs the file, if it is here with the token, and if its directory can be written to. It
    creates nothing, so nothing stays behind on a machine that does not share the directory.
    """
    with suppress(OSError):
        if not os.access(path.parent, os.W_OK | os.X_OK):
            return
        with open(path, "r+b") as file:
            if file.read() == token.encode():
                file.write(_SIGNED)
                file.flush()
                os.fsync(file.fileno())


def _is_signed(token: str, path: Path) -> bool:
    try:
        return path.read_bytes() == token.encode() + _SIGNED
    except OSError:
        return False


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
