# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The life of a server: a launcher starts it (a process, a container) or connects to a remote one,
and it ends in order, or is killed if nothing would be lost.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol as Interface
from typing import TypeVar

import psutil

from model_analyzer.domain.models import ModelConfig
from model_analyzer.domain.settings import ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.errors import RepositoryError, ServerError
from model_analyzer.reading.untrusted import read_regular
from model_analyzer.runner.client.interface import ServerCallError, ServerClient
from model_analyzer.runner.file_trees import files_under
from model_analyzer.runner.process import describe_status
from model_analyzer.runner.server.endpoints import Endpoints
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.stubs import name_of, stubs_among
from model_analyzer.runner.timings import DEFAULT, Timings

log = logging.getLogger(__name__)

S = TypeVar("S", bound="ServerLife")

_LOOK_S = 0.01
_ASK_AGAIN_S = 0.2
_UNLOADING_S = 0.05
_PORT_TRIES = 5


class Running(Interface):
    """A started server: a process, a container or a remote server."""

    @property
    def is_running(self) -> bool: ...

    def wait(self, timeout_s: float) -> int | None:
        """The exit status, or None if it still runs after `timeout_s` seconds."""

    def terminate(self) -> None:
        """Asks it to end, without waiting."""

    def stop(self, grace_s: float) -> int | None:
        """Asks it to end, and kills it after `grace_s` seconds if it still runs."""

    def kill(self) -> None:
        """Ends it at once. Killing twice is fine."""

    def tree(self) -> Sequence[psutil.Process]:
        """Its visible processes."""


class Launcher(Interface):
    """Starts servers, or connects to a remote one."""

    @property
    def description(self) -> str:
        """The server, for messages."""

    @property
    def advice(self) -> str:
        """What to do if the server does not start, for messages."""

    def program_identity(self, setup: ServerSetup) -> str:
        """A text that changes with the server or a backend that it would use; "" if unknown."""

    @property
    def ends_servers(self) -> bool:
        """Whether its servers end with the run; others are restored by closing the connection."""

    @property
    def ports_are_chosen(self) -> bool:
        """Whether we choose at least one port, so that a retry can use a different one."""

    def endpoints(self) -> Endpoints:
        """The addresses for the next server. Raises ServerError if a given port is in use."""

    def start(self, endpoints: Endpoints, setup: ServerSetup, log: ServerLog) -> Running:
        """Starts a server that listens there and writes its log; it may not be ready yet."""

    def connect(self, endpoints: Endpoints, setup: ServerSetup) -> ServerClient | None:
        """A connection over the protocol of the settings; None until the server listens.

        Closing it restores a remote server.
        """


