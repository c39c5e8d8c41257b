# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the group of conditions in a checkpoint that a command ranks."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from model_analyzer.app.bench.devices import server_setups
from model_analyzer.app.bench.searched_subjects import inputs_of
from model_analyzer.app.selection.subjects import measured_subjects
from model_analyzer.config.given_options import GivenOptions
from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.model_names import group_members
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import ModelSettings, ProfileSettings
from model_analyzer.domain.trials import client_setup_of
from model_analyzer.errors import ConfigError, RepositoryError, wrong
from model_analyzer.reports.tables import Table
from model_analyzer.results.conditions import Group, Intended, differences
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.state.checkpoint import Checkpoint

log = logging.getLogger(__name__)


def ranked(
    profile: Profile,
    model: str,
    goal: Goal,
    conditions: int | None,
    run: ProfileSettings | None = None,
) -> Sequence[Ranking]:
    """The rankings of a model, one for each kind of hardware. `conditions` is the number of the
    only group of conditions to rank; None means those of the `run`, if it has measurements under
    them. Raises ConfigError if the number does not exist.
    """
    selected = conditions or (None if run is None else _intended(run, group_members(model)))
    try:
        return rank(profile, model, goal, conditions=selected)
    except ValueError as error:
        raise wrong("--conditions", f"{model}: {error}") from error


def default_rankings(checkpoint: Checkpoint) -> Sequence[Ranking]:
    """The rankings of each model by the default goal, one for each kind of hardware."""
    return [
        ranking
        for model, count in measured_subjects(checkpoint).items()
        for ranking in rank(checkpoint.profile, model, Goal(models=(ModelGoal(),) * count))
    ]


def conditions_tables(rankings: Iterable[Ranking]) -> Iterator[tuple[str, Table]]:
    """Each model that was measured under several conditions, with a table of them."""
    chosen: dict[str, dict[str, Group]] = {}
    groups: dict[str, Sequence[Group]] = {}
    for ranking in rankings:
        if ranking.group is not None and len(ranking.groups) > 1:
            chosen.setdefault(ranking.model, {})[ranking.kind] = ranking.group
            groups[ranking.model] = ranking.groups
    for model, by_kind in chosen.items():
        has_kinds = len({group.kind for group in groups[model]}) > 1
        yield (
            model,
            Table(
                headers=(
                    "Number",
                    *(["Hardware"] if has_kinds else []),
                    "Measurements",
                    "Of the current model",
                    "Different in",
                ),
                rows=tuple(
                    (
                        group.number,
                        *([group.kind] if has_kinds else []),
                        group.measurements,
                        group.current,
                        _difference(group, by_kind.get(group.kind)),
                    )
                    for group in groups[model]
                ),
            ),
        )


def _difference(group: Group, chosen: Group | None) -> str:
    """How a group differs from the one that is ranked on its kind of hardware."""
    if group is chosen:
        return "ranked by default"
    if chosen is None:
        return "older version of the model"
    parts = differences(group.sample, chosen.sample)
    return ", ".join(f"{part.subject} {part.then or 'not set'}" for part in parts)


def run_of(config_file: Path | None) -> ProfileSettings | None:
    """The settings of `profile` with this file; None if it is not a valid file for `profile`."""
    if config_file is None:
        return None
    try:
        return GivenOptions.of_file(config_file, os.environ, Path.cwd()).profile().settings
    except ConfigError as error:
        log.debug("%s is not a configuration for profile: %s", config_file, error)
        return None


def _intended(run: ProfileSettings, names: Sequence[str]) -> Intended | None:
    """The conditions of these models in the run; None if it does not measure all of them."""
    chosen = run.without_patterns(names)
    models: dict[str, ModelSettings] = {model.name: model for model in chosen.models}
    if not all(name in models for name in names):
        return None
    return Intended(
        setup=server_setups(chosen, (), {})[names[0]],
        clients=tuple(
            client_setup_of(
                models[name].perf_analyzer_flags, _inputs(models[name]), models[name].traffic
            )
            for name in names
        ),
        any_cache=not all(models[name].keeps_cache for name in names),
    )


def _inputs(model: ModelSettings) -> str:
    """The fingerprint of the input files; "" if they do not exist any more."""
    try:
        return inputs_of(model)
    except RepositoryError:
        return ""
