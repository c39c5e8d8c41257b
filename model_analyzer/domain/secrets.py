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
_URL_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):[^/\s@]+(?=@)")
# a password with a slash in it belongs in quotes, but is a password all the same
_URL_USER = re.compile(r"(?<=://)(?:[^/?#]*|[^?#]*:[^?#]*)(?=@)")
_URL_QUERY = re.compile(r"(?<=\?).+")

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
    return _URL_PASSWORD.sub(rf"\g<1>:{MASK}", _SECRET_VALUE.sub(rf"\g<1>{MASK}", value))


def masked_url(url: str) -> str:
    """The address of a store for people: without user, password and query (signatures, keys)."""
    return _URL_QUERY.sub(MASK, _URL_USER.sub(MASK, url))


def without_secrets_of(url: str, text: str) -> str:
    """What somebody else's code says about a store: `text` without what is secret in `url`."""
    text = text.replace(url, masked_url(url))
    users = [user.partition(":")[2] or user for user in _URL_USER.findall(url)]
    queries = [
        value for query in _URL_QUERY.findall(url) for value in re.split("[&=]", query)[1::2]
    ]
    for secret in filter(None, users + queries):
        text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", MASK, text)
    return masked("", text)


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
    """A command line for people: secrets masked, odd arguments quoted."""
    shown = []
    for before, word in zip(("", *command), command, strict=False):
        text = _masked_word(before, word)
        shown.append(
            text
            if re.fullmatch(r"[\w@%+=:,./-]+", text)
            else "'" + text.replace("'", "'\\''") + "'"
        )
    return " ".join(shown)


def _masked_word(before: str, word: str) -> str:
    """A word of a command line: `--name=value`, the value of `--name` before it, or neither."""
    if before == "-H":
        return masked("http-header", word)
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        return name + equals + masked(name[2:], value) if equals else word
    return masked(before[2:] if before.startswith("--") and "=" not in before else "", word)
