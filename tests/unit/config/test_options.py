# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The option table and the settings fit together, and the defaults are the documented ones;
docs/options.md, reference.md and versions.md are what their tools would write today.

Every option of Triton Model Analyzer 1.58 is here, with its flags and its default.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from dataclasses import fields, is_dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from model_analyzer.config.model_options import MODEL_OPTIONS, PARAMETER_OPTIONS
from model_analyzer.config.options import OPTIONS, options_of
from model_analyzer.config.table import ANALYZE, PROFILE, REPORT, Option, plain
from model_analyzer.domain.settings import (
    AdaptiveSettings,
    OptunaSettings,
    ProfileSettings,
    Protocol,
    ServerRestart,
)
from tests.unit.builders import CWD, settings

# `goal` is made of several options
SECTIONS = {
    **{
        name: section for name, section in get_type_hints(ProfileSettings).items()
        if is_dataclass(section) and name != "goal"
    },
    "search.optuna": OptunaSettings,
    "search.adaptive": AdaptiveSettings,
}  # fmt: skip
# sections of their own, and what follows from which options were given
DERIVED = {
    "search.quick", "search.optuna", "search.adaptive", "search.refined",
    "search.optuna.limit_gives_way", "search.adaptive.since",
}  # fmt: skip
TARGETS = Counter(option.target for option in options_of(ANALYZE) if option.target)


def test_there_are_sections_to_look_at() -> None:
    assert {"repository", "server", "search", "export"} <= set(SECTIONS)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_field_of_a_section_is_set_by_exactly_one_option(section: str) -> None:
    names = {f"{section}.{field.name}" for field in fields(SECTIONS[section])} - DERIVED
    wanted = dict.fromkeys(names, 1)
    counts = {
        target: count for target, count in TARGETS.items() if target.rpartition(".")[0] == section
    }
    assert counts == wanted


@pytest.mark.parametrize("target", TARGETS)
def test_the_target_of_an_option_is_a_field_of_the_settings(target: str) -> None:
    section, _, name = target.rpartition(".")
    assert name in {field.name for field in fields(SECTIONS[section])}


@pytest.mark.parametrize("option", OPTIONS, ids=lambda option: option.key)
def test_an_option_is_written_alike_in_yaml_and_on_the_command_line(option: Option) -> None:
    long = [flag for flag in option.flags if flag.startswith("--")]
    assert long in ([], ["--" + option.key.replace("_", "-")])
    assert all(flag.startswith("--") or len(flag) == 2 for flag in option.flags)


@pytest.mark.parametrize(
    "option", [*OPTIONS, *MODEL_OPTIONS, *PARAMETER_OPTIONS], ids=lambda option: option.key
)
def test_every_option_says_what_it_is_for(option: Option) -> None:
    assert option.help.endswith(".")
    assert option.group


def test_no_two_options_share_a_key_or_a_flag_of_one_command() -> None:
    assert max(Counter(option.key for option in OPTIONS).values()) == 1
    for command in (PROFILE, REPORT):
        flags = Counter(flag for option in options_of(command) for flag in option.flags)
        assert flags, command
        assert max(flags.values()) == 1


@pytest.mark.parametrize(
    ("target", "default"),
    [
        ("repository.output", CWD / "output_model_repository"),
        ("repository.override_output", False),
        ("server.path", None),
        ("server.protocol", Protocol.GRPC),
        ("server.http_endpoints", ()),
        ("server.grpc_endpoints", ()),
        ("server.metrics_urls", ()),
        ("server.log", None),
        ("server.ready_timeout_s", 50),
        ("server.restart", ServerRestart.AUTO),
        ("load_generator.path", None),
        ("load_generator.timeout_s", 600),
        ("load_generator.max_launches", 10),
        ("monitors.cpu", False),
        ("monitors.interval_s", 1.0),
        ("search.disable", False),
        ("search.early_exit", False),
        ("search.min_concurrency", 1),
        ("search.max_concurrency", 1024),
        ("search.min_instance_count", 1),
        ("search.max_instance_count", 5),
        ("search.min_model_batch_size", 1),
        ("search.max_model_batch_size", 128),
        ("search.max_binary_search_steps", 5),
        ("checkpoint.directory", CWD / "checkpoints"),
        ("checkpoint.retry_failed", False),
        ("export.path", CWD),
        ("export.best", 3),
        ("export.inference_file", "metrics-model-inference.csv"),
        (
            "export.inference_fields",
            (
                "model_name", "batch_size", "concurrency", "model_config_path", "instance_group",
                "max_batch_size", "satisfies_constraints", "perf_throughput", "perf_latency_p99",
            ),
        ),
        ("export.skip_summary", False),
        ("export.skip_detailed", False),
    ],
)  # fmt: skip
def test_options_that_are_not_set_have_their_documented_default(target: str, default: Any) -> None:
    section, _, field = target.partition(".")
    assert getattr(getattr(settings(""), section), field) == default


def test_default_paths_are_in_the_current_directory() -> None:
    assert settings("").repository.path == CWD / "models"
    assert settings("model_repository: /elsewhere").repository.path == Path("/elsewhere")


ROOT = Path(__file__).resolve().parents[3]


usage_differs = pytest.mark.skipif(
    version("click").startswith("8.1."), reason="click 8.1 writes the usage of commands otherwise"
)


