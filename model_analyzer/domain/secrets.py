# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What must not be shown or stored in the clear."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

MASK = "******"

_WORDS = r"pass(?:word|wd|phrase)?|secret|token|credentials?|api[-_]?key|access[-_]?key"
_SECRET_NAME = re.compile(rf"(?<![a-z])(?:{_WORDS}|auth|authorization)(?![a-z])", re.IGNORECASE)
_SECRET_VALUE = re.compile(rf"(?<![a-z])((?:{_WORDS})=)[^,;\s]+", re.IGNORECASE)

# Their values end with a secret: APIS,KEY=VALUE.
_RESTRICTIONS = ("http-restricted-api", "grpc-restricted-protocol")


def masked(name: str, value: str) -> str:
    """`value`, unless `name` (of a variable or flag) or a part of it says that it is a secret.

    Of an HTTP header the name stays readable.
    """
    if name in _RESTRICTIONS:
        readable, equals, _ = value.partition("=")
        return readable + equals + MASK if equals else MASK
    if name == "http-header":
        header, colon, _ = value.partition(":")
        return f"{header}{colon} {MASK}" if colon else MASK
    if _SECRET_NAME.search(name):
        return MASK
    return _SECRET_VALUE.sub(rf"\g<1>{MASK}", value)


def masked_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """All values of flags or variables, those that repeat as lists; other kinds as they are."""

    def mask(name: str, value: Any) -> Any:
        return masked(name, value) if isinstance(value, str) else value

    return {
        name: [mask(name, item) for item in value]
        if isinstance(value, tuple)
        else mask(name, value)
        for name, value in values.items()
    }


def masked_command(command: Sequence[str]) -> str:
    """A command line for people: HTTP headers and secret flags masked, odd arguments quoted."""
    shown = []
    for before, word in zip(("", *command), command, strict=False):
        text = masked("http-header", word) if before == "-H" else word
        flag, equals, value = word.partition("=")
        if flag.startswith("--") and equals:
            text = f"{flag}={masked(flag[2:], value)}"
        shown.append(
            text
            if re.fullmatch(r"[\w@%+=:,./-]+", text)
            else "'" + text.replace("'", "'\\''") + "'"
        )
    return " ".join(shown)
