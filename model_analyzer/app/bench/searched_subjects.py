# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The subjects to search, one after another."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from model_analyzer.app.bench.devices import server_flags
from model_analyzer.config.places import Places
from model_analyzer.domain.hardware import Machine, kind_of
from model_analyzer.domain.models import ModelFacts
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
from model_analyzer.runner.load.logged_requests import Replay, ReplayProblem, read_replay
from model_analyzer.runner.load.shapes import foreign_shapes
from model_analyzer.search.choose import check
from model_analyzer.search.plan import EarlierRuns, SearchedModel, Subject
from model_analyzer.state.stores import every_record

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
