# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The subjects to search, one after another; and stage 2, the models: from their files, completed
by a server if necessary, or from the server if there are no files.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from model_analyzer.app.bench.devices import (
    Devices,
    Job,
    launcher,
    server_flags,
    with_matching_models,
)
from model_analyzer.config.places import Places
from model_analyzer.domain.hardware import Machine, kind_of
from model_analyzer.domain.models import ModelConfig, ModelFacts, empty
from model_analyzer.domain.secrets import cache_directory
from model_analyzer.domain.settings import ModelSettings, ModelType, ProfileSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import ConfigError, ModelAnalyzerError, Problem, RepositoryError, wrong
from model_analyzer.runner.file_trees import fingerprint_files
from model_analyzer.runner.load.command import named_files
from model_analyzer.runner.load.feasible import (
    impossible,
    on_server,
    own_length_s,
    random_options,
    without_effect,
)
from model_analyzer.runner.load.input_files import foreign_shapes
from model_analyzer.runner.load.logged_requests import Replay, ReplayProblem, read_replay
from model_analyzer.runner.repository import (
    LAYOUT,
    Completion,
    ModelRepository,
    RememberedConfigs,
    model_names,
    served_facts,
)
from model_analyzer.runner.repository_copy import Snapshot, repository_copy
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.search.choose import check
from model_analyzer.search.plan import EarlierRuns, SearchedModel, Subject
from model_analyzer.state.stores import every_record


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


log = logging.getLogger(__name__)

_NOWHERE = Places()


def searched_subjects(
    settings: ProfileSettings, facts: Mapping[str, ModelFacts], places: Places = _NOWHERE
) -> Sequence[Subject]:
    """The subjects to search: each model, or one group of all models; remarks about them are
    logged. Of the server setup, only the flags are known. Raises ConfigError if something cannot be
    measured.
    """
    subjects, remarks = examined_subjects(settings, facts, places)
    for remark in (*ineffective(settings, facts), *remarks):
        log.warning("%s", remark)
    return subjects


def examined_subjects(
    settings: ProfileSettings, facts: Mapping[str, ModelFacts], places: Places = _NOWHERE
) -> tuple[Sequence[Subject], Sequence[str]]:
    """The same, with the remarks about the search."""
    problems = [*infeasible(settings, facts, places)]
    if problems:
        raise ConfigError(*problems)
    models = [
        SearchedModel(
            facts=facts[model.name],
            settings=model,
            inputs=inputs_of(model),
            own_s=own_length_s(model, Path.cwd()),
            replay=_replay_text(model),
            times_tokens=settings.load_generator.model_type is ModelType.LLM,
            composing=settings.composing,
        )
        for model in settings.models
    ]
    earlier, damage = _earlier_runs(settings, models, places)
    groups = [models] if settings.search.together else [[model] for model in models]
    subjects = [
        Subject(
            models=tuple(group),
            setup=ServerSetup(flags=server_flags(group[0].settings, settings)),
            earlier=earlier,
        )
        for group in groups
    ]
    for searched in models:
        if searched.replay:
            log.info("Replaying %s", searched.replay)
    return subjects, [*damage, *check(subjects, settings.search)]


def _earlier_runs(
    settings: ProfileSettings, models: Iterable[SearchedModel], places: Places
) -> tuple[EarlierRuns, Sequence[str]]:
    """What `knowledge` names, and what is wrong with it. Raises ConfigError."""
    url = settings.search.adaptive.knowledge
    if url is None:
        return EarlierRuns(), ()
    bases = frozenset(model.facts.identity for model in models)
    try:
        records, damage = every_record(url)
    except ModelAnalyzerError as error:
        raise wrong(places.for_all("knowledge"), str(error)) from error
    return EarlierRuns(records=records, bases=bases), damage


