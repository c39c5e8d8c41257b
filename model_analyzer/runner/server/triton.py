# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A Triton server that serves variants: one for the whole run, variants changed in place.

How a server comes to life (a process, a container, somebody else's) is a launcher's business.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Protocol as Interface

import psutil

from model_analyzer.domain.models import ModelConfig, ModelVariant, empty
from model_analyzer.domain.protocols import Route
from model_analyzer.domain.settings import Protocol, ServerRestart, ServerSettings
from model_analyzer.domain.statistics import ServerStatistics
from model_analyzer.domain.trials import Failure, FailureReason, ServerSetup
from model_analyzer.errors import ServerError
from model_analyzer.runner.client.interface import ServerCallError, ServerClient, has_fixed_shapes
from model_analyzer.runner.client.tls import wants_grpc_tls
from model_analyzer.runner.process import describe_status
from model_analyzer.runner.server.endpoints import Endpoints
from model_analyzer.runner.server.log import ServerLog, hint
from model_analyzer.runner.stubs import stubs_among
from model_analyzer.runner.timings import DEFAULT, Timings

log = logging.getLogger(__name__)

_LOOK_S = 0.01
_ASK_AGAIN_S = 0.2
_PORT_TRIES = 5
_ANSWER_S = 60.0
_MOST_WARM_UPS = 32
_TAG = "model_analyzer_variant"

# How the server says that the process of a Python model has ended.
_STUB_ENDED = "is not healthy"


class Running(Interface):
    """A server that has been started, whatever it runs in."""

    @property
    def is_running(self) -> bool: ...

    def wait(self, timeout_s: float) -> int | None:
        """The exit status, or None if it still runs after `timeout_s` seconds."""

    def terminate(self) -> None:
        """Asks it to end, without waiting."""

    def stop(self, grace_s: float) -> int | None:
        """Asks it to end, and kills it if that has not happened after `grace_s` seconds."""

    def kill(self) -> None:
        """Ends it at once. Killing twice is fine."""

    def tree(self) -> Sequence[psutil.Process]:
        """Its processes, as far as they can be seen from here."""


class Launcher(Interface):
    """Brings servers to life."""

    @property
    def description(self) -> str:
        """What is started, for messages."""

    @property
    def advice(self) -> str:
        """What to do where no server comes up, for messages."""

    @property
    def ports_are_chosen(self) -> bool:
        """Whether at least one port is ours to choose, so that another try may go better."""

    def endpoints(self) -> Endpoints:
        """Where the next server is to listen. Raises ServerError if a given port is taken."""

    def start(self, endpoints: Endpoints, setup: ServerSetup, log: ServerLog) -> Running:
        """Starts a server that listens there and writes its log; it need not be ready yet."""

    def connect(self, endpoints: Endpoints, setup: ServerSetup) -> ServerClient | None:
        """A connection, by the protocol of the settings; None as long as nobody listens.

        Closing it undoes what it did to a server that is not ours.
        """


class TritonServer:
    """Starts, feeds and stops one server at a time.

    With `settles`, a changed variant counts as in place only when the processes of the old one
    are gone, which memory metrics need. With `renews`, a server whose own process has run a model
    is not used for another variant: such backends keep GPU memory after a model is unloaded.

    A context manager: leaving it kills the server, if it still runs. Call `begin_stop` and `stop`
    before for an orderly end, with other work in between.
    """

    def __init__(
        self,
        launcher: Launcher,
        settings: ServerSettings,
        log: ServerLog,
        *,
        settles: bool,
        renews: bool = False,
        timings: Timings = DEFAULT,
    ) -> None:
        self._launcher = launcher
        self._settings = settings
        self._settles = settles
        self._renews = renews
        self._timings = timings
        self._log = log
        self._setup = ServerSetup()
        self._process: Running | None = None
        self._client: ServerClient | None = None
        self._endpoints: Endpoints | None = None
        self._loaded: dict[str, str] = {}
        self._is_used = False

    def __enter__(self) -> TritonServer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.discard()

    # -- what the runner needs -----------------------------------------------------------------

    @property
    def description(self) -> str:
        return self._launcher.description

    def version(self, setup: ServerSetup) -> str:
        """Starts the server as `setup` says, unless it runs, and asks for its version."""
        try:
            return self.client(setup).version()
        except ServerCallError as error:
            raise ServerError(f"{self._launcher.description} does not answer: {error}") from error

    def client(self, setup: ServerSetup) -> ServerClient:
        """The connection to the server, which is started as `setup` says unless it runs."""
        if self._client is None or not self.is_alive:
            self._start(setup)
        assert self._client is not None
        self._setup = setup  # the same launch; its GPUs may have become known since
        return self._client

    def configuration(self, model: str, setup: ServerSetup) -> ModelConfig:
        """What the server makes of the configuration in the repository, if it may complete it.

        Raises ServerError if the model does not load as it is.
        """
        client = self.client(setup)
        self._log.mark()
        try:
            client.load(model, None, self._settings.load_timeout_s)
            return client.model_config(model)
        except ServerCallError as error:
            raise ServerError(_load_reason(str(error), self._log.errors())) from error

    def serve(self, variants: Sequence[ModelVariant], setup: ServerSetup) -> Failure | None:
        """Loads what is not in place yet, composing variants first.

        A load that fails where something else had been loaded before is tried once more on a
        fresh server: two variants side by side may just have been too much. So is one in which a
        process ended: somebody may have killed it.
        """
        wanted = {part.model: part for variant in variants for part in _parts_first(variant)}
        if self._must_restart(wanted, setup):
            self.stop()
        was_fresh = not self._loaded
        failure = self._load(wanted, setup)
        if failure is not None and _is_worth_another_server(failure, was_fresh=was_fresh):
            self.discard()
            failure = self._load(wanted, setup)
        return failure

    def discard(self) -> None:
        """Kills the server: it is not to be trusted, or there is no time."""
        self._close_client()
        if self._process is not None:
            self._process.kill()
            self._process = None
            if self._log.exists:
                log.debug("Stopped Triton Server.")
        self._loaded.clear()
        self._is_used = False

    def begin_stop(self) -> None:
        """Asks the server to end, without waiting for it."""
        self._close_client()
        if self._process is not None and self._process.is_running:
            self._process.terminate()

    def stop(self) -> None:
        """Waits for the server to end, and kills it if it takes too long."""
        self._close_client()
        if self._process is not None:
            self._process.stop(self._timings.grace_s)
        self.discard()

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.is_running

    def route(self, variant: ModelVariant, protocol: Protocol) -> Route:
        """By address and protocol, the same for all variants."""
        assert self._endpoints is not None, "the server has not been started"
        address = self._endpoints.of(protocol)
        grpc_tls = protocol is Protocol.GRPC and wants_grpc_tls(self._setup.access)
        url = address.as_written if grpc_tls or address.is_https else str(address)
        return Route(flags={"url": url, "protocol": protocol.value})

    def log_tail(self) -> tuple[str, ...]:
        """The last telling lines of the log."""
        return self._log.tail()

    def statistics(self, variants: Sequence[ModelVariant]) -> ServerStatistics:
        """What the server has counted of these variants and those that they call.

        A server that does not tell costs nothing but these counts.
        """
        names = dict.fromkeys(part.model for one in variants for part in _parts_first(one))
        if self._client is None:
            return empty()
        try:
            return {name: self._client.statistics(name) for name in names}
        except ServerCallError as error:
            log.debug("The server does not report its statistics: %s", error)
            return empty()

    @property
    def metrics_url(self) -> str:
        """Where the running server tells its metrics."""
        assert self._endpoints is not None, "the server has not been started"
        return self._endpoints.metrics_url

    def rest(self, seconds: float) -> None:
        """Leaves the running server alone for so long. Raises ServerError if it dies."""
        if self._process is not None and self._process.wait(seconds) is not None:
            lines = self._log.tail()
            raise ServerError(f"the server died while idle: {lines[-1] if lines else 'no reason'}")

    def processes(self) -> Sequence[psutil.Process]:
        """The server with the processes of its models."""
        return self._process.tree() if self._process is not None else []

    def stubs(self) -> Sequence[int]:
        """Those of the server's own processes that run Python models."""
        return [stub.pid for stub in stubs_among(self.processes())]

    # -- starting and stopping ------------------------------------------------------------------

    def _must_restart(self, wanted: Mapping[str, ModelVariant], setup: ServerSetup) -> bool:
        if self._process is None:
            return False
        if not self._process.is_running or not _same_launch(self._setup, setup):
            return True
        if self._settings.restart is ServerRestart.NEVER:
            return False
        if set(self._loaded) - set(wanted):
            return True  # another model would take its share of the machine
        changed = any(self._loaded.get(name) != v.identity for name, v in wanted.items())
        is_due = self._settings.restart.renews(keeps_memory=self._renews and self._is_used)
        return changed and bool(self._loaded) and is_due

    def _start(self, setup: ServerSetup) -> None:
        for attempt in range(1, _PORT_TRIES + 1):
            self.discard()
            endpoints = self._launcher.endpoints()
            reason = self._start_once(endpoints, setup)
            if not reason:
                self._endpoints = endpoints
                return
            taken = "already in use" in reason and self._launcher.ports_are_chosen
            if not taken or attempt == _PORT_TRIES:
                raise ServerError(
                    f"{self._launcher.description} {reason} ({self._launcher.advice})"
                )

    def _start_once(self, endpoints: Endpoints, setup: ServerSetup) -> str:
        """Starts the process and waits until it is ready; "" or why it is not."""
        self._log.mark()
        self._process = self._launcher.start(endpoints, setup, self._log)
        deadline = time.monotonic() + self._settings.ready_timeout_s
        refusal = ""
        while True:
            self._client = self._client or self._launcher.connect(endpoints, setup)
            if self._client is not None:
                try:
                    self._client.version()
                except ServerCallError as error:
                    refusal = f": {error}"
                    if error.denied:
                        return f"does not answer{refusal}"
                else:
                    return ""
            status = self._process.wait(_ASK_AGAIN_S if self._client else _LOOK_S)
            if status is not None:
                lines = self._log.tail()
                return f"did not start: {lines[-1] if lines else describe_status(status)}"
            if time.monotonic() > deadline:
                self.discard()
                return (
                    f"was not ready within {self._settings.ready_timeout_s} s"
                    f" (--client-max-retries gives it more){refusal}"
                )

    def _close_client(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    # -- loading --------------------------------------------------------------------------------

    def _load(self, wanted: Mapping[str, ModelVariant], setup: ServerSetup) -> Failure | None:
        """Loads every variant that is not in place. Where that cannot leave the server in a known
        state, it is discarded.
        """
        client = self.client(setup)
        for name, variant in wanted.items():
            if self._loaded.get(name) == variant.identity:
                continue
            self._log.mark()
            try:
                client.load(name, _marked(variant), self._settings.load_timeout_s)
            except ServerCallError as error:
                return self._load_failure(variant, error)
            self._loaded[name] = variant.identity
            self._is_used = self._is_used or _runs_in_the_server(variant)
            self._warm_up(client, variant)
        if self._settles:
            self._settle(wanted)
        return None

    def _load_failure(self, variant: ModelVariant, error: ServerCallError) -> Failure:
        lines = self._log.errors()
        message = str(error).splitlines()[0] if str(error) else "no reason given"
        if error.timed_out:
            self.discard()
            return Failure(
                reason=FailureReason.LOAD_TIMEOUT,
                message=f"{variant.name} was not loaded within {self._settings.load_timeout_s} s",
                log=lines,
                hint="--model-load-timeout gives it more; a model process that cannot start"
                " never ends loading: `model-analyzer doctor` checks that",
            )
        if error.lost and self._process is not None:
            self._process.wait(self._timings.dying_s)
        if not self.is_alive:
            self.discard()
            return Failure(
                reason=FailureReason.SERVER_DIED,
                message=f"the server died while it loaded {variant.name}",
                log=self._log.tail(),
            )
        if "failed to poll" not in message:
            # The model was given up half-way; a configuration that is refused changes nothing.
            self.discard()
        reason = _load_reason(str(error), lines)
        return Failure(
            reason=FailureReason.MODEL_NOT_LOADED,
            message=f"{variant.name} did not load: {reason}",
            log=(*str(error).splitlines()[:8], *lines),
            hint=hint(str(error), *lines) or ("" if self._log.exists else "see the server's log"),
        )

    def _warm_up(self, client: ServerClient, variant: ModelVariant) -> None:
        """A few requests of zeros, so that no measurement pays for the first ones.

        One after another, so that they are never harder than the load to come: a model that dies
        of several at once can still be measured with one. All instances get some, unless a
        request takes seconds: the server gives it to the one that has been idle for longest.

        Their answers must not be empty: a Python backend built for numpy 1 sends empty tensors
        under numpy 2, without any error, and every measurement would look plausible.
        """
        config = variant.config
        if not has_fixed_shapes(config):
            return
        instances = sum(n for n, _ in variant.instances(gpus=len(self._setup.devices)))
        try:
            answer = client.infer_zeros(config, _ANSWER_S)
            enough = time.monotonic() + self._timings.warm_up_s
            for _ in range(min(2 * instances, _MOST_WARM_UPS)):
                if time.monotonic() > enough:
                    break
                client.infer_zeros(config, _ANSWER_S)
        except ServerCallError as error:
            # not every model likes zeros; perf_analyzer will tell what it really cannot do
            log.debug("%s does not answer requests of zeros: %s", variant.name, error)
            return
        if answer.is_empty and config.get("backend") == "python":
            raise ServerError(
                f"{variant.model} answers with empty tensors: the python3 that the server finds"
                " first on its PATH probably has numpy 2, and this server needs numpy 1; run"
                " `model-analyzer doctor`"
            )

    def _settle(self, wanted: Mapping[str, ModelVariant]) -> None:
        """Waits until no more model processes run than the variants have instances."""
        expected = sum(
            count
            for variant in wanted.values()
            if variant.config.get("backend") == "python"
            for count, _ in variant.instances(gpus=len(self._setup.devices))
        )
        deadline = time.monotonic() + self._timings.settle_s
        while time.monotonic() < deadline and self._process is not None:
            if len(self.stubs()) <= expected or self._process.wait(0.05) is not None:
                return


def _is_worth_another_server(failure: Failure, *, was_fresh: bool) -> bool:
    """A load that hangs is not, and a dead server is the runner's to try again."""
    if failure.reason is not FailureReason.MODEL_NOT_LOADED:
        return False
    return not was_fresh or _STUB_ENDED in failure.message


def _marked(variant: ModelVariant) -> ModelConfig:
    """The configuration with the variant's name among the tags of its metrics.

    Where only the number of instances changes, Triton keeps those that it has, and they go on as
    what they were initialized for: a model that shares out threads, say, would be measured with
    those of the variant before. Where a tag changes too, all instances are new.
    """
    tags = {**variant.config.get("metric_tags", {}), _TAG: variant.name}
    return {**variant.config, "metric_tags": tags}


def _same_launch(a: ServerSetup, b: ServerSetup) -> bool:
    """Whether a server started for one setup serves the other too, through the same connection.

    Secrets count here.
    """
    return (a.flags, a.environment, a.container, a.access) == (
        b.flags,
        b.environment,
        b.container,
        b.access,
    )


def _runs_in_the_server(variant: ModelVariant) -> bool:
    """Whether its instances are in the server's own process; those of Python models are not."""
    is_ensemble = "ensemble_scheduling" in variant.config
    return not is_ensemble and variant.config.get("backend") != "python"


def _parts_first(variant: ModelVariant) -> Iterator[ModelVariant]:
    for part in variant.composing:
        yield from _parts_first(part)
    yield variant


def _load_reason(message: str, lines: Sequence[str]) -> str:
    """The part of the server's words that tells a person what is wrong."""
    if "failed to poll" in message and lines:
        return lines[0]
    reason = message.split(" state: ", 1)[-1].removesuffix(";").strip()
    last = [line for line in reason.splitlines() if line.strip()]
    # a Python traceback says what happened in its first line
    return (last or [message])[0][:300]
