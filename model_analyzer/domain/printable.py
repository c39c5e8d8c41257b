# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Makes texts from outside (checkpoints, servers, models) safe for terminals, logs and images."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

# Characters that move the cursor, change the title or the text direction, or are invalid: control
# characters except line ends and tabs, direction marks, surrogates, and those that XML forbids.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff]"
)
_LINE_ENDS = re.compile("[\n\t]")


def printable(text: str) -> str:
    r"""`text` with every unprintable character in a visible form, such as \x1b."""
    return _UNPRINTABLE.sub(_visible, text)


def one_line(text: str) -> str:
    """The same, on one line."""
    return _LINE_ENDS.sub(_visible, printable(text))


def drawable(text: str) -> str:
    """The same for an image, where a backslash may have a meaning: a replacement character."""
    return _UNPRINTABLE.sub("\ufffd", text)


def drawable_values(value: Any) -> Any:
    """A JSON-like value with all its texts drawable."""
    if isinstance(value, str):
        return drawable(value)
    if isinstance(value, Mapping):
        return {drawable(str(key)): drawable_values(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [drawable_values(item) for item in value]
    return value


def _visible(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]
