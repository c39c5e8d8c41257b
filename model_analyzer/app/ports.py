# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What a use case needs of whoever calls it: a terminal, or a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol


class Interrupts(Protocol):
    """Whether the run is asked to stop, and when that may cut something short."""

    @property
    def requested(self) -> bool:
        """Whether to stop after the running trial."""

    def further(self) -> Callable[[], bool]:
        """A question: has there been another interrupt since now, or one to leave at once?"""

    def interruptible(self) -> AbstractContextManager[None]:
        """Inside, an interrupt to leave at once raises `Interrupted`."""


class Questions(Protocol):
    """Asks the user."""

    def confirm(self, text: str) -> bool:
        """Whether the user agrees; True where nobody can be asked."""

    def choose(self, text: str, choices: Sequence[str], default: str) -> str | None:
        """The choice of the user; None where nobody can be asked."""
