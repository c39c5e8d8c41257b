# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A resolved configuration: frozen sections, one for each room that needs settings; and the limits
of a quick search that follow from the settings of a model; and how long a search may measure:
the one rule of `--budget`.

No other code asks where a value came from. If it matters whether the user set it, the field says
so: an endpoint that is None was not given, and is chosen.

The limits are checked in two places, and written here only. If the user chose the mode, the
settings are enough: `config` checks them early, without any model, and names the line. If quick is
the default, for ensembles, BLS models and models measured together, only the facts of the models
tell: `search` checks the same limits when it knows the mode.

All other rules are in one of these rooms: about keys that the user must not give at all in
`config/rules.py`, about facts in `search/modes`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any

from model_analyzer.domain.goals import GoalOverride, ModelGoal
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import entry_for, is_pattern
from model_analyzer.domain.traffic import Traffic
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModeFacts:
    """What the options of a run have to know of a search mode.

    `limits` is the section of `SearchSettings` with its own limits, if any, and `package` an
    optional package that it needs. `searches_several`: models that others call, and models that are
    measured together. `takes_lists`: of loads and values; otherwise it chooses them. `is_optional`:
    the user may disable the search. A mode that `jumps` may try any size at any time, others start
    from the smallest. One that `learns` takes a budget and ends with a conclusion.
    """

    limits: str = ""
    package: str = ""
    searches_several: bool = True
    takes_lists: bool = True
    is_optional: bool = True
    jumps: bool = False
    learns: bool = False


class SearchMode(Enum):
    """Which search is used: `search/modes` has a file for each."""

    facts: ModeFacts

    BRUTE = "brute", ModeFacts(searches_several=False)
    QUICK = "quick", ModeFacts(limits="quick", takes_lists=False, is_optional=False)
    OPTUNA = "optuna", ModeFacts(limits="optuna", package="optuna", jumps=True)
    ADAPTIVE = "adaptive", ModeFacts(limits="adaptive", is_optional=False, jumps=True, learns=True)

    RANDOM = "random", ModeFacts(limits="optuna", is_optional=False, jumps=True)

    def __new__(cls, name: str, facts: ModeFacts = ModeFacts()) -> SearchMode:
        mode = object.__new__(cls)
        mode._value_, mode.facts = name, facts
        return mode


class EndpointKind(Enum):
    """The API of a server: Triton's own (KServe v2), or OpenAI's."""

    KSERVE = "kserve"
    OPENAI = "openai"


class ModelType(Enum):
    """The type of the models."""

    GENERIC = "generic"
    LLM = "LLM"


class MeasurementMode(Enum):
    """How long trials are measured: as long as it matters, or as perf_analyzer decides."""

    AUTO = "auto"
    PERF_ANALYZER = "perf_analyzer"


class ResponseCache(Enum):
    """Whether models are measured with the server's response cache, if they are configured so."""

    OFF = "off"
    KEEP = "keep"


class OutputFormat(Enum):
    """The formats of results; HTML is always written. `reports/formats.py` has what is written in
    each: HTML, PDF and Markdown are pages, JSON, CSV and Parquet data, PNG and SVG images.
    """

    HTML = "html"
    PDF = "pdf"
    MARKDOWN = "md"
    JSON = "json"
    CSV = "csv"
    PARQUET = "parquet"
    PNG = "png"
    SVG = "svg"


class OnMismatch(Enum):
    """What a run does with a checkpoint of another machine."""

    ASK = "ask"
    USE = "use"
    FRESH = "fresh"
    ERROR = "error"


