# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a run finds different from the checkpoint that it goes on from, or one checkpoint from
another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.differences import (
    Difference,
    files_difference,
    settings_differences,
    trial_differences,
)
from model_analyzer.domain.models import ModelFacts, ModelVariant, thaw
from model_analyzer.domain.profiles import Device
from model_analyzer.domain.trials import Trial
from model_analyzer.state.checkpoint import Checkpoint

# What describes the machine that measures. The rest of the description (name, kernel, paths)
# changes nothing that is measured.
_MACHINE = "Processor"
_SERVER = "Server"
_LOAD_GENERATOR = "perf_analyzer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a run is about to do, and where.

    `devices` is None where no GPUs were looked for; `host` describes the machine, unless it is
    not the one that matters; `searches` has the settings by name of subject, as they are kept.
    """

    devices: Sequence[Device] | None
    host: Mapping[str, str]
    server: str
    models: Iterable[ModelFacts]
    searches: Mapping[str, Mapping[str, Any]]


def differences(known: Checkpoint, run: Run) -> Sequence[Difference]:
    """All differences, those that matter first; none where nothing was measured yet."""
    if not len(known.records):
        return ()
    found = [
        *hardware_differences(known, run.devices, run.host),
        *_server(known, run),
        *_models(known, run.models),
        *_searches(known, run.searches),
    ]
    return sorted(found, key=lambda difference: not difference.matters)


def hardware_differences(
    known: Checkpoint, devices: Sequence[Device] | None, host: Mapping[str, str]
) -> Iterator[Difference]:
    """In GPUs, unless nobody looked for any, and in the processor, where both are known."""
    if devices is not None:
        then = ", ".join(sorted(device.uuid for device in known.header.devices))
        now = ", ".join(sorted(device.uuid for device in devices))
        if then != now:
            yield Difference(what="GPUs", then=then, now=now, matters=True)
    machine, own = known.header.host.get(_MACHINE), host.get(_MACHINE)
    if machine and own and machine != own:
        yield Difference(what="processor", then=machine, now=own, matters=True)


def checkpoint_differences(
    base: Checkpoint, new: Checkpoint, trials: Iterable[tuple[Trial, Trial]]
) -> Sequence[Difference]:
    """All differences between what two checkpoints were measured with, those that matter first:
    `base` is then, `new` is now. What only one of them tells is one, too.

    `trials` are one of each for every model: how the model was measured there.
    """
    host = new.header.host
    found = [*hardware_differences(base, new.header.devices, host)]
    for name in (_MACHINE, _SERVER, _LOAD_GENERATOR):
        then, now = base.header.host.get(name, ""), host.get(name, "")
        if then != now and not (name == _MACHINE and then and now):
            found.append(Difference(what=name.lower(), then=then, now=now))
    defaults, others = _defaults(base), _defaults(new)
    for model in sorted(defaults.keys() & others.keys()):
        found += settings_differences(
            f"config.pbtxt of {model}", defaults[model].config, others[model].config
        )
    for one, other in trials:
        found += trial_differences(one, other)
    return sorted(dict.fromkeys(found), key=lambda difference: not difference.matters)


def _server(known: Checkpoint, run: Run) -> Iterator[Difference]:
    then = known.header.host.get(_SERVER)
    if then and then != run.server:
        yield Difference(what="server", then=then, now=run.server)


def _models(known: Checkpoint, models: Iterable[ModelFacts]) -> Iterator[Difference]:
    """Models whose files or configuration are not those that were measured last."""
    defaults = _defaults(known)
    for facts in models:
        for part in facts.with_parts():
            then = defaults.get(part.name)
            if then is None:
                continue
            if then.files:
                yield from files_difference(part.name, then.files, part.files)
            if thaw(then.config) != thaw(part.config):
                yield Difference(what=f"config.pbtxt of {part.name}", then="", now="")


def _defaults(known: Checkpoint) -> Mapping[str, ModelVariant]:
    """The models as they are without changes, by name, as they were measured last."""
    return {
        variant.model: variant
        for record in known.records
        for work in record.trial.workloads
        for variant in (work.variant, *work.variant.composing)
        if variant.is_default
    }


def _searches(known: Checkpoint, searches: Mapping[str, Mapping[str, Any]]) -> Iterator[Difference]:
    for subject, now in searches.items():
        then = known.searches.get(subject)
        if then is None:
            continue
        for name in now:
            if name in then and thaw(then[name]) != thaw(now[name]):
                yield Difference(
                    what=f"{name} of {subject}", then=str(then[name]), now=str(now[name])
                )
