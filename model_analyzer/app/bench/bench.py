# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Stage 5, the bench: the runner of trials, and the subjects to search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from model_analyzer.app.bench.devices import Job
from model_analyzer.app.bench.workplace import AnyServer, Serving, Workplace
from model_analyzer.app.conceal import Conceal
from model_analyzer.domain.metrics import Source
from model_analyzer.domain.models import empty
from model_analyzer.domain.protocols import Executor, Monitor
from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.domain.slots import Overdue
from model_analyzer.domain.trials import Trial, trial_words
from model_analyzer.domain.words import printable
from model_analyzer.runner.load.launches import Launches
from model_analyzer.runner.load.perf_analyzer import PerfAnalyzer, Transcript
from model_analyzer.runner.monitors.usage import (
    CpuMonitor,
    Neighbours,
    ResourceMonitor,
    read_resources,
)
from model_analyzer.runner.repository import OutputRepository
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.trial_runner import LocalExecutor, TrialRunner
from model_analyzer.search.plan import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What measures the trials of a run, and the `subjects` to search: those with the same name are
    searched at the same time, each on its kind of hardware. `shared` are the names of slots that
    share a host, by host.
    """

    serving: Serving
    executor: Executor
    output: OutputRepository
    subjects: tuple[Subject, ...]
    shared: Mapping[str, Sequence[str]] = field(default_factory=empty)


def set_up(
    job: Job,
    place: Workplace,
    serving: Serving,
    server: AnyServer,
    *,
    conceal: Conceal,
    show: Callable[[str], None],
    tell: Callable[[Overdue], None],
    interruptible: Callable[[], AbstractContextManager[object]],
) -> Bench:
    """The last stage on this machine. `tell` is called if a measurement takes long."""
    settings = job.settings
    is_remote = settings.server.launch is LaunchMode.REMOTE
    output = OutputRepository(settings.repository.output, None if is_remote else place.repository)
    runner = make_runner(
        job,
        place,
        serving,
        server,
        output,
        conceal=conceal,
        show=show,
        tell=tell,
        interruptible=interruptible,
    )
    subjects = serving.subjects
    # without a GPU, there is no point in searching GPU instances; a remote server may have GPUs
    if not (serving.gpus.devices or is_remote):
        subjects = tuple(subject.without_gpus() for subject in subjects)
    if place.genai_perf is None:
        subjects = tuple(subject.without_genai_perf() for subject in subjects)
    executor = LocalExecutor(runner, serving.machines[0].kind)
    return Bench(serving=serving, executor=executor, output=output, subjects=subjects)


def make_runner(
    job: Job,
    place: Workplace,
    serving: Serving,
    server: AnyServer,
    output: OutputRepository,
    *,
    conceal: Conceal,
    show: Callable[[str], None],
    interruptible: Callable[[], AbstractContextManager[object]],
    tell: Callable[[Overdue], None] = lambda _: None,
) -> TrialRunner:
    """The runner of trials on this machine. perf_analyzer's output goes to the user's file, or else
    to `show`. `tell` is for the only slot: an executor with several notices what takes long.
    """
    settings = job.settings
    place.guards.prepare()
    launches = Launches(
        place.perf_analyzer,
        settings.load_generator,
        settings.server.protocol,
        work_directory=place.work,
        user_directory=Path.cwd(),
        genai_perf=place.genai_perf,
        guards=place.guards,
    )
    transcript = _transcript(settings, show, conceal)
    load_generator = PerfAnalyzer(launches, transcript=transcript, tell=tell)
    return TrialRunner(
        server,
        load_generator,
        output,
        monitors=_monitors(job, serving, server, load_generator),
        interruptible=interruptible,
        conceal=conceal,
        machine=serving.machines[0],
    )


def _monitors(
    job: Job,
    serving: Serving,
    server: AnyServer,
    load_generator: PerfAnalyzer,
) -> Callable[[Trial], Iterator[Monitor]]:
    """A function that creates the monitors of a trial."""
    settings = job.settings
    mode = settings.server.launch
    models = settings.models
    cpu_only = {model.name for model in models if model.cpu_only}
    # a goal on GPU metrics compares all variants, so it needs them for CPU variants, too
    observes_all = settings.monitors.always_gpus or any(
        model.goal.needs(Source.GPU) or model.goal.needs(Source.ENERGY) for model in models
    )
    gpus = serving.gpus
    neighbours = Neighbours(busy_share=job.timings.busy_share)

    def monitors(trial: Trial) -> Iterator[Monitor]:
        # in other modes, the server's CPU time cannot be separated from that of other programs
        if mode in (LaunchMode.LOCAL, LaunchMode.C_API):
            yield neighbours.during(trial_words(trial))
        if mode is LaunchMode.LOCAL and isinstance(server, TritonServer):
            yield ResourceMonitor(partial(read_resources, server.processes))
        if settings.monitors.cpu and mode is not LaunchMode.REMOTE:
            watched = server if isinstance(server, TritonServer) else load_generator
            yield CpuMonitor(watched.processes, settings.monitors.interval_s)
        on_gpus = any(
            work.variant.uses_gpus(gpus=len(gpus.devices)) and work.variant.model not in cpu_only
            for work in trial.workloads
        )
        if gpus.devices and (on_gpus or observes_all):
            # with the C API, nobody knows when perf_analyzer has loaded the model
            is_metered = mode is not LaunchMode.C_API
            yield gpus.monitor(settings.monitors.interval_s, is_metered=is_metered)

    return monitors


def _transcript(
    settings: ProfileSettings, show: Callable[[str], None], conceal: Conceal
) -> Callable[[str], None] | None:
    """A function that takes the output of perf_analyzer, or None: it removes secrets and escape
    sequences.
    """
    if not settings.load_generator.keep_output:
        return None
    path = settings.load_generator.output
    add = show if path is None else Transcript(path).add
    return lambda text: add(printable(conceal(text)))
