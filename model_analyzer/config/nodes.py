# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Raw values with the place where each was written; and the fields of a mapping of them; and
building blocks for the JSON Schema of the configuration.

Patterns use only syntax that means the same in Python and ECMAScript, since both a kind's `parse`
and the schema use them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from model_analyzer.domain.words import closest
from model_analyzer.errors import ConfigError, Problem, wrong

T = TypeVar("T")
U = TypeVar("U")

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Entry:
    """One `key: value` of a mapping."""

    key: str
    where: str
    node: Node

    def problem(self, message: str, hint: str = "") -> ConfigError:
        """An error that points at the key."""
        return wrong(self.where, message, hint)


@dataclass(frozen=True, slots=True)
class Node:
    """A scalar, a list (tuple of nodes) or a mapping (tuple of entries) as the user wrote it.

    `where` is `FILE:LINE:COLUMN` or the name of a flag. `written` is the original text of a scalar
    that is not a string: `1.10` can be a number or a version. The top node of a file has
    `repeated`: a remark for each key of the file that occurs twice in the same mapping.
    """

    value: Scalar | tuple[Node, ...] | tuple[Entry, ...]
    where: str
    is_mapping: bool = False
    written: str = ""
    repeated: tuple[str, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries of a mapping; of two entries with the same key, the later one."""
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
        """The original text of a scalar."""
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

    def problem(self, message: str, hint: str = "") -> ConfigError:
        """An error that points at this value."""
        return wrong(self.where, message, hint)


class Problems:
    """Collects the problems of several values, to report all of them at once."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    @contextmanager
    def collect(self) -> Iterator[None]:
        """Catches a ConfigError inside the block and keeps its problems."""
        try:
            yield
        except ConfigError as error:
            self._problems.extend(error.problems)

    def add(self, problems: Iterable[Problem]) -> None:
        self._problems.extend(problems)

    def __bool__(self) -> bool:
        return bool(self._problems)

    def raise_any(self) -> None:
        """Raises one ConfigError with all problems, if there are any."""
        if self._problems:
            raise ConfigError(*dict.fromkeys(self._problems))


def read_all(items: Iterable[T], read: Callable[[T], U]) -> list[U]:
    """What `read` gives for each item. Raises ConfigError with the problems of all items."""
    problems = Problems()
    results = []
    for item in items:
        with problems.collect():
            results.append(read(item))
    problems.raise_any()
    return results


def read_mapping(node: Node, what: str, read: Callable[[Entry], T]) -> dict[str, T]:
    """What `read` gives for each entry, by key. Raises ConfigError with the problems of all
    entries, or if it is no mapping; `what` says then what should be in one.
    """
    if not node.is_mapping:
        raise node.problem(f"expected a mapping{what}, found {node.describe()}")
    results = read_all(node.entries, lambda entry: (entry.key, read(entry)))
    return dict(results)


def did_you_mean(word: str, choices: Sequence[str], *, similarity: float = 0.6) -> str:
    """A hint that names the most similar of the `choices`, or lists them if they are few."""
    listed = f"one of: {', '.join(choices)}" if 0 < len(choices) <= 20 else ""
    return nearest(word, choices, similarity=similarity) or listed


def nearest(word: str, choices: Sequence[str], *, similarity: float = 0.6) -> str:
    """A hint that names the most similar of the `choices`; "" if none has this `similarity` (0 to
    1).
    """
    match = closest(word, choices, similarity)
    return f"did you mean {match!r}?" if match else ""


# Reads the value of a key. Raises ConfigError if it is invalid.
Read = Callable[[Node], Any]


def fields_of(
    node: Node, readers: Mapping[str, Read], *, required: Sequence[str]
) -> Mapping[str, Any]:
    """The values of a mapping with these keys. Raises ConfigError with all problems."""

    def read(entry: Entry) -> Any:
        if entry.key not in readers:
            hint = did_you_mean(entry.key, list(readers))
            raise entry.problem(f"unknown key {entry.key!r}", hint)
        return readers[entry.key](entry.node)

    problems = Problems()
    values: Mapping[str, Any] = {}
    with problems.collect():
        values = read_mapping(node, f" with {', '.join(readers)}", read)
    for key in required if node.is_mapping else ():
        with problems.collect():
            if key not in {entry.key for entry in node.entries}:
                raise node.problem(f"{key} is missing")
    problems.raise_any()
    return values


Schema = Mapping[str, Any]

NULL: Schema = {"type": "null"}
# types that YAML may give to text
SCALAR: Schema = {"type": ["string", "number", "boolean"]}
# the name of a directory or a file
NAME = r"^(?!\.{1,2}$)[^/\u0000-\u001f]+$"


def any_of(*schemas: Schema) -> Schema:
    """Accepts what at least one of `schemas` accepts."""
    flat = [part for schema in schemas for part in schema.get("anyOf", [schema])]
    return flat[0] if len(flat) == 1 else {"anyOf": flat}


def array(items: Schema, **more: Any) -> Schema:
    return {"type": "array", "items": items, **more}


def mapping(values: Schema, *, names: str | None = None) -> Schema:
    """Any keys (that match `names`), all with the same kind of value."""
    keys = {} if names is None else {"propertyNames": {"pattern": names}}
    return {"type": "object", **keys, "additionalProperties": values}


def closed(properties: Mapping[str, Schema], **more: Any) -> Schema:
    """Only these keys."""
    return {"type": "object", "properties": properties, "additionalProperties": False, **more}


def text(pattern: str) -> Schema:
    """Text that matches `pattern`, with optional blanks around it."""
    return {"type": "string", "pattern": whole(pattern)}


def whole(pattern: str) -> str:
    return rf"^\s*(?:{pattern})\s*$"


def with_commas(pattern: str) -> Schema:
    """Text with commas between pieces that each match `pattern`; blank pieces are skipped."""
    piece = rf"\s*(?:{pattern})?\s*"
    return {"type": "string", "pattern": rf"^(?=[\s\S]*[^\s,]){piece}(?:,{piece})*$"}


def any_case(word: str) -> str:
    """The pattern of `word` in lower and upper case."""
    return "".join(f"[{c.upper()}{c.lower()}]" if c.isalpha() else c for c in word)
