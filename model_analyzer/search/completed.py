# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A search that is told more metrics than are recorded: those that follow from measured ones."""

from __future__ import annotations

from collections.abc import Callable

from model_analyzer.domain.conclusions import Conclusion, Outlook
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Search
from model_analyzer.domain.trials import Trial


class CompletedSearch:
    """The `search`, told each outcome as `complete` makes it."""

    def __init__(self, search: Search, complete: Callable[[Trial, Outcome], Outcome]) -> None:
        self._search = search
        self._complete = complete

    @property
    def most_trials(self) -> int | None:
        return self._search.most_trials

    @property
    def outlook(self) -> Outlook | None:
        return self._search.outlook

    @property
    def conclusion(self) -> Conclusion | None:
        return self._search.conclusion

    def ask(self) -> Trial | None:
        return self._search.ask()

    def tell(self, trial: Trial, outcome: Outcome) -> None:
        self._search.tell(trial, self._complete(trial, outcome))
