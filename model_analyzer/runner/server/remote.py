# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Remote servers: used without changes, and restored at the end."""

from __future__ import annotations

import logging
import select
import time
from collections.abc import Callable, Mapping, Sequence

import psutil

from model_analyzer.domain.measurements import ModelStatistics
from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.settings import Protocol, ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import Interrupted, ServerError
from model_analyzer.runner.client.connect import connect, http_client
from model_analyzer.runner.client.interface import (
    InferenceAnswer,
    ServerCallError,
    ServerClient,
    is_served,
)
from model_analyzer.runner.client.openai import OpenAiClient
from model_analyzer.runner.server.endpoints import Endpoints, remote_endpoints
from model_analyzer.runner.server.log import ServerLog

log = logging.getLogger(__name__)

# The time in seconds to restore a model.
_RESTORE_S = 15.0
_LOOK_S = 0.1

# The error of a server that cannot load single models.
_NOT_EXPLICIT = "explicit model load / unload is not allowed"


# What is wrong, and what to do about it.
NOT_ALLOWED = (
    "the server does not allow loading models: start it with --model-control-mode=explicit, or give"
    " --reload-model-disable to measure the models that it has loaded"
)

# No model has this name, so it can be unloaded without an effect.
_NO_MODEL = "model-analyzer-asks-whether-it-may-unload"


def allows_loading(client: ServerClient) -> bool:
    """Whether the server loads and unloads single models (explicit model control). Raises
    ServerCallError.
    """
    try:
        client.unload(_NO_MODEL)
    except ServerCallError as error:
        if _NOT_EXPLICIT in str(error):
            return False
        raise
    return True


def _stays() -> bool:
    return False


class RemoteLauncher:
    """Connects to a server instead of starting one. Once `is_leaving`, waiting for the server, or
    asking if it runs, raises Interrupted: a thread gets no signals.
    """

    def __init__(
        self, settings: ServerSettings, *, is_leaving: Callable[[], bool] = _stays
    ) -> None:
        self._settings = settings
        self._is_leaving = is_leaving
        self._endpoints = remote_endpoints(settings)

    @property
    def description(self) -> str:
        return f"the server at {self._endpoints.for_protocol(self._settings.protocol).as_written}"

    @property
    def advice(self) -> str:
        option = "http" if self._settings.protocol is Protocol.HTTP else "grpc"
        other = "endpoint" if self._settings.is_openai else "client_protocol"
        return f"check triton_{option}_endpoint and {other}"

    def program_identity(self, setup: ServerSetup) -> str:
        return ""

    @property
    def ends_servers(self) -> bool:
        return False

    @property
    def ports_are_chosen(self) -> bool:
        return False

    def endpoints(self) -> Endpoints:
        return self._endpoints

    def start(self, endpoints: Endpoints, setup: ServerSetup, log: ServerLog) -> RemoteServer:
        client = self._connected(endpoints, setup)
        return RemoteServer(client, is_leaving=self._is_leaving)

    def connect(self, endpoints: Endpoints, setup: ServerSetup) -> ServerClient:
        client = self._connected(endpoints, setup)
        return Onlooker(client) if self._settings.reload_disable else Guest(client)

    def _connected(self, endpoints: Endpoints, setup: ServerSetup) -> ServerClient:
        if self._settings.is_openai:
            return OpenAiClient(http_client(endpoints.http, setup.access))
        return connect(endpoints, self._settings.protocol, setup.access)


class RemoteServer:
    """A server that counts as running while it answers; we never end it."""

    def __init__(self, client: ServerClient, *, is_leaving: Callable[[], bool] = _stays) -> None:
        self._client = client
        self._is_leaving = is_leaving

    @property
    def is_running(self) -> bool:
        self._leave_if_told()
        try:
            self._client.version()
        except ServerCallError as error:
            return not error.lost  # a slow server still runs
        return True

    def wait(self, timeout_s: float) -> None:
        """Waits; the exit status is always unknown."""
        self._leave_if_told()
        _wait(timeout_s)

    def terminate(self) -> None:
        """Does nothing: we never end a remote server."""

    def stop(self, grace_s: float) -> None:
        """Does nothing: we never end a remote server."""

    def kill(self) -> None:
        """Closes the connection without ending the server."""
        self._client.close()

    def tree(self) -> Sequence[psutil.Process]:
        """Empty: its processes are not visible."""
        return ()

    def _leave_if_told(self) -> None:
        if self._is_leaving():
            raise Interrupted("interrupted")


class _Passing:
    """The calls that `Guest` and `Onlooker` pass on unchanged."""

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

    def infer_zeros(self, config: ModelConfig, timeout_s: float) -> InferenceAnswer:
        return self._client.infer_zeros(config, timeout_s)


class Guest(_Passing):
    """A `ServerClient` that unloads its models when it is closed.

    It loads models again that were loaded before, with the configuration of the server's
    repository.
    """

    def __init__(self, client: ServerClient) -> None:
        super().__init__(client)
        self._original: Mapping[str, tuple[str, ...]] | None = None
        self._loaded: list[str] = []

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        try:
            previous = self._client.models()
        except ServerCallError as error:
            if error.denied:  # no other variant can be loaded either
                raise ServerError(str(error)) from error
            raise
        if name not in previous and is_served(self._client, name):
            raise ServerError(
                f"the server serves {name}, but has no files of it: it cannot load it again with"
                " another configuration: measure it as it is, with reload_model_disable"
            )
        if self._original is None:
            self._original = previous
        try:
            self._client.load(name, config, timeout_s)
        except ServerCallError as error:
            if _NOT_EXPLICIT in str(error):
                raise ServerError(NOT_ALLOWED) from error
            self._remember(name)
            raise
        current = self._client.models()
        # an ensemble also loads its composing models
        new = (part for part in current if current[part] and not previous.get(part))
        self._remember(*new, name)

    def unload(self, name: str) -> None:
        self._client.unload(name)

    def close(self) -> None:
        for name in reversed(self._loaded):  # an ensemble before its composing models
            try:
                self._restore(name)
            except ServerCallError as error:
                if not error.lost:  # a server that has ended needs no restoring
                    log.warning("%s could not be restored on the server: %s", name, error)
        self._loaded.clear()
        super().close()

    def _remember(self, *names: str) -> None:
        self._loaded += [name for name in dict.fromkeys(names) if name not in self._loaded]

    def _restore(self, name: str) -> None:
        self._client.unload(name)
        if self._original and self._original.get(name):
            try:
                self._client.load(name, None, _RESTORE_S)
            except ServerCallError as error:
                if not error.timed_out:  # the server continues to load it
                    raise
            return
        deadline = time.monotonic() + _RESTORE_S
        while self._client.models().get(name) and time.monotonic() < deadline:
            _wait(_LOOK_S)


class Onlooker(_Passing):
    """A `ServerClient` that loads and unloads nothing: models must already be loaded."""

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        if not is_served(self._client, name):
            raise ServerError(
                f"{name} is not loaded on the server, and reload_model_disable forbids loading it:"
                " load it there, or remove reload_model_disable"
            )

    def unload(self, name: str) -> None:
        """Does nothing: the model stays loaded."""


def _wait(timeout_s: float) -> None:
    select.select((), (), (), timeout_s)
