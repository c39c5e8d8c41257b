# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The option that chooses circumstances."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def circumstances_option(command: F) -> F:
    """`circumstances`: the number of a group, or None."""
    return click.option(
        "--circumstances",
        type=click.IntRange(1),
        metavar="N",
        help="Rank the measurements of this group of circumstances; `checkpoint show` lists the"
        " groups.  [default: the group of the configuration file, otherwise the one with the"
        " most measurements]",
    )(command)
