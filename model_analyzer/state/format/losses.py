# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The outcomes that a damaged file has lost, for messages."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence

from model_analyzer.state.format.codec import OUTCOMES, Entry, checksum_of

MOST_NAMED = 3

# Each outcome has all of these once, and nothing else has any: damage leaves some of them intact.
_MARKS = (b'"setup":"', b'"workloads":[', b'"started":')
_NAME = re.compile(rb'"workloads":\[.*?"name":"([^"\\]{1,200})"', re.DOTALL)


class Losses:
    """Sees the lines of a file, and concludes which outcomes are lost.

    Outcomes of a journal are numbered. A checkpoint has a list of its outcomes, `contents`. Without
    either, damaged lines are searched for parts of outcomes.
    """

    def __init__(self, first: int | None = 1) -> None:
        """`first` is the number of the first outcome; None if it is unknown."""
        self._lost: list[str] = []  # at most `MOST_NAMED`
        self._number = 0
        self._damaged: list[tuple[int, bytes]] = []  # since the last outcome
        self._next = first
        self._intact = array("L")  # checksums of outcomes: a set takes 20 times as much

    def see(self, number: int, entry: Entry, line: bytes) -> bool:
        """Adds an intact line; returns whether outcomes before it are missing."""
        if entry["entry"] not in OUTCOMES:
            return False
        self._intact.append(int(checksum_of(line), 16))
        missing = self._missing(entry.get("serial"))
        if missing or self._damaged:
            damaged = self._damaged_outcomes()
            self._lose(damaged, len(damaged))
            self._lose([f"an outcome before line {number}"] * MOST_NAMED, missing - len(damaged))
            self._damaged = []
        return missing > 0

    def see_damaged(self, number: int, line: bytes) -> None:
        """Adds a damaged line."""
        self._damaged.append((number, line))

    def see_unusable(self, number: int, entry: Entry, line: bytes) -> None:
        """Marks the last intact line as unusable."""
        if entry["entry"] in OUTCOMES:
            self._intact.pop()
            self._lose([_outcome_in(line, number)], 1)

    def in_words(self, contents: Iterable[str] = ()) -> str:
        """The lost outcomes. `contents` has the checksum and the name of each outcome that was
        written, if the file has this list.
        """
        pairs = [text.split(" ", 1) for text in contents]
        if pairs:
            intact = {f"{checksum:08x}" for checksum in self._intact}
            lost = [outcome_of(name) for checksum, name in pairs if checksum not in intact]
            number = len(lost)
        else:
            damaged = self._damaged_outcomes()
            lost, number = self._lost + damaged, self._number + len(damaged)
        return in_words(lost[:MOST_NAMED], number) if lost else "no outcome"

    def _lose(self, names: Sequence[str], number: int) -> None:
        """Counts lost outcomes; a file may claim more of them than fit into memory."""
        if number > 0:
            self._number += number
            self._lost += names[: min(number, MOST_NAMED - len(self._lost))]

    def _missing(self, serial: object) -> int:
        """The number of outcomes missing before this serial number; each run starts with 1."""
        if type(serial) is not int or serial < 1:
            return 0
        first = 1 if self._next is not None and serial < self._next else self._next
        self._next = serial + 1
        return 0 if first is None else serial - first

    def _damaged_outcomes(self) -> list[str]:
        """The outcomes in the damaged lines since the last outcome."""
        text = b"".join(line for _, line in self._damaged)
        count = max(text.count(mark) for mark in _MARKS)
        if not count:
            return []
        starts = [(number, line) for number, line in self._damaged if _MARKS[1] in line]
        outcomes = [_outcome_in(line, number) for number, line in starts or self._damaged[:1]]
        return outcomes + ["an outcome"] * (count - len(outcomes))


def in_words(outcomes: Iterable[str], number: int) -> str:
    """The first of `number` lost outcomes, and how many more there are."""
    rest = f" and {number - MOST_NAMED} more" if number > MOST_NAMED else ""
    return ", ".join(outcomes) + rest


def contents_text(outcomes: Iterable[tuple[bytes, str]]) -> str:
    """The list of outcomes for `Losses.in_words`, from their lines and the names of variants."""
    return "\n".join(f"{checksum_of(line)} {name}" for line, name in outcomes)


def contents_lines(text: bytes) -> Sequence[str]:
    """The lines of a `contents_text`; none if it is another text."""
    lines = text.decode(errors="replace").split("\n")
    return lines if all(" " in line for line in lines) else ()


def _outcome_in(line: bytes, number: int) -> str:
    match = _NAME.search(line)
    name = match[1].decode(errors="replace") if match else ""
    return f"{outcome_of(name)} (line {number})"


def outcome_of(name: str) -> str:
    return f"an outcome of {name}" if name.isprintable() and name else "an outcome"
