# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q16: every way to come to a server, and every way to name GPUs.

Here the launch modes docker and c_api are Linux processes of the same machine or of its engine,
and `--gpus` chooses among what CUDA_VISIBLE_DEVICES leaves.
"""

import socket
from contextlib import ExitStack
from typing import Any

import pytest

LISTED = {
    "run_config_search_disable": True,
    "batch_sizes": [4],
    "concurrency": [4],
    "triton_output_path": "server.log",
}
PROTOCOLS = pytest.mark.parametrize("protocol", ["http", "grpc"])


def profile(scenario, *arguments: str, status: int = 0, **options: Any) -> str:
    model = {"add_sub": {"cpu_only": scenario.cpu_only}}
    run = scenario.profile(*arguments, **{**LISTED, "profile_models": model, **options})
    assert run.status == status, run.output
    if status == 0:
        assert scenario.tables == scenario.expected(1)
        assert float(scenario.rows()[0][7]) > 0
    return run.output


def ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for listener in sockets:
            listener.bind(("127.0.0.1", 0))
        return [listener.getsockname()[1] for listener in sockets]


@PROTOCOLS
def test_a_server_of_our_own_on_the_ports_that_are_named(scenario, protocol: str) -> None:
    http, grpc, metrics = ports(3)

    profile(
        scenario, "--client-protocol", protocol,
        "--triton-http-endpoint", f"localhost:{http}",
        "--triton-grpc-endpoint", f"localhost:{grpc}",
        "--triton-metrics-url", f"http://localhost:{metrics}/metrics",
    )  # fmt: skip

    log = (scenario.directory / "server.log").read_text()
    for port in (http, grpc, metrics):
        assert f":{port}" in log


@pytest.mark.slow
@PROTOCOLS
def test_in_a_container(scenario, docker_image: str, protocol: str) -> None:
    profile(
        scenario, "--client-protocol", protocol, "--triton-launch-mode", "docker",
        "--triton-docker-image", docker_image,
    )  # fmt: skip

    assert (scenario.directory / "server.log").stat().st_size > 0


@pytest.mark.slow
@PROTOCOLS
def test_a_server_inside_perf_analyzer(scenario, protocol: str) -> None:
    """Its GPUs are perf_analyzer's business."""
    run = scenario.profile(
        "--client-protocol", protocol, "--triton-launch-mode", "c_api",
        **LISTED, profile_models=["add_sub"],
    )  # fmt: skip

    assert run.status == 0, run.output
    assert len(scenario.rows()) == 1


@pytest.mark.slow
@PROTOCOLS
@pytest.mark.parametrize(
    ("mode", "arguments", "status"),
    [
        ("explicit", [], 0),
        (None, ["--reload-model-disable"], 0),
        ("explicit", ["--reload-model-disable"], 1),
    ],
    ids=["explicit", "loaded", "not loaded"],
)
def test_a_remote_server(scenario, remote, protocol: str, mode, arguments, status: int) -> None:
    server = remote(mode)

    profile(scenario, *arguments, status=status, **server.reached(protocol))


def test_no_gpu_at_all(scenario) -> None:
    run = scenario.profile("--gpus", "[]", **{**LISTED, "batch_sizes": [1]}, profile_models=["add"])

    assert run.status == 0, run.output
    assert "No GPUs requested" in run.output
    assert "Using GPU" not in run.output
    assert scenario.tables == {"Models (Inference)": (1, 9)}


@pytest.mark.slow
@pytest.mark.parametrize("chosen", [[0], [1, 2], [3], [0, 1, 2]])
@pytest.mark.parametrize("way", ["index", "uuid", "CUDA_VISIBLE_DEVICES"])
def test_chosen_gpus(scenario, monkeypatch, way: str, chosen: list[int]) -> None:
    uuids = scenario.gpu_uuids
    if max(chosen) >= len(uuids):
        pytest.skip(f"{len(uuids) or 'no'} GPUs")
    wanted = [uuids[index] for index in chosen]
    indices = ",".join(map(str, chosen))
    if way == "CUDA_VISIBLE_DEVICES":
        monkeypatch.setenv(way, indices)
        arguments = []
    else:
        arguments = ["--gpus", indices if way == "index" else ",".join(wanted)]

    run = scenario.profile(*arguments, **LISTED, profile_models=["add_sub"])

    assert run.status == 0, run.output
    _, _, after = run.output.partition("Initializing GPUDevice handles")
    visible = [line.rpartition(" ")[2] for line in after.splitlines() if "Using GPU" in line]
    assert visible == wanted
