# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads YAML into nodes with file, line and column, and options from environment variables:
MODEL_ANALYZER_ and the key in upper case. Only this module opens YAML files.

A placeholder of a template that nobody has filled in, such as `${MODELS}`, `$MODELS`,
`{{ models }}` or `<MODELS>`, is a problem.

Reads prices of hardware from a YAML file. config/prices.yaml is an example without prices.
"""

from __future__ import annotations

import errno
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import yaml

from model_analyzer.config.former_keys import FORMER_KEYS
from model_analyzer.config.kinds import Integer, Text
from model_analyzer.config.nodes import Entry, Node, Read, Scalar, fields_of, read_all, read_mapping
from model_analyzer.config.options import OPTIONS
from model_analyzer.config.table import VARIABLE_PREFIX, Option
from model_analyzer.domain.costs import NodeType, Prices
from model_analyzer.errors import ConfigError, Problem, wrong
from model_analyzer.reading.untrusted import read_named

_MOST_BYTES = 16 * 2**20
_DEEPEST = 40
# No valid configuration has more values; each costs time and memory.
_MOST_VALUES = 200_000

_LONGEST_NUMBER = 100

_CORE = "tag:yaml.org,2002:"
_COLLECTIONS = {_CORE + kind for kind in ("map", "seq", "omap", "set")}
_NUMBERS = {_CORE + kind for kind in ("int", "float")}
_TYPED = {_CORE + kind for kind in ("null", "bool")} | _NUMBERS
# dates too: they stay text
_TEXTS = {_CORE + kind for kind in ("str", "timestamp", "value", "merge")}

# A mapping with more keys can only come from merge keys that multiply.
_MOST_KEYS = 10_000


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader (the C version if available) that refuses endless merges."""

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        super().flatten_mapping(node)
        if len(node.value) > _MOST_KEYS:
            raise yaml.constructor.ConstructorError(
                None, None, "too many entries from merge keys", node.start_mark
            )


def read_yaml(path: Path) -> Node | None:
    """The top-level node of a YAML file; None if the file is empty.

    Raises ConfigError with file, line and column if the file is not safe, plain YAML.
    """
    node = parse_yaml(read_text(path), str(path))
    return None if node is None or node.is_null else node


def read_text(path: Path) -> str:
    """The text of a YAML file. Raises ConfigError if it cannot be read, or is too large."""
    try:
        data = read_named(path, most_bytes=_MOST_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            message, hint = "larger than 16 MiB: not a configuration", ""
        else:
            message, hint = f"cannot be read: {error.strerror}", "check the path"
        raise wrong(str(path), message, hint) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = _place(str(path), data[: error.start].decode("utf-8"))
        raise wrong(where, "is not UTF-8 text") from error


def parse_yaml(text: str, name: str) -> Node | None:
    """The top-level node of YAML `text`; `name` is the file in messages."""
    try:
        return _parsed(text, name)
    except ConfigError as error:
        where = error.problems[0].where
        place = re.fullmatch(r".*:(\d+):\d+", where, re.DOTALL)
        for line in text.split("\n")[int(place[1]) - 1 :][:1] if place else ():
            if problem := placeholder_in(line, where):
                raise ConfigError(problem) from error
        raise


def _parsed(text: str, name: str) -> Node | None:
    try:
        _check_size(text, name)
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            node = None if root is None else _Reader(loader, name).root(root)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else f"{name}:1:1"
        reason = " ".join(filter(None, (error.context, error.problem)))
        is_tab = mark is not None and text.lstrip("\ufeff")[mark.index :].startswith("\t")
        hint = "a tab: indent with spaces" if is_tab else ""
        raise wrong(where, f"not valid YAML: {reason}", hint) from error
    except yaml.reader.ReaderError as error:
        where = _place(name, text[: text.index(chr(error.character))])
        reason = str(error).splitlines()[0]
        raise wrong(where, f"not valid YAML: {reason}") from error
    return node


def _place(name: str, prefix: str) -> str:
    """The place in file `name` directly after the text `prefix`."""
    line, column = prefix.count("\n") + 1, len(prefix) - prefix.rfind("\n")
    return f"{name}:{line}:{column}"


def _check_size(text: str, name: str) -> None:
    """Refuses too deep nesting, which needs stack, and too many values, which need memory, before
    the nodes are built.
    """
    depth = values = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, (yaml.SequenceStartEvent, yaml.MappingStartEvent)):
            depth += 1
        elif isinstance(event, (yaml.SequenceEndEvent, yaml.MappingEndEvent)):
            depth -= 1
        if depth > _DEEPEST:
            mark = event.start_mark
            where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
            raise wrong(where, "nested too deeply")
        values += isinstance(event, yaml.ScalarEvent)
        if values > _MOST_VALUES:
            raise wrong(name, f"more than {_MOST_VALUES} values")


