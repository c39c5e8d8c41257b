# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Options from environment variables: MODEL_ANALYZER_ and the key, in capitals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches

from model_analyzer.config.nodes import Entry, Node, Problems
from model_analyzer.config.options import OPTIONS
from model_analyzer.config.sources import parse_yaml
from model_analyzer.config.table import VARIABLE_PREFIX, Option

# So near to the variable of an option that this was meant.
_NEAR = 0.9


def read_environment(environment: Mapping[str, str]) -> Sequence[Entry]:
    """What the variables say, in table order. An empty one counts as not set.

    The text of an option that has a flag is what would follow the flag; that of others is YAML.
    Raises ConfigError, naming each variable whose text is no YAML.
    """
    problems = Problems()
    found = []
    for option in OPTIONS:
        text = environment.get(option.variable, "")
        if text.strip():
            with problems.collect():
                found.append(Entry(option.key, option.variable, _node(option, text)))
    problems.raise_any()
    return found


def _node(option: Option, text: str) -> Node:
    if option.flags:
        return Node(text, option.variable)
    return parse_yaml(text, option.variable) or Node(None, option.variable)


def misspelled(environment: Mapping[str, str]) -> Iterator[str]:
    """A remark for each variable that is nearly one of an option."""
    known = [option.variable for option in OPTIONS]
    for name in environment:
        if name.startswith(VARIABLE_PREFIX) and name not in known:
            near = get_close_matches(name, known, n=1, cutoff=_NEAR)
            if near:
                yield f"{name}: there is no such option, did you mean {near[0]}?"
