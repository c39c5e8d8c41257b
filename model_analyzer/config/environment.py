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

# So near to a key that this was meant.
_NEAR = 0.8


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
    known = {option.variable.removeprefix(VARIABLE_PREFIX): option for option in OPTIONS}
    for name in environment:
        word = name.removeprefix(VARIABLE_PREFIX)
        if name.startswith(VARIABLE_PREFIX) and word not in known:
            near = get_close_matches(word, known, n=1, cutoff=_NEAR)
            if near:
                yield f"{name}: unknown variable, did you mean {known[near[0]].variable}?"
