# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What servers that we start have in common, as a process or in a container."""

from __future__ import annotations

from model_analyzer.domain.settings import ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.client.connect import connect
from model_analyzer.runner.client.interface import ServerClient
from model_analyzer.runner.server.endpoints import (
    Endpoints,
    are_chosen,
    choose_endpoints,
    listening,
)


class OwnLauncher:
    """The addresses of a server on this machine, and connections to it."""

    advice = "--triton-output-path FILE stores its log"

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings

    def program_identity(self, setup: ServerSetup) -> str:
        return ""

    @property
    def ends_servers(self) -> bool:
        return True

    @property
    def ports_are_chosen(self) -> bool:
        return are_chosen(self._settings)

    def endpoints(self) -> Endpoints:
        return choose_endpoints(self._settings)

    def connect(self, endpoints: Endpoints, setup: ServerSetup) -> ServerClient | None:
        """A connection over the protocol of the settings; None until the server listens on all its
        addresses.
        """
        if not listening(endpoints, setup.flags):
            return None
        return connect(endpoints, self._settings.protocol, setup.access)
