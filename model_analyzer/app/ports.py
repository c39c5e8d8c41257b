# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Interfaces that a use case needs from its caller: the terminal, or a test."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Protocol


class Interrupts(Protocol):
    """Interrupts of the run by the user."""

    @property
    def requested(self) -> bool:
        """Whether to stop after the running trial."""

    def further(self) -> Callable[[], bool]:
        """A function that returns whether there was another interrupt since this call, or an
        interrupt to leave at once.
        """

    def interruptible(self) -> AbstractContextManager[None]:
        """A block in which an interrupt to leave at once raises `Interrupted`."""


class Questions(Protocol):
    """Asks the user."""

    def confirm(self, text: str) -> bool:
        """Whether the user agrees; True without a terminal."""

    def choose(self, text: str, choices: Sequence[str], default: str) -> str | None:
        """The user's choice; None without a terminal."""
