# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Loads, workloads and trials, how a trial can fail, and loads as text: short for tables, and as
phrases for sentences.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.flags import PERF_ANALYZER_NO_FILES
from model_analyzer.domain.hardware import Machine, kind_text
from model_analyzer.domain.model_config_rules import rate_limits, refusal
from model_analyzer.domain.models import ModelVariant, empty, fingerprint, freeze, group_name
from model_analyzer.domain.secrets import (
    Veil,
    container_settings,
    formerly_masked,
    masked_values,
    settings_of,
)
from model_analyzer.domain.traffic import Traffic

# perf_analyzer flags with addresses and places: they do not change what is measured. `input-data`
# and `request-intervals` name files, whose content counts: see `Workload.inputs`.
FLAGS_WITHOUT_MEANING = frozenset(
    {
        "url", "metrics-url", "metrics-interval", "collect-metrics", "latency-report-file",
        "input-data", "request-intervals", "verbose", "extra-verbose", "verbose-csv",
        "triton-server-directory", "model-repository", "model-name", "http-header",
        "ssl-grpc-root-certifications-file", "ssl-grpc-private-key-file",
        "ssl-grpc-certificate-chain-file", "ssl-https-ca-certificates-file",
        "ssl-https-client-certificate-file", "ssl-https-private-key-file",
    }
)  # fmt: skip

# The same for tritonserver.
_SERVER_FLAGS_WITHOUT_MEANING = frozenset(
    {
        "id", "http-port", "grpc-port", "metrics-port", "http-address", "grpc-address",
        "metrics-address", "log-verbose", "log-info", "log-warning", "log-error", "log-format",
        "log-file", "model-store", "model-repository", "exit-timeout-secs", "backend-directory",
        "repoagent-directory", "cache-directory", "metrics-interval-ms", "grpc-server-cert",
        "grpc-server-key", "grpc-root-cert",
    }
)  # fmt: skip

# The same for the container that a server runs in.
_CONTAINER_ARGUMENTS_WITHOUT_MEANING = frozenset(
    {"name", "hostname", "domainname", "mac_address", "labels", "volumes"}
)


def _meaning(flags: Mapping[str, Any]) -> Mapping[str, Any]:
    """The flags that change what is measured, secrets masked; of `input-data`, only values that are
    not files.
    """
    return masked_values(_meaningful(flags))


def _meaningful(flags: Mapping[str, Any]) -> Mapping[str, Any]:
    meaning = {flag: value for flag, value in flags.items() if flag not in FLAGS_WITHOUT_MEANING}
    data = flags.get("input-data", ())
    generated = [
        item
        for item in ((data,) if isinstance(data, str) else data)
        if item in PERF_ANALYZER_NO_FILES
    ]
    return {**meaning, "input-data": generated} if generated else meaning


def _without(values: Mapping[str, Any], names: Collection[str]) -> Mapping[str, Any]:
    return {name: value for name, value in values.items() if name not in names}


