# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Why a variant is slow, from the measurements of a checkpoint; and tests of the advice on the real
server, with a few measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from model_analyzer.app.bench.devices import Job
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.measuring import Extra, measure_extra, repetition
from model_analyzer.app.selection import chosen_subjects, goals_of, ranked, run_of
from model_analyzer.domain.goals import Goal, GoalOverride
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.domain.trials import Trial, Workload
from model_analyzer.errors import UnusableCheckpoint
from model_analyzer.reports.explain_text import ExplainReport
from model_analyzer.results.explain.explain import Explanation, explain
from model_analyzer.results.explain.finding import Cause, Confirmation, FoundCause, changed
from model_analyzer.results.explain.situation import Situation
from model_analyzer.search.plan import Plan, Subject, recorded, side_by_side
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.profile_state import ProfileState


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainQuestion:
    """What to explain: a `variant` by name, None for the best one; `model` is None for that of the
    variant, or the only one of the checkpoint. The goals, which choose the load to explain, are
    those that are `asked` for, then those of the YAML file and of the run. `conditions` is the
    number of the group to use.
    """

    model: str | None
    variant: str | None
    asked: GoalOverride
    conditions: int | None


def explain_checkpoint(
    checkpoint: Checkpoint,
    question: ExplainQuestion,
    settings: ReportSettings,
    config_file: Path | None,
) -> Sequence[ExplainReport]:
    """The explanation on each kind of hardware; `settings` are those of the `config_file`. Raises
    ConfigError or UnusableCheckpoint.
    """
    name, goal = _subject_and_goal(checkpoint, question, settings)
    rankings = ranked(checkpoint.profile, name, goal, question.conditions, run_of(config_file))
    reports, problems = [], []
    for ranking in rankings:
        try:
            explanation = explain(ranking, question.variant, cores=checkpoint.profile.cores)
        except ValueError as error:
            problems.append(f"{name}: {error}")
        else:
            kind = ranking.hardware
            reports.append(ExplainReport(model=name, goal=goal, kind=kind, explanation=explanation))
    if not reports:
        raise UnusableCheckpoint(f"{checkpoint.path}: {problems[0]}")
    return reports


def _subject_and_goal(
    checkpoint: Checkpoint, question: ExplainQuestion, settings: ReportSettings
) -> tuple[str, Goal]:
    """The subject to explain, and its goal."""
    model = question.model or _model_of(checkpoint, question.variant)
    (name,) = chosen_subjects(checkpoint, model, several=False)
    goals, _ = goals_of(checkpoint, [name], question.asked, settings)
    return name, goals[name]


def _model_of(checkpoint: Checkpoint, variant: str | None) -> str | None:
    """The subject with a variant of this name, if there is exactly one."""
    subjects = {
        record.trial.models
        for record in checkpoint.profile.records
        if record.trial.variants == variant
    }
    return subjects.pop() if len(subjects) == 1 else None


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
