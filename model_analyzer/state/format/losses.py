# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Which outcomes a damaged file has lost, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from model_analyzer.state.format.codec import OUTCOMES
from model_analyzer.state.format.lines import Entry, checksum_of

MOST_NAMED = 3

# Each outcome has all of these once, and nothing else has one: a fault in one leaves the others.
_MARKS = (b'"setup":"', b'"workloads":[', b'"started":')
_NAME = re.compile(rb'"workloads":\[.*?"name":"([^"\\]{1,200})"', re.DOTALL)


class Losses:
    """Follows the lines of a file, and concludes which outcomes are not among them.

    Outcomes of a journal are numbered, so one that is missing shows. Of a checkpoint, `contents`
    lists all of them. Where there is neither, what is left of damaged lines tells.
    """

    def __init__(self, first: int | None = 1) -> None:
        """`first` is the number that the first outcome has; None where reading begins later."""
        self._lost: list[str] = []  # no more than are named
        self._number = 0
        self._damaged: list[tuple[int, bytes]] = []  # since the last outcome
        self._next = first
        self._intact: set[str] = set()

    def see(self, number: int, entry: Entry, line: bytes) -> bool:
        """An intact line; whether outcomes before it are missing."""
        if entry["entry"] not in OUTCOMES:
            return False
        self._intact.add(checksum_of(line))
        missing = self._missing(entry.get("serial"))
        if missing or self._damaged:
            told = self._told_by_damaged()
            self._lose(told, len(told))
            self._lose([f"an outcome before line {number}"] * MOST_NAMED, missing - len(told))
            self._damaged = []
        return missing > 0

    def see_damaged(self, number: int, line: bytes) -> None:
        """A line that is not as it was written."""
        self._damaged.append((number, line))

    def see_unusable(self, number: int, entry: Entry, line: bytes) -> None:
        """An intact line that cannot be used."""
        if entry["entry"] in OUTCOMES:
            self._intact.discard(checksum_of(line))
            self._lose([_named(line, number)], 1)

    def in_words(self, contents: Iterable[str] = ()) -> str:
        """The lost outcomes. `contents` has the checksum and the name of each that was written,
        where that is known.
        """
        listed = [text.split(" ", 1) for text in contents]
        if listed:
            lost = [outcome_of(name) for checksum, name in listed if checksum not in self._intact]
            number = len(lost)
        else:
            told = self._told_by_damaged()
            lost, number = self._lost + told, self._number + len(told)
        return in_words(lost[:MOST_NAMED], number) if lost else "no outcome"

    def _lose(self, names: Sequence[str], number: int) -> None:
        """Counts outcomes; a file may say that there were more than memory holds."""
        if number > 0:
            self._number += number
            self._lost += names[: min(number, MOST_NAMED - len(self._lost))]

    def _missing(self, serial: object) -> int:
        """How many outcomes are missing before the one with this number; a run begins with 1."""
        if type(serial) is not int or serial < 1:
            return 0
        first = 1 if self._next is not None and serial < self._next else self._next
        self._next = serial + 1
        return 0 if first is None else serial - first

    def _told_by_damaged(self) -> list[str]:
        text = b"".join(line for _, line in self._damaged)
        count = max(text.count(mark) for mark in _MARKS)
        if not count:
            return []
        begins = [(number, line) for number, line in self._damaged if _MARKS[1] in line]
        told = [_named(line, number) for number, line in begins or self._damaged[:1]]
        return told + ["an outcome"] * (count - len(told))


def in_words(named: Iterable[str], number: int) -> str:
    """The first lost outcomes of so many."""
    more = f" and {number - MOST_NAMED} more" if number > MOST_NAMED else ""
    return ", ".join(named) + more


def contents_text(outcomes: Iterable[tuple[bytes, str]]) -> str:
    """The lines of outcomes with the names of their variants, as `in_words` takes them."""
    return "\n".join(f"{checksum_of(line)} {name}" for line, name in outcomes)


def contents_lines(text: bytes) -> Sequence[str]:
    """The lines of `contents_text`; none where it is something else."""
    lines = text.decode(errors="replace").split("\n")
    return lines if all(" " in line for line in lines) else ()


def _named(line: bytes, number: int) -> str:
    match = _NAME.search(line)
    name = match[1].decode(errors="replace") if match else ""
    return f"{outcome_of(name)} (line {number})"


def outcome_of(name: str) -> str:
    return f"an outcome of {name}" if name.isprintable() and name else "an outcome"
