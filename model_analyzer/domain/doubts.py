# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A reason not to believe a measurement: see `domain.laws`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """A law that a measurement breaks. A `gross` doubt makes it a failed trial.

    `text` says which numbers contradict each other, `hint` what to do, both without a full stop.
    """

    law: str
    text: str
    hint: str
    gross: bool = False

    @property
    def sentence(self) -> str:
        """The doubt as it is shown."""
        return f"Doubtful: {self.text}; {self.hint}."
