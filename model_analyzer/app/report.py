# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes detailed reports of variants from a checkpoint, without a server."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path

from model_analyzer.app.delivery.files import ReportWriter, origin_of
from model_analyzer.app.selection.asked_goals import given_or_of_run
from model_analyzer.app.selection.conditions import ranked, run_of
from model_analyzer.app.selection.subjects import measured_subjects
from model_analyzer.config.price_files import read_prices
from model_analyzer.domain.goals import Goal, GoalOverride, ModelGoal
from model_analyzer.domain.model_names import group_members
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import ReportSettings
from model_analyzer.domain.words import closest, first_few
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.reports.images import Images
from model_analyzer.reports.libraries import writable
from model_analyzer.results.ranking import Ranking, VariantResult
from model_analyzer.state.checkpoint import Checkpoint, load_chosen

log = logging.getLogger(__name__)


def report(settings: ReportSettings) -> Iterator[Path]:
    """Writes a detailed report for each variant, and yields each path after writing it. Models are
    ranked by the goals that the user gives, and without any by those of the run in the checkpoint.

    Raises ConfigError, before it writes anything, if a variant was not measured.
    """
    settings = replace(settings, formats=writable(settings.formats))
    loaded = load_chosen(
        settings.checkpoint_file, settings.checkpoint_directory, settings.checkpoint_prefix
    )
    for warning in loaded.damage_warnings:
        log.warning("%s", warning)
    prices = None if settings.prices is None else read_prices(settings.prices)
    profile = replace(loaded.profile, prices=prices)
    results = _results(loaded, profile, settings)
    names = [name for name in settings.variants if name not in results]
    if names:
        raise ConfigError(*(_unknown(name, profile) for name in names))
    origin = origin_of(profile, loaded.path)
    with Images() as images:
        writer = ReportWriter.of_report(settings, images)
        for name in settings.variants:
            for result, ranking in results[name]:
                yield from writer.detail(result, ranking, origin, settings.plots[name])
                yield from writer.measurements(result, ranking)
        for remark in images.remarks():
            log.warning("%s", remark)


def _results(
    checkpoint: Checkpoint, profile: Profile, settings: ReportSettings
) -> Mapping[str, Sequence[tuple[VariantResult, Ranking]]]:
    """The results of each variant, by name: under the ranked conditions, or else under different
    ones, with a warning for requested variants. A name may have several results, with different
    composing variants, or on several kinds of hardware.
    """
    run_settings = run_of(settings.config_file)
    results: dict[str, Sequence[tuple[VariantResult, Ranking]]] = {}
    requested = {
        frozenset(group_members(record.trial.models))
        for record in profile.records
        if record.trial.variants in settings.variants
    }
    subjects = [
        subject
        for subject in measured_subjects(checkpoint)
        if frozenset(group_members(subject)) in requested
    ]
    goals, remarks = given_or_of_run(
        checkpoint, {subject: _given_goal(subject, settings) for subject in subjects}
    )
    for remark in remarks:
        log.info("%s", remark)
    for model, goal in goals.items():
        rankings = ranked(profile, model, goal, settings.conditions, run_settings)
        results |= _by_name(rankings)
        for part in chain.from_iterable(ranking.left_out for ranking in rankings):
            if settings.conditions is None and part.conditions is not None:
                more = _by_name(ranked(profile, model, goal, part.conditions))
                new = {name: pairs for name, pairs in more.items() if name not in results}
                results |= new
                for name in filter(new.__contains__, settings.variants):
                    log.warning("%s was %s", name, part.reason)
    return results


def _given_goal(subject: str, settings: ReportSettings) -> Goal | None:
    """The goal of a subject, if the user gave a part of it for any of its models."""
    asked = [settings.asked_goal(name) for name in group_members(subject)]
    if all(each == GoalOverride() for each in asked):
        return None
    return Goal(models=tuple(each.over(ModelGoal()) for each in asked))


def _by_name(
    rankings: Sequence[Ranking],
) -> Mapping[str, Sequence[tuple[VariantResult, Ranking]]]:
    by_name: dict[str, list[tuple[VariantResult, Ranking]]] = {}
    for ranking in rankings:
        for result in ranking.results:
            by_name.setdefault(result.name, []).append((result, ranking))
    return by_name


def _unknown(name: str, profile: Profile) -> Problem:
    measured = list(dict.fromkeys(item.trial.variants for item in profile.measured))
    if name in measured:
        message = "was measured before the model changed, or under different conditions"
        return Problem(
            where=name, message=message, hint="`model-analyzer checkpoint trials` shows it"
        )
    match = closest(name, measured)
    hint = f"did you mean {match!r}?" if match else f"available: {first_few(measured)}"
    return Problem(
        where=name, message="the checkpoint has no measurement of this variant", hint=hint
    )
