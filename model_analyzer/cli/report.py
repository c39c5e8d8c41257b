# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer report`: detailed reports from a checkpoint, without any server."""

from __future__ import annotations

from difflib import get_close_matches

from model_analyzer.cli.console import View
from model_analyzer.cli.export import check_installed, origin_of, write_detail, write_measurements
from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.errors import EXIT_OK, ConfigError, Problem
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.ranking import Ranking, VariantResult, rank
from model_analyzer.state.checkpoint import load_chosen


def run(settings: ReportSettings, verbosity: int) -> int:
    """Writes one detailed report for each variant; the exit status."""
    view = View(verbosity)
    check_installed(settings.formats)
    loaded = load_chosen(
        settings.checkpoint_file, settings.checkpoint_directory, settings.checkpoint_prefix
    )
    for sentence in loaded.damage:
        view.say(f"{sentence}: using what is intact")
    profile = loaded.profile
    results: dict[str, tuple[VariantResult, Ranking]] = {}
    for model in {record.trial.models: None for record in profile.records}:
        goals = [settings.asked_goal(name).over(ModelGoal()) for name in model.split(",")]
        goal = Goal(models=tuple(goals))
        ranking = rank(profile, model, goal)
        results |= {result.name: (result, ranking) for result in ranking.results}
    problems = [_unknown(name, list(results)) for name in settings.variants if name not in results]
    if problems:
        raise ConfigError(*problems)
    directory = ExportDirectory(settings.export_path)
    origin = origin_of(profile, loaded.path)
    for name in settings.variants:
        result, ranking = results[name]
        paths = write_detail(
            directory,
            result,
            origin,
            plots=settings.plots[name],
            offline=settings.offline,
            always_gpus=settings.always_gpus,
            formats=settings.formats,
        )
        data = write_measurements(
            directory, result, ranking, settings.formats, gpus=len(profile.devices)
        )
        for path in (*paths, *data):
            view.print(f"wrote {path}")
    return EXIT_OK


def _unknown(name: str, known: list[str]) -> Problem:
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(known[:12])}"
    return Problem(where=name, what="no measurement of this variant in the checkpoint", hint=hint)
