# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Optional packages that a run needs: whether they are installed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

from model_analyzer.config.places import Places
from model_analyzer.domain.settings import ExecutorKind, LaunchMode, ProfileSettings
from model_analyzer.errors import Problem
from model_analyzer.reports.libraries import needed_packages, possible


def missing_packages(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """What this run cannot do without a package, besides the Docker SDK and Ray."""
    for option, value, package, advice in _needed(settings):
        yield from _missing(package, places.for_all(option), value, advice)


def missing_docker_sdk(settings: ProfileSettings, places: Places) -> Iterator[Problem]:
    """That it is missing, if this machine needs it; in a cluster, nodes do."""
    is_cluster = settings.executor.kind is ExecutorKind.RAY
    if settings.server.launch is LaunchMode.DOCKER and not is_cluster:
        yield from _missing("docker", places.for_all("triton_launch_mode"), "launch mode docker")


def _missing(package: str, where: str, value: str, advice: str = "") -> Iterator[Problem]:
    try:
        import_module(package)
    except ImportError as error:
        message = f"{value} needs the package {package}: {error}"
        yield Problem(where=where, message=message, hint=f"pip install {package}{advice}")


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


def _needed(settings: ProfileSettings) -> Iterator[tuple[str, str, str, str]]:
    """Option, value, package, and an alternative."""
    modes = (settings.search.mode, *(model.mode for model in settings.models))
    for mode in dict.fromkeys(filter(None, modes)):
        if mode.facts.package:
            option, value = "run_config_search_mode", f"search mode {mode.value}"
            yield option, value, mode.facts.package, ", or --search adaptive"
    if not settings.export.skip_summary:
        for form, package in needed_packages(settings.export.formats):
            yield "output_formats", f"format {form}", package, ""
