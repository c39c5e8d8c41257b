# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The loop: ask, look up or run, record, tell. And its events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Runner, Search, State
from model_analyzer.domain.trials import Failure, Trial

# So many failures before the first success, and a model is given up: it is the model, or the
# machine, and not the configuration.
PATIENCE = 2


@dataclass(frozen=True, slots=True)
class TrialStarted:
    """A trial is about to be measured."""

    trial: Trial


@dataclass(frozen=True, slots=True)
class TrialFinished:
    """A trial has an outcome: measured just now, or `known` from an earlier run."""

    trial: Trial
    outcome: Outcome
    known: bool


@dataclass(frozen=True, slots=True)
class GivenUp:
    """No trial succeeded and too many failed; `last` is the failure that made it too many, and
    `known` tells that none of them was tried in this run.
    """

    failures: int
    last: Failure
    known: bool


Event = TrialStarted | TrialFinished | GivenUp


def profile(search: Search, runner: Runner, state: State) -> Iterator[Event]:
    """Runs a search to its end. Stopping early is to stop iterating, after any event."""
    successes, tried = 0, 0
    failed: set[str] = set()  # a variant under two names fails once
    while (trial := search.ask()) is not None:
        outcome = state.outcome_of(trial)
        known = outcome is not None
        if outcome is None:
            yield TrialStarted(trial)
            outcome = runner.run(trial)
            tried += 1
        state.record(trial, outcome)  # on disk before anything else happens
        yield TrialFinished(trial, outcome, known)
        search.tell(trial, outcome)
        if not isinstance(outcome, Failure):
            successes += 1
            continue
        failed.add(trial.key)
        if not successes and len(failed) >= PATIENCE:
            yield GivenUp(len(failed), outcome, known=not tried)
            return
