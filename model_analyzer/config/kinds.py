# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The kinds of values that options take, and how each is parsed.

Every kind parses command-line text and YAML in the same way, so an option behaves the same in
both. It also has the JSON Schema of the YAML values that it accepts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from model_analyzer.config.nodes import (
    NULL,
    SCALAR,
    Entry,
    Node,
    Problems,
    Schema,
    any_case,
    any_of,
    array,
    closed,
    did_you_mean,
    mapping,
    nearest,
    read_all,
    read_mapping,
    text,
    whole,
    with_commas,
)
from model_analyzer.domain.words import MOST_COUNT, MOST_NUMBER, MOST_SECONDS

E = TypeVar("E", bound=Enum)

# The most values in a list of numbers or in text with commas. To measure more would take days.
_MOST_VALUES = 10_000


class Kind(Protocol):
    """Parses one value; `metavar` stands for it in help texts."""

    @property
    def metavar(self) -> str: ...

    def parse(self, node: Node) -> Any:
        """The typed value. Raises ConfigError that points at an invalid part."""

    def schema(self) -> Schema:
        """The JSON Schema of the values that `parse` accepts, as far as a schema can express it."""


class Item(Kind, Protocol):
    """A kind that can be an item of a list with commas; `pattern` matches its text there."""

    @property
    def pattern(self) -> str: ...


class Text:
    """Any scalar, as text."""

    metavar = "TEXT"
    pattern = "[^,]+"

    def parse(self, node: Node) -> str:
        if not node.is_scalar or node.is_null:
            raise node.problem(f"expected text, found {node.describe()}")
        return node.text

    def schema(self) -> Schema:
        return SCALAR


class Label(Text):
    """LABEL=VALUE, as text."""

    metavar = "LABEL=VALUE"
    pattern = r"[^,=]*[^,=\s][^,=]*=[^,]*"

    def parse(self, node: Node) -> str:
        written = super().parse(node).strip()
        if written.find("=") < 1:
            raise node.problem(f"expected LABEL=VALUE, found {node.describe()}")
        return written

    def schema(self) -> Schema:
        return text(self.pattern)


class Url(Text):
    """The address of a store: a URL or a path."""

    metavar = "URL"

    def parse(self, node: Node) -> str:
        written = super().parse(node)
        if not written.strip() or "\0" in written:
            raise node.problem("expected a URL or a path, found empty text")
        return written

    def schema(self) -> Schema:
        return {**SCALAR, "pattern": r"^[^\u0000]*[^\u0000\s][^\u0000]*$"}


class FilePath:
    """A path; `~` is the home directory of the user."""

    metavar = "PATH"

    def parse(self, node: Node) -> Path:
        written = Text().parse(node)
        if not written or "\0" in written:
            raise node.problem("expected a path, found empty text")
        try:
            return Path(written).expanduser()
        except RuntimeError as error:
            raise node.problem(f"cannot expand {written!r}: {error}") from error

    def schema(self) -> Schema:
        return {**SCALAR, "pattern": r"^[^\u0000]+$"}


class PathOrUrl:
    """A path, or the URL of a place that fsspec reaches."""

    metavar = "PATH|URL"

    def parse(self, node: Node) -> Path | str:
        written = Text().parse(node)
        return Url().parse(node) if is_url(written) else FilePath().parse(node)

    def schema(self) -> Schema:
        return FilePath().schema()


def is_url(text: str) -> bool:
    """Whether the text of a path or URL is a URL."""
    return "://" in text


class FilePrefix:
    """The first part of file names, before a dash. It must not contain a `reserved` part:
    `NAME-journal-0.ckpt` would be a journal of the run called NAME.
    """

    metavar = "NAME"

    def __init__(self, *, reserved: Sequence[str]) -> None:
        not_reserved = rf"(?!(?:.*-)?(?:{'|'.join(reserved)})(?:-|$))"
        self._pattern = rf"{not_reserved}[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_.])?"

    def parse(self, node: Node) -> str:
        if not isinstance(node.value, str) or not re.fullmatch(self._pattern, node.value):
            raise node.problem(
                "expected a name of letters, digits, '_', '.' and '-' that is not reserved, found"
                f" {node.describe()}"
            )
        return node.value

    def schema(self) -> Schema:
        return {"type": "string", "pattern": rf"^{self._pattern}$(?!\n)"}


