# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a starter directory that works without changes."""

from __future__ import annotations

import json
import re
from pathlib import Path

from model_analyzer.errors import OutputError, UnusablePath, is_wrong_path, wrong
from model_analyzer.runner.file_trees import copy_writable, words_of

STARTER = Path(__file__).parents[1] / "starter"


def write_starter(directory: Path) -> Path:
    """Writes example models and a commented configuration into a new directory; returns the path
    of the configuration.

    Raises ConfigError if the directory is not empty, OutputError if it cannot be written.
    """
    target = directory.absolute()
    try:
        is_taken = target.exists() and (not target.is_dir() or any(target.iterdir()))
    except OSError as error:
        raise _unwritable(directory, error) from error
    if is_taken:
        raise wrong(
            str(directory),
            "exists and is not empty" if target.is_dir() else "is a file",
            "choose a new directory: nothing is overwritten",
        )
    try:
        copy_writable(STARTER, target)
        config = target / "config.yaml"
        text = config.read_text(encoding="utf-8")
        text = text.replace("CONFIG_FILE", str(directory / "config.yaml"))
        config.write_text(_with_directory(text, target), encoding="utf-8")
    except OSError as error:
        raise _unwritable(directory, error) from error
    return directory / "config.yaml"


def _unwritable(directory: Path, error: OSError) -> OutputError:
    kind = UnusablePath if is_wrong_path(error) else OutputError
    return kind(f"cannot write {directory}: {words_of(error)}; choose another directory")


def _with_directory(text: str, directory: Path) -> str:
    """The configuration with its paths inside `directory`, quoted as YAML text."""
    return re.sub(r"DIRECTORY(\S*)", lambda match: json.dumps(f"{directory}{match[1]}"), text)
