# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The measurements of a run: its state, its bench, and the searches; and a test, before the first
trial, whether slots that share a host slow each other down.

In the test, one trial runs alone on a slot, and then on all slots at once. The two alternate, so
that drift of the machine affects both alike. Outcomes of the test are no outcomes of the search:
they are neither recorded nor told to it.

A run that adds measurements of one model to its checkpoint, after the searches.

They are taken as those that are known: of the same model, on the same kind of server.
"""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from statistics import fmean, stdev
from types import MappingProxyType

from model_analyzer.app.bench.bench import Bench, set_up
from model_analyzer.app.bench.devices import Devices, Job
from model_analyzer.app.bench.workplace import Serving, Workplace, claim_output, serve
from model_analyzer.app.progress.events import Phase
from model_analyzer.app.progress.tracker import Tracker
from model_analyzer.app.resume import log_changed_secrets, open_state, settle_differences
from model_analyzer.app.run.beginning import Beginning, begin
from model_analyzer.app.run.caller import Caller, followed
from model_analyzer.app.selection import ranked
from model_analyzer.config.resolve import search_settings
from model_analyzer.domain.costs import with_metered_power
from model_analyzer.domain.goals import Goal
from model_analyzer.domain.hardware import place_text
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import VariantNames, group_members, group_name
from model_analyzer.domain.profiles import Profile
from model_analyzer.domain.protocols import Executor
from model_analyzer.domain.settings import ExecutorKind, ModelSettings, ProfileSettings
from model_analyzer.domain.slots import Finished, Lost, SharedHost, Shift
from model_analyzer.domain.trials import Failure, Load, Trial
from model_analyzer.domain.windows import Window
from model_analyzer.domain.words import counted, first_few
from model_analyzer.errors import EXIT_OK, EXIT_RUN_FAILED, CheckpointError, Interrupted, wrong
from model_analyzer.forecast.time_left import time_left
from model_analyzer.noise.noise import Noise
from model_analyzer.profiling.loop import TrialFinished
from model_analyzer.profiling.loop import profile as measure_all
from model_analyzer.results.conditions import differences
from model_analyzer.results.ranking import Ranking
from model_analyzer.runner.host import core_count, describe_host, whole_seconds
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.search.choose import choose, refused_variants
from model_analyzer.search.plan import Plan, PlannedSearch, Subject, by_name
from model_analyzer.state.mismatch import Run
from model_analyzer.state.profile_state import ProfileState

log = logging.getLogger(__name__)

# The feature behind `--executor ray`, which is imported when a run asks for it.
_CLUSTER = "model_analyzer.features.cluster.cluster_bench"
# And the one that proves the outputs of what is recommended.
_OUTPUTS = "model_analyzer.features.proof.outputs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A run that can measure."""

    job: Job
    devices: Devices
    place: Workplace
    bench: Bench
    state: ProfileState

    @property
    def priced(self) -> Profile:
        """Everything recorded so far, with the prices of the run."""
        return replace(self.state.profile, prices=self.job.prices)


def make_ready(
    beginning: Beginning, caller: Caller, stack: ExitStack, *, is_search: bool = True
) -> Session:
    """Opens the state, and waits for the server or the slots. If it `is_search`, it also compares
    the search settings with those of the checkpoint, and observes the idle server.
    """
    job, place = beginning.job, beginning.place
    state = open_state(
        job.settings.checkpoint,
        place.work,
        stack,
        ask=caller.ask,
        impatience=caller.interrupts.further,
    )
    caller.tracker.run_started([group_name(names) for names in job.settings.subjects])
    caller.tracker.phase(Phase.STARTING_SERVER)
    bench = _make_bench(beginning, caller, stack)
    state.fold()  # slots of a killed run end before new ones start on their hosts
    searches = _searches(bench.serving.subjects, job.settings) if is_search else {}
    _resume(beginning, state, bench.serving, searches, caller)
    session = Session(job=job, devices=beginning.devices, place=place, bench=bench, state=state)
    if is_search:
        _observe_idle(session, caller.tracker)
    return session


def _searches(
    subjects: Sequence[Subject], settings: ProfileSettings
) -> Mapping[str, Mapping[str, str]]:
    """The search settings of each subject, by name."""
    return {
        subject.name: search_settings(settings, group_members(subject.name)) for subject in subjects
    }


