# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The runner of a slot whose server runs elsewhere: if the server is gone, the slot is lost."""

from __future__ import annotations

from typing import Protocol

from model_analyzer.domain.measurements import Outcome
from model_analyzer.domain.protocols import Runner
from model_analyzer.domain.trials import Trial
from model_analyzer.errors import ServerError
from model_analyzer.runner.cluster.executor import SlotLostError


class Reached(Protocol):
    """The server of a slot."""

    @property
    def is_alive(self) -> bool:
        """Whether it answers."""


class RemoteSlot:
    """Measures with `runner` on `server`. Raises SlotLostError if the server does not answer any
    more; a ServerError of one that answers would also come from every other server.
    """

    def __init__(self, runner: Runner, server: Reached) -> None:
        self._runner = runner
        self._server = server

    def run(self, trial: Trial) -> Outcome:
        try:
            return self._runner.run(trial)
        except ServerError as error:
            if self._server.is_alive:
                raise
            raise SlotLostError(str(error)) from error
