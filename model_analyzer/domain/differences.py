# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Differences between two measured trials, or between a checkpoint and the current state."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.models import thaw
from model_analyzer.domain.secrets import MASK, masked_values, setting_of
from model_analyzer.domain.traffic import Arrivals, Traffic
from model_analyzer.domain.trials import ServerSetup, Trial, Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A change between an earlier state and the current one; without `then` and `now`, the values
    are too long to show.

    If it `matters`, earlier and current measurements cannot be compared. If not, the affected
    trials have different keys and are measured again.
    """

    subject: str
    then: str
    now: str
    matters: bool = False

    def __str__(self) -> str:
        if not self.then and not self.now:
            return f"{self.subject} has changed since the checkpoint"
        return f"{self.subject}: was {self.then or 'none'}, now {self.now or 'none'}"


def files_difference(name: str, then: str, now: str) -> Iterator[Difference]:
    if then != now:
        yield Difference(subject=f"files of {name}", then=then[:8], now=now[:8])


def trial_differences(old: Trial, new: Trial) -> Iterator[Difference]:
    """Differences in what is loaded with the models, and in how they are measured."""
    yield from setup_differences(old.setup, new.setup)
    yield from secret_differences(old.setup, new.setup)
    for before, work in zip(old.workloads, new.workloads, strict=True):
        parts = {part.model: part.files for part in (before.variant, *before.variant.composing)}
        for part in (work.variant, *work.variant.composing):
            yield from files_difference(part.model, parts.get(part.model, ""), part.files)
        yield from client_differences(before, work)
        if before.load.kind is not work.load.kind:
            yield Difference(
                subject=f"kind of load of {work.variant.model}",
                then=before.load.kind.value,
                now=work.load.kind.value,
            )


def setup_differences(old: ServerSetup, new: ServerSetup) -> Iterator[Difference]:
    """Differences in how the server is started and reached, without its version and GPUs."""
    then, now = old.meaning, new.meaning
    for name in ("launch", "protocol"):
        if then[name] != now[name]:
            yield Difference(subject=f"{name} mode", then=then[name], now=now[name])
    caches = ["off" if setup.uncached else "as configured" for setup in (old, new)]
    if caches[0] != caches[1]:
        yield Difference(subject="response cache", then=caches[0], now=caches[1])
    for name in ("flags", "environment", "container"):
        yield from settings_differences(f"server {name}", then[name], now[name])


def secret_differences(old: ServerSetup, new: ServerSetup) -> Iterator[Difference]:
    """Secrets in the server's variables whose fingerprints differ. They do not count as changes."""
    then, now = old.kept_environment, new.kept_environment
    for name in sorted(then.keys() & now.keys()):
        is_same_setting = setting_of(then[name]) == setting_of(now[name])
        are_known = setting_of(then[name]) != then[name] and setting_of(now[name]) != now[name]
        if is_same_setting and are_known and then[name] != now[name]:
            yield Difference(
                subject=f"server environment: {name}", then=MASK, now=f"a different {MASK}"
            )


def client_differences(old: Workload, new: Workload) -> Iterator[Difference]:
    """Differences in how a model is measured: flags of perf_analyzer, loads, and their files."""
    model = new.variant.model
    yield from settings_differences(
        f"perf_analyzer flags of {model}", old.telling_flags, new.telling_flags
    )
    yield from settings_differences(
        f"load of {model}", _arriving(old.traffic), _arriving(new.traffic)
    )
    names = (f"input data of {model}", f"replayed log of {model}")
    for subject, then, now in zip(names, _files(old), _files(new), strict=True):
        if then != now:
            yield Difference(subject=subject, then=then[:8], now=now[:8])


def _files(work: Workload) -> tuple[str, str]:
    """The fingerprints of the files that its flags name, and of the log that it replays."""
    if work.traffic is None or work.traffic.arrivals is not Arrivals.REPLAY:
        return work.inputs, ""
    files, _, log = work.inputs.rpartition(",")
    return files, log


def _arriving(traffic: Traffic | None) -> Mapping[str, Any]:
    return {} if traffic is None else traffic.meaning


def settings_differences(
    subject: str, then: Mapping[str, Any], now: Mapping[str, Any]
) -> Iterator[Difference]:
    """One difference for each name with another value, also inside mappings; secrets are masked."""
    then, now = masked_values(then), masked_values(now)
    for name in sorted({*then, *now}):
        old, new = then.get(name), now.get(name)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            yield from settings_differences(f"{subject}: {name}", old, new)
        elif thaw(old) != thaw(new):
            yield Difference(subject=f"{subject}: {name}", then=_text(old), now=_text(new))


def _text(value: Any) -> str:
    value = thaw(value)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
