# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When a model that never works is given up."""

from __future__ import annotations

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.profiling.events import GivenUp

# The number of failures before the first success after which a model is given up: then the model or
# the machine is the cause, not the configuration.
MOST_FAILURES = 2


class Patience:
    """Counts the outcomes of a search on a kind of hardware."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._has_succeeded = False
        self._is_new = False
        # a variant under two names, or one that does not load, fails once
        self._failures: dict[str, Failure] = {}

    def add(self, trial: Trial, outcome: Outcome, *, is_new: bool) -> None:
        """Adds an outcome; `is_new` if it is from this run."""
        self._is_new |= is_new
        if isinstance(outcome, Failure):
            key = trial.content if outcome.is_of_variant else trial.key
            self._failures.pop(key, None)
            self._failures[key] = outcome
        else:
            self._has_succeeded = True

    @property
    def is_exhausted(self) -> bool:
        """Whether no further trial is worth a start. A trial that is under way may succeed yet."""
        return not self._has_succeeded and len(self._failures) >= MOST_FAILURES

    @property
    def given_up(self) -> GivenUp | None:
        """Set if no trial succeeded."""
        if not self.is_exhausted:
            return None
        *_, last = self._failures.values()
        return GivenUp(len(self._failures), last, resumed=not self._is_new, kind=self._kind)
