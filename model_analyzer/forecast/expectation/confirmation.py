# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The further instalments of the finalists: their plan is asked itself, as if the search had ended
and each trial measured the same again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from statistics import median

from model_analyzer.domain.arrivals import RANDOM
from model_analyzer.domain.first_look import FIRST_LOOK_S
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchSettings
from model_analyzer.domain.trials import Trial
from model_analyzer.forecast.expectation.history import History
from model_analyzer.search.confirm import FINALISTS, confirm, most_confirmed
from model_analyzer.search.instalments import further_s
from model_analyzer.search.plan import Subject
from model_analyzer.search.planned import PlannedSearch

# Comparing more trials would take too long, and the others do not become finalists.
_MOST_TRIALS = 24
# Most finalists have rivals for so many further instalments; under random arrivals for all.
_USUAL_ROUNDS, _OF_RANDOM = 2, 3


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


def usual_further_instalments(
    history: History, subject: Subject, settings: SearchSettings, trials: int
) -> Sequence[float]:
    """The usual lengths of all of them in seconds, if the search itself has so many `trials`."""
    if not most_confirmed(subject, settings):
        return ()
    measured = [
        max(model.seconds for model in record.outcome.models)
        for record in history.of_search
        if isinstance(record.outcome, Measurement)
    ]
    lengths_s = [median(measured) if measured else FIRST_LOOK_S]
    traffics = [model.settings.traffic for model in subject.models]
    is_random = any(traffic is not None and traffic.arrivals in RANDOM for traffic in traffics)
    for _ in range(_OF_RANDOM if is_random else _USUAL_ROUNDS):
        lengths_s.append(further_s(sum(lengths_s), is_random=is_random))
    return [seconds for seconds in lengths_s[1:] for _ in range(min(trials, FINALISTS))]


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
