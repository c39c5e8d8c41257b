# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Keeps the recommendation under its load, and proves that it holds.

One perf_analyzer sends all the time. Meanwhile, the server is asked once a second what it has
answered: so no stall falls between two measurements. Every ten seconds, a sample goes into a
journal of its own beside the checkpoint. A run that was killed continues from there.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tritonclient.utils import InferenceServerException

from model_analyzer.app.progress.events import Phase
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.measuring import Session
from model_analyzer.domain.arrivals import is_open
from model_analyzer.domain.flags import Flag
from model_analyzer.domain.models import fingerprint
from model_analyzer.domain.profiles import Proof, ProofKind, Verdict, prove
from model_analyzer.domain.trials import Failure, FailureReason, Trial, trial_words
from model_analyzer.domain.windows import Window
from model_analyzer.domain.words import number_text
from model_analyzer.features.proof.asking import client_of
from model_analyzer.features.proof.facts import endurance as facts
from model_analyzer.features.proof.facts.endurance import Sample, span
from model_analyzer.features.proof.facts.promise import OF_CLIENT
from model_analyzer.reading.untrusted import open_regular
from model_analyzer.results.answer import Answer
from model_analyzer.runner.client.grpc import GrpcClient
from model_analyzer.runner.client.interface import ServerCallError
from model_analyzer.runner.gpus import ObservedGpus
from model_analyzer.runner.host import whole_seconds
from model_analyzer.runner.load.ended import OUTPUT, Stop
from model_analyzer.runner.load.generators import Generator
from model_analyzer.runner.load.launches import Launches, most_memory_of_each
from model_analyzer.runner.load.output import parse_report
from model_analyzer.runner.monitors.usage import read_resources
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.state.format.codec import DamagedLine, decode, split
from model_analyzer.state.node import Journal

log = logging.getLogger(__name__)

_TICK_S, _SAMPLE_S = 0.9, 10.0
_FEWEST_SAMPLES = 24  # if the whole time is short, samples are shorter
_AFTER_SHARE, _AFTER_S = 0.1, 60.0  # the load after a reload
_TOLD_EVERY = 6  # samples
_ANSWER_S = 2.0

# perf_analyzer looks once a second, and never finds its windows alike. It would end after so many.
_ENDLESS = Window(mode="count_windows", request_count=1, most=10**7)
_FLAGS = {"stability-percentage": "0.0001", "percentile": "99"}
_MB, _NS_PER_MS = 1e6, 1e6

_OTHER_LOADS = "whether it holds: that needs one server, and a load of perf_analyzer's own"


def endured_before(proofs: Sequence[Proof], seconds: float) -> Proof | None:
    """The proof of so many seconds, if there is one."""
    whole = (each for each in proofs if is_whole(each.numbers.get("seconds", 0.0), seconds))
    return next((each for each in whole if each.kind is ProofKind.ENDURANCE), None)


def is_whole(lasted_s: float, seconds: float) -> bool:
    """Whether a load of so many seconds is complete."""
    return lasted_s > seconds - _sample_s(seconds)


def _sample_s(seconds: float) -> float:
    return min(_SAMPLE_S, seconds / _FEWEST_SAMPLES)


def endured(answer: Answer, trial: Trial, session: Session, caller: Caller) -> Proof | None:
    """The proof that the recommendation keeps its performance under its load for the time of the
    settings; None if it was interrupted. `trial` has the flags and the server of this run.
    """
    promised = answer.ranking.results[0].best

    def proof(verdict: Verdict, sentence: str, numbers: Mapping[str, float]) -> Proof:
        now, kind = whole_seconds(), ProofKind.ENDURANCE
        return prove(kind, promised.trial, verdict, sentence, numbers, at=now)

    settings, server = session.job.settings, session.bench.serving.server
    is_usual = not any(work.genai_perf or work.traffic for work in trial.workloads)
    if not (is_usual and isinstance(server, TritonServer)):
        return proof(Verdict.UNKNOWN, _OTHER_LOADS, {})
    seconds = settings.proofs.endurance or 0.0
    checkpoint, first = settings.checkpoint, promised.trial.first
    name = f"endurance-{fingerprint([first.content, first.setup.identity, first.key])[:12]}.jsonl"
    path = checkpoint.directory / "-".join(filter(None, (checkpoint.prefix, name)))
    with closing(SampleJournal(path)) as journal:
        since = min(run.started for run in promised.runs)
        is_older = bool(journal.samples) and journal.samples[0].begin < since
        if is_older or is_whole(journal.seconds, seconds):  # it is to be proven again
            journal.clear()
        caller.tracker.phase(Phase.ENDURANCE)
        endurance = Endurance(session, server, trial, seconds, caller)
        failure = endurance.complete(journal)
        if caller.interrupts.requested:
            return None
        samples, lasted_s = [*journal.samples], journal.seconds
        if failure is not None:
            journal.clear()  # another try does not continue this one
    if failure is not None:
        verdict = Verdict.UNKNOWN if failure.reason in OF_CLIENT else Verdict.FAILED
        sentence = f"it ended after {span(lasted_s)} under load: {failure.message}"
        return proof(verdict, sentence, {"seconds": lasted_s})
    judge = partial(facts.judged, samples, is_open=any(map(is_open, trial.workloads)))
    judgement = judge()
    if judgement.may_be_restored and not settings.server.reload_disable:
        judgement = judge(endurance.reloaded())
    return proof(judgement.verdict, judgement.sentence, judgement.numbers)


