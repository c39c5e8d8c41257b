# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Reads mappings with known keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from model_analyzer.config.nodes import Node, Problems, did_you_mean

# Reads the value of a key. Raises ConfigError if it is invalid.
Read = Callable[[Node], Any]


def fields_of(
    node: Node, readers: Mapping[str, Read], *, required: Sequence[str]
) -> Mapping[str, Any]:
    """The values of a mapping with these keys. Raises ConfigError with all problems."""
    if not node.is_mapping:
        raise node.problem(f"expected a mapping with {', '.join(readers)}, found {node.describe()}")
    problems = Problems()
    values = {}
    for entry in node.entries:
        with problems.collect():
            if entry.key not in readers:
                raise Node(entry.key, entry.where).problem(
                    f"unknown key {entry.key!r}", did_you_mean(entry.key, list(readers))
                )
            values[entry.key] = readers[entry.key](entry.node)
    for key in required:
        with problems.collect():
            if key not in {entry.key for entry in node.entries}:
                raise node.problem(f"{key} is missing")
    problems.raise_any()
    return values
