# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The settings of commands that use the results of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from model_analyzer.config.given_options import GivenOptions
from model_analyzer.config.nodes import Entry, Node
from model_analyzer.config.table import BEST
from model_analyzer.domain.settings import ReportSettings


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
