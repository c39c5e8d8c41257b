# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A resolved configuration: frozen sections, one for each room that needs settings.

Nothing downstream asks where a value came from; the few places where that matters have a
field that says so (an endpoint that is None was not given and is chosen).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from model_analyzer.domain.goals import ModelGoal
from model_analyzer.domain.trials import LoadKind


class Protocol(Enum):
    """How clients talk to the server."""

    HTTP = "http"
    GRPC = "grpc"


class ServerRestart(Enum):
    """When the server is started anew between variants."""

    AUTO = "auto"
    VARIANT = "variant"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """A model that is to be profiled, with everything that can be set for it.

    `loads` are listed load values, ascending; empty means that they are searched. `parameters`
    maps a field of the model configuration to the values to try, in the order given.
    """

    name: str
    cpu_only: bool
    goal: ModelGoal
    batch_sizes: tuple[int, ...]
    load_kind: LoadKind
    loads: tuple[int, ...]
    parameters: Mapping[str, tuple[Any, ...]]
    perf_analyzer_flags: Mapping[str, Any]
    server_flags: Mapping[str, Any]
    server_environment: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySettings:
    """Where models are read, and where their variants are written."""

    path: Path
    output: Path
    override_output: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How the server is started and reached. Endpoints are HOST:PORT; None means: choose."""

    path: str | None
    protocol: Protocol
    http_endpoint: str | None
    grpc_endpoint: str | None
    metrics_url: str | None
    log: Path | None
    ready_timeout_s: int
    load_timeout_s: int
    restart: ServerRestart


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadGeneratorSettings:
    """How perf_analyzer is run. `max_launches` counts the tries of one trial; above
    `most_cpu_percent` (100 is one core; None: 80 for each core) it would be the bottleneck.
    """

    path: str | None
    timeout_s: int
    max_launches: int
    most_cpu_percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSettings:
    """What is observed beside the load generator, every `interval_s` seconds."""

    cpu: bool
    interval_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Where the search may go, and when it stops.

    Bounds are inclusive. `early_exit` applies the stop rules to listed values too.
    """

    disable: bool
    early_exit: bool
    min_concurrency: int
    max_concurrency: int
    min_instance_count: int
    max_instance_count: int
    min_model_batch_size: int
    max_model_batch_size: int
    max_binary_search_steps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSettings:
    """Where measurements are kept; `retry_failed` tries failed trials again."""

    directory: Path
    retry_failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSettings:
    """What is written at the end, and where."""

    path: Path
    best: int
    inference_file: str
    inference_fields: tuple[str, ...]
    skip_summary: bool
    skip_detailed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSettings:
    """Everything that `profile` needs."""

    models: tuple[ModelSettings, ...]
    repository: RepositorySettings
    server: ServerSettings
    load_generator: LoadGeneratorSettings
    monitors: MonitorSettings
    search: SearchSettings
    checkpoint: CheckpointSettings
    export: ExportSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """Everything that `report` needs.

    `goals` are those of the models that the YAML file names, `default_goal` that of all others.
    """

    variants: tuple[str, ...]
    goals: Mapping[str, ModelGoal]
    default_goal: ModelGoal
    checkpoint_directory: Path
    export_path: Path
