# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes in memory: as the lines that they are written in, decoded when they are used; and the
identity of a trial by what upstream stores of it.

A line takes a quarter of the memory of its record, and a checkpoint is written from these lines.
"""

from __future__ import annotations

import gc
import zlib
from collections import Counter
from collections.abc import (
    Collection,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    Sequence,
)
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any, TypeVar

from model_analyzer.domain.flags import PERF_ANALYZER_SWITCHES, is_on
from model_analyzer.domain.hardware import Machine
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import fingerprint
from model_analyzer.domain.profiles import TrialRecord
from model_analyzer.domain.secrets import masked_values, settings_of
from model_analyzer.domain.trials import FLAGS_WITHOUT_MEANING, Failure, Trial
from model_analyzer.noise.pooling import is_replaced
from model_analyzer.state.format.codec import (
    COPY,
    DEFINITIONS,
    Entry,
    copy_entries,
    decode_again,
    deflated,
)
from model_analyzer.state.format.decoder import Decoder
from model_analyzer.state.format.losses import contents_text

# Upstream stores the names of files, not their content: so the names count.
_FLAGS_WITH_FILES = frozenset({"input-data", "request-intervals"})

# The load has the last three. Upstream stores a request count only as it was before it enlarged
# windows.
_IGNORED_FLAGS = frozenset(
    {
        *(FLAGS_WITHOUT_MEANING - _FLAGS_WITH_FILES), "measurement-request-count",
        "batch-size", "concurrency-range", "request-rate-range",
    }
)  # fmt: skip


def unverified_key(trial: Trial) -> str:
    """Fingerprint of what an upstream checkpoint has of a trial: the same for a trial of ours and
    for the unverified trial of the same measurement.

    It covers the models and their configurations (composing models included), the loads, the
    perf_analyzer flags that change the outcome (files by name), the protocol, and the variables of
    the server. It does not cover the content of files, nor the version, flags and container of the
    server. Whoever opens the checkpoint compares the GPUs.
    """
    return fingerprint(
        [
            "c_api" if trial.setup.launch == "c_api" else trial.setup.protocol,
            settings_of(trial.setup.kept_environment),
            [
                [
                    work.variant.unverified_identity,
                    [work.load.kind.value, work.load.value, work.load.batch_size],
                    _flags(work.flags),
                    *([masked_values(work.genai_perf)] if work.times_tokens else []),
                ]
                for work in trial.workloads
            ],
            *([trial.repetition] if trial.repetition else []),
        ]
    )


def _flags(flags: Mapping[str, Any]) -> Mapping[str, Sequence[str]]:
    """The flags that change the outcome, as far as upstream stores them, without those that
    upstream always sets.
    """
    texts_by_flag = {}
    for flag, value in masked_values(flags).items():
        texts = [str(item) for item in (value if isinstance(value, (list, tuple)) else [value])]
        if flag in PERF_ANALYZER_SWITCHES:
            texts = ["true"] if any(map(is_on, texts)) else []
        is_usual = flag == "measurement-mode" and texts == ["count_windows"]
        if texts and not is_usual and flag not in _IGNORED_FLAGS:
            texts_by_flag[flag] = texts
    return texts_by_flag


K = TypeVar("K", bound=Hashable)

# The first lines stay as they are: to compress them, reading would take a fifth longer.
_PLAIN = 100_000

# Lines of outcomes are alike: together they take an eighth of the memory. A larger block would
# hardly be smaller, and it takes longer to get one line out of it.
_BLOCK = 64
_FASTEST = 1


class PackedLines(MutableMapping[K, bytes]):
    """Lines by key, in the order of adding. A line ends with a line break, and has no other.

    What is removed or replaced still takes memory.
    """

    def __init__(self) -> None:
        self._numbers: dict[K, int] = {}
        self._plain: list[bytes] = []
        self._blocks: list[bytes] = []
        self._rest: list[bytes] = []  # the lines of the next block
        self._opened = -1, [b""]  # the block that was read last, with its lines

    def __setitem__(self, key: K, line: bytes) -> None:
        if len(self._plain) < _PLAIN:
            self._numbers[key] = len(self._plain)
            self._plain.append(line)
            return
        if len(self._rest) == _BLOCK:
            self._blocks.append(zlib.compress(b"".join(self._rest), _FASTEST))
            self._rest = []
        self._numbers[key] = len(self._plain) + len(self._blocks) * _BLOCK + len(self._rest)
        self._rest.append(line)

    def __getitem__(self, key: K) -> bytes:
        number = self._numbers[key]
        if number < len(self._plain):
            return self._plain[number]
        block, place = divmod(number - len(self._plain), _BLOCK)
        if block == len(self._blocks):
            return self._rest[place]
        opened, lines = self._opened
        if opened != block:
            lines = zlib.decompress(self._blocks[block]).split(b"\n")
            self._opened = block, lines
        return lines[place] + b"\n"

    def __delitem__(self, key: K) -> None:
        del self._numbers[key]

    def __contains__(self, key: object) -> bool:
        return key in self._numbers

    def __iter__(self) -> Iterator[K]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)


# The first records are kept when they are decoded: reports use every record several times, and
# decoding a line takes longer than any use of it.
_KEPT = 100_000

CONTENTS = "contents"

# Trial key and names of the variants: the same measurement may have several names.
_Name = tuple[str, str]

# The key of a definition: its length depends on the kind of definition.
_Key = tuple[str, ...]


@dataclass(slots=True)
class Share:
    """The number of outcomes, how many of them are failures, their size in bytes, and the time that
    they took to measure.
    """

    outcomes: int = 0
    failures: int = 0
    bytes: int = 0
    seconds: float = 0.0


class RecordLines(Collection[TrialRecord]):
    """The lines of records, in the order of recording; a record that replaces an older one comes
    last.
    """

    def __init__(self) -> None:
        self._decoder = Decoder()
        self._definitions: dict[_Key, bytes] = {}
        self._lines = PackedLines[_Name]()
        self._newest: dict[str, _Name] = {}  # by trial key
        self._kept: dict[_Name, TrialRecord] = {}
        self._nodes: dict[_Name, str] = {}  # of outcomes of a cluster
        self._unverified: dict[str, _Name] = {}  # by unverified key

    def __len__(self) -> int:
        return len(self._lines)

    def __iter__(self) -> Iterator[TrialRecord]:
        for _, record in self.items():
            yield record

    def __contains__(self, record: object) -> bool:
        return isinstance(record, TrialRecord) and any(record == other for other in self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RecordLines)
            and self._lines.keys() == other._lines.keys()
            and all(line == other._lines[name] for name, line in self._lines.items())
        )

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)})"

    @property
    def nodes(self) -> dict[str, int]:
        """The number of outcomes of each cluster node."""
        return dict(Counter(self._nodes.values()))

    @property
    def machines(self) -> Collection[Machine]:
        """The machines that outcomes refer to."""
        return self._decoder.machines

    def items(self) -> Iterator[tuple[str, TrialRecord]]:
        """The records with the keys of their trials."""
        self._keep()
        for name in self._lines:
            yield name[0], self._record(name)

    def keys(self) -> frozenset[str]:
        """The keys of all trials."""
        return frozenset(self._newest)

    def lines(self) -> Iterator[bytes]:
        """All lines; definitions come before the outcomes that refer to them."""
        return chain(self._definitions.values(), self._lines.values())

    @property
    def definitions(self) -> Collection[bytes]:
        """The lines that outcomes refer to."""
        return self._definitions.values()

    def _keep(self) -> None:
        """Makes the first records together, which takes less time than one by one."""
        with without_collecting():
            for name in self._lines:
                if len(self._kept) == _KEPT:
                    break
                self._record(name)

    def _place(self, name: _Name, line: bytes) -> None:
        if name in self._lines:
            if self._lines[name] == line:
                return  # the same outcome from a second file
            del self._lines[name]
            self._kept.pop(name, None)
            self._nodes.pop(name, None)
        self._lines[name] = line
        self._newest[name[0]] = name

    def _record(self, name: _Name) -> TrialRecord:
        record = self._kept.get(name)
        if record is None:
            record = self._decoder.record_again(self._lines[name])
            if len(self._kept) < _KEPT:
                self._kept[name] = record
        return record


class Records(RecordLines):
    """Records by trial: what comes in is checked, and what is known already is found."""

    def decoded(self, entry: Entry) -> TrialRecord:
        """The record of an outcome, which is not added. Raises ValueError if it is invalid."""
        return self._decoder.record(entry)

    def take(self, entry: Entry, line: bytes, record: TrialRecord | None = None) -> None:
        """Adds the entry of a line (with its line end): an outcome, or a definition for one.

        An outcome is checked, unless its `record` is given, as it is stored. Raises ValueError if
        the entry is invalid.
        """
        if entry["entry"] == COPY:
            return
        if entry["entry"] in DEFINITIONS:
            self._decoder.define(entry)
            self._definitions.setdefault(_key(entry), line)
            return
        if record is None:
            outcome = self._decoder.check(entry)
            name, node = (outcome.key, self._decoder.variants(outcome)), outcome.node
        else:
            name, node = (entry["key"], record.trial.variants), record.node
        self._place(name, line)
        if record is not None and len(self._kept) < _KEPT:
            self._kept[name] = record
        if self._unverified or self._decoder.has_unverified:
            self._verify(name, self._record(name).trial)
        if node:
            self._nodes[name] = node

    def update(self, newer: Records) -> None:
        """Adds everything that `newer` has."""
        self._decoder.learn(newer._decoder)
        for identity, line in newer._definitions.items():
            self._definitions.setdefault(identity, line)
        for name, line in newer._lines.items():
            self._place(name, line)
            if self._unverified:
                self._verify(name, self._record(name).trial)
        self._unverified |= newer._unverified
        self._nodes |= newer._nodes

    def news(self, late: Records, node: str) -> Records:
        """The outcomes of a node in `late`, its journal, that add something to these records.

        These are outcomes of unknown trials, measurements of trials that failed, and measurements
        in perf_analyzer's own windows of trials with a round. Otherwise, the outcome here
        counts: a search may have learnt from it.
        """
        news = Records()
        news._decoder.learn(late._decoder)
        news._definitions.update(late._definitions)
        for name, line in late._lines.items():
            record, present = late._record(name), self.of_trial(name[0])
            is_news = present is None or _is_better(record.outcome, present.outcome)
            if is_news and record.node == node:
                news.take(decode_again(line), line, record)
        return news

    def copy(self) -> Records:
        """A snapshot, which does not grow with these records."""
        snapshot = Records()
        snapshot.update(self)
        snapshot._kept = dict(self._kept)
        return snapshot

    def of_trial(self, key: str) -> TrialRecord | None:
        """The last record of the trial with this key."""
        name = self._newest.get(key)
        return None if name is None else self._record(name)

    def unverified(self, trial: Trial) -> TrialRecord | None:
        """The record of upstream for this trial, as far as its checkpoints identify trials."""
        name = self._unverified.get(unverified_key(trial)) if self._unverified else None
        return None if name is None else self._record(name)

    def named(self, key: str, variants: str) -> TrialRecord | None:
        """The record of the trial with this key and these names of variants."""
        name = (key, variants)
        return self._record(name) if name in self._lines else None

    def as_repetition(self, record: TrialRecord) -> TrialRecord:
        """A measurement whose place another one takes, as the next free repetition of its trial, or
        as the repetition that it already is.
        """
        later = (
            record._replace(trial=replace(record.trial, repetition=number))
            for number in count(record.trial.repetition + 1)
        )
        return next(
            each
            for each in later
            if (present := self.of_trial(each.trial.key)) is None
            or present.outcome == record.outcome
        )

    def models(self) -> Iterator[str]:
        """The names of the models of each record, as `Trial.models` has them: of many records, much
        faster than by the records.
        """
        self._keep()
        for name, line in self._lines.items():
            record = self._kept.get(name)
            yield self._decoder.models(line) if record is None else record.trial.models

    def shares(self) -> dict[str, Share]:
        """The share of each cluster node; "" stands for outcomes without a node."""
        shares: dict[str, Share] = {}
        for name, line in self._lines.items():
            record = self._record(name)
            share = shares.setdefault(record.node, Share())
            share.outcomes += 1
            share.failures += isinstance(record.outcome, Failure)
            share.bytes += len(line)
            share.seconds += record.outcome.duration_s
        return shares

    def copies(self, before: Iterable[bytes] = ()) -> Iterator[Entry]:
        """Entries to repair a damaged file: copies of the lines `before` and of definitions that
        several outcomes need, and a list of the outcomes.
        """
        uses = Counter(key for line in self._lines.values() for key in _uses(decode_again(line)))
        shared = (line for key, line in self._definitions.items() if uses[key] != 1)
        yield from copy_entries(chain(before, shared))
        if self._lines:
            contents = contents_text((line, name[1]) for name, line in self._lines.items())
            yield {"entry": CONTENTS, "outcomes": deflated(contents.encode())}

    def prepare(self, lines: Iterable[tuple[Entry, bytes]]) -> None:
        """Adds definitions in any order, as far as they are complete."""
        remaining = [*lines]
        while remaining:
            refused = [pair for pair in remaining if not self._is_taken(*pair)]
            if len(refused) == len(remaining):
                return
            remaining = refused

    def _is_taken(self, entry: Entry, line: bytes) -> bool:
        try:
            self.take(entry, line)
        except ValueError:
            return False
        return True

    def _verify(self, name: _Name, trial: Trial) -> None:
        """Drops the unverified record of a trial that also has a verified one."""
        if trial.is_unverified:
            self._unverified[unverified_key(trial)] = name
        elif self._unverified:
            old = self._unverified.pop(unverified_key(trial), None)
            if old is not None and old in self._lines:
                del self._lines[old]
                del self._newest[old[0]]
                self._kept.pop(old, None)
                self._nodes.pop(old, None)


def _is_better(late: Outcome, present: Outcome) -> bool:
    """Whether a late outcome of a node replaces the present one of the same trial."""
    if isinstance(late, Failure) or isinstance(present, Failure):
        return isinstance(late, Measurement) and isinstance(present, Failure)
    return is_replaced(present, [late])


def _key(entry: Entry) -> _Key:
    match entry["entry"]:
        case "setup":
            return (entry["id"],)
        case "machine":
            return "", entry["id"]
        case "variant":
            return entry["id"], entry["name"]
    return entry["id"], "", ""


def _uses(entry: Entry) -> Sequence[_Key]:
    """The keys of the definitions that an outcome refers to directly."""
    keys: list[_Key] = [(entry["setup"],)]
    for work in entry["workloads"]:
        keys.append((work["variant"], work["name"]))
        if "generator" in work:
            keys.append((work["generator"], "", ""))
    return keys


@contextmanager
def without_collecting() -> Iterator[None]:
    """Turns the garbage collector off: reading creates no garbage, and the collector would take a
    fifth of the time.

    What was read counts as old afterwards. Otherwise the collector would visit all of it at once,
    which takes a tenth of the time. An embedding program may have frozen objects itself; then they
    stay frozen.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled and not gc.get_freeze_count():
            gc.freeze()
            gc.unfreeze()
        if was_enabled:
            gc.enable()