class Integer:
    """A whole number from `minimum` to `maximum`."""

    metavar = "INTEGER"
    expected = "a whole number"

    def __init__(self, minimum: int = -MOST_COUNT, maximum: int = MOST_COUNT) -> None:
        self._minimum = minimum
        self._maximum = maximum

    @property
    def pattern(self) -> str:
        if self._minimum < 0:
            return "[+-]?[0-9]+"
        return r"\+?[0-9]+" if self._minimum == 0 else r"\+?0*[1-9][0-9]*"

    def parse(self, node: Node) -> int:
        number = _integer(node.value)
        if number is None:
            raise node.problem(f"expected {self.expected}, found {node.describe()}")
        if number < self._minimum:
            raise node.problem(f"must be at least {self._minimum}, found {number}")
        if number > self._maximum:
            raise node.problem(f"must be at most {self._maximum}, found {number}")
        return number

    def schema(self) -> Schema:
        bounds = {"minimum": self._minimum, "maximum": self._maximum}
        return any_of({"type": "integer", **bounds}, text(self.pattern))


class IntegerOr(Integer):
    """A whole number, or a word that means the same as no value."""

    def __init__(self, word: str, minimum: int) -> None:
        super().__init__(minimum)
        self._word = word
        self.metavar = f"[INTEGER|{word}]"
        self.expected = f"a whole number or {word}"

    def parse(self, node: Node) -> int | None:  # type: ignore[override]
        if isinstance(node.value, str) and node.value.strip().lower() == self._word:
            return None
        return super().parse(node)

    def schema(self) -> Schema:
        return any_of(super().schema(), text(any_case(self._word)))


_WHOLE_NUMBER = re.compile(whole("[+-]?[0-9]{1,30}"))


def _integer(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and _WHOLE_NUMBER.search(value):
        return int(value)
    return None


class Number:
    """A number from `minimum`, or above it with `above`, to `maximum`."""

    metavar = "NUMBER"

    def __init__(
        self, minimum: float = -MOST_NUMBER, maximum: float = MOST_NUMBER, *, above: bool = False
    ) -> None:
        self._minimum = minimum
        self._maximum = maximum
        self._above = above

    def parse(self, node: Node) -> float:
        value = node.value
        if isinstance(value, str):
            value = value if _NUMBER_OR_NONE.search(value) else None
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise node.problem(f"expected a number, found {node.describe()}")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            raise node.problem(f"expected a finite number, found {node.describe()}")
        low = self._minimum
        if number < low or (self._above and number == low):
            raise node.problem(
                f"must be {'above' if self._above else 'at least'} {low:g}, found {number:g}"
            )
        if number > self._maximum:
            raise node.problem(f"must be at most {self._maximum:g}, found {number:g}")
        return number

    def schema(self) -> Schema:
        least = "exclusiveMinimum" if self._above else "minimum"
        bounds = {least: self._minimum, "maximum": self._maximum}
        return any_of({"type": "number", **bounds}, text(_NUMBER))


_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER_OR_NONE = re.compile(whole(rf"{_NUMBER}|[+-]?(?:inf|infinity|nan)"))


class Percent:
    """A percentage from `minimum` to `maximum`, `90` or `90%`, as a fraction."""

    metavar = "PERCENT"

    def __init__(self, minimum: float, maximum: float) -> None:
        self._number = Number(minimum, maximum)

    def parse(self, node: Node) -> float:
        value = node.value
        if isinstance(value, str):
            node = Node(value.removesuffix("%"), node.where)
        return self._number.parse(node) / 100

    def schema(self) -> Schema:
        return any_of(*self._number.schema()["anyOf"][:1], text(f"(?:{_NUMBER})%?"))


class Duration:
    """A duration above 0 in seconds: a number of seconds, or `90s`, `20m`, `1.5h`, `1h30m`. The
    longest is more than 11 days.
    """

    metavar = "DURATION"
    _seconds = Number(0, MOST_SECONDS, above=True)

    def parse(self, node: Node) -> float:
        value = node.value
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self._seconds.parse(node)
        if not isinstance(value, str) or not _DURATION_TEXT.search(value):
            raise node.problem(
                f"expected a duration in hours, minutes or seconds, such as 1h30m, 20m or 0.5s,"
                f" found {node.describe()}"
            )
        parts = re.findall(r"([0-9.]+)([hms]?)", value)
        seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
        if seconds > MOST_SECONDS:
            raise node.problem(f"must be at most {MOST_SECONDS}s, found {node.describe()}")
        return self._seconds.parse(Node(seconds, node.where))

    def schema(self) -> Schema:
        above_0 = rf"(?=[^1-9]*[1-9])(?:{_DURATION})"
        return any_of(*self._seconds.schema()["anyOf"][:1], text(above_0))


_COUNT = r"[0-9]{1,30}(?:\.[0-9]{1,9})?"
_DURATION = rf"(?:{_COUNT}[hms])+|{_COUNT}"
_DURATION_TEXT = re.compile(whole(_DURATION))
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "": 1.0}