class _Reader:
    """Converts PyYAML's node graph. Aliases share a node; cycles are refused."""

    def __init__(self, loader: yaml.SafeLoader, name: str) -> None:
        self._loader = loader
        self._name = name
        self._done: dict[int, Node] = {}
        self._height: dict[int, int] = {}
        self._open: set[int] = set()
        self._repeated: list[str] = []

    def root(self, raw: yaml.Node) -> Node:
        return replace(self.node(raw), repeated=tuple(self._repeated))

    def node(self, raw: yaml.Node) -> Node:
        if id(raw) in self._done:
            return self._done[id(raw)]
        where = self._where(raw)
        if id(raw) in self._open:
            raise wrong(where, "an alias contains itself")
        self._open.add(id(raw))
        if isinstance(raw, yaml.ScalarNode):
            result = Node(self._scalar(raw, where), where, written=str(raw.value))
        elif raw.tag not in _COLLECTIONS:
            raise wrong(where, f"unsupported tag {raw.tag!r}")
        elif isinstance(raw, yaml.MappingNode):
            result = self._mapping(raw, where)
        else:
            result = Node(tuple(self.node(item) for item in raw.value), where)
        self._open.discard(id(raw))
        self._done[id(raw)] = result
        self._measure(raw, where)
        return result

    def _measure(self, raw: yaml.Node, where: str) -> None:
        """Refuses too deep nesting by aliases that contain other aliases."""
        parts: list[yaml.Node] = []
        if isinstance(raw, yaml.MappingNode):
            parts = [value for _, value in raw.value]
        elif isinstance(raw, yaml.SequenceNode):
            parts = raw.value
        height = 1 + max((self._height[id(part)] for part in parts), default=0)
        if height > _DEEPEST + 1:
            raise wrong(where, "nested too deeply")
        self._height[id(raw)] = height

    def _mapping(self, raw: yaml.MappingNode, where: str) -> Node:
        self._note_repeated(raw)
        self._loader.flatten_mapping(raw)
        entries = []
        for key, value in raw.value:
            if not isinstance(key, yaml.ScalarNode):
                raise wrong(self._where(key), "a key must be plain text")
            entries.append(Entry(str(key.value), self._where(key), self.node(value)))
        return Node(tuple(entries), where, is_mapping=True)

    def _note_repeated(self, raw: yaml.MappingNode) -> None:
        """Notes repeated keys. Call it before merges, whose keys may be repeated."""
        earlier: dict[str, str] = {}
        for key, _ in raw.value:
            if isinstance(key, yaml.ScalarNode):
                name, where = str(key.value), self._where(key)
                if name in earlier:
                    self._repeated.append(
                        f"{where}: {name!r} replaces the value at {earlier[name]}"
                    )
                earlier[name] = where

    def _scalar(self, raw: yaml.ScalarNode, where: str) -> Scalar:
        text = str(raw.value)
        if raw.tag in _NUMBERS and (":" in text or len(text) > _LONGEST_NUMBER):
            return text  # YAML 1.1 reads 1:10:2 as a number in base 60
        if raw.tag in _TYPED:
            try:
                value: Scalar = self._loader.construct_object(raw)
            except (ValueError, LookupError, AttributeError) as error:
                kind = raw.tag.rpartition(":")[2]
                raise wrong(where, f"{text!r} is not a valid {kind}") from error
            return value
        if raw.tag not in _TEXTS:
            raise wrong(where, f"unsupported tag {raw.tag!r}")
        return text

    def _where(self, raw: yaml.Node) -> str:
        return f"{self._name}:{raw.start_mark.line + 1}:{raw.start_mark.column + 1}"


# Similarity (0 to 1) above which a name is probably a misspelled key.
_LEAST_SIMILARITY = 0.8
# A shorter beginning of an option is probably something else.
_LEAST_LETTERS = 5


def read_environment(environment: Mapping[str, str]) -> Sequence[Entry]:
    """The options that variables set, in table order. An empty variable counts as not set.

    If the option has a flag, the text is the value of that flag; otherwise it is YAML.
    Raises ConfigError that names each variable with invalid YAML.
    """

    def read(option: Option) -> Entry:
        name, text = option.variable, environment[option.variable]
        node = Node(text, name) if option.flags else parse_yaml(text, name) or Node(None, name)
        return Entry(option.key, name, node)

    given = [option for option in OPTIONS if environment.get(option.variable, "").strip()]
    return read_all(given, read)


def misspelled(environment: Mapping[str, str]) -> Iterator[str]:
    """A remark for each variable whose name resembles that of an option, or is a part of it.

    Other variables with the prefix may belong to other programs, such as those that Kubernetes sets
    for a service.
    """
    options = {option.variable.removeprefix(VARIABLE_PREFIX): option for option in OPTIONS}
    for name in environment:
        word = name.removeprefix(VARIABLE_PREFIX)
        if word in (name, "PORT") or word in options:  # Kubernetes sets _PORT for a service
            continue
        matches = get_close_matches(word.upper(), options, n=1, cutoff=_LEAST_SIMILARITY)
        matches = matches or sorted(filter(partial(_is_part, word.upper()), options), key=len)
        hint = FORMER_KEYS.get(word.lower(), "")
        if matches:
            hint = f"did you mean {options[matches[0]].variable}?"
        if hint:
            yield f"{name}: unknown variable, ignored: {hint}"


