# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The interface of clients of a Triton server. All calls have a deadline."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from model_analyzer.domain.measurements import BatchStatistics, ModelStatistics, RequestCounts
from model_analyzer.domain.models import ModelConfig, is_decoupled
from model_analyzer.errors import ServerError

# The deadline in seconds for calls that a server answers at once.
QUICK_S = 10.0

# The deadline in seconds for statistics, which are optional.
STATISTICS_S = 2.0

# Requests with larger tensors are not created: they would be a heavy load.
_MOST_ELEMENTS = 2**24

# The states of models that are not loaded; "" means never loaded.
_NOT_LOADED = ("", "UNAVAILABLE")


# Said of a server that does not know a call: other servers speak the same protocol of inference.
NOT_TRITON = (
    "perf_analyzer can measure only servers that know all calls of Triton, such as the"
    " configuration and the statistics of a model"
)
_NEEDED = {"model_configuration", "statistics"}  # extensions of the protocol


class ServerCallError(ServerError):
    """The server refused a call, did not answer in time (`timed_out`), or has ended (`lost`).

    `denied`: keys, certificates or passwords are wrong, so another try is useless. It ends the run
    if nothing catches it. `absent`: HTTP has nothing at this path, or nothing that
    takes what was sent there.
    """

    def __init__(
        self,
        message: str,
        *,
        timed_out: bool = False,
        lost: bool = False,
        denied: bool = False,
        absent: bool = False,
    ) -> None:
        super().__init__(message)
        self.timed_out = timed_out
        self.lost = lost
        self.denied = denied
        self.absent = absent


def restricted(message: str) -> ServerCallError | None:
    """The error for a call that needs a header which was not sent; None for other messages.

    Triton answers such a call of gRPC with the status of a server that is away.
    """
    if (match := _RESTRICTED.search(message)) is None:
        return None
    advice = f"give it its value: perf_analyzer_flags: {{http-header: '{match[1]}: VALUE'}}"
    return ServerCallError(f"{message.strip()} ({advice})", denied=True)


# Triton's words, also in what perf_analyzer prints.
RESTRICTED = "is restricted, expecting header"
_RESTRICTED = re.compile(rf"{RESTRICTED} '([^']+)'")


def measurable_version(server: str, version: str, extensions: Iterable[str]) -> str:
    """The version of a server that says this of itself. Raises ServerCallError if it is another
    server than Triton, and lacks what perf_analyzer needs.
    """
    if server != "triton" and not _NEEDED.issubset(extensions):
        raise ServerCallError(f"it is {server} {version}: {NOT_TRITON}", denied=True)
    return version


@dataclass(frozen=True, slots=True)
class InferenceAnswer:
    """The outputs of one inference: the number of bytes by name."""

    sizes: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        return bool(self.sizes) and not any(self.sizes.values())


class ServerClient(Protocol):
    """A connection to one server; close it when the server ends.

    Every call raises ServerCallError if it fails.
    """

    def close(self) -> None: ...

    def version(self) -> str:
        """The server's version. Raises while the server starts, and after it was asked to end."""

    def models(self) -> Mapping[str, tuple[str, ...]]:
        """The models of its repository, each with its loaded versions. It lacks those that were
        loaded from files in a request; see `is_served`.
        """

    def model_config(self, name: str) -> ModelConfig:
        """The configuration of a loaded model, as the server has completed it."""

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        """Loads a model with this complete configuration instead of the one in the repository.

        None means the configuration in the repository, or that of an earlier load, if any.
        """

    def unload(self, name: str) -> None:
        """Starts to unload a model (not its composing models), without waiting for the end."""

    def statistics(self, name: str) -> ModelStatistics:
        """The server's statistics of a loaded model, for all its versions together."""

    def infer_zeros(self, config: ModelConfig, timeout_s: float) -> InferenceAnswer:
        """The answer to a request of zeros (or empty texts). All shapes must be fixed."""


def known_models(client: ServerClient) -> Mapping[str, tuple[str, ...]]:
    """The models of its repository, as far as the server tells: none if access is restricted."""
    try:
        return client.models()
    except ServerCallError as error:
        if error.denied:
            return {}
        raise


def is_served(client: ServerClient, name: str) -> bool:
    """Whether the server serves a model, also one that its repository does not have."""
    if known_models(client).get(name):
        return True
    try:
        client.model_config(name)
    except ServerCallError as error:
        if error.timed_out or error.lost or error.denied:
            raise
        return False
    return True


@dataclass(frozen=True, slots=True)
class InputTensor:
    """An input of a request; `kind` is its data type without `TYPE_`."""

    name: str
    kind: str
    shape: tuple[int, ...]


def input_tensors(config: ModelConfig) -> Iterator[InputTensor]:
    """The inputs of a request of batch size 1. All shapes of the model must be fixed."""
    batch = (1,) if config.get("max_batch_size", 0) else ()
    for tensor in config["input"]:
        shape = (*batch, *(int(size) for size in tensor["dims"]))
        yield InputTensor(tensor["name"], _kind(tensor), shape)


def has_fixed_shapes(config: ModelConfig) -> bool:
    """Whether a valid request follows from the configuration alone."""
    from tritonclient.utils import triton_to_np_dtype  # imports numpy

    tensors: Sequence[Mapping[str, Any]] = (*config.get("input", ()), *config.get("output", ()))
    sizes = [
        math.prod(int(size) if int(size) > 0 else 0 for size in tensor.get("dims", (0,)))
        for tensor in tensors
    ]
    return (
        bool(config.get("input"))
        and all(0 < size <= _MOST_ELEMENTS for size in sizes)
        and all(triton_to_np_dtype(_kind(tensor)) for tensor in tensors)
        and "sequence_batching" not in config
        and not is_decoupled(config)
    )


# The phases of an execution that a server counts for each batch size.
PHASES = ("compute_input", "compute_infer", "compute_output")


def model_statistics(
    versions: Iterable[tuple[int, int, Iterable[tuple[int, int, int]], RequestCounts]],
) -> ModelStatistics:
    """The sum over versions, each with inferences, executions, batches (size, count, ns) and
    requests.
    """
    total = ModelStatistics(inferences=0, executions=0, requests=RequestCounts())
    for inferences, executions, batches, requests in versions:
        total += ModelStatistics(
            inferences=inferences,
            executions=executions,
            batches=tuple(BatchStatistics(size, count, ns / 1e6) for size, count, ns in batches),
            requests=requests,
        )
    return total


def config_of(name: str, config: ModelConfig) -> ModelConfig:
    """The configuration. Raises ServerCallError if it belongs to a different model."""
    if config.get("name") != name:
        raise ServerCallError(f"the server's answer is not the configuration of {name}")
    return config


def text_of(value: Any) -> str:
    """A text in an answer. Raises TypeError for any other type."""
    if isinstance(value, str):
        return value
    raise TypeError(f"expected a text, found a {type(value).__name__}")


def loaded_versions(index: Sequence[tuple[str, str, str]]) -> Mapping[str, tuple[str, ...]]:
    """The loaded versions by model, from rows (name, version, state) of a repository index."""
    loaded: dict[str, tuple[str, ...]] = {}
    for name, version, state in index:
        versions = () if state in _NOT_LOADED else (version,)
        loaded[name] = (*loaded.get(name, ()), *versions)
    return loaded


def _kind(tensor: Mapping[str, Any]) -> str:
    return str(tensor.get("data_type", "")).removeprefix("TYPE_").replace("STRING", "BYTES")
