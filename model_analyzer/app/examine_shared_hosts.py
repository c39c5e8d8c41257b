# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Before the first trial: whether slots that share a host slow each other down.

One trial runs alone on a slot, and then on all slots at once. The two alternate, so that drift of
the machine affects both alike. Outcomes of the test are no outcomes of the search: they are neither
recorded nor told to it.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, stdev

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.protocols import Executor
from model_analyzer.domain.slots import Finished, Lost, SharedHost, Shift
from model_analyzer.domain.trials import Failure, Load, Trial
from model_analyzer.domain.windows import Window
from model_analyzer.domain.words import counted, first_few
from model_analyzer.noise.noise import Noise
from model_analyzer.search.plan import Subject
from model_analyzer.state.profile_state import ProfileState

log = logging.getLogger(__name__)

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
        host: slots for host, slots in shared.items() if not _is_known(known, host, slots, trial)
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


def _is_known(
    known: Mapping[str, SharedHost], host: str, slots: Sequence[str], trial: Trial
) -> bool:
    return host in known and known[host].covers(host, len(slots), trial.key)


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
