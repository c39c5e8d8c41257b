# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The option table: flags, YAML keys, defaults and help of every option, in one place.

The command line and the YAML keys are both built from it, so they cannot drift apart. Adding
an option means a row here and a field in the settings section that `target` names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from model_analyzer.config import model_options, sweeps
from model_analyzer.config.docker_options import DOCKER_ARGUMENTS, Mount
from model_analyzer.config.fragments import Schema
from model_analyzer.config.goal_kinds import Constraints, Objectives
from model_analyzer.config.kinds import (
    Boolean,
    Deployed,
    Duration,
    Endpoint,
    Environment,
    FilePath,
    FilePrefix,
    Gpus,
    Integer,
    IntegerOr,
    Integers,
    Label,
    ListOf,
    Number,
    OneOf,
    PathOrUrl,
    Percent,
    Switchable,
    Text,
    Url,
)
from model_analyzer.config.model_options import GENAI_PERF, PERF_ANALYZER, TRITON_SERVER, ModelNames
from model_analyzer.config.plot_options import Plots, ReportedVariants
from model_analyzer.config.table import (
    ANALYZE,
    BEST,
    CHECKPOINTS,
    DOCTOR,
    EXECUTOR,
    EXPORT,
    FILE,
    GENERAL,
    GOALS,
    LOAD_GENERATOR,
    MODELS,
    PROFILE,
    PROOFS,
    REPORT,
    REPOSITORY,
    SEARCH,
    SERVER,
    Option,
    schema,
)
from model_analyzer.config.traffic_options import OpenLoad
from model_analyzer.domain.ranges import LEAST_INTERVAL, MOST_RATE, MOST_SECONDS
from model_analyzer.domain.settings import (
    EndpointKind,
    ExecutorKind,
    LaunchMode,
    MeasurementMode,
    ModelType,
    OnMismatch,
    OutputFormat,
    ProgressMode,
    Protocol,
    ResponseCache,
    SearchMode,
    ServerRestart,
)

# More processes than cores only disturb each other.
_MOST_GENERATORS = 64

_MORE_FORMATS = [form.value for form in OutputFormat if form is not OutputFormat.HTML]

