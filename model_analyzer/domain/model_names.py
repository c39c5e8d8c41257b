# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Names of models: of groups that are measured together, and patterns that stand for models of a
repository (`all`, or shell patterns such as `resnet*`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

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


_ALL = "all"
_WILDCARDS = frozenset("*?[")


def is_pattern(name: str) -> bool:
    """Whether the name may stand for several models."""
    return name == _ALL or not _WILDCARDS.isdisjoint(name)


def matches(model: str, pattern: str) -> bool:
    """Whether the pattern stands for this model."""
    return pattern == _ALL or fnmatchcase(model, pattern)


def entry_for(model: str, entries: Iterable[str]) -> str | None:
    """The entry whose options the model has: its own name, or else the last pattern that matches
    it; None if there is neither.
    """
    names = list(entries)
    if model in names:
        return model
    patterns = (name for name in reversed(names) if is_pattern(name) and matches(model, name))
    return next(patterns, None)


def unmatched(entries: Iterable[str], models: Sequence[str]) -> Sequence[str]:
    """The patterns that stand for no model of a repository with these `models`."""
    return [
        entry
        for entry in entries
        if is_pattern(entry)
        and entry not in models
        and not any(matches(model, entry) for model in models)
    ]