class Boolean:
    """true or false, as YAML or as text."""

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

    def schema(self) -> Schema:
        words = text("|".join(map(any_case, self._WORDS)))
        return any_of({"type": "boolean"}, {"enum": [0, 1]}, words)


class Deployed(Boolean):
    """Where something is deployed: a server's URL; true ("") starts one; None is false."""

    metavar = "[URL]"

    def parse(self, node: Node) -> Any:
        written = str(node.value)
        if not is_url(written):
            if node.is_scalar and written.strip().lower() in self._WORDS:
                return "" if super().parse(node) else None
            raise node.problem(f"expected true or a URL, found {node.describe()}", _URLS)
        if written.partition("://")[0] not in ("grpc", "http", "https"):
            raise node.problem(f"no server is reached by {written!r}", _URLS)
        return Endpoint().parse(node)

    def schema(self) -> Schema:
        return any_of(super().schema(), text(rf"(?:grpc|https?)://[^\s/@,]+:{_PORT}"))


_URLS = "for example grpc://host:8001 or http://host:8000"


class OneOf(Generic[E]):
    """One of the values of an enum. `aliases` are accepted too, but help does not show them."""

    def __init__(self, choices: type[E], aliases: Mapping[str, E] = MappingProxyType({})) -> None:
        self.words: Sequence[str] = tuple(str(choice.value) for choice in choices)
        self._choices = {**dict(zip(self.words, choices, strict=True)), **aliases}

    @property
    def metavar(self) -> str:
        return "[" + "|".join(self.words) + "]"

    @property
    def pattern(self) -> str:
        return "|".join(map(any_case, self._choices))

    def parse(self, node: Node) -> E:
        word = node.text.strip() if node.is_scalar else ""  # YAML reads `off` as false
        matches = [choice for choice in self._choices if choice.lower() == word.lower()]
        word = matches[0] if matches else word
        if word not in self._choices:
            expected = ", ".join(self.words)
            hint = nearest(word, self.words)
            raise node.problem(f"expected one of {expected}, found {node.describe()}", hint)
        return self._choices[word]

    def schema(self) -> Schema:
        return any_of({"enum": list(self.words)}, text(self.pattern))


class ListOf:
    """Values of another kind: a single value, a YAML list, or text with commas.

    Commas also split the items of a YAML list, unless `whole_items` is set.
    """

    def __init__(self, item: Item, metavar: str, *, whole_items: bool = False) -> None:
        self.item = item
        self._whole_items = whole_items
        self.metavar = metavar

    def parse(self, node: Node) -> tuple[Any, ...]:
        items = node.items if self._whole_items and node.is_list else self.split(node)
        return tuple(read_all(items, self.item.parse))

    def schema(self) -> Schema:
        item = any_of(self.item.schema(), with_commas(self.item.pattern))
        return any_of(item, array(self.item.schema() if self._whole_items else item))

    @staticmethod
    def split(node: Node) -> Sequence[Node]:
        """The items of `node`: of a list, or of text with commas."""
        if node.is_list:
            return [part for item in node.items for part in ListOf._split_text(item)]
        return ListOf._split_text(node)

    @staticmethod
    def _split_text(node: Node) -> Sequence[Node]:
        if not isinstance(node.value, str) or "," not in node.value:
            return [node]
        if node.value.count(",") > _MOST_VALUES:
            raise node.problem(f"more than {_MOST_VALUES} values between commas")
        parts = [Node(part.strip(), node.where) for part in node.value.split(",") if part.strip()]
        if not parts:
            raise node.problem(f"expected values between commas, found {node.describe()}")
        return parts