def _is_part(word: str, option: str) -> bool:
    """Whether `word` is the beginning of an option, or consists of whole words of it."""
    begins = len(word) >= _LEAST_LETTERS and option.startswith(word)
    return begins or f"_{word}_" in f"_{option}_"


_VARIABLE = r"\$\{\w[^}\s]*\}"
_IN_BRACES = r"\{\{[^{}]*\}\}"
_IN_TEXT = re.compile(rf"{_VARIABLE}|{_IN_BRACES}|\$[A-Z][A-Z0-9_]*|<[A-Z][A-Z0-9_ -]*>")
_IN_WRONG_YAML = re.compile(rf"{_VARIABLE}|{_IN_BRACES}")
# Their values are for other programs, which may have variables of their own.
_FOR_OTHERS = {
    "triton_server_environment", "triton_server_flags", "triton_docker_args",
    "triton_docker_labels",
    "model_config_parameters", "perf_analyzer_flags", "genai_perf_flags",
}  # fmt: skip


def check_filled(yaml: Node) -> None:
    """Raises ConfigError with each value that has a placeholder."""
    problems = [*_unfilled(yaml)]
    if problems:
        raise ConfigError(*problems)


def placeholder_in(line: str, where: str) -> Problem | None:
    """The problem of a line that is not valid because of a placeholder."""
    match = _IN_WRONG_YAML.search(line)
    return None if match is None else _problem(match[0], where)


def _problem(placeholder: str, where: str) -> Problem:
    return Problem(
        where=where,
        message=f"has the placeholder {placeholder}, which is not filled in",
        hint="fill it in before the run: variables in YAML are not replaced",
    )


def _unfilled(node: Node) -> Iterator[Problem]:
    if node.is_mapping:
        for entry in node.entries:
            yield from _in_text(entry.key, entry.where)
            if entry.key not in _FOR_OTHERS:
                yield from _unfilled(entry.node)
    elif node.is_list:
        for item in node.items:
            yield from _unfilled(item)
    elif isinstance(node.value, str):
        yield from _in_text(node.value, node.where)


def _in_text(text: str, where: str) -> Iterator[Problem]:
    for placeholder in _IN_TEXT.findall(text):
        yield _problem(placeholder, where)


# What config/prices.yaml has in place of each price.
PLACEHOLDER = "FILL_IN"
_REPLACE = f"{PLACEHOLDER} is a placeholder: replace it"

_MOST = Decimal(10) ** 9

T = TypeVar("T")


def read_prices(path: Path) -> Prices:
    """The prices in a file. Raises ConfigError with all problems."""
    node = read_yaml(path)
    if node is None:
        raise wrong(str(path), "has no prices")
    return parse_prices(node)


def parse_prices(node: Node) -> Prices:
    """The prices of a YAML document. Raises ConfigError with all problems."""
    readers: Mapping[str, Read] = {
        "currency": _filled,
        "date": _filled,
        "gpus": lambda each: _by_name(each, _price),
        "cpu_core": _price,
        "memory_gb": _price,
        "nodes": _nodes,
    }
    prices = Prices(**fields_of(node, readers, required=("currency", "date")))
    if not (prices.gpus or prices.cpu_core or prices.memory_gb or prices.nodes):
        raise node.problem("has no prices: give gpus, cpu_core, memory_gb or nodes")
    return prices


def _nodes(node: Node) -> tuple[NodeType, ...]:
    readers: Mapping[str, Read] = {
        "price": _price,
        "gpus": lambda each: _by_name(each, Integer(1).parse),
        "cores": Integer(1).parse,
        "memory_gb": _quantity,
    }
    types = _by_name(node, lambda each: fields_of(each, readers, required=("price",)))
    return tuple(NodeType(name=name, **given) for name, given in types.items())


def _by_name(node: Node, read: Callable[[Node], T]) -> Mapping[str, T]:
    """The values of a mapping with any keys."""

    def value(entry: Entry) -> T:
        if PLACEHOLDER in entry.key:
            raise entry.problem(_REPLACE)
        return read(entry.node)

    return MappingProxyType(read_mapping(node, "", value))


def _filled(node: Node) -> str:
    """Text that is no placeholder."""
    text = Text().parse(node).strip()
    if not text:
        raise node.problem("must not be empty")
    if PLACEHOLDER in text:
        raise node.problem(_REPLACE)
    return text


def _price(node: Node) -> Decimal:
    """A price per hour, exact as it is written."""
    if node.is_scalar and PLACEHOLDER in node.text:
        raise node.problem(f"{_REPLACE}, or remove the line")
    price = _quantity(node)
    if price >= _MOST:
        raise node.problem(f"expected a price per hour, found {node.describe()}")
    return price


def _quantity(node: Node) -> Decimal:
    text = node.text.strip() if node.is_scalar else ""
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise node.problem(f"expected a number, found {node.describe()}") from error
    if not number.is_finite() or number <= 0:
        raise node.problem("must be above 0; remove the line if it is unknown")
    return number
