# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A Triton server that serves variants: one server for the whole run loads and unloads variants."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from model_analyzer.domain.flags import COMPLETION
from model_analyzer.domain.measurements import ServerStatistics
from model_analyzer.domain.models import (
    ModelConfig,
    ModelVariant,
    empty,
    is_cached,
    max_batch_size,
    without_cache,
)
from model_analyzer.domain.protocols import Route
from model_analyzer.domain.settings import LaunchMode, Protocol, ServerRestart, ServerSettings
from model_analyzer.domain.trials import Failure, FailureReason, ServerSetup
from model_analyzer.errors import ServerError
from model_analyzer.runner.client.connect import wants_grpc_tls
from model_analyzer.runner.client.interface import ServerCallError, ServerClient, has_fixed_shapes
from model_analyzer.runner.client.openai import openai_route
from model_analyzer.runner.server.life import Launcher, ServerLife, same_launch
from model_analyzer.runner.server.log import MAY_LACK_MEMORY, ServerLog, hint
from model_analyzer.runner.stubs import ProcessState, read_state, stubs_among
from model_analyzer.runner.timings import DEFAULT, Timings

log = logging.getLogger(__name__)

_ANSWER_S = 60.0
_MOST_WARM_UPS = 32
_TAG = "model_analyzer_variant"

# The server's error if the process of a Python model has ended.
_STUB_ENDED = "is not healthy"

_LOOK_S = 1.0
# The time that a stub may wait for its server: if it failed, other instances may still start.
_COLLECTED_S = 10.0