def _make_bench(beginning: Beginning, caller: Caller, stack: ExitStack) -> Bench:
    """Waits for the server, or starts the slots: of a cluster, or of several remote servers."""
    job, devices, place = beginning.job, beginning.devices, beginning.place
    interruptible = caller.interrupts.interruptible
    conceal, show = caller.conceal, caller.audience.print
    if beginning.server is not None:
        serving = serve(job, devices, place, beginning.server)
        claim_output(job.settings, stack)
        return set_up(
            job,
            place,
            serving,
            beginning.server,
            conceal=conceal,
            show=show,
            tell=caller.tracker.overdue,
            interruptible=interruptible,
        )
    claim_output(job.settings, stack)
    if job.settings.executor.kind is ExecutorKind.RAY:
        cluster = import_module(_CLUSTER)
        bench: Bench = cluster.set_up_slots(job, devices, place, stack, interruptible=interruptible)
        return bench
    from model_analyzer.app.bench.remote_slots import set_up_servers

    return set_up_servers(
        job, devices, place, stack, conceal=conceal, show=show, interruptible=interruptible
    )


def _resume(
    beginning: Beginning,
    state: ProfileState,
    serving: Serving,
    searches: Mapping[str, Mapping[str, str]],
    caller: Caller,
) -> None:
    """Compares this machine with the machine of the checkpoint, and records it."""
    settings = beginning.job.settings
    run = Run(
        machines=serving.machines,
        ignores_gpus=settings.monitors.ignore_gpus,
        server=serving.description,
        models=serving.facts.values(),
        searches=searches,
    )
    with caller.tracker.paused():  # it may ask
        settle_differences(state, run, settings.checkpoint, caller.ask)
    log_changed_secrets(state, beginning.devices.setups)
    perf_analyzer = beginning.place.perf_analyzer
    state.describe(
        devices=serving.gpus.devices,
        host={
            **describe_host(),
            "Server": serving.description,
            "perf_analyzer": f"{perf_analyzer.version} ({perf_analyzer.path})",
            "Protocol": settings.server.spoken,
        },
        cores=core_count(),
    )


def _observe_idle(session: Session, tracker: Tracker) -> None:
    """Records the GPU metrics of the server without a model, unless the checkpoint has them."""
    settings, state = session.job.settings, session.state
    serving, monitors = session.bench.serving, settings.monitors
    if not (serving.gpus.devices and monitors.idle_s and settings.observes_idle):
        if state.newest is None:
            log.info("Profiling server only metrics... left out: no GPU to observe")
        return
    if set(state.profile.server_only) == {device.uuid for device in serving.gpus.devices}:
        return
    if not isinstance(serving.server, TritonServer):
        log.info("Profiling server only metrics... left out: no server without a model here")
        return
    log.info("Profiling server only metrics...")
    tracker.phase(Phase.OBSERVING_IDLE_SERVER)
    with serving.gpus.monitor(monitors.interval_s) as monitor:
        serving.server.rest(monitors.idle_s)
    observed = monitor.observation
    state.record_server_only(with_metered_power(observed.gpus, observed.counters))


def measure(session: Session, caller: Caller) -> bool:
    """Runs the search of every subject; returns False if the run was interrupted."""
    settings, state, subjects = session.job.settings, session.state, session.bench.subjects
    slots = session.bench.executor.slots
    estimate = partial(time_left, settings=settings, slots=Counter(slot.kind for slot in slots))
    caller.tracker.searches(subjects, estimate)
    groups = by_name(subjects)
    for placed in groups:  # also for subjects that an interrupted run does not reach
        subject = placed[0]
        state.record_search(
            subject.name,
            search_settings(settings, group_members(subject.name)),
            subject.goal,
            subject.bases,
            [each.setup.kind for each in placed],
            refused_variants(subject, settings.search),
        )
    _test_shared_hosts(groups[0], session, caller)
    for index, placed in enumerate(groups):
        if caller.interrupts.requested:
            return False
        caller.tracker.model_started(index, slots)
        _search(placed, session, caller)
        if not caller.interrupts.requested and settings.outputs.get("check", True):
            import_module(_OUTPUTS).check_outputs(session, placed, caller)
        state.save(is_last=False)
    return not caller.interrupts.requested


def _test_shared_hosts(placed: Sequence[Subject], session: Session, caller: Caller) -> None:
    """Tests hosts with several slots with the first subject, on all kinds of hardware."""
    if session.bench.shared:
        caller.tracker.phase(Phase.TESTING_SLOTS)
        examine_shared_hosts(
            session.bench.shared,
            placed,
            session.bench.executor,
            session.state,
            is_stopping=lambda: caller.interrupts.requested,
        )


