# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Re-ranks existing measurements and writes tables and reports; measures nothing."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import replace

from model_analyzer.app.bench.job import Job
from model_analyzer.app.delivery.answer import Answers, Delivery, answers_to, deliver
from model_analyzer.app.delivery.deploying import Deploying
from model_analyzer.app.delivery.files import originals_of
from model_analyzer.app.selection.asked_goals import given_or_of_run, other_goals
from model_analyzer.app.selection.conditions import ranked
from model_analyzer.app.selection.subjects import measured_subjects
from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.model_names import group_members, group_name
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.reports.libraries import writable
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.state.checkpoint import Checkpoint, load_chosen

log = logging.getLogger(__name__)


def analyze(job: Job) -> tuple[Answers, Delivery]:
    """The answers for the models of the job, and the written files. The models are ranked by the
    goals that the user gives, and without any by those of the run in the checkpoint.
    """
    settings = job.settings
    log.warning(
        "analyze is a legacy command: `profile` on the same checkpoint measures what is missing"
    )
    for remark in job.remarks:
        log.warning("%s", remark)
    if not settings.export.skip_summary:
        export = replace(settings.export, formats=writable(settings.export.formats))
        settings = replace(settings, export=export)
    checkpoint = settings.checkpoint
    loaded = load_chosen(checkpoint.load_file, checkpoint.directory, checkpoint.prefix)
    for warning in loaded.damage_warnings:
        log.warning("%s", warning)
    profile = replace(loaded.profile, prices=job.prices)
    subjects = _subjects(loaded, settings)
    goals, remarks = given_or_of_run(
        loaded, {subject: _given_goal(subject, job) for subject in subjects}
    )
    for remark in remarks:
        log.info("%s", remark)
    if not job.places.has_goal():
        settings = replace(settings, goal=_common(goals.values()) or settings.goal)
    rankings = [
        ranking
        for subject, goal in goals.items()
        for ranking in ranked(profile, subject, goal, settings.export.conditions, settings)
    ]
    deploying = Deploying.of_run(
        loaded.path, settings, originals_of(profile), other_goals(loaded, goals)
    )
    answers = answers_to(rankings, profile, deploying, settings, complete=None)
    return answers, deliver(answers, settings, ExportDirectory(settings.export.path))


def _given_goal(subject: str, job: Job) -> Goal | None:
    """The goal of a subject, if the user gave a part of it for any of its models."""
    names = group_members(subject)
    if not any(map(job.places.has_goal, names)):
        return None
    of_models = {model.name: model.goal for model in job.settings.models}
    return Goal(models=tuple(of_models.get(name, job.settings.goal) for name in names))


def _common(goals: Iterable[Goal]) -> ModelGoal | None:
    """The goal of all models, if it is the same."""
    of_models = {model for goal in goals for model in goal.models}
    return of_models.pop() if len(of_models) == 1 else None


def _subjects(checkpoint: Checkpoint, settings: ProfileSettings) -> Sequence[str]:
    """The measured subjects of the requested models: each model alone, or else the groups in which
    it was measured. The models of a group are in the order in which they were measured.
    """
    names = [model.name for model in settings.models]
    measured = measured_subjects(checkpoint)
    if settings.search.together:
        matches = (models for models in measured if sorted(group_members(models)) == sorted(names))
        return [next(matches, group_name(names))]
    subjects: dict[str, None] = {}
    for name in names:
        groups = [models for models in measured if name in group_members(models)]
        if group_name([name]) in measured or not groups:
            groups = [group_name([name])]
        else:
            log.warning("%s was measured together with others: %s", name, "; ".join(groups))
        subjects |= dict.fromkeys(groups)
    return list(subjects)
