# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Options from environment variables: MODEL_ANALYZER_ and the key in upper case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import partial

from model_analyzer.config.former_keys import FORMER_KEYS
from model_analyzer.config.nodes import Entry, Node, read_all
from model_analyzer.config.options import OPTIONS
from model_analyzer.config.sources import parse_yaml
from model_analyzer.config.table import VARIABLE_PREFIX, Option

# Similarity (0 to 1) above which a name is probably a misspelled key.
_LEAST_SIMILARITY = 0.8
# A shorter beginning of an option is probably something else.
_LEAST_LETTERS = 5


def read_environment(environment: Mapping[str, str]) -> Sequence[Entry]:
    """The options that variables set, in table order. An empty variable counts as not set.

    If the option has a flag, the text is the value of that flag; otherwise it is YAML.
    Raises ConfigError that names each variable with invalid YAML.
    """

    def read(option: Option) -> Entry:
        name, text = option.variable, environment[option.variable]
        node = Node(text, name) if option.flags else parse_yaml(text, name) or Node(None, name)
        return Entry(option.key, name, node)

    given = [option for option in OPTIONS if environment.get(option.variable, "").strip()]
    return read_all(given, read)


def misspelled(environment: Mapping[str, str]) -> Iterator[str]:
    """A remark for each variable whose name resembles that of an option, or is a part of it.

    Other variables with the prefix may belong to other programs, such as those that Kubernetes sets
    for a service.
    """
    options = {option.variable.removeprefix(VARIABLE_PREFIX): option for option in OPTIONS}
    for name in environment:
        word = name.removeprefix(VARIABLE_PREFIX)
        if word == name or word in options:
            continue
        matches = get_close_matches(word.upper(), options, n=1, cutoff=_LEAST_SIMILARITY)
        matches = matches or sorted(filter(partial(_is_part, word.upper()), options), key=len)
        hint = FORMER_KEYS.get(word.lower(), "")
        if matches:
            hint = f"did you mean {options[matches[0]].variable}?"
        if hint:
            yield f"{name}: unknown variable, ignored: {hint}"


def _is_part(word: str, option: str) -> bool:
    """Whether `word` is the beginning of an option, or consists of whole words of it."""
    begins = len(word) >= _LEAST_LETTERS and option.startswith(word)
    return begins or f"_{word}_" in f"_{option}_"