def _search(placed: Sequence[Subject], session: Session, caller: Caller) -> None:
    """Runs the search for a subject, on all kinds of hardware at the same time."""
    settings, state = session.job.settings, session.state
    profile = session.priced
    complete = profile.completion(placed[0].goal)
    names = VariantNames.known(profile.variants)
    adaptive = settings.search.adaptive
    if not adaptive.counts_earlier_runs:
        adaptive = replace(adaptive, since=whole_seconds())
    chosen = replace(settings.search, adaptive=adaptive)
    searches = {each.lane: choose(each, chosen, names) for each in placed}
    events = measure_all(
        searches,
        session.bench.executor,
        state,
        complete=complete,
        is_stopping=lambda: caller.interrupts.requested,
    )
    for event in events:
        caller.tracker.tell(event)
        if isinstance(event, TrialFinished):
            for work in event.trial.workloads:
                session.bench.output.write(work.variant)
    caller.tracker.model_finished()
    for lane, search in searches.items():
        if search.conclusion is not None:
            state.record_conclusion(lane, search.conclusion)


# Requests in flight: enough to keep a model busy, and to see a change of its throughput.
_CONCURRENCY = 8

# Three windows are taken as they are. Those of perf_analyzer take a second each, or longer for a
# slow model. The user's windows are kept if they are not longer.
_LONGEST_MS = 1000
_WINDOWS = frozenset(
    {"measurement-mode", "measurement-interval", "measurement-request-count", "request-count"}
)
_NO_LOADS = frozenset({"request-intervals"})
_ACCEPTS_ALL = {"stability-percentage": "999"}


def examine_shared_hosts(
    shared: Mapping[str, Sequence[str]],
    subjects: Iterable[Subject],
    executor: Executor,
    state: ProfileState,
    *,
    is_stopping: Callable[[], bool],
) -> None:
    """Tests the slots (names by host) that share a host, unless the state has the result; records
    and logs it. `subjects` are those of a model, one for each kind of hardware: a host is tested
    with that of its first slot.
    """
    kinds = {slot.name: slot.kind for slot in executor.slots}
    for subject in subjects:
        hosts = {
            host: names for host, names in shared.items() if kinds[names[0]] == subject.setup.kind
        }
        _examine(hosts, subject, executor, state, is_stopping)


def _examine(
    shared: Mapping[str, Sequence[str]],
    subject: Subject,
    executor: Executor,
    state: ProfileState,
    is_stopping: Callable[[], bool],
) -> None:
    """Tests hosts with the same kind of hardware."""
    trial = plain_trial(subject)
    known = state.profile.shared_hosts
    due = {
        host: slots
        for host, slots in shared.items()
        if host not in known or not known[host].covers(host, len(slots), trial.key)
    }
    if due:
        log.info(
            "Testing how much slots on one host slow each other down (%s): %s of %s on one slot,"
            " then on all",
            first_few(list(due)),
            counted(PAIRS, "measurement"),
            trial,
        )
    results = compare_shared(executor, trial, due, is_stopping=is_stopping) if due else {}
    for host in shared:
        result = results.get(host) if host in due else known[host]
        if isinstance(result, SharedHost):
            if host in due:
                state.record_shared_host(result)
            _tell(result)
        elif result is not None:
            log.warning("The slots on %s could not be tested: %s", host, result)


def plain_trial(subject: Subject) -> Trial:
    """The default configuration of the first model, under a plain load."""
    model = subject.models[0]
    variant = VariantNames().default(model.facts)
    work = model.workload(variant, _CONCURRENCY, 1)
    window = Window.of(work.flags)
    is_short = window.is_timed and window.length_ms <= _LONGEST_MS
    dropped = _NO_LOADS if is_short else _NO_LOADS | _WINDOWS
    flags = {name: value for name, value in work.flags.items() if name not in dropped}
    work = replace(work, load=Load(value=_CONCURRENCY), flags={**flags, **_ACCEPTS_ALL})
    return subject.trial(work)


def _tell(result: SharedHost) -> None:
    if result.is_too_slow:
        log.warning(
            "%s. Measurements are slower than with one slot, and depend on what the others measure:"
            " use a smaller --slots-per-host",
            result.sentence,
        )
    else:
        log.info("%s", result.sentence)


# Each is one measurement alone, and one on all slots at once.
PAIRS = 5

_THROUGHPUT, _LATENCY = "perf_throughput", "perf_latency_p99"


