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
from model_analyzer.domain.trials import Trial
from model_analyzer.results.explain.confirmation import Confirmation, changed
from model_analyzer.results.explain.explain import Explanation
from model_analyzer.results.explain.finding import Finding
from model_analyzer.search.plan import Plan, Subject, recorded, side_by_side
from model_analyzer.state.profile_state import ProfileState

# The measurements of a test, and the seconds of each if the checkpoint has instalments.
MOST_TRIALS, _SECONDS = 3, 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceOrder:
    """The explanation of a model whose advice is to be tested. `circumstances` is the number of the
    group that new measurements are compared with by the `goal`; None means that of the run.
    """

    model: str
    goal: Goal
    circumstances: int | None
    explanation: Explanation

    @property
    def findings(self) -> Sequence[Finding]:
        """Those whose advice a measurement can test, the most important ones."""
        return [each for each in self.explanation.findings if each.change][:MOST_TRIALS]


def confirm_advice(
    job: Job, order: AdviceOrder, caller: Caller
) -> tuple[int, Sequence[Confirmation]]:
    """Measures each change; the exit status, and what the changes did. The outcomes are in the
    checkpoint. Raises ConfigError or CheckpointError if the model cannot be measured as before.
    """
    extra = Extra(
        model=order.model,
        goal=order.goal,
        circumstances=order.circumstances,
        option="--confirm",
        purpose="explanation",
        usual_trials=len(order.findings),
    )
    load = order.explanation.situation.work.load
    measuring = extra.job(
        job, lambda model: replace(model, batch_sizes=(load.batch_size,), load_kind=load.kind)
    )
    testing = _Testing(order.findings)
    status = measure_extra(measuring, extra, testing.plan, caller, job)
    return status, testing.confirmations


class _Testing:
    """Plans a trial for each finding, and keeps what it showed."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self._findings = findings
        self.confirmations: list[Confirmation] = []

    def plan(self, state: ProfileState, subject: Subject) -> Plan:
        """A trial for each finding, all at the same time if there are slots."""
        names = VariantNames.known(state.profile.variants)
        trials = [self._trial(finding, names, subject) for finding in self._findings]
        # two advices may be the same change
        legal = {trial.key: trial for trial in trials if trial.is_legal}
        records = yield from side_by_side(
            recorded(repetition(trial, state)) for trial in legal.values()
        )
        outcomes = dict(zip(legal, records, strict=True))
        self.confirmations += [
            self._confirmation(finding, outcomes[trial.key])
            for finding, trial in zip(self._findings, trials, strict=True)
            if trial.key in outcomes
        ]
        return records

    def _trial(self, finding: Finding, names: VariantNames, subject: Subject) -> Trial:
        assert finding.change is not None, "chosen so"
        work = changed(finding.under.work, finding.change, names)
        seconds = _SECONDS if finding.under.measurement.is_instalment else None
        return replace(subject.trial(work), instalment_s=seconds)

    def _confirmation(self, finding: Finding, record: TrialRecord) -> Confirmation:
        (work,) = record.trial.workloads
        outcome = record.outcome
        return Confirmation(
            finding=finding,
            work=work,
            after=replace(finding.under, work=work, runs=(outcome,))
            if isinstance(outcome, Measurement)
            else outcome,
        )
