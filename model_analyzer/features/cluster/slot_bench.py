# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The stages on a node of a cluster: the bench of a slot, built from data that travels there.

Whatever it writes goes to a temporary directory of the node. The driver has the user's output
directory, checkpoints and reports.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from model_analyzer.app.bench.bench import make_runner
from model_analyzer.app.bench.devices import Job, provide_programs
from model_analyzer.app.bench.preflight import preflight
from model_analyzer.app.bench.searched_subjects import fetched
from model_analyzer.app.bench.workplace import claim_output, make_server, prepare, serve
from model_analyzer.app.conceal import concealing
from model_analyzer.config.places import Places
from model_analyzer.domain.settings import ProfileSettings, RepositorySettings
from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.child_environment import user_environment
from model_analyzer.features.cluster.slot_worker import BuiltRunner, SlotFacts, SlotOrder
from model_analyzer.runner.repository import OutputRepository
from model_analyzer.runner.repository_copy import Snapshot
from model_analyzer.runner.timings import Timings
from model_analyzer.runner.workspace import Workspace
from model_analyzer.state.node import NodeJournal, SlotJournal


def slot_order(job: Job, run: str) -> SlotOrder:
    """What each slot of the driver `run` gets; the environment of the job is the driver's."""
    settings, copy = job.settings, job.fetched
    path = settings.repository.path
    source = copy.url if copy is not None else path and Path.cwd() / path
    repository = replace(settings.repository, source=source)
    checkpoint = replace(settings.checkpoint, directory=Path.cwd() / settings.checkpoint.directory)
    return SlotOrder(
        run=run,
        environment=user_environment(job.environment),
        directory=Path.cwd(),
        build=SlotBench(
            settings=replace(settings, repository=repository, checkpoint=checkpoint),
            timings=job.timings,
            snapshot=copy.snapshot if copy is not None else None,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotBench:
    """Builds the runner of a slot on its node. A model repository with a URL is fetched there, as
    it was for the driver (`snapshot`).
    """

    settings: ProfileSettings
    timings: Timings
    snapshot: Snapshot | None = None

    def __call__(self, environment: Mapping[str, str], stack: ExitStack) -> BuiltRunner:
        settings = writing_to(stack.enter_context(Workspace()), self.settings)
        provide_programs(settings, environment)
        _check_visible(settings.repository)
        job = Job(settings=settings, places=Places(), environment=environment, timings=self.timings)
        job = fetched(job, stack, self.snapshot)
        settings = job.settings
        checked = preflight(job, stack)
        checked.raise_any()
        place = prepare(job, checked, stack)
        server = make_server(job, checked.devices, place, stack)
        serving = serve(job, checked.devices, place, server)
        claim_output(settings, stack)
        # the variants with their models are in the driver's directory
        output = OutputRepository(settings.repository.output, None)
        runner = make_runner(
            job,
            place,
            serving,
            server,
            output,
            conceal=concealing(settings),
            show=lambda _: None,
            interruptible=nullcontext,
        )
        open_journal = partial(
            NodeJournal, settings.checkpoint.directory, prefix=settings.checkpoint.prefix
        )
        return BuiltRunner(
            runner=runner,
            journal=stack.enter_context(SlotJournal(open_journal)),
            facts=SlotFacts(
                machine=serving.machines[0],
                process=os.getpid(),
                server=serving.version,
                perf_analyzer=place.perf_analyzer.version,
                facts=serving.facts,
            ),
        )


def _check_visible(repository: RepositorySettings) -> None:
    """Raises ClusterError if the path, which the driver sees, is not on this node."""
    path = repository.path
    if path is not None and not os.path.exists(path):
        raise ClusterError(
            f"model repository {path} is not visible on node {os.uname().nodename}: put it on a"
            " shared disk, or give a URL, which each node fetches"
        )


def writing_to(directory: Path, settings: ProfileSettings) -> ProfileSettings:
    """The settings with all outputs in the directory, or left out."""
    return replace(
        settings,
        repository=replace(settings.repository, output=directory / "variants"),
        server=replace(settings.server, log=None),
        load_generator=replace(settings.load_generator, keep_output=False, output=None),
        export=replace(settings.export, path=directory / "results"),
    )