@dataclass(slots=True)
class _Host:
    """The changes of each pair so far, as logarithms; `fault` is why the test failed, or ""."""

    name: str
    slots: Sequence[str]
    changes: dict[str, list[float]] = field(default_factory=dict)
    started: float = 0.0
    fault: str = ""

    def add(self, alone: Outcome, together: Sequence[Outcome]) -> None:
        outcomes = [outcome for outcome in (alone, *together) if isinstance(outcome, Measurement)]
        self.started = self.started or outcomes[0].started
        for tag in (_THROUGHPUT, _LATENCY):
            values = [outcome.model_value(0, tag) or 0.0 for outcome in outcomes]
            if min(values) > 0:
                ratio = math.log(fmean(values[1:]) / values[0])
                self.changes.setdefault(tag, []).append(ratio)

    def result(self, trial: Trial) -> SharedHost | str:
        """The result, or why there is none."""
        throughput, latency = (self.changes.get(tag, ()) for tag in (_THROUGHPUT, _LATENCY))
        if self.fault or len(throughput) < 2:
            return self.fault or "no throughput was measured"
        return SharedHost(
            host=self.name,
            slots=len(self.slots),
            model=trial.models,
            trial=trial.key,
            throughput=shift_of(throughput),
            latency_p99=shift_of(latency) if len(latency) > 1 else None,
            started=self.started,
        )


def shift_of(ratios: Sequence[float]) -> Shift:
    """The mean of changes (at least two), each a natural logarithm of a ratio."""
    error = stdev(ratios) / math.sqrt(len(ratios))
    noise = Noise(error=error, freedom=len(ratios) - 1.0)
    mean = fmean(ratios)
    return Shift(math.expm1(mean) * 100, math.exp(mean) * noise.percent)


def compare_shared(
    executor: Executor,
    trial: Trial,
    hosts: Mapping[str, Sequence[str]],
    *,
    is_stopping: Callable[[], bool] = lambda: False,
) -> Mapping[str, SharedHost | str]:
    """The result for each of the `hosts`, which have the names of their slots (at least two each);
    or why there is none. All hosts are tested at the same time. Nothing, if it `is_stopping`.
    """
    tested = [_Host(name, slots) for name, slots in hosts.items()]
    _run(executor, trial, tested, lambda host: host.slots)  # loads the model everywhere
    for _ in range(PAIRS):
        if is_stopping():
            return {}
        alone = _run(executor, trial, tested, lambda host: host.slots[:1])
        together = _run(executor, trial, tested, lambda host: host.slots)
        for host in tested:
            if not host.fault:
                host.add(alone[host.slots[0]], [together[slot] for slot in host.slots])
    return {host.name: host.result(trial) for host in tested}


def _run(
    executor: Executor,
    trial: Trial,
    hosts: Iterable[_Host],
    chosen: Callable[[_Host], Sequence[str]],
) -> Mapping[str, Outcome]:
    """The outcomes of the trial on the chosen slots of all hosts without a fault, at once. Notes
    the faults of hosts.
    """
    places = {slot: host for host in hosts if not host.fault for slot in chosen(host)}
    free = {slot.name: slot for slot in executor.free} if places else {}
    started = [name for name in places if name in free]
    for name in places:
        if name in free:
            executor.start(trial, free[name], is_test=True)
        else:
            places[name].fault = f"{name} was lost"
    outcomes: dict[str, Outcome] = {}
    running = set(started)
    while running:
        finished = executor.wait()
        if not isinstance(finished, Finished):  # a slot works again, or a trial takes long
            continue
        running.discard(finished.slot.name)
        name, result = finished.slot.name, finished.result
        match result:
            case Lost(reason):
                places[name].fault = f"{name} was lost: {reason}"
            case Failure():
                places[name].fault = result.message
            case Measurement():
                outcomes[name] = result
    return outcomes


