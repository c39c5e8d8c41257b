# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the advice of an explanation on the real server, with a few measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from model_analyzer.app.bench.job import Job
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.extra import Extra, measure_extra, repetition
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.results.explain.confirmation import Confirmation, changed
from model_analyzer.results.explain.explain import Explanation
from model_analyzer.results.explain.finding import Cause, Finding
from model_analyzer.results.explain.situation import Situation
from model_analyzer.search.plan import Plan, Subject, recorded, side_by_side
from model_analyzer.state.profile_state import ProfileState

# The measurements of a test, and the seconds of each if the checkpoint has rounds.
MOST_TRIALS, _SECONDS = 3, 10.0

# Causes that compare the lowest load with a higher one.
_OF_LOAD = {Cause.LOCK, Cause.TOO_MANY_INSTANCES, Cause.SLOWING_DOWN}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceOrder:
    """The explanation of a model whose advice is to be tested. `conditions` is the number of the
    group that new measurements are compared with by the `goal`; None means that of the run.
    """

    model: str
    goal: Goal
    conditions: int | None
    explanation: Explanation

    @property
    def findings(self) -> Sequence[Finding]:
        """Those whose advice a measurement can test, the most important ones."""
        return [each for each in self.explanation.findings if each.change][:MOST_TRIALS]

    @property
    def again(self) -> Sequence[Situation]:
        """What is measured again beside them: what they are compared with; and for causes that
        compare two loads, both, the higher one first: in the run, it was measured later.
        """
        every = self.explanation.findings
        compared = [each.under for each in every if each.cause in _OF_LOAD]
        situations = [each.under for each in self.findings] + compared
        if compared:
            situations.append(self.explanation.lowest)
        return list({each.work.load: each for each in situations}.values())


def confirm_advice(
    job: Job, order: AdviceOrder, caller: Caller
) -> tuple[int, Sequence[Confirmation]]:
    """Measures each change; the exit status, and what the changes did. The outcomes are in the
    checkpoint. Raises ConfigError or CheckpointError if the model cannot be measured as before.
    """
    extra = Extra(
        model=order.model,
        goal=order.goal,
        conditions=order.conditions,
        option="--confirm",
        purpose="explanation",
        usual_trials=len(order.findings) + len(order.again),
    )
    load = order.explanation.situation.work.load
    measuring = extra.job(
        job, lambda model: replace(model, batch_sizes=(load.batch_size,), load_kind=load.kind)
    )
    testing = _Testing(order)
    status = measure_extra(measuring, extra, testing.plan, caller, job)
    return status, testing.confirmations


class _Testing:
    """Plans a trial for each finding, and keeps what it showed."""

    def __init__(self, order: AdviceOrder) -> None:
        self._findings = order.findings
        self._again = order.again
        self.confirmations: list[Confirmation] = []

    def plan(self, state: ProfileState, subject: Subject) -> Plan:
        """A trial for each finding, and for what is measured again, all at the same time if there
        are slots.
        """
        names = VariantNames.known(state.profile.variants)
        again = [_again(subject, each, each.work) for each in self._again]
        trials = [self._trial(finding, names, subject) for finding in self._findings]
        # two advices may be the same change
        legal = {trial.key: trial for trial in [*again, *trials] if trial.is_legal}
        records = yield from side_by_side(
            recorded(repetition(trial, state)) for trial in legal.values()
        )
        outcomes = dict(zip(legal, records, strict=True))
        bases = {
            situation.work.load: _with(situation, outcomes[trial.key])
            for situation, trial in zip(self._again, again, strict=True)
        }
        self.confirmations += [
            _confirmation(finding, bases[finding.under.work.load], outcomes[trial.key])
            for finding, trial in zip(self._findings, trials, strict=True)
            if trial.key in outcomes
        ]
        return records

    def _trial(self, finding: Finding, names: VariantNames, subject: Subject) -> Trial:
        assert finding.change is not None, "chosen so"
        work = changed(finding.under.work, finding.change, names)
        return _again(subject, finding.under, work)


def _again(subject: Subject, situation: Situation, work: Workload) -> Trial:
    """A trial of this work, measured as a situation was."""
    seconds = _SECONDS if situation.measurement.is_round else None
    return replace(subject.trial(work), round_s=seconds)


def _with(situation: Situation, record: TrialRecord) -> Situation:
    """The situation by a new measurement, or as it was if that failed."""
    outcome = record.outcome
    return replace(situation, runs=(outcome,)) if isinstance(outcome, Measurement) else situation


def _confirmation(finding: Finding, before: Situation, record: TrialRecord) -> Confirmation:
    (work,) = record.trial.workloads
    outcome = record.outcome
    return Confirmation(
        finding=finding,
        work=work,
        before=before,
        after=replace(finding.under, work=work, runs=(outcome,))
        if isinstance(outcome, Measurement)
        else outcome,
    )
