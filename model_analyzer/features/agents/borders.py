# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an agent may name: places below the roots, and options that only say what is measured.

Options about models, goals and searches are allowed by the kind of their values: numbers, switches,
choices. Others are allowed by name, and the few paths and mappings are checked here. Whatever names
a program, an address, an image, an environment or another file is refused.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_analyzer.config import kinds, table
from model_analyzer.config.goal_kinds import Constraints, Objectives
from model_analyzer.config.model_options import MODEL_OPTIONS
from model_analyzer.config.nodes import Node, Problems, nearest
from model_analyzer.config.options import OPTIONS
from model_analyzer.config.sources import read_yaml
from model_analyzer.domain.flags import PERF_ANALYZER_NO_FILES, PERF_ANALYZER_PATHS
from model_analyzer.errors import wrong

# The name of the file of a run, in a directory of its own.
CONFIG = "config.yaml"

_HARMLESS = (
    Constraints, Objectives, kinds.Boolean, kinds.Duration, kinds.Gpus, kinds.Integer,
    kinds.Integers, kinds.Number, kinds.OneOf, kinds.Percent,
)  # fmt: skip

# Groups of which the options of harmless kinds are allowed; of other groups, those named below.
_GROUPS = (table.GENERAL, table.MODELS, table.GOALS, table.SEARCH)

_FURTHER = {
    "client_protocol", "client_max_retries", "model_load_timeout", "server_restart",  # waits
    "measurement", "response_cache", "perf_analyzer_timeout", "perf_analyzer_max_auto_adjusts",
    "perf_analyzer_cpu_util",
    "checkpoint_prefix", "checkpoint_every", "on_mismatch", "retry_failed",  # nothing is deleted
    "endurance",  # measures longer, within the duration
    "output_formats", "skip_summary_reports", "skip_detailed_reports", "num_configs_per_model",
    "num_top_model_configs", "conditions", "circumstances", "fail_on_miss", "outputs",
    "cpu_only_composing_models", "parameters",  # names of models; batch sizes and loads
}  # fmt: skip

# Of harmless kinds, but not harmless: it opens a port.
_REFUSED = {"prometheus_port"}

# Why others are not allowed, by group.
_REASONS = {
    table.SERVER: "it chooses servers, programs or their environment",
    table.LOAD_GENERATOR: "it chooses a program, or a file to write",
    table.REPOSITORY: "it replaces a directory",
    table.CHECKPOINTS: "it deletes measurements, or reaches other places",
    table.EXPORT: "it names files",
}
_REASON = "it reaches beyond this run"

# Left out, since examples have it, and only a person may say it. A run without it replaces nothing
# but what runs have made.
_LEFT_OUT = "override_output_model_repository"

# Where results go if nothing else is said, below the first root.
DEFAULT_PLACES = {
    "checkpoint_directory": "checkpoints",
    "export_path": ".",
    "output_model_repository_path": "output_model_repository",
}
_PATHS = {*DEFAULT_PLACES, "model_repository", "prices"}

# Flags that change what is sent and how long it is measured; `input-data` may name a file.
_PERF_ANALYZER_FLAGS = {
    "async", "sync", "streaming", "input-data", "shape", "string-length", "string-data",
    "measurement-interval", "measurement-mode", "measurement-request-count", "request-count",
    "stability-percentage", "max-trials", "percentile", "latency-threshold", "max-threads",
    "sequence-length", "sequence-length-variation", "sequence-id-range", "num-of-sequences",
    "serial-sequences", "request-distribution", "shared-memory", "output-shared-memory-size",
}  # fmt: skip

# Fields of a model's configuration; others name environments, files and libraries.
_MODEL_FIELDS = {"instance_group", "max_batch_size", "dynamic_batching"}

_MOST_CHARACTERS = 256 * 1024


