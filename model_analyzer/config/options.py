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

from model_analyzer.config.docker_options import DOCKER_ARGUMENTS, Mount
from model_analyzer.config.goals import Constraints, Objectives
from model_analyzer.config.kinds import (
    Boolean,
    Choice,
    Duration,
    Endpoint,
    Environment,
    FilePath,
    FilePrefix,
    Gpus,
    Integer,
    Integers,
    ListOf,
    Number,
    Text,
    Url,
)
from model_analyzer.config.model_options import GENAI_PERF, PERF_ANALYZER, TRITON_SERVER, Models
from model_analyzer.config.plots import Plots, ReportedVariants
from model_analyzer.config.table import (
    ANALYZE,
    BEST,
    CHECKPOINTS,
    DOCTOR,
    EXPORT,
    FILE,
    GENERAL,
    GOALS,
    LOAD_GENERATOR,
    MODELS,
    PROFILE,
    REPORT,
    REPOSITORY,
    SEARCH,
    SERVER,
    Option,
)
from model_analyzer.domain.settings import (
    FORMAT_NAMES,
    LaunchMode,
    ModelType,
    OnMismatch,
    OutputFormat,
    ProgressMode,
    Protocol,
    SearchMode,
    ServerRestart,
)

# A larger number does not fit into a model configuration, nor into what a client is told.
_LARGEST = 2**31 - 1

