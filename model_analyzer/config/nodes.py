# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Raw values that remember where they were written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches

from model_analyzer.errors import ConfigError, Problem

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key: value` of a mapping."""

    key: str
    where: str
    node: Node


@dataclass(frozen=True, slots=True)
class Node:
    """A scalar, a list (tuple of nodes) or a mapping (tuple of entries) as somebody wrote it.

    `where` is `FILE:LINE:COLUMN` or the name of a flag. `written` is how a scalar that is no
    text was spelled: `1.10` is a number to whoever wants one, and a version to others.
    `repeated` says of a file's top, anywhere in it, which key stands again in the same mapping.
    """

    value: Scalar | tuple[Node, ...] | tuple[Entry, ...]
    where: str
    is_mapping: bool = False
    written: str = ""
    repeated: tuple[str, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of a mapping; the later of two equal keys wins."""
        assert isinstance(self.value, tuple)
        latest = {entry.key: entry for entry in self.value if isinstance(entry, Entry)}
        return tuple(latest.values())

    @property
    def items(self) -> tuple[Node, ...]:
        """The items of a list."""
        assert isinstance(self.value, tuple)
        return tuple(item for item in self.value if isinstance(item, Node))

    @property
    def is_list(self) -> bool:
        return isinstance(self.value, tuple) and not self.is_mapping

    @property
    def is_scalar(self) -> bool:
        return not isinstance(self.value, tuple)

    @property
    def is_null(self) -> bool:
        return self.value is None

    @property
    def text(self) -> str:
        """A scalar as it was written."""
        return self.written or str(self.value)

    def describe(self) -> str:
        """The value in a few words, for an error message."""
        if self.is_mapping:
            return "a mapping"
        if self.is_list:
            return "a list"
        if self.is_null:
            return "nothing"
        if isinstance(self.value, bool):
            return str(self.value).lower()
        text = repr(self.value)
        return text if len(text) <= 60 else text[:57] + "..."

    def problem(self, what: str, hint: str = "") -> ConfigError:
        """An error that points at this value."""
        return ConfigError(Problem(where=self.where, what=what, hint=hint))


class Problems:
    """Collects the problems of several values, so that all are reported at once."""

    def __init__(self) -> None:
        self._found: list[Problem] = []

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Keep the problems of what happens inside, and go on behind it."""
        try:
            yield
        except ConfigError as error:
            self._found.extend(error.problems)

    def add(self, problems: Iterable[Problem]) -> None:
        self._found.extend(problems)

    def raise_any(self) -> None:
        """Raise one error with everything that was found, if anything was."""
        if self._found:
            raise ConfigError(*dict.fromkeys(self._found))


def did_you_mean(word: str, known: Sequence[str]) -> str:
    """A hint that names the nearest of the `known` words, or lists them if they are few."""
    listed = f"one of: {', '.join(known)}" if 0 < len(known) <= 12 else ""
    return nearest(word, known) or listed


def nearest(word: str, known: Sequence[str]) -> str:
    """A hint that names the nearest of the `known` words, if any is near."""
    near = get_close_matches(word, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else ""