class ProgressMode(Enum):
    """How a run shows its progress."""

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
    """When the server is restarted between variants."""

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

    `mode` is its own search mode; None: that of the run. `loads` are the listed load values,
    ascending; if empty, loads are searched. `parameters` maps a field of the model configuration to
    the values to try, in the order given. `in_rounds` tells that its trials are measured in rounds,
    unless models that are not are measured with it. `traffic` tells how requests arrive; None
    leaves it to the flags of perf_analyzer. With `keeps_cache`, it is measured with the response
    cache of its configuration, if any. `docker_arguments` go to the Docker SDK as they are.
    """

    name: str
    cpu_only: bool
    goal: ModelGoal
    batch_sizes: tuple[int, ...]
    load_kind: LoadKind
    loads: tuple[int, ...]
    traffic: Traffic | None = None
    mode: SearchMode | None = None
    parameters: Mapping[str, tuple[Any, ...]]
    perf_analyzer_flags: Mapping[str, Any]
    genai_perf_flags: Mapping[str, Any]
    in_rounds: bool
    keeps_cache: bool = False
    server_flags: Mapping[str, Any]
    server_environment: Mapping[str, str]
    docker_arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposingSettings:
    """Settings of a model that an ensemble or a BLS model calls.

    `cpu_only` is None if the user did not set it: then the value of the calling model counts.
    """

    name: str
    cpu_only: bool | None
    parameters: Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositorySettings:
    """Where models are read, and where their variants are written.

    `source` is a path or a URL, and None only in launch mode `remote`: the server has the models.
    """

    source: Path | str | None
    output: Path
    override_output: bool

    @property
    def path(self) -> Path | None:
        """The source, if it is a path. A run fetches a URL first, and has its path from then on."""
        return self.source if isinstance(self.source, Path) else None

    @property
    def url(self) -> str | None:
        """The source, if it is a URL."""
        return self.source if isinstance(self.source, str) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings:
    """How the server is started and reached.

    Endpoints are HOST:PORT, one for each server; none stands for a free port, or for Triton's own
    ports on a remote server. Servers with OpenAI's API (`endpoint`) are remote. Only remote servers
    may be several. Variables of the server that `show_environment` names are not masked.
    `install_path` is the directory of the server's library (mode c_api); None: search for it. With
    `reload_disable`, a remote server is never asked to load or unload a model. A run that
    `installs_runtime` installs `runtime_version`, if it is missing.
    """

    launch: LaunchMode
    path: str | None
    install_path: Path | None
    reload_disable: bool
    protocol: Protocol
    http_endpoints: tuple[str, ...]
    grpc_endpoints: tuple[str, ...]
    metrics_urls: tuple[str, ...]
    log: Path | None
    ready_timeout_s: int
    load_timeout_s: int
    restart: ServerRestart
    show_environment: tuple[str, ...] = ()
    installs_runtime: bool = False
    runtime_version: str | None = None
    endpoint: EndpointKind = EndpointKind.KSERVE

    @property
    def is_openai(self) -> bool:
        return self.endpoint is EndpointKind.OPENAI

    @property
    def spoken(self) -> str:
        """What clients speak: the protocol of Triton's own API, or the other API."""
        return self.endpoint.value if self.is_openai else self.protocol.value

    @property
    def addresses(self) -> Sequence[str]:
        """All endpoints, as the user gave them."""
        return (*self.http_endpoints, *self.grpc_endpoints, *self.metrics_urls)

    @property
    def count(self) -> int:
        """The number of servers."""
        given = (self.http_endpoints, self.grpc_endpoints, self.metrics_urls)
        return max(1, *map(len, given))


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerSettings:
    """The container of mode docker; each of `mounts` is HOST:CONTAINER:MODE."""

    image: str
    mounts: tuple[str, ...]
    shm_size: str | None
    labels: Mapping[str, str]

    def container(self, own: Mapping[str, Any]) -> Mapping[str, Any]:
        """The arguments of the container of a model; its `own` override the others."""
        size = {} if self.shm_size is None else {"shm_size": self.shm_size}
        return MappingProxyType({"image": self.image, **size, **own})


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadGeneratorSettings:
    """How perf_analyzer is run. `max_launches` limits the tries of one trial. If perf_analyzer uses
    more than `most_cpu_percent` (100 is one core; None: 80 for each core), the trial fails.

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
    """What the monitors observe during a load, every `interval_s` seconds.

    `gpus` are UUIDs or indices, or only `all`; with `ignore_gpus`, no GPU is looked for.
    `always_gpus` also observes them for models that only use CPUs. The idle server is observed for
    `idle_s` seconds.
    """

    cpu: bool
    interval_s: float
    gpus: tuple[str, ...]
    ignore_gpus: bool
    always_gpus: bool
    idle_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class QuickSettings:
    """The bounds of a quick search; None: no bound."""

    min_concurrency: int | None
    max_concurrency: int | None
    min_instance_count: int | None
    max_instance_count: int | None
    min_model_batch_size: int | None
    max_model_batch_size: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class OptunaSettings:
    """The length of an Optuna search: shares of the space, in percent, and numbers of trials.

    A value that the user did not set is None, but not both of a pair. With `limit_gives_way`, a
    minimum above the default limit raises the limit. The search stops after `early_exit_threshold`
    trials without a new best.
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
    """Limits of an adaptive search: seconds of measuring from the time `since` on (in seconds since
    the epoch), and trials. With `counts_earlier_runs`, the user wants no such time. The chance that
    nothing much better remains at which the search may stop is `sure_at` (a fraction). `knowledge`
    is the URL or path of checkpoints of earlier runs.
    """

    budget_s: float | None = None
    max_trials: int | None = None
    since: float = 0.0
    counts_earlier_runs: bool = False
    sure_at: float | None = None
    knowledge: str | None = None

    @property
    def budget(self) -> Budget:
        """The rule for the seconds."""
        return Budget(self.budget_s, self.since)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The bounds of the search, and when it stops.

    `mode` is None if the user did not choose: then the kind of the models decides. A model can have
    a mode of its own. Models are profiled `together` or one after another. Bounds are inclusive.
    `early_exit` applies the stop rules to listed values as well. Quick and Optuna searches end with
    a load sweep of the best `refined` variants, unless `sweep_disable` is set. `quick`, `optuna`
    and `adaptive` hold the bounds that only these searches have.
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

    @property
    def without_search(self) -> SearchSettings:
        """The same for a run that measures what is listed, and nothing else."""
        return replace(self, mode=SearchMode.BRUTE, disable=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointSettings:
    """Where measurements are stored, which checkpoint a run resumes from, and when it saves one.

    Names of files in `directory` start with `prefix`. A run resumes from the newest checkpoint
    there, unless the user chose another: the newest in `load_directory`, the file `load_file`, or
    `resume_from` (a number, a uuid, a path). `fresh` first removes the checkpoints of the
    directory; with `assume_yes`, without a question. `every` is the number of outcomes after which
    a checkpoint is saved. If `disabled`, checkpoints are neither read nor written. `retry_failed`
    tries failed trials again. Numbered checkpoints are copied to `storage`, a URL or a path.
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
    """A chart that the user defined: a line for each variant through its measurements.

    Axes are metrics or parameters of the load (`batch_size`, `concurrency_range`, …). A
    `monotonic` line has only points that are above all points before them.
    """

    name: str
    title: str
    x_axis: str
    y_axis: str
    monotonic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSettings:
    """The files to write at the end, and their places.

    Reports have the `best` variants of each model, and the `best_of_all` models, if that is not 0.
    `conditions` is the number of the group of conditions that is ranked; None if the user
    did not choose. With `fail_on_miss`, a run fails if no configuration meets the constraints.
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
    conditions: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofSettings:
    """`verify`: the URL of a server with the recommendation; "" starts one; None is neither. It
    stays under its load for `endurance` seconds.
    """

    verify: str | None = None
    endurance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplaySettings:
    """Progress display of a run, and who else gets its figures: whoever asks at a port of this
    machine, and a collector of OpenTelemetry.
    """

    progress: ProgressMode
    prometheus_port: int | None
    otlp: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSettings:
    """The slots that measure.

    `address` is that of the Ray cluster. `slots` is their number, None for as many as there are.
    Each gets `gpus` and `cpus` of its node, None for all. `labels` (LABEL=VALUE) choose nodes.
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

    Until the model repository is known, `models` may have patterns instead of names: see
    `without_patterns`. `goal` ranks variants of different models. `composing` holds the settings of
    composing models, by name; `bls_calls` names those that the (only) model calls from its own
    code. `offline` reports are about throughput and batch size, others about latency and load.
    `proofs` says what else is proven about the recommendation. `prices` is a file with prices of
    hardware, `outputs` what the user said about the check of outputs.
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
    outputs: Mapping[str, Any]
    proofs: ProofSettings = field(default_factory=ProofSettings)
    prices: Path | None = None

    @property
    def observes_idle(self) -> bool:
        """Whether the idle server is observed, if there are GPUs."""
        return self.monitors.always_gpus or not all(model.cpu_only for model in self.models)

    @property
    def subjects(self) -> tuple[tuple[str, ...], ...]:
        """The groups of models that are searched one after another: each model, or all together."""
        names = tuple(model.name for model in self.models)
        return (names,) if self.search.together else tuple((name,) for name in names)

    def chosen_mode(self, models: Sequence[str]) -> SearchMode | None:
        """The search mode that the user chose for these models, which are searched together."""
        own = (model.mode for model in self.models if model.name in models)
        return next(filter(None, own), self.search.mode)

    def budget_of(self, models: Sequence[str]) -> Budget:
        """The budget of the search of these models; none, unless it learns."""
        mode = self.chosen_mode(models)
        return self.search.adaptive.budget if mode and mode.facts.learns else Budget()

    def without_patterns(self, models: Sequence[str]) -> ProfileSettings:
        """The settings with each pattern replaced by the models that have its options, in their
        order in `models`, the names in the repository. There, a model may be named like a pattern:
        then that name is no pattern.
        """
        names = [entry.name for entry in self.models]
        chosen: list[ModelSettings] = []
        for entry in self.models:
            if not is_pattern(entry.name) or entry.name in models:
                chosen.append(entry)
            else:
                chosen += [
                    replace(entry, name=model)
                    for model in models
                    if entry_for(model, names) == entry.name
                ]
        return replace(self, models=tuple(chosen))


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportSettings:
    """Everything that `report` needs.

    `plots` are those of each variant. `goals` holds the goals of the models and patterns in the
    YAML file; `default_goal` is that of all others. `prices` is a file with prices of hardware.
    """

    variants: tuple[str, ...]
    plots: Mapping[str, tuple[PlotSettings, ...]]
    formats: tuple[OutputFormat, ...]
    offline: bool
    always_gpus: bool
    conditions: int | None
    config_file: Path | None
    goals: Mapping[str, GoalOverride]
    default_goal: GoalOverride
    checkpoint_directory: Path
    checkpoint_prefix: str
    checkpoint_file: Path | None
    export_path: Path
    prices: Path | None = None

    def asked_goal(self, model: str) -> GoalOverride:
        """The goal that the user asked for, for this model."""
        return self.goals.get(entry_for(model, self.goals) or "", self.default_goal)


# Fields of the configuration that a quick search itself varies.
SIZES = ("max_batch_size", "instance_group")

# Supports everything that a quick search does not.
ALTERNATIVE = "--search adaptive"


def unsupported_loads(model: ModelSettings, mode: SearchMode) -> Iterator[tuple[str, str]]:
    """What is not supported, and what to do: a quick search sets the concurrency itself, or uses a
    single listed load.
    """
    if model.load_kind is LoadKind.REQUEST_RATE and not model.loads:
        message = f"search mode {mode.value} searches concurrencies, not request rates"
        yield message, f"remove the request rates, or give {ALTERNATIVE}"
    for kind, values in (("load", model.loads), ("batch size", model.batch_sizes)):
        if len(values) > 1:
            message = f"search mode {mode.value} supports one {kind}, not {len(values)}"
            yield message, f"{ALTERNATIVE} supports several"


def field_with_several_values(
    fields: Mapping[str, Sequence[object]], *, varied: Collection[str] = SIZES
) -> str:
    """The first field that has several values and is not `varied`, or ""."""
    several = (name for name, values in fields.items() if len(values) > 1)
    return next((name for name in several if name not in varied), "")


@dataclass(frozen=True, slots=True)
class Budget:
    """Seconds of measuring that a search may take; `None` sets no limit. What began before `since`
    (seconds since the epoch), in an earlier run, costs nothing.

    A measurement starts only if it is expected to end within the budget. The first one always
    starts: without any measurement, a search would have no answer.
    """

    seconds: float | None = None
    since: float = 0.0

    def covers(self, outcomes: Sequence[Outcome]) -> bool:
        """Whether a further trial fits, if it takes as long as the longest measurement among these
        outcomes. A failure does not tell how long others take.
        """
        if self.seconds is None:
            return True
        measured = [outcome for outcome in outcomes if isinstance(outcome, Measurement)]
        longest = max((outcome.duration_s for outcome in measured), default=0.0)
        spent_s = self._spent_s(outcomes)
        return spent_s < self.seconds and spent_s + longest <= self.seconds

    def limit_s(self, outcomes: Sequence[Outcome]) -> float | None:
        """The seconds that are left after these outcomes; None without a limit."""
        return None if self.seconds is None else max(self.seconds - self._spent_s(outcomes), 0.0)

    def _spent_s(self, outcomes: Iterable[Outcome]) -> float:
        return wall_s(outcome for outcome in outcomes if outcome.started >= self.since)

    def trials(self, trial_s: float) -> int | None:
        """How many trials of `trial_s` seconds fit; None without a limit."""
        return None if self.seconds is None else max(int(self.seconds / trial_s), 1)

    def bounded(self, seconds: float, first_s: float) -> float:
        """The part of `seconds` that the budget allows, where the first trial takes `first_s`."""
        return seconds if self.seconds is None else max(min(seconds, self.seconds), first_s)

    def left(self, seconds: float, spent_s: float) -> float:
        """The part of `seconds` that the budget allows after `spent_s` seconds of measuring."""
        return seconds if self.seconds is None else min(seconds, max(self.seconds - spent_s, 0.0))


def wall_s(outcomes: Iterable[Outcome]) -> float:
    """The seconds in which at least one of these outcomes was measured; parallel ones count once.
    An outcome with an unknown start counts as measured alone.
    """
    total, end = 0.0, 0.0
    for outcome in sorted(outcomes, key=lambda outcome: outcome.started):
        if not outcome.started:
            total += outcome.duration_s
            continue
        finished = outcome.started + outcome.duration_s
        total += max(finished - max(outcome.started, end), 0.0)
        end = max(end, finished)
    return total
