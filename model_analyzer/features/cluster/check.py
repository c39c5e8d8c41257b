# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Examines and compares the nodes of a cluster on which a run would measure."""

from __future__ import annotations

import os
import platform
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import psutil

from model_analyzer import __version__
from model_analyzer.app.bench.devices import Job, installs_load_generator, installs_server
from model_analyzer.config.places import Places
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.features.cluster.child_environment import child_environment, user_environment
from model_analyzer.features.cluster.cluster_bench import writing_to
from model_analyzer.features.cluster.node_comparison import (
    INSTALLED_BY_RUN,
    ExaminedNode,
    NodeComparison,
    NodeReport,
    compare_nodes,
)
from model_analyzer.features.cluster.ray_slots import (
    NoAnswer,
    ask_nodes,
    clocks_of,
    cluster_nodes,
    connected,
    require_ray,
)
from model_analyzer.features.cluster.slot_places import (
    GPU,
    ClusterNode,
    SlotPlace,
    numbered,
    plan_slots,
)
from model_analyzer.features.doctor.findings import Finding
from model_analyzer.features.doctor.machine_checks import read_driver, read_governors
from model_analyzer.features.doctor.program_checks import (
    check_load_generator,
    check_server,
    server_version,
)
from model_analyzer.runner.gpus import VISIBLE_DEVICES, visible
from model_analyzer.runner.host import THREADS, core_count, processor, read_destination
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.repository_copy import list_repository
from model_analyzer.runner.runtime import installed_runtime
from model_analyzer.runner.timings import Timings
from model_analyzer.runner.workspace import Workspace

# A node that works answers within the first time, and is examined within the second.
_ANSWER_S, _EXAMINE_S = 10.0, 90.0

_GIB, _MIB_IN_GIB = 2**30, 2**10

# The doctor: every finding about a slot of a run on this machine.
Examine = Callable[[Job], Iterator[tuple[str, Finding]]]


def check_cluster(job: Job, examine: Examine) -> NodeComparison:
    """The comparison of the nodes that would get slots of this run. Raises ClusterError without a
    cluster.
    """
    executor = job.settings.executor
    with connected(executor.address):
        nodes = cluster_nodes()
        placement = plan_slots(nodes, executor)
        names = node_names(nodes)
        slots = Counter(place.node.id for place in placement.places)
        clocks = clocks_of([*slots], _ANSWER_S)
        questions = {
            place.node.id: _question(job, place, examine)
            for place in placement.places
            if not isinstance(clocks[place.node.id], NoAnswer)
        }
        reports = ask_nodes(questions, _EXAMINE_S) if questions else {}
    examined = []
    for id_, count in slots.items():
        node = ExaminedNode(name=names[id_], slots=count)
        clock, report = clocks[id_], reports.get(id_)
        if isinstance(clock, NoAnswer):
            examined.append(replace(node, silence=clock.reason))
        elif isinstance(report, NoAnswer):
            examined.append(replace(node, clock=clock, silence=report.reason))
        else:
            examined.append(replace(node, clock=clock, report=report))
    without = [(names[node.id], reason) for node, reason in placement.without]
    return compare_nodes(examined, without, placement.problem)


def node_names(nodes: Sequence[ClusterNode]) -> Mapping[str, str]:
    """The hosts of the nodes, by id, with a number from the second node of a host on."""
    ordered = sorted(nodes, key=lambda node: (not node.is_alive, node.is_head, node.host, node.id))
    names = numbered((node.host for node in ordered), " #")
    return dict(zip((node.id for node in ordered), names, strict=True))


def _question(job: Job, place: SlotPlace, examine: Examine) -> _SlotExamination:
    repository = job.settings.repository
    source = repository.url or (repository.path and Path.cwd() / repository.path)
    settings = replace(
        job.settings, repository=replace(repository, source=source), config_file=None
    )
    return _SlotExamination(
        settings=settings,
        environment=user_environment(job.environment),
        directory=Path.cwd(),
        timings=job.timings,
        sees_gpus=GPU in place.bundle,
        examine=examine,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SlotExamination:
    """What a node is asked: the settings of the run, and the variables of the user."""

    settings: ProfileSettings
    environment: Mapping[str, str]
    directory: Path
    timings: Timings
    sees_gpus: bool
    examine: Examine

    def __call__(self) -> NodeReport:
        gpus = None if self.sees_gpus else ()
        environment = child_environment(self.environment, os.environ, gpus)
        before = Path.cwd()
        if self.directory.is_dir():  # as in a slot
            os.chdir(self.directory)
        try:
            with Workspace() as work:
                settings = writing_to(work, self.settings)
                job = Job(
                    settings=settings,
                    places=Places(),
                    environment=environment,
                    timings=self.timings,
                )
                return self._report(job, work)
        finally:
            os.chdir(before)  # the process answers other questions, too

    def _report(self, job: Job, work: Path) -> NodeReport:
        environment = job.environment
        _, server = check_server(job.settings.server, environment, work / "library")
        _, load = check_load_generator(job.settings.load_generator.path, environment)
        driver = read_driver()
        present = [state.gpu for state in driver.gpus]
        return NodeReport(
            analyzer=__version__,
            python=platform.python_version(),
            ray=str(require_ray().__version__),
            server=(server_version(server) or "unknown")
            if server
            else _to_install(environment, installs_server(job.settings)),
            perf_analyzer=load.version
            if load
            else _to_install(environment, installs_load_generator(job.settings)),
            gpus=tuple(gpu.name for gpu in visible(present, environment.get(VISIBLE_DEVICES))),
            gpu_driver=driver.version,
            processor=processor(),
            cores=core_count(),
            governor=", ".join(sorted(read_governors())),
            memory_gib=psutil.virtual_memory().total / _GIB,
            niceness=os.getpriority(os.PRIO_PROCESS, 0),
            threads=environment.get(THREADS, ""),
            free_gib=read_destination(work).free_mib / _MIB_IN_GIB,
            repository=_stored(job),
            models=_fingerprints(job.settings),
            findings=tuple(self.examine(job)),
        )


def _to_install(environment: Mapping[str, str], is_installed: bool) -> str:
    """The version of a program that a node does not have yet; "" if the run does not install it."""
    return f"{installed_runtime(environment).version} {INSTALLED_BY_RUN}" if is_installed else ""


def _stored(job: Job) -> str | None:
    """What this machine sees of a model repository with a URL, "" if nothing: the doctor says why;
    None if the repository has no URL.
    """
    url = job.settings.repository.url
    if url is None:
        return None
    try:
        return str(list_repository(url, job.environment))
    except ModelAnalyzerError:
        return ""


def _fingerprints(settings: ProfileSettings) -> Mapping[str, str]:
    """The fingerprint of each model of the run as it is on this machine; "" for one that it does
    not have, or that is broken: the doctor says why.
    """
    path = settings.repository.path
    if path is None:
        return {}
    found = {}
    for model in settings.models:
        try:
            facts = ModelRepository(path).facts(
                model.name,
                complete=lambda _, config, files: config,  # its files are compared as they are
                calls=settings.bls_calls,
            )
            found[model.name] = facts.identity
        except ModelAnalyzerError:
            found[model.name] = ""
    return found
