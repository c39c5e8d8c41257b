# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Why a variant is slow, from the measurements of a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.app.selection.asked_goals import goals_of
from model_analyzer.app.selection.conditions import ranked, run_of
from model_analyzer.app.selection.subjects import chosen_subjects
from model_analyzer.domain.goals import Goal, GoalOverride
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.errors import UnusableCheckpoint
from model_analyzer.reports.explain_text import ExplainReport
from model_analyzer.results.explain.explain import explain
from model_analyzer.state.checkpoint import Checkpoint


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
