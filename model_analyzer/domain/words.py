# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers, names and settings in words."""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

_LONGEST_SETTING = 10_000  # characters


def counted(number: int, noun: str) -> str:
    """`1 trial`, `2 trials`, `2,000 trials`: for nouns whose plural ends with s."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def capitalized(text: str) -> str:
    """The text with a capital letter at the start."""
    return text[:1].upper() + text[1:]


def whole(number: float) -> float:
    """The number rounded for display: 0 instead of -0."""
    return round(number, 0) + 0.0


def size_text(count: int) -> str:
    """A number of bytes with a decimal unit: `12 kB`, `1.4 GB`."""
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}"
    return counted(count, "byte")


def first_few(names: Sequence[str], most: int = 12) -> str:
    """The names, separated by commas; if there are more than `most`, the number of the others:
    `a, b and 3 more`.
    """
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def closest(word: str, choices: Iterable[str], similarity: float = 0.6) -> str:
    """The most similar of the `choices`, whatever their case; "" if none has this `similarity` (0
    to 1).
    """
    by_lower = {choice.lower(): choice for choice in choices}
    matches = get_close_matches(word.lower(), by_lower, n=1, cutoff=similarity)
    return by_lower[matches[0]] if matches else ""


def shortened(text: str, most: int) -> str:
    """The text; if it has more than `most` characters, its beginning and an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def setting_text(setting: object, *, in_brackets: bool = False) -> str:
    """A setting in words or JSON; checkpoints store it as a Python literal. A list has brackets
    only on request.
    """
    text = str(setting)
    try:
        value = literal_eval(text) if len(text) <= _LONGEST_SETTING else text
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text  # plain text
    match value:
        case None:
            return "not set"
        case True | False:
            return "yes" if value else "no"
        case () | []:
            return "[]" if in_brackets else "none"
        case tuple() | list() if all(isinstance(item, (str, int, float)) for item in value):
            items = ", ".join(map(str, value))
            return f"[{items}]" if in_brackets else items
        case tuple() | list() | dict():
            return json.dumps(value, default=str)
    return text
