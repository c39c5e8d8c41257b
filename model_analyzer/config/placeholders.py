# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Placeholders of a template that nobody has filled in, such as `${MODELS}`, `$MODELS`,
`{{ models }}` or `<MODELS>`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from model_analyzer.config.nodes import Node
from model_analyzer.errors import ConfigError, Problem

_VARIABLE = r"\$\{\w[^}\s]*\}"
_IN_BRACES = r"\{\{[^{}]*\}\}"
_IN_TEXT = re.compile(rf"{_VARIABLE}|{_IN_BRACES}|\$[A-Z][A-Z0-9_]*|<[A-Z][A-Z0-9_ -]*>")
_IN_WRONG_YAML = re.compile(rf"{_VARIABLE}|{_IN_BRACES}")
# Their values are for other programs, which may have variables of their own.
_FOR_OTHERS = {
    "triton_server_environment", "triton_server_flags", "triton_docker_args",
    "triton_docker_labels",
    "model_config_parameters", "perf_analyzer_flags", "genai_perf_flags",
}  # fmt: skip


def check_filled(yaml: Node) -> None:
    """Raises ConfigError with each value that has a placeholder."""
    problems = [*_unfilled(yaml)]
    if problems:
        raise ConfigError(*problems)


def placeholder_in(line: str, where: str) -> Problem | None:
    """The problem of a line that is not valid because of a placeholder."""
    match = _IN_WRONG_YAML.search(line)
    return None if match is None else _problem(match[0], where)


def _problem(placeholder: str, where: str) -> Problem:
    return Problem(
        where=where,
        message=f"has the placeholder {placeholder}, which is not filled in",
        hint="fill it in before the run: variables in YAML are not replaced",
    )


def _unfilled(node: Node) -> Iterator[Problem]:
    if node.is_mapping:
        for entry in node.entries:
            yield from _in_text(entry.key, entry.where)
            if entry.key not in _FOR_OTHERS:
                yield from _unfilled(entry.node)
    elif node.is_list:
        for item in node.items:
            yield from _unfilled(item)
    elif isinstance(node.value, str):
        yield from _in_text(node.value, node.where)


def _in_text(text: str, where: str) -> Iterator[Problem]:
    for placeholder in _IN_TEXT.findall(text):
        yield _problem(placeholder, where)
