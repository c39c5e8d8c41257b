# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Names that a shell offers while a command line is typed.

It runs at each press of Tab: it leaves out what takes long to read, and raises nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from model_analyzer.config.sources import read_environment, read_yaml
from model_analyzer.errors import ConfigError, ModelAnalyzerError
from model_analyzer.runner.repository import model_names
from model_analyzer.state.checkpoint import read_file
from model_analyzer.state.find import LATEST, find
from model_analyzer.state.format.layout import Layout

# A larger checkpoint takes too long to read between two keys.
_MOST_BYTES = 4 * 2**20

_VARIANTS = "report_model_configs"


def option_names(
    key: str, typed: Mapping[str, Any], environment: Mapping[str, str]
) -> Iterable[str]:
    """Names for an option of the table: variants of the newest checkpoint, or models of the
    repository. `typed` are the options of the command line so far.
    """
    if key == _VARIANTS:
        return _variants(checkpoint_layout(typed, environment))
    path = _value("model_repository", typed, environment)
    return () if path is None else model_names(Path(path))


def checkpoint_layout(typed: Mapping[str, Any], environment: Mapping[str, str]) -> Layout:
    """The checkpoints that the command line, the environment or the file name."""
    directory = _value("checkpoint_directory", typed, environment) or "checkpoints"
    return Layout(Path(directory), _value("checkpoint_prefix", typed, environment) or "")


def measured_names(which: str, layout: Layout) -> Iterable[str]:
    """Models of a checkpoint: those that were measured, alone or together, and then the models in
    them.
    """
    try:
        newest = [layout.checkpoint(index) for index in layout.indices()[-1:]]
        journals = map(layout.journal, ("", *layout.nodes()))
        paths = [Path(which)] if os.path.isfile(which) else [*newest, *journals]
        if sum(path.stat().st_size for path in paths if path.exists()) > _MOST_BYTES:
            return ()
        # the models of the best are among those of all, and finding it takes longer
        which = LATEST if which == "best" else which
        records = find(which, layout.directory, layout.prefix).records
    except (ModelAnalyzerError, OSError, ValueError):
        return ()
    subjects = [record.trial.models for record in records]
    parts = [
        part.model
        for record in records
        for work in record.trial.workloads
        for part in work.variant.with_parts()
    ]
    return dict.fromkeys((*subjects, *parts))


def _variants(layout: Layout) -> Sequence[str]:
    try:
        newest = layout.checkpoint(layout.indices()[-1])
        if newest.stat().st_size > _MOST_BYTES:
            return ()
        records = read_file(newest).records
    except (ModelAnalyzerError, OSError, IndexError):
        return ()
    return sorted({work.variant.name for record in records for work in record.trial.workloads})


def _value(key: str, typed: Mapping[str, Any], environment: Mapping[str, str]) -> str | None:
    """The value of an option so far: from the command line, the environment or the file."""
    values = dict(typed)
    try:
        for entry in read_environment(environment):
            if values.get(entry.key) is None and entry.node.is_scalar:
                values[entry.key] = entry.node.text
        if values.get(key) is None and values.get("config_file") is not None:
            yaml = read_yaml(Path(os.path.expanduser(str(values["config_file"]))))
            for entry in yaml.entries if yaml is not None and yaml.is_mapping else ():
                if entry.key == key and entry.node.is_scalar and not entry.node.is_null:
                    values[key] = entry.node.text
    except ConfigError:
        pass  # the command itself will say what is wrong
    value = values.get(key)
    return None if value is None else os.path.expanduser(str(value))
