# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The stages on a node of a cluster: the bench of a slot, built from data that travels there.

Whatever it writes goes to a temporary directory of the node. The driver has the user's output
directory, checkpoints and reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from model_analyzer.app.bench.bench import make_runner
from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.preflight import preflight
from model_analyzer.app.bench.serving import make_server, serve
from model_analyzer.app.bench.workplace import claim_output, prepare
from model_analyzer.app.conceal import concealing
from model_analyzer.config.places import Places
from model_analyzer.domain.settings import ProfileSettings
from model_analyzer.runner.cluster.child_environment import user_environment
from model_analyzer.runner.cluster.slot_worker import BuiltRunner, SlotOrder
from model_analyzer.runner.repository import OutputRepository
from model_analyzer.runner.timings import Timings
from model_analyzer.runner.workspace import Workspace
from model_analyzer.state.node import NodeJournal
from model_analyzer.state.slot_journal import SlotJournal


def slot_order(job: Job, run: str) -> SlotOrder:
    """What each slot of the driver `run` gets; the environment of the job is the driver's."""
    settings = job.settings
    path = settings.repository.path
    repository = replace(settings.repository, path=path and Path.cwd() / path)
    checkpoint = replace(settings.checkpoint, directory=Path.cwd() / settings.checkpoint.directory)
    return SlotOrder(
        run=run,
        environment=user_environment(job.environment),
        directory=Path.cwd(),
        build=SlotBench(
            settings=replace(settings, repository=repository, checkpoint=checkpoint),
            timings=job.timings,
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class SlotBench:
    """Builds the runner of a slot on its node."""

    settings: ProfileSettings
    timings: Timings

    def __call__(self, environment: Mapping[str, str], stack: ExitStack) -> BuiltRunner:
        settings = writing_to(stack.enter_context(Workspace()), self.settings)
        job = Job(settings=settings, places=Places(), environment=environment, timings=self.timings)
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
            devices=tuple(serving.gpus.devices),
            server=serving.version,
            perf_analyzer=place.perf_analyzer.version,
            facts=serving.facts,
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
