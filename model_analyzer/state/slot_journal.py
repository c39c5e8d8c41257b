# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stores the outcomes of a slot in the journal of its node, if that is possible.

The run stores them anyway, when it gets them. So whatever is wrong with the directory here costs a
remark and some seconds, and never an outcome.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import CheckpointError
from model_analyzer.state.node import NodeJournal

# A network file system may hang.
_PATIENCE_S = 10.0


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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
