# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes in memory: as the lines they are written in, read when they are looked at.

A line takes a quarter of the memory that its record takes, and a checkpoint is written from lines
without making them again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.trials import Trial
from model_analyzer.state.format.codec import DEFINITIONS
from model_analyzer.state.format.copies import COPY, copy_entries, deflated
from model_analyzer.state.format.decoder import Decoder
from model_analyzer.state.format.lines import Entry, decode_again
from model_analyzer.state.format.losses import contents_text
from model_analyzer.state.upstream.identity import unverified_key

# So many records are kept as well, from the first on: making a report looks at each, and reading a
# line takes longer than anything that is done with it.
_KEPT = 100_000

CONTENTS = "contents"

# Trial key and names of the variants: one measurement may stand for several names.
_Name = tuple[str, str]

# Of a definition: as long as no other kind of definition has it.
_Key = tuple[str, ...]


@dataclass(slots=True)
class Share:
    """So many outcomes, the bytes that they take, and the seconds that it took to measure them."""

    outcomes: int = 0
    bytes: int = 0
    seconds: float = 0.0


class Records(Collection[TrialRecord]):
    """Records in the order in which they were recorded; what was recorded again comes last."""

    def __init__(self) -> None:
        self._decoder = Decoder()
        self._definitions: dict[_Key, bytes] = {}
        self._uses: Counter[_Key] = Counter()  # of definitions, by outcomes
        self._lines: dict[_Name, bytes] = {}
        self._newest: dict[str, _Name] = {}  # by trial key
        self._read: dict[_Name, TrialRecord] = {}
        self._nodes: dict[str, int] = {}
        self._unverified: dict[str, _Name] = {}  # by unverified key

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[TrialRecord]:
        for name in self._lines:
            yield self._record(name)

    def __contains__(self, record: object) -> bool:
        return isinstance(record, TrialRecord) and any(record == own for own in self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and self._lines == other._lines

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"Records({len(self)})"

    @property
    def nodes(self) -> dict[str, int]:
        """How many outcomes of each node of a cluster there are."""
        return dict(self._nodes)

    def take(self, entry: Entry, line: bytes, record: TrialRecord | None = None) -> None:
        """Adds the entry of a line (with its line end): an outcome, or a definition for one.

        An outcome whose `record` is given, as it is stored, is kept as it is; any other is decoded.
        Raises ValueError if the entry is invalid.
        """
        if entry["entry"] == COPY:
            return
        if entry["entry"] in DEFINITIONS:
            self._decoder.define(entry)
            self._definitions.setdefault(_key(entry), line)
            return
        if record is None:
            record = self._decoder.record(entry)
        name = (entry["key"], record.trial.variants)
        self._place(name, line)
        if len(self._read) < _KEPT:
            self._read[name] = record
        if self._unverified or record.trial.is_unverified:
            self._verify(name, record.trial)
        for key in _uses(entry):
            self._uses[key] += 1
        node = record.node
        if node:
            self._nodes[node] = max(record.number, self._nodes.get(node, 0))

    def update(self, newer: Records) -> None:
        """Takes over all that `newer` has."""
        self._decoder.learn(newer._decoder)
        for identity, line in newer._definitions.items():
            self._definitions.setdefault(identity, line)
        self._uses.update(newer._uses)
        for name, line in newer._lines.items():
            self._place(name, line)
            if self._unverified:
                self._verify(name, self._record(name).trial)
        self._unverified |= newer._unverified
        for node, number in newer._nodes.items():
            self._nodes[node] = max(number, self._nodes.get(node, 0))

    def copy(self) -> Records:
        """A snapshot, which does not grow with this."""
        other = Records()
        other.update(self)
        other._read = dict(self._read)
        return other

    def of_trial(self, key: str) -> TrialRecord | None:
        """What was recorded last for the trial with this key."""
        name = self._newest.get(key)
        return None if name is None else self._record(name)

    def unverified(self, trial: Trial) -> TrialRecord | None:
        """What upstream recorded for this trial, as far as its checkpoints tell."""
        name = self._unverified.get(unverified_key(trial)) if self._unverified else None
        return None if name is None else self._record(name)

    def named(self, key: str, variants: str) -> TrialRecord | None:
        """What was recorded for the trial with this key under these names of variants."""
        name = (key, variants)
        return self._record(name) if name in self._lines else None

    def items(self) -> Iterator[tuple[str, TrialRecord]]:
        """The records with the keys of their trials."""
        for name in self._lines:
            yield name[0], self._record(name)

    def keys(self) -> frozenset[str]:
        """The keys of all trials."""
        return frozenset(self._newest)

    def shares(self) -> dict[str, Share]:
        """What each node of a cluster has measured; "" is no node."""
        shares: dict[str, Share] = {}
        for name, line in self._lines.items():
            record = self._record(name)
            share = shares.setdefault(record.node, Share())
            share.outcomes += 1
            share.bytes += len(line)
            share.seconds += record.outcome.duration_s
        return shares

    def lines(self) -> Iterator[bytes]:
        """The lines that hold all this, what is referred to before what refers to it."""
        return chain(self._definitions.values(), self._lines.values())

    @property
    def definitions(self) -> Collection[bytes]:
        """The lines that outcomes refer to."""
        return self._definitions.values()

    def copies(self, before: Iterable[bytes] = ()) -> Iterator[Entry]:
        """What tells about these lines, and some others, where one of them is lost: copies of
        what several outcomes refer to, and a list of the outcomes.
        """
        needed = (line for key, line in self._definitions.items() if self._uses[key] != 1)
        yield from copy_entries(chain(before, needed))
        if self._lines:
            listed = contents_text((line, name[1]) for name, line in self._lines.items())
            yield {"entry": CONTENTS, "outcomes": deflated(listed.encode())}

    def prepare(self, lines: Iterable[tuple[Entry, bytes]]) -> None:
        """Takes definitions in whatever order they are, as far as they are complete."""
        left = [*lines]
        while left:
            refused = [(entry, line) for entry, line in left if not self._is_taken(entry, line)]
            if len(refused) == len(left):
                return
            left = refused

    def _is_taken(self, entry: Entry, line: bytes) -> bool:
        try:
            self.take(entry, line)
        except ValueError:
            return False
        return True

    def _place(self, name: _Name, line: bytes) -> None:
        old = self._lines.get(name)
        if old is not None:
            if old == line:
                return  # the same outcome from a second file
            del self._lines[name]
            self._read.pop(name, None)
        self._lines[name] = line
        self._newest[name[0]] = name

    def _verify(self, name: _Name, trial: Trial) -> None:
        """One that is known by its real key, too, is not needed under the other."""
        if trial.is_unverified:
            self._unverified[unverified_key(trial)] = name
        elif self._unverified:
            old = self._unverified.pop(unverified_key(trial), None)
            if old is not None and old in self._lines:
                del self._lines[old]
                del self._newest[old[0]]
                self._read.pop(old, None)

    def _record(self, name: _Name) -> TrialRecord:
        record = self._read.get(name)
        if record is None:
            record = self._decoder.record(decode_again(self._lines[name]))
            if len(self._read) < _KEPT:
                self._read[name] = record
        return record


def _key(entry: Entry) -> _Key:
    match entry["entry"]:
        case "setup":
            return (entry["id"],)
        case "variant":
            return entry["id"], entry["name"]
    return entry["id"], "", ""


def _uses(entry: Entry) -> Sequence[_Key]:
    """The keys of the definitions that an outcome names itself."""
    keys: list[_Key] = [(entry["setup"],)]
    for work in entry["workloads"]:
        keys.append((work["variant"], work["name"]))
        if "generator" in work:
            keys.append((work["generator"], "", ""))
    return keys
