# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What can be known not to work before anything is measured: the same for `profile`, its dry run,
`doctor` and `config validate`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from model_analyzer.cli.gpus import local_gpus
from model_analyzer.cli.subjects import infeasible
from model_analyzer.config.places import Places
from model_analyzer.domain.models import ModelConfig, ModelFacts, empty
from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.errors import ConfigError, Problem, RepositoryError
from model_analyzer.runner.load.instances import without_any, without_some
from model_analyzer.runner.monitors.gpu import ObservedGpus
from model_analyzer.runner.repository import ModelRepository


class _Incomplete(Exception):
    """A model whose configuration only a server can complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """What the files say. `facts` are those of the models whose files say enough; `unknown` says
    of others why not; `broken` is what is wrong with the rest. `repository` is what is wrong with
    all of it.
    """

    facts: Mapping[str, ModelFacts] = field(default_factory=empty)
    unknown: Mapping[str, str] = field(default_factory=empty)
    broken: Mapping[str, Problem] = field(default_factory=empty)
    repository: Problem | None = None

    @property
    def problems(self) -> Sequence[Problem]:
        return (self.repository,) if self.repository else tuple(self.broken.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """All that is wrong, and warnings about what will not be measured. `gpus` are those of the
    run, None where only the server can tell.
    """

    models: Models
    problems: Sequence[Problem]
    warnings: Sequence[Problem]
    gpus: ObservedGpus | None

    def raise_any(self) -> None:
        """Raises ConfigError with all problems, if there are any."""
        if self.problems:
            raise ConfigError(*self.problems)


def preflight(
    settings: ProfileSettings,
    places: Places,
    environment: Mapping[str, str],
    stack: ExitStack,
) -> Preflight:
    """Looks at the machine and the model repository; starts nothing and writes nothing."""
    models = read_models(settings, places)
    problems = [*models.problems, *infeasible(settings, models.facts, places)]
    warnings: Sequence[Problem] = ()
    gpus = None
    try:
        gpus = local_gpus(settings, environment, stack)
        if not (gpus and gpus.devices):
            refused, warnings = without_gpus(settings, models.facts, places)
            problems += refused
    except ConfigError as error:
        problems += error.problems
    return Preflight(models=models, problems=problems, warnings=warnings, gpus=gpus)


def read_models(settings: ProfileSettings, places: Places) -> Models:
    """What the files say of each model of the run."""
    names = [model.name for model in settings.models]
    path = None if settings.server.reload_disable else settings.repository.path
    if path is None:
        reason = "only the server knows its models, and none is asked here"
        return Models(unknown=dict.fromkeys(names, reason))
    try:
        repository = ModelRepository(path, fingerprint=lambda _: "")
    except RepositoryError as error:
        return Models(repository=_of_repository(error, places))
    facts: dict[str, ModelFacts] = {}
    unknown: dict[str, str] = {}
    broken: dict[str, Problem] = {}
    for name in names:
        try:
            facts[name] = repository.facts(name, complete=_incomplete, calls=settings.bls_calls)
        except _Incomplete as error:
            unknown[name] = (
                f"a server has to complete the configuration of {error}, and none is started here"
            )
        except RepositoryError as error:
            broken[name] = Problem(where=places.of("", name), what=str(error))
    return Models(facts=facts, unknown=unknown, broken=broken)


def _of_repository(error: RepositoryError, places: Places) -> Problem:
    option = "model_repository"
    is_relative = option in places.relative_paths(Path.cwd())
    hint = "relative paths are meant from the current directory" if is_relative else ""
    return Problem(where=places.of_all(option), what=str(error), hint=hint)


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


def _incomplete(name: str, config: ModelConfig) -> ModelConfig:
    raise _Incomplete(name)
