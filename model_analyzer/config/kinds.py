# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of values that options take, and how each is read from what somebody wrote.

Every kind reads command-line text and YAML alike, so an option behaves the same in both.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from model_analyzer.config.nodes import Node, Problems, did_you_mean

E = TypeVar("E", bound=Enum)
T = TypeVar("T")

_MOST_VALUES = 10_000


class Kind(Protocol):
    """Reads one value; `metavar` stands for it in help."""

    @property
    def metavar(self) -> str: ...

    def parse(self, node: Node) -> Any:
        """The typed value, or a ConfigError that points at what is wrong."""


class Text:
    """Any scalar, as text."""

    metavar = "TEXT"

    def parse(self, node: Node) -> str:
        if not node.is_scalar or node.is_null:
            raise node.problem(f"expected text, found {node.describe()}")
        return str(node.value)


class FilePath:
    """A path; `~` is the user's home."""

    metavar = "PATH"

    def parse(self, node: Node) -> Path:
        text = Text().parse(node)
        if not text or "\0" in text:
            raise node.problem("expected a path, found empty text")
        try:
            return Path(text).expanduser()
        except RuntimeError as error:
            raise node.problem(f"cannot expand {text!r}: {error}") from error


class Integer:
    """A whole number, at least `minimum` and at most `maximum` if those are given."""

    metavar = "INTEGER"

    def __init__(self, minimum: int | None = None, maximum: int | None = None) -> None:
        self._minimum = minimum
        self._maximum = maximum

    def parse(self, node: Node) -> int:
        number = _integer(node.value)
        if number is None:
            raise node.problem(f"expected a whole number, found {node.describe()}")
        if self._minimum is not None and number < self._minimum:
            raise node.problem(f"must be at least {self._minimum}, found {number}")
        if self._maximum is not None and number > self._maximum:
            raise node.problem(f"must be at most {self._maximum}, found {number}")
        return number


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and len(value) <= 30:
        try:
            return int(value.strip())
        except ValueError:
            return None
    return None


class Number:
    """A finite number, at least `minimum` (above it where `above` is set)."""

    metavar = "NUMBER"

    def __init__(self, minimum: float | None = None, *, above: bool = False) -> None:
        self._minimum = minimum
        self._above = above

    def parse(self, node: Node) -> float:
        try:
            if isinstance(node.value, bool) or not isinstance(node.value, (int, float, str)):
                raise ValueError
            number = float(node.value)
        except (ValueError, OverflowError):
            raise node.problem(f"expected a number, found {node.describe()}") from None
        if not math.isfinite(number):
            raise node.problem(f"expected a finite number, found {node.describe()}")
        low = self._minimum
        if low is not None and (number < low or (self._above and number == low)):
            raise node.problem(
                f"must be {'above' if self._above else 'at least'} {low:g}, found {number:g}"
            )
        return number


class Boolean:
    """true or false, also as text."""

    metavar = ""
    _WORDS: Mapping[str, bool] = {
        "true": True, "yes": True, "on": True, "1": True,
        "false": False, "no": False, "off": False, "0": False,
    }  # fmt: skip

    def parse(self, node: Node) -> bool:
        word = self._WORDS.get(str(node.value).strip().lower()) if node.is_scalar else None
        if word is None:
            raise node.problem(f"expected true or false, found {node.describe()}")
        return word


class Choice(Generic[E]):
    """One of the values of an enum."""

    def __init__(self, choices: type[E]) -> None:
        self._choices = {str(choice.value): choice for choice in choices}

    @property
    def metavar(self) -> str:
        return "[" + "|".join(self._choices) + "]"

    def parse(self, node: Node) -> E:
        word = str(node.value) if node.is_scalar else ""
        same = [known for known in self._choices if known.lower() == word.lower()]
        word = same[0] if same else word
        if word not in self._choices:
            known = list(self._choices)
            hint = did_you_mean(word, known)
            raise node.problem(f"expected one of {', '.join(known)}, found {node.describe()}", hint)
        return self._choices[word]


class ListOf(Generic[T]):
    """Values of another kind: a single one, a YAML list, or text with commas."""

    def __init__(self, parse: Callable[[Node], T], metavar: str) -> None:
        self._parse = parse
        self.metavar = metavar

    def parse(self, node: Node) -> tuple[T, ...]:
        problems = Problems()
        values: list[T] = []
        for item in self.split(node):
            with problems.collect():
                values.append(self._parse(item))
        problems.raise_any()
        return tuple(values)

    @staticmethod
    def split(node: Node) -> Sequence[Node]:
        """The items that `node` stands for."""
        if node.is_list:
            return [part for item in node.items for part in ListOf._split_text(item)]
        return ListOf._split_text(node)

    @staticmethod
    def _split_text(node: Node) -> Sequence[Node]:
        if isinstance(node.value, str) and "," in node.value:
            return [
                Node(part.strip(), node.where) for part in node.value.split(",") if part.strip()
            ]
        return [node]


