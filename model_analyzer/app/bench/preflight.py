# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Detects problems before the first measurement: for `profile`, its dry run, `doctor` and
`config validate`; also optional packages that are not installed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module

from model_analyzer.app.bench.devices import Devices, Job, devices_of, local_gpus
from model_analyzer.app.bench.searched_subjects import Models, ineffective, infeasible, read_models
from model_analyzer.config.places import Places
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.settings import ExecutorKind, LaunchMode, ProfileSettings
from model_analyzer.errors import ConfigError, Problem
from model_analyzer.extras import check_extra, install_command
from model_analyzer.reports.libraries import needed_packages, possible
from model_analyzer.runner.gpus import named_gpus
from model_analyzer.runner.host import read_destination
from model_analyzer.runner.load.feasible import without_any, without_some
from model_analyzer.runner.runtime import executable


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """The first two stages, their problems, and warnings about variants that will be left out.
    `remarks` are about options without effect: the search says them, too.
    """

    devices: Devices
    models: Models
    problems: Sequence[Problem]
    warnings: Sequence[Problem]
    remarks: Sequence[str]

    def raise_any(self) -> None:
        """Raises ConfigError with all problems, if there are any."""
        if self.problems:
            raise ConfigError(*self.problems)


def preflight(job: Job, stack: ExitStack) -> Preflight:
    """Checks the machine and the model repository; starts no server and writes no file."""
    settings, places = job.settings, job.places
    models = read_models(settings, places)
    problems = [
        *models.problems,
        *infeasible(settings, models.facts, places),
        *_not_writable(settings, places),
        *_missing_programs(job),
        *missing_packages(settings, places),
        *missing_docker_sdk(settings, places),
    ]
    warnings = [*left_out_formats(settings, places)]
    gpus = None
    try:
        gpus = local_gpus(settings, job.environment, stack)
        if not (gpus and gpus.devices):
            refused, cautions = without_gpus(settings, models.facts, places)
            problems += refused
            warnings += cautions
    except ConfigError as error:
        problems += error.problems
    return Preflight(
        devices=devices_of(job, gpus),
        models=models,
        problems=problems,
        warnings=warnings,
        remarks=() if problems else [*ineffective(settings, models.facts)],
    )


def _not_writable(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """Problems of the directories that a run writes to."""
    directories = {
        "export_path": settings.export.path,
        "output_model_repository_path": settings.repository.output,
    }
    if not settings.checkpoint.disabled:
        directories["checkpoint_directory"] = settings.checkpoint.directory
    for option, path in directories.items():
        reason = read_destination(path).reason
        if reason:
            yield Problem(
                where=places.for_all(option),
                message=f"{path} cannot be written: {reason}",
                hint=f"check --{option.replace('_', '-')}; a missing directory is created",
            )


def _missing_programs(job: Job) -> Iterator[Problem]:
    """Programs that the user names and that are not here; nodes of a cluster have their own."""
    settings = job.settings
    named = {"perf_analyzer_path": settings.load_generator.path}
    if settings.server.launch is LaunchMode.LOCAL:
        named["triton_server_path"] = settings.server.path
    for option, name in named.items():
        if name is not None and settings.executor.kind is not ExecutorKind.RAY:
            try:
                executable(option, name, job.environment)
            except ConfigError as error:
                for problem in error.problems:
                    yield replace(problem, where=job.places.for_all(option))


def without_gpus(
    settings: ProfileSettings, facts: Mapping[str, ModelFacts], places: Places
) -> tuple[Sequence[Problem], Sequence[Problem]]:
    """Problems and warnings about instances on GPUs, for a machine without GPUs."""
    if settings.server.launch in (LaunchMode.REMOTE, LaunchMode.DOCKER):
        return (), ()  # the machine of the server may have GPUs
    problems: list[Problem] = []
    warnings: list[Problem] = []
    if named := named_gpus(settings.monitors.gpus):
        warnings.append(
            Problem(
                where=places.for_all("gpus"),
                message=f"this machine has no GPU, so none is used: not {', '.join(named)}",
                hint="remove gpus, or run this where they are",
            )
        )
    for model in settings.models:
        if model.name in facts:
            model_facts, place = facts[model.name], partial(places.for_model, model=model.name)
            refused = [*without_any(model, model_facts, search=settings.search, place=place)]
            problems += refused
            if not refused:
                warnings += without_some(model, model_facts, settings.composing, place=place)
    return problems, warnings


def missing_packages(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """What this run cannot do without a package, besides the Docker SDK and Ray."""
    for option, value, package, extra, advice in _needed(settings):
        yield from _missing(package, extra, places.for_all(option), value, advice)


def missing_docker_sdk(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """That it is missing, if this machine needs it; in a cluster, nodes do."""
    is_cluster = settings.executor.kind is ExecutorKind.RAY
    if settings.server.launch is LaunchMode.DOCKER and not is_cluster:
        where = places.for_all("triton_launch_mode")
        yield from _missing("docker", "docker", where, "launch mode docker")


def _missing(
    package: str, extra: str, where: str, value: str, advice: str = ""
) -> Iterator[Problem]:
    try:
        check_extra(extra)
        import_module(package)
    except ImportError as error:
        message = f"{value} needs the package {package}: {error}"
        yield Problem(where=where, message=message, hint=f"{install_command(extra)}{advice}")


def left_out_formats(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """A format that is left out for want of a package, since another one is written anyway."""
    _, reason = possible(settings.export.formats)
    if reason and not settings.export.skip_summary:
        yield Problem(where=places.for_all("output_formats"), message=reason)


def with_possible_formats(settings: ProfileSettings) -> ProfileSettings:
    """The settings without a format that is left out."""
    export = settings.export
    formats, _ = possible(export.formats)
    return replace(settings, export=replace(export, formats=formats))


def _needed(settings: ProfileSettings) -> Iterator[tuple[str, str, str, str, str]]:
    """Option, value, package, its extra, and an alternative."""
    modes = (settings.search.mode, *(model.mode for model in settings.models))
    for mode in dict.fromkeys(filter(None, modes)):
        if mode.facts.package:
            option, value = "run_config_search_mode", f"search mode {mode.value}"
            package = mode.facts.package
            yield option, value, package, package, ", or --search adaptive"
    if not settings.export.skip_summary:
        for form, package in needed_packages(settings.export.formats):
            yield "output_formats", f"format {form}", package, form, ""
