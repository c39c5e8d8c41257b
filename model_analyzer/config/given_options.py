# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The options that a command gets: from the command line, environment variables and a YAML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.config.environment_options import read_environment
from model_analyzer.config.kinds import FilePath
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.origins import OptionOrigin, origins
from model_analyzer.config.resolve import Resolved, entries_of, resolve_profile, resolve_report
from model_analyzer.config.sources import read_yaml
from model_analyzer.config.table import PROFILE, REPORT, Option
from model_analyzer.domain.settings import ProfileSettings, ReportSettings


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
