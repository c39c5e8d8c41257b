# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a run: its answers, and their files."""

from __future__ import annotations

from pathlib import Path

from model_analyzer.app.delivery.answer import Answers, Delivery, answers_to, deliver
from model_analyzer.app.delivery.files import originals_of
from model_analyzer.app.run.measuring import Session
from model_analyzer.reports.renderer import Renderer
from model_analyzer.results.circumstances import Circumstances
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.search.plan import Subject
from model_analyzer.state.profile_state import ProfileState


def answers_of(session: Session, *, is_complete: bool) -> Answers:
    """Ranks the measurements."""
    settings, state = session.job.settings, session.state
    facts = session.bench.serving.facts
    return answers_to(
        [_ranking(subject, state) for subject in session.bench.subjects],
        state.profile,
        _newest(session),
        settings,
        originals={
            **originals_of(state.profile),
            **{name: model.config for name, model in facts.items()},
        },
        complete=is_complete,
    )


def write(answers: Answers, session: Session, charts: Renderer) -> Delivery:
    """Writes the answers, with the images that `charts` draws."""
    return deliver(
        answers,
        _newest(session),
        session.job.settings,
        session.place.export,
        charts=charts,
    )


def _newest(session: Session) -> Path | None:
    """The newest checkpoint, if the run keeps any."""
    return None if session.job.settings.checkpoint.disabled else session.state.newest


def _ranking(subject: Subject, state: ProfileState) -> Ranking:
    return rank(
        state.profile,
        subject.name,
        subject.goal,
        circumstances=Circumstances(
            setup=subject.setup.identity,
            conditions=tuple(model.conditions for model in subject.models),
        ),
        bases=subject.bases,
    )