class LoadKind(Enum):
    """What the client keeps constant."""

    CONCURRENCY = "concurrency"
    REQUEST_RATE = "request_rate"
    REQUEST_INTERVALS = "request_intervals"


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the client does: `value` requests in flight, or requests per second, each of
    `batch_size` inferences. With request intervals the times come from a file and `value` is 0.
    """

    kind: LoadKind = LoadKind.CONCURRENCY
    value: int
    batch_size: int = 1

    def __str__(self) -> str:
        parts = [] if self.batch_size == 1 else [f"client batch size={self.batch_size}"]
        match self.kind:
            case LoadKind.CONCURRENCY:
                parts.append(f"concurrency={self.value}")
            case LoadKind.REQUEST_RATE:
                parts.append(f"request-rate-range={self.value}")
            case LoadKind.REQUEST_INTERVALS:
                parts = [f"client batch size={self.batch_size}"]
        return ", ".join(parts)


def client_setup_of(flags: Mapping[str, Any], inputs: str, traffic: Traffic | None = None) -> str:
    """Fingerprint of the perf_analyzer flags that change what is measured, of the inputs, and of
    how requests arrive.
    """
    return fingerprint([_meaning(flags), inputs, *_arriving(traffic)])


def _arriving(traffic: Traffic | None) -> Sequence[Mapping[str, Any]]:
    """What identities contain of the traffic: nothing if there is none, as before there was any."""
    return [] if traffic is None else [traffic.meaning]


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One variant under one load, with the user's own perf_analyzer flags.

    `inputs` is a fingerprint of the files that the flags or the traffic name (input data,
    intervals, a log), or "". `traffic` is how requests arrive, if the configuration says so; else
    the flags do (see `domain.arrivals`). `times_tokens` is true for a language model. If genai-perf
    makes the requests, `genai_perf` has its flags. `base` is the `ModelFacts.identity` of the model
    from which the variant was derived, "" if unknown. The same variant may derive from several
    models, so `base` is not part of the identity of a trial.
    """

    variant: ModelVariant
    load: Load
    flags: Mapping[str, Any] = field(default_factory=empty)
    inputs: str = ""
    traffic: Traffic | None = None
    times_tokens: bool = False
    genai_perf: Mapping[str, Any] = field(default_factory=empty)
    base: str = ""

    @cached_property
    def client_setup(self) -> str:
        """Fingerprint of how it is measured, without variant and load: flags, inputs, traffic.

        Only measurements under equal conditions can be compared.
        """
        return client_setup_of(self.flags, self.inputs, self.traffic)

    @property
    def load_text(self) -> str:
        """The load, and how its requests arrive if the configuration says so."""
        if self.traffic is None:
            return str(self.load)
        if self.traffic.has_own_times and self.load.batch_size == 1:
            return str(self.traffic)
        return f"{self.load}, {self.traffic}"

    @property
    def telling_flags(self) -> Mapping[str, Any]:
        """The flags that change what is measured, secrets masked."""
        return _meaning(self.flags)

    @property
    def is_legal(self) -> bool:
        """Whether a server can run it."""
        return not self.why_illegal

    @property
    def why_illegal(self) -> str:
        """Why no server can run it; "" if one can.

        The client must not send larger batches than the variant takes, and the server must accept
        the configurations: see `model_config_rules`.
        """
        if not self.takes(self.load):
            limit = self.variant.max_batch_size
            return f"the client batch size {self.load.batch_size} is above max_batch_size {limit}"
        return str(refusal(self.variant) or "")

    def takes(self, load: Load) -> bool:
        """Whether the variant takes the client batches of a load."""
        return load.batch_size <= max(self.variant.max_batch_size, 1)