# What to measure of a subject, given what is known so far.
ExtraPlan = Callable[[ProfileState, Subject], Plan]
Act = Callable[[Session, Caller], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extra:
    """Measurements to add: of a `model`, for the `option` of the command line that asks for them.

    `purpose` is what they are for, in a word. About `usual_trials` are expected. `conditions` is
    the number of the group that they are compared with by the `goal`; None means that of the run.
    """

    model: str
    goal: Goal
    conditions: int | None
    option: str
    purpose: str
    usual_trials: int

    def job(self, job: Job, change: Callable[[ModelSettings], ModelSettings]) -> Job:
        """The job that measures only this model, with changed settings, at loads that are chosen
        later.
        """
        models = [model for model in job.settings.models if model.name == self.model]
        if not models:
            raise wrong(self.option, f"the run does not profile {self.model}")
        (goal,) = self.goal.models
        model = replace(
            models[0], goal=goal, mode=None, loads=(1,), parameters=MappingProxyType({})
        )
        search = replace(job.settings.search.without_search, together=False)
        settings = replace(job.settings, models=(change(model),), search=search)
        return replace(job, settings=settings)

    def ranking(
        self, state: ProfileState, subject: Subject, settings: ProfileSettings
    ) -> Ranking | None:
        """The ranking on the hardware of the subject; None if nothing was measured on it."""
        rankings = ranked(state.profile, self.model, self.goal, self.conditions, settings)
        return next((each for each in rankings if each.kind == subject.setup.kind), None)


def measure_extra(job: Job, extra: Extra, plan: ExtraPlan, caller: Caller, run: Job) -> int:
    """Measures what the plan asks for; the exit status. The outcomes are in the checkpoint. `job`
    comes from `Extra.job`, for the whole `run`. Raises ConfigError or CheckpointError if the model
    cannot be measured as before.
    """
    return in_session(job, extra, partial(_measure_all, extra, plan), caller, run)


def in_session(job: Job, extra: Extra, act: Act, caller: Caller, run: Job) -> int:
    """Calls `act` with the server of the run, as `measure_extra` does."""
    return followed(job, caller, _Acting(extra, act, run.settings).run)


class _Acting:
    """Does something in a session; `settings` are those of the whole run."""

    def __init__(self, extra: Extra, act: Act, settings: ProfileSettings) -> None:
        self._extra = extra
        self._act = act
        self._settings = settings

    def run(self, job: Job, caller: Caller) -> int:
        interrupts = caller.interrupts
        with ExitStack() as stack:
            with interrupts.interruptible():
                session = make_ready(begin(job, stack), caller, stack, is_search=False)
            try:
                for subject in session.bench.subjects:
                    self._check(session.state, subject)
                self._act(session, caller)
            except Interrupted:
                session.state.save()
                return EXIT_RUN_FAILED
            session.state.save()
            with interrupts.interruptible():
                session.bench.serving.server.begin_stop()
                session.bench.serving.server.stop()
        return EXIT_RUN_FAILED if interrupts.requested else EXIT_OK

    def _check(self, state: ProfileState, subject: Subject) -> None:
        """Raises CheckpointError if new measurements could not be compared with those of the
        checkpoint.
        """
        model = self._extra.model
        known = state.profile.bases.get(model)
        if known is not None and known != subject.bases:
            raise CheckpointError(
                f"{model} has changed since the checkpoint: run `model-analyzer profile` first"
            )
        ranking = self._extra.ranking(state, subject, self._settings)
        if ranking is None or ranking.group is None:
            raise CheckpointError(
                f"{subject.name} was not measured {place_text(subject.setup.kind)}: run"
                " `model-analyzer profile` first"
            )
        then = ranking.group.sample
        now = replace(then, setup=subject.setup)
        changed = [] if then.setup.identity == now.setup.identity else differences(then, now)
        if changed:
            raise CheckpointError(
                f"{model} was measured on another server ({'; '.join(map(str, changed))}): choose"
                " the measurements of this server with --conditions, or profile it again"
            )


def _measure_all(extra: Extra, plan: ExtraPlan, session: Session, caller: Caller) -> None:
    subjects, slots = session.bench.subjects, session.bench.executor.slots
    estimate = partial(
        time_left,
        settings=session.job.settings,
        slots=Counter(slot.kind for slot in slots),
        trials=extra.usual_trials,
    )
    caller.tracker.searches(subjects, estimate)
    caller.tracker.model_started(0, slots)
    events = measure_all(
        {
            # apart from the questions of its search
            subject.lane._replace(subject=f"{extra.purpose} of {subject.name}"): (
                PlannedSearch(plan(session.state, subject), None)
            )
            for subject in subjects
        },
        session.bench.executor,
        session.state,
        is_stopping=lambda: caller.interrupts.requested,
    )
    for event in events:
        caller.tracker.tell(event)
    caller.tracker.model_finished()


def repetition(trial: Trial, state: ProfileState) -> Trial:
    """The trial, or the first repetition of it that has no outcome yet."""
    while state.outcome_of(trial) is not None:
        trial = replace(trial, repetition=trial.repetition + 1)
    return trial
