# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The end of a run: its answers, and their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from model_analyzer.app.delivery.answer import Answers, Delivery, Deploying, answers_to, deliver
from model_analyzer.app.delivery.files import originals_of
from model_analyzer.app.run.measuring import Session
from model_analyzer.domain.profiles import Profile
from model_analyzer.reports.renderer import Renderer
from model_analyzer.results.conditions import Conditions, Intended
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.search.plan import Subject, by_name


def answers_of(session: Session, *, is_complete: bool) -> Answers:
    """Ranks the measurements."""
    profile, settings = session.priced, session.job.settings
    facts = session.bench.serving.facts
    return answers_to(
        [
            ranking
            for placed in by_name(session.bench.subjects)
            for ranking in rankings_of(placed, profile)
        ],
        profile,
        Deploying.of_run(
            _newest(session),
            settings,
            {**originals_of(profile), **{name: model.config for name, model in facts.items()}},
        ),
        settings,
        complete=is_complete,
        searched={subject.setup.kind for subject in session.bench.subjects},
    )


def write(answers: Answers, session: Session, charts: Renderer) -> Delivery:
    """Writes the answers, with the images that `charts` draws."""
    return deliver(
        answers,
        session.job.settings,
        session.place.export,
        charts=charts,
    )


def _newest(session: Session) -> Path | None:
    """The newest checkpoint, if the run keeps any."""
    return None if session.job.settings.checkpoint.disabled else session.state.newest


def rankings_of(placed: Sequence[Subject], profile: Profile) -> Sequence[Ranking]:
    """The rankings of a subject: under the conditions of this run on its kinds of hardware, and
    under the same on the others in the checkpoint.
    """
    subject = placed[0]
    clients = tuple(model.client_setup for model in subject.models)
    of_run = [Conditions(setup=each.setup.identity, clients=clients) for each in placed]
    alike = Intended(setup=subject.setup, clients=clients)
    return rank(
        profile,
        subject.name,
        subject.goal,
        conditions=[*of_run, alike],
        bases=subject.bases,
    )
