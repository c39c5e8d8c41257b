# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The definition of an option, and the reader for mappings of options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any

from model_analyzer.config.former_keys import what_to_write
from model_analyzer.config.kinds import Kind
from model_analyzer.config.nodes import NULL, Entry, Problems, Schema, any_of, closed, did_you_mean

PROFILE = "profile"
ANALYZE = "analyze"
REPORT = "report"
BEST = "best"
DOCTOR = "doctor"
# not a command: a YAML file alone
FILE = "file"

GENERAL = "General"
REPOSITORY = "Model repository"
MODELS = "Models and load"
GOALS = "Goals"
SEARCH = "Search"
SERVER = "Triton server"
LOAD_GENERATOR = "perf_analyzer"
EXECUTOR = "Slots"
PROOFS = "Proofs"
CHECKPOINTS = "Checkpoints"
EXPORT = "Results and reports"

VARIABLE_PREFIX = "MODEL_ANALYZER_"


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `key` in YAML, and a flag of the same name on the command line, which may also be
    `short`, unless it is `in_file_only`.

    `target` is the `section.field` of the settings that receives the value unchanged; resolve.py
    interprets options without a target. `default` is a parsed value; `defaults` has different ones
    by command. `alias_of` is the key of another option, if this is a second name for it.
    """

    key: str
    kind: Kind
    _: KW_ONLY
    short: str = ""
    in_file_only: bool = False
    default: Any = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    target: str = ""
    group: str = ""
    help: str
    commands: Sequence[str] = (PROFILE,)
    alias_of: str = ""

    @property
    def flags(self) -> Sequence[str]:
        """The short flag, if any, and the long one."""
        long = () if self.in_file_only else (f"--{self.key.replace('_', '-')}",)
        return (self.short, *long) if self.short else long

    @property
    def setting(self) -> str:
        """The key that stores its value: for an alias, the key of the other option."""
        return self.alias_of or self.key

    @property
    def variable(self) -> str:
        """The environment variable that also sets it."""
        return f"{VARIABLE_PREFIX}{self.key.upper()}"


def in_group(group: str, *options: Option) -> Sequence[Option]:
    """The options of a group, which help and docs show under its name."""
    return [replace(option, group=group) for option in options]


# Similarity (0 to 1) from which on an unknown key is probably a misspelled option: below, a similar
# name misleads more often than it helps.
_PROBABLY_MISSPELLED = 0.75


@dataclass(frozen=True, slots=True)
class Given:
    """The parsed values that the user gave, by option key, and the place of each."""

    values: Mapping[str, Any] = field(default_factory=dict)
    where: Mapping[str, str] = field(default_factory=dict)

    def below(self, above: Given) -> Given:
        """Both together; the values of `above` override these."""
        return Given({**self.values, **above.values}, {**self.where, **above.where})


def read(entries: Sequence[Entry], options: Sequence[Option], problems: Problems) -> Given:
    """The values of `entries`; an alias counts as its option. Errors go to `problems`.

    A null value counts as not given. False, zero and empty values count as given.
    """
    by_key = {option.key: option for option in options}
    values: dict[str, Any] = {}
    where: dict[str, str] = {}
    for entry in entries:
        with problems.collect():
            if entry.key not in by_key:
                similar = did_you_mean(entry.key, list(by_key), similarity=_PROBABLY_MISSPELLED)
                hint = what_to_write(entry.key) or similar
                for word in by_key.keys() & set(re.findall(r"\w+", hint)):
                    where.setdefault(by_key[word].setting, entry.where)  # it is not missing, too
                raise entry.problem(f"unknown option {entry.key!r}", hint)
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
                    f"remove one of them; the other is at {earlier}",
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
    """A default value as a user would write it in YAML."""
    if isinstance(default, tuple):
        return [plain(item) for item in default]
    if isinstance(default, Enum):
        return default.value
    return str(default) if isinstance(default, Path) else default
