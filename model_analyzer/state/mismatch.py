# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Differences between a run and the checkpoint that it resumes from, or between checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.models import ModelFacts, ModelVariant, thaw
from model_analyzer.domain.profiles import (
    Difference,
    files_difference,
    settings_differences,
    trial_differences,
)
from model_analyzer.domain.trials import Trial
from model_analyzer.domain.words import setting_text
from model_analyzer.state.checkpoint import Checkpoint

# The keys of a host description that affect measurements. Others (name, kernel, paths) do not.
_PROCESSOR = "Processor"
_SERVER = "Server"
_LOAD_GENERATOR = "perf_analyzer"


# The subject of a difference in processors.
PROCESSOR = "processor"

# The processors (see `Machine.processor_text`) by kind of hardware, as far as they are known.
Hardware = Mapping[str, Set[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A run that is about to start.

    `machines` are those of its slots; if it `ignores_gpus`, GPUs were not detected. `searches` are
    the search settings by model group.
    """

    machines: Sequence[Machine]
    ignores_gpus: bool
    server: str
    models: Iterable[ModelFacts]
    searches: Mapping[str, Mapping[str, Any]]

    @property
    def hardware(self) -> Hardware:
        return _by_kind((machine.kind, machine.processor_text) for machine in self.machines)


def differences(base: Checkpoint, run: Run) -> Sequence[Difference]:
    """All differences, serious ones first; none if the checkpoint has no outcomes."""
    if not len(base.records):
        return ()
    result = [
        *hardware_differences(hardware_of(base), run.hardware, ignores_gpus=run.ignores_gpus),
        *_server(base, run),
        *_models(base, run.models),
        *_searches(base, run.searches),
    ]
    return sorted(result, key=lambda difference: not difference.matters)


def hardware_of(checkpoint: Checkpoint) -> Hardware:
    """The hardware of a checkpoint. Outcomes of earlier formats do not say where they were
    measured: these count for the machine that the checkpoint was written for.
    """
    processor = checkpoint.header.host.get(_PROCESSOR, "")
    return _by_kind(
        (
            record.trial.setup.kind,
            processor if record.outcome.machine is None else record.outcome.machine.processor_text,
        )
        for record in checkpoint.records
    )


def hardware_differences(
    then: Hardware, now: Hardware, *, ignores_gpus: bool = False
) -> Iterator[Difference]:
    """What makes measurements useless or not comparable: no common kind of GPUs, or within a kind
    only processors that the other side does not have.
    """
    if ignores_gpus:
        then, now = ({"": frozenset().union(*each.values())} for each in (then, now))
    elif not then.keys() & now.keys():
        yield Difference(subject="GPUs", then="; ".join(then), now="; ".join(now), matters=True)
    for kind in then.keys() & now.keys():
        if then[kind] and now[kind] and then[kind].isdisjoint(now[kind]):
            old, new = ("; ".join(sorted(each[kind])) for each in (then, now))
            yield Difference(subject=PROCESSOR, then=old, now=new, matters=True)


def _by_kind(pairs: Iterable[tuple[str, str]]) -> Hardware:
    hardware: dict[str, set[str]] = {}
    for kind, processor in pairs:
        hardware.setdefault(kind, set()).update([processor] if processor else [])
    return hardware


def checkpoint_differences(
    base: Checkpoint, new: Checkpoint, trials: Iterable[tuple[Trial, Trial]]
) -> Sequence[Difference]:
    """All differences between the setups of two checkpoints, serious ones first. A value that only
    one of them has is a difference, too.

    `trials` is a pair of sample trials (base, new) for each model.
    """
    host = new.header.host
    result = [*hardware_differences(hardware_of(base), hardware_of(new))]
    for name in (_PROCESSOR, _SERVER, _LOAD_GENERATOR):
        then, now = base.header.host.get(name, ""), host.get(name, "")
        if then != now and not (name == _PROCESSOR and then and now):
            result.append(Difference(subject=name.lower(), then=then, now=now))
    base_defaults, new_defaults = _defaults(base), _defaults(new)
    for model in sorted(base_defaults.keys() & new_defaults.keys()):
        result += settings_differences(
            f"config.pbtxt of {model}", base_defaults[model].config, new_defaults[model].config
        )
    for base_trial, new_trial in trials:
        result += trial_differences(base_trial, new_trial)
    return sorted(dict.fromkeys(result), key=lambda difference: not difference.matters)


def _server(base: Checkpoint, run: Run) -> Iterator[Difference]:
    then = base.header.host.get(_SERVER)
    if then and then != run.server:
        yield Difference(subject="server", then=then, now=run.server)


def _models(base: Checkpoint, models: Iterable[ModelFacts]) -> Iterator[Difference]:
    """Changes of model files and configurations since they were last measured."""
    defaults = _defaults(base)
    for facts in models:
        for part in facts.with_parts():
            then = defaults.get(part.name)
            if then is None:
                continue
            if then.files:
                yield from files_difference(part.name, then.files, part.files)
            if thaw(then.config) != thaw(part.config):
                yield Difference(subject=f"config.pbtxt of {part.name}", then="", now="")


def _defaults(checkpoint: Checkpoint) -> Mapping[str, ModelVariant]:
    """The last measured default configuration of each model."""
    return {
        variant.model: variant
        for record in checkpoint.records
        for work in record.trial.workloads
        for variant in (work.variant, *work.variant.composing)
        if variant.is_default
    }


def _searches(base: Checkpoint, searches: Mapping[str, Mapping[str, Any]]) -> Iterator[Difference]:
    for subject, now in searches.items():
        then = base.searches.get(subject)
        if then is None:
            continue
        for name in now:
            if name in then and thaw(then[name]) != thaw(now[name]):
                yield Difference(
                    subject=f"{name} of {subject}",
                    then=setting_text(then[name], in_brackets=True),
                    now=setting_text(now[name], in_brackets=True),
                )
