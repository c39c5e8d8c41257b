# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The journal of a cluster node that shares the checkpoint directory of a run.

A slot appends an outcome to the journal of its node before it answers. So an outcome that the run
did not record, because it died, is not lost: the next run finds it.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import CheckpointError
from model_analyzer.state.format.codec import Encoder
from model_analyzer.state.format.header import Header, header_entry
from model_analyzer.state.format.layout import Layout
from model_analyzer.state.format.lines import Entry
from model_analyzer.state.journal import Journal
from model_analyzer.state.lock import Lock


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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
