# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What can be asked of a Triton server, over whichever protocol, always with a deadline."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tritonclient.utils import triton_to_np_dtype

from model_analyzer.domain.models import ModelConfig, is_decoupled
from model_analyzer.domain.statistics import BatchStatistics, ModelStatistics
from model_analyzer.errors import ServerError

# The deadline of calls that every server answers at once.
QUICK_S = 10.0

# That of statistics, which nothing depends on.
STATISTICS_S = 2.0

# Larger tensors are not made up: such a request would be a load of its own.
_MOST_ELEMENTS = 2**24

# What the repository index says of a model that is not there; "" if it never was.
_NOT_LOADED = ("", "UNAVAILABLE")


class ServerCallError(ServerError):
    """The server refused, did not answer in time (`timed_out`) or went away (`lost`).

    `denied`: keys, certificates or passwords do not fit, so that trying again is useless. Where
    nobody knows better what to do, it ends the run.
    """

    def __init__(
        self, message: str, *, timed_out: bool = False, lost: bool = False, denied: bool = False
    ) -> None:
        super().__init__(message)
        self.timed_out = timed_out
        self.lost = lost
        self.denied = denied


@dataclass(frozen=True, slots=True)
class Answer:
    """The outputs of one inference: name to number of bytes."""

    sizes: Mapping[str, int]

    @property
    def is_empty(self) -> bool:
        return bool(self.sizes) and not any(self.sizes.values())


class ServerClient(Protocol):
    """A connection to one server; close it with the server's end.

    Every call raises ServerCallError where the server does not do as it is asked.
    """

    def close(self) -> None: ...

    def version(self) -> str:
        """The server's version; an error while it starts, and as soon as it is told to end."""

    def models(self) -> Mapping[str, tuple[str, ...]]:
        """The models of its repository, each with the versions that are loaded."""

    def model_config(self, name: str) -> ModelConfig:
        """The configuration of a loaded model, as the server has completed it."""

    def load(self, name: str, config: ModelConfig | None, timeout_s: float) -> None:
        """Loads a model with this configuration, in place of what the repository says.

        The whole configuration is sent: the server would not merge a part of one. Without one
        the repository's counts, unless another is in force since an earlier load.
        """

    def unload(self, name: str) -> None:
        """Has the server unload a model (not its parts), without waiting for that."""

    def statistics(self, name: str) -> ModelStatistics:
        """What the server has counted of a loaded model, in all its versions."""

    def infer_zeros(self, config: ModelConfig, timeout_s: float) -> Answer:
        """The answer to a request of zeros (empty text) to a model whose shapes are all fixed."""


@dataclass(frozen=True, slots=True)
class InputTensor:
    """An input of a request; `kind` is its data type without TYPE_."""

    name: str
    kind: str
    shape: tuple[int, ...]


def input_tensors(config: ModelConfig) -> Iterator[InputTensor]:
    """The inputs of a request of batch size 1 to a model whose shapes are all fixed."""
    batch = (1,) if config.get("max_batch_size", 0) else ()
    for tensor in config["input"]:
        shape = (*batch, *(int(size) for size in tensor["dims"]))
        yield InputTensor(tensor["name"], _kind(tensor), shape)


def has_fixed_shapes(config: ModelConfig) -> bool:
    """Whether a request can be made up for the model without knowing more about it."""
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


# What a server counts of each batch size: the phases of an execution.
PHASES = ("compute_input", "compute_infer", "compute_output")


def model_statistics(
    versions: Iterable[tuple[int, int, Iterable[tuple[int, int, int]]]],
) -> ModelStatistics:
    """Of each version inferences, executions and batches (size, count, nanoseconds), as one."""
    total = ModelStatistics(inferences=0, executions=0)
    for inferences, executions, batches in versions:
        total += ModelStatistics(
            inferences=inferences,
            executions=executions,
            batches=tuple(BatchStatistics(size, count, ns / 1e6) for size, count, ns in batches),
        )
    return total


def config_of(name: str, config: ModelConfig) -> ModelConfig:
    """The configuration that was asked for. Raises ServerCallError where it is of another model."""
    if config.get("name") != name:
        raise ServerCallError(f"the server's answer is not the configuration of {name}")
    return config


def text_of(value: Any) -> str:
    """A text in an answer. Raises TypeError for anything else."""
    if isinstance(value, str):
        return value
    raise TypeError(f"a {type(value).__name__} where a text should be")


def loaded_versions(index: Sequence[tuple[str, str, str]]) -> Mapping[str, tuple[str, ...]]:
    """Rows of a repository index (name, version, state) as loaded versions by model."""
    loaded: dict[str, tuple[str, ...]] = {}
    for name, version, state in index:
        here = () if state in _NOT_LOADED else (version,)
        loaded[name] = (*loaded.get(name, ()), *here)
    return loaded


def _kind(tensor: Mapping[str, Any]) -> str:
    return str(tensor.get("data_type", "")).removeprefix("TYPE_").replace("STRING", "BYTES")
