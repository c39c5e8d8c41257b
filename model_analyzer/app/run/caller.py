# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whoever calls a run: follows it, may interrupt it, and can be asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from model_analyzer.app.ports import Interrupts, Questions

if TYPE_CHECKING:
    from model_analyzer.app.conceal import Conceal
    from model_analyzer.app.delivery.answer import Answers, Delivery
    from model_analyzer.app.progress.tracker import Tracker


class Audience(Protocol):
    """Shows the output of a run."""

    def print(self, text: str) -> None:
        """Shows output of perf_analyzer."""

    def show(self, answers: Answers) -> None:
        """Shows the answers, before their files are written."""

    def deliver(self, delivery: Delivery) -> None:
        """Shows which files were written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever runs it, and may interrupt it or be asked. `conceal` masks secrets."""

    interrupts: Interrupts
    ask: Questions
    tracker: Tracker
    audience: Audience
    conceal: Conceal
