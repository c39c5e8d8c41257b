# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Several remote servers: lists of addresses, one for each; options of slots: on this machine by
default, and from a file, a flag or a variable.
"""

from __future__ import annotations

import pytest

from model_analyzer.domain.settings import ExecutorKind, ExecutorSettings
from model_analyzer.runner.server.endpoints import each_server, remote_endpoints
from tests.unit.builders import profile_problems, settings

REMOTE = "triton_launch_mode: remote\n"


def test_one_address_is_one_server() -> None:
    server = settings(REMOTE + "triton_grpc_endpoint: a:1").server
    assert server.grpc_endpoints == ("a:1",)
    assert server.count == 1
    assert each_server(server) == (server,)


@pytest.mark.parametrize("written", ["[a:1, b:2]", "a:1,b:2", '"a:1, b:2"'])
def test_a_list_is_a_server_for_each_address(written: str) -> None:
    server = settings(REMOTE + f"triton_grpc_endpoint: {written}").server
    assert server.grpc_endpoints == ("a:1", "b:2")
    assert server.count == 2


def test_addresses_that_are_not_given_are_on_the_same_host() -> None:
    server = settings(REMOTE + "triton_grpc_endpoint: [a:1, b:2]").server
    first, second = map(remote_endpoints, each_server(server))
    assert [str(address) for address in first.addresses] == ["a:8000", "a:1", "a:8002"]
    assert [str(address) for address in second.addresses] == ["b:8000", "b:2", "b:8002"]
    assert second.metrics_url == "http://b:8002/metrics"


def test_each_server_has_the_addresses_at_its_place_in_the_lists() -> None:
    server = settings(
        REMOTE + "triton_grpc_endpoint: [a:1, a:2]\n"
        "triton_http_endpoint: [a:3, a:4]\n"
        "triton_metrics_url: ['http://a:5/metrics', 'http://a:6/metrics']"
    ).server
    _, second = each_server(server)
    assert second.grpc_endpoints == ("a:2",)
    assert second.http_endpoints == ("a:4",)
    assert second.metrics_urls == ("http://a:6/metrics",)


def test_lists_have_the_same_length() -> None:
    (problem,) = profile_problems(
        REMOTE + "triton_grpc_endpoint: [a:1, b:1]\ntriton_metrics_url: http://a:2/metrics"
    )
    assert problem.startswith("f.yaml:3:21: ")
    assert "triton_metrics_url has 1 value, but triton_grpc_endpoint has 2" in problem


def test_a_server_is_not_given_twice() -> None:
    (problem,) = profile_problems(REMOTE + "triton_grpc_endpoint: [a:1, 'grpc://a:1']")
    assert problem.startswith("f.yaml:2:23: triton_grpc_endpoint has a:1 twice")


@pytest.mark.parametrize("mode", ["local", "docker", "c_api"])
def test_only_remote_servers_may_be_several(mode: str) -> None:
    (problem,) = profile_problems(
        f"triton_launch_mode: {mode}\ntriton_grpc_endpoint: [localhost:1, localhost:2]"
    )
    assert problem.startswith("f.yaml:2:23: ")
    assert "a list in triton_grpc_endpoint needs triton_launch_mode: remote" in problem


def test_a_wrong_address_in_a_list_has_its_place() -> None:
    (problem,) = profile_problems(REMOTE + "triton_grpc_endpoint: [a:1, b]")
    assert problem.startswith("f.yaml:2:29: expected HOST:PORT")


FILE = """
executor: ray
ray_address: head:6379
slots: 8
slot_gpus: 2
slot_cpus: 16
slot_label: [ray.io/accelerator-type=H100, rack=3]
slots_per_host: 2
"""


def test_trials_are_measured_on_this_machine_by_default() -> None:
    assert settings("").executor == ExecutorSettings(
        kind=ExecutorKind.LOCAL,
        address="auto",
        slots=None,
        gpus=None,
        cpus=None,
        labels=(),
        per_host=1,
    )


def test_slots_of_a_cluster() -> None:
    assert settings(FILE).executor == ExecutorSettings(
        kind=ExecutorKind.RAY,
        address="head:6379",
        slots=8,
        gpus=2,
        cpus=16,
        labels=("ray.io/accelerator-type=H100", "rack=3"),
        per_host=2,
    )


def test_words_for_all_that_there_is() -> None:
    executor = settings("slots: auto\nslot_cpus: all").executor
    assert (executor.slots, executor.cpus) == (None, None)


@pytest.mark.parametrize(
    "written",
    ["executor: dask", "slots: 0", "slot_gpus: 0.5", "slot_cpus: auto", "slot_label: H100"],
)
def test_values_that_make_no_sense_are_named_with_their_place(written: str) -> None:
    (problem,) = profile_problems(written)
    assert problem.startswith("f.yaml:1:")
