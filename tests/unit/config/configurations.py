# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Configurations that somebody might write, right and wrong, and what must hold for all of them.

Shared by the tests, which try some hundreds, and tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

import re
import string
from collections.abc import Mapping, Sequence
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import click
from hypothesis import strategies as st

import model_analyzer
from model_analyzer.cli.table_command import Invocation, table_command
from model_analyzer.config.model_options import MODEL_OPTIONS, PARAMETER_OPTIONS
from model_analyzer.config.nodes import Node
from model_analyzer.config.options import OPTIONS, json_schema, options_of
from model_analyzer.config.resolve import check_file, resolve_profile, resolve_report
from model_analyzer.config.sources import parse_yaml
from model_analyzer.config.table import PROFILE, REPORT
from model_analyzer.domain.flags import PERF_ANALYZER_FLAGS, TRITON_SERVER_FLAGS
from model_analyzer.domain.metrics import METRICS
from model_analyzer.domain.model_config_fields import MESSAGES
from model_analyzer.errors import ConfigError
from tests.damaged_texts import damaged
from tests.unit.builders import CWD, nodes, plain

ROOT = Path(__file__).resolve().parents[3]
STARTER = Path(model_analyzer.__file__).parent / "starter" / "config.yaml"
EXAMPLES = {
    path: path.read_text(encoding="utf-8")
    for path in (*sorted((ROOT / "config").glob("*.yaml")), STARTER)
    if path.name != "prices.yaml"  # no configuration of a run
}

# ---------------------------------------------------------------------------------- anything

ODD = (
    None, True, False, 0, 1, -1, 2.5, 10**30, float("nan"), float("inf"), 1e308,
    "", " ", ",", ":", "1,2,4", "1:8", "1:8:2", "8:1", "a:b", "false", "no", "0", "\0",
    "~", "~nobody-here/x", "a,b", "a/b", "..", "http://h:80/x", "h:80", "h:99999",
    "grpc", "KIND_GPU", "perf_throughput", "9" * 50, "a\nb", "1_0", "\u0661",
)  # fmt: skip
SCALARS = st.one_of(
    st.sampled_from(ODD), st.integers(-10, 10_000), st.text(string.printable, max_size=8)
)
_WORDS = (
    {option.key for option in (*OPTIONS, *MODEL_OPTIONS, *PARAMETER_OPTIONS)},
    {field for fields in MESSAGES.values() for field in fields},
    {*METRICS, "perf_latency", "min", "max", "start", "stop", "step"},
    {*PERF_ANALYZER_FLAGS, *TRITON_SERVER_FLAGS},
)
KEYS = st.one_of(
    *(st.sampled_from(sorted(words)) for words in _WORDS), st.text(string.printable, max_size=5)
)
TREES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.lists(st.tuples(KEYS, inner), max_size=4).map(dict)
    ),
    max_leaves=12,
)

# -------------------------------------------------------------- what fits the schema, nearly


@cache
def fitting(pointer: str = "#") -> st.SearchStrategy[Any]:
    """Values that the part of our JSON Schema at `pointer` accepts."""
    part: Any = json_schema()
    for name in pointer.split("/")[1:]:
        part = part[name]
    return _fitting(part)


