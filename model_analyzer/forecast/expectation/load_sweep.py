# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The sweep over the loads of the best is asked itself, with guessed answers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from model_analyzer.domain.measurements import Measurement, ModelMeasurement, Values
from model_analyzer.domain.metrics import METRICS, Unit
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import SearchMode, SearchSettings
from model_analyzer.domain.trials import Trial
from model_analyzer.forecast.expectation.history import History, Remaining
from model_analyzer.forecast.expectation.loading import loads_of
from model_analyzer.search.choose import load_sweep
from model_analyzer.search.plan import Subject, load_values
from model_analyzer.search.planned import PlannedSearch
from model_analyzer.search.refine import best_trials

# Under constraints, about this share of the variants keeps them under low loads only.
_BOUNDARIES = 0.5


def left_of_load_sweep(
    history: History, subject: Subject, settings: SearchSettings, mode: SearchMode, best: int
) -> Remaining:
    """What the sweep over the loads of the `best` would ask for now, answered by guesses."""
    swept = best + 1  # with the default
    leaders = len(best_trials(subject.goal, history.of_search, best))
    if not leaders:
        usual = _usual(subject, settings, mode)
        return Remaining(swept * usual, swept if usual else 0.0)
    asked = _asked(history, subject, settings, best)
    loads = sum(loads_of(asked, history.loaded))
    if history.searched < len(history.records) or swept <= leaders:
        return Remaining(len(asked), loads)
    # there will be others; a boundary of the constraints is not in every sweep
    share = _BOUNDARIES if mode is SearchMode.BRUTE else 1.0
    more = 1 + share * (swept / leaders - 1)
    return Remaining(len(asked) * more, loads * more)


def _usual(subject: Subject, settings: SearchSettings, mode: SearchMode) -> float:
    """How many trials a variant is refined by, while nothing is known of any."""
    if mode is not SearchMode.BRUTE:
        return float(len(load_values(subject.models[0], settings)))
    steps = settings.max_binary_search_steps
    return steps * _BOUNDARIES if subject.goal.has_constraints else 0.0


def _asked(
    history: History, subject: Subject, settings: SearchSettings, best: int
) -> Sequence[Trial]:
    known = {record.trial.key: record.outcome for record in history.records}
    asked: list[Trial] = []
    search = PlannedSearch(load_sweep(subject, settings, history.of_search, best), None)
    while (trial := search.ask()) is not None:
        answer = known.get(trial.key)
        if answer is None:
            asked.append(trial)
            answer = _guessed(trial, history.records)
        search.tell(trial, answer)
    return asked


def _guessed(trial: Trial, records: Sequence[TrialRecord]) -> Measurement:
    """What the trial would give, from what its variants gave under other loads: in between, values
    on a line over the logarithm of the load; beyond, throughput stays and latencies follow it.
    """
    known = {
        record.trial.workloads[0].load.value: record.outcome
        for record in records
        if record.trial.content == trial.content and isinstance(record.outcome, Measurement)
    }
    load = trial.workloads[0].load.value
    below = max((at for at in known if at <= load), default=None)
    above = min((at for at in known if at >= load), default=None)
    if below is None and above is None:
        return Measurement(models=tuple(ModelMeasurement(values={}) for _ in trial.workloads))
    low, high = below or above or 1, above or below or 1
    share = math.log(load / low) / math.log(high / low) if low < high else 0.0
    # below a load that kept the variant busy, half of it would have been enough
    slower = min(2 * load / low, 1.0) if below is None else 1.0
    stretch = load / low / slower if low == high else 1.0
    return Measurement(
        models=tuple(
            ModelMeasurement(values=_between(one.values, other.values, share, slower, stretch))
            for one, other in zip(known[low].models, known[high].models, strict=True)
        )
    )


def _between(low: Values, high: Values, share: float, slower: float, stretch: float) -> Values:
    """Values at that share of the way; rates by one factor, times by another one."""
    factors = {
        Unit.MILLISECONDS: stretch,
        Unit.INFERENCES_PER_SECOND: slower,
        Unit.TOKENS_PER_SECOND: slower,
    }
    return {
        tag: (value + share * (high[tag] - value)) * factors.get(METRICS[tag].unit, 1.0)
        for tag, value in low.items()
        if tag in high
    }
