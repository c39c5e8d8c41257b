# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an option is, and how a mapping of options is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any

from model_analyzer.config.fragments import NULL, Schema, any_of, closed
from model_analyzer.config.kinds import Kind
from model_analyzer.config.nodes import Entry, Node, Problems, did_you_mean

PROFILE = "profile"
ANALYZE = "analyze"
REPORT = "report"
BEST = "best"
DOCTOR = "doctor"
# no command: a YAML file by itself
FILE = "file"

GENERAL = "General"
REPOSITORY = "Model repository"
MODELS = "Models and load"
GOALS = "Goals"
SEARCH = "Search"
SERVER = "Triton server"
LOAD_GENERATOR = "perf_analyzer"
CHECKPOINTS = "Checkpoints"
EXPORT = "Results and reports"

VARIABLE_PREFIX = "MODEL_ANALYZER_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option: `key` in YAML, `flags` on the command line (none: YAML only).

    `target` is the `section.field` of the settings that takes the value as it is; options
    without a target are put together in resolve.py. `default` is a parsed value; commands with
    another one have it in `defaults`. `alias_of` is the key of the option of which this is a second
    name.
    """

    key: str
    flags: Sequence[str] = ()
    kind: Kind
    default: Any = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    target: str = ""
    group: str
    help: str
    commands: Sequence[str] = (PROFILE,)
    alias_of: str = ""

    @property
    def setting(self) -> str:
        """The key under which its value is kept: that of the option of which it is an alias."""
        return self.alias_of or self.key

    @property
    def variable(self) -> str:
        """The environment variable that also gives it."""
        return f"{VARIABLE_PREFIX}{self.key.upper()}"


@dataclass(frozen=True, slots=True)
class Given:
    """The values that somebody gave, parsed, by option key, and where each was written."""

    values: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)

    def below(self, above: Given) -> Given:
        """Both; what is given above counts."""
        return Given({**self.values, **above.values}, {**self.where, **above.where})


def read(entries: Sequence[Entry], options: Sequence[Option], problems: Problems) -> Given:
    """The values of `entries`, those of aliases under the key of their option; errors go to
    `problems`.

    A null counts as not given; a false, zero or empty value counts.
    """
    by_key = {option.key: option for option in options}
    values: dict[str, Any] = {}
    where: dict[str, str] = {}
    for entry in entries:
        with problems.collect():
            if entry.key not in by_key:
                raise Node(entry.key, entry.where).problem(
                    f"unknown option {entry.key!r}", did_you_mean(entry.key, list(by_key))
                )
            if entry.node.is_null:
                continue
            option = by_key[entry.key]
            earlier = where.get(option.setting, "")
            where[option.setting] = entry.node.where
            value = option.kind.parse(entry.node)
            if value != values.setdefault(option.setting, value):
                raise entry.node.problem(
                    f"{_names_of(option.setting, options)} are the same option, but have"
                    " different values",
                    f"the other is at {earlier}: give only one",
                )
    return Given(values, where)


def _names_of(setting: str, options: Sequence[Option]) -> str:
    """All keys of one option."""
    return " and ".join(option.key for option in options if option.setting == setting)


def schema(options: Sequence[Option]) -> Schema:
    """The JSON Schema of a mapping of `options`, with their help and defaults."""
    properties = {}
    for option in options:
        about = {"description": option.help}
        if option.default not in (None, (), {}):
            about["default"] = plain(option.default)
        properties[option.key] = {**about, **any_of(option.kind.schema(), NULL)}
    return closed(properties)


def plain(default: Any) -> Any:
    """A default as somebody would write it."""
    if isinstance(default, tuple):
        return [plain(item) for item in default]
    if isinstance(default, Enum):
        return default.value
    return str(default) if isinstance(default, Path) else default