def _fitting(part: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    if "$ref" in part:
        return st.deferred(lambda: fitting(part["$ref"]))
    if "anyOf" in part:
        return st.one_of(*map(_fitting, part["anyOf"]))
    if "enum" in part:
        return st.sampled_from(part["enum"])
    types = part["type"]
    return st.one_of(
        *(_TYPES[name](part) for name in ([types] if isinstance(types, str) else types))
    )


def _text(part: Mapping[str, Any]) -> st.SearchStrategy[str]:
    pattern = part.get("pattern")
    if pattern is None:
        return st.sampled_from(["a", "b c", "a,b", "1.10", "$HOME", "x" * 70])
    return st.from_regex(re.compile(pattern, re.ASCII)).filter(lambda text: len(text) < 25)


def _object(part: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    properties = {name: _later(value) for name, value in part.get("properties", {}).items()}
    needed = part.get("required", [])
    others = part.get("additionalProperties")
    if properties:
        return st.sets(st.sampled_from([*properties]), max_size=4).flatmap(
            lambda names: st.fixed_dictionaries(
                {name: properties[name] for name in properties if name in names or name in needed}
            )
        )
    if others is False:
        return st.just({})
    names = st.sampled_from(["a", "b-2", "c.d", "e f"])
    return st.dictionaries(names, _later(others), min_size=part.get("minProperties", 0), max_size=2)


def _array(part: Mapping[str, Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(_later(part["items"]), min_size=part.get("minItems", 0), max_size=3)


def _later(part: Any) -> st.SearchStrategy[Any]:
    """The strategy of a part, made when it is drawn from: there are many, and few are used."""
    return st.deferred(lambda: _fitting(part))


def _whole(part: Mapping[str, Any]) -> st.SearchStrategy[int]:
    low = part.get("minimum", -3)
    return st.integers(low, min(part.get("maximum", low + 100), low + 100))


def _number(part: Mapping[str, Any]) -> st.SearchStrategy[float]:
    return st.sampled_from([1.0, 2, 0.5, 1e3, 7]) if part else st.just(1)


_TYPES = {
    "null": lambda part: st.none(),
    "boolean": lambda part: st.booleans(),
    "integer": _whole,
    "number": _number,
    "string": _text,
    "array": _array,
    "object": _object,
}

# --------------------------------------------------------------------------------- mutations


@st.composite
def mutated_trees(draw: st.DrawFn, of: st.SearchStrategy[Any]) -> Any:
    """A tree with up to three changes."""
    tree = draw(of)
    for _ in range(draw(st.integers(0, 3))):
        tree = _change(draw, tree)
    return tree


def _change(draw: st.DrawFn, tree: Any) -> Any:
    """`tree` with one change at a random place."""
    if isinstance(tree, dict) and tree and draw(st.integers(0, 3)):
        key = draw(st.sampled_from([*tree]))
        if draw(st.integers(0, 3)):
            return {**tree, key: _change(draw, tree[key])}
        rest = {name: value for name, value in tree.items() if name != key}
        return rest if draw(st.booleans()) else {**rest, draw(KEYS): tree[key]}
    if isinstance(tree, list) and tree and draw(st.integers(0, 3)):
        index = draw(st.integers(0, len(tree) - 1))
        return [*tree[:index], _change(draw, tree[index]), *tree[index + 1 :]]
    return draw(st.one_of(TREES, st.just([tree]), st.just([tree, tree]), st.just({"a": tree})))


FITTING = fitting()
EXAMPLE_TREES = st.sampled_from(
    [plain(node) for text in EXAMPLES.values() if (node := parse_yaml(text, "f.yaml"))]
)
CONFIGURATIONS = mutated_trees(st.one_of(FITTING, EXAMPLE_TREES))

_PIECES = (
    "\n", "\n\n", "  ", "\t", ":", ": ", "- ", "- - ", "[", "]", "{", "}", ",", "#", "&a ", "*a",
    "<<: ", "? ", "!!int ", "!!set ", "!x ", "'", '"', "|\n", ">-\n", "---\n", "...\n",
    "%YAML 1.2\n",
    "null", "~", "true", "off", "0", "-1", "1.10", "1e9", ".inf", ".nan", "0x1F", "1:2:3", "1:8:2",
    "\x00", "\x1b", "\ufeff", "\u2028", "ü", "=", "@", "`", "a: b\n", "{start: 1, stop: 4}",
)  # fmt: skip


def mutated_texts() -> st.SearchStrategy[str]:
    """The text of an example with a few pieces cut, copied or put in."""
    pieces = st.one_of(st.sampled_from(_PIECES), KEYS)
    return damaged(st.sampled_from([*EXAMPLES.values()]), pieces)


@st.composite
def command_lines(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A command with arguments of which most are flags it has."""
    command = draw(st.sampled_from([PROFILE, REPORT]))
    flags = st.sampled_from([flag for option in options_of(command) for flag in option.flags])
    words = st.one_of(
        st.text(string.printable, max_size=6), st.sampled_from([str(value) for value in ODD])
    )
    arguments: list[str] = []
    for _ in range(draw(st.integers(0, 6))):
        flag = draw(flags)
        if flag in ("-f", "--config-file"):
            continue  # files are tried by themselves
        flag = flag[: draw(st.integers(3, 40))] if draw(st.booleans()) else flag
        match draw(st.integers(0, 3)):
            case 0:
                arguments.append(flag)
            case 1:
                arguments.append(f"{flag}={draw(words)}")
            case _:
                arguments += [flag, draw(words)]
    return command, arguments


# -------------------------------------------------------------------------- what must hold

_IN_FILE = re.compile(r"f\.yaml:\d+:\d+")
_ELSEWHERE = re.compile(r"-[a-z]|--[a-z-]+|" + "|".join(option.key for option in OPTIONS))


def assert_that_problems_are_told(error: ConfigError, *, in_file_only: bool = False) -> None:
    """Each in one line, with its place in the file or the name of a flag or option."""
    assert error.problems
    for problem in error.problems:
        assert problem.message.strip()
        assert str(problem).isprintable(), problem
        assert _IN_FILE.fullmatch(problem.where) or (
            not in_file_only and _ELSEWHERE.fullmatch(problem.where)
        ), problem


def resolves_or_tells(tree: Node | None) -> None:
    """A file resolves in every use, the same way each time; or all its problems are told."""
    try:
        check_file(tree, CWD)
    except ConfigError as error:
        assert_that_problems_are_told(error, in_file_only=True)
    for resolve in (resolve_profile, resolve_report):
        try:
            result = resolve([], tree, CWD)
        except ConfigError as error:
            assert_that_problems_are_told(error)
        else:
            assert resolve([], tree, CWD) == result


def tree_resolves_or_tells(tree: Any) -> None:
    resolves_or_tells(nodes(tree))


def text_resolves_or_tells(text: str) -> None:
    try:
        tree = parse_yaml(text, "f.yaml")
    except ConfigError as error:
        assert_that_problems_are_told(error, in_file_only=True)
    else:
        resolves_or_tells(tree)


def command_line_resolves_or_tells(given: tuple[str, Sequence[str]]) -> None:
    command, arguments = given

    def run(given: Invocation) -> int:
        resolve = resolve_profile if command == PROFILE else resolve_report
        resolve(given.options.command_line, given.options.yaml, CWD)
        return 0

    program = table_command(command)(run)
    try:
        with redirect_stdout(StringIO()):  # for --help
            program.main(list(arguments), standalone_mode=False)
    except ConfigError as error:
        assert_that_problems_are_told(error)
    except click.UsageError:
        pass  # click says what is wrong with a command line
