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
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.budget import Budget
from model_analyzer.domain.goals import GoalOverride, ModelGoal
from model_analyzer.domain.trials import LoadKind


class Protocol(Enum):
    """How clients talk to the server."""

    HTTP = "http"
    GRPC = "grpc"


class LaunchMode(Enum):
    """Where the server comes from."""

    LOCAL = "local"
    DOCKER = "docker"
    REMOTE = "remote"
    C_API = "c_api"


class SearchMode(Enum):
    """Which search is used."""

    BRUTE = "brute"
    QUICK = "quick"
    OPTUNA = "optuna"
    ADAPTIVE = "adaptive"


class ModelType(Enum):
    """The type of the models."""

    GENERIC = "generic"
    LLM = "LLM"


class OutputFormat(Enum):
    """In which form results are written; HTML always is.

    HTML, PDF and Markdown are pages, JSON, CSV and Parquet data, PNG and SVG images of charts.
    """

    HTML = "html"
    PDF = "pdf"
    MARKDOWN = "md"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    PNG = "png"
    SVG = "svg"


# what people call a format, too
FORMAT_NAMES: Mapping[str, OutputFormat] = MappingProxyType({"markdown": OutputFormat.MARKDOWN})


class OnMismatch(Enum):
    """How a run uses a checkpoint of another machine."""

    ASK = "ask"
    USE = "use"
    FRESH = "fresh"
    ERROR = "error"


class ProgressMode(Enum):
    """How a run shows itself while it goes on."""

    AUTO = "auto"
    LIVE = "live"
    PLAIN = "plain"
    JSON = "json"
    NONE = "none"


class ExecutorKind(Enum):
    """Where trials are measured: on this machine, or on slots of a Ray cluster."""

    LOCAL = "local"
    RAY = "ray"


