# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Before the first trial: whether slots that share a host slow each other down."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.protocols import Executor
from model_analyzer.domain.shared_hosts import SharedHost
from model_analyzer.domain.trials import Load, Trial
from model_analyzer.domain.windows import Window
from model_analyzer.domain.words import counted, first_few
from model_analyzer.profiling.shared_host_test import PAIRS, compare_shared
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