class ServerLife:
    """Starts one server at a time, and stops it. `acts` says of a model whether it may do something
    when it is unloaded.

    A context manager: leaving it kills the server if it still runs. For an orderly end, call
    `begin_stop` and `stop` before, with other work in between.
    """

    def __init__(
        self,
        launcher: Launcher,
        settings: ServerSettings,
        log: ServerLog,
        *,
        acts: Callable[[str], bool] = lambda _: True,
        timings: Timings = DEFAULT,
    ) -> None:
        self._launcher = launcher
        self._settings = settings
        self._acts = acts
        self._timings = timings
        self._log = log
        self._setup = ServerSetup()
        self._process: Running | None = None
        self._client: ServerClient | None = None
        self._endpoints: Endpoints | None = None
        self._loaded: dict[str, str] = {}
        self._unloading: Sequence[str] = ()
        self._is_used = False
        self._is_begun = False

    def __enter__(self: S) -> S:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()

    @property
    def description(self) -> str:
        return self._launcher.description

    def client(self, setup: ServerSetup) -> ServerClient:
        """The connection to the server, which is started for `setup` unless it runs."""
        if self._client is None or not self.is_alive:
            self._start(setup)
        assert self._client is not None
        self._setup = setup  # the same launch; it may now include the GPUs
        return self._client

    def begin(self, setup: ServerSetup) -> None:
        """Starts a server for `setup`, without waiting until it is ready, as `client` does.

        Raises ServerError if it cannot be started at all.
        """
        self.discard()
        self._setup = setup
        self._endpoints = self._launcher.endpoints()
        self._log.mark()
        self._process = self._launcher.start(self._endpoints, setup, self._log)
        self._is_begun = True

    def discard(self) -> None:
        """Kills the server, because its state is unknown or there is no time."""
        self._close_client()
        if self._process is not None:
            self._process.kill()
            self._process = None
            if self._log.exists:
                log.debug("Stopped Triton Server.")
        self._loaded.clear()
        self._unloading = ()
        self._is_used = self._is_begun = False

    def begin_stop(self) -> None:
        """Lets the server unload its models, without waiting for it.

        A server that is asked to end while it has models looks only once a second whether they are
        gone.
        """
        if self._client is None or self._unloading or not self.is_alive:
            return
        if not self._launcher.ends_servers:
            self._close_client()
        elif self._acts_at_end() or any(map(self._acts, self._loaded)):
            self._unload(self._client)

    def stop(self) -> None:
        """Ends the server, and lets it and its models do what they do at their end: it is killed at
        once if they do nothing, or if that takes too long.
        """
        self.begin_stop()
        deadline = time.monotonic() + self._timings.grace_s
        while self._is_unloading() and self._process is not None:
            if self._process.wait(_UNLOADING_S) is not None or time.monotonic() > deadline:
                self.discard()
                return
        self._close_client()
        if self._process is not None and self._acts_at_end():
            self._process.stop(self._timings.grace_s)
        self.discard()

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.is_running

    def processes(self) -> Sequence[psutil.Process]:
        """The server with the processes of its models."""
        return self._process.tree() if self._process is not None else []

    def _start(self, setup: ServerSetup) -> None:
        for attempt in range(1, _PORT_TRIES + 1):
            if not (self._is_begun and same_launch(self._setup, setup)):
                self.begin(setup)
            reason = self._wait_until_ready(setup)
            if not reason:
                return
            may_retry = "already in use" in reason and self._launcher.ports_are_chosen
            self.discard()
            if not may_retry or attempt == _PORT_TRIES:
                raise ServerError(
                    f"{self._launcher.description} {reason} ({self._launcher.advice})"
                )

    def _wait_until_ready(self, setup: ServerSetup) -> str:
        """Waits until the server is ready; returns "", or why it is not ready."""
        assert self._process is not None, "begin starts it"
        assert self._endpoints is not None, "begin chooses them"
        self._is_begun = False
        deadline = time.monotonic() + self._settings.ready_timeout_s
        refusal = ""
        while True:
            self._client = self._client or self._launcher.connect(self._endpoints, setup)
            if self._client is not None:
                try:
                    self._client.version()
                except ServerCallError as error:
                    refusal = f": {error}"
                    if error.denied:
                        return f"cannot be used{refusal}"
                else:
                    return ""
            status = self._process.wait(_ASK_AGAIN_S if self._client else _LOOK_S)
            if status is not None:
                lines = self._log.tail()
                return f"did not start: {lines[-1] if lines else describe_status(status)}"
            if time.monotonic() > deadline:
                return (
                    f"was not ready within {self._settings.ready_timeout_s} s"
                    f" (raise --client-max-retries){refusal}"
                )

    def _close_client(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _unload(self, client: ServerClient) -> None:
        self._unloading = list(self._loaded)
        self._loaded.clear()
        try:
            for name in reversed(self._unloading):  # an ensemble before its composing models
                client.unload(name)
        except ServerCallError as error:
            log.debug("The server does not unload its models: %s", error)

    def _is_unloading(self) -> bool:
        if self._client is None or not self._unloading:
            return False
        try:
            models = self._client.models()
        except ServerCallError:
            return False
        return any(models.get(name) for name in self._unloading)

    def _acts_at_end(self) -> bool:
        return acts_at_end(self.processes(), self._setup)


def same_launch(a: ServerSetup, b: ServerSetup) -> bool:
    """Whether a server started for one setup can also serve the other, through the same connection.
    It also compares secrets.
    """
    return (a.flags, a.environment, a.container, a.access) == (
        b.flags,
        b.environment,
        b.container,
        b.access,
    )


_SERVER = "tritonserver"

# A class that inherits nothing, so that its file shows what it does.
_MODEL_CLASS = re.compile(rb"^class TritonPythonModel\s*(\(\s*(object)?\s*\))?\s*:", re.MULTILINE)
_AT_THE_END = re.compile(rb"\b(finalize|atexit|__del__|__exit__)\b")
_MOST_BYTES = 2**20


def acts_when_unloaded(directory: Path, config: ModelConfig) -> bool:
    """Whether unloading this model may do more than to free memory: write a file, or end a program.

    False only if that is certain: for ensembles, and for Python models whose sources say nothing
    about their end.
    """
    if "ensemble_scheduling" in config:
        return False
    if config.get("backend") != "python":
        return True
    file = str(config.get("default_model_filename") or "model.py")
    try:
        paths = [path for path in files_under(directory) if path.suffix == ".py"]
        sources = {path: read_regular(directory / path, most_bytes=_MOST_BYTES) for path in paths}
    except (OSError, RepositoryError):
        return True
    models = [source for path, source in sources.items() if path.name == file]
    is_plain = bool(models) and all(map(_MODEL_CLASS.search, models))
    return not is_plain or any(map(_AT_THE_END.search, sources.values()))


def acts_at_end(processes: Iterable[psutil.Process], setup: ServerSetup) -> bool:
    """Whether a server without models may write something when it ends: traces, or what a program
    around it or a preloaded library measures.
    """
    tree = list(processes)
    stubs = {stub.pid for stub in stubs_among(tree)}
    others = [process for process in tree if process.pid not in stubs]
    is_alone = [name_of(process) for process in others] == [_SERVER]
    traces = any(str(name).startswith("trace") for name in setup.flags)
    return not is_alone or traces or "LD_PRELOAD" in setup.environment
