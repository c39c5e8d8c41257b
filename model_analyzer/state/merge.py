# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Merges checkpoints, also of different kinds of hardware."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, count

from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import ModelVariant, fingerprint
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Failure, Trial
from model_analyzer.errors import CheckpointError
from model_analyzer.state.checkpoint import Checkpoint, merged
from model_analyzer.state.format.codec import Encoder, encode
from model_analyzer.state.format.header import Header
from model_analyzer.state.mismatch import PROCESSOR, hardware_differences, hardware_of
from model_analyzer.state.records import Records, unverified_key


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """The result of a merge.

    `repetitions` is the number of measurements of trials that another checkpoint measured, too:
    they are kept as repetitions. `failures` is the number of failures that were left out, because
    another outcome of the trial counts more. `renamed` is the number of variants whose name clashed
    or differed between checkpoints.
    """

    checkpoint: Checkpoint
    repetitions: int
    failures: int
    renamed: int


def merge(checkpoints: Sequence[Checkpoint]) -> Merged:
    """Merges checkpoints into one.

    Every measurement is kept: see `_Outcomes`. A measurement replaces a failure of the same trial,
    and the newer one of two failures is used. Metadata, searches, conclusions, tests of hosts and
    proofs of later checkpoints replace those with the same key.
    Raises CheckpointError if they have the same kind of GPUs on different processors.
    """
    _check_hardware(checkpoints)
    names, outcomes = _Names(), _Outcomes()
    # those of upstream last: `Records` drops one as soon as it gets another measurement of it
    for is_unverified in (False, True):
        for key, record in chain.from_iterable(each.records.items() for each in checkpoints):
            if record.trial.is_unverified is is_unverified:
                outcomes.add(key, names.record(record))
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
            records=outcomes.records,
            server_only=merged(each.server_only for each in checkpoints),
            metadata=merged(each.metadata for each in checkpoints),
            searches=merged(each.searches for each in checkpoints),
            conclusions=merged(each.conclusions for each in checkpoints),
            shared_hosts=merged(each.shared_hosts for each in checkpoints),
            proofs=merged(each.proofs for each in checkpoints),
        ),
        repetitions=outcomes.repetitions,
        failures=outcomes.failures,
        renamed=names.renamed,
    )


class _Outcomes:
    """The outcomes of all checkpoints. No measurement takes the place of another: if a trial was
    measured in several checkpoints, these are repetitions, which rankings pool.

    Which of two measurements comes first decides what a resumed run gets (see `_is_first`); the
    other one becomes the next free repetition. A measurement that several checkpoints have, perhaps
    as different repetitions, is there once: otherwise it would count twice.
    """

    def __init__(self) -> None:
        self.records = Records()
        self.repetitions = 0
        self.failures = 0
        self._encoder = Encoder()
        self._keys: dict[tuple[str, float], list[str]] = {}  # by variants and start

    def add(self, key: str, record: TrialRecord) -> None:
        """Adds an outcome, unless it is there already or another one counts more."""
        if self._has(record):
            return
        present = self.records.named(key, record.trial.variants)
        other = present or self.records.of_trial(key)
        if other is None or other.outcome == record.outcome:
            self._store(key, record)
        elif isinstance(record.outcome, Failure) or isinstance(other.outcome, Failure):
            self.failures += 1
            if _replaces(record.outcome, other.outcome):
                self._store(key, record)
        else:
            self.repetitions += 1
            if _is_first(record.outcome, other.outcome):
                self._store(key, record)
                if present is not None:
                    self._store_as_repetition(present)
            else:
                self._store_as_repetition(record)

    def _has(self, record: TrialRecord) -> bool:
        """Whether the measurement is there, as any repetition of its trial."""
        variants, started = record.trial.variants, record.outcome.started
        same_start = [
            self.records.named(key, variants) for key in self._keys.get((variants, started), ())
        ]
        return any(
            other is not None
            and other.outcome == record.outcome
            and _is_of_same_trial(record.trial, other.trial)
            for other in same_start
        )

    def _store_as_repetition(self, record: TrialRecord) -> None:
        repetition = self.records.as_repetition(record)
        self._store(repetition.trial.key, repetition)

    def _store(self, key: str, record: TrialRecord) -> None:
        for entry in self._encoder.record(key, record):
            self.records.take(entry, encode(entry), record)
        if isinstance(record.outcome, Measurement):
            place = (record.trial.variants, record.outcome.started)
            self._keys.setdefault(place, []).append(key)


def _is_of_same_trial(trial: Trial, other: Trial) -> bool:
    """Whether both are repetitions of one trial, as far as checkpoints of upstream identify it."""
    if trial.is_unverified and not other.is_unverified:
        return unverified_key(trial.first) == unverified_key(other.first)
    return trial.first.key == other.first.key


def _replaces(new: Outcome, present: Outcome) -> bool:
    """Whether an outcome replaces the present one, if one of them is a failure."""
    if isinstance(new, Measurement) != isinstance(present, Measurement):
        return isinstance(new, Measurement)
    return new.started >= present.started


def _is_first(new: Measurement, present: Measurement) -> bool:
    """Whether the first repetition is the new measurement, not the present one.

    perf_analyzer's own windows answer a round, but a round does not answer for own
    windows; and of these, the newest says which rounds still count (see `is_replaced`).
    Rounds keep the order in which they were measured.
    """
    if new.is_round != present.is_round:
        return present.is_round
    if new.is_round:
        return new.started < present.started
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