OPTIONS: Sequence[Option] = (
    # ---------------------------------------------------------------- general
    Option(
        key="config_file", flags=("-f", "--config-file"), kind=FilePath(), group=GENERAL,
        commands=(PROFILE, REPORT),
        help="YAML file with options; what is given on the command line wins over it.",
    ),
    Option(
        key="collect_cpu_metrics", flags=("--collect-cpu-metrics",), kind=Boolean(),
        default=False, target="monitors.cpu", group=GENERAL,
        help="Measure the RAM that the server and its model processes use.",
    ),
    Option(
        key="gpus", flags=("--gpus",), kind=Gpus(), default=("all",), target="monitors.gpus",
        group=GENERAL,
        help="GPUs to measure on: all, or UUIDs, or indices; [] for none.",
    ),
    Option(
        key="always_report_gpu_metrics", flags=("--always-report-gpu-metrics",), kind=Boolean(),
        default=False, target="monitors.always_gpus", group=GENERAL, commands=(PROFILE, REPORT),
        help="Measure and report GPU metrics of configurations that only use CPUs, too.",
    ),
    Option(
        key="dcgm_disable", flags=("--dcgm-disable",), kind=Boolean(), default=False,
        target="monitors.ignore_gpus", group=GENERAL,
        help="Do not look for GPUs at all; only in launch mode remote.",
    ),
    Option(
        key="duration_seconds", flags=("-d", "--duration-seconds"), kind=Number(0), default=3.0,
        target="monitors.idle_s", group=GENERAL,
        help="Seconds for which GPU metrics of the idle server are collected; 0: not at all.",
    ),
    Option(
        key="model_type", flags=("--model-type",), kind=Choice(ModelType),
        default=ModelType.GENERIC, target="load_generator.model_type", group=GENERAL,
        help="What is served; for an LLM, times and rates of tokens are measured.",
    ),
    Option(
        key="monitoring_interval", flags=("-i", "--monitoring-interval"),
        kind=Number(0, above=True), default=1.0, target="monitors.interval_s", group=GENERAL,
        help="Seconds between two readings of GPU and RAM metrics.",
    ),
    Option(
        key="progress", flags=("--progress",), kind=Choice(ProgressMode),
        default=ProgressMode.AUTO, target="display.progress", group=GENERAL,
        help="What a run shows of itself: a live view, plain lines, JSON lines on standard output"
        " (docs/progress.md), or none. auto: live on a terminal, plain elsewhere and in CI.",
    ),
    # ------------------------------------------------------- model repository
    Option(
        key="model_repository", flags=("-m", "--model-repository"), kind=FilePath(),
        target="repository.path", group=REPOSITORY,
        help="Directory with the models, in Triton's layout.",
    ),
    Option(
        key="output_model_repository_path", flags=("--output-model-repository-path",),
        kind=FilePath(), default=Path("output_model_repository"), target="repository.output",
        group=REPOSITORY,
        help="Directory to create for the variants, a sub-directory each; one that exists must be"
        " of an earlier run.",
    ),
    Option(
        key="override_output_model_repository", flags=("--override-output-model-repository",),
        kind=Boolean(), default=False, target="repository.override_output", group=REPOSITORY,
        help="Replace the output model repository whoever has made it, and all that is in it but"
        " for checkpoints and results.",
    ),
    # -------------------------------------------------------- models and load
    Option(
        key="profile_models", flags=("--profile-models",), kind=Models(), group=MODELS,
        help="The models to profile: their names, in YAML also with options for each.",
    ),
    Option(
        key="batch_sizes", flags=("-b", "--batch-sizes"), kind=Integers(1), default=(1,),
        group=MODELS, help="Batch sizes of the requests that the client sends.",
    ),
    Option(
        key="concurrency", flags=("-c", "--concurrency"), kind=Integers(1), default=(),
        group=MODELS, help="Numbers of requests in flight to measure; searched if not given.",
    ),
    Option(
        key="request_rate", flags=("--request-rate",), kind=Integers(1), default=(),
        group=MODELS, help="Requests per second to measure, instead of concurrencies.",
    ),
    Option(
        key="bls_composing_models", flags=("--bls-composing-models",), kind=Models(), default=(),
        group=MODELS,
        help="Models that the profiled model calls from its own code (BLS), to be searched with"
        " it.",
    ),
    Option(
        key="ensemble_composing_models", flags=("--ensemble-composing-models",), kind=Models(),
        default=(), group=MODELS,
        help="Options for models that a profiled ensemble is made of; their names are known.",
    ),
    Option(
        key="cpu_only_composing_models", flags=("--cpu-only-composing-models",),
        kind=ListOf(Text(), "NAMES"), default=(), group=MODELS,
        help="Models of an ensemble or BLS model to be searched with CPU instances.",
    ),
    Option(
        key="weighting", kind=Number(0, above=True), group=MODELS,
        help="Weight of a model against those profiled together with it; to be given in each"
        " model.",
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
        help="Metrics to improve, with weights: they rank the configurations. Throughput if not"
        " given.",
    ),
    Option(
        key="constraints", kind=Constraints(), default=(), group=GOALS,
        commands=(PROFILE, REPORT),
        help="Bounds on metrics that a recommended configuration must keep.",
    ),
    Option(
        key="latency_budget", flags=("--latency-budget",), kind=Number(0, above=True),
        group=GOALS, help="Highest p99 latency allowed, in ms.",
        commands=(PROFILE, REPORT),
    ),
    Option(
        key="min_throughput", flags=("--min-throughput",), kind=Number(0, above=True),
        group=GOALS, help="Lowest throughput allowed, in inferences per second.",
        commands=(PROFILE, REPORT),
    ),
    # ----------------------------------------------------------------- search
    Option(
        key="run_config_search_mode", flags=("--run-config-search-mode",),
        kind=Choice(SearchMode), target="search.mode", group=SEARCH,
        help="How configurations are searched. If not given: quick for ensembles, BLS models and"
        " models profiled concurrently, brute for others.",
    ),
    Option(
        key="run_config_profile_models_concurrently_enable",
        flags=("--run-config-profile-models-concurrently-enable",), kind=Boolean(),
        default=False, target="search.together", group=SEARCH,
        help="Profile all models at the same time on one server, not one after another.",
    ),
    Option(
        key="run_config_search_disable", flags=("--run-config-search-disable",),
        kind=Boolean(), default=False, target="search.disable", group=SEARCH,
        help="Measure only the configurations and loads that are listed; concurrency 1 if none is.",
    ),
    Option(
        key="early_exit_enable", flags=("--early-exit-enable",), kind=Boolean(), default=False,
        target="search.early_exit", group=SEARCH,
        help="Stop going through listed values, too, once throughput no longer grows.",
    ),
    Option(
        key="run_config_search_min_concurrency", flags=("--run-config-search-min-concurrency",),
        kind=Integer(0, _LARGEST), default=1, target="search.min_concurrency", group=SEARCH,
        help="Lowest concurrency of the search, which goes on by doubling.",
    ),
    Option(
        key="run_config_search_max_concurrency", flags=("--run-config-search-max-concurrency",),
        kind=Integer(1, _LARGEST), default=1024, target="search.max_concurrency", group=SEARCH,
        help="Highest concurrency of the search.",
    ),
    Option(
        key="request_rate_search_enable", flags=("--request-rate-search-enable",),
        kind=Boolean(), default=False, group=SEARCH,
        help="Search the request rate instead of the concurrency.",
    ),
    Option(
        key="run_config_search_min_request_rate",
        flags=("--run-config-search-min-request-rate",), kind=Integer(0, _LARGEST), default=16,
        target="search.min_request_rate", group=SEARCH,
        help="Lowest request rate of the search; giving it searches request rates.",
    ),
    Option(
        key="run_config_search_max_request_rate",
        flags=("--run-config-search-max-request-rate",), kind=Integer(1, _LARGEST), default=8192,
        target="search.max_request_rate", group=SEARCH,
        help="Highest request rate of the search; giving it searches request rates.",
    ),
    Option(
        key="run_config_search_min_instance_count",
        flags=("--run-config-search-min-instance-count",), kind=Integer(0, _LARGEST), default=1,
        target="search.min_instance_count", group=SEARCH,
        help="Fewest instances of a model that are tried.",
    ),
    Option(
        key="run_config_search_max_instance_count",
        flags=("--run-config-search-max-instance-count",), kind=Integer(1, _LARGEST), default=5,
        target="search.max_instance_count", group=SEARCH,
        help="Most instances of a model that are tried.",
    ),
    Option(
        key="run_config_search_min_model_batch_size",
        flags=("--run-config-search-min-model-batch-size",), kind=Integer(0, _LARGEST), default=1,
        target="search.min_model_batch_size", group=SEARCH,
        help="Smallest max_batch_size that is tried; it is doubled from there.",
    ),
    Option(
        key="run_config_search_max_model_batch_size",
        flags=("--run-config-search-max-model-batch-size",), kind=Integer(1, _LARGEST), default=128,
        target="search.max_model_batch_size", group=SEARCH,
        help="Largest max_batch_size that is tried.",
    ),
    Option(
        key="run_config_search_max_binary_search_steps",
        flags=("--run-config-search-max-binary-search-steps",), kind=Integer(0), default=5,
        target="search.max_binary_search_steps", group=SEARCH,
        help="Most steps of the binary search for the highest load that keeps the constraints.",
    ),
    Option(
        key="concurrency_sweep_disable", flags=("--concurrency-sweep-disable",), kind=Boolean(),
        default=False, target="search.sweep_disable", group=SEARCH,
        help="Leave out the sweep over loads of the best configurations, behind quick and optuna.",
    ),
    Option(
        key="min_percentage_of_search_space", flags=("--min-percentage-of-search-space",),
        kind=Integer(0, 100), default=5, target="search.optuna.min_percentage", group=SEARCH,
        help="Least share of the configurations that optuna tries, in percent.",
    ),
    Option(
        key="max_percentage_of_search_space", flags=("--max-percentage-of-search-space",),
        kind=Integer(1, 100), default=10, target="search.optuna.max_percentage", group=SEARCH,
        help="Largest share of the configurations that optuna tries, in percent.",
    ),
    Option(
        key="optuna_min_trials", flags=("--optuna-min-trials",), kind=Integer(1),
        target="search.optuna.min_trials", group=SEARCH,
        help="Least number of trials of optuna; beside a percentage, the larger number counts.",
    ),
    Option(
        key="optuna_max_trials", flags=("--optuna-max-trials",), kind=Integer(1),
        target="search.optuna.max_trials", group=SEARCH,
        help="Largest number of trials of optuna; beside a percentage, the smaller number counts.",
    ),
    Option(
        key="optuna_early_exit_threshold", flags=("--optuna-early-exit-threshold",),
        kind=Integer(1), default=10, target="search.optuna.early_exit_threshold", group=SEARCH,
        help="Trials without a new best after which optuna stops.",
    ),
    Option(
        key="use_concurrency_formula", flags=("--use-concurrency-formula",), kind=Boolean(),
        default=False, target="search.optuna.use_concurrency_formula", group=SEARCH,
        help="Optuna does not search the concurrency, but takes 2 x instances x max_batch_size.",
    ),
    Option(
        key="budget", flags=("--budget",), kind=Duration(),
        target="search.adaptive.budget_s", group=SEARCH,
        help="Time that adaptive may spend measuring each model; it stops earlier where nothing is"
        " left to gain.",
    ),
    Option(
        key="max_trials", flags=("--max-trials",), kind=Integer(1),
        target="search.adaptive.max_trials", group=SEARCH,
        help="Most measurements that adaptive takes of each model. If not given, a few percent of"
        " the configurations.",
    ),
    # ---------------------------------------------------------- triton server
    Option(
        key="triton_launch_mode", flags=("--triton-launch-mode",), kind=Choice(LaunchMode),
        default=LaunchMode.LOCAL, target="server.launch", group=SERVER,
        help="The server: started here (local), in a container (docker), by somebody else"
        " (remote), or as a library in perf_analyzer (c_api).",
    ),
    Option(
        key="triton_server_path", flags=("--triton-server-path",), kind=Text(),
        target="server.path", group=SERVER,
        help="The tritonserver to start: a path, or a name on the PATH.",
    ),
    Option(
        key="triton_install_path", flags=("--triton-install-path",), kind=FilePath(),
        target="server.install_path", group=SERVER,
        help="Where Triton's library is, for mode c_api; /opt/tritonserver or the installed"
        " runtime if not given.",
    ),
    Option(
        key="reload_model_disable", flags=("--reload-model-disable",), kind=Boolean(),
        default=False, target="server.reload_disable", group=SERVER,
        help="Measure what a remote server has loaded; nothing is loaded or unloaded.",
    ),
    Option(
        key="client_protocol", flags=("--client-protocol",), kind=Choice(Protocol),
        default=Protocol.GRPC, target="server.protocol", group=SERVER,
        help="Protocol of the requests to the server.",
    ),
    Option(
        key="triton_http_endpoint", flags=("--triton-http-endpoint",), kind=Endpoint(),
        target="server.http_endpoint", group=SERVER,
        help="Where the server listens for HTTP. If not given: on a free port, a remote one on"
        " 8000.",
    ),
    Option(
        key="triton_grpc_endpoint", flags=("--triton-grpc-endpoint",), kind=Endpoint(),
        target="server.grpc_endpoint", group=SERVER,
        help="Where the server listens for gRPC. If not given: on a free port, a remote one on"
        " 8001.",
    ),
    Option(
        key="triton_metrics_url", flags=("--triton-metrics-url",), kind=Endpoint(url=True),
        target="server.metrics_url", group=SERVER,
        help="Where the server shows its metrics. If not given: on a free port, a remote one on"
        " 8002.",
    ),
    Option(
        key="triton_output_path", flags=("--triton-output-path",), kind=FilePath(),
        target="server.log", group=SERVER, help="File for the server's log; it is overwritten.",
    ),
    Option(
        key="client_max_retries", flags=("-r", "--client-max-retries"), kind=Integer(1),
        default=50, target="server.ready_timeout_s", group=SERVER,
        help="How often, a second apart, the server is asked whether it is ready.",
    ),
    Option(
        key="model_load_timeout", flags=("--model-load-timeout",), kind=Integer(1), default=600,
        target="server.load_timeout_s", group=SERVER,
        help="Seconds to wait for a model to load.",
    ),
    Option(
        key="server_restart", flags=("--server-restart",), kind=Choice(ServerRestart),
        default=ServerRestart.AUTO, target="server.restart", group=SERVER,
        help="Start the server anew for each variant, never, or (auto) where measuring needs it.",
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
        help="Variables of triton_server_environment whose values may be stored and shown; those"
        " of other variables are masked, unless they are known to be harmless"
        " (docs/checkpoints.md).",
    ),
    Option(
        key="triton_docker_image", flags=("--triton-docker-image",), kind=Text(),
        default="nvcr.io/nvidia/tritonserver:26.09-py3", target="docker.image", group=SERVER,
        help="Image for launch mode docker, pulled if it is missing.",
    ),
    Option(
        key="triton_docker_mounts", flags=("--triton-docker-mounts",),
        kind=ListOf(Mount(), "MOUNTS"), default=(), target="docker.mounts", group=SERVER,
        help="Directories to mount into the container; MODE is ro or rw.",
    ),
    Option(
        key="triton_docker_shm_size", flags=("--triton-docker-shm-size",), kind=Text(),
        target="docker.shm_size", group=SERVER,
        help="Size of the container's shared memory, such as 1G.",
    ),
    Option(
        key="triton_docker_labels", kind=Environment(), default={}, target="docker.labels",
        group=SERVER, help="Labels for the container.",
    ),
    Option(
        key="triton_docker_args", kind=DOCKER_ARGUMENTS, default={}, group=SERVER,
        help="Further arguments for the container, as the Docker SDK for Python names them.",
    ),
    # ---------------------------------------------------------- perf_analyzer
    Option(
        key="perf_analyzer_path", flags=("--perf-analyzer-path",), kind=Text(),
        target="load_generator.path", group=LOAD_GENERATOR,
        help="The perf_analyzer to run: a path, or a name on the PATH.",
    ),
    Option(
        key="perf_analyzer_timeout", flags=("--perf-analyzer-timeout",), kind=Integer(1),
        default=600, target="load_generator.timeout_s", group=LOAD_GENERATOR,
        help="Seconds after which a run of perf_analyzer is stopped.",
    ),
    Option(
        key="perf_analyzer_max_auto_adjusts", flags=("--perf-analyzer-max-auto-adjusts",),
        kind=Integer(1), default=10, target="load_generator.max_launches", group=LOAD_GENERATOR,
        help="Most runs of perf_analyzer for one trial, with larger and larger windows.",
    ),
    Option(
        key="perf_analyzer_cpu_util", flags=("--perf-analyzer-cpu-util",),
        kind=Number(0, above=True), target="load_generator.most_cpu_percent",
        group=LOAD_GENERATOR,
        help="CPU percent (100 is one core) above which perf_analyzer is stopped. If not given: 80"
        " for each core.",
    ),
    Option(
        key="perf_output", flags=("--perf-output",), kind=Boolean(), default=False,
        target="load_generator.keep_output", group=LOAD_GENERATOR,
        help="Show what perf_analyzer prints.",
    ),
    Option(
        key="perf_output_path", flags=("--perf-output-path",), kind=FilePath(),
        target="load_generator.output", group=LOAD_GENERATOR,
        help="File that gets what perf_analyzer prints, with --perf-output.",
    ),
    # ------------------------------------------------------------ checkpoints
    Option(
        key="checkpoint_directory", flags=("-s", "--checkpoint-directory"), kind=FilePath(),
        default=Path("checkpoints"), target="checkpoint.directory", group=CHECKPOINTS,
        commands=(PROFILE, REPORT),
        help="Directory where measurements are kept, to go on from and to report.",
    ),
    Option(
        key="checkpoint_prefix", flags=("--checkpoint-prefix",),
        kind=FilePrefix(taken=("journal", "lock")), default="",
        target="checkpoint.prefix", group=CHECKPOINTS, commands=(PROFILE, REPORT),
        help="Name for the checkpoints of one of several runs in a directory: NAME-0.ckpt.",
    ),
    Option(
        key="checkpoint_load_directory", flags=("--checkpoint-load-directory",), kind=FilePath(),
        target="checkpoint.load_directory", group=CHECKPOINTS,
        help="Directory to go on from; what is measured is kept in the checkpoint directory.",
    ),
    Option(
        key="checkpoint_load_file", flags=("--checkpoint-load-file",), kind=FilePath(),
        target="checkpoint.load_file", group=CHECKPOINTS, commands=(PROFILE, REPORT),
        help="Checkpoint file to go on from, instead of the newest.",
    ),
    Option(
        key="resume_from", flags=("--resume-from",), kind=Text(),
        target="checkpoint.resume_from", group=CHECKPOINTS,
        help="Checkpoint to go on from instead of the newest: its number, uuid or path.",
    ),
    Option(
        key="checkpoint_every", flags=("--checkpoint-every",), kind=Integer(minimum=1),
        target="checkpoint.every", group=CHECKPOINTS,
        help="Write a numbered checkpoint after so many measurements, besides the usual ones.",
    ),
    Option(
        key="fresh", flags=("--fresh",), kind=Boolean(), default=False,
        target="checkpoint.fresh", group=CHECKPOINTS,
        help="Remove the checkpoints of earlier runs in the directory, and start anew.",
    ),
    Option(
        key="yes", flags=("--yes",), kind=Boolean(), default=False,
        target="checkpoint.assume_yes", group=CHECKPOINTS,
        help="Do not ask before --fresh removes anything.",
    ),
    Option(
        key="no_checkpoint", flags=("--no-checkpoint",), kind=Boolean(), default=False,
        target="checkpoint.disabled", group=CHECKPOINTS,
        help="Read no checkpoint and keep none.",
    ),
    Option(
        key="on_mismatch", flags=("--on-mismatch",), kind=Choice(OnMismatch),
        default=OnMismatch.ASK, target="checkpoint.on_mismatch", group=CHECKPOINTS,
        help="With a checkpoint of another machine: ask (an error without a terminal), use it,"
        " start afresh beside it, or stop with an error.",
    ),
    Option(
        key="checkpoint_storage", flags=("--checkpoint-storage",), kind=Url(),
        target="checkpoint.storage", group=CHECKPOINTS,
        help="Folder to which each numbered checkpoint is copied, e.g. s3://bucket/folder.",
    ),
    Option(
        key="retry_failed", flags=("--retry-failed",), kind=Boolean(), default=False,
        target="checkpoint.retry_failed", group=CHECKPOINTS,
        help="Measure again what failed in an earlier run.",
    ),
    # ---------------------------------------------------- results and reports
    Option(
        key="export_path", flags=("-e", "--export-path"), kind=FilePath(), default=Path(),
        target="export.path", group=EXPORT, commands=(PROFILE, REPORT),
        help="Directory for tables, reports, plots and the configurations to deploy.",
    ),
    Option(
        key="num_configs_per_model", flags=("--num-configs-per-model",), kind=Integer(1),
        default=3, target="export.best", group=EXPORT,
        help="How many of the best configurations of each model are refined and reported.",
    ),
    Option(
        key="filename_model_inference", flags=("--filename-model-inference",), kind=Text(),
        default="metrics-model-inference.csv", target="export.inference_file", group=EXPORT,
        help="Name of the CSV file with the measurements.",
    ),
    Option(
        key="num_top_model_configs", flags=("--num-top-model-configs",), kind=Integer(0),
        default=0, target="export.best_of_all", group=EXPORT,
        help="How many of the best configurations across all models get a summary; 0: none.",
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
        help="Write neither CSV files nor reports.",
    ),
    Option(
        key="skip_detailed_reports", flags=("--skip-detailed-reports",), kind=Boolean(),
        default=False, target="export.skip_detailed", group=EXPORT,
        help="Write no detailed reports.",
    ),
    Option(
        key="circumstances", flags=("--circumstances",), kind=Integer(1), default=None,
        target="export.circumstances", group=EXPORT, commands=(ANALYZE, REPORT),
        help="Rank what was measured under these circumstances: a number that `checkpoint show`"
        " lists. Default: those of the configuration file, else those with most measurements.",
    ),
    Option(
        key="fail_on_miss", flags=("--fail-on-miss",), kind=Boolean(), default=False,
        target="export.fail_on_miss", group=EXPORT,
        help="End with status 1 where no configuration of a model keeps the constraints.",
    ),
    Option(
        key="report_model_configs", flags=("-n", "--report-model-configs"),
        kind=ReportedVariants(), group=EXPORT, commands=(REPORT,),
        help="The variants to report, such as add_sub_config_2.",
    ),
    Option(
        key="output_formats", flags=("-o", "--output-formats"),
        kind=ListOf(Choice(OutputFormat, FORMAT_NAMES), "FORMATS"),
        default=(OutputFormat.HTML, OutputFormat.JSON, OutputFormat.CSV, OutputFormat.PNG),
        defaults={REPORT: (OutputFormat.HTML, OutputFormat.PNG)},
        target="export.formats", group=EXPORT, commands=(PROFILE, REPORT),
        help="What is written: html (always), pdf, md, json, csv, parquet, png, svg.",
    ),
)  # fmt: skip


def options_of(command: str) -> Sequence[Option]:
    """The options of one command, in table order.

    `analyze` and `doctor` have those of `profile`, `best` has those of `report`, a file all.
    """
    if command == FILE:
        return OPTIONS
    name = {ANALYZE: PROFILE, DOCTOR: PROFILE, BEST: REPORT}.get(command, command)
    return [
        replace(option, default=option.defaults.get(name, option.default))
        for option in OPTIONS
        if name in option.commands or command in option.commands
    ]