class Integers:
    """Whole numbers: one, a list, `1,2,4`, `{start, stop, step}` or `start:stop:step`.

    Ranges include their stop. The result is sorted, without repetitions; an empty list is one.
    """

    metavar = "INTEGERS"

    def __init__(self, minimum: int) -> None:
        self._item = Integer(minimum)

    def parse(self, node: Node) -> tuple[int, ...]:
        problems = Problems()
        values: set[int] = set()
        for item in [node] if node.is_mapping else ListOf.split(node):
            with problems.collect():
                values.update(self._expand(item))
        problems.raise_any()
        return tuple(sorted(values))

    def _expand(self, node: Node) -> Sequence[int]:
        if node.is_mapping:
            fields = {entry.key: entry.node for entry in node.entries}
            wrong = set(fields) - {"start", "stop", "step"}
            if wrong or not {"start", "stop"} <= set(fields):
                raise node.problem("a range has start and stop, and step if it is not 1")
            numbers = [
                Integer().parse(fields[key]) for key in ("start", "stop", "step") if key in fields
            ]
        elif isinstance(node.value, str) and ":" in node.value:
            parts = node.value.split(":")
            if len(parts) > 3:
                raise node.problem(
                    f"a range is start:stop or start:stop:step, found {node.describe()}"
                )
            numbers = [Integer().parse(Node(part, node.where)) for part in parts]
        else:
            return [self._item.parse(node)]
        start, stop, step = (*numbers, 1)[:3]
        if start > stop or step < 1:
            raise node.problem(f"the range from {start} to {stop} by {step} holds no number")
        self._item.parse(Node(start, node.where))
        if (stop - start) // step >= _MOST_VALUES:
            raise node.problem(f"a range of more than {_MOST_VALUES} numbers")
        return range(start, stop + 1, step)


class Gpus:
    """UUIDs or indices of GPUs, or `all`; an empty list, or the text `[]`, is none."""

    metavar = "GPUS"

    def parse(self, node: Node) -> tuple[str, ...]:
        if node.is_scalar and str(node.value).strip() in ("[]", ""):
            return ()
        words = ListOf(Text().parse, "GPUS").parse(node)
        if "all" in words and len(words) > 1:
            raise node.problem("'all' stands alone", "name either all GPUs or some")
        return words


class Endpoint:
    """HOST:PORT; a scheme in front is allowed, and a path behind where `url` is set."""

    def __init__(self, *, url: bool = False) -> None:
        self._url = url
        self.metavar = "URL" if url else "HOST:PORT"

    def parse(self, node: Node) -> str:
        text = Text().parse(node)
        bare = text.split("://", 1)[-1]
        if "@" in bare:
            # not shown: a password may be in it
            raise node.problem(
                f"expected {self.metavar} without user and password",
                "send them in an http-header of perf_analyzer_flags, as 'Authorization: Basic …'",
            )
        if self._url:
            bare = bare.split("/", 1)[0]
        host, colon, port = bare.rpartition(":")
        if not host or not colon or not port.isdecimal() or not 0 < int(port[:6]) < 65536:
            raise node.problem(
                f"expected {self.metavar} with a port from 1 to 65535, found {text!r}"
            )
        return text


class Flags:
    """A mapping of another program's flags (without dashes) to their values.

    Flags in `repeatable` take a list, one occurrence for each item.
    """

    metavar = "MAPPING"

    def __init__(
        self,
        program: str,
        known: Sequence[str],
        *,
        repeatable: Sequence[str] = (),
        underscores: bool,
    ) -> None:
        self._program = program
        self._known = known
        self._repeatable = repeatable
        self._underscores = underscores

    def parse(self, node: Node) -> Mapping[str, str | tuple[str, ...]]:
        if not node.is_mapping:
            raise node.problem(
                f"expected a mapping of {self._program} flags, found {node.describe()}"
            )
        problems = Problems()
        flags: dict[str, str | tuple[str, ...]] = {}
        for entry in node.entries:
            with problems.collect():
                name = entry.key.replace("_", "-") if self._underscores else entry.key
                if name not in self._known:
                    raise Node(entry.key, entry.where).problem(
                        f"{self._program} has no flag {entry.key!r}",
                        did_you_mean(entry.key.replace("_", "-"), self._known),
                    )
                if entry.node.is_null:
                    continue
                if name in self._repeatable and entry.node.is_list:
                    flags[name] = tuple(_flag_text(item) for item in entry.node.items)
                else:
                    flags[name] = _flag_text(entry.node)
        problems.raise_any()
        return flags


def _flag_text(node: Node) -> str:
    text = Text().parse(node)
    return text.lower() if isinstance(node.value, bool) else text


class Fields:
    """A mapping with known keys, each of its own kind. `what` names it in messages."""

    metavar = "MAPPING"

    def __init__(self, what: str, kinds: Mapping[str, Kind]) -> None:
        self._what = what
        self._kinds = kinds

    def parse(self, node: Node) -> Mapping[str, Any]:
        if not node.is_mapping:
            raise node.problem(f"expected a mapping of {self._what}, found {node.describe()}")
        problems = Problems()
        values = {}
        for entry in node.entries:
            with problems.collect():
                if entry.key not in self._kinds:
                    raise Node(entry.key, entry.where).problem(
                        f"{entry.key!r} is not among the {self._what}",
                        did_you_mean(entry.key, list(self._kinds)),
                    )
                if not entry.node.is_null:
                    values[entry.key] = self._kinds[entry.key].parse(entry.node)
        problems.raise_any()
        return values


class Environment:
    """A mapping of environment variables to text."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> Mapping[str, str]:
        if not node.is_mapping:
            raise node.problem(f"expected a mapping of variables, found {node.describe()}")
        problems = Problems()
        variables = {}
        for entry in node.entries:
            with problems.collect():
                if not entry.key or "=" in entry.key or "\0" in entry.key:
                    raise Node(entry.key, entry.where).problem("not the name of a variable")
                variables[entry.key] = Text().parse(entry.node)
        problems.raise_any()
        return variables
