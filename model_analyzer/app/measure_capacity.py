# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Takes the measurements that are missing to say how many replicas serve a rate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from model_analyzer.app.bench.job import Job
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.extra import Extra, measure_extra, repetition
from model_analyzer.domain.arrivals import poisson_flags, without_load_flags
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.domain.trials import LoadKind, Trial
from model_analyzer.results.capacity.capacity import ModelCapacity, capacity_of
from model_analyzer.results.capacity.missing import Missing
from model_analyzer.results.capacity.points import Lack, requests_needed
from model_analyzer.search.plan import Plan, Subject, recorded, side_by_side
from model_analyzer.state.profile_state import ProfileState

# Each round measures what the last one left open: usually first rates, then the gap between two.
_MOST_ROUNDS, _USUAL_TRIALS = 5, 5

# The requests of a measurement: as a multiple of those that a percentile needs, and at least; but
# only those that a percentile needs if more would take longer than so many seconds.
_MARGIN, _FEWEST, _USUAL_S = 4, 300, 60

# The largest share of the time limit of perf_analyzer that a measurement is planned to take.
_SHARE_OF_LIMIT = 0.8


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What to measure: what is missing for the `goal` of a model. `variant` is the only variant to
    measure, None for the one that carries most; requests have `batch_size` inferences.
    All replicas together have to carry the `needed` requests per second. `circumstances` is the
    number of the group that new measurements are compared with; None means
    that of the run.
    """

    model: str
    goal: Goal
    variant: str | None
    batch_size: int
    needed: float
    circumstances: int | None


def measure_capacity(job: Job, order: Order, caller: Caller) -> int:
    """Measures until nothing is missing, or until further measurements do not help; the exit
    status. The outcomes are in the checkpoint. Raises ConfigError or CheckpointError if the model
    cannot be measured as before.
    """
    extra = Extra(
        model=order.model,
        goal=order.goal,
        circumstances=order.circumstances,
        option="--measure",
        purpose="capacity",
        usual_trials=_USUAL_TRIALS,
    )
    measuring = extra.job(
        job,
        lambda model: replace(
            model,
            batch_sizes=(order.batch_size,),
            load_kind=LoadKind.REQUEST_RATE,
            perf_analyzer_flags=without_load_flags(model.perf_analyzer_flags),
            in_instalments=False,  # each measurement has the requests that its percentile needs
        ),
    )
    plan = _Planning(order, extra, job.settings).plan
    return measure_extra(measuring, extra, plan, caller, job)


class _Planning:
    """Plans the missing measurements of an order; `settings` are those of the whole run."""

    def __init__(self, order: Order, extra: Extra, settings: ProfileSettings) -> None:
        self._order = order
        self._extra = extra
        self._settings = settings

    def plan(self, state: ProfileState, subject: Subject) -> Plan:
        """Measures what is missing, then what is still missing, and so on."""
        records: list[TrialRecord] = []
        for _ in range(_MOST_ROUNDS):
            ranking = self._extra.ranking(state, subject, self._settings)
            assert ranking is not None, "checked before"
            known = capacity_of(
                state.profile,
                ranking,
                batch_size=self._order.batch_size,
                needed=self._order.needed,
                variant=self._order.variant,
            )
            trials = [
                trial
                for each in known.missing
                if not (records and each.reason is Lack.NO_METRIC)  # it has not appeared
                for trial in self._trials(each, known, subject)
            ]
            measured = yield from side_by_side(
                recorded(repetition(trial, state)) for trial in trials
            )
            records += measured
            if not any(isinstance(record.outcome, Measurement) for record in measured):
                break
        return records

    def _trials(self, missing: Missing, known: ModelCapacity, subject: Subject) -> Iterator[Trial]:
        """The trials of a missing measurement."""
        (model,) = subject.models
        needed = requests_needed(known.constraints)
        wanted = max(_MARGIN * needed, _FEWEST)
        limit_s = _SHARE_OF_LIMIT * self._settings.load_generator.timeout_s
        for rate in missing.rates:
            work = model.workload(missing.variant, rate, missing.batch_size)
            usual = max(needed, min(wanted, _USUAL_S * rate))
            requests = min(usual, int(limit_s * rate))
            yield subject.trial(replace(work, flags=poisson_flags(work.flags, requests)))
