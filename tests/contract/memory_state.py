# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The honest fake of `State`: outcomes in a mapping, which may outlive the run that filled it."""

from __future__ import annotations

from collections.abc import Sequence

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.profiles import Profile, TrialRecord
from model_analyzer.domain.slots import Asked, Lane
from model_analyzer.domain.trials import Failure, Trial


class Kept(dict[tuple[str, str], TrialRecord]):
    """What outlives a run: records by the key of the trial and the names of its variants, and
    questions by search.
    """

    def __init__(self) -> None:
        super().__init__()
        self.asked: dict[Lane, list[Asked]] = {}


class MemoryState:
    """Keeps records in `kept`; given to a further `MemoryState`, that one is the next run."""

    def __init__(self, kept: Kept | None = None, *, retry_failed: bool = False) -> None:
        self._kept = Kept() if kept is None else kept
        self._outcomes = {key: record.outcome for (key, _), record in self._kept.items()}
        self._retried = {
            key
            for key, outcome in self._outcomes.items()
            if retry_failed and isinstance(outcome, Failure)
        }

    @property
    def profile(self) -> Profile:
        return Profile(records=tuple(self._kept.values()))

    def outcome_of(self, trial: Trial) -> Outcome | None:
        outcome = self._outcomes.get(trial.key)
        is_short = isinstance(outcome, Measurement) and outcome.is_round
        is_replaced = is_short and trial.round_s is None
        return None if trial.key in self._retried or is_replaced else outcome

    def record(self, trial: Trial, outcome: Outcome, node: str = "") -> None:
        self._retried.discard(trial.key)
        self._outcomes[trial.key] = outcome
        name = (trial.key, trial.variants)
        earlier = self._kept.get(name)
        if earlier is not None and earlier.outcome == outcome and earlier.trial.derives_like(trial):
            return
        self._kept.pop(name, None)
        self._kept[name] = TrialRecord(trial=trial, outcome=outcome, node=node)

    def record_loss(self, trial: Trial, node: str) -> Outcome | None:
        return self.outcome_of(trial) if node else None

    def asked(self, lane: Lane) -> Sequence[Asked]:
        return tuple(self._kept.asked.get(lane, ()))

    def record_asked(self, lane: Lane, number: int, asked: Asked) -> None:
        questions = self._kept.asked.setdefault(lane, [])
        assert number <= len(questions), "a question is missing"
        questions[number:] = [asked]
