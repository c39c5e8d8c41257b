# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The name of a group of models that are measured together, or of a single model."""

from __future__ import annotations

import re
from collections.abc import Iterable

_MEMBER = re.compile(r"(?:[^,\\]|\\.|\\$)+", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_SPECIAL = re.compile(r"[,\\]")


def group_name(members: Iterable[str]) -> str:
    r"""The name of the group in files, in tables and on the command line: `a,b`.

    A comma that belongs to the name of a member is written `\,`.
    """
    names = list(members)
    plain = ",".join(names)
    if plain.count(",") == len(names) - 1 and "\\" not in plain:
        return plain  # nearly always, and a checkpoint has many
    return ",".join(_SPECIAL.sub(lambda match: f"\\{match[0]}", name) for name in names)


def group_members(name: str) -> tuple[str, ...]:
    """The names of the members, in their order: the reverse of `group_name`."""
    return tuple(_ESCAPED.sub(r"\1", part) for part in _MEMBER.findall(name))
