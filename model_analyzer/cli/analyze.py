# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer analyze`: tables and reports from the checkpoint, nothing measured."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from model_analyzer.cli.answer import answer
from model_analyzer.cli.console import View
from model_analyzer.cli.export import check_installed, originals_of
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.ranking import rank
from model_analyzer.state.checkpoint import load_chosen

log = logging.getLogger(__name__)


def run(settings: ProfileSettings, remarks: Sequence[str], verbosity: int) -> int:
    """Ranks again what was measured of the models, and writes it; the exit status."""
    view = View(verbosity)
    log.warning("analyze is an old name: `profile` on the same checkpoint measures what is missing")
    for remark in remarks:
        log.warning("%s", remark)
    if not settings.export.skip_summary:
        check_installed(settings.export.formats)
    checkpoint = settings.checkpoint
    loaded = load_chosen(checkpoint.load_file, checkpoint.directory, checkpoint.prefix)
    for sentence in loaded.damage:
        view.say(f"{sentence}: using what is intact")
    groups = (
        [settings.models] if settings.search.together else [(model,) for model in settings.models]
    )
    rankings = [
        rank(
            loaded.profile,
            ",".join(model.name for model in group),
            Goal(models=tuple(model.goal for model in group)),
        )
        for group in groups
    ]
    answer(
        loaded.profile,
        loaded.path,
        rankings,
        settings,
        ExportDirectory(settings.export.path),
        view,
        originals=originals_of(loaded.profile),
        complete=None,
    )
    return EXIT_OK if all(ranking.results for ranking in rankings) else EXIT_RUN_FAILED
