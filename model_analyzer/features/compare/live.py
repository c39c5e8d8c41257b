# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares two servers by measuring them in turn, until a difference is certain; and the two
servers of a live comparison: as the user names them, then started, or reached where they run.

Each pair of rounds has one of either server, in the order A B B A: a machine that becomes slower or
faster meanwhile does so for both. One server is under load at a time.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median

from model_analyzer.app.bench.devices import Job, provide_programs
from model_analyzer.app.bench.searched_subjects import fetched_for_user
from model_analyzer.app.bench.workplace import Preflight, Workplace, preflight, prepare
from model_analyzer.app.run.caller import Caller
from model_analyzer.app.selection import goals_of, measured_subjects
from model_analyzer.config.given_options import GivenOptions
from model_analyzer.domain.flags import shares_memory
from model_analyzer.domain.goals import GoalOverride
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import VariantNames, empty, is_cached, is_decoupled, platform_of
from model_analyzer.domain.profiles import Profile, TrialRecord, Verdict, trial_differences
from model_analyzer.domain.settings import LaunchMode, ProfileSettings
from model_analyzer.domain.trials import Failure, Load, LoadKind, Trial, under
from model_analyzer.domain.words import first_few
from model_analyzer.errors import Interrupted, RepositoryError, ServerError, wrong
from model_analyzer.features.compare.comparison_report import ComparisonReport, Side
from model_analyzer.features.compare.facts.comparison import (
    ComparedPair,
    Live,
    ModelComparison,
    Pairs,
    Rule,
    conclusion,
    judge,
)
from model_analyzer.features.proof.outputs import OutputCheck, OutputOptions
from model_analyzer.features.proof.verification import PlainBench, plain_bench, plain_setup
from model_analyzer.reports.parameters import configuration_changes
from model_analyzer.results.change import median_change
from model_analyzer.results.ranking import Ranking, rank
from model_analyzer.runner.client.connect import connect
from model_analyzer.runner.file_trees import CONFIG, link_tree, words_of
from model_analyzer.runner.load.launches import most_memory_of_each
from model_analyzer.runner.monitors.usage import read_resources
from model_analyzer.runner.repository import LAYOUT, ModelRepository, model_names, stage
from model_analyzer.runner.server.endpoints import remote_endpoints
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.timings import Timings
from model_analyzer.runner.versions import is_before, short
from model_analyzer.runner.workspace import Workspace
from model_analyzer.search.plan import Subject
from model_analyzer.state.checkpoint import Checkpoint

# The options of a run with these flags, for these models.
Options = Callable[[Mapping[str, str], str], GivenOptions]

# The length of a round: of longer ones there are too few in minutes, and in shorter ones the start
# of perf_analyzer takes most of the time.
_ROUND_S = 2.0
_MOST_AT_ONCE = 64  # requests, unless the user asks for more
_BYTES_PER_MB = 1e6

