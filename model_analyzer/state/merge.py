# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Merges checkpoints, also of different kinds of hardware."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, count

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import ModelVariant, fingerprint
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import Checkpoint, merged
from model_analyzer.state.format.codec import Encoder
from model_analyzer.state.format.header import Header
from model_analyzer.state.format.lines import encode
from model_analyzer.state.mismatch import PROCESSOR, hardware_differences, hardware_of
from model_analyzer.state.records import Records


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The result of a merge.

    `conflicts` is the number of trials with two outcomes, of which one was used. `renamed` is the
    number of variants whose name clashed or differed between checkpoints.
    """

    checkpoint: Checkpoint
    conflicts: int
    renamed: int


def merge(checkpoints: Sequence[Checkpoint]) -> Merged:
    """Merges checkpoints into one.

    If a trial has two outcomes, a measurement replaces a failure; otherwise the newer one is used.
    Metadata, searches, conclusions and tests of hosts of later checkpoints replace those with the
    same key.
    Raises CheckpointError if they have the same kind of GPUs on different processors.
    """
    _check_hardware(checkpoints)
    names = _Names()
    records, conflicts = _records(checkpoints, names)
    header = checkpoints[-1].header
    devices = chain.from_iterable(each.header.devices for each in checkpoints)
    return Merged(
        checkpoint=Checkpoint(
            header=Header(
                devices=tuple({device.uuid: device for device in devices}.values()),
                host=header.host,
                cores=header.cores,
                lost=sum((Counter(each.header.lost) for each in checkpoints), Counter()),
            ),
            records=records,
            server_only=merged(each.server_only for each in checkpoints),
            metadata=merged(each.metadata for each in checkpoints),
            searches=merged(each.searches for each in checkpoints),
            conclusions=merged(each.conclusions for each in checkpoints),
            shared_hosts=merged(each.shared_hosts for each in checkpoints),
        ),
        conflicts=conflicts,
        renamed=names.renamed,
    )


def _records(checkpoints: Iterable[Checkpoint], names: _Names) -> tuple[Records, int]:
    """All records, and the number of conflicts."""
    records, encoder = Records(), Encoder()
    conflicts = 0
    for key, record in chain.from_iterable(each.records.items() for each in checkpoints):
        renamed = names.record(record)
        present = records.named(key, renamed.trial.variants)
        if present is not None:
            if present.outcome == renamed.outcome:
                continue
            conflicts += 1
            if not _replaces(renamed.outcome, present.outcome):
                continue
        for entry in encoder.record(key, renamed):
            records.take(entry, encode(entry), renamed)
    return records, conflicts


def _replaces(new: Outcome, present: Outcome) -> bool:
    if isinstance(new, Measurement) != isinstance(present, Measurement):
        return isinstance(new, Measurement)
    return new.started >= present.started


def _check_hardware(checkpoints: Sequence[Checkpoint]) -> None:
    """Kinds of GPUs are ranked apart, but within a kind the processors must be the same."""
    pairs = [(checkpoint, hardware_of(checkpoint)) for checkpoint in checkpoints]
    for (first, then), (other, now) in combinations(pairs, 2):
        for difference in hardware_differences(then, now):
            if difference.subject == PROCESSOR:
                raise CheckpointError(
                    f"{first.path} and {other.path} were measured on different processors and"
                    f" cannot be compared: {difference.then} in the first, {difference.now} in the"
                    " other"
                )


class _Names:
    """Assigns names to variants so that each name stands for one configuration.

    Defaults keep their name, whatever they contain: users edit them.
    """

    def __init__(self) -> None:
        self._by_content: dict[str, str] = {}
        self._taken: set[str] = set()
        self._variants: dict[tuple[str, str], ModelVariant] = {}
        self.renamed = 0

    def record(self, record: TrialRecord) -> TrialRecord:
        """A copy of the record with the assigned names of its variants."""
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
