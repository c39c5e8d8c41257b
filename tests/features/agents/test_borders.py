# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""What an agent may name, and what it may not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from model_analyzer.config.model_options import MODEL_OPTIONS
from model_analyzer.config.options import OPTIONS
from model_analyzer.errors import ConfigError
from model_analyzer.features.agents.borders import DEFAULT_PLACES, Borders, with_keys, written

# All that is allowed: a new option belongs here only if somebody has decided that it is harmless.
ALLOWED = {
    "collect_cpu_metrics", "gpus", "always_report_gpu_metrics", "dcgm_disable",
    "duration_seconds", "model_type", "monitoring_interval", "progress", "model_repository",
    "output_model_repository_path", "profile_models", "batch_sizes", "concurrency",
    "request_rate", "load", "generators", "bls_composing_models", "ensemble_composing_models",
    "cpu_only_composing_models", "weighting", "perf_analyzer_flags", "objectives",
    "constraints", "latency_budget", "min_throughput", "prices", "search",
    "run_config_search_mode", "run_config_profile_models_concurrently_enable",
    "run_config_search_disable", "early_exit_enable", "run_config_search_min_concurrency",
    "run_config_search_max_concurrency", "request_rate_search_enable",
    "run_config_search_min_request_rate", "run_config_search_max_request_rate",
    "run_config_search_min_instance_count", "run_config_search_max_instance_count",
    "run_config_search_min_model_batch_size", "run_config_search_max_model_batch_size",
    "run_config_search_max_binary_search_steps", "concurrency_sweep_disable",
    "min_percentage_of_search_space", "max_percentage_of_search_space", "optuna_min_trials",
    "optuna_max_trials", "optuna_early_exit_threshold", "use_concurrency_formula", "budget",
    "budget_counts_earlier_runs", "stop_when_sure", "max_measurements", "max_trials",
    "client_protocol", "client_max_retries", "model_load_timeout", "server_restart",
    "measurement", "response_cache", "perf_analyzer_timeout", "perf_analyzer_max_auto_adjusts",
    "perf_analyzer_cpu_util", "endurance", "checkpoint_directory", "checkpoint_prefix",
    "checkpoint_every", "on_mismatch", "retry_failed", "export_path", "num_configs_per_model",
    "num_top_model_configs", "skip_summary_reports", "skip_detailed_reports", "outputs",
    "conditions", "circumstances", "fail_on_miss", "output_formats",
}  # fmt: skip


@pytest.fixture
def borders(tmp_path: Path) -> Borders:
    for name in ("root", "other", "outside"):
        (tmp_path / name).mkdir()
    (tmp_path / "root" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "root" / "inside").symlink_to(tmp_path / "other")
    return Borders.of([tmp_path / "root", tmp_path / "other"])


def is_refused(borders: Borders, config: dict[str, Any]) -> bool:
    try:
        borders.config(config)
    except ConfigError as error:
        return "an agent may not set this" in str(error)
    return False


def test_an_option_is_refused_unless_it_is_harmless(borders: Borders) -> None:
    keys = [option.key for option in OPTIONS]
    allowed = {key for key in keys if not is_refused(borders, {key: "1"})}
    assert allowed == ALLOWED | {"override_output_model_repository"}
    assert not borders.config({"override_output_model_repository": True}).keys() - {*DEFAULT_PLACES}
    own = {each.key for each in MODEL_OPTIONS}
    in_model = {key for key in own if is_refused(borders, {"profile_models": [{"m": {key: "1"}}]})}
    assert own - in_model == {"cpu_only", "model_config_parameters", "parameters"} | ALLOWED & own


@pytest.mark.parametrize(
    ("path", "real"),
    [("a/b", "root/a/b"), ("a/../c", "root/c"), ("inside/x", "other/x"), ("../other", "other")],
)
def test_a_path_in_a_root_becomes_real(
    borders: Borders, tmp_path: Path, path: str, real: str
) -> None:
    assert borders.path(path, "x") == str(tmp_path / real)
    assert borders.path(str(tmp_path / real), "x") == str(tmp_path / real)


@pytest.mark.parametrize(
    "path", ["..", "link", "link/x", "/etc/passwd", "s3://x/y", "file:///etc", "", "a\0b", 3, None]
)
def test_a_path_outside_is_refused(borders: Borders, path: Any) -> None:
    with pytest.raises(ConfigError, match="x: "):
        borders.path(path, "x")


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        ({"model_repository": "link"}, "model_repository: .*outside is outside of"),
        ({"checkpoint_directory": "../x"}, "checkpoint_directory: "),
        ({"prices": "/etc/passwd"}, "prices: "),
        ({"load": {"replay": "../log.csv"}}, "load.replay: "),
        ({"profile_models": {"m": {"load": {"replay": "/a"}}}}, "profile_models.m.load.replay: "),
        ({"perf_analyzer_flags": {"input-data": ["zero", "/a"]}}, "perf_analyzer_flags.input-data"),
        ({"perf_analyzer_flags": {"url": "a:1"}}, "perf_analyzer_flags.url: an agent may not"),
        (
            {"profile_models": [{"m": {"model_config_parameters": {"parameters": {}}}}]},
            "profile_models.m.model_config_parameters.parameters: an agent may not set this",
        ),
        ({"concurency": 1}, "concurency: there is no such option did you mean 'concurrency'?"),
        ([], "config: expected a mapping"),
        ("missing.yaml", "missing.yaml"),
        ("link/x.yaml", "config: .* is outside of"),
        ({"profile_models": ["x" * 300_000]}, "larger than 256 KiB"),
    ],
)
def test_what_is_refused_is_named(borders: Borders, config: Any, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        written(borders.config(config))


def test_a_file_is_like_a_mapping(borders: Borders, tmp_path: Path) -> None:
    (tmp_path / "root" / "a.yaml").write_text(
        "model_repository: models\nprofile_models: [m: {parameters: {concurrency: [1, 2]}}]\n"
        "perf_analyzer_flags: {input-data: data.json}\n"
    )

    config = borders.config("a.yaml")

    root = str(tmp_path / "root")
    assert config == {
        "checkpoint_directory": f"{root}/checkpoints",
        "export_path": root,
        "output_model_repository_path": f"{root}/output_model_repository",
        "model_repository": f"{root}/models",
        "profile_models": [{"m": {"parameters": {"concurrency": [1, 2]}}}],
        "perf_analyzer_flags": {"input-data": [f"{root}/data.json"]},
    }


def test_messages_name_keys_instead_of_lines() -> None:
    config = written({"a": 1, "profile_models": {"m": {"concurrency": [1, 0], "x": 2}}})

    assert with_keys("config.yaml:7:2: wrong", config) == "profile_models.m.concurrency: wrong"
    assert with_keys("config.yaml:9:2: wrong", config) == "profile_models.m.x: wrong"
    assert with_keys("config.yaml:2:2: a; config.yaml:1:1: b", config) == "a: a; config: b"