class SampleJournal(Journal):
    """Samples on disk. Raises CheckpointError if the file is in use or cannot be written."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.drop_torn_line()
        self.samples: list[Sample] = []
        with open_regular(path) as file:
            for line in split(file):
                try:
                    self.samples.append(Sample(**decode(line)["sample"]))
                except DamagedLine as error:
                    log.warning("%s: a sample is left out: %s", path, error)

    @property
    def seconds(self) -> float:
        """The time under load."""
        return sum(sample.seconds for sample in self.samples)

    def add(self, sample: Sample) -> None:
        """It is on disk when this returns."""
        self.append([{"entry": "sample", "sample": asdict(sample)}])
        self.samples.append(sample)

    def clear(self) -> None:
        super().clear()
        self.samples.clear()


class Endurance:
    """A trial that is kept under its load for so many `seconds`."""

    def __init__(
        self, session: Session, server: TritonServer, trial: Trial, seconds: float, caller: Caller
    ) -> None:
        place, settings = session.place, session.job.settings
        self._server, self._trial, self._seconds = server, trial, seconds
        self._sample_s = _sample_s(seconds)
        self._interrupts = caller.interrupts
        self._load_timeout_s = settings.server.load_timeout_s
        self._gpus = session.bench.serving.gpus
        self._outputs = place.work / "endurance"
        self._outputs.mkdir(exist_ok=True)
        self._launches = Launches(
            place.perf_analyzer,
            settings.load_generator,
            settings.server.protocol,
            work_directory=self._outputs,
            user_directory=Path.cwd(),
            guards=place.guards,
        )

    def complete(self, journal: SampleJournal) -> Failure | None:
        """Adds the samples that are missing; a failure if the load ended before."""
        run = journal.samples[-1].run + 1 if journal.samples else 0
        left_s = self._seconds - journal.seconds
        log.info("%s under load for %s", trial_words(self._trial), span(left_s))

        def take(sample: Sample) -> None:
            journal.add(sample)
            if len(journal.samples) % _TOLD_EVERY == 0:
                rate = number_text(sample.rate)
                log.info("after %s: %s requests/s", span(journal.seconds), rate)

        return self._load(left_s, run, take)

    def reloaded(self) -> Sequence[Sample]:
        """Samples after a reload, without warm-up; none if it fails."""
        log.info("%s is reloaded", trial_words(self._trial))
        client, samples = self._server.client(self._trial.setup), list[Sample]()
        parts = [part.model for work in self._trial.workloads for part in work.variant.with_parts()]
        try:
            served = {model: client.model_config(model) for model in parts}
            for model in served:  # an ensemble before its parts
                client.unload(model)
            for model, config in reversed(served.items()):
                client.load(model, config, self._load_timeout_s)
        except ServerCallError as error:
            log.warning("The reload failed: %s", error)
            self._server.discard()
            return []
        seconds = max(min(self._seconds * _AFTER_SHARE, _AFTER_S), 4 * self._sample_s)
        failure = self._load(seconds, 0, samples.append)
        return samples[len(samples) // 3 :] if failure is None else []

    def _load(self, seconds: float, run: int, take: Callable[[Sample], None]) -> Failure | None:
        trial, server = self._trial, self._server
        with self._interrupts.interruptible(), ExitStack() as stack:
            failure = server.serve([work.variant for work in trial.workloads], trial.setup)
            if failure is not None:
                return failure
            clients = {
                work.variant.model: stack.enter_context(client_of(server, work, trial))
                for work in trial.workloads
            }
            sampling = Sampling(
                count=lambda: counts_of(clients),
                measure=Meter(server, self._gpus, self._outputs).values,
                take=take,
                seconds=seconds,
                sample_s=self._sample_s,
                run=run,
                is_interrupted=lambda: self._interrupts.requested,
            )
            works = [replace(work, flags=_endless(work.flags)) for work in trial.workloads]
            generators = [Generator(work, _ENDLESS, exports=False) for work in works]
            ended = self._launches.launch(generators, server, sampling)
        if sampling.is_over or self._interrupts.requested:
            return None
        failure = self._launches.failure(works, ended, server, may_be_late=True)
        server.discard()  # its state is unknown
        died = FailureReason.LOAD_GENERATOR_DIED
        return failure or Failure(reason=died, message="perf_analyzer ended too early")


def _endless(flags: Mapping[str, Flag]) -> Mapping[str, Flag]:
    return {name: flag for name, flag in {**flags, **_FLAGS}.items() if name != "request-count"}


class Counts(NamedTuple):
    """What the server counted so far, at a time of the monotonic clock."""

    at: float
    requests: int
    latency_ns: int
    queue_ns: int


def counts_of(clients: Mapping[str, GrpcClient]) -> Counts | None:
    """What the server has counted for models; None without an answer."""
    try:
        statistics = [
            version.inference_stats
            for model, client in clients.items()
            for version in client.raw[0]
            .get_inference_statistics(model, headers=client.raw[1], client_timeout=_ANSWER_S)
            .model_stats
        ]
    except InferenceServerException as error:
        log.debug("The server does not report its statistics: %s", error)
        return None
    return Counts(
        time.monotonic(),
        sum(each.success.count for each in statistics),
        sum(each.success.ns for each in statistics),
        sum(each.queue.ns for each in statistics),
    )


@dataclass
class Sampling:
    """Samples a load while perf_analyzer runs, and ends it after so many `seconds`: it is the time
    limit of the launch, which looks at it twice a second. `take` gets each sample.
    """

    count: Callable[[], Counts | None]
    measure: Callable[[], Mapping[str, float]]
    take: Callable[[Sample], None]
    seconds: float
    sample_s: float
    run: int
    is_interrupted: Callable[[], bool]
    is_over: bool = False
    _counts: list[Counts] = field(default_factory=list)

    def look(self) -> Stop | None:
        """Takes what is due; the reason to end when all is sampled, or if it is interrupted."""
        is_due = not self._counts or time.monotonic() - self._counts[-1].at >= _TICK_S
        # without an answer, the next one tells how long that took
        if is_due and (counts := self.count()) is not None:
            self._counts.append(counts)
            if counts.at - self._counts[0].at >= self.sample_s:
                self._take(self._counts[0], counts)
        return Stop(FailureReason.TIMEOUT) if self.is_over or self.is_interrupted() else None

    def _take(self, first: Counts, last: Counts) -> None:
        requests, values = last.requests - first.requests, dict(self.measure())
        if requests > 0:
            values[facts.LATENCY] = (last.latency_ns - first.latency_ns) / requests / _NS_PER_MS
            values[facts.QUEUE] = (last.queue_ns - first.queue_ns) / requests / _NS_PER_MS
        ticks = [
            (round(after.at - before.at, 3), after.requests - before.requests)
            for before, after in pairwise(self._counts)
        ]
        begin = round(time.time() - (last.at - first.at), 3)
        self._counts = [last]
        self.take(Sample(begin=begin, run=self.run, ticks=ticks, values=values))
        self.seconds -= last.at - first.at
        self.is_over = self.seconds < self.sample_s / 2


class Meter:
    """Reads memory, what other programs use, and perf_analyzer's `outputs`."""

    def __init__(self, server: TritonServer, gpus: ObservedGpus, outputs: Path) -> None:
        self._server, self._gpus, self._outputs = server, gpus, outputs
        self._reading = read_resources(server.processes)

    def values(self) -> Mapping[str, float]:
        """The values that are known, by name: since the last call, or now."""
        before, self._reading = self._reading, read_resources(self._server.processes)
        available = (self._reading.at - before.at) * (os.cpu_count() or 1)
        values = {facts.OTHERS: (self._reading.others - before.others) / available}
        if self._reading.memory:
            half_free = most_memory_of_each(1)
            values |= {facts.MEMORY: self._reading.memory, facts.FREE: 2 * half_free / _MB}
        gpus = self._gpus.read(self._gpus.devices).values()
        for name, tag in ((facts.GPU, "gpu_used_memory"), (facts.GPU_FREE, "gpu_free_memory")):
            if gpus and all(tag in gpu for gpu in gpus):
                values[name] = sum(gpu[tag] for gpu in gpus)
        outputs = self._outputs.glob(f"*/{OUTPUT}")
        reports = [parse_report(path.read_text(errors="replace")) for path in outputs]
        latencies = [median(report.latencies) for report in reports if report.latencies]
        if latencies:
            values[facts.P99] = max(latencies) / 1000
        return values
