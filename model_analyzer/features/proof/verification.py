# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Measures the recommendation where it is deployed, in perf_analyzer's own windows, and stores the
proof.

A plain server starts from a copy of the models with the configurations that are written for
deployment. Or the server runs elsewhere: then its URL is given.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from model_analyzer.app.bench.bench import make_runner
from model_analyzer.app.bench.devices import Devices, Job, launcher
from model_analyzer.app.bench.workplace import Serving, Workplace, serve
from model_analyzer.app.delivery.files import configurations_of, head_of
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.run.ending import rankings_of
from model_analyzer.app.run.measuring import Extra, Session, in_session
from model_analyzer.domain.flags import COMPLETION
from model_analyzer.domain.measurements import Measurement
from model_analyzer.domain.models import ModelConfig, ModelVariant
from model_analyzer.domain.profiles import Proof, ProofKind, Verdict, prove
from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.domain.trials import Failure, FailureReason, ServerSetup, Trial, trial_words
from model_analyzer.errors import RepositoryError, ServerError
from model_analyzer.features.proof.facts.promise import Check, judged, may_be_chance
from model_analyzer.features.proof.soak import endured, endured_before
from model_analyzer.results.answer import Answer, answer_of
from model_analyzer.results.columns import own_instances_text
from model_analyzer.results.ranking import Ranking
from model_analyzer.runner.client.interface import ServerCallError, has_fixed_shapes, is_served
from model_analyzer.runner.file_trees import CONFIG, create_output, words_of
from model_analyzer.runner.host import whole_seconds
from model_analyzer.runner.repository import ModelRepository, OutputRepository, stage
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.trial_runner import TrialRunner
from model_analyzer.search.plan import Subject, by_name

log = logging.getLogger(__name__)

# The length of the check if perf_analyzer's own windows cannot send the load: of traffic whose
# times we choose.
_OWN_TIMES_S = 30.0

# The deadline for the first answer of a model, which may compile something for it.
_FIRST_S = 60.0

_MS_PER_S = 1000


def prove_run(session: Session, caller: Caller) -> bool:
    """Proves what the settings ask for, about the recommendation of each subject on the hardware of
    this machine. Returns whether no proof failed. The server of the run has ended then, if a plain
    one was needed.
    """
    rankings = [
        ranking
        for placed in by_name(session.bench.subjects)
        for ranking in rankings_of(placed, session.priced)
    ]
    proofs = _prove(session, caller, rankings, anew=False)
    return all(proof.verdict is not Verdict.FAILED for proof in proofs)


def prove_known(job: Job, ranking: Ranking, option: str, caller: Caller) -> int:
    """Proves what the settings of the `job` ask for, about the recommendation of a `ranking` of the
    checkpoint; the exit status. Raises ConfigError or CheckpointError if the model cannot be
    measured as before.
    """
    extra = Extra(
        model=ranking.model,
        goal=ranking.goal,
        conditions=None if ranking.group is None else ranking.group.number,
        option=option,
        purpose="proof",
        usual_trials=1,
    )

    def act(session: Session, caller: Caller) -> None:
        rankings = (
            extra.ranking(session.state, subject, job.settings)
            for subject in session.bench.subjects
        )
        _prove(session, caller, [*filter(None, rankings)], anew=True)

    return in_session(extra.job(job, lambda settings: settings), extra, act, caller, job)


def _prove(
    session: Session, caller: Caller, rankings: Sequence[Ranking], *, anew: bool
) -> Sequence[Proof]:
    """The proofs that the settings ask for; those that are known are made again if `anew`."""
    subjects = {(each.name, each.setup.kind): each for each in session.bench.subjects}
    settings, state = session.job.settings.proofs, session.state
    known = [
        (answer, subjects[key])
        for ranking in rankings
        if (key := (ranking.model, ranking.kind)) in subjects
        and (answer := answer_of(ranking)).best is not None
    ]
    made: list[Proof] = []
    if settings.endurance is not None:
        for answer, subject in known:
            proof = None if anew else endured_before(answer.proofs, settings.endurance)
            if proof is None:
                proof = endured(answer, _trial(answer, subject), session, caller)
            if proof is None:
                return made
            state.record_proof(proof)
            made.append(proof)
    if settings.verify is not None and known:
        session.bench.serving.server.stop()
        for answer, subject in known:
            if caller.interrupts.requested:
                break
            log.info("Verifying %s", trial_words(answer.ranking.results[0].best.trial))
            made.append(_verified(answer, subject, session, caller))
            state.record_proof(made[-1])
    return made