class ServerRestart(Enum):
    """When the server is started anew between variants."""

    AUTO = "auto"
    VARIANT = "variant"
    NEVER = "never"

    def renews(self, *, keeps_memory: bool) -> bool:
        """Whether the next variant gets a new server. `keeps_memory`: the current server keeps GPU
        memory of models that it has unloaded.
        """
        return self is ServerRestart.VARIANT or (self is ServerRestart.AUTO and keeps_memory)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """A model that is to be profiled, with everything that can be set for it.

    `loads` are listed load values, ascending; empty means that they are searched. `parameters`
    maps a field of the model configuration to the values to try, in the order given.
    `docker_arguments` go to the Docker SDK as they are.
    """

    name: str
    cpu_only: bool
    goal: ModelGoal
    batch_sizes: tuple[int, ...]
    load_kind: LoadKind
    loads: tuple[int, ...]
    parameters: Mapping[str, tuple[Any, ...]]
    perf_analyzer_flags: Mapping[str, Any]
    genai_perf_flags: Mapping[str, Any]
    server_flags: Mapping[str, Any]
    server_environment: Mapping[str, str]
    docker_arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposingSettings:
    """Settings of a model that an ensemble or a BLS model calls.

    `cpu_only` is None where nothing was said: then the calling model's choice holds.
    """

    name: str
    cpu_only: bool | None
    parameters: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySettings:
    """Where models are read, and where their variants are written.

    `path` is None only where somebody else's server has the models.
    """

    path: Path | None
    output: Path
    override_output: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How the server is started and reached.

    Endpoints are HOST:PORT; None means: choose, or Triton's own ports for a remote server.
    Of the server's environment, variables named in `show_environment` are not masked.
    `install_path` is where the server's library is (mode c_api); None: where one is found. With
    `reload_disable` a remote server is never asked to load or unload.
    """

    launch: LaunchMode
    path: str | None
    install_path: Path | None
    reload_disable: bool
    protocol: Protocol
    http_endpoint: str | None
    grpc_endpoint: str | None
    metrics_url: str | None
    log: Path | None
    ready_timeout_s: int
    load_timeout_s: int
    restart: ServerRestart
    show_environment: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerSettings:
    """The container of mode docker; each of `mounts` is HOST:CONTAINER:MODE."""

    image: str
    mounts: tuple[str, ...]
    shm_size: str | None
    labels: Mapping[str, str]

    def container(self, own: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the container of a model is made from: the model's `own` arguments come first."""
        size = {} if self.shm_size is None else {"shm_size": self.shm_size}
        return MappingProxyType({"image": self.image, **size, **own})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadGeneratorSettings:
    """How perf_analyzer is run. `max_launches` counts the tries of one trial; above
    `most_cpu_percent` (100 is one core; None: 80 for each core) it would be the bottleneck.

    With `keep_output`, commands and outputs are added to the file `output`, or shown.
    """

    model_type: ModelType
    keep_output: bool
    output: Path | None
    path: str | None
    timeout_s: int
    max_launches: int
    most_cpu_percent: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorSettings:
    """What is observed beside the load generator, every `interval_s` seconds.

    `gpus` are UUIDs or indices, or `all` alone; with `ignore_gpus` they are not looked for.
    `always_gpus` observes them for models that only use CPUs, too. The idle
    server is observed for `idle_s` seconds.
    """

    cpu: bool
    interval_s: float
    gpus: tuple[str, ...]
    ignore_gpus: bool
    always_gpus: bool
    idle_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickSettings:
    """The bounds of a quick search; None: it is not bounded there."""

    min_concurrency: int | None
    max_concurrency: int | None
    min_instance_count: int | None
    max_instance_count: int | None
    min_model_batch_size: int | None
    max_model_batch_size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptunaSettings:
    """How long an Optuna search goes on: shares of the space, in percent, and numbers of trials.

    A value that the user did not set is None, but not both of a pair. `limit_gives_way`: a minimum
    above the default limit raises it. `early_exit_threshold` is the number of trials without a
    new best before it stops.
    """

    min_percentage: int | None
    max_percentage: int | None
    min_trials: int | None
    max_trials: int | None
    early_exit_threshold: int
    use_concurrency_formula: bool
    limit_gives_way: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AdaptiveSettings:
    """Limits of an adaptive search: seconds of measuring, and trials."""

    budget_s: float | None = None
    max_trials: int | None = None

    @property
    def budget(self) -> Budget:
        """The rule of the seconds."""
        return Budget(self.budget_s)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """Where the search may go, and when it stops.

    `mode` is None where nobody chose: then the kind of the models decides. Models are profiled
    `together` or one after another. Bounds are inclusive. `early_exit` applies the stop rules to
    listed values too; `sweep_disable` leaves out the load sweep behind quick and Optuna searches,
    which is made for the best `refined` variants. `quick`, `optuna` and `adaptive` are what only
    these searches are bounded by.
    """

    mode: SearchMode | None
    together: bool
    disable: bool
    early_exit: bool
    sweep_disable: bool
    min_request_rate: int
    max_request_rate: int
    min_concurrency: int
    max_concurrency: int
    min_instance_count: int
    max_instance_count: int
    min_model_batch_size: int
    max_model_batch_size: int
    max_binary_search_steps: int
    refined: int
    quick: QuickSettings
    optuna: OptunaSettings
    adaptive: AdaptiveSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSettings:
    """Where measurements are kept, what a run goes on from, and when it is saved.

    Files in `directory` begin with `prefix`. A run goes on from the newest of them, unless
    another is named: the newest in `load_directory`, the one in `load_file`, or the one that
    `resume_from` names (a number, a uuid, a path). `fresh` removes those of the directory first,
    and `assume_yes` does not ask before. `every` is a number of outcomes. Where `disabled`,
    nothing is read and nothing is kept. `retry_failed` tries failed trials again. Numbered
    checkpoints are copied to `storage`, a URL or a path.
    """

    directory: Path
    prefix: str
    load_directory: Path | None
    load_file: Path | None
    resume_from: str | None
    every: int | None
    fresh: bool
    assume_yes: bool
    disabled: bool
    on_mismatch: OnMismatch
    storage: str | None
    retry_failed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotSettings:
    """A chart that the user defined: one line for each variant over its measurements.

    Axes are metrics or parameters of the load (`batch_size`, `concurrency_range`, …). A
    `monotonic` line leaves out points that are not above those before them.
    """

    name: str
    title: str
    x_axis: str
    y_axis: str
    monotonic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSettings:
    """The files to write at the end, and their places.

    `best` variants of each model are reported, and the `best_of_all` models, if that is not 0.
    `circumstances` is the number of those whose measurements are ranked, None for the present ones.
    Where nothing meets the constraints, a run fails with `fail_on_miss`.
    """

    path: Path
    formats: tuple[OutputFormat, ...]
    best: int
    best_of_all: int
    inference_file: str
    gpu_file: str
    server_file: str
    inference_fields: tuple[str, ...]
    gpu_fields: tuple[str, ...]
    server_fields: tuple[str, ...]
    plots: tuple[PlotSettings, ...]
    skip_summary: bool
    skip_detailed: bool
    fail_on_miss: bool
    circumstances: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplaySettings:
    """Progress display of a run."""

    progress: ProgressMode


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """The slots that measure.

    `address` is that of the Ray cluster. `slots` is their number, None for as many as there are.
    Each gets `gpus` and `cpus` of its node, None for all. `labels` (KEY=VALUE) choose nodes.
    """

    kind: ExecutorKind
    address: str
    slots: int | None
    gpus: int | None
    cpus: int | None
    labels: tuple[str, ...]
    per_host: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSettings:
    """Everything that `profile` needs.

    `goal` judges across models. `composing` holds what was said about composing models, by name;
    `bls_calls` names those that the (only) model calls from its own code. `offline` reports order
    and plot by throughput and batch size rather than by latency and load.
    """

    models: tuple[ModelSettings, ...]
    goal: ModelGoal
    composing: Mapping[str, ComposingSettings]
    bls_calls: tuple[str, ...]
    config_file: Path | None
    repository: RepositorySettings
    server: ServerSettings
    docker: DockerSettings
    load_generator: LoadGeneratorSettings
    monitors: MonitorSettings
    executor: ExecutorSettings
    search: SearchSettings
    checkpoint: CheckpointSettings
    export: ExportSettings
    display: DisplaySettings
    offline: bool

    @property
    def observes_idle(self) -> bool:
        """Whether the costs of a server without a model count, where there are GPUs."""
        return self.monitors.always_gpus or not all(model.cpu_only for model in self.models)

    @property
    def subjects(self) -> tuple[tuple[str, ...], ...]:
        """The names of what is searched, one after another: each model, or all together."""
        names = tuple(model.name for model in self.models)
        return (names,) if self.search.together else tuple((name,) for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """Everything that `report` needs.

    `plots` are those of each variant; `goals` what was asked for of the models that the YAML
    file names, `default_goal` of all others.
    """

    variants: tuple[str, ...]
    plots: Mapping[str, tuple[PlotSettings, ...]]
    formats: tuple[OutputFormat, ...]
    offline: bool
    always_gpus: bool
    circumstances: int | None
    config_file: Path | None
    goals: Mapping[str, GoalOverride]
    default_goal: GoalOverride
    checkpoint_directory: Path
    checkpoint_prefix: str
    checkpoint_file: Path | None
    export_path: Path

    def asked_goal(self, model: str) -> GoalOverride:
        """What was asked for of a model."""
        return self.goals.get(model, self.default_goal)