_VERSION = "triton:"
_ALL = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A side with its name. Its `configurations`, a directory with MODEL/config.pbtxt, replace
    those of the model repository.
    """

    name: str
    job: Job
    configurations: Path | None = None


def targets(
    texts: Sequence[str], options: Options, models: Sequence[str], timings: Timings | None
) -> Iterator[Target]:
    """Each is a URL, a directory, or `triton:VERSION`. Without `models`, they have all that are
    there. Raises ConfigError or ServerError.
    """
    schemes = {text.partition("://")[0] for text in texts if "://" in text}
    if "grpc" in schemes and len(schemes) > 1:
        raise wrong("--live", "compare both servers over the same protocol: gRPC or HTTP")
    protocol = {"--client-protocol": "http"} if schemes - {"grpc"} else {}
    for text in texts:
        configurations, names = None, [*models]
        if "://" in text:
            flags = _of_url(text)
        elif text.startswith(_VERSION):
            flags = {"--runtime-version": text.removeprefix(_VERSION)}
        elif os.path.isdir(directory := os.path.expanduser(text)):
            path = Path(directory)
            names = names or [*model_names(path)]
            is_whole = any(path.glob("*/[0-9]*/"))
            if not is_whole and not any(path.glob(f"*/{CONFIG}")):
                raise wrong("--live", f"{text} has no model: {LAYOUT}")
            flags = {"--model-repository": directory} if is_whole else {}
            configurations = None if is_whole else path
        else:
            raise wrong(
                "--live",
                f"{text!r} is neither a directory, nor a URL such as grpc://host:8001, nor"
                f" {_VERSION}VERSION",
            )
        resolved = options({**flags, **protocol}, ",".join(names) or _ALL).profile()
        settings = resolved.settings
        if settings.server.launch is LaunchMode.REMOTE:
            settings = settings.without_patterns(_served_models(text, settings))
        if models:
            chosen = tuple(model for model in settings.models if model.name in models)
            if not chosen:
                raise wrong(
                    "--model", f"{text} has no model {first_few(models)} among those of the run"
                )
            settings = replace(settings, models=chosen)
        job = Job.of(replace(resolved, settings=settings), os.environ, timings)
        yield Target(name=text, job=job, configurations=configurations)


def loads_of(checkpoint: Checkpoint, asked: GoalOverride) -> Mapping[str, Load]:
    """The load at which each model of a checkpoint is best."""
    names = [*measured_subjects(checkpoint)]
    goals, _ = goals_of(checkpoint, names, asked)
    loads = {}
    for name in names:
        ranking, *_ = rank(checkpoint.profile, name, goals[name])
        load = ranking.results[0].best.trial.workloads[0].load if ranking.results else None
        if load is not None and load.value:  # times in a file have none
            loads[name] = load
    return loads


def _of_url(url: str) -> Mapping[str, str]:
    """The options for a server that runs there, and of which nothing is changed."""
    scheme, _, address = url.partition("://")
    endpoints = {
        "grpc": ("--triton-grpc-endpoint", address),
        "http": ("--triton-http-endpoint", address),
        "https": ("--triton-http-endpoint", url),
    }
    if scheme not in endpoints:
        raise wrong("--live", f"no server is reached by {url!r}: use grpc, http or https")
    return {
        "--triton-launch-mode": "remote",
        "--reload-model-disable": "true",
        **dict([endpoints[scheme]]),
    }


def _served_models(url: str, settings: ProfileSettings) -> Sequence[str]:
    """The models that the server has loaded. Raises ServerError."""
    server, (any_model, *_) = settings.server, settings.models
    flags = any_model.perf_analyzer_flags  # with the access of all
    try:
        with closing(connect(remote_endpoints(server), server.protocol, flags)) as client:
            return [name for name, versions in client.models().items() if versions]
    except ServerError as error:
        raise ServerError(f"{url}: cannot be asked for its models: {error}") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveSide:
    """A server that serves."""

    name: str
    settings: ProfileSettings
    bench: PlainBench

    @property
    def is_ours(self) -> bool:
        """Whether it was started here."""
        return self.settings.server.launch is not LaunchMode.REMOTE

    @property
    def answers_grpc(self) -> bool:
        """Whether its address for gRPC is known."""
        return self.is_ours or bool(self.settings.server.grpc_endpoints)

    @property
    def models(self) -> Mapping[str, Subject]:
        return {subject.name: subject for subject in self.bench.serving.subjects}

    @property
    def server(self) -> TritonServer:
        return self.bench.server

    @property
    def version(self) -> str:
        return self.bench.serving.version

    def trial(self, model: str, load: Load | None) -> Trial:
        """A round of the configuration that is served. Without a load, there are as many requests
        at once as keep all its instances busy.
        """
        subject = self.models[model]
        (searched,) = subject.models
        variant = VariantNames().default(searched.facts)
        if load is None:
            filling = variant.filling_concurrency(gpus=len(subject.setup.devices))
            load = Load(kind=LoadKind.CONCURRENCY, value=min(filling, _MOST_AT_ONCE))
        work = replace(searched.workload(variant, 1, 1), load=load)
        return Trial(workloads=(work,), setup=subject.setup, round_s=_ROUND_S)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Both servers. Only one of them runs at a time if they are `alternating`."""

    base: LiveSide
    new: LiveSide
    alternating: bool

    def turn(self, server: TritonServer) -> None:
        """To be called before this server is used."""
        for side in (self.base, self.new) if self.alternating else ():
            if side.server is not server:
                side.server.stop()


