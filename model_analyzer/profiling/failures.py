# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Trials that fail or are lost: which of them are not tried again, and when a model is given up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.models import instance_groups, kind_of_group
from model_analyzer.domain.protocols import State
from model_analyzer.domain.slots import Lost, Slot
from model_analyzer.domain.trials import Failure, FailureReason, Trial
from model_analyzer.profiling.loop_events import GivenUp

# The number of failures before the first success after which a model is given up: then the model or
# the machine is the cause, not the configuration.
MOST_FAILURES = 2


class SearchPatience:
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


class Foresight:
    """Foresees failures on one kind of hardware: a variant that did not load does not load under
    another load, and a server without GPUs refuses every instance of KIND_GPU.
    """

    def __init__(self) -> None:
        self._failed: dict[str, Failure] = {}  # by content
        self._loaded: set[str] = set()
        self._lacks_gpus = False

    def add(self, trial: Trial, outcome: Outcome) -> None:
        if not isinstance(outcome, Failure):
            self._loaded.add(trial.content)
        elif outcome.is_of_variant:
            self._failed[trial.content] = outcome
            self._lacks_gpus |= outcome.lacks_gpus

    def failure_of(self, trial: Trial) -> Failure | None:
        """How a new trial would fail; None if nobody knows."""
        failed = self._failed.get(trial.content)
        if failed is not None and trial.content not in self._loaded:
            return replace(failed, duration_s=0.0)
        if self._lacks_gpus and _is_for_gpus(trial):
            return Failure(
                reason=FailureReason.MODEL_NOT_LOADED,
                message=f"{trial.variants} was not tried: the server has no GPU for its instances"
                " of KIND_GPU",
                hint="set `cpu_only: true` for the model",
            )
        return None


def _is_for_gpus(trial: Trial) -> bool:
    variants = [part for work in trial.workloads for part in work.variant.served]
    groups = [group for variant in variants for group in instance_groups(variant.config)]
    return any(kind_of_group(group) == "GPU" for group in groups)


# A trial that was lost so often is a failure: it may be the cause.
MOST_LOSSES = 3


class LostTrials:
    """Counts the losses of each trial."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._hosts: defaultdict[str, list[str]] = defaultdict(list)  # by key of the trial

    def hosts(self, trial: Trial) -> Sequence[str]:
        """The hosts that have lost this trial."""
        return self._hosts[trial.key]

    def add(self, trial: Trial, slot: Slot, lost: Lost) -> Outcome | None:
        """The outcome of a trial that was lost on a slot: what its node had stored before, or a
        failure if it was lost too often; otherwise None.
        """
        self._hosts[trial.key].append(slot.host)
        stored = self._state.record_loss(trial, slot.node)
        if stored is None and len(self._hosts[trial.key]) >= MOST_LOSSES:
            return Failure(reason=FailureReason.LOST, message=lost.reason)
        return stored
