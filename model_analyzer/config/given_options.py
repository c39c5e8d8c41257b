# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The options that a command gets: from the command line, environment variables and a YAML file;
and where each was set.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_analyzer.config.kinds import FilePath, ListOf, PathOrUrl, Text, Url, is_url
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.resolve import Resolved, entries_of, resolve_profile, resolve_report
from model_analyzer.config.sources import read_environment, read_yaml
from model_analyzer.config.table import BEST, PROFILE, REPORT, VARIABLE_PREFIX, Option, plain
from model_analyzer.domain.secrets import MASK, Veil, masked, masked_url
from model_analyzer.domain.settings import ProfileSettings, ReportSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionOrigin:
    """The value of an option as the user wrote it, with secrets masked. `where` is
    `FILE:LINE:COLUMN`, a variable, or "" for a default. `instead_of` are the places that it
    overrides. `path` is the absolute path of a relative one.
    """

    key: str
    value: Any
    where: str
    instead_of: tuple[str, ...] = ()
    path: str = ""

    @property
    def text(self) -> str:
        """The value in one line."""
        return self.value if isinstance(self.value, str) else json.dumps(self.value)

    @property
    def replaced(self) -> str:
        """The places that it overrides, behind a comma."""
        return f", instead of {', '.join(self.instead_of)}" if self.instead_of else ""

    @property
    def document(self) -> Mapping[str, Any]:
        """The same for programs."""
        document = {
            "key": self.key,
            "value": self.value,
            "where": self.where or None,
            "instead_of": list(self.instead_of),
        }
        return {**document, "path": self.path} if self.path else document

    @property
    def is_variable(self) -> bool:
        """Whether an environment variable sets it."""
        return self.where.startswith(VARIABLE_PREFIX)


def origins(
    sources: Sequence[Sequence[Entry]],
    options: Sequence[Option],
    cwd: Path,
    *,
    with_defaults: bool,
) -> Sequence[OptionOrigin]:
    """The options that `sources` set, in table order. An earlier source overrides later ones.
    Unknown keys are left out.
    """
    settings = {option.key: option.setting for option in options}
    result = []
    veil = Veil(shown=frozenset(_shown(sources)))
    for option in (option for option in options if not option.alias_of):
        nodes = [
            entry.node
            for source in sources
            for entry in source
            if settings.get(entry.key) == option.key and not entry.node.is_null
        ]
        if nodes:
            value = _masked_url(option, _plain(option.key, nodes[0], veil))
            result.append(
                OptionOrigin(
                    key=option.key,
                    value=value,
                    where=nodes[0].where,
                    instead_of=tuple(node.where for node in nodes[1:]),
                    path=_absolute(option, value, cwd),
                )
            )
        elif with_defaults:
            result.append(OptionOrigin(key=option.key, value=plain(option.default), where=""))
    return result


def _absolute(option: Option, value: Any, cwd: Path) -> str:
    """The absolute path of a relative one; "" for any other value."""
    is_path = isinstance(option.kind, (FilePath, PathOrUrl)) and isinstance(value, str)
    is_relative = is_path and not (value.startswith(("/", "~")) or is_url(value))
    return os.path.normpath(cwd / value) if is_relative else ""


def _shown(sources: Sequence[Sequence[Entry]]) -> Sequence[str]:
    """The variables whose values the user allows to be shown."""
    for source in sources:
        for entry in source:
            if entry.key == "show_environment" and not entry.node.is_null:
                return ListOf(Text(), "NAMES").parse(entry.node)
    return ()


def _plain(name: str, node: Node, veil: Veil) -> Any:
    """The value of the option or field with this name, in the types of JSON, secrets masked."""
    if node.is_mapping:
        values = {entry.key: _plain(entry.key, entry.node, veil) for entry in node.entries}
        return _veiled(values, veil) if name == "triton_server_environment" else values
    if node.is_list and name == "environment":  # of a container
        texts = [item.value for item in node.items if isinstance(item.value, str)]
        return veil.container({name: texts})[name]
    if node.is_list:
        return [_plain(name, item, veil) for item in node.items]
    return masked(name, node.value) if isinstance(node.value, str) else node.value


def _veiled(values: Mapping[str, Any], veil: Veil) -> Mapping[str, Any]:
    texts = {name: value for name, value in values.items() if isinstance(value, str)}
    masks = {name: MASK for name in values if veil.hides(name)}
    return {**values, **veil.environment(texts), **masks}


def _masked_url(option: Option, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    is_masked = isinstance(option.kind, Url) or (
        isinstance(option.kind, PathOrUrl) and is_url(value)
    )
    return masked_url(value) if is_masked else value


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenOptions:
    """Options by where they were given. Relative paths start at `cwd`; `offline` is the mode of the
    reports.
    """

    command_line: Sequence[Entry]
    environment: Sequence[Entry]
    yaml: Node | None
    cwd: Path
    offline: bool = False

    @classmethod
    def read(
        cls,
        command_line: Sequence[Entry],
        variables: Mapping[str, str],
        cwd: Path,
        *,
        offline: bool = False,
    ) -> GivenOptions:
        """Reads the variables, and the file that an option names. Raises ConfigError."""
        environment = read_environment(variables)
        files = [
            entry.node for entry in (*command_line, *environment) if entry.key == "config_file"
        ]
        return cls(
            command_line=command_line,
            environment=environment,
            yaml=read_yaml(FilePath().parse(files[0])) if files else None,
            cwd=cwd,
            offline=offline,
        )

    @classmethod
    def of_file(
        cls,
        path: Path | None,
        variables: Mapping[str, str],
        cwd: Path,
        command_line: Sequence[Entry] = (),
    ) -> GivenOptions:
        """Reads this file, whatever the options name. Raises ConfigError."""
        yaml = None if path is None else read_yaml(path)
        environment = read_environment(variables)
        return cls(command_line=command_line, environment=environment, yaml=yaml, cwd=cwd)

    def profile(self, command: str = PROFILE) -> Resolved[ProfileSettings]:
        """The settings of `profile`, or of a command with the same options."""
        return resolve_profile(
            self.command_line, self.yaml, self.cwd,
            environment=self.environment, command=command, offline=self.offline,
        )  # fmt: skip

    def report(self, command: str = REPORT) -> Resolved[ReportSettings]:
        """The settings of `report`, or of a command with the same options."""
        return resolve_report(
            self.command_line, self.yaml, self.cwd,
            environment=self.environment, command=command, offline=self.offline,
        )  # fmt: skip

    def origins(
        self, options: Sequence[Option], *, with_defaults: bool = False
    ) -> Sequence[OptionOrigin]:
        """Where variables and the file set these options."""
        sources = (self.environment, entries_of(self.yaml))
        return origins(sources, options, self.cwd, with_defaults=with_defaults)


def given_options(
    given: Mapping[str, str], config_file: Path | None, environment: Mapping[str, str]
) -> GivenOptions:
    """The flags that are given, with their values, then variables and the YAML file."""
    entries = [
        Entry(flag.removeprefix("--").replace("-", "_"), flag, Node(value, flag))
        for flag, value in given.items()
    ]
    return GivenOptions.of_file(config_file, environment, Path.cwd(), entries)


def result_settings(
    given: Mapping[str, str], config_file: Path | None, environment: Mapping[str, str]
) -> ReportSettings:
    """The flags that are given, then variables, the YAML file, and defaults. Raises ConfigError."""
    return given_options(given, config_file, environment).report(BEST).settings
