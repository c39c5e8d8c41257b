# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""When sweeps stop: a rule about the last values has to hold, and for noisy ones twice in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from model_analyzer.domain.measurements import Measurement, Outcome

T = TypeVar("T")

# A plateau is seen in so many values.
_WINDOW = 4


def are_noisy(outcomes: Iterable[Outcome]) -> bool:
    """Whether some were measured in an instalment, which is short: noise of 5 % may hide growth."""
    return any(isinstance(each, Measurement) and each.is_instalment for each in outcomes)


def times_in_a_row(*, is_noisy: bool) -> int:
    """How often growth must be missing."""
    return 2 if is_noisy else 1


def has_plateaued(
    values: Sequence[T], is_flat: Callable[[Sequence[T]], bool], *, is_noisy: bool
) -> bool:
    """Whether the last values are flat; if they are noisy, also without the last one."""
    ends = range(len(values) + 1 - times_in_a_row(is_noisy=is_noisy), len(values) + 1)
    return all(end >= _WINDOW and is_flat(values[end - _WINDOW : end]) for end in ends)