def _verified(answer: Answer, subject: Subject, session: Session, caller: Caller) -> Proof:
    """The proof that the recommendation performs as promised where it is deployed. Raises
    ServerError if there is no server at the URL.
    """
    trial, url = answer.ranking.results[0].best.trial, session.job.settings.proofs.verify
    try:
        check = _checked(answer, subject, session, caller)
    except ServerError as error:
        if url:
            raise
        reason = " ".join(str(error).split())
        sentence = f"a plain server with the written files does not start: {reason}"
        now = whole_seconds()
        return prove(ProofKind.DEPLOYED, trial, Verdict.FAILED, sentence, {}, at=now)
    verdict, sentence, numbers = judged(answer, check, url or "")
    at = check.outcomes[-1].started
    return prove(ProofKind.DEPLOYED, trial, verdict, sentence, numbers, at=at)


def _checked(answer: Answer, subject: Subject, session: Session, caller: Caller) -> Check:
    """What the recommendation shows where it is deployed. Raises ServerError if a plain server does
    not start with it, or if no server is at the URL.
    """
    place, url = session.place, session.job.settings.proofs.verify
    directory = place.work / "deployed" / answer.ranking.model
    settings = _settings(session.job.settings, url or "")
    job = replace(session.job, settings=settings)
    models = [*configurations_of(answer.ranking.results[0])]
    devices = session.devices
    repository = None
    if not url:
        repository = lay_out(answer, place, directory / "models")
        setups = {name: _deployed(setup, models) for name, setup in devices.setups.items()}
        devices = replace(devices, setups=setups)
    with ExitStack() as stack:
        setup = devices.setups[subject.models[0].facts.name]
        bench = plain_bench(job, devices, place, setup, directory, repository, caller, stack)
        server, serving = bench.server, bench.serving
        trial = _trial(answer, next(each for each in serving.subjects if each.name == subject.name))
        first_ms = server.first_answer_ms(trial.workloads[0].variant.config, trial.setup)
        outcomes = [bench.runner.run(trial)]
        is_theirs = url and isinstance(outcomes[0], Measurement)
        different = [*_different(trial, server)] if is_theirs else []
        while not different and may_be_chance(answer, outcomes):
            if caller.interrupts.requested:
                break
            outcomes.append(bench.runner.run(trial))
        server.stop()
    return Check(
        outcomes=outcomes,
        ready_s=None if url else bench.ready_s,
        first_ms=first_ms,
        different=different,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainBench:
    """A server of which nothing is changed; how many seconds it took until it served; and the
    runner of trials on it.
    """

    server: PlainServer
    serving: Serving
    runner: TrialRunner
    ready_s: float


def plain_bench(
    job: Job,
    devices: Devices,
    place: Workplace,
    setup: ServerSetup,
    directory: Path,
    repository: Path | None,
    caller: Caller,
    stack: ExitStack,
) -> PlainBench:
    """Starts a server with this `repository`, or reaches that of the settings; the `stack` ends it.
    Variants are written below the `directory`. Raises ServerError.
    """
    create_output(directory / "variants", override=False)
    server = PlainServer(
        launcher(job.settings, devices, place.environment, repository),
        job.settings.server,
        place.server_log,
        settles=False,
        timings=job.timings,
    )
    stack.enter_context(server)
    ready_s = server.ready_s(setup)
    serving = serve(job, devices, place, server)
    runner = make_runner(
        job,
        place,
        serving,
        server,
        OutputRepository(directory / "variants", None),
        conceal=caller.conceal,
        show=caller.audience.print,
        interruptible=caller.interrupts.interruptible,
    )
    return PlainBench(server=server, serving=serving, runner=runner, ready_s=ready_s)


def _different(trial: Trial, server: PlainServer) -> Iterator[str]:
    """What the server's configurations have instead of what was recommended."""
    client = server.client(trial.setup)
    for variant in (part for work in trial.workloads for part in work.variant.served):
        there = replace(variant, config=client.model_config(variant.model))
        wanted, found = (_telling(each, trial.gpus) for each in (variant, there))
        for name, value in wanted.items():
            if found[name] != value:
                yield f"{variant.model} has {name} {found[name]} instead of {value}"


def _telling(variant: ModelVariant, gpus: int) -> Mapping[str, str]:
    """What a search varies, in words."""
    return {
        "instances": own_instances_text(variant, gpus=gpus),
        "max_batch_size": str(variant.max_batch_size),
        "dynamic_batching": "on" if "dynamic_batching" in variant.config else "off",
    }


def _settings(settings: ProfileSettings, url: str) -> ProfileSettings:
    """Those of a server here, at free ports; or of the one with this URL, which stays as it is."""
    scheme, _, address = url.partition("://")
    over_http = (url if scheme == "https" else address,)
    server = replace(
        settings.server,
        reload_disable=bool(url),
        launch=LaunchMode.REMOTE if url else settings.server.launch,
        http_endpoints=() if scheme in ("", "grpc") else over_http,
        grpc_endpoints=(address,) if scheme == "grpc" else (),
        metrics_urls=settings.server.metrics_urls if url else (),
    )
    return replace(settings, server=server)


def _trial(answer: Answer, subject: Subject) -> Trial:
    """The trial of the recommendation, with the flags of this run: a checkpoint has no secrets."""
    promised = answer.ranking.results[0].best.trial
    workloads = [
        replace(
            work,
            flags=model.settings.perf_analyzer_flags,
            genai_perf=model.settings.genai_perf_flags if work.times_tokens else {},
        )
        for work, model in zip(promised.workloads, subject.models, strict=True)
    ]
    has_own_times = any(work.traffic is not None for work in workloads)
    return Trial(
        workloads=tuple(workloads),
        setup=subject.setup,
        round_s=_OWN_TIMES_S if has_own_times else None,
    )


def lay_out(answer: Answer, place: Workplace, target: Path) -> Path:
    """A model repository with the models of the run and the configurations to deploy, as they are
    written into `best`. Raises RepositoryError.
    """
    assert place.repository is not None, "only a remote server has models of its own"
    stage(ModelRepository(place.repository.path), place.facts.values(), target)
    head = head_of(answer)
    for model, text in configurations_of(answer.ranking.results[0]).items():
        path = target / model / CONFIG
        try:
            path.unlink(missing_ok=True)  # a link to that of the user
            path.write_text(head + text, encoding="utf-8")
        except OSError as error:
            raise RepositoryError(f"{path}: cannot be written: {words_of(error)}") from error
    return target


def _deployed(setup: ServerSetup, models: Sequence[str]) -> ServerSetup:
    """The setup of a server as manifests start it: with the configurations as they are written."""
    flags = {name: value for name, value in setup.flags.items() if name not in COMPLETION}
    return replace(setup, flags={**flags, "load-model": tuple(models)})


def plain_setup(setup: ServerSetup, models: Sequence[str]) -> ServerSetup:
    """The setup of a server that loads these models when it starts, and completes their
    configurations as usual.
    """
    usual = {"disable-auto-complete-config": "false"}
    return replace(setup, flags={**usual, **setup.flags, "load-model": tuple(models)})


class PlainServer(TritonServer):
    """The server of a launcher, of which nothing is changed."""

    def serve(self, variants: Sequence[ModelVariant], setup: ServerSetup) -> Failure | None:
        """A failure if a model is not loaded."""
        client = self.client(setup)
        missing = [each.model for each in variants if not is_served(client, each.model)]
        if not missing:
            return None
        return Failure(
            reason=FailureReason.MODEL_NOT_LOADED,
            message=f"the server has not loaded {', '.join(missing)}",
        )

    def ready_s(self, setup: ServerSetup) -> float:
        """Starts the server, and returns how many seconds that took, with its models. Raises
        ServerError.
        """
        began = time.monotonic()
        self.version(setup)
        return time.monotonic() - began

    def first_answer_ms(self, config: ModelConfig, setup: ServerSetup) -> float | None:
        """How long the answer to a request of zeros took; None if it failed, or if no valid request
        follows from the configuration.
        """
        if not has_fixed_shapes(config):
            return None
        client, began = self.client(setup), time.monotonic()
        try:
            client.infer_zeros(config, _FIRST_S)
        except ServerCallError:
            return None
        return _MS_PER_S * (time.monotonic() - began)