class TritonServer(ServerLife):
    """Loads variants into its server.

    With `settles`, a change of variant ends only when the processes of the old variant have ended,
    which memory metrics need. With `renews`, a server that has run a model in its own process is
    not used for a different variant: such backends keep GPU memory after unloading.
    """

    def __init__(
        self,
        launcher: Launcher,
        settings: ServerSettings,
        log: ServerLog,
        *,
        settles: bool,
        renews: bool = False,
        acts: Callable[[str], bool] = lambda _: True,
        timings: Timings = DEFAULT,
    ) -> None:
        super().__init__(launcher, settings, log, acts=acts, timings=timings)
        self._settles = settles
        self._renews = renews

    def version(self, setup: ServerSetup) -> str:
        """Starts the server for `setup`, unless it runs, and returns its version."""
        try:
            return self.client(setup).version()
        except ServerCallError as error:
            raise ServerError(f"{self._launcher.description} does not answer: {error}") from error

    def configuration(self, model: str, setup: ServerSetup) -> ModelConfig:
        """The configuration in the repository, completed by the server if `setup` allows it.

        Raises ServerError if the original model does not load.
        """
        client = self.client(setup)
        self._log.mark()
        try:
            client.load(model, None, self._settings.load_timeout_s)
            return client.model_config(model)
        except ServerCallError as error:
            raise ServerError(_load_reason(str(error), self._log.errors())) from error

    def serve(self, variants: Sequence[ModelVariant], setup: ServerSetup) -> Failure | None:
        """Loads the variants that are not loaded yet, composing variants first.

        If a load fails on a server that had loaded other variants, it is tried again on a new
        server: two variants together may need too much memory. The same if a process ended, which
        somebody may have killed.
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

    def route(self, variant: ModelVariant, protocol: Protocol) -> Route:
        """The route: address and protocol, the same for all variants."""
        assert self._endpoints is not None, "the server has not been started"
        address = self._endpoints.for_protocol(protocol)
        grpc_tls = protocol is Protocol.GRPC and wants_grpc_tls(self._setup.access)
        url = address.as_written if grpc_tls or address.is_https else str(address)
        if self._settings.is_openai:
            return openai_route(url)
        return Route(flags={"url": url, "protocol": protocol.value})

    def log_tail(self) -> tuple[str, ...]:
        """The last lines of the log, error lines if there are any."""
        return self._log.tail()

    def statistics(self, variants: Sequence[ModelVariant]) -> ServerStatistics:
        """The server's statistics of these variants and their composing variants; empty if the
        server does not answer.
        """
        names = dict.fromkeys(part.model for v in variants for part in _parts_first(v))
        if self._client is None:
            return empty()
        try:
            return {name: self._client.statistics(name) for name in names}
        except ServerCallError as error:
            log.debug("The server does not report its statistics: %s", error)
            return empty()

    @property
    def metrics_url(self) -> str:
        """The URL of the running server's metrics."""
        assert self._endpoints is not None, "the server has not been started"
        return self._endpoints.metrics_url

    def rest(self, seconds: float) -> None:
        """Waits while the server is idle. Raises ServerError if it dies."""
        if self._process is not None and self._process.wait(seconds) is not None:
            lines = self._log.tail()
            raise ServerError(f"the server died while idle: {lines[-1] if lines else 'no reason'}")

    def stubs(self) -> Sequence[int]:
        """The process numbers of the server's stubs, which run Python models."""
        return [stub.pid for stub in stubs_among(self.processes())]

    def _must_restart(self, wanted: Mapping[str, ModelVariant], setup: ServerSetup) -> bool:
        if self._process is None:
            return False
        if not self._process.is_running or not same_launch(self._setup, setup):
            return True
        if self._settings.restart is ServerRestart.NEVER:
            return False
        if set(self._loaded) - set(wanted):
            return True  # other models would use a part of the machine
        changed = any(self._loaded.get(name) != v.identity for name, v in wanted.items())
        is_due = self._settings.restart.renews(keeps_memory=self._renews and self._is_used)
        # all variants of a model share the response cache, which unloading does not empty
        keeps_cache = not setup.uncached and any(is_cached(v.config) for v in wanted.values())
        return changed and bool(self._loaded) and (is_due or keeps_cache)

    def _load(self, wanted: Mapping[str, ModelVariant], setup: ServerSetup) -> Failure | None:
        """Loads every variant that is not loaded yet. Discards the server if its state is unknown
        after a failure.
        """
        client = self.client(setup)
        missing = [
            variant
            for name, variant in wanted.items()
            if self._loaded.get(name) != variant.identity
        ]
        for variant in missing:
            failure = self._load_one(client, variant)
            if failure is None and variant.is_ensemble:
                failure = self._restore_parts(client, variant)
            if failure is not None:
                return failure
        if self._settles:
            self._settle(wanted)
        return None

    def _load_one(self, client: ServerClient, variant: ModelVariant) -> Failure | None:
        self._log.mark()
        watch = LoadWatch(self.stubs, self._kill)
        try:
            with watch:
                config = _as_measured(variant, self._setup)
                client.load(variant.model, config, self._settings.load_timeout_s)
                altered = self._altered(client, variant)
        except ServerCallError as error:
            return self._load_failure(variant, error, stub_died=watch.has_ended_it)
        if altered is not None and variant.is_default:
            # what this server makes of the model is what it serves today
            log.warning("%s: measured as it is", altered.message)
        elif altered is not None:
            self.discard()  # with the model, of which another variant may have been in place
            return altered
        self._loaded[variant.model] = variant.identity
        self._is_used = self._is_used or _runs_in_the_server(variant)
        self._warm_up(client, variant)
        return None

    def _altered(self, client: ServerClient, variant: ModelVariant) -> Failure | None:
        """A failure if the server has changed what it was given. Ours does not, unless the user's
        flags say so.
        """
        is_ours = self._settings.launch is not LaunchMode.REMOTE
        if is_ours and not any(name in self._setup.flags for name in COMPLETION):
            return None
        return _not_as_given(client.model_config(variant.model), variant)

    def _restore_parts(self, client: ServerClient, ensemble: ModelVariant) -> Failure | None:
        """Loads the parts again that the server replaced when it loaded their ensemble.

        The first ensemble of a server may bring its parts along from the repository, although they
        are loaded: their variants would be measured as something else, without any error. A part
        that is replaced while its ensemble stays loaded is kept.
        """
        if self._settings.reload_disable:
            return None  # nothing is ever loaded
        for part in ensemble.served:
            try:
                if _is_marked(client.model_config(part.model), part):
                    continue
                log.debug("%s was replaced when its ensemble was loaded: loading again", part.name)
                failure = self._load_one(client, part)
                if failure is None and not _is_marked(client.model_config(part.model), part):
                    self.discard()
                    failure = Failure(
                        reason=FailureReason.MODEL_NOT_LOADED,
                        message=f"{part.name} did not load: the server uses the configuration of"
                        " the repository instead",
                    )
            except ServerCallError as error:
                failure = self._load_failure(part, error, stub_died=False)
            if failure is not None:
                return failure
        return None

    def _kill(self) -> None:
        if self._process is not None:
            self._process.kill()

    def _load_failure(
        self, variant: ModelVariant, error: ServerCallError, *, stub_died: bool
    ) -> Failure:
        lines = self._log.errors()
        if stub_died:
            self.discard()
            return Failure(
                reason=FailureReason.SERVER_DIED,
                message=f"a Python backend process died while {variant.name} was loading",
                log=lines,
                hint=MAY_LACK_MEMORY,
            )
        message = str(error).splitlines()[0] if str(error) else "no reason given"
        if error.timed_out:
            self.discard()
            return Failure(
                reason=FailureReason.LOAD_TIMEOUT,
                message=f"{variant.name} was not loaded within {self._settings.load_timeout_s} s",
                log=lines,
                hint="raise --model-load-timeout; if a model process cannot start, loading never"
                " ends: `model-analyzer doctor` checks that",
            )
        if error.lost and self._process is not None:
            self._process.wait(self._timings.dying_s)
        if not self.is_alive:
            self.discard()
            return Failure(
                reason=FailureReason.SERVER_DIED,
                message=f"the server died while it loaded {variant.name}",
                log=self._log.tail(),
                hint=MAY_LACK_MEMORY,
            )
        if "failed to poll" not in message:
            # Loading failed after it began; a refused configuration ("failed to poll") is harmless.
            self.discard()
        reason = _load_reason(str(error), lines)
        return Failure(
            reason=FailureReason.MODEL_NOT_LOADED,
            message=f"{variant.name} did not load: {reason}",
            log=(*str(error).splitlines()[:8], *lines),
            hint=hint(str(error), *lines) or "see the server's log",
        )

    def _warm_up(self, client: ServerClient, variant: ModelVariant) -> None:
        """Sends some requests of zeros, so that slow first requests are not measured.

        It sends one request at a time, so that the warm-up is never harder than the load: a model
        that fails with several requests can still be measured with one. Each request goes to the
        instance that was idle longest, so all instances get some, unless a request takes seconds.

        Their answers must not be empty: with numpy 2, a Python backend for numpy 1 sends empty
        tensors without an error, and all measurements look plausible.
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
            # some models refuse zeros; perf_analyzer shows whether the model works
            log.debug("%s does not answer requests of zeros: %s", variant.name, error)
            return
        if answer.is_empty and config.get("backend") == "python":
            raise ServerError(
                f"{variant.model} answers with empty tensors: the first python3 on the server's"
                " PATH probably has numpy 2, and this server needs numpy 1; run"
                " `model-analyzer doctor`"
            )

    def _settle(self, wanted: Mapping[str, ModelVariant]) -> None:
        """Waits until there are at most as many model processes as instances."""
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


class LoadWatch:
    """While entered, ends a server if one of its stubs has died: Triton would wait for it forever.

    `stubs` returns the process numbers of the stubs, which start during the load; `end` ends the
    server. Afterwards, `has_ended_it` tells whether that was necessary.
    """

    def __init__(
        self,
        stubs: Callable[[], Sequence[int]],
        end: Callable[[], None],
        *,
        read: Callable[[int], ProcessState | None] = read_state,
        look_s: float = _LOOK_S,
        collected_s: float = _COLLECTED_S,
    ) -> None:
        self._stubs = stubs
        self._end = end
        self._read = read
        self._look_s = look_s
        self._collected_s = collected_s
        self._is_loaded = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.has_ended_it = False

    def __enter__(self) -> LoadWatch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_loaded.set()
        self._thread.join()

    def _watch(self) -> None:
        first_seen: dict[tuple[int, int], float] = {}
        while not self._is_loaded.wait(self._look_s):
            time_s = time.monotonic()
            zombies = [
                (pid, state.started)
                for pid in self._stubs()
                if (state := self._read(pid)) is not None and state.is_zombie
            ]
            first_seen = {stub: first_seen.get(stub, time_s) for stub in zombies}
            if any(time_s - seen > self._collected_s for seen in first_seen.values()):
                self.has_ended_it = True
                self._end()
                return


def _is_worth_another_server(failure: Failure, *, was_fresh: bool) -> bool:
    """Whether to repeat the load on a new server: not if it hangs; the runner repeats the trial if
    the server died.
    """
    if failure.reason is not FailureReason.MODEL_NOT_LOADED:
        return False
    return not was_fresh or _STUB_ENDED in failure.message


def _as_measured(variant: ModelVariant, setup: ServerSetup) -> ModelConfig:
    """The configuration with the variant's name in a metric tag; without a response cache, if the
    setup says so.

    If only the number of instances changes, Triton keeps existing instances, with their old
    initialization: a model that divides threads between its instances, for example, would be
    measured with the threads of the previous variant. If a tag also changes, all instances are new.
    """
    tags = {**variant.config.get("metric_tags", {}), _TAG: variant.name}
    config = without_cache(variant.config) if setup.uncached else variant.config
    return {**config, "metric_tags": tags}


def _not_as_given(config: ModelConfig, variant: ModelVariant) -> Failure | None:
    """A failure if the server has changed how the variant batches.

    A server that completes configurations lets the code of a model raise its max_batch_size and
    add a dynamic batcher, also if the configuration that it was given says otherwise.
    """
    if not _is_marked(config, variant):
        return None
    given, used = max_batch_size(variant.config), max_batch_size(config)
    changes = [f"max_batch_size {used} instead of {given}"] if used != given else []
    if "dynamic_batching" in config and "dynamic_batching" not in variant.config:
        changes.append("a dynamic batcher")
    if not changes:
        return None
    return Failure(
        reason=FailureReason.MODEL_NOT_LOADED,
        message=f"the server gave {variant.name} {' and '.join(changes)}: it completes"
        " configurations, as the model's code or backend says",
        hint="start the server with --disable-auto-complete-config",
    )


def _is_marked(config: ModelConfig, variant: ModelVariant) -> bool:
    """Whether the server's configuration of a model is that of the variant: see `_as_measured`."""
    tag: object = config.get("metric_tags", {}).get(_TAG)
    return tag == variant.name


def _runs_in_the_server(variant: ModelVariant) -> bool:
    """Whether its instances run in the server process; instances of Python models do not."""
    is_ensemble = "ensemble_scheduling" in variant.config
    return not is_ensemble and variant.config.get("backend") != "python"


def _parts_first(variant: ModelVariant) -> Iterator[ModelVariant]:
    for part in variant.composing:
        yield from _parts_first(part)
    yield variant


def _load_reason(message: str, lines: Sequence[str]) -> str:
    """The part of the server's error message that says what is wrong."""
    if "failed to poll" in message and lines:
        return lines[0]
    reason = message.split(" state: ", 1)[-1].removesuffix(";").strip()
    last = [line for line in reason.splitlines() if line.strip()]
    # the first line of the server's Python traceback is the error
    return (last or [message])[0][:300]
