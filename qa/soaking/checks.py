# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What must be true after a fault. Each check gives what is wrong, in sentences.

An outcome is acknowledged when the program has said it: the line `trial_finished` or `trial_failed`
of `--progress json` has come out of its standard output. From then on nothing may lose it.
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
_CRASHES = re.compile(
    r"Traceback \(most recent|Exception ignored in|Fatal Python error|Segmentation fault"
)


@dataclass(frozen=True)
class Outcome:
    """One outcome of a trial, as it was acknowledged or as it was kept."""

    trial: str
    variant: str
    started: float
    has_failed: bool


def event_of(line: str) -> Event | None:
    """The event of a line of standard output; None for one that was cut off by a kill."""
    try:
        event = json.loads(line)
    except ValueError:
        return None
    return event if isinstance(event, dict) and "event" in event else None


def acknowledged(events: Iterable[Event]) -> list[Outcome]:
    """What these events say was measured in this run, in that order."""
    return [
        Outcome(
            event["trial"],
            event["workloads"][0]["variant"],
            event["started"],
            event["event"] == "trial_failed",
        )
        for event in events
        if event["event"] in ("trial_finished", "trial_failed") and not event["known"]
    ]


def kept(export: str) -> list[Outcome]:
    """What `checkpoint export --format json` says."""
    return [
        Outcome(
            row["trial"],
            row["variant"],
            datetime.fromisoformat(row["started"]).timestamp(),
            bool(row.get("failure")),
        )
        for row in json.loads(export)
    ]


def losses(said: Iterable[Outcome], there: Sequence[Outcome]) -> list[str]:
    """Acknowledged outcomes that are not there as they were said. A failure may have become a
    measurement: that was tried again.
    """
    newest = {outcome.trial: outcome for outcome in said}
    problems = []
    for outcome in newest.values():
        same = [other for other in there if other.trial == outcome.trial]
        if not same:
            problems.append(f"lost: acknowledged outcome {outcome.trial} is not in the checkpoint")
        elif not outcome.has_failed and not any(_is_same(outcome, other) for other in same):
            problems.append(f"lost: trial {outcome.trial} has another outcome than acknowledged")
    return problems


def _is_same(said: Outcome, other: Outcome) -> bool:
    return not other.has_failed and abs(said.started - other.started) <= _SAME_START_S


def repetitions(there: Iterable[Outcome]) -> list[str]:
    """Outcomes that are kept more than once."""
    counts = Counter((outcome.trial, outcome.variant) for outcome in there)
    return [
        f"trial {trial} of {variant} is in the checkpoint {times} times"
        for (trial, variant), times in counts.items()
        if times > 1
    ]


def measured_again(said: Iterable[Outcome], in_next_run: Iterable[Outcome]) -> list[str]:
    """Acknowledged measurements that the next run did not know."""
    measured = {outcome.trial for outcome in said if not outcome.has_failed}
    again = measured & {outcome.trial for outcome in in_next_run}
    return [f"trial {trial} was acknowledged, and measured again" for trial in sorted(again)]


def differences(there: Iterable[Outcome], undisturbed: Set[tuple[str, str]]) -> list[str]:
    """How the kept measurements differ from those of a run without a fault."""
    measured = {(each.trial, each.variant) for each in there if not each.has_failed}
    return [
        *(f"missing: {variant}, trial {trial}" for trial, variant in undisturbed - measured),
        *(f"not expected: {variant}, trial {trial}" for trial, variant in measured - undisturbed),
    ]


def crashes(name: str, text: str) -> list[str]:
    """Lines that only a defect of the program writes."""
    return [f"{name} has '{match[0]}'" for match in _CRASHES.finditer(text)]


def wrong_status(
    status: int, allowed: Set[int], events: Sequence[Event], errors: str, trials: int
) -> list[str]:
    """Whether the exit status is one of these, and says the same as events and messages."""
    said = [event["exit_status"] for event in events if event["event"] == "run_finished"]
    problems = []
    if status not in allowed:
        problems.append(f"exit status {status}, expected {' or '.join(map(str, sorted(allowed)))}")
    if said and said != [status]:
        problems.append(f"exit status {status}, but run_finished says {said}")
    if status == 0 and not said:
        problems.append("exit status 0 without run_finished")
    finished = {event["trial"] for event in events if event["event"] == "trial_finished"}
    has_failures = any(event["event"] == "trial_failed" for event in events)  # said, each of them
    if status == 0 and len(finished) < trials and not has_failures:
        problems.append(f"exit status 0 after {len(finished)} of {trials} trials")
    if status > 0 and not errors.strip():
        problems.append(f"exit status {status} without a message")
    return problems


def refusals(status: int, errors: str) -> list[str]:
    """Whether a second run that was refused says why."""
    if status == 0 or "in use by another run" in errors:
        return []
    return [f"a second run ended with {status} for another reason: {errors.strip()[-300:]}"]