@dataclass(frozen=True, kw_only=True)
class ServerSetup:
    """The conditions of a measurement that belong to the server, not to the variant.

    `devices` are the names of the GPUs in use, sorted: the kind of hardware (see
    `domain.hardware`), empty on a machine without GPUs. `flags` have dashes in their names.
    With `uncached`, variants are loaded without the response cache of their configurations.
    `container` holds the arguments of the server's container, if it is in one, by the names of the
    Docker SDK. `access` holds the perf_analyzer flags for access to the server (TLS, headers): they
    are not part of the identity, and not stored. The `veil` masks variables, also those of the
    container, before they are stored, shown or made part of the identity.
    """

    launch: str = "local"
    version: str = ""
    protocol: str = "grpc"
    devices: tuple[str, ...] = ()
    flags: Mapping[str, Any] = field(default_factory=empty)
    environment: Mapping[str, str] = field(default_factory=empty)
    uncached: bool = False
    container: Mapping[str, Any] = field(default_factory=empty)
    access: Mapping[str, Any] = field(default_factory=empty)
    veil: Veil = field(default_factory=Veil, repr=False, compare=False)

    @cached_property
    def kept_environment(self) -> Mapping[str, str]:
        """The variables as they are stored and shown."""
        return MappingProxyType(self.veil.environment(self.environment))

    @cached_property
    def kept_container(self) -> Mapping[str, Any]:
        """The container's arguments as they are stored and shown."""
        return MappingProxyType(self.veil.container(self.container))

    @cached_property
    def kept(self) -> ServerSetup:
        """The setup as it is stored."""
        return replace(
            self,
            flags=freeze(masked_values(self.flags)),
            environment=self.kept_environment,
            container=freeze(self.kept_container),
            access=empty(),
            veil=Veil(shown=self.veil.shown),
        )

    @cached_property
    def kind(self) -> str:
        """The kind of hardware, in words."""
        return kind_text(self.devices)

    @property
    def meaning(self) -> Mapping[str, Any]:
        """The settings that count, by name, secrets masked: without ports, paths and log flags."""
        return self._meaning(
            masked_values(self.flags),
            settings_of(self.kept_environment),
            container_settings(self.kept_container),
        )

    @cached_property
    def former_identity(self) -> str:
        """The identity in versions that masked fewer secrets."""
        meaning = self._meaning(
            formerly_masked(self.flags),
            formerly_masked(self.environment),
            formerly_masked(self.container),
        )
        return fingerprint(list(meaning.values()))

    def _meaning(
        self,
        flags: Mapping[str, Any],
        environment: Mapping[str, Any],
        container: Mapping[str, Any],
    ) -> Mapping[str, Any]:
        return {
            "launch": self.launch,
            "version": self.version,
            "protocol": self.protocol,
            "devices": self.devices,
            "flags": _without(flags, _SERVER_FLAGS_WITHOUT_MEANING),
            "environment": environment,
            "container": _without(container, _CONTAINER_ARGUMENTS_WITHOUT_MEANING),
            **({"response cache": "off"} if self.uncached else {}),
        }

    @cached_property
    def identity(self) -> str:
        """Fingerprint of the settings that count."""
        return fingerprint(list(self.meaning.values()))


