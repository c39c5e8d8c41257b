# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stage 2, the models: from their files, completed by a server if necessary, or from the server if
there are no files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from model_analyzer.app.bench.devices import Devices
from model_analyzer.app.bench.job import Job, with_matching_models
from model_analyzer.app.bench.programs import launcher
from model_analyzer.config.places import Places
from model_analyzer.domain.models import ModelConfig, ModelFacts, empty
from model_analyzer.domain.secrets import cache_directory
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import Problem, RepositoryError, wrong
from model_analyzer.runner.repository import LAYOUT, ModelRepository, model_names
from model_analyzer.runner.repository_copy import Snapshot, repository_copy
from model_analyzer.runner.served_models import Completion, RememberedConfigs, served_facts
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer


class _Incomplete(Exception):
    """A model whose configuration only a server can complete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Models:
    """The models according to their files. `facts` has the models with complete files, `unknown`
    the reasons for incomplete ones, and `broken` the problems of invalid ones. `repository` is a
    problem of the whole repository.
    """

    facts: Mapping[str, ModelFacts] = field(default_factory=empty)
    unknown: Mapping[str, str] = field(default_factory=empty)
    broken: Mapping[str, Problem] = field(default_factory=empty)
    repository: Problem | None = None

    @property
    def problems(self) -> Sequence[Problem]:
        return (self.repository,) if self.repository else tuple(self.broken.values())


def read_models(settings: ProfileSettings, places: Places) -> Models:
    """Reads the files of each model of the run."""
    names = [model.name for model in settings.models]
    path = None if settings.server.reload_disable else settings.repository.path
    if path is None:
        reason = "only the server knows its models, and this command does not ask a server"
        if settings.repository.url is not None and not settings.server.reload_disable:
            reason = "its files are in a store, and this command does not fetch them"
        return Models(unknown=dict.fromkeys(names, reason))
    try:
        repository = ModelRepository(path, fingerprint=lambda _: "")
    except RepositoryError as error:
        return Models(repository=_of_repository(error, places))
    if names and not model_names(path):
        no_model = RepositoryError(f"model repository {path} contains no model", LAYOUT)
        return Models(repository=_of_repository(no_model, places))
    facts: dict[str, ModelFacts] = {}
    unknown: dict[str, str] = {}
    broken: dict[str, Problem] = {}
    for name in names:
        try:
            facts[name] = repository.facts(name, complete=_incomplete, calls=settings.bls_calls)
        except _Incomplete as error:
            unknown[name] = (
                f"only a server can complete the configuration of {error}, and this command starts"
                " none"
            )
        except RepositoryError as error:
            broken[name] = Problem(where=places.for_model("", name), message=str(error))
    for model in settings.models:
        version = model.perf_analyzer_flags.get("model-version")
        served = repository.versions(facts[model.name]) if version and model.name in facts else ()
        if served and version not in served:
            where = places.for_model("perf_analyzer_flags", model.name)
            message = f"the server loads version {', '.join(served)} of it, not {version}"
            broken[model.name] = Problem(where=where, message=f"model {model.name}: {message}")
    return Models(facts=facts, unknown=unknown, broken=broken)


def _of_repository(error: RepositoryError, places: Places) -> Problem:
    option = "model_repository"
    is_relative = option in places.relative_paths(Path.cwd())
    hint = "relative paths start at the current directory" if is_relative else ""
    return Problem(where=places.for_all(option), message=str(error), hint=hint)


def _incomplete(name: str, config: ModelConfig, files: str) -> ModelConfig:
    raise _Incomplete(name)


def repository_facts(
    settings: ProfileSettings,
    devices: Devices,
    environment: Mapping[str, str],
    repository: ModelRepository,
    server_log: ServerLog,
    work: Path,
) -> Mapping[str, ModelFacts]:
    """The facts of the models, from their files, completed by a server if necessary. Raises
    RepositoryError for a model that is missing or invalid.
    """
    completion = Completion(
        repository,
        partial(launcher, settings, devices, environment),
        settings.server,
        server_log,
        work / "completion",
        RememberedConfigs(cache_directory(environment) / "completed"),
    )
    return {
        name: repository.facts(
            name, complete=partial(completion.complete, setup=setup), calls=settings.bls_calls
        )
        for name, setup in devices.setups.items()
    }


def facts_from_server(
    settings: ProfileSettings, server: TritonServer, setups: Mapping[str, ServerSetup]
) -> Mapping[str, ModelFacts]:
    """The facts of the models, from the server, which is left unchanged."""
    facts = {}
    for name, setup in setups.items():
        facts[name] = served_facts(
            server.client(setup), name, timeout_s=settings.server.load_timeout_s
        )
        server.discard()
    return facts


def fetched(job: Job, stack: ExitStack, snapshot: Snapshot | None = None) -> Job:
    """The job with its model repository at a path. That of a URL is fetched, in the state of the
    `snapshot` if there is one, and kept until the `stack` closes. Raises RepositoryError.
    """
    url = job.settings.repository.url
    if url is None or job.settings.server.reload_disable:
        return job
    copy = stack.enter_context(repository_copy(url, job.environment, snapshot))
    repository = replace(job.settings.repository, source=copy.path)
    settings = with_matching_models(replace(job.settings, repository=repository), job.places)
    return replace(job, settings=settings, fetched=copy)


def fetched_for_user(job: Job, stack: ExitStack) -> Job:
    """Like `fetched`, but raises ConfigError with the place of the option."""
    try:
        return fetched(job, stack)
    except RepositoryError as error:
        where = job.places.for_all("model_repository")
        raise wrong(where, error.message, error.hint) from error