@pytest.mark.parametrize(
    "name", ["options", "versions", pytest.param("reference", marks=usage_differs)]
)
def test_the_reference_is_fresh(name: str) -> None:
    written = subprocess.run(
        [sys.executable, ROOT / "tools" / f"{name}.py"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    document = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    assert document == written, f"run: python tools/{name}.py > docs/{name}.md"


# key -> (short flag, default); YAML only where the flag is None
ON_BOTH: dict[str, tuple[str, Any]] = {
    "config_file": ("-f", None),
    "checkpoint_directory": ("-s", "checkpoints"),
    "monitoring_interval": ("-i", 1.0),
    "duration_seconds": ("-d", 3.0),
    "collect_cpu_metrics": ("", False),
    "gpus": ("", ["all"]),
    "always_report_gpu_metrics": ("", False),
    "dcgm_disable": ("", False),
    "skip_summary_reports": ("", False),
    "skip_detailed_reports": ("", False),
    "model_type": ("", "generic"),
    "model_repository": ("-m", None),
    "output_model_repository_path": ("", "output_model_repository"),
    "override_output_model_repository": ("", False),
    "client_max_retries": ("-r", 50),
    "client_protocol": ("", "grpc"),
    "profile_models": ("", None),
    "batch_sizes": ("-b", [1]),
    "concurrency": ("-c", []),
    "request_rate": ("", []),
    "reload_model_disable": ("", False),
    "bls_composing_models": ("", []),
    "ensemble_composing_models": ("", []),
    "cpu_only_composing_models": ("", []),
    "perf_analyzer_timeout": ("", 600),
    "perf_analyzer_cpu_util": ("", None),  # 80 for each core: known where it runs
    "perf_analyzer_path": ("", None),  # found
    "perf_output": ("", False),
    "perf_output_path": ("", None),
    "perf_analyzer_max_auto_adjusts": ("", 10),
    "triton_launch_mode": ("", "local"),
    "triton_docker_image": ("", "nvcr.io/nvidia/tritonserver:26.09-py3"),
    "triton_http_endpoint": ("", []),  # a free port
    "triton_grpc_endpoint": ("", []),
    "triton_metrics_url": ("", []),
    "triton_server_path": ("", None),  # found
    "triton_output_path": ("", None),
    "triton_docker_mounts": ("", []),
    "triton_docker_shm_size": ("", None),
    "triton_install_path": ("", None),  # found
    "run_config_search_mode": ("", None),  # as the models need it
    "run_config_search_disable": ("", False),
    "early_exit_enable": ("", False),
    "run_config_search_min_concurrency": ("", 1),
    "run_config_search_max_concurrency": ("", 1024),
    "run_config_search_min_request_rate": ("", 16),
    "run_config_search_max_request_rate": ("", 8192),
    "run_config_search_min_instance_count": ("", 1),
    "run_config_search_max_instance_count": ("", 5),
    "run_config_search_min_model_batch_size": ("", 1),
    "run_config_search_max_model_batch_size": ("", 128),
    "run_config_search_max_binary_search_steps": ("", 5),
    "request_rate_search_enable": ("", False),
    "concurrency_sweep_disable": ("", False),
    "run_config_profile_models_concurrently_enable": ("", False),
    "min_percentage_of_search_space": ("", 5),
    "max_percentage_of_search_space": ("", 10),
    "optuna_min_trials": ("", None),
    "optuna_max_trials": ("", None),
    "optuna_early_exit_threshold": ("", 10),
    "use_concurrency_formula": ("", False),
    "export_path": ("-e", "."),
    "filename_model_inference": ("", "metrics-model-inference.csv"),
    "filename_model_gpu": ("", "metrics-model-gpu.csv"),
    "filename_server_only": ("", "metrics-server-only.csv"),
    "num_configs_per_model": ("", 3),
    "num_top_model_configs": ("", 0),
    "inference_output_fields": ("", None),  # by kind of load
    "gpu_output_fields": ("", None),
    "server_output_fields": (
        "",
        ["model_name", "gpu_uuid", "gpu_used_memory", "gpu_utilization", "gpu_power_usage"],
    ),
    "latency_budget": ("", None),
    "min_throughput": ("", None),
}
IN_YAML = {
    "objectives", "constraints", "weighting", "perf_analyzer_flags", "genai_perf_flags",
    "triton_server_flags", "triton_server_environment", "triton_docker_args",
    "triton_docker_labels", "plots",
}  # fmt: skip
OF_REPORT = {
    "config_file": "-f",
    "checkpoint_directory": "-s",
    "export_path": "-e",
    "report_model_configs": "-n",
    "output_formats": "-o",
    "always_report_gpu_metrics": "",
}
OF_A_MODEL = {
    "cpu_only", "parameters", "objectives", "constraints", "weighting", "model_config_parameters",
    "perf_analyzer_flags", "genai_perf_flags", "triton_server_flags", "triton_server_environment",
    "triton_docker_args",
}  # fmt: skip

OURS = {option.key: option for option in OPTIONS}


@pytest.mark.parametrize("key", ON_BOTH)
def test_an_option_of_profile(key: str) -> None:
    short, default = ON_BOTH[key]
    option = OURS[key]
    long = "--" + key.replace("_", "-")
    assert PROFILE in option.commands
    assert list(option.flags) == ([short, long] if short else [long])
    assert plain(option.default) == default


@pytest.mark.parametrize("key", sorted(IN_YAML))
def test_an_option_of_the_file(key: str) -> None:
    assert OURS[key].flags == ()


@pytest.mark.parametrize("key", OF_REPORT)
def test_an_option_of_report(key: str) -> None:
    option = OURS[key]
    assert REPORT in option.commands
    assert OF_REPORT[key] in ("", *option.flags)
    assert key in {offered.key for offered in options_of(REPORT)}


def test_options_of_a_model() -> None:
    assert {option.key for option in MODEL_OPTIONS} == OF_A_MODEL | {
        "load", "measurement", "latency_budget", "response_cache", "search",
        "run_config_search_mode",
    }  # fmt: skip
    assert {option.key for option in PARAMETER_OPTIONS} == {
        "batch_sizes", "concurrency", "request_rate",
    }  # fmt: skip