@dataclass(frozen=True, kw_only=True)
class Trial:
    """The workloads measured together, on a server set up in one way.

    The same trial can be measured several times; `repetition` counts from 0.

    `round_s` tells the runner how long this measurement should last, in seconds: 0 leaves it
    to the runner, None to perf_analyzer and the user's flags. After `limit_s` seconds, the budget
    of the search ends, and a round with it; None sets no limit. `refines` is set if the search has
    found the variants, and asks for another load of them. These three belong neither to the
    identity of a trial nor to the conditions of its measurement.
    """

    workloads: tuple[Workload, ...]
    setup: ServerSetup
    repetition: int = 0
    round_s: float | None = field(default=None, compare=False)
    limit_s: float | None = field(default=None, compare=False)
    refines: bool = field(default=False, compare=False)

    @cached_property
    def key(self) -> str:
        """Fingerprint of everything that can change the outcome: equal keys, equal measurements."""
        return self._key(self.setup.identity, masked_values)

    @cached_property
    def former_key(self) -> str:
        """The key in versions that masked fewer secrets: their checkpoints have it."""
        return self._key(self.setup.former_identity, dict)

    def _key(self, setup: str, mask: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> str:
        return fingerprint(
            [
                setup,
                [
                    [
                        work.variant.identity,
                        [work.load.kind.value, work.load.value, work.load.batch_size],
                        mask(_meaningful(work.flags)),
                        work.inputs,
                        *([mask(work.genai_perf)] if work.times_tokens else []),
                        *_arriving(work.traffic),
                    ]
                    for work in self.workloads
                ],
                *([self.repetition] if self.repetition else []),
            ]
        )

    @property
    def is_unverified(self) -> bool:
        """Whether the files of a model are unknown: upstream does not store them."""
        return "" in [work.variant.files for work in self.workloads]

    @property
    def first(self) -> Trial:
        """The trial that this one repeats, or itself."""
        # itself keeps its key, which takes time to compute
        return replace(self, repetition=0) if self.repetition else self

    def under(self, loads: Sequence[Load]) -> Trial:
        """The same variants under other loads, one for each model."""
        works = zip(self.workloads, loads, strict=True)
        return replace(self, workloads=tuple([replace(work, load=load) for work, load in works]))

    @property
    def is_legal(self) -> bool:
        return not self.why_illegal

    @property
    def why_illegal(self) -> str:
        """Why no server can run it; "" if one can."""
        reasons = filter(None, (work.why_illegal for work in self.workloads))
        served = [part for work in self.workloads for part in work.variant.served]
        return str(next(chain(reasons, rate_limits(served, self.setup.flags)), ""))

    @property
    def gpus(self) -> int:
        """The number of GPUs that the server used."""
        return len(self.setup.devices)

    @property
    def content(self) -> str:
        """Fingerprints of the variants that the server loads for it."""
        return ",".join([work.variant.identity for work in self.workloads])

    @property
    def served(self) -> tuple[str, str]:
        """The names of the variants that the server loads for it, and their content."""
        return self.variants, self.content

    @property
    def models(self) -> str:
        """Names of the models, joined as in file names and tables."""
        return group_name([work.variant.model for work in self.workloads])

    @property
    def variants(self) -> str:
        """Names of the variants, joined as in file names and tables."""
        return group_name([work.variant.name for work in self.workloads])

    @property
    def bases(self) -> tuple[str, ...]:
        """The models from which the variants were derived: see `Workload.base`."""
        return tuple([work.base for work in self.workloads])

    def derives_like(self, other: Trial) -> bool:
        """Whether the variants of both derive from the same models; unknown ones count as equal."""
        pairs = zip(self.bases, other.bases, strict=True)
        return all(own == base or not (own and base) for own, base in pairs)

    @property
    def load(self) -> tuple[Load, ...]:
        """The load of each model."""
        return tuple([work.load for work in self.workloads])

    @property
    def loads(self) -> str:
        """The load in words; if models have different loads, all of them."""
        return "; ".join(dict.fromkeys(work.load_text for work in self.workloads))

    def __str__(self) -> str:
        return "; ".join(f"{work.variant.name}: {work.load_text}" for work in self.workloads)


class FailureReason(Enum):
    """Why a trial has no measurement."""

    MODEL_NOT_LOADED = "the model did not load"
    LOAD_TIMEOUT = "the model did not become ready in time"
    REQUEST_FAILED = "requests failed"
    UNSTABLE = "the measurement did not become stable"
    NO_REQUESTS = "no request finished within the measurement window"
    TIMEOUT = "perf_analyzer did not finish in time"
    BUDGET = "the time budget ended during the measurement"
    LOAD_GENERATOR_BUSY = "perf_analyzer used too much CPU"
    LOAD_GENERATOR_LARGE = "perf_analyzer used too much memory"
    LOAD_GENERATOR_DIED = "perf_analyzer was killed"
    SERVER_DIED = "the server died"
    MODEL_DIED = "a process of the model died"
    NO_RESULT = "perf_analyzer ended without a result"
    IMPOSSIBLE_VALUES = "the measured values contradict each other"
    LOST = "the machines that measured it were lost"
    WRONG_OUTPUTS = "its outputs are not those of the default configuration"


_LOADING = frozenset({FailureReason.MODEL_NOT_LOADED, FailureReason.LOAD_TIMEOUT})
_OF_ONE_LOAD = frozenset({
    FailureReason.REQUEST_FAILED, FailureReason.UNSTABLE, FailureReason.NO_RESULT,
    FailureReason.IMPOSSIBLE_VALUES,
})  # fmt: skip

# The words of a Triton server; the second ones end with the list of its GPUs.
_NO_GPUS = re.compile(r"no GPUs are available|invalid or unsupported gpu id .* are: ;")


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A trial without a measurement: stored, shown, and tried again only on request.

    `message` is one sentence about what happened, `log` has the lines that explain it, `hint` says
    what to do. `started` is in seconds since the epoch; `machine` is None if unknown.
    """

    reason: FailureReason
    message: str
    log: tuple[str, ...] = ()
    hint: str = ""
    commands: tuple[str, ...] = ()
    started: float = 0.0
    duration_s: float = 0.0
    machine: Machine | None = None

    @property
    def is_of_variant(self) -> bool:
        """Whether the variant did not load, which it does not under another load either."""
        return self.reason in _LOADING

    @property
    def may_be_of_one_load(self) -> bool:
        """Whether a higher load may work: the variant loaded, and nothing died or hung."""
        return self.reason in _OF_ONE_LOAD

    @property
    def lacks_gpus(self) -> bool:
        """Whether a server without any GPU refused an instance of KIND_GPU."""
        return any(_NO_GPUS.search(text) for text in (self.message, *self.log))


def has_more_time(trial: Trial, failure: Failure) -> bool:
    """Whether a trial that failed at the end of a time budget may take longer now."""
    limit_s = math.inf if trial.limit_s is None else trial.limit_s
    return failure.reason is FailureReason.BUDGET and limit_s > failure.duration_s


def load_text(trial: Trial) -> str:
    """For example `concurrency 8, client batch 4`. For several models: all loads, or one text
    with several values, such as `concurrency 8,1`.
    """
    works = trial.workloads
    if len({(replace(work.load, value=0), work.traffic) for work in works}) > 1:
        return "; ".join(map(_short, works))
    values = [str(work.load.value) for work in works]
    return _short(works[0], values[0] if len(set(values)) == 1 else ",".join(values))


def under(trial: Trial) -> str:
    """A phrase such as `at concurrency 8, client batch 4`. For several models: the load of
    each, or one phrase if all are equal.
    """
    words = [under_load(work.load, work.traffic) for work in trial.workloads]
    if len(set(words)) > 1:
        named = zip(words, trial.workloads, strict=True)
        return " and ".join(f"{text} for {work.variant.model}" for text, work in named)
    return words[0] + (" for each model" if len(words) > 1 else "")


def load_words(trial: Trial) -> str:
    """The load as a noun: `concurrency 8, client batch 4`, `50 requests/sec`. For several
    models: the load of each, or one if all are equal.
    """
    phrases = [under_load(work.load, work.traffic) for work in trial.workloads]
    words = [phrase.removeprefix("at ").removeprefix("with ") for phrase in phrases]
    if len(set(words)) > 1:
        named = zip(words, trial.workloads, strict=True)
        return ", ".join(f"{text} for {work.variant.model}" for text, work in named)
    return words[0] + (" for each model" if len(words) > 1 else "")


def trial_words(trial: Trial) -> str:
    """A trial as a noun: `m_config_4 at concurrency 8`."""
    return f"{trial.variants} {under(trial)}"


def workload_words(work: Workload) -> str:
    """A workload as a noun: `m_config_4 at concurrency 8`."""
    return f"{work.variant.name} {under_load(work.load, work.traffic)}"


def under_load(load: Load, traffic: Traffic | None = None) -> str:
    """A phrase such as `at concurrency 8, client batch 4`, or `at 50 requests/sec`."""
    match load.kind:
        case LoadKind.CONCURRENCY:
            words = f"at concurrency {load.value:,}"
        case LoadKind.REQUEST_RATE:
            arriving = "" if traffic is None else f" with {traffic}"
            words = f"at {load.value:,} requests/sec{arriving}"
        case LoadKind.REQUEST_INTERVALS:
            words = f"with {'the given request intervals' if traffic is None else traffic}"
    return words if load.batch_size == 1 else f"{words}, client batch {load.batch_size}"


def _short(work: Workload, value: str | None = None) -> str:
    """The text of a load, with `value` in place of its own if given."""
    load, traffic = work.load, work.traffic
    value = value or str(load.value)
    match load.kind:
        case LoadKind.CONCURRENCY:
            text = f"concurrency {value}"
        case LoadKind.REQUEST_RATE:
            text = f"{value} requests/sec" + ("" if traffic is None else f", {traffic}")
        case LoadKind.REQUEST_INTERVALS:
            text = "intervals from file" if traffic is None else str(traffic)
    return text if load.batch_size == 1 else f"{text}, client batch {load.batch_size}"
