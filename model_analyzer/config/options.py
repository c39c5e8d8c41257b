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

from model_analyzer.config import model_options
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
from model_analyzer.config.model_options import (
    DOCKER_ARGUMENTS,
    GENAI_PERF,
    PERF_ANALYZER,
    TRITON_SERVER,
    ModelNames,
    Mount,
    Plots,
    ReportedVariants,
)
from model_analyzer.config.nodes import Schema
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
    in_group,
    schema,
)
from model_analyzer.config.traffic_options import OpenLoad
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
from model_analyzer.domain.words import LEAST_INTERVAL, MOST_RATE, MOST_SECONDS

# More processes than cores only disturb each other.
_MOST_GENERATORS = 64

_MORE_FORMATS = [form.value for form in OutputFormat if form is not OutputFormat.HTML]

OPTIONS: Sequence[Option] = (
    *in_group(
        GENERAL,
        Option(
            "config_file", FilePath(), short="-f", commands=(PROFILE, REPORT),
            help="YAML file with options. The command line overrides it, but models can be given"
            " in one place only.",
        ),
        Option(
            "collect_cpu_metrics", Boolean(), default=False, target="monitors.cpu",
            help="Measure the RAM used by the server and its model processes.",
        ),
        Option(
            "gpus", Gpus(), default=("all",), target="monitors.gpus",
            help="GPUs to use: all, UUIDs or indices; [] for none.",
        ),
        Option(
            "always_report_gpu_metrics", Boolean(), default=False, target="monitors.always_gpus",
            commands=(PROFILE, REPORT),
            help="Measure and report GPU metrics even for configurations that use only CPUs.",
        ),
        Option(
            "dcgm_disable", Boolean(), default=False, target="monitors.ignore_gpus",
            help="Do not look for GPUs. Only for launch mode remote.",
        ),
        Option(
            "duration_seconds", Number(0, MOST_SECONDS), short="-d", default=3.0,
            target="monitors.idle_s",
            help="Seconds to collect GPU metrics of the idle server; 0 skips this step.",
        ),
        Option(
            "model_type", OneOf(ModelType), default=ModelType.GENERIC,
            target="load_generator.model_type",
            help="Type of the models. For LLM, token latencies and token throughput are measured,"
            " too.",
        ),
        Option(
            "monitoring_interval", Number(LEAST_INTERVAL, MOST_SECONDS), short="-i", default=1.0,
            target="monitors.interval_s",
            help="Seconds between two readings of GPU and RAM metrics.",
        ),
        Option(
            "progress", OneOf(ProgressMode), default=ProgressMode.AUTO, target="display.progress",
            help="Progress display: a live view, plain lines, JSON lines on standard output"
            " (docs/progress.md), or none. auto: live on a terminal, plain elsewhere and in CI.",
        ),
        Option(
            "prometheus_port", Integer(1, 65535), target="display.prometheus_port",
            help="Serve figures of the run to Prometheus while it measures, at this port of this"
            " machine (127.0.0.1).",
        ),
        Option(
            "otlp", Endpoint(url=True), target="display.otlp",
            help="Send figures of the run and a span for each measurement to this collector of"
            " OpenTelemetry, for example http://localhost:4318.",
        ),
    ),
    *in_group(
        REPOSITORY,
        Option(
            "model_repository", PathOrUrl(), short="-m", target="repository.source",
            help="Model repository in Triton's layout: a directory, or a URL that each machine"
            " fetches once, for example s3://bucket/models.",
        ),
        Option(
            "output_model_repository_path", FilePath(), default=Path("output_model_repository"),
            target="repository.output",
            help="Directory for the variants, with one subdirectory for each. It must be new,"
            " empty or created by an earlier run.",
        ),
        Option(
            "override_output_model_repository", Boolean(), default=False,
            target="repository.override_output",
            help="Replace the output model repository and its content, even if no earlier run"
            " created it. Checkpoints and results in it are kept.",
        ),
    ),
    *in_group(
        MODELS,
        Option(
            "profile_models", ModelNames(),
            help="Models to profile: names, patterns such as resnet*, or all (of the model"
            " repository). In YAML, each model or pattern can have its own options.",
        ),
        Option(
            "batch_sizes", Integers(1), short="-b", default=(1,),
            help="Batch sizes of client requests.",
        ),
        Option(
            "concurrency", Integers(1), short="-c", default=(),
            help="Concurrencies (requests in flight) to measure. Searched if not given.",
        ),
        Option(
            "request_rate", Integers(1, MOST_RATE), default=(),
            help="Request rates to measure, in requests per second, instead of concurrencies.",
        ),
        Option(
            "load", OpenLoad(), in_file_only=True,
            help="An open load, in place of concurrency and request_rate: how requests arrive, as"
            " {arrivals: poisson, rate: [50, 100]}, {stages: [{rate: 50, for: 30s}]} or {replay:"
            " log.csv} (docs/guides/traffic.md). Without rate, rates are searched.",
        ),
        Option(
            "generators", Integer(1, _MOST_GENERATORS), default=1,
            help="Processes of perf_analyzer that send an open load together, each a part of the"
            " requests: for a rate at which one of them falls behind.",
        ),
        Option(
            "bls_composing_models", ModelNames(may_be_none=True), default=(),
            help="Models that the profiled model calls from its code (BLS). The search also varies"
            " them.",
        ),
        Option(
            "ensemble_composing_models", ModelNames(may_be_none=True), default=(),
            help="Options for the models of a profiled ensemble. Their names are read from the"
            " ensemble.",
        ),
        Option(
            "cpu_only_composing_models", ListOf(Text(), "NAMES"), default=(),
            help="Models of an ensemble or BLS model that are searched with CPU instances.",
        ),
        Option(
            "weighting", Number(0, above=True), in_file_only=True,
            help="Weight of a model relative to the models profiled with it. Set it in each model.",
        ),
        Option(
            "genai_perf_flags", GENAI_PERF, default={}, in_file_only=True,
            help="Flags for genai-perf (model_type: LLM), without the leading dashes.",
        ),
        Option(
            "perf_analyzer_flags", PERF_ANALYZER, default={}, in_file_only=True,
            help="Flags for perf_analyzer, without the leading dashes.",
        ),
    ),
    *in_group(
        GOALS,
        Option(
            "objectives", Objectives(), default=(), commands=(PROFILE, REPORT), in_file_only=True,
            help="Metrics to optimize, with weights. They rank the configurations. Throughput if"
            " not given.",
        ),
        Option(
            "constraints", Constraints(), default=(), commands=(PROFILE, REPORT), in_file_only=True,
            help="Limits on metrics that a recommended configuration must meet.",
        ),
        Option(
            "latency_budget", Number(0, above=True), commands=(PROFILE, REPORT),
            help="Maximum p99 latency, in ms.",
        ),
        Option(
            "min_throughput", Number(0, above=True), commands=(PROFILE, REPORT),
            help="Minimum throughput, in inferences per second.",
        ),
        Option(
            "prices", FilePath(), commands=(PROFILE, REPORT),
            help="YAML file with prices of hardware, for what inferences cost"
            " (docs/guides/cost.md).",
        ),
    ),
    *in_group(
        SEARCH,
        Option(
            "search", OneOf(SearchMode), alias_of="run_config_search_mode",
            help="Search mode: how the configurations to measure are chosen. If not given: quick"
            " for ensembles, BLS models and models profiled concurrently, otherwise brute.",
        ),
        Option(
            "run_config_search_mode", OneOf(SearchMode), target="search.mode",
            help="The same as search: its name in Triton Model Analyzer.",
        ),
        Option(
            "run_config_profile_models_concurrently_enable", Boolean(), default=False,
            target="search.together",
            help="Profile all models at the same time on one server instead of one after another.",
        ),
        Option(
            "run_config_search_disable", Boolean(), default=False, target="search.disable",
            help="Measure only the listed configurations and loads. If no load is listed:"
            " concurrency 1.",
        ),
        Option(
            "early_exit_enable", Boolean(), default=False, target="search.early_exit",
            help="Also stop measuring listed values when throughput stops growing.",
        ),
        Option(
            "run_config_search_min_concurrency", Integer(0), default=1,
            target="search.min_concurrency",
            help="Lowest concurrency to search. It is doubled at each step.",
        ),
        Option(
            "run_config_search_max_concurrency", Integer(1), default=1024,
            target="search.max_concurrency",
            help="Highest concurrency to search.",
        ),
        Option(
            "request_rate_search_enable", Boolean(), default=False,
            help="Search the request rate instead of the concurrency.",
        ),
        Option(
            "run_config_search_min_request_rate", Integer(0, MOST_RATE), default=16,
            target="search.min_request_rate",
            help="Lowest request rate to search. Setting it searches request rates.",
        ),
        Option(
            "run_config_search_max_request_rate", Integer(1, MOST_RATE), default=8192,
            target="search.max_request_rate",
            help="Highest request rate to search. Setting it searches request rates.",
        ),
        Option(
            "run_config_search_min_instance_count", Integer(0), default=1,
            target="search.min_instance_count",
            help="Lowest number of instances of a model to try.",
        ),
        Option(
            "run_config_search_max_instance_count", Integer(1), default=5,
            target="search.max_instance_count",
            help="Highest number of instances of a model to try.",
        ),
        Option(
            "run_config_search_min_model_batch_size", Integer(0), default=1,
            target="search.min_model_batch_size",
            help="Smallest max_batch_size to try. It is doubled at each step.",
        ),
        Option(
            "run_config_search_max_model_batch_size", Integer(1), default=128,
            target="search.max_model_batch_size",
            help="Largest max_batch_size to try.",
        ),
        Option(
            "run_config_search_max_binary_search_steps", Integer(0), default=5,
            target="search.max_binary_search_steps",
            help="Maximum number of steps of the binary search for the highest load that meets the"
            " constraints.",
        ),
        Option(
            "concurrency_sweep_disable", Boolean(), default=False, target="search.sweep_disable",
            help="Skip the load sweep of the best configurations after a quick or optuna search.",
        ),
        Option(
            "min_percentage_of_search_space", Integer(0, 100), default=5,
            target="search.optuna.min_percentage",
            help="Minimum share of the configurations that optuna tries, in percent.",
        ),
        Option(
            "max_percentage_of_search_space", Integer(1, 100), default=10,
            target="search.optuna.max_percentage",
            help="Maximum share of the configurations that optuna or random tries, in percent.",
        ),
        Option(
            "optuna_min_trials", Integer(1), target="search.optuna.min_trials",
            help="Minimum number of optuna trials. If a percentage is also given, the larger"
            " number applies.",
        ),
        Option(
            "optuna_max_trials", Integer(1), target="search.optuna.max_trials",
            help="Maximum number of optuna or random trials. If a percentage is also given, the"
            " smaller number applies.",
        ),
        Option(
            "optuna_early_exit_threshold", Integer(1), default=10,
            target="search.optuna.early_exit_threshold",
            help="Number of trials without a new best after which optuna stops.",
        ),
        Option(
            "use_concurrency_formula", Boolean(), default=False,
            target="search.optuna.use_concurrency_formula",
            help="Do not search the concurrency with optuna: use 2 x instances x max_batch_size.",
        ),
        Option(
            "budget", Duration(), target="search.adaptive.budget_s",
            help="Maximum time for each model in adaptive search. The search stops earlier if"
            " further measurements would gain nothing.",
        ),
        Option(
            "budget_counts_earlier_runs", Boolean(), default=False,
            target="search.adaptive.counts_earlier_runs",
            help="The budget is that of all runs together: the time of earlier ones counts, too.",
        ),
        Option(
            "stop_when_sure", Percent(50, 99), target="search.adaptive.sure_at",
            help="Adaptive search stops at this chance that no configuration is more than 3 %"
            " better, such as 90%. If not given: when further measurements would gain nothing.",
        ),
        Option(
            "knowledge", Url(), target="search.adaptive.knowledge",
            help="Checkpoints of earlier runs, a directory or a store such as s3://bucket/folder."
            " Adaptive search starts with what they teach about similar models.",
        ),
        Option(
            "max_measurements", Integer(1), target="search.adaptive.max_trials",
            help="Maximum number of measurements of each model in adaptive search. Each round"
            " counts. If not given: a few percent of the configurations.",
        ),
        Option(
            "max_trials", Integer(1), alias_of="max_measurements",
            help="The same as max_measurements: its earlier name.",
        ),
    ),
    *in_group(
        EXECUTOR,
        Option(
            "executor", OneOf(ExecutorKind), default=ExecutorKind.LOCAL, target="executor.kind",
            help="Where to measure: on this machine (local), or on several at the same time, the"
            " nodes of a Ray cluster (ray).",
        ),
        Option(
            "ray_address", Text(), default="auto", target="executor.address",
            help="Address of the Ray cluster, HOST:PORT; auto for the cluster of this node.",
        ),
        Option(
            "slots", IntegerOr("auto", 1), target="executor.slots",
            help="Number of slots that measure at the same time. If not given, or auto: one on"
            " each node.",
        ),
        Option(
            "slot_gpus", Integer(0), target="executor.gpus",
            help="GPUs of each slot. If not given: all of its node.",
        ),
        Option(
            "slot_cpus", IntegerOr("all", 1), target="executor.cpus",
            help="CPUs that each slot reserves. If not given, or all: all of its node.",
        ),
        Option(
            "slot_label", ListOf(Label(), "LABELS"), default=(), target="executor.labels",
            help="Labels that a node must have, for example ray.io/accelerator-type=H100.",
        ),
        Option(
            "slots_per_host", Integer(1), default=1, target="executor.per_host",
            help="Slots on one host at most. If more than 1, the run first tests how much slots on"
            " the same host slow each other down.",
        ),
    ),
    *in_group(
        SERVER,
        Option(
            "triton_launch_mode", OneOf(LaunchMode), default=LaunchMode.LOCAL,
            target="server.launch",
            help="Which server to use: a local process, a docker container, a running server"
            " (remote), or Triton's library in perf_analyzer (c_api).",
        ),
        Option(
            "triton_server_path", Text(), target="server.path",
            help="tritonserver program to start: a path, or a name on the PATH.",
        ),
        Option(
            "triton_install_path", FilePath(), target="server.install_path",
            help="Directory of Triton's library for launch mode c_api. If not given:"
            " /opt/tritonserver or the installed runtime.",
        ),
        Option(
            "runtime_install", Boolean(), default=False, target="server.installs_runtime",
            help="Install the runtime in the cache directory, as `runtime install` does, on each"
            " machine where tritonserver or perf_analyzer is missing.",
        ),
        Option(
            "runtime_version", Text(), target="server.runtime_version",
            help="Triton of the installed runtime to use, for example 2.36, rather than programs"
            " on the PATH: `runtime show` lists those that are installed.",
        ),
        Option(
            "reload_model_disable", Boolean(), default=False, target="server.reload_disable",
            help="Measure the models that a remote server has loaded; load and unload nothing.",
        ),
        Option(
            "client_protocol", OneOf(Protocol), default=Protocol.GRPC, target="server.protocol",
            help="Protocol of the client requests.",
        ),
        Option(
            "endpoint", OneOf(EndpointKind), default=EndpointKind.KSERVE, target="server.endpoint",
            help="API of a remote server: kserve (Triton's own), or openai, to measure a model"
            " behind Triton's OpenAI frontend, vLLM or NIM as it is served. Its address is"
            " --triton-http-endpoint.",
        ),
        Option(
            "triton_http_endpoint", ListOf(Endpoint(), "HOST:PORT"), default=(),
            target="server.http_endpoints",
            help="HTTP address of the server; a list for several remote servers, which then"
            " measure at the same time. If not given: a free port; port 8000 of a remote server.",
        ),
        Option(
            "triton_grpc_endpoint", ListOf(Endpoint(), "HOST:PORT"), default=(),
            target="server.grpc_endpoints",
            help="gRPC address of the server; a list for several remote servers, which then"
            " measure at the same time. If not given: a free port; port 8001 of a remote server.",
        ),
        Option(
            "triton_metrics_url", ListOf(Endpoint(url=True), "URL"), default=(),
            target="server.metrics_urls",
            help="URL of the server's metrics; a list for several remote servers. If not given: a"
            " free port; port 8002 of a remote server.",
        ),
        Option(
            "triton_output_path", FilePath(), target="server.log",
            help="File for the server's log. It is overwritten.",
        ),
        Option(
            "client_max_retries", Integer(1, MOST_SECONDS), short="-r", default=50,
            target="server.ready_timeout_s",
            help="Maximum number of checks, one per second, whether the server is ready.",
        ),
        Option(
            "model_load_timeout", Integer(1, MOST_SECONDS), default=600,
            target="server.load_timeout_s",
            help="Seconds to wait for a model to load.",
        ),
        Option(
            "server_restart", OneOf(ServerRestart), default=ServerRestart.AUTO,
            target="server.restart",
            help="Restart the server for each variant, never, or only when a measurement needs it"
            " (auto).",
        ),
        Option(
            "triton_server_flags", TRITON_SERVER, default={}, in_file_only=True,
            help="Flags for tritonserver, without the leading dashes.",
        ),
        Option(
            "triton_server_environment", Environment(), default={}, in_file_only=True,
            help="Environment variables for tritonserver; $NAME in a value is expanded.",
        ),
        Option(
            "show_environment", ListOf(Text(), "NAMES"), default=(),
            target="server.show_environment",
            help="Variables of triton_server_environment whose values may be stored and shown."
            " Values of other variables are masked, unless the variable is known to be harmless"
            " (docs/checkpoints.md).",
        ),
        Option(
            "triton_docker_image", Text(), default="nvcr.io/nvidia/tritonserver:26.09-py3",
            target="docker.image",
            help="Image for launch mode docker. It is pulled if it is missing.",
        ),
        Option(
            "triton_docker_mounts", ListOf(Mount(), "MOUNTS"), default=(), target="docker.mounts",
            help="Directories to mount into the container. MODE is ro or rw.",
        ),
        Option(
            "triton_docker_shm_size", Text(), target="docker.shm_size",
            help="Size of the container's shared memory, for example 1G.",
        ),
        Option(
            "triton_docker_labels", Environment(), default={}, target="docker.labels",
            in_file_only=True,
            help="Labels for the container.",
        ),
        Option(
            "triton_docker_args", DOCKER_ARGUMENTS, default={}, in_file_only=True,
            help="More arguments for the container, named as in the Docker SDK for Python.",
        ),
    ),
    *in_group(
        LOAD_GENERATOR,
        Option(
            "measurement", OneOf(MeasurementMode), default=MeasurementMode.AUTO,
            help="How long a trial is measured. auto: in rounds, first short, and longer only"
            " where it matters (docs/measuring.md). perf_analyzer: until its windows are stable,"
            " as in Triton Model Analyzer; also used if perf_analyzer_flags say how to measure.",
        ),
        Option(
            "response_cache", OneOf(ResponseCache), default=ResponseCache.OFF,
            help="Models with response_cache in their configuration: off measures them without it,"
            " since perf_analyzer repeats its requests. keep measures with it, and shows the hit"
            " rate.",
        ),
        Option(
            "perf_analyzer_path", Text(), target="load_generator.path",
            help="perf_analyzer program to run: a path, or a name on the PATH.",
        ),
        Option(
            "perf_analyzer_timeout", Integer(1, MOST_SECONDS), default=600,
            target="load_generator.timeout_s",
            help="Seconds after which perf_analyzer is stopped.",
        ),
        Option(
            "perf_analyzer_max_auto_adjusts", Integer(1), default=10,
            target="load_generator.max_launches",
            help="Maximum number of perf_analyzer runs for one trial. Each run has a larger"
            " window.",
        ),
        Option(
            "perf_analyzer_cpu_util", Number(0, above=True),
            target="load_generator.most_cpu_percent",
            help="CPU use in percent (100 is one core) above which perf_analyzer is stopped. If"
            " not given: 80 for each core.",
        ),
        Option(
            "perf_output", Boolean(), default=False, target="load_generator.keep_output",
            help="Show the output of perf_analyzer.",
        ),
        Option(
            "perf_output_path", FilePath(), target="load_generator.output",
            help="File for the output of perf_analyzer; needs --perf-output.",
        ),
    ),
    *in_group(
        PROOFS,
        Option(
            "verify", Deployed(), target="proofs.verify",
            help="Measure the recommendation once more where it is deployed: on a plain server"
            " with the written files, or on the server with this URL (grpc://HOST:8001).",
        ),
        Option(
            "endurance", Duration(), target="proofs.endurance",
            help="Keep the recommendation under its load for so long, 15m for example, and say"
            " whether it holds: throughput, memory, stalls.",
        ),
    ),
    *in_group(
        CHECKPOINTS,
        Option(
            "checkpoint_directory", FilePath(), short="-s", default=Path("checkpoints"),
            target="checkpoint.directory", commands=(PROFILE, REPORT),
            help="Directory for checkpoints. Runs resume from it, and reports read it.",
        ),
        Option(
            "checkpoint_prefix", FilePrefix(reserved=("journal", "lock")), default="",
            target="checkpoint.prefix", commands=(PROFILE, REPORT),
            help="Prefix of checkpoint names (NAME-0.ckpt), to keep several runs in one directory.",
        ),
        Option(
            "checkpoint_load_directory", FilePath(), target="checkpoint.load_directory",
            help="Directory to resume from. New measurements are saved in the checkpoint"
            " directory.",
        ),
        Option(
            "checkpoint_load_file", FilePath(), target="checkpoint.load_file",
            commands=(PROFILE, REPORT),
            help="Checkpoint file to use instead of the newest.",
        ),
        Option(
            "resume_from", Text(), target="checkpoint.resume_from",
            help="Checkpoint to resume from instead of the newest: its number, uuid or path.",
        ),
        Option(
            "checkpoint_every", Integer(minimum=1), target="checkpoint.every",
            help="Number of measurements after which an extra numbered checkpoint is written.",
        ),
        Option(
            "fresh", Boolean(), default=False, target="checkpoint.fresh",
            help="Delete all measurements of earlier runs from the checkpoint directory, then"
            " start from the beginning. Another checkpoint directory keeps them.",
        ),
        Option(
            "yes", Boolean(), default=False, target="checkpoint.assume_yes",
            help="Do not ask before --fresh deletes measurements.",
        ),
        Option(
            "no_checkpoint", Boolean(), default=False, target="checkpoint.disabled",
            help="Do not read or write checkpoints.",
        ),
        Option(
            "on_mismatch", OneOf(OnMismatch), default=OnMismatch.ASK,
            target="checkpoint.on_mismatch",
            help="If the checkpoint is from a different machine: ask (an error without a"
            " terminal), use it, start fresh and keep it, or stop with an error.",
        ),
        Option(
            "checkpoint_storage", Url(), target="checkpoint.storage",
            help="Store for a copy of each numbered checkpoint, for example s3://bucket/folder.",
        ),
        Option(
            "retry_failed", Boolean(), default=False, target="checkpoint.retry_failed",
            help="Repeat the trials that failed in an earlier run.",
        ),
    ),
    *in_group(
        EXPORT,
        Option(
            "export_path", FilePath(), short="-e", default=Path(), target="export.path",
            commands=(PROFILE, REPORT),
            help="Directory for tables, reports, plots and configurations to deploy.",
        ),
        Option(
            "num_configs_per_model", Integer(1), default=3, target="export.best",
            help="Number of best configurations of each model to refine and report.",
        ),
        Option(
            "filename_model_inference", Text(), default="metrics-model-inference.csv",
            target="export.inference_file",
            help="Name of the CSV file with the measurements.",
        ),
        Option(
            "num_top_model_configs", Integer(0), default=0, target="export.best_of_all",
            help="Number of best configurations across all models in a summary; 0: no summary.",
        ),
        Option(
            "filename_model_gpu", Text(), default="metrics-model-gpu.csv", target="export.gpu_file",
            help="Name of the CSV file with the GPU metrics.",
        ),
        Option(
            "filename_server_only", Text(), default="metrics-server-only.csv",
            target="export.server_file",
            help="Name of the CSV file with the metrics of the idle server.",
        ),
        Option(
            "inference_output_fields", ListOf(Text(), "FIELDS"), target="export.inference_fields",
            help="Columns of the CSV file with the measurements.",
        ),
        Option(
            "gpu_output_fields", ListOf(Text(), "FIELDS"), target="export.gpu_fields",
            help="Columns of the CSV file with the GPU metrics.",
        ),
        Option(
            "server_output_fields", ListOf(Text(), "FIELDS"),
            default=(
                "model_name", "gpu_uuid", "gpu_used_memory", "gpu_utilization", "gpu_power_usage",
            ),
            target="export.server_fields",
            help="Columns of the CSV file with the metrics of the idle server.",
        ),
        Option(
            "plots", Plots(), default=(), target="export.plots", commands=(PROFILE, REPORT),
            in_file_only=True,
            help="Charts of the detailed reports, by file name.",
        ),
        Option(
            "skip_summary_reports", Boolean(), default=False, target="export.skip_summary",
            help="Do not write CSV files and reports.",
        ),
        Option(
            "skip_detailed_reports", Boolean(), default=False, target="export.skip_detailed",
            help="Do not write detailed reports.",
        ),
        Option(
            "outputs",
            Switchable(
                "settings of outputs",
                {
                    "check": Boolean(), "tolerance": Number(0), "inputs": Integer(1, 1000),
                    "ignore": ListOf(Text(), "NAMES"),
                },
            ),
            default={},
            help="Whether the best configurations have to give the outputs of the default; with"
            " {tolerance, ignore, inputs} in YAML (docs/guides/right.md). Default: if it takes at"
            " most 5 % of the run.",
        ),
        Option(
            "conditions", Integer(1), default=None, target="export.conditions",
            commands=(ANALYZE, REPORT),
            help="Rank the measurements of this group of conditions; `checkpoint show` lists the"
            " groups. Default: the group of the configuration file, otherwise the group with the"
            " most measurements.",
        ),
        Option(
            "circumstances", Integer(1), alias_of="conditions", commands=(ANALYZE, REPORT),
            help="The same as conditions: its earlier name.",
        ),
        Option(
            "fail_on_miss", Boolean(), default=False, target="export.fail_on_miss",
            help="Exit with status 1 if no configuration of a model meets the constraints.",
        ),
        Option(
            "report_model_configs", ReportedVariants(), short="-n", commands=(REPORT,),
            help="Variants to report, for example add_sub_config_2.",
        ),
        Option(
            "output_formats",
            ListOf(OneOf(OutputFormat, {"markdown": OutputFormat.MARKDOWN}), "FORMATS"), short="-o",
            default=(OutputFormat.HTML, OutputFormat.JSON, OutputFormat.CSV, OutputFormat.PNG),
            defaults={REPORT: (OutputFormat.HTML, OutputFormat.PNG)}, target="export.formats",
            commands=(PROFILE, REPORT),
            help=f"Formats to write: html (always), {', '.join(_MORE_FORMATS)}.",
        ),
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
        "$defs": {**model_options.definitions(), **model_options.sweep_definitions()},
    }
