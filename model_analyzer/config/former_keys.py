# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Keys that files have and that are no options: those of earlier versions of Triton Model Analyzer,
and options and flags in the wrong place. For each of them, what to write.

docs/migration.md has the same table for users.
"""

from __future__ import annotations

from collections.abc import Mapping

from model_analyzer.domain.flags import (
    PERF_ANALYZER_FLAGS,
    PERF_ANALYZER_OWNED,
    TRITON_SERVER_FLAGS,
    TRITON_SERVER_OWNED,
)

OF_A_MODEL = "it belongs to a model: write it below profile_models: {MODEL: …}"

FORMER_KEYS: Mapping[str, str] = {
    # up to 1.4 (2021)
    "model_names": "write profile_models",
    "analysis_models": "write profile_models, with its objectives and constraints",
    "export": "remove it: tables are always written, below export_path",
    "summarize": "remove it: a summary is always written, unless you set skip_summary_reports",
    "no_perf_output": "remove it: perf_output is off unless you set it",
    "max_retries": "write client_max_retries",
    "perf_measurement_window": "write perf_analyzer_flags: {measurement-interval: MILLISECONDS}",
    "triton_version": "write triton_docker_image: nvcr.io/nvidia/tritonserver:VERSION",
    "log_level": "remove it, and give the flag --verbose or --quiet",
    "run_config_search_max_preferred_batch_size": "write run_config_search_max_model_batch_size",
    "run_config_search_preferred_batch_size_disable": (
        "remove it: preferred_batch_size is not searched, unless model_config_parameters lists it"
    ),
    "cpu_monitor_disable": (
        "remove it: CPU metrics are not collected unless you set collect_cpu_metrics"
    ),
    "top_n_configs": "write num_configs_per_model",
    "filename_model": "write filename_model_inference",
    "use_local_gpu_monitor": "remove it: GPUs are measured wherever they can be",
    # options in the wrong place
    "verbose": "remove it, and give the flag --verbose",
    "quiet": "remove it, and give the flag --quiet",
    "concurrency": "write parameters: {concurrency: …}",
    "batch_sizes": "write parameters: {batch_sizes: …}",
    "request_rate": "write parameters: {request_rate: …}",
    "max_batch_size": "write model_config_parameters: {max_batch_size: …} below the model",
    "instance_group": "write model_config_parameters: {instance_group: …} below the model",
    "dynamic_batching": "write model_config_parameters: {dynamic_batching: …} below the model",
    "max_concurrency": "write run_config_search_max_concurrency",
    "max_instance_count": "write run_config_search_max_instance_count",
    "search_mode": "write run_config_search_mode",
    "min_trials": "write optuna_min_trials",
    "early_exit_threshold": "write optuna_early_exit_threshold",
    "protocol": "write client_protocol",
    "triton_http_url": "write triton_http_endpoint",
    "triton_grpc_url": "write triton_grpc_endpoint",
    "triton_metrics_endpoint": "write triton_metrics_url",
    "measurement_interval": "write perf_analyzer_flags: {measurement-interval: MILLISECONDS}",
    "parameters": OF_A_MODEL,
    "model_config_parameters": OF_A_MODEL,
    "cpu_only": f"{OF_A_MODEL}; for composing models, write cpu_only_composing_models",
    "models": "write profile_models",
}

# Flags of other programs that resemble options, or that model-analyzer sets.
_NOT_MEANT = {*PERF_ANALYZER_OWNED, *TRITON_SERVER_OWNED, "batch-size", "id"}


def what_to_write(key: str) -> str:
    """What to write in place of a key that is no option, if that is known: a former key, or a flag
    of another program outside its mapping. "" if not.
    """
    flag = key.replace("_", "-")
    if key in FORMER_KEYS or flag in _NOT_MEANT:
        return FORMER_KEYS.get(key, "")
    if flag in PERF_ANALYZER_FLAGS:
        return f"write perf_analyzer_flags: {{{flag}: …}}"
    return f"write triton_server_flags: {{{flag}: …}}" if flag in TRITON_SERVER_FLAGS else ""


_STATISTICS = ("avg", "p50", "p90", "p95", "p99")

# Short and former names of metrics, and the metric that people mean.
FORMER_METRICS: Mapping[str, str] = {
    **{statistic: f"perf_latency_{statistic}" for statistic in _STATISTICS},
    **{f"latency_{statistic}": f"perf_latency_{statistic}" for statistic in _STATISTICS},
    "latency": "perf_latency_p99",
    "throughput": "perf_throughput",
    "gpu_memory": "gpu_used_memory",
    "cpu_free_ram": "cpu_available_ram",  # in the documentation of Triton Model Analyzer
}