def start(base: Target, new: Target, caller: Caller, stack: ExitStack) -> Sides:
    """Starts both servers; the `stack` ends them. Raises ConfigError, RepositoryError or
    ServerError.
    """
    one, two = (_Start.of(target, stack) for target in (base, new))
    # both sides are measured by the same program
    is_older = is_before(one.place.perf_analyzer.version, two.place.perf_analyzer.version)
    program = (two if is_older else one).place.perf_analyzer
    one, two = (
        replace(each, place=replace(each.place, perf_analyzer=program)) for each in (one, two)
    )
    first = one.served(caller, stack)
    needed = read_resources(first.server.processes).memory * _BYTES_PER_MB
    alternating = needed > most_memory_of_each(1)
    if alternating:
        first.server.stop()
    try:
        second = two.served(caller, stack)
    except ServerError as error:
        if alternating or not (one.is_ours and two.is_ours):
            raise
        log.info("NEW does not start beside BASE (%s): trying again without BASE", error)
        first.server.stop()
        second, alternating = two.served(caller, stack), True
    if alternating:
        log.info("There is no memory for two servers: each starts anew for its rounds")
    return Sides(base=first, new=second, alternating=alternating)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What a side needs to start; it writes below `work`."""

    name: str
    job: Job
    checked: Preflight
    place: Workplace
    work: Path

    @classmethod
    def of(cls, target: Target, stack: ExitStack) -> _Start:
        work = stack.enter_context(Workspace())
        job = fetched_for_user(replace(target.job, settings=_settings(target, work)), stack)
        if target.configurations is not None:
            job = _with_configurations(job, target.configurations, work / "repository")
        if job.settings.server.installs_runtime:
            provide_programs(job.settings, job.environment)
        checked = preflight(job, stack)
        checked.raise_any()
        place = prepare(job, checked, stack)
        return cls(name=target.name, job=job, checked=checked, place=place, work=work)

    @property
    def is_ours(self) -> bool:
        return self.job.settings.server.launch is not LaunchMode.REMOTE

    def served(self, caller: Caller, stack: ExitStack) -> LiveSide:
        """Starts the server with all models, or reaches it."""
        devices, repository = self.checked.devices, None
        setup = devices.setups[self.job.settings.models[0].name]
        if self.place.repository is not None:
            facts = self.place.facts.values()
            repository = self.work / "models"
            if not repository.exists():
                stage(ModelRepository(self.place.repository.path), facts, repository)
            parts = {part.name: None for each in facts for part in each.with_parts()}
            setup = plain_setup(setup, [*parts])
        devices = replace(devices, setups=dict.fromkeys(devices.setups, setup))
        log.info("Starting %s" if self.is_ours else "Connecting to %s", self.name)
        bench = plain_bench(
            self.job, devices, self.place, setup, self.work, repository, caller, stack
        )
        return LiveSide(name=self.name, settings=self.job.settings, bench=bench)


def _settings(target: Target, work: Path) -> ProfileSettings:
    """Those of a run that searches nothing and writes only below `work`."""
    settings = target.job.settings
    if settings.server.launch is LaunchMode.C_API:
        raise wrong("--live", "in launch mode c_api there is no server to compare")
    models = [
        replace(
            model,
            mode=None,
            batch_sizes=(1,),
            load_kind=LoadKind.CONCURRENCY,
            loads=(1,),
            traffic=None,
            parameters=empty(),
        )
        for model in settings.models
    ]
    server = settings.server
    if server.launch is not LaunchMode.REMOTE:  # both at free ports
        server = replace(server, http_endpoints=(), grpc_endpoints=(), metrics_urls=(), log=None)
    return replace(
        settings,
        models=tuple(models),
        server=server,
        composing=empty(),
        search=replace(settings.search.without_search, together=False),
        repository=replace(settings.repository, output=work / "output", override_output=False),
        checkpoint=replace(settings.checkpoint, disabled=True),
        export=replace(settings.export, path=work / "results"),
    )


def _with_configurations(job: Job, configurations: Path, target: Path) -> Job:
    """The job with a copy of its model repository, in which these configurations count."""
    source = job.settings.repository.path
    assert source is not None, "the options give a model repository"
    for name in model_names(source):
        link_tree(source / name, target / name)
    for name in model_names(configurations):
        config = target / name / CONFIG
        try:
            text = (configurations / name / CONFIG).read_bytes()
            config.unlink(missing_ok=True)  # a link to that of the user
            config.write_bytes(text)
        except OSError as error:
            raise RepositoryError(
                f"{configurations / name} has no model, and {source / name} with its configuration"
                f" cannot be written: {words_of(error)}: give its files with --model-repository"
            ) from error
    repository = replace(job.settings.repository, source=target)
    return replace(job, settings=replace(job.settings, repository=repository))


log = logging.getLogger(__name__)

_OUTPUTS_S = 20.0  # about, for asking both servers
_TOLD_EVERY = 5  # pairs
_MOST_FAILURES = 3  # in a row: one may be chance on a busy machine

_OUTPUT_WORDS = {
    Verdict.PASSED: "right: ",
    Verdict.FAILED: "other outputs: ",
    Verdict.UNKNOWN: "not compared: ",
}

# Known differences between two versions of Triton, as far as they concern a model;
# docs/versions.md has the whole list, also of what only a profiler notices. Each row: from which
# version on, what is so, and what it touches (see `_traits`).
_CHANGES = (
    ("2.33", "the response cache is a library that --cache-config sets up", "cached"),
    ("2.36", "clients see the end of a decoupled model's responses", "decoupled"),
    ("2.36", "a model without instance_group loads on a machine without GPU", "unplaced"),
    ("2.39", "a Python model is told about cancelled requests", "python"),
    ("2.39", "nv_inference_pending_request_count is among the metrics", "any"),
    ("2.44", "HTTP answers errors with 404, 500 and 503 (before, with 400)", "http"),
    ("2.44", "loading an ensemble keeps configurations given for its parts", "ensemble"),
    ("2.48", "nv_inference_request_failure has a series for each reason (before, one)", "any"),
    ("2.68", "shared memory of clients needs --allow-client-shm=true", "shared memory"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LiveQuestion:
    """What is asked about two servers: the metrics `tags`, and the `rules` (see `judge`). It ends
    after `budget_s` seconds. `loads` are by model, `load` is that of all others (see
    `LiveSide.trial`).
    """

    tags: Sequence[str]
    rules: Sequence[Rule]
    strict: bool
    budget_s: float
    load: Load | None = None
    loads: Mapping[str, Load] = field(default_factory=empty)


def compare_live(
    base: Target, new: Target, question: LiveQuestion, caller: Caller
) -> ComparisonReport:
    """The comparison of two servers. An interrupt ends it with what is known then. Raises
    ConfigError, RepositoryError or ServerError if nothing can be compared.
    """
    until = time.monotonic() + question.budget_s
    with ExitStack() as stack:
        with caller.interrupts.interruptible():
            sides = start(base, new, caller, stack)
        names = [name for name in sides.base.models if name in sides.new.models]
        if not names:
            had, has = (first_few([*side.models]) for side in (sides.base, sides.new))
            raise wrong("--live", f"no model is on both sides: BASE has {had}, NEW has {has}")
        looks = []
        for left, name in zip(range(len(names), 0, -1), names, strict=True):
            load = question.loads.get(name, question.load)
            trial = sides.base.trial(name, load)
            looks.append(
                _Look(
                    name=name,
                    trials=(trial, sides.new.trial(name, trial.workloads[0].load)),
                    pairs=Pairs(
                        values={tag: [] for tag in question.tags},
                        intervals=len(question.tags) * len(names),
                    ),
                )
            )
            now = time.monotonic()
            try:
                looks[-1].measure(sides, question.rules, now + (until - now) / left, caller)
            except Interrupted:
                break
            if caller.interrupts.requested:
                break
        for side in (sides.base, sides.new):
            side.server.stop()
    return _report(sides, looks, question)


@dataclass(slots=True, kw_only=True)
class _Look:
    """What is seen of a model: the rounds of BASE and of NEW, with the values of each pair; the
    verdict on the outputs with its reason, None if they were not asked for; and the side that
    cannot be measured (0 is BASE) with the reason, None if both can.
    """

    name: str
    trials: tuple[Trial, Trial]
    pairs: Pairs
    records: tuple[list[TrialRecord], list[TrialRecord]] = field(default_factory=lambda: ([], []))
    outputs: tuple[Verdict, str] | None = None
    failed: tuple[int, Failure] | None = None
    count: int = 0
    seconds: float = 0.0

    def measure(self, sides: Sides, rules: Sequence[Rule], until: float, caller: Caller) -> None:
        """Compares outputs, then measures pairs until enough is known, or until then. Raises
        Interrupted.
        """
        with caller.interrupts.interruptible():
            self.outputs = self._outputs(sides)
        began = last = time.monotonic()
        longest, failures = 0.0, 0
        while not self.count or last + longest < until:
            for place in (0, 1) if self.count % 2 == 0 else (1, 0):
                if caller.interrupts.requested:
                    return
                outcome = self._round(sides, place)
                if isinstance(outcome, Failure):
                    break
            longest, last = max(longest, time.monotonic() - last), time.monotonic()
            if isinstance(outcome, Failure):
                failures += 1
                if failures == _MOST_FAILURES:
                    self.failed = (place, outcome)
                    return
                continue
            failures, self.seconds = 0, last - began
            self._count_pair()
            if self.count % _TOLD_EVERY == 0:
                log.info("%s, %d pairs: %s", self.name, self.count, conclusion(self.pairs))
            if self.pairs.is_decided(rules):
                return

    def _count_pair(self) -> None:
        self.count += 1
        old, later = (records[-1].outcome for records in self.records)
        assert isinstance(old, Measurement)
        assert isinstance(later, Measurement)
        for tag, pairs in self.pairs.values.items():
            before, now = old.value(tag), later.value(tag)
            if before and now:
                pairs.append((before, now))

    def _round(self, sides: Sides, place: int) -> Outcome:
        """Measures a round of BASE (0) or of NEW (1)."""
        bench = (sides.base, sides.new)[place].bench
        sides.turn(bench.server)
        trial = replace(self.trials[place], repetition=len(self.records[place]))
        outcome = bench.runner.run(trial)
        self.records[place].append(TrialRecord(trial=trial, outcome=outcome))
        return outcome

    def _outputs(self, sides: Sides) -> tuple[Verdict, str] | None:
        base, new = sides.base, sides.new
        options = OutputOptions(**base.settings.outputs)
        if options.check is False:
            return None
        if not (base.answers_grpc and new.answers_grpc):
            return Verdict.UNKNOWN, "its outputs: that needs gRPC"
        log.info("%s: comparing outputs", self.name)
        check = OutputCheck(
            base.server, base.models[self.name], options, _OUTPUTS_S, reference="BASE"
        )
        ruling = check.of_two_servers(new.server, *self.trials, sides.turn)
        return ruling.verdict, ruling.sentence

    def rankings(self, sides: Sides) -> tuple[Ranking, Ranking]:
        """The rounds as two runs that measured only them."""
        goal = sides.base.models[self.name].goal
        base, new = (
            rank(Profile(records=tuple(records)), self.name, goal)[0] for records in self.records
        )
        return base, new


def _report(sides: Sides, looks: Sequence[_Look], question: LiveQuestion) -> ComparisonReport:
    counted = [look for look in looks if look.count or (look.failed and look.failed[0] == 1)]
    known = [(look, look.rankings(sides)) for look in counted]
    remarks = [text for look in looks for text in _remarks(look, sides)]
    remarks += _left_out(sides)
    if not known:
        raise ServerError("; ".join(["nothing was compared", *remarks]))
    comparisons = [
        _comparison(look, rankings, tuple(_once(look, sides))) for look, rankings in known
    ]
    return ComparisonReport(
        base=_side(sides.base),
        new=_side(sides.new),
        differences=tuple(dict.fromkeys(_differences(sides, comparisons))),
        remarks=tuple(dict.fromkeys(remarks)),
        comparisons=tuple(comparisons),
        rankings=tuple(rankings for _, rankings in known),
        judgements=tuple(
            judge(rule, comparison, strict=question.strict)
            for comparison in comparisons
            for rule in question.rules
        ),
    )


def _comparison(
    look: _Look, rankings: tuple[Ranking, Ranking], once: tuple[tuple[str, float, float], ...]
) -> ModelComparison:
    base, new = rankings
    tags, pairs = tuple(look.pairs.values), look.pairs
    best = None
    if look.failed is None or look.failed[0] == 0:
        best = ComparedPair(
            base=base.results[0].best,
            new=new.results[0].best,
            changes={tag: pairs.change(tag) for tag in tags},
            new_values={tag: pairs.new_value(tag) for tag in tags},
        )
    return ModelComparison(
        model=look.name,
        tags=tags,
        best=best,
        trials=(),
        taken_over=0,
        overall=dict.fromkeys(tags, median_change([])),
        live=Live(
            pairs=look.count,
            values=pairs.values,
            seconds=look.seconds,
            outputs=look.outputs,
            once=once,
        ),
    )


def _side(side: LiveSide) -> Side:
    return Side(name=side.name, uuid="", time=f"Triton {side.version}")


def _left_out(sides: Sides) -> Iterator[str]:
    """Models that only one side has."""
    base, new = sides.base.models, sides.new.models
    for name, only in (("BASE", base.keys() - new.keys()), ("NEW", new.keys() - base.keys())):
        if only:
            yield f"only in {name}, so not compared: {first_few(sorted(only))}"


def _once(look: _Look, sides: Sides) -> Iterator[tuple[str, float, float]]:
    """What is known of both sides, but not in pairs: what it is, and both values."""
    if sides.base.is_ours and sides.new.is_ours:
        yield "Server ready (s)", sides.base.bench.ready_s, sides.new.bench.ready_s
    base, new = (
        [
            each.outcome.resources.memory_after
            for each in records
            if isinstance(each.outcome, Measurement) and each.outcome.resources is not None
        ]
        for records in look.records
    )
    if base and new:
        yield "Memory of the server (MB)", median(base), median(new)


def _differences(
    sides: Sides, comparisons: Sequence[ModelComparison]
) -> Iterator[tuple[str, str, str]]:
    """What differs in how the servers and models are set up."""
    if sides.base.version != sides.new.version:
        yield "Triton", sides.base.version, sides.new.version
    for best in (comparison.best for comparison in comparisons):
        if best is not None:
            for each in trial_differences(best.base.trial, best.new.trial):
                yield each.subject, each.then, each.now
            for name, before, now in configuration_changes(best.base, best.new):
                yield f"{best.base.trial.workloads[0].variant.model}: {name}", before, now


def _remarks(look: _Look, sides: Sides) -> Iterator[str]:
    """What was found about a model, in sentences, the most important first."""
    if look.outputs is not None:
        verdict, sentence = look.outputs
        yield f"{look.name}: {_OUTPUT_WORDS[verdict]}{sentence}"
    if look.failed is not None:
        place, failure = look.failed
        yield f"{look.name}: {('BASE', 'NEW')[place]} failed: {failure.message}"
    if look.count:
        yield f"{look.name} {under(look.trials[0])}: {conclusion(look.pairs)}"
    yield from known_changes(sides.base.version, sides.new.version, look.trials[0])


def known_changes(base: str, new: str, trial: Trial) -> Iterator[str]:
    """What differs between servers of these versions for the models of a trial, in sentences."""
    traits = {*_traits(trial)}
    for since, what, touched in _CHANGES:
        if is_before(base, since) != is_before(new, since) and touched in traits:
            yield f"known between Triton {short(base)} and {short(new)}: from {since} on, {what}"


def _traits(trial: Trial) -> Iterator[str]:
    yield from ("any", trial.setup.protocol)
    for work in trial.workloads:
        config = work.variant.config
        holds = {
            "cached": is_cached(config),
            "decoupled": is_decoupled(config),
            "unplaced": "instance_group" not in config,
            "ensemble": work.variant.is_ensemble,
            "shared memory": shares_memory(work.flags),
            platform_of(config): True,
        }
        yield from (trait for trait, is_so in holds.items() if is_so)
