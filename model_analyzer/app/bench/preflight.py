# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What can be known not to work before anything is measured: the same for `profile`, its dry run,
`doctor` and `config validate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial

from model_analyzer.app.bench.devices import Devices, devices_of, local_gpus
from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.models import Models, read_models
from model_analyzer.app.bench.subjects import infeasible
from model_analyzer.config.places import Places
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.runner.load.instances import without_any, without_some


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """The first two stages, with all that is wrong, and warnings about what will be left out."""

    devices: Devices
    models: Models
    problems: Sequence[Problem]
    warnings: Sequence[Problem]

    def raise_any(self) -> None:
        """Raises ConfigError with all problems, if there are any."""
        if self.problems:
            raise ConfigError(*self.problems)


def preflight(job: Job, stack: ExitStack) -> Preflight:
    """Looks at the machine and the model repository; starts nothing and writes nothing."""
    settings, places = job.settings, job.places
    models = read_models(settings, places)
    problems = [*models.problems, *infeasible(settings, models.facts, places)]
    warnings: Sequence[Problem] = ()
    gpus = None
    try:
        gpus = local_gpus(settings, job.environment, stack)
        if not (gpus and gpus.devices):
            refused, warnings = without_gpus(settings, models.facts, places)
            problems += refused
    except ConfigError as error:
        problems += error.problems
    return Preflight(
        devices=devices_of(job, gpus), models=models, problems=problems, warnings=warnings
    )


def without_gpus(
    settings: ProfileSettings, facts: Mapping[str, ModelFacts], places: Places
) -> tuple[Sequence[Problem], Sequence[Problem]]:
    """Problems and warnings about instances on GPUs, where this machine has none."""
    if settings.server.launch in (LaunchMode.REMOTE, LaunchMode.DOCKER):
        return (), ()  # that machine, or that of the Docker engine, may have some
    problems: list[Problem] = []
    warnings: list[Problem] = []
    for model in settings.models:
        if model.name in facts:
            own, place = facts[model.name], partial(places.of, model=model.name)
            refused = [*without_any(model, own, search=settings.search, place=place)]
            problems += refused
            warnings += () if refused else without_some(model, own, place=place)
    return problems, warnings
