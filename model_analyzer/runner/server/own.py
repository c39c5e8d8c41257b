# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Connects to servers that we started, as a process or in a container."""

from __future__ import annotations

from model_analyzer.domain.settings import ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.client.connect import connect
from model_analyzer.runner.client.interface import ServerClient
from model_analyzer.runner.server.endpoints import Endpoints, listening


def connect_to_own(
    endpoints: Endpoints, settings: ServerSettings, setup: ServerSetup
) -> ServerClient | None:
    """A connection over the protocol of the settings; None until the server listens on all its
    addresses.
    """
    if not listening(endpoints, setup.flags):
        return None
    return connect(endpoints, settings.protocol, setup.access)
