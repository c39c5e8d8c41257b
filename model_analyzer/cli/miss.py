# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What is done with an answer that misses the constraints: nothing, unless that is allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from model_analyzer.results.answer import Answer

F = TypeVar("F", bound=Callable[..., Any])


def allow_miss_option(command: F) -> F:
    """`allow_miss`, for `is_shown`."""
    return click.option(
        "--allow-miss",
        is_flag=True,
        help="If no configuration meets the constraints, use the closest one.",
    )(command)


def is_shown(answer: Answer, *, allow_miss: bool) -> bool:
    """Whether there is something to deploy; where that misses the constraints and is not allowed
    to, the user is told.
    """
    from model_analyzer.cli.output import warn

    if answer.best is None:
        return False
    if not answer.is_met and not allow_miss:
        warn(
            f"{answer.ranking.model}: no configuration meets the constraints, so there is none to"
            " use: --allow-miss uses the closest one"
        )
        return False
    return True
