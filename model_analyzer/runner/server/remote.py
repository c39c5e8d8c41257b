# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Servers that somebody else started: used as they are, and left as they were found."""

from __future__ import annotations

import logging
import select
import time
from collections.abc import Mapping, Sequence

import psutil

from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.settings import Protocol, ServerSettings
from model_analyzer.domain.statistics import ModelStatistics
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import ServerError
from model_analyzer.runner.client.connect import connect
from model_analyzer.runner.client.interface import Answer, ServerCallError, ServerClient
from model_analyzer.runner.server.endpoints import (
    Endpoints,
    remote_endpoints,
)
from model_analyzer.runner.server.log import ServerLog

log = logging.getLogger(__name__)

# How long a model may take to be as it was before us.
_AS_FOUND_S = 15.0
_LOOK_S = 0.1

# How a server says that models cannot be loaded one by one.
_NOT_EXPLICIT = "explicit model load / unload is not allowed"


class RemoteLauncher:
    """Finds the server instead of starting one."""

    def __init__(self, settings: ServerSettings) -> None:
        self._settings = settings
        self._endpoints = remote_endpoints(settings)

    @property
    def description(self) -> str:
        return f"the server at {self._endpoints.of(self._settings.protocol).as_written}"

    @property
    def advice(self) -> str:
        option = "http" if self._settings.protocol is Protocol.HTTP else "grpc"
        return f"check triton_{option}_endpoint and client_protocol"

    @property
    def ports_are_chosen(self) -> bool:
        return False

    def endpoints(self) -> Endpoints:
        return self._endpoints

    def start(self, endpoints: Endpoints, setup: ServerSetup, log: ServerLog) -> RemoteServer:
        return RemoteServer(connect(endpoints, self._settings.protocol, setup.access))

    def connect(self, endpoints: Endpoints, setup: ServerSetup) -> ServerClient:
        client = connect(endpoints, self._settings.protocol, setup.access)
        return Onlooker(client) if self._settings.reload_disable else Guest(client)


class RemoteServer:
    """A server that runs as long as it answers; nothing here ends it."""

    def __init__(self, client: ServerClient) -> None:
        self._client = client

    @property
    def is_running(self) -> bool:
        try:
            self._client.version()
        except ServerCallError as error:
            return not error.lost  # slow is not dead
        return True

    def wait(self, timeout_s: float) -> None:
        """Waits; whatever happens, no exit status is seen from here."""
        _wait(timeout_s)

    def terminate(self) -> None:
        """It is not ours to end."""

    def stop(self, grace_s: float) -> None:
        """It is not ours to end."""

    def kill(self) -> None:
        """Forgets it, without ending it."""
        self._client.close()

    def tree(self) -> Sequence[psutil.Process]:
        """Its processes cannot be seen from here."""
        return ()


class _Passing:
    """The calls that a guest passes on as they are."""

    def __init__(self, client: ServerClient) -> None:
        self._client = client

    def close(self) -> None:
        self._client.close()

    def version(self) -> str:
        return self._client.version()

    def models(self) -> Mapping[str, tuple[str, ...]]:
        return self._client.models()

    def model_config(self, name: str) -> ModelConfig:
        return self._client.model_config(name)

    def statistics(self, name: str) -> ModelStatistics:
        return self._client.statistics(name)

    def infer_zeros(self, config: ModelConfig, timeout_s: float) -> Answer:
        return self._client.infer_zeros(config, timeout_s)


class Guest(_Passing):
    """A `ServerClient` that remembers what it loads, and takes it away again when it is closed.

    A model that was loaded before is loaded again, as the server's repository has it.
    """

    def __init__(self, client: ServerClient) -> None:
        super().__init__(client)
        self._found: Mapping[str, tuple[str, ...]] | None = None
        self._loaded: list[str] = []

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        before = self._client.models()
        if self._found is None:
            self._found = before
        try:
            self._client.load(name, config, timeout_s)
        except ServerCallError as error:
            if _NOT_EXPLICIT in str(error):
                raise ServerError(
                    "the server does not let models be loaded: it needs"
                    " --model-control-mode=explicit, or measure what it has loaded with"
                    " --reload-model-disable"
                ) from error
            self._remember(name)
            raise
        after = self._client.models()
        # an ensemble brings its parts along
        self._remember(*(part for part in after if after[part] and not before.get(part)), name)

    def unload(self, name: str) -> None:
        self._client.unload(name)

    def close(self) -> None:
        for name in reversed(self._loaded):  # an ensemble before its parts
            try:
                self._leave_as_found(name)
            except ServerCallError as error:
                if not error.lost:  # a server that is gone has nothing loaded any more
                    log.warning("%s could not be left as it was found: %s", name, error)
        self._loaded.clear()
        super().close()

    def _remember(self, *names: str) -> None:
        self._loaded += [name for name in dict.fromkeys(names) if name not in self._loaded]

    def _leave_as_found(self, name: str) -> None:
        self._client.unload(name)
        if self._found and self._found.get(name):
            try:
                self._client.load(name, None, _AS_FOUND_S)
            except ServerCallError as error:
                if not error.timed_out:  # it goes on loading without us
                    raise
            return
        deadline = time.monotonic() + _AS_FOUND_S
        while self._client.models().get(name) and time.monotonic() < deadline:
            _wait(_LOOK_S)


class Onlooker(_Passing):
    """A `ServerClient` that loads nothing: what is to be used must be there already."""

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        if not self._client.models().get(name):
            raise ServerError(
                f"{name} is not loaded on the server, and reload_model_disable forbids to load it:"
                " load it there, or remove reload_model_disable"
            )

    def unload(self, name: str) -> None:
        """What somebody else has loaded stays."""


def _wait(timeout_s: float) -> None:
    select.select((), (), (), timeout_s)