OPTIONS: Sequence[Option] = (
    # ---------------------------------------------------------------- general
    Option(
        key="config_file", flags=("-f", "--config-file"), kind=FilePath(), group=GENERAL,
        commands=(PROFILE, REPORT),
        help="YAML file with options. The command line overrides it, but models can be given in one"
        " place only.",
    ),
    Option(
        key="collect_cpu_metrics", flags=("--collect-cpu-metrics",), kind=Boolean(),
        default=False, target="monitors.cpu", group=GENERAL,
        help="Measure the RAM used by the server and its model processes.",
    ),
    Option(
        key="gpus", flags=("--gpus",), kind=Gpus(), default=("all",), target="monitors.gpus",
        group=GENERAL,
        help="GPUs to use: all, UUIDs or indices; [] for none.",
    ),
    Option(
        key="always_report_gpu_metrics", flags=("--always-report-gpu-metrics",), kind=Boolean(),
        default=False, target="monitors.always_gpus", group=GENERAL, commands=(PROFILE, REPORT),
        help="Measure and report GPU metrics even for configurations that use only CPUs.",
    ),
    Option(
        key="dcgm_disable", flags=("--dcgm-disable",), kind=Boolean(), default=False,
        target="monitors.ignore_gpus", group=GENERAL,
        help="Do not look for GPUs. Only for launch mode remote.",
    ),
    Option(
        key="duration_seconds", flags=("-d", "--duration-seconds"), kind=Number(0, MOST_SECONDS),
        default=3.0, target="monitors.idle_s", group=GENERAL,
        help="Seconds to collect GPU metrics of the idle server; 0 skips this step.",
    ),
    Option(
        key="model_type", flags=("--model-type",), kind=OneOf(ModelType),
        default=ModelType.GENERIC, target="load_generator.model_type", group=GENERAL,
        help="Type of the models. For LLM, token latencies and token throughput are measured, too.",
    ),
    Option(
        key="monitoring_interval", flags=("-i", "--monitoring-interval"),
        kind=Number(LEAST_INTERVAL, MOST_SECONDS), default=1.0, target="monitors.interval_s",
        group=GENERAL,
        help="Seconds between two readings of GPU and RAM metrics.",
    ),
    Option(
        key="progress", flags=("--progress",), kind=OneOf(ProgressMode),
        default=ProgressMode.AUTO, target="display.progress", group=GENERAL,
        help="Progress display: a live view, plain lines, JSON lines on standard output"
        " (docs/progress.md), or none. auto: live on a terminal, plain elsewhere and in CI.",
    ),
    Option(
        key="prometheus_port", flags=("--prometheus-port",), kind=Integer(1, 65535),
        target="display.prometheus_port", group=GENERAL,
        help="Serve figures of the run to Prometheus while it measures, at this port of this"
        " machine (127.0.0.1).",
    ),
    Option(
        key="otlp", flags=("--otlp",), kind=Endpoint(url=True), target="display.otlp",
        group=GENERAL,
        help="Send figures of the run and a span for each measurement to this collector of"
        " OpenTelemetry, for example http://localhost:4318.",
    ),
    # ------------------------------------------------------- model repository
    Option(
        key="model_repository", flags=("-m", "--model-repository"), kind=PathOrUrl(),
        target="repository.source", group=REPOSITORY,
        help="Model repository in Triton's layout: a directory, or a URL that each machine fetches"
        " once, for example s3://bucket/models.",
    ),
    Option(
        key="output_model_repository_path", flags=("--output-model-repository-path",),
        kind=FilePath(), default=Path("output_model_repository"), target="repository.output",
        group=REPOSITORY,
        help="Directory for the variants, with one subdirectory for each. It must be new, empty or"
        " created by an earlier run.",
    ),
    Option(
        key="override_output_model_repository", flags=("--override-output-model-repository",),
        kind=Boolean(), default=False, target="repository.override_output", group=REPOSITORY,
        help="Replace the output model repository and its content, even if no earlier run created"
        " it. Checkpoints and results in it are kept.",
    ),
    # -------------------------------------------------------- models and load
    Option(
        key="profile_models", flags=("--profile-models",), kind=ModelNames(), group=MODELS,
        help="Models to profile: names, patterns such as resnet*, or all (of the model repository)."
        " In YAML, each model or pattern can have its own options.",
    ),
    Option(
        key="batch_sizes", flags=("-b", "--batch-sizes"), kind=Integers(1), default=(1,),
        group=MODELS, help="Batch sizes of client requests.",
    ),
    Option(
        key="concurrency", flags=("-c", "--concurrency"), kind=Integers(1), default=(),
        group=MODELS, help="Concurrencies (requests in flight) to measure. Searched if not given.",
    ),
    Option(
        key="request_rate", flags=("--request-rate",), kind=Integers(1, MOST_RATE), default=(),
        group=MODELS, help="Request rates to measure, in requests per second, instead of"
        " concurrencies.",
    ),
    Option(
        key="load", kind=OpenLoad(), group=MODELS,
        help="An open load, in place of concurrency and request_rate: how requests arrive, as"
        " {arrivals: poisson, rate: [50, 100]}, {stages: [{rate: 50, for: 30s}]} or {replay:"
        " log.csv} (docs/guides/traffic.md). Without rate, rates are searched.",
    ),
    Option(
        key="generators", flags=("--generators",), kind=Integer(1, _MOST_GENERATORS), default=1,
        group=MODELS,
        help="Processes of perf_analyzer that send an open load together, each a part of the"
        " requests: for a rate at which one of them falls behind.",
    ),
    Option(
        key="bls_composing_models", flags=("--bls-composing-models",), kind=ModelNames(),
        default=(), group=MODELS,
        help="Models that the profiled model calls from its code (BLS). The search also varies"
        " them.",
    ),
    Option(
        key="ensemble_composing_models", flags=("--ensemble-composing-models",), kind=ModelNames(),
        default=(), group=MODELS,
        help="Options for the models of a profiled ensemble. Their names are read from the"
        " ensemble.",
    ),
    Option(
        key="cpu_only_composing_models", flags=("--cpu-only-composing-models",),
        kind=ListOf(Text(), "NAMES"), default=(), group=MODELS,
        help="Models of an ensemble or BLS model that are searched with CPU instances.",
    ),
    Option(
        key="weighting", kind=Number(0, above=True), group=MODELS,
        help="Weight of a model relative to the models profiled with it. Set it in each model.",
    ),
    Option(
        key="genai_perf_flags", kind=GENAI_PERF, default={}, group=MODELS,
        help="Flags for genai-perf (model_type: LLM), without the leading dashes.",
    ),
    Option(
        key="perf_analyzer_flags", kind=PERF_ANALYZER, default={}, group=MODELS,
        help="Flags for perf_analyzer, without the leading dashes.",
    ),
    # ------------------------------------------------------------------ goals
    Option(
        key="objectives", kind=Objectives(), default=(), group=GOALS,
        commands=(PROFILE, REPORT),
        help="Metrics to optimize, with weights. They rank the configurations. Throughput if not"
        " given.",
    ),
    Option(
        key="constraints", kind=Constraints(), default=(), group=GOALS,
        commands=(PROFILE, REPORT),
        help="Limits on metrics that a recommended configuration must meet.",
    ),
    Option(
        key="latency_budget", flags=("--latency-budget",), kind=Number(0, above=True),
        group=GOALS, help="Maximum p99 latency, in ms.",
        commands=(PROFILE, REPORT),
    ),
    Option(
        key="min_throughput", flags=("--min-throughput",), kind=Number(0, above=True),
        group=GOALS, help="Minimum throughput, in inferences per second.",
        commands=(PROFILE, REPORT),
    ),
    Option(
        key="prices", flags=("--prices",), kind=FilePath(), group=GOALS,
        commands=(PROFILE, REPORT),
        help="YAML file with prices of hardware, for what inferences cost (docs/guides/cost.md).",
    ),
    # ----------------------------------------------------------------- search
    Option(
        key="search", flags=("--search",), kind=OneOf(SearchMode), group=SEARCH,
        alias_of="run_config_search_mode",
        help="Search mode: how the configurations to measure are chosen. If not given: quick for"
        " ensembles, BLS models and models profiled concurrently, otherwise brute.",
    ),
    Option(
        key="run_config_search_mode", flags=("--run-config-search-mode",),
        kind=OneOf(SearchMode), target="search.mode", group=SEARCH,
        help="The same as search: its name in Triton Model Analyzer.",
    ),
    Option(
        key="run_config_profile_models_concurrently_enable",
        flags=("--run-config-profile-models-concurrently-enable",), kind=Boolean(),
        default=False, target="search.together", group=SEARCH,
        help="Profile all models at the same time on one server instead of one after another.",
    ),
    Option(
        key="run_config_search_disable", flags=("--run-config-search-disable",),
        kind=Boolean(), default=False, target="search.disable", group=SEARCH,
        help="Measure only the listed configurations and loads. If no load is listed: concurrency"
        " 1.",
    ),
    Option(
        key="early_exit_enable", flags=("--early-exit-enable",), kind=Boolean(), default=False,
        target="search.early_exit", group=SEARCH,
        help="Also stop measuring listed values when throughput stops growing.",
    ),
    Option(
        key="run_config_search_min_concurrency", flags=("--run-config-search-min-concurrency",),
        kind=Integer(0), default=1, target="search.min_concurrency", group=SEARCH,
        help="Lowest concurrency to search. It is doubled at each step.",
    ),
    Option(
        key="run_config_search_max_concurrency", flags=("--run-config-search-max-concurrency",),
        kind=Integer(1), default=1024, target="search.max_concurrency", group=SEARCH,
        help="Highest concurrency to search.",
    ),
    Option(
        key="request_rate_search_enable", flags=("--request-rate-search-enable",),
        kind=Boolean(), default=False, group=SEARCH,
        help="Search the request rate instead of the concurrency.",
    ),
    Option(
        key="run_config_search_min_request_rate",
        flags=("--run-config-search-min-request-rate",), kind=Integer(0, MOST_RATE), default=16,
        target="search.min_request_rate", group=SEARCH,
        help="Lowest request rate to search. Setting it searches request rates.",
    ),
    Option(
        key="run_config_search_max_request_rate",
        flags=("--run-config-search-max-request-rate",), kind=Integer(1, MOST_RATE), default=8192,
        target="search.max_request_rate", group=SEARCH,
        help="Highest request rate to search. Setting it searches request rates.",
    ),
    Option(
        key="run_config_search_min_instance_count",
        flags=("--run-config-search-min-instance-count",), kind=Integer(0), default=1,
        target="search.min_instance_count", group=SEARCH,
        help="Lowest number of instances of a model to try.",
    ),
    Option(
        key="run_config_search_max_instance_count",
        flags=("--run-config-search-max-instance-count",), kind=Integer(1), default=5,
        target="search.max_instance_count", group=SEARCH,
        help="Highest number of instances of a model to try.",
    ),
    Option(
        key="run_config_search_min_model_batch_size",
        flags=("--run-config-search-min-model-batch-size",), kind=Integer(0), default=1,
        target="search.min_model_batch_size", group=SEARCH,
        help="Smallest max_batch_size to try. It is doubled at each step.",
    ),
    Option(
        key="run_config_search_max_model_batch_size",
        flags=("--run-config-search-max-model-batch-size",), kind=Integer(1), default=128,
        target="search.max_model_batch_size", group=SEARCH,
        help="Largest max_batch_size to try.",
    ),
    Option(
        key="run_config_search_max_binary_search_steps",
        flags=("--run-config-search-max-binary-search-steps",), kind=Integer(0), default=5,
        target="search.max_binary_search_steps", group=SEARCH,
        help="Maximum number of steps of the binary search for the highest load that meets the"
        " constraints.",
    ),
    Option(
        key="concurrency_sweep_disable", flags=("--concurrency-sweep-disable",), kind=Boolean(),
        default=False, target="search.sweep_disable", group=SEARCH,
        help="Skip the load sweep of the best configurations after a quick or optuna search.",
    ),
    Option(
        key="min_percentage_of_search_space", flags=("--min-percentage-of-search-space",),
        kind=Integer(0, 100), default=5, target="search.optuna.min_percentage", group=SEARCH,
        help="Minimum share of the configurations that optuna tries, in percent.",
    ),
    Option(
        key="max_percentage_of_search_space", flags=("--max-percentage-of-search-space",),
        kind=Integer(1, 100), default=10, target="search.optuna.max_percentage", group=SEARCH,
        help="Maximum share of the configurations that optuna or random tries, in percent.",
    ),
    Option(
        key="optuna_min_trials", flags=("--optuna-min-trials",), kind=Integer(1),
        target="search.optuna.min_trials", group=SEARCH,
        help="Minimum number of optuna trials. If a percentage is also given, the larger number"
        " applies.",
    ),
    Option(
        key="optuna_max_trials", flags=("--optuna-max-trials",), kind=Integer(1),
        target="search.optuna.max_trials", group=SEARCH,
        help="Maximum number of optuna or random trials. If a percentage is also given, the smaller"
        " number applies.",
    ),
    Option(
        key="optuna_early_exit_threshold", flags=("--optuna-early-exit-threshold",),
        kind=Integer(1), default=10, target="search.optuna.early_exit_threshold", group=SEARCH,
        help="Number of trials without a new best after which optuna stops.",
    ),
    Option(
        key="use_concurrency_formula", flags=("--use-concurrency-formula",), kind=Boolean(),
        default=False, target="search.optuna.use_concurrency_formula", group=SEARCH,
        help="Do not search the concurrency with optuna: use 2 x instances x max_batch_size.",
    ),
    Option(
        key="budget", flags=("--budget",), kind=Duration(),
        target="search.adaptive.budget_s", group=SEARCH,
        help="Maximum time for each model in adaptive search. The search stops earlier if further"
        " measurements would gain nothing.",
    ),
    Option(
        key="budget_counts_earlier_runs", flags=("--budget-counts-earlier-runs",), kind=Boolean(),
        default=False, target="search.adaptive.counts_earlier_runs", group=SEARCH,
        help="The budget is that of all runs together: the time of earlier ones counts, too.",
    ),
    Option(
        key="stop_when_sure", flags=("--stop-when-sure",), kind=Percent(50, 99),
        target="search.adaptive.sure_at", group=SEARCH,
        help="Adaptive search stops at this chance that no configuration is more than 3 % better,"
        " such as 90%. If not given: when further measurements would gain nothing.",
    ),
    Option(
        key="max_measurements", flags=("--max-measurements",), kind=Integer(1),
        target="search.adaptive.max_trials", group=SEARCH,
        help="Maximum number of measurements of each model in adaptive search. Each round"
        " counts. If not given: a few percent of the configurations.",
    ),
    Option(
        key="max_trials", flags=("--max-trials",), kind=Integer(1),
        alias_of="max_measurements", group=SEARCH,
        help="The same as max_measurements: its earlier name.",
    ),
    # ------------------------------------------------------------------ slots
    Option(
        key="executor", flags=("--executor",), kind=OneOf(ExecutorKind),
        default=ExecutorKind.LOCAL, target="executor.kind", group=EXECUTOR,
        help="Where to measure: on this machine (local), or on several at the same time, the nodes"
        " of a Ray cluster (ray).",
    ),
    Option(
        key="ray_address", flags=("--ray-address",), kind=Text(), default="auto",
        target="executor.address", group=EXECUTOR,
        help="Address of the Ray cluster, HOST:PORT; auto for the cluster of this node.",
    ),
    Option(
        key="slots", flags=("--slots",), kind=IntegerOr("auto", 1),
        target="executor.slots", group=EXECUTOR,
        help="Number of slots that measure at the same time. If not given, or auto: one on each"
        " node.",
    ),
    Option(
        key="slot_gpus", flags=("--slot-gpus",), kind=Integer(0), target="executor.gpus",
        group=EXECUTOR, help="GPUs of each slot. If not given: all of its node.",
    ),
    Option(
        key="slot_cpus", flags=("--slot-cpus",), kind=IntegerOr("all", 1),
        target="executor.cpus", group=EXECUTOR,
        help="CPUs that each slot reserves. If not given, or all: all of its node.",
    ),
    Option(
        key="slot_label", flags=("--slot-label",), kind=ListOf(Label(), "LABELS"), default=(),
        target="executor.labels", group=EXECUTOR,
        help="Labels that a node must have, for example ray.io/accelerator-type=H100.",
    ),
    Option(
        key="slots_per_host", flags=("--slots-per-host",), kind=Integer(1), default=1,
        target="executor.per_host", group=EXECUTOR,
        help="Slots on one host at most. If more than 1, the run first tests how much slots on the"
        " same host slow each other down.",
    ),
    # ---------------------------------------------------------- triton server
    Option(
        key="triton_launch_mode", flags=("--triton-launch-mode",), kind=OneOf(LaunchMode),
        default=LaunchMode.LOCAL, target="server.launch", group=SERVER,
        help="Which server to use: a local process, a docker container, a running server (remote),"
        " or Triton's library in perf_analyzer (c_api).",
    ),
    Option(
        key="triton_server_path", flags=("--triton-server-path",), kind=Text(),
        target="server.path", group=SERVER,
        help="tritonserver program to start: a path, or a name on the PATH.",
    ),
    Option(
        key="triton_install_path", flags=("--triton-install-path",), kind=FilePath(),
        target="server.install_path", group=SERVER,
        help="Directory of Triton's library for launch mode c_api. If not given: /opt/tritonserver"
        " or the installed runtime.",
    ),
    Option(
        key="runtime_install", flags=("--runtime-install",), kind=Boolean(), default=False,
        target="server.installs_runtime", group=SERVER,
        help="Install the runtime in the cache directory, as `runtime install` does, on each"
        " machine where tritonserver or perf_analyzer is missing.",
    ),
    Option(
        key="runtime_version", flags=("--runtime-version",), kind=Text(),
        target="server.runtime_version", group=SERVER,
        help="Triton of the installed runtime to use, for example 2.36, rather than programs on the"
        " PATH: `runtime show` lists those that are installed.",
    ),
    Option(
        key="reload_model_disable", flags=("--reload-model-disable",), kind=Boolean(),
        default=False, target="server.reload_disable", group=SERVER,
        help="Measure the models that a remote server has loaded; load and unload nothing.",
    ),
    Option(
        key="client_protocol", flags=("--client-protocol",), kind=OneOf(Protocol),
        default=Protocol.GRPC, target="server.protocol", group=SERVER,
        help="Protocol of the client requests.",
    ),
    Option(
        key="endpoint", flags=("--endpoint",), kind=OneOf(EndpointKind),
        default=EndpointKind.KSERVE, target="server.endpoint", group=SERVER,
        help="API of a remote server: kserve (Triton's own), or openai, to measure a model behind"
        " Triton's OpenAI frontend, vLLM or NIM as it is served. Its address is"
        " --triton-http-endpoint.",
    ),
    Option(
        key="triton_http_endpoint", flags=("--triton-http-endpoint",),
        kind=ListOf(Endpoint(), "HOST:PORT"), default=(), target="server.http_endpoints",
        group=SERVER,
        help="HTTP address of the server; a list for several remote servers, which then measure at"
        " the same time. If not given: a free port; port 8000 of a remote server.",
    ),
    Option(
        key="triton_grpc_endpoint", flags=("--triton-grpc-endpoint",),
        kind=ListOf(Endpoint(), "HOST:PORT"), default=(), target="server.grpc_endpoints",
        group=SERVER,
        help="gRPC address of the server; a list for several remote servers, which then measure at"
        " the same time. If not given: a free port; port 8001 of a remote server.",
    ),
    Option(
        key="triton_metrics_url", flags=("--triton-metrics-url",),
        kind=ListOf(Endpoint(url=True), "URL"), default=(), target="server.metrics_urls",
        group=SERVER,
        help="URL of the server's metrics; a list for several remote servers. If not given: a free"
        " port; port 8002 of a remote server.",
    ),
    Option(
        key="triton_output_path", flags=("--triton-output-path",), kind=FilePath(),
        target="server.log", group=SERVER, help="File for the server's log. It is overwritten.",
    ),
    Option(
        key="client_max_retries", flags=("-r", "--client-max-retries"),
        kind=Integer(1, MOST_SECONDS), default=50, target="server.ready_timeout_s", group=SERVER,
        help="Maximum number of checks, one per second, whether the server is ready.",
    ),
    Option(
        key="model_load_timeout", flags=("--model-load-timeout",),
        kind=Integer(1, MOST_SECONDS), default=600, target="server.load_timeout_s", group=SERVER,
        help="Seconds to wait for a model to load.",
    ),
    Option(
        key="server_restart", flags=("--server-restart",), kind=OneOf(ServerRestart),
        default=ServerRestart.AUTO, target="server.restart", group=SERVER,
        help="Restart the server for each variant, never, or only when a measurement needs it"
        " (auto).",
    ),
    Option(
        key="triton_server_flags", kind=TRITON_SERVER, default={}, group=SERVER,
        help="Flags for tritonserver, without the leading dashes.",
    ),
    Option(
        key="triton_server_environment", kind=Environment(), default={}, group=SERVER,
        help="Environment variables for tritonserver; $NAME in a value is expanded.",
    ),
    Option(
        key="show_environment", flags=("--show-environment",), kind=ListOf(Text(), "NAMES"),
        default=(), target="server.show_environment", group=SERVER,
        help="Variables of triton_server_environment whose values may be stored and shown. Values"
        " of other variables are masked, unless the variable is known to be harmless"
        " (docs/checkpoints.md).",
    ),
    Option(
        key="triton_docker_image", flags=("--triton-docker-image",), kind=Text(),
        default="nvcr.io/nvidia/tritonserver:26.09-py3", target="docker.image", group=SERVER,
        help="Image for launch mode docker. It is pulled if it is missing.",
    ),
    Option(
        key="triton_docker_mounts", flags=("--triton-docker-mounts",),
        kind=ListOf(Mount(), "MOUNTS"), default=(), target="docker.mounts", group=SERVER,
        help="Directories to mount into the container. MODE is ro or rw.",
    ),
    Option(
        key="triton_docker_shm_size", flags=("--triton-docker-shm-size",), kind=Text(),
        target="docker.shm_size", group=SERVER,
        help="Size of the container's shared memory, for example 1G.",
    ),
    Option(
        key="triton_docker_labels", kind=Environment(), default={}, target="docker.labels",
        group=SERVER, help="Labels for the container.",
    ),
    Option(
        key="triton_docker_args", kind=DOCKER_ARGUMENTS, default={}, group=SERVER,
        help="More arguments for the container, named as in the Docker SDK for Python.",
    ),
    # ---------------------------------------------------------- perf_analyzer
    Option(
        key="measurement", flags=("--measurement",), kind=OneOf(MeasurementMode),
        default=MeasurementMode.AUTO, group=LOAD_GENERATOR,
        help="How long a trial is measured. auto: in rounds, first short, and longer only"
        " where it matters (docs/measuring.md). perf_analyzer: until its windows are stable, as in"
        " Triton Model Analyzer; also used if perf_analyzer_flags say how to measure.",
    ),
    Option(
        key="response_cache", flags=("--response-cache",), kind=OneOf(ResponseCache),
        default=ResponseCache.OFF, group=LOAD_GENERATOR,
        help="Models with response_cache in their configuration: off measures them without it,"
        " since perf_analyzer repeats its requests. keep measures with it, and shows the hit rate.",
    ),
    Option(
        key="perf_analyzer_path", flags=("--perf-analyzer-path",), kind=Text(),
        target="load_generator.path", group=LOAD_GENERATOR,
        help="perf_analyzer program to run: a path, or a name on the PATH.",
    ),
    Option(
        key="perf_analyzer_timeout", flags=("--perf-analyzer-timeout",),
        kind=Integer(1, MOST_SECONDS), default=600, target="load_generator.timeout_s",
        group=LOAD_GENERATOR,
        help="Seconds after which perf_analyzer is stopped.",
    ),
    Option(
        key="perf_analyzer_max_auto_adjusts", flags=("--perf-analyzer-max-auto-adjusts",),
        kind=Integer(1), default=10, target="load_generator.max_launches", group=LOAD_GENERATOR,
        help="Maximum number of perf_analyzer runs for one trial. Each run has a larger window.",
    ),
    Option(
        key="perf_analyzer_cpu_util", flags=("--perf-analyzer-cpu-util",),
        kind=Number(0, above=True), target="load_generator.most_cpu_percent",
        group=LOAD_GENERATOR,
        help="CPU use in percent (100 is one core) above which perf_analyzer is stopped. If not"
        " given: 80 for each core.",
    ),
    Option(
        key="perf_output", flags=("--perf-output",), kind=Boolean(), default=False,
        target="load_generator.keep_output", group=LOAD_GENERATOR,
        help="Show the output of perf_analyzer.",
    ),
    Option(
        key="perf_output_path", flags=("--perf-output-path",), kind=FilePath(),
        target="load_generator.output", group=LOAD_GENERATOR,
        help="File for the output of perf_analyzer; needs --perf-output.",
    ),
    # ----------------------------------------------------------------- proofs
    Option(
        key="verify", flags=("--verify",), kind=Deployed(), target="proofs.verify", group=PROOFS,
        help="Measure the recommendation once more where it is deployed: on a plain server with the"
        " written files, or on the server with this URL (grpc://HOST:8001).",
    ),
    Option(
        key="endurance", flags=("--endurance",), kind=Duration(), target="proofs.endurance",
        group=PROOFS,
        help="Keep the recommendation under its load for so long, 15m for example, and say whether"
        " it holds: throughput, memory, stalls.",
    ),
    # ------------------------------------------------------------ checkpoints
    Option(
        key="checkpoint_directory", flags=("-s", "--checkpoint-directory"), kind=FilePath(),
        default=Path("checkpoints"), target="checkpoint.directory", group=CHECKPOINTS,
        commands=(PROFILE, REPORT),
        help="Directory for checkpoints. Runs resume from it, and reports read it.",
    ),
    Option(
        key="checkpoint_prefix", flags=("--checkpoint-prefix",),
        kind=FilePrefix(reserved=("journal", "lock")), default="",
        target="checkpoint.prefix", group=CHECKPOINTS, commands=(PROFILE, REPORT),
        help="Prefix of checkpoint names (NAME-0.ckpt), to keep several runs in one directory.",
    ),
    Option(
        key="checkpoint_load_directory", flags=("--checkpoint-load-directory",), kind=FilePath(),
        target="checkpoint.load_directory", group=CHECKPOINTS,
        help="Directory to resume from. New measurements are saved in the checkpoint directory.",
    ),
    Option(
        key="checkpoint_load_file", flags=("--checkpoint-load-file",), kind=FilePath(),
        target="checkpoint.load_file", group=CHECKPOINTS, commands=(PROFILE, REPORT),
        help="Checkpoint file to use instead of the newest.",
    ),
    Option(
        key="resume_from", flags=("--resume-from",), kind=Text(),
        target="checkpoint.resume_from", group=CHECKPOINTS,
        help="Checkpoint to resume from instead of the newest: its number, uuid or path.",
    ),
    Option(
        key="checkpoint_every", flags=("--checkpoint-every",), kind=Integer(minimum=1),
        target="checkpoint.every", group=CHECKPOINTS,
        help="Number of measurements after which an extra numbered checkpoint is written.",
    ),
    Option(
        key="fresh", flags=("--fresh",), kind=Boolean(), default=False,
        target="checkpoint.fresh", group=CHECKPOINTS,
        help="Delete all measurements of earlier runs from the checkpoint directory, then start"
        " from the beginning. Another checkpoint directory keeps them.",
    ),
    Option(
        key="yes", flags=("--yes",), kind=Boolean(), default=False,
        target="checkpoint.assume_yes", group=CHECKPOINTS,
        help="Do not ask before --fresh deletes measurements.",
    ),
    Option(
        key="no_checkpoint", flags=("--no-checkpoint",), kind=Boolean(), default=False,
        target="checkpoint.disabled", group=CHECKPOINTS,
        help="Do not read or write checkpoints.",
    ),
    Option(
        key="on_mismatch", flags=("--on-mismatch",), kind=OneOf(OnMismatch),
        default=OnMismatch.ASK, target="checkpoint.on_mismatch", group=CHECKPOINTS,
        help="If the checkpoint is from a different machine: ask (an error without a terminal),"
        " use it, start fresh and keep it, or stop with an error.",
    ),
    Option(
        key="checkpoint_storage", flags=("--checkpoint-storage",), kind=Url(),
        target="checkpoint.storage", group=CHECKPOINTS,
        help="Store for a copy of each numbered checkpoint, for example s3://bucket/folder.",
    ),
    Option(
        key="retry_failed", flags=("--retry-failed",), kind=Boolean(), default=False,
        target="checkpoint.retry_failed", group=CHECKPOINTS,
        help="Repeat the trials that failed in an earlier run.",
    ),
    # ---------------------------------------------------- results and reports
    Option(
        key="export_path", flags=("-e", "--export-path"), kind=FilePath(), default=Path(),
        target="export.path", group=EXPORT, commands=(PROFILE, REPORT),
        help="Directory for tables, reports, plots and configurations to deploy.",
    ),
    Option(
        key="num_configs_per_model", flags=("--num-configs-per-model",), kind=Integer(1),
        default=3, target="export.best", group=EXPORT,
        help="Number of best configurations of each model to refine and report.",
    ),
    Option(
        key="filename_model_inference", flags=("--filename-model-inference",), kind=Text(),
        default="metrics-model-inference.csv", target="export.inference_file", group=EXPORT,
        help="Name of the CSV file with the measurements.",
    ),
    Option(
        key="num_top_model_configs", flags=("--num-top-model-configs",), kind=Integer(0),
        default=0, target="export.best_of_all", group=EXPORT,
        help="Number of best configurations across all models in a summary; 0: no summary.",
    ),
    Option(
        key="filename_model_gpu", flags=("--filename-model-gpu",), kind=Text(),
        default="metrics-model-gpu.csv", target="export.gpu_file", group=EXPORT,
        help="Name of the CSV file with the GPU metrics.",
    ),
    Option(
        key="filename_server_only", flags=("--filename-server-only",), kind=Text(),
        default="metrics-server-only.csv", target="export.server_file", group=EXPORT,
        help="Name of the CSV file with the metrics of the idle server.",
    ),
    Option(
        key="inference_output_fields", flags=("--inference-output-fields",),
        kind=ListOf(Text(), "FIELDS"), target="export.inference_fields", group=EXPORT,
        help="Columns of the CSV file with the measurements.",
    ),
    Option(
        key="gpu_output_fields", flags=("--gpu-output-fields",),
        kind=ListOf(Text(), "FIELDS"), target="export.gpu_fields", group=EXPORT,
        help="Columns of the CSV file with the GPU metrics.",
    ),
    Option(
        key="server_output_fields", flags=("--server-output-fields",),
        kind=ListOf(Text(), "FIELDS"),
        default=(
            "model_name", "gpu_uuid", "gpu_used_memory", "gpu_utilization", "gpu_power_usage",
        ),
        target="export.server_fields", group=EXPORT,
        help="Columns of the CSV file with the metrics of the idle server.",
    ),
    Option(
        key="plots", kind=Plots(), default=(), target="export.plots", group=EXPORT,
        commands=(PROFILE, REPORT),
        help="Charts of the detailed reports, by file name.",
    ),
    Option(
        key="skip_summary_reports", flags=("--skip-summary-reports",), kind=Boolean(),
        default=False, target="export.skip_summary", group=EXPORT,
        help="Do not write CSV files and reports.",
    ),
    Option(
        key="skip_detailed_reports", flags=("--skip-detailed-reports",), kind=Boolean(),
        default=False, target="export.skip_detailed", group=EXPORT,
        help="Do not write detailed reports.",
    ),
    Option(
        key="outputs", flags=("--outputs",), default={}, group=EXPORT,
        kind=Switchable(
            "settings of outputs",
            {
                "check": Boolean(), "tolerance": Number(0), "inputs": Integer(1, 1000),
                "ignore": ListOf(Text(), "NAMES"),
            },
        ),
        help="Whether the best configurations have to give the outputs of the default; with"
        " {tolerance, ignore, inputs} in YAML (docs/guides/right.md). Default: if it takes at most"
        " 5 % of the run.",
    ),
    Option(
        key="conditions", flags=("--conditions",), kind=Integer(1), default=None,
        target="export.conditions", group=EXPORT, commands=(ANALYZE, REPORT),
        help="Rank the measurements of this group of conditions; `checkpoint show` lists the"
        " groups. Default: the group of the configuration file, otherwise the group with the most"
        " measurements.",
    ),
    Option(
        key="circumstances", flags=("--circumstances",), kind=Integer(1),
        alias_of="conditions", group=EXPORT, commands=(ANALYZE, REPORT),
        help="The same as conditions: its earlier name.",
    ),
    Option(
        key="fail_on_miss", flags=("--fail-on-miss",), kind=Boolean(), default=False,
        target="export.fail_on_miss", group=EXPORT,
        help="Exit with status 1 if no configuration of a model meets the constraints.",
    ),
    Option(
        key="report_model_configs", flags=("-n", "--report-model-configs"),
        kind=ReportedVariants(), group=EXPORT, commands=(REPORT,),
        help="Variants to report, for example add_sub_config_2.",
    ),
    Option(
        key="output_formats", flags=("-o", "--output-formats"),
        kind=ListOf(OneOf(OutputFormat, {"markdown": OutputFormat.MARKDOWN}), "FORMATS"),
        default=(OutputFormat.HTML, OutputFormat.JSON, OutputFormat.CSV, OutputFormat.PNG),
        defaults={REPORT: (OutputFormat.HTML, OutputFormat.PNG)},
        target="export.formats", group=EXPORT, commands=(PROFILE, REPORT),
        help=f"Formats to write: html (always), {', '.join(_MORE_FORMATS)}.",
    ),
)  # fmt: skip


def options_of(command: str) -> Sequence[Option]:
    """The options of one command, in table order.

    `analyze` and `doctor` also take the options of `profile`, and `best` those of `report`. A file
    (`FILE`) takes all options.
    """
    if command == FILE:
        return OPTIONS
    name = {ANALYZE: PROFILE, DOCTOR: PROFILE, BEST: REPORT}.get(command, command)
    return [
        replace(option, default=option.defaults.get(name, option.default))
        for option in OPTIONS
        if name in option.commands or command in option.commands
    ]


def json_schema() -> Schema:
    """The JSON Schema (draft 2020-12) of a YAML file, which may be empty: for editors and programs.

    It accepts everything that the option table accepts. It does not check rules between options,
    empty ranges, weights that are all 0, limits of numbers written as text, the number of
    combinations of a sweep, and home directories of unknown users.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Configuration of model-analyzer",
        **schema(OPTIONS),
        "type": ["object", "null"],
        "$defs": {**model_options.definitions(), **sweeps.definitions()},
    }
