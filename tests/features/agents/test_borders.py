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
from model_analyzer.features.agents.borders import Borders, with_keys, written

# All that is refused; a new option that is not harmless by its kind belongs here, too.
REFUSED = {
    "config_file", "override_output_model_repository", "genai_perf_flags",
    "executor", "ray_address", "slots", "slot_gpus", "slot_cpus", "slot_label", "slots_per_host",
    "triton_launch_mode", "triton_server_path", "triton_install_path", "runtime_install",
    "runtime_version", "endpoint", "reload_model_disable", "triton_http_endpoint",
    "triton_grpc_endpoint",
    "triton_metrics_url", "triton_output_path", "triton_server_flags",
    "triton_server_environment", "show_environment", "triton_docker_image",
    "triton_docker_mounts", "triton_docker_shm_size", "triton_docker_labels",
    "triton_docker_args", "perf_analyzer_path", "perf_output_path", "verify",
    "checkpoint_load_directory", "checkpoint_load_file", "resume_from", "fresh", "yes",
    "no_checkpoint", "checkpoint_storage", "filename_model_inference", "filename_model_gpu",
    "filename_server_only", "inference_output_fields", "gpu_output_fields",
    "server_output_fields", "plots", "report_model_configs",
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
    assert {key for key in keys if is_refused(borders, {key: "1"})} == REFUSED
    own = {each.key for each in MODEL_OPTIONS}
    in_model = {key for key in own if is_refused(borders, {"profile_models": [{"m": {key: "1"}}]})}
    assert in_model == REFUSED & own


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
