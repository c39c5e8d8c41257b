# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Tests the advice of an explanation on the real server, with a few measurements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from model_analyzer.app.bench.job import Job
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.extra import Extra, measure_extra, repetition
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.reports.explain_text import ExplainReport
from model_analyzer.results.explain.confirmation import Confirmation, changed
from model_analyzer.results.explain.explain import Explanation
from model_analyzer.results.explain.finding import Cause, FoundCause
from model_analyzer.results.explain.situation import Situation
from model_analyzer.search.plan import Plan, Subject, recorded, side_by_side
from model_analyzer.state.profile_state import ProfileState

# The measurements of a test, and the seconds of each if the checkpoint has rounds.
MOST_TRIALS, _SECONDS = 3, 10.0

# Causes that compare the lowest load with a higher one.
_OF_LOAD = {Cause.LOCK, Cause.TOO_MANY_INSTANCES, Cause.SLOWING_DOWN}


def testable(explanation: Explanation) -> Sequence[FoundCause]:
    """The findings whose advice a measurement can test, the most important ones."""
    return [each for each in explanation.findings if each.change][:MOST_TRIALS]


def compared(explanation: Explanation) -> Sequence[Situation]:
    """What is measured again beside them: what they are compared with; and for causes that compare
    two loads, both, the higher one first: in the run, it was measured later.
    """
    of_loads = [each.under for each in explanation.findings if each.cause in _OF_LOAD]
    situations = [each.under for each in testable(explanation)] + of_loads
    if of_loads:
        situations.append(explanation.lowest)
    return list({each.work.load: each for each in situations}.values())


def confirm_advice(
    job: Job, report: ExplainReport, conditions: int | None, caller: Caller
) -> tuple[int, Sequence[Confirmation]]:
    """Measures each change that a report advises; the exit status, and what the changes did. The
    outcomes are in the checkpoint. `conditions` is the number of the group that new measurements
    are compared with; None means that of the run. Raises ConfigError or CheckpointError if the
    model cannot be measured as before.
    """
    findings, situations = testable(report.explanation), compared(report.explanation)
    extra = Extra(
        model=report.model,
        goal=report.goal,
        conditions=conditions,
        option="--confirm",
        purpose="explanation",
        usual_trials=len(findings) + len(situations),
    )
    load = report.explanation.situation.work.load
    measuring = extra.job(
        job, lambda model: replace(model, batch_sizes=(load.batch_size,), load_kind=load.kind)
    )
    confirmations: list[Confirmation] = []

    def plan(state: ProfileState, subject: Subject) -> Plan:
        """A trial for each finding, and for what is measured again, all at the same time if there
        are slots.
        """
        names = VariantNames.known(state.profile.variants)
        again = [_again(subject, each, each.work) for each in situations]
        trials = [
            _again(subject, each.under, changed(each.under.work, each.change, names))
            for each in findings
            if each.change is not None
        ]
        # two advices may be the same change
        legal = {trial.key: trial for trial in [*again, *trials] if trial.is_legal}
        records = yield from side_by_side(
            recorded(repetition(trial, state)) for trial in legal.values()
        )
        outcomes = dict(zip(legal, records, strict=True))
        bases = {
            situation.work.load: _with(situation, outcomes[trial.key])
            for situation, trial in zip(situations, again, strict=True)
        }
        confirmations.extend(
            _confirmation(finding, bases[finding.under.work.load], outcomes[trial.key])
            for finding, trial in zip(findings, trials, strict=True)
            if trial.key in outcomes
        )
        return records

    return measure_extra(measuring, extra, plan, caller, job), confirmations


def _again(subject: Subject, situation: Situation, work: Workload) -> Trial:
    """A trial of this work, measured as a situation was."""
    seconds = _SECONDS if situation.measurement.is_round else None
    return replace(subject.trial(work), round_s=seconds)


def _with(situation: Situation, record: TrialRecord) -> Situation:
    """The situation by a new measurement, or as it was if that failed."""
    outcome = record.outcome
    return replace(situation, runs=(outcome,)) if isinstance(outcome, Measurement) else situation


def _confirmation(finding: FoundCause, before: Situation, record: TrialRecord) -> Confirmation:
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
