# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Masks as versions before 2026-11 did: their trial keys depend on it, so this never changes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from model_analyzer.domain.secrets import MASK

_WORDS = r"pass(?:word|wd|phrase)?|secret|token|credentials?|api[-_]?key|access[-_]?key"
_NAME = re.compile(rf"(?<![a-z])(?:{_WORDS}|auth|authorization)(?![a-z])", re.IGNORECASE)
_VALUE = re.compile(rf"(?<![a-z])((?:{_WORDS})=)[^,;\s]+", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):[^/\s@]+(?=@)")


def formerly_masked(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of flags or variables as they counted in a server setup."""
    return {
        name: [_masked(name, item) for item in value]
        if isinstance(value, tuple)
        else _masked(name, value)
        for name, value in values.items()
    }


def _masked(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if name in ("http-restricted-api", "grpc-restricted-protocol"):
        readable, equals, _ = value.partition("=")
        return readable + equals + MASK if equals else MASK
    if name == "http-header":
        header, colon, _ = value.partition(":")
        return f"{header}{colon} {MASK}" if colon else MASK
    if _NAME.search(name):
        return MASK
    return _URL_PASSWORD.sub(rf"\g<1>:{MASK}", _VALUE.sub(rf"\g<1>{MASK}", value))