class Integers:
    """Whole numbers: a number, a list, `1,2,4`, `{start, stop, step}` or `start:stop:step`.

    A range includes its stop. The result is sorted, without duplicates. An empty list is valid.
    """

    metavar = "INTEGERS"

    def __init__(self, minimum: int, maximum: int = MOST_COUNT) -> None:
        self._bounds = {"minimum": minimum, "maximum": maximum}
        self._item = Integer(minimum, maximum)

    def parse(self, node: Node) -> tuple[int, ...]:
        problems = Problems()
        values: set[int] = set()
        for item in [node] if node.is_mapping else ListOf.split(node):
            with problems.collect():
                values.update(self._expand(item))
            if len(values) > _MOST_VALUES:
                raise node.problem(f"more than {_MOST_VALUES} numbers")
        problems.raise_any()
        return tuple(sorted(values))

    def _expand(self, node: Node) -> Sequence[int]:
        if node.is_mapping:
            fields = {entry.key: entry.node for entry in node.entries}
            if not {"start", "stop"} <= set(fields) <= {"start", "stop", "step"}:
                raise node.problem("a range has start, stop and (if not 1) step")
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
            raise node.problem(f"the range from {start} to {stop} by {step} is empty")
        for number in (start, stop):
            self._item.parse(Node(number, node.where))
        if (stop - start) // step >= _MOST_VALUES:
            raise node.problem(f"a range of more than {_MOST_VALUES} numbers")
        return range(start, stop + 1, step)

    def schema(self) -> Schema:
        low, above = self._item, Integer(1)
        spelled = rf"{low.pattern}(?:\s*:\s*{low.pattern}(?:\s*:\s*{above.pattern})?)?"
        in_fields = closed(
            {"start": low.schema(), "stop": low.schema(), "step": above.schema()},
            required=["start", "stop"],
        )
        numbers = any_of({"type": "integer", **self._bounds}, with_commas(spelled))
        return any_of(numbers, in_fields, array(any_of(numbers, in_fields)))


class Gpus:
    """UUIDs or indices of GPUs, or `all`; an empty list or the text `[]` means none."""

    metavar = "GPUS"

    def parse(self, node: Node) -> tuple[str, ...]:
        if node.is_scalar and str(node.value).strip() in ("[]", ""):
            return ()
        words = ListOf(Text(), "GPUS").parse(node)
        if "all" in words and len(words) > 1:
            raise node.problem(
                "'all' cannot be combined with other GPUs", "give either 'all' or a list of GPUs"
            )
        return words

    def schema(self) -> Schema:
        return any_of(SCALAR, array(SCALAR))


class Endpoint:
    """HOST:PORT, with an optional scheme before it; with `url`, also a path after it."""

    def __init__(self, *, url: bool = False) -> None:
        self._url = url
        self.metavar = "URL" if url else "HOST:PORT"

    def parse(self, node: Node) -> str:
        written = Text().parse(node)
        if "@" in written:
            # the message does not show the text, which may contain a password
            raise node.problem(
                f"{self.metavar} must not contain a user or password",
                "use an http-header in perf_analyzer_flags, for example 'Authorization: Basic …'",
            )
        if not re.search(whole(self.pattern), written):
            raise node.problem(
                f"expected {self.metavar} with a port from 1 to 65535, found {written!r}"
            )
        return written.strip()

    def schema(self) -> Schema:
        return text(self.pattern)

    @property
    def pattern(self) -> str:
        path = r"(?:/[^\s@,]*)?" if self._url else ""
        return rf"(?:[A-Za-z][A-Za-z0-9+.-]*://)?[^\s/@,]+:{_PORT}{path}"


_PORT = "0*(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"


