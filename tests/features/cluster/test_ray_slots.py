# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Without Ray or without a cluster, one line says what to do, and soon."""

from __future__ import annotations

import signal
import socket
import sys

import pytest

from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster import ray_slots
from model_analyzer.features.cluster.ray_slots import connected


def refusal(address: str) -> str:
    with pytest.raises(ClusterError) as raised, connected(address):
        pass
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)

    told = refusal("auto")

    assert told.startswith("executor ray needs Ray: ")
    assert told.endswith(" (pip install 'ray>=2.50', or --executor local)")


class Unconnected:
    """Ray where there is no cluster: it has replaced a signal handler by then."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def init(self, **_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise self._error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            ConnectionError("Could not find any running Ray instance."),
            "no Ray cluster at auto: start one with ray start --head, or check --ray-address",
        ),
        (
            RuntimeError("Version mismatch: The cluster has:\n    Ray: 2.59\n    Python: 3.11.6"),
            "auto: Version mismatch: The cluster has: Ray: 2.59 Python: 3.11.6; use equal versions"
            " of Ray and Python on all machines",
        ),
        (ValueError("Invalid address format: x"), "auto: Invalid address format: x"),
    ],
)
def test_no_connection_is_one_line_and_our_signal_handlers_stay(
    monkeypatch: pytest.MonkeyPatch, error: Exception, message: str
) -> None:
    monkeypatch.setitem(sys.modules, "ray", Unconnected(error))
    before = signal.getsignal(signal.SIGTERM)

    assert refusal("auto") == message
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
def test_an_address_without_a_cluster_is_noticed_at_once(monkeypatch, host: str) -> None:
    monkeypatch.setitem(sys.modules, "ray", Unconnected(AssertionError("it would try for minutes")))
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        address = f"{host}:{unused.getsockname()[1]}"

    assert refusal(address) == (
        f"no Ray cluster at {address}: start one with ray start --head, or check --ray-address"
    )


def test_the_ray_client_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", Unconnected(AssertionError("it is not asked")))

    assert refusal("ray://head:10001") == (
        "ray://head:10001: a driver must run inside the cluster: start it on a node, or submit it"
        " with ray job submit"
    )


def test_a_port_that_another_program_has_is_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", Unconnected(AssertionError("Ray would wait minutes")))
    monkeypatch.setattr(ray_slots, "_CONNECT_S", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"127.0.0.1:{silent.getsockname()[1]}"

        assert refusal(address).startswith(f"no Ray cluster at {address}: ")
