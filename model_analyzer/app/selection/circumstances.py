# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which of the circumstances in a checkpoint a command ranks."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from model_analyzer.app.bench.setups import server_setups
from model_analyzer.app.bench.subjects import inputs_of
from model_analyzer.app.selection.subjects import measured_subjects
from model_analyzer.config.environment import read_environment
from model_analyzer.config.resolve import resolve_profile
from model_analyzer.config.sources import read_yaml
from model_analyzer.domain.goals import Goal, ModelGoal
from model_analyzer.domain.groups import group_members
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.settings import ModelSettings, ProfileSettings
from model_analyzer.domain.trials import conditions_of
from model_analyzer.errors import ConfigError, RepositoryError, wrong
from model_analyzer.reports.tables import Table
from model_analyzer.results.circumstances import Intended, differences
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.state.checkpoint import Checkpoint

log = logging.getLogger(__name__)


def ranked(
    profile: Profile,
    model: str,
    goal: Goal,
    circumstances: int | None,
    run: ProfileSettings | None = None,
) -> Ranking:
    """The ranking of a model under the circumstances of that number, or else those of the `run`,
    where something was measured under them. Raises ConfigError where there is no such number.
    """
    wanted = circumstances or (None if run is None else _intended(run, group_members(model)))
    try:
        return rank(profile, model, goal, circumstances=wanted)
    except ValueError as error:
        raise wrong("--circumstances", f"{model}: {error}") from error


def circumstances_tables(checkpoint: Checkpoint) -> Iterator[tuple[str, Table]]:
    """For each model that was measured under several circumstances, what they are."""
    for model, count in measured_subjects(checkpoint).items():
        ranking = rank(checkpoint.profile, model, Goal(models=(ModelGoal(),) * count))
        if ranking.group is None or len(ranking.groups) < 2:
            continue
        chosen = ranking.group
        yield (
            model,
            Table(
                headers=("Number", "Measurements", "Of the current model", "Different in"),
                rows=tuple(
                    (
                        group.number,
                        group.measurements,
                        group.current,
                        "ranked by default"
                        if group is chosen
                        else ", ".join(
                            f"{part.what} {part.then or 'not set'}"
                            for part in differences(group.sample, chosen.sample)
                        ),
                    )
                    for group in ranking.groups
                ),
            ),
        )


def run_of(config_file: Path | None) -> ProfileSettings | None:
    """The settings that `profile` would have with that file; None where it could not use it."""
    if config_file is None:
        return None
    try:
        return resolve_profile(
            [], read_yaml(config_file), Path.cwd(), environment=read_environment(os.environ)
        ).settings
    except ConfigError as error:
        log.debug("%s is no configuration of a run: %s", config_file, error)
        return None


def _intended(run: ProfileSettings, names: Sequence[str]) -> Intended | None:
    """The circumstances that the run measures these models under; None where it does not."""
    models: dict[str, ModelSettings] = {model.name: model for model in run.models}
    if not all(name in models for name in names):
        return None
    return Intended(
        setup=server_setups(run, (), {})[names[0]],
        conditions=tuple(
            conditions_of(models[name].perf_analyzer_flags, _inputs(models[name])) for name in names
        ),
    )


def _inputs(model: ModelSettings) -> str:
    """The fingerprint of the input files, "" where they are gone."""
    try:
        return inputs_of(model)
    except RepositoryError:
        return ""