class Flags:
    """A mapping of another program's flags (without leading dashes) to their values.

    A flag in `repeatable` takes a list and is passed once for each item. A flag in `words` has
    values such as `off` that are not booleans. `values` has the kinds of values that the program
    accepts; other flags take any text.

    With `may_have_others`, other versions of the program may have other flags: these are accepted
    with any values, unless the name is probably a misspelled one.
    """

    metavar = "MAPPING"

    def __init__(
        self,
        program: str,
        names: Sequence[str],
        *,
        repeatable: Sequence[str] = (),
        words: Sequence[str] = (),
        values: Mapping[str, Kind] = MappingProxyType({}),
        letters: Mapping[str, str] = MappingProxyType({}),
        underscores: bool,
        may_have_others: bool = False,
    ) -> None:
        self.program = program
        self._letters = letters
        self._names = names
        self._repeatable = repeatable
        self._words = words
        self._values = values
        self._underscores = underscores
        self._may_have_others = may_have_others

    def parse(self, node: Node) -> Mapping[str, str | tuple[str, ...]]:
        flags = read_mapping(node, f" of {self.program} flags", self._flag)
        return {self._name(key): value for key, value in flags.items() if value is not None}

    def _name(self, key: str) -> str:
        return key.replace("_", "-") if self._underscores else key

    def _flag(self, entry: Entry) -> str | tuple[str, ...] | None:
        """The value of a flag; None if it is not given."""
        name = self._name(entry.key)
        is_other = name not in self._names
        if is_other:
            self._check_other(name, entry)
        if entry.node.is_null:
            return None
        if entry.node.is_list and (is_other or name in self._repeatable):
            return tuple(self._value(name, item) for item in entry.node.items)
        return self._value(name, entry.node)

    def is_known(self, name: str) -> bool:
        return name in self._names

    def kind_of(self, name: str) -> Kind | None:
        """The kind of the values of a flag; None if it takes any text."""
        return self._values.get(name)

    def _check_other(self, name: str, entry: Entry) -> None:
        word = entry.key.replace("_", "-")
        letter = self._letters.get(word)
        hint = did_you_mean(word, self._names) if letter is None else f"write {letter}"
        if self._may_have_others and _FLAG_NAME.fullmatch(name):
            hint = nearest(word, self._names, similarity=_PROBABLY_MISSPELLED)
            if not hint:
                return
        raise entry.problem(f"{self.program} has no flag {entry.key!r}", hint)

    def _value(self, name: str, node: Node) -> str:
        if isinstance(node.value, bool) and name not in self._words:
            written = str(node.value).lower()
        else:
            written = Text().parse(node)
        if (kind := self.kind_of(name)) is not None:
            kind.parse(Node(node.value, node.where, written=node.written))
        return written

    def schema(self) -> Schema:
        flags = {name: self._flag_schema(name) for name in self._names}
        by_pattern: dict[str, Schema] = {}
        if self._underscores:
            patterns = {name: name.replace("-", "[_-]") for name in flags if "-" in name}
            by_pattern = {f"^{pattern}$": flags[name] for name, pattern in patterns.items()}
        if self._may_have_others:
            separators = "_-" if self._underscores else "-"
            by_pattern[rf"^[a-z][a-z0-9{separators}]+$(?!\n)"] = _ANY_FLAG
        return closed(flags, **({"patternProperties": by_pattern} if by_pattern else {}))

    def _flag_schema(self, name: str) -> Schema:
        kind = self.kind_of(name)
        value = SCALAR if kind is None else kind.schema()
        return any_of(value, NULL, *([array(SCALAR)] if name in self._repeatable else []))


_FLAG_NAME = re.compile("[a-z][a-z0-9-]+")
_ANY_FLAG = any_of(SCALAR, NULL, array(SCALAR))

# Similarity (0 to 1) above which an unknown flag is probably a misspelled one.
_PROBABLY_MISSPELLED = 0.8


class Fields:
    """A mapping with a fixed set of keys. Each key has its own kind. `title` names the mapping in
    messages.
    """

    metavar = "MAPPING"

    def __init__(self, title: str, kinds: Mapping[str, Kind]) -> None:
        self._title = title
        self._kinds = kinds

    def parse(self, node: Node) -> Mapping[str, Any]:
        values = read_mapping(node, f" of {self._title}", self._field)
        return {key: value for key, value in values.items() if value is not None}

    def _field(self, entry: Entry) -> Any:
        if entry.key not in self._kinds:
            hint = did_you_mean(entry.key, list(self._kinds))
            raise entry.problem(f"{entry.key!r} is not one of the {self._title}", hint)
        return None if entry.node.is_null else self._kinds[entry.key].parse(entry.node)

    def schema(self) -> Schema:
        return closed({name: any_of(kind.schema(), NULL) for name, kind in self._kinds.items()})


class Switchable(Fields):
    """Like `Fields`, or true or false, which stands for `check`."""

    metavar = "[on|off|MAPPING]"

    def parse(self, node: Node) -> Mapping[str, Any]:
        return super().parse(node) if node.is_mapping else {"check": Boolean().parse(node)}

    def schema(self) -> Schema:
        return any_of(Boolean().schema(), super().schema())


class Environment:
    """A mapping of environment variables to text."""

    metavar = "MAPPING"

    def parse(self, node: Node) -> Mapping[str, str]:
        return read_mapping(node, " of variables", self._variable)

    @staticmethod
    def _variable(entry: Entry) -> str:
        if not entry.key or "=" in entry.key or "\0" in entry.key:
            raise entry.problem("not a valid variable name")
        return Text().parse(entry.node)

    def schema(self) -> Schema:
        return mapping(SCALAR, names=r"^[^=\u0000]+$")
