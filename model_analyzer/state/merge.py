# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several checkpoints of the same hardware as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from types import MappingProxyType

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import ModelVariant, fingerprint
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import Checkpoint
from model_analyzer.state.format.codec import Encoder
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.lines import encode
from model_analyzer.state.format.records import Records
from model_analyzer.state.mismatch import hardware_differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """All of several checkpoints.

    `conflicts` trials had two outcomes, of which one was kept. `renamed` variants had a name of
    their own in a checkpoint, or one that stands for something else in an earlier one.
    """

    checkpoint: Checkpoint
    conflicts: int
    renamed: int


def merge(checkpoints: Sequence[Checkpoint]) -> Merged:
    """One checkpoint from several, later ones on top of earlier ones.

    Of two outcomes of a trial, a measurement is better than a failure, and else the newer one
    counts. Metadata, searches and conclusions of later checkpoints replace those of the same key.
    Raises CheckpointError where they were measured on different hardware.
    """
    first = checkpoints[0]
    for other in checkpoints[1:]:
        _check_hardware(first, other)
    records, names, encoder = Records(), _Names(), Encoder()
    conflicts = 0
    for checkpoint in checkpoints:
        for key, record in checkpoint.records.items():
            own = names.record(record)
            known = records.named(key, own.trial.variants)
            if known is not None:
                if known.outcome == own.outcome:
                    continue
                conflicts += 1
                if not _replaces(own.outcome, known.outcome):
                    continue
            for entry in encoder.record(key, own):
                records.take(entry, encode(entry))
    last = checkpoints[-1]
    return Merged(
        checkpoint=Checkpoint(
            header=Header(
                devices=last.header.devices, host=last.header.host, cores=last.header.cores
            ),
            records=records,
            server_only=MappingProxyType(
                {gpu: values for one in checkpoints for gpu, values in one.server_only.items()}
            ),
            metadata=MappingProxyType(
                {key: value for one in checkpoints for key, value in one.metadata.items()}
            ),
            searches=MappingProxyType(
                {subject: one for each in checkpoints for subject, one in each.searches.items()}
            ),
            conclusions=MappingProxyType(
                {subject: one for each in checkpoints for subject, one in each.conclusions.items()}
            ),
        ),
        conflicts=conflicts,
        renamed=names.renamed,
    )


def _replaces(new: Outcome, old: Outcome) -> bool:
    if isinstance(new, Measurement) != isinstance(old, Measurement):
        return isinstance(new, Measurement)
    return new.started >= old.started


def _check_hardware(one: Checkpoint, other: Checkpoint) -> None:
    for found in hardware_differences(one, other.header.devices, other.header.host):
        raise CheckpointError(
            f"{one.path} and {other.path} were measured on different hardware and cannot be"
            f" compared: {found.what}: {found.then or 'none'} there, {found.now or 'none'} here"
        )


class _Names:
    """Names of variants that mean one configuration each, whatever checkpoint they are from.

    The default of a model is called so whatever it contains: users edit it.
    """

    def __init__(self) -> None:
        self._by_content: dict[str, str] = {}
        self._taken: set[str] = set()
        self._variants: dict[tuple[str, str], ModelVariant] = {}
        self.renamed = 0

    def record(self, record: TrialRecord) -> TrialRecord:
        """The same record with the names that its variants have here."""
        workloads = tuple(
            replace(work, variant=self._variant(work.variant)) for work in record.trial.workloads
        )
        return record._replace(trial=replace(record.trial, workloads=workloads))

    def _variant(self, variant: ModelVariant) -> ModelVariant:
        place = (variant.identity, variant.full_name)
        if place not in self._variants:
            parts = tuple(map(self._variant, variant.composing))
            name = variant.name if variant.is_default else self._name(variant, parts)
            self.renamed += name != variant.name
            self._variants[place] = replace(variant, name=name, composing=parts)
        return self._variants[place]

    def _name(self, variant: ModelVariant, parts: Sequence[ModelVariant]) -> str:
        content = fingerprint([variant.model, variant.config, [part.name for part in parts]])
        if content not in self._by_content:
            name = variant.name
            numbers = count()
            while name in self._taken:
                name = f"{variant.model}_config_{next(numbers)}"
            self._by_content[content] = name
            self._taken.add(name)
        return self._by_content[content]
