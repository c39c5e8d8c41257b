# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Adds environment variables and the YAML file to the options of a command line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from model_analyzer.cli.echo import echo
from model_analyzer.config.environment_options import misspelled
from model_analyzer.config.given_options import GivenOptions
from model_analyzer.config.nodes import Entry


def read_options(command_line: Sequence[Entry], *, offline: bool = False) -> GivenOptions:
    """All options that are given, with a warning about misspelled variables. Raises ConfigError."""
    warn_about(misspelled(os.environ))
    return GivenOptions.read(command_line, os.environ, Path.cwd(), offline=offline)


def warn_about(remarks: Iterable[str]) -> None:
    for remark in remarks:
        echo(f"model-analyzer: warning: {remark}", err=True)
