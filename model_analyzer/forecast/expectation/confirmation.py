# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The further instalments of the finalists: their plan is asked itself, as if the search had ended
and each trial measured the same again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Trial
from model_analyzer.forecast.expectation.history import History
from model_analyzer.search.confirm import FINALISTS, confirm, most_confirmed
from model_analyzer.search.plan import Subject
from model_analyzer.search.planned import PlannedSearch

# Comparing more trials would take too long, and the others do not become finalists.
_MOST_TRIALS = 24


def further_instalments(
    history: History, subject: Subject, settings: SearchSettings
) -> Sequence[Trial]:
    """The instalments that the finalists would still get, by the outcomes so far."""
    if not most_confirmed(subject, settings):
        return ()
    records = _best(history.records, subject)
    latest = {
        record.trial.first.key: record.outcome
        for record in records
        if isinstance(record.outcome, Measurement)
    }
    trials: list[Trial] = []
    search = PlannedSearch(confirm(subject, settings, records), None)
    while (trial := search.ask()) is not None:
        trials.append(trial)
        search.tell(trial, _lasting(latest[trial.first.key], trial.instalment_s or 0.0))
    return trials


def usual_further_instalments(subject: Subject, settings: SearchSettings) -> int:
    """Their usual number, before the first outcome."""
    return min(FINALISTS, most_confirmed(subject, settings))


def _best(records: Sequence[TrialRecord], subject: Subject) -> Sequence[TrialRecord]:
    """The records of the best trials, and of all failures, in their order."""
    if len(records) <= _MOST_TRIALS:
        return records
    first = {
        record.trial.first.key: record.outcome
        for record in reversed(records)
        if isinstance(record.outcome, Measurement)
    }
    best = set(subject.goal.best_first(first, first.__getitem__)[:_MOST_TRIALS])
    return [
        record
        for record in records
        if not isinstance(record.outcome, Measurement) or record.trial.first.key in best
    ]


def _lasting(measurement: Measurement, seconds: float) -> Measurement:
    """The same values of an instalment with this length."""
    models = [
        replace(
            model,
            requests=round((model.requests or 0) * seconds / model.seconds),
            seconds=seconds,
        )
        if model.seconds
        else model
        for model in measurement.models
    ]
    return replace(measurement, models=tuple(models))