@dataclass(frozen=True, slots=True)
class Borders:
    """The directories in which an agent may name places: real paths, at least one."""

    roots: Sequence[Path]

    @classmethod
    def of(cls, roots: Sequence[Path]) -> Borders:
        """Raises ConfigError for what is no directory."""
        for root in roots:
            if not root.is_dir():
                raise wrong("--root", f"{root} is not a directory")
        return cls([Path(os.path.realpath(root)) for root in roots])

    def path(self, value: object, where: str) -> str:
        """The real path of a place in a root; a relative one starts at the first root. Raises
        ConfigError.
        """
        if not isinstance(value, str) or not value or "\0" in value or kinds.is_url(value):
            raise wrong(where, f"expected a path below {self}")
        try:
            path = Path(os.path.realpath(self.roots[0] / value))
        except (OSError, ValueError) as error:
            raise wrong(where, f"not a path: {error}") from error
        if not any(path.is_relative_to(root) for root in self.roots):
            raise wrong(where, f"{path} is outside of {self}")
        return str(path)

    def __str__(self) -> str:
        return " and ".join(map(str, self.roots))

    def config(self, given: object) -> Mapping[str, Any]:
        """The options of a run, given as a mapping or as the path of a YAML file, with real paths.
        Raises ConfigError with all that is not allowed; values are checked by the run itself.
        """
        if isinstance(given, str):
            yaml = read_yaml(Path(self.path(given, "config")))
            given = {} if yaml is None else _plain(yaml)
        if not isinstance(given, dict):
            raise wrong("config", "expected a mapping of options, or the path of a YAML file")
        options = self._options(given, OPTIONS, "")
        places = {key: self.path(place, key) for key, place in DEFAULT_PLACES.items()}
        return {**places, **options}

    def _options(
        self, given: Mapping[str, Any], known: Sequence[table.Option], above: str
    ) -> dict[str, Any]:
        by_key, allowed = {option.key: option for option in known}, {}
        problems = Problems()
        for key, value in given.items():
            if key == _LEFT_OUT:
                continue
            where = f"{above}{key}"
            with problems.collect():
                allowed[key] = value if value is None else self._value(key, value, by_key, where)
        problems.raise_any()
        return allowed

    def _value(self, key: str, value: Any, known: Mapping[str, table.Option], where: str) -> Any:
        option = known.get(key)
        if option is None:
            raise wrong(where, f"there is no such option {nearest(key, [*known])}".rstrip())
        if key in _PATHS:
            return self.path(value, where)
        if key in _NESTED:
            return _NESTED[key](self, value, f"{where}.")
        is_known = option.group in _GROUPS and isinstance(option.kind, _HARMLESS)
        if key in _REFUSED or (not is_known and key not in _FURTHER):
            reason = _REASONS.get(option.group, _REASON)
            raise wrong(
                where,
                f"an agent may not set this, since {reason}; a person may, as {option.variable}",
            )
        return value

    def _models(self, value: Any, above: str) -> Any:
        if isinstance(value, list):
            return [self._models(each, above) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            name: self._options(options, MODEL_OPTIONS, f"{above}{name}.")
            if isinstance(options, dict)
            else options
            for name, options in value.items()
        }

    def _load(self, value: Any, above: str) -> Any:
        load = _mapping(value, above)
        if "replay" in load:
            load["replay"] = self.path(load["replay"], f"{above}replay")
        return load

    def _flags(self, value: Any, above: str) -> Any:
        flags = _only(_PERF_ANALYZER_FLAGS, value, above)
        for name in flags.keys() & PERF_ANALYZER_PATHS:
            values = flags[name] if isinstance(flags[name], list) else [flags[name]]
            flags[name] = [
                each if each in PERF_ANALYZER_NO_FILES else self.path(each, f"{above}{name}")
                for each in values
            ]
        return flags

    def _fields(self, value: Any, above: str) -> Any:
        return _only(_MODEL_FIELDS, value, above)


# Options whose values hold further options, paths, or names of another program.
_NESTED: Mapping[str, Callable[[Borders, Any, str], Any]] = {
    "profile_models": Borders._models,
    "bls_composing_models": Borders._models,
    "ensemble_composing_models": Borders._models,
    "load": Borders._load,
    "perf_analyzer_flags": Borders._flags,
    "model_config_parameters": Borders._fields,
}


def _mapping(value: Any, above: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise wrong(above.rstrip("."), "expected a mapping")
    return dict(value)


def _only(names: set[str], value: Any, above: str) -> dict[str, Any]:
    mapping = _mapping(value, above)
    for name in mapping.keys() - names:
        raise wrong(f"{above}{name}", f"an agent may not set this, only {', '.join(sorted(names))}")
    return mapping


def _plain(node: Node) -> Any:
    """The value of a YAML text, as JSON has it."""
    if node.is_mapping:
        return {entry.key: _plain(entry.node) for entry in node.entries}
    return [_plain(item) for item in node.items] if node.is_list else node.value


def written(config: Mapping[str, Any]) -> str:
    """The text of the file of a run: JSON, which is YAML, with a key in each line. Raises
    ConfigError if it is too large.
    """
    text = json.dumps(config, indent=1)
    if len(text) > _MOST_CHARACTERS:
        raise wrong("config", f"larger than {_MOST_CHARACTERS // 1024} KiB")
    return text


def with_keys(message: str, config: str) -> str:
    """A message of a command, with keys in place of lines of the file that is `written`."""
    lines = config.splitlines()
    return re.sub(
        rf"{re.escape(CONFIG)}:(\d+):\d+",
        lambda place: ".".join(reversed([*_keys(lines, int(place[1]) - 1)])) or "config",
        message,
    )


def _keys(lines: Sequence[str], at: int) -> Iterator[str]:
    """The key of a line and of those that it belongs to, inner ones first."""
    depth = 10_000
    for line in reversed(lines[: at + 1]):
        indent = len(line) - len(line.lstrip())
        key = re.match(r'\s*"((?:[^"\\]|\\.)*)":', line)
        if key and indent < depth:
            yield key[1]
            depth = indent
