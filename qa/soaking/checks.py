# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Checks after a fault. Each check returns its findings as sentences.

An outcome is acknowledged when the program has written its line `trial_finished` or `trial_failed`
of `--progress json` to standard output. After that, no fault may lose it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from typing import Any

Event = Mapping[str, Any]

_SAME_START_S = 0.002  # times are kept in milliseconds
_REFUSALS = ("in use by another run", "are still in use after")
_CRASHES = re.compile(
    r"Traceback \(most recent|Exception ignored in|Fatal Python error|Segmentation fault"
)


@dataclass(frozen=True)
class Outcome:
    """One outcome of a trial, acknowledged or stored in the checkpoint. The trial may be the
    `repetition` of an earlier one; 0 is none.
    """

    trial: str
    variant: str
    started: float
    has_failed: bool
    repetition: int = 0


def event_of(line: str) -> Event | None:
    """The event in a line of standard output; None if a kill has cut the line."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event" in event else None


def acknowledged(events: Iterable[Event]) -> list[Outcome]:
    """The outcomes of this run in these events, in order."""
    return [
        Outcome(
            event["trial"],
            event["workloads"][0]["variant"],
            event["started"],
            event["event"] == "trial_failed",
            event["repetition"],
        )
        for event in events
        if event["event"] in ("trial_finished", "trial_failed") and not event["known"]
    ]


def kept(export: str) -> list[Outcome]:
    """The outcomes in the output of `checkpoint export --format json`."""
    return [
        Outcome(
            row["trial"],
            row["variant"],
            datetime.fromisoformat(row["started"]).timestamp(),
            bool(row.get("failure")),
            row["repetition"],
        )
        for row in json.loads(export)
    ]


def losses(acknowledged: Iterable[Outcome], stored: Sequence[Outcome]) -> list[str]:
    """Acknowledged outcomes that are missing or different. A failure may have become a measurement,
    since it was tried again.
    """
    newest = {outcome.trial: outcome for outcome in acknowledged}
    problems = []
    for outcome in newest.values():
        of_trial = [record for record in stored if record.trial == outcome.trial]
        if not of_trial:
            problems.append(f"lost: acknowledged outcome {outcome.trial} is not in the checkpoint")
        elif not outcome.has_failed and not any(_is_same(outcome, record) for record in of_trial):
            problems.append(
                f"lost: trial {outcome.trial} has a different outcome than acknowledged"
            )
    return problems


def _is_same(measurement: Outcome, record: Outcome) -> bool:
    return not record.has_failed and abs(measurement.started - record.started) <= _SAME_START_S


def repetitions(stored: Iterable[Outcome]) -> list[str]:
    """Outcomes that are stored more than once."""
    counts = Counter((outcome.trial, outcome.variant) for outcome in stored)
    return [
        f"trial {trial} of {variant} is in the checkpoint {times} times"
        for (trial, variant), times in counts.items()
        if times > 1
    ]


def measured_again(acknowledged: Iterable[Outcome], in_next_run: Iterable[Outcome]) -> list[str]:
    """Acknowledged measurements that the next run did not resume."""
    measured = {outcome.trial for outcome in acknowledged if not outcome.has_failed}
    repeated = measured & {outcome.trial for outcome in in_next_run}
    return [f"trial {trial} was acknowledged, and measured again" for trial in sorted(repeated)]


def trials_of(stored: Iterable[Outcome]) -> Set[tuple[str, str]]:
    """The trials that were measured, with their variants, without repetitions."""
    return {
        (outcome.trial, outcome.variant)
        for outcome in stored
        if not (outcome.has_failed or outcome.repetition)
    }


def differences(stored: Iterable[Outcome], undisturbed: Set[tuple[str, str]]) -> list[str]:
    """Differences between the stored measurements and those of a run without a fault. What is
    measured again at the end depends on what was measured.
    """
    measured = trials_of(stored)
    return [
        *(f"missing: {variant}, trial {trial}" for trial, variant in undisturbed - measured),
        *(f"not expected: {variant}, trial {trial}" for trial, variant in measured - undisturbed),
    ]


def crashes(name: str, text: str) -> list[str]:
    """Lines that only a bug of the program can cause."""
    return [f"{name} has '{match[0]}'" for match in _CRASHES.finditer(text)]


def wrong_status(
    status: int, allowed: Set[int], events: Sequence[Event], errors: str, trials: int
) -> list[str]:
    """Findings if the exit status is not allowed, or contradicts the events or messages."""
    announced = [event["exit_status"] for event in events if event["event"] == "run_finished"]
    problems = []
    if status not in allowed:
        problems.append(f"exit status {status}, expected {' or '.join(map(str, sorted(allowed)))}")
    if announced and status >= 0 and announced != [status]:
        problems.append(f"exit status {status}, but run_finished says {announced}")
    if status == 0 and not announced:
        problems.append("exit status 0 without run_finished")
    finished = {
        event["trial"]
        for event in events
        if event["event"] == "trial_finished" and not event["repetition"]
    }
    has_failures = any(event["event"] == "trial_failed" for event in events)
    if status == 0 and len(finished) < trials and not has_failures:
        problems.append(f"exit status 0 after {len(finished)} of {trials} trials")
    if status > 0 and not errors.strip():
        problems.append(f"exit status {status} without a message")
    return problems


def refusals(status: int, errors: str) -> list[str]:
    """Findings if a refused second run does not say the reason."""
    if status == 0 or any(reason in errors for reason in _REFUSALS):
        return []
    return [f"a second run ended with {status} for a different reason: {errors.strip()[-300:]}"]
