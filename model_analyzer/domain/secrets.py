# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What must not be shown or stored in the clear."""

from __future__ import annotations

import re
from collections.abc import Sequence

MASK = "******"

_SECRET_NAME = re.compile(
    r"pass(word|wd|phrase)?|secret|token|credential|api[-_]?key|access[-_]?key|auth(orization)?$",
    re.IGNORECASE,
)


def masked(name: str, value: str) -> str:
    """`value`, unless `name` (of a variable or flag) says that it is a secret.

    Of an HTTP header the name stays readable.
    """
    if name == "http-header":
        header, colon, _ = value.partition(":")
        return f"{header}{colon} {MASK}" if colon else MASK
    return MASK if _SECRET_NAME.search(name) else value


def masked_command(command: Sequence[str]) -> str:
    """A command line for people: HTTP headers masked, odd arguments quoted."""
    shown = []
    for before, word in zip(("", *command), command, strict=False):
        text = masked("http-header", word) if before == "-H" else word
        shown.append(
            text
            if re.fullmatch(r"[\w@%+=:,./-]+", text)
            else "'" + text.replace("'", "'\\''") + "'"
        )
    return " ".join(shown)
