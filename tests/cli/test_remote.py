# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`profile` with a server that runs elsewhere, on pretend programs."""

from __future__ import annotations

from typing import Any

import pytest

from model_analyzer.runner.timings import Timings

GPU = 'nv_gpu_memory_total_bytes{gpu_uuid="GPU-aaaa"} 17069309952\n'


@pytest.fixture
def remote(setting, elsewhere):
    """Starts a server with a plan; the options that find it, without any repository."""

    def start(**plan: Any) -> dict[str, Any]:
        there = elsewhere(**{"repository": ["m"], **plan})
        for key in ("model_repository", "triton_server_path"):
            setting.config.pop(key, None)
        return {
            "triton_launch_mode": "remote",
            "triton_http_endpoint": there.http,
            "triton_grpc_endpoint": there.grpc,
            "triton_metrics_url": there.metrics,
        }

    return start


def test_a_remote_server_is_searched_like_one_of_our_own(setting, remote, pretend) -> None:
    status, output = setting.profile(**remote())

    assert status == 0, output
    assert len(setting.rows) == 10
    assert not [call for call in pretend.server_calls if call.startswith("stop")]
    assert pretend.server_calls[-1] == "unload m"


@pytest.mark.parametrize("metrics", ["", GPU], ids=["unknown GPUs", "a GPU in its metrics"])
def test_gpu_instances_are_searched_whatever_this_machine_has(setting, remote, metrics) -> None:
    status, output = setting.profile(
        **remote(metrics=metrics), profile_models=["m"], run_config_search_max_instance_count=1
    )

    assert status == 0, output
    assert "Setting instance_group to [{'count': 1, 'kind': 'KIND_GPU'}]" in output


def test_results_of_another_kind_of_gpu_are_not_used(setting, remote, pretend) -> None:
    once = {"run_config_search_disable": True, "concurrency": [1]}
    setting.profile(**remote(metrics=GPU), **once)
    setting.profile(**remote(metrics=GPU), **once)
    assert len(pretend.launches) == 1

    status, output = setting.profile(**remote(metrics=GPU.replace("aaaa", "bbbb")), **once)
    assert status == 0, output
    same = "GPU devices match checkpoint (others of the same kind: 1 x GPU (17069 MB))"
    assert same in output
    assert len(pretend.launches) == 1

    status, output = setting.profile(**remote(metrics=GPU.replace("1706", "3406")), **once)
    assert status == 1
    assert "GPU devices do not match checkpoint" in output
    assert len(pretend.launches) == 1


@pytest.mark.parametrize("protocol", ["grpc", "http"])
def test_headers_reach_the_server_and_are_shown_and_stored_nowhere(
    setting, remote, pretend, protocol: str
) -> None:
    # a failure, so that there is an error log, too
    setting.config["perf_analyzer_path"] = str(
        pretend.perf_analyzer({}, {"status": 99, "text": "error: no luck today"})
    )

    status, output = setting.profile(
        "-v",
        **remote(header="authorization:Bearer s3cr3t"),
        client_protocol=protocol,
        perf_analyzer_flags={"http-header": ["Authorization: Bearer s3cr3t", "X-Key: t0psecret"]},
        triton_server_environment={"STORAGE": "https://me:s3cr3t@host/"},
        run_config_search_disable=True,
        concurrency=[1, 2],
    )

    assert status == 0, output
    assert "Authorization: Bearer s3cr3t" in pretend.launches[0]
    assert "-H 'Authorization: ******'" in output
    assert (setting.directory / "perf_analyzer_error.log").exists()
    ours = [
        path
        for path in setting.directory.rglob("*")
        if path.is_file() and "programs" not in path.parts and path.name != "config.yaml"
    ]
    assert len(ours) > 5
    for secret in ("s3cr3t", "t0psecret"):
        assert secret not in output
        assert not [path for path in ours if secret.encode() in path.read_bytes()]


def test_a_model_without_a_configuration_is_completed_by_the_remote_server(
    setting, remote, pretend
) -> None:
    (setting.directory / "models" / "m" / "config.pbtxt").unlink()
    repository = setting.config["model_repository"]

    status, output = setting.profile(
        "--run-config-search-disable", **remote(), model_repository=repository
    )

    assert status == 0, output
    changes = [call for call in pretend.server_calls if call.split()[0] in ("load", "unload")]
    # left as it was found, and only then measured
    assert [call.split()[0] for call in changes] == ["load", "unload", "load", "unload"]
    text = (setting.directory / "output_model_repository/m_config_default/config.pbtxt").read_text()
    assert "max_batch_size: 8" in text
    assert "preferred_batch_size" not in text


def test_a_server_elsewhere_is_no_neighbour(setting, remote) -> None:
    """Where it is on this machine, its work would look like that of others."""
    setting.timings = Timings(busy_share=-1.0)

    status, output = setting.profile(**remote())

    assert status == 0, output
    assert "of this machine's CPU time" not in output
