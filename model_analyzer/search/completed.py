# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A search that is told more metrics than are recorded: those that follow from measured ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from model_analyzer.domain.conclusions import Conclusion, Outlook
from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.profiles import FailedTrial
from model_analyzer.domain.protocols import Search
from model_analyzer.domain.trials import Failure, Trial


class CompletedSearch:
    """The `search`, told each outcome as `complete` makes it. The time of `earlier` failures, of
    other runs, counts only for the budgets of those.
    """

    def __init__(
        self,
        search: Search,
        complete: Callable[[Trial, Outcome], Outcome],
        earlier: Iterable[FailedTrial] = (),
    ) -> None:
        self._search = search
        self._complete = complete
        self._earlier = {trial.key: failure for trial, failure in earlier}

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
        if isinstance(outcome, Failure) and outcome == self._earlier.get(trial.key):
            outcome = replace(outcome, duration_s=0.0)
        self._search.tell(trial, self._complete(trial, outcome))