def with_complete_models(
    settings: ProfileSettings, unknown: Collection[str]
) -> ProfileSettings | None:
    """The settings without the subjects that have an `unknown` model; None if no other is left."""
    groups = settings.subjects
    complete = {name for names in groups if not {*unknown} & {*names} for name in names}
    models = tuple(model for model in settings.models if model.name in complete)
    return replace(settings, models=models) if models else None


def on_each_kind(
    subjects: Iterable[Subject],
    setups: Mapping[str, ServerSetup],
    version: str,
    machines: Iterable[Machine],
    *,
    without_gpus: bool,
) -> Iterator[Subject]:
    """Each subject on each kind of hardware among the machines, for servers of this version.
    `setups` are by model. If a machine `without_gpus` cannot run instances on GPUs, its subjects
    have none.
    """
    kinds = dict.fromkeys(kind_of(machine.devices) for machine in machines)
    for subject in subjects:
        setup = replace(setups[subject.models[0].facts.name], version=version)
        for devices in kinds:
            own = replace(setup, devices=devices, uncached=subject.uncached)
            placed = replace(subject, setup=own)
            yield placed if devices or not without_gpus else placed.without_gpus()


def log_kinds(machines: Mapping[str, Machine]) -> None:
    """Logs the kinds of hardware of slots, by name, if there are several."""
    slots: dict[str, list[str]] = {}
    for name, machine in machines.items():
        slots.setdefault(machine.kind, []).append(name)
    if len(slots) > 1:
        texts = (f"{kind} on {', '.join(names)}" for kind, names in slots.items())
        log.info("Each model is searched once on each kind of hardware: %s", "; ".join(texts))


def infeasible(
    settings: ProfileSettings, facts: Mapping[str, ModelFacts], places: Places
) -> Iterator[Problem]:
    """Problems of models (those in `facts`) that make a measurement impossible."""
    for model in settings.models:
        if model.name in facts:
            yield from impossible(
                model,
                facts[model.name],
                search=settings.search,
                server=settings.server,
                addresses=[*settings.server.addresses, settings.proofs.verify or ""],
                user_directory=Path.cwd(),
                timeout_s=settings.load_generator.timeout_s,
                place=partial(places.for_model, model=model.name),
            )


def ineffective(settings: ProfileSettings, facts: Mapping[str, ModelFacts]) -> Iterator[str]:
    """Remarks about options and fields of models (those in `facts`) that have no effect, or
    another one.
    """
    known = [model for model in settings.models if model.name in facts]
    flags = {model.name: model.perf_analyzer_flags for model in known}
    yield from foreign_shapes(flags, {name: facts[name] for name in flags})
    for model in known:
        yield from without_effect(model, facts[model.name], settings.search, Path.cwd())
        if settings.load_generator.model_type is not ModelType.LLM:  # genai-perf writes a file
            yield from random_options(model, facts[model.name])
        yield from on_server(model, facts[model.name], settings.server.launch)


def inputs_of(model: ModelSettings) -> str:
    """A fingerprint of the files in the model's perf_analyzer flags, and of the log of its traffic.
    Raises RepositoryError if one cannot be read.
    """
    prints = [
        fingerprint_files(Path.cwd() / path) for _, path in named_files(model.perf_analyzer_flags)
    ]
    if model.traffic is not None and model.traffic.log:
        # what is sent, not how the log is written: a log that is read otherwise is another load
        prints.append(_replayed(model).log.identity)
    return ",".join(prints)


def _replay_text(model: ModelSettings) -> str:
    """What the replay of a log sends, and how its times were read; "" without a log."""
    if model.traffic is None or not model.traffic.log:
        return ""
    return f"{model.traffic.log}: {_replayed(model).log.described(model.traffic.speed)}"


def _replayed(model: ModelSettings) -> Replay:
    """The requests of the log of the model's traffic. Raises RepositoryError."""
    assert model.traffic is not None, "it has a log"
    try:
        return read_replay(model.traffic, model.perf_analyzer_flags, Path.cwd())
    except ReplayProblem as error:
        raise RepositoryError(error.message) from None
