# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads YAML into nodes that know file, line and column. The only place that opens YAML."""

from __future__ import annotations

from pathlib import Path

import yaml

from model_analyzer.config.nodes import Entry, Node, Scalar
from model_analyzer.errors import ConfigError, Problem

_MOST_BYTES = 16 * 2**20
_DEEPEST = 40

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(path: Path) -> Node | None:
    """The top-level node of a YAML file, or None if the file is empty.

    Raises ConfigError with file, line and column for anything that is not safe, plain YAML.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise ConfigError(
                Problem(where=str(path), what="larger than 16 MiB: not a configuration")
            )
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(
            Problem(
                where=str(path),
                what=f"cannot be read: {error.strerror}",
                hint="check --config-file",
            )
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(Problem(where=str(path), what="is not UTF-8 text")) from error
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str) -> Node | None:
    """The top-level node of YAML `text`; `name` stands for the file in messages."""
    try:
        loader = _Loader(text)
        try:
            root = loader.get_single_node()
            return None if root is None else _Reader(loader, name).node(root, 0)
        finally:
            loader.dispose()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{name}:{mark.line + 1}:{mark.column + 1}" if mark else name
        what = " ".join(filter(None, (error.context, error.problem)))
        raise ConfigError(Problem(where=where, what=f"not valid YAML: {what}")) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise ConfigError(Problem(where=name, what=f"not valid YAML: {reason}")) from error


class _Reader:
    """Turns PyYAML's node graph into ours, aliases shared and cycles refused."""

    def __init__(self, loader: yaml.SafeLoader, name: str) -> None:
        self._loader = loader
        self._name = name
        self._done: dict[int, Node] = {}
        self._open: set[int] = set()

    def node(self, raw: yaml.Node, depth: int) -> Node:
        if id(raw) in self._done:
            return self._done[id(raw)]
        where = self._where(raw)
        if id(raw) in self._open or depth > _DEEPEST:
            what = "an alias contains itself" if id(raw) in self._open else "nested too deeply"
            raise ConfigError(Problem(where=where, what=what))
        self._open.add(id(raw))
        if isinstance(raw, yaml.MappingNode):
            result = self._mapping(raw, where, depth)
        elif isinstance(raw, yaml.SequenceNode):
            items = tuple(self.node(item, depth + 1) for item in raw.value)
            result = Node(items, where)
        else:
            result = Node(self._scalar(raw, where), where)
        self._open.discard(id(raw))
        self._done[id(raw)] = result
        return result

    def _mapping(self, raw: yaml.MappingNode, where: str, depth: int) -> Node:
        self._loader.flatten_mapping(raw)
        entries = []
        for key, value in raw.value:
            if not isinstance(key, yaml.ScalarNode):
                raise ConfigError(Problem(where=self._where(key), what="a key must be plain text"))
            entries.append(Entry(str(key.value), self._where(key), self.node(value, depth + 1)))
        return Node(tuple(entries), where, is_mapping=True)

    def _scalar(self, raw: yaml.Node, where: str) -> Scalar:
        value = self._loader.construct_object(raw, deep=True)
        if value is None or isinstance(value, (str, int, float, bool)):
            return value
        # dates and binary data: what was written is what is meant
        return str(raw.value)

    def _where(self, raw: yaml.Node) -> str:
        return f"{self._name}:{raw.start_mark.line + 1}:{raw.start_mark.column + 1}"
