# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes of older formats in this format: their lines are changed while the file is read.

Until format 3, a server setup named its GPUs by UUID, so UUIDs were part of the keys of trials. Now
it has their names (see `domain.hardware`), which the header of the file knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from model_analyzer.domain.hardware import NAMELESS, WITHOUT_GPU, Device, name_by_memory
from model_analyzer.domain.profiles import Conclusion
from model_analyzer.domain.slots import Asked, Lane
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.state.format.codec import FORMAT, KINDS, Entry, encode
from model_analyzer.state.records import Records

# The first format whose setups have names of GPUs.
_WITH_NAMES = 4


class Upgrade:
    """Takes the definitions and outcomes of one file, in their order.

    A GPU that no header of the file names keeps its UUID, and a key that does not follow from the
    stored trial stays as it is. `is_needed` if any entry has an older format. `keys` has the
    changed keys of trials: new by old. `former` has changed definitions as they are in the file.
    """

    def __init__(self) -> None:
        self.is_needed = False
        self.keys: dict[str, str] = {}
        self.former: list[bytes] = []
        self._format = FORMAT
        self._names: dict[str, str] = {}  # of GPUs, by UUID
        self._uuids: dict[str, tuple[str, ...]] = {}  # of changed setups, by their id
        self._setups: dict[str, ServerSetup] = {}  # as they were, by their id

    def begin(self, version: object, devices: Iterable[Device]) -> None:
        """A header, for the entries after it: the version of their format, and the GPUs."""
        self._format = version if type(version) is int else FORMAT
        self._names |= {device.uuid: _name(device) for device in devices}
        self.is_needed |= self._format < _WITH_NAMES

    def definition(self, entry: Entry, line: bytes) -> tuple[Entry, bytes]:
        """A definition with its line, in this format; the same objects if nothing changes."""
        if self._format >= _WITH_NAMES or entry["entry"] != "setup":
            return entry, line
        uuids = entry.get("devices")
        if not isinstance(uuids, list) or not all(isinstance(uuid, str) for uuid in uuids):
            return entry, line  # the decoder refuses it
        names = sorted(str(self._names.get(uuid, uuid)) for uuid in uuids)
        if names == uuids:
            return entry, line
        self._uuids[str(entry.get("id"))] = tuple(uuids)
        self.former.append(line)
        upgraded = {**entry, "devices": names}
        return upgraded, encode(upgraded)

    def take(self, entry: Entry, line: bytes, records: Records) -> None:
        """Adds an outcome (its line has no serial number). Raises ValueError if it is invalid."""
        setup = entry.get("setup")
        if self._format >= _WITH_NAMES or not (isinstance(setup, str) and setup in self._uuids):
            records.take(entry, line)
            return
        record = records.decoded(entry)
        key = self.keys[entry["key"]] = self._key(entry["key"], setup, record.trial)
        upgraded = {name: value for name, value in entry.items() if name != "serial"}
        upgraded["key"] = key
        records.take(upgraded, encode(upgraded), record)

    def _key(self, key: str, setup: str, trial: Trial) -> str:
        """The key of a trial, which has the changed setup, in this format."""
        if setup not in self._setups:
            self._setups[setup] = replace(trial.setup, devices=self._uuids[setup])
        then = replace(trial, setup=self._setups[setup])
        return {then.former_key: trial.former_key, then.key: trial.key}.get(key, key)


def _name(device: Device) -> str:
    """The name in this format: before, GPUs of remote servers had none."""
    return name_by_memory(device.memory) if device.name == NAMELESS else device.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """What a file says about searches: see `Content`."""

    searches: Mapping[str, Entry]
    conclusions: Mapping[Lane, Conclusion]
    asked: Sequence[tuple[Lane, int, Asked]]


def upgraded_notes(notes: Notes, keys: Mapping[str, str], records: Records) -> Notes:
    """Notes of an older format in this one: with the changed `keys` of trials (new by old), and
    with the kind of hardware of the trials that they name, as far as they are among `records`.
    """

    def present(key: str) -> str:
        return keys.get(key, key)

    def lane(subject: str, trial_keys: Iterable[str]) -> Lane:
        named = filter(None, map(records.of_trial, map(present, trial_keys)))
        return next((Lane(subject, each.trial.setup.kind) for each in named), Lane(subject))

    questions: dict[str, list[str]] = {}
    for former, _, asked in notes.asked:
        questions.setdefault(former.subject, []).extend((asked.key, *asked.after))
    lanes = {subject: lane(subject, own) for subject, own in questions.items()}
    return Notes(
        searches=dict(_with_kinds(notes.searches, records)),
        conclusions={
            lane(former.subject, [conclusion.recommended]): replace(
                conclusion, recommended=present(conclusion.recommended)
            )
            for former, conclusion in notes.conclusions.items()
        },
        asked=[
            (
                lanes[former.subject],
                number,
                Asked(key=present(asked.key), after=tuple(map(present, asked.after))),
            )
            for former, number, asked in notes.asked
        ],
    )


def _with_kinds(searches: Mapping[str, Entry], records: Records) -> Iterator[tuple[str, Entry]]:
    """The searches with the kind of the last trial of each subject, if it had GPUs."""
    kinds = {record.trial.models: record.trial.setup.kind for record in records if searches}
    for subject, search in searches.items():
        kind = kinds.get(subject, WITHOUT_GPU)
        yield subject, search if kind == WITHOUT_GPU else {**search, KINDS: [kind]}
