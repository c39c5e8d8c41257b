# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The main loop (ask the search, look up or run the trial, record it, tell the search) and its
events.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Runner, Search, State
from model_analyzer.domain.trials import Failure, Trial

# The number of failures before the first success after which a model is given up: then the model or
# the machine is the cause, not the configuration.
PATIENCE = 2


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial is about to be measured."""

    trial: Trial


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """A trial has an outcome: from this run, or `resumed` from an earlier one."""

    trial: Trial
    outcome: Outcome
    resumed: bool


@dataclass(frozen=True, slots=True)
class GivenUp:
    """Too many trials failed and none succeeded. `last` is the last failure; `resumed` means that
    all failures are from an earlier run.
    """

    failures: int
    last: Failure
    resumed: bool


Event = TrialStarted | TrialFinished | GivenUp


def profile(search: Search, runner: Runner, state: State) -> Iterator[Event]:
    """Runs a search to its end. To stop early, stop iterating after any event."""
    successes, tried = 0, 0
    failed: set[str] = set()  # a variant under two names fails once
    while (trial := search.ask()) is not None:
        outcome = state.outcome_of(trial)
        resumed = outcome is not None
        if outcome is None:
            yield TrialStarted(trial)
            outcome = runner.run(trial)
            tried += 1
        state.record(trial, outcome)  # on disk before anything else happens
        yield TrialFinished(trial, outcome, resumed)
        search.tell(trial, outcome)
        if not isinstance(outcome, Failure):
            successes += 1
            continue
        failed.add(trial.key)
        if not successes and len(failed) >= PATIENCE:
            yield GivenUp(len(failed), outcome, resumed=not tried)
            return
