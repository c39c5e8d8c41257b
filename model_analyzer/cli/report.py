# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`model-analyzer report`: detailed reports from a checkpoint, without any server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from model_analyzer.cli.checkpoint.goal import subjects_of
from model_analyzer.cli.circumstances import ranked, run_of
from model_analyzer.cli.console import View
from model_analyzer.cli.export import check_installed, origin_of, write_detail, write_measurements
from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.errors import EXIT_OK, ConfigError, Problem
from model_analyzer.reports.images import Images
from model_analyzer.reports.write import ExportDirectory
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.state.checkpoint import Checkpoint, load_chosen


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
    results = _results(loaded, settings, view)
    names = [name for name in settings.variants if name not in results]
    if names:
        raise ConfigError(*(_unknown(name, profile) for name in names))
    directory = ExportDirectory(settings.export_path)
    origin = origin_of(profile, loaded.path)
    with Images() as images:
        for name in settings.variants:
            for result, ranking in results[name]:
                paths = write_detail(
                    directory,
                    result,
                    ranking.goal,
                    origin,
                    images,
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
        for remark in images.remarks():
            view.say(remark)
    return EXIT_OK


def _results(
    checkpoint: Checkpoint, settings: ReportSettings, view: View
) -> Mapping[str, Sequence[tuple[VariantResult, Ranking]]]:
    """By name, what was measured of each variant: under the circumstances that are ranked, or else
    under others, which is said of the variants that are asked for. A name may stand for several
    combinations of what a model calls.
    """
    run_settings, profile = run_of(settings.config_file), checkpoint.profile
    results: dict[str, Sequence[tuple[VariantResult, Ranking]]] = {}
    tried = {
        frozenset(record.trial.models.split(","))
        for record in profile.records
        if record.trial.variants in settings.variants
    }
    for model in subjects_of(checkpoint):
        if frozenset(model.split(",")) not in tried:
            continue
        goals = [settings.asked_goal(name).over(ModelGoal()) for name in model.split(",")]
        goal = Goal(models=tuple(goals))
        ranking = ranked(profile, model, goal, settings.circumstances, run_settings)
        results |= _by_name(ranking)
        for part in ranking.left_out:
            if settings.circumstances is None and part.circumstances is not None:
                other = _by_name(ranked(profile, model, goal, part.circumstances))
                new = {name: found for name, found in other.items() if name not in results}
                results |= new
                for name in filter(new.__contains__, settings.variants):
                    view.say(f"{name} was {part.reason}")
    return results


def _by_name(ranking: Ranking) -> Mapping[str, Sequence[tuple[VariantResult, Ranking]]]:
    found: dict[str, list[tuple[VariantResult, Ranking]]] = {}
    for result in ranking.results:
        found.setdefault(result.name, []).append((result, ranking))
    return found


def _unknown(name: str, profile: Profile) -> Problem:
    known = list(dict.fromkeys(item.trial.variants for item in profile.measured))
    if name in known:
        what = "was measured, but the model has changed since, or under other circumstances"
        return Problem(where=name, what=what, hint="`model-analyzer checkpoint trials` shows it")
    near = get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"it has: {', '.join(known[:12])}"
    return Problem(where=name, what="no measurement of this variant in the checkpoint", hint=hint)
