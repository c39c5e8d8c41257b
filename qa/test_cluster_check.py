# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`cluster check` on a local Ray cluster of two nodes."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from qa.cluster.local_cluster import raylets

pytestmark = pytest.mark.slow


@pytest.fixture
def hanging(cluster: str) -> Iterator[None]:
    """The second node of the cluster hangs."""
    second = raylets(cluster)[1]
    second.send_signal(signal.SIGSTOP)
    yield
    second.send_signal(signal.SIGCONT)


def check(scene, cluster: str, **changes: Any) -> tuple[int, dict[str, Any]]:
    """The exit status and the document. Both nodes are on one host."""
    options = {**scene.config, "ray_address": cluster, "slots_per_host": 2, **changes}
    path = scene.directory / "config.yaml"
    path.write_text(yaml.safe_dump(options))
    status, output = scene.run("cluster", "check", "-f", str(path), "--json")
    assert "Traceback" not in output
    return status, json.loads(output[output.index("{\n") :])


def row(document: dict[str, Any], name: str) -> dict[str, Any]:
    return next(row for row in document["rows"] if row["name"] == name)


def test_equal_nodes_can_run(scene, cluster: str) -> None:
    status, document = check(scene, cluster)

    host = os.uname().nodename
    nodes = [host, f"{host} #2"]
    assert status == 0, document
    assert document["can_start"] is True
    assert [node["node"] for node in document["nodes"]] == nodes
    for name in ("model-analyzer", "Python", "Ray", "perf_analyzer", "model add_sub", "GPUs"):
        [value] = row(document, name)["values"]
        assert value["nodes"] == nodes, name
        assert row(document, name)["level"] == "ok", name
    assert row(document, "clock")["level"] == "ok"
    assert row(document, "OMP_NUM_THREADS")["values"][0]["value"] == "not set"


def test_what_a_run_would_fetch_is_only_looked_at(
    scene, cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = scene.directory / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache))

    status, document = check(
        scene, cluster, model_repository=f"file://{scene.models}", runtime_install=True
    )

    assert status == 0, document
    [files] = row(document, "model repository")["values"]
    assert " files, " in files["value"]
    [server] = row(document, "tritonserver")["values"]
    assert server["value"].endswith("(installed by the run)")
    assert not [*cache.glob("model-analyzer/r*")]


def test_what_prevents_a_run_is_a_problem_of_the_nodes(scene, cluster: str) -> None:
    missing = str(scene.directory / "nowhere")

    status, document = check(
        scene, cluster, slots_per_host=1, profile_models=["add_sub"], model_repository=missing
    )

    assert status == 1
    assert row(document, "model add_sub")["values"][0]["value"] == "missing"
    assert any("nowhere does not exist" in finding["found"] for finding in document["findings"])
    [other] = document["without_slots"]
    assert other["reason"] == "shares its host, which takes 1 (--slots-per-host)"


@pytest.mark.usefixtures("hanging")
def test_a_node_that_hangs_is_named(scene, cluster: str) -> None:
    status, document = check(scene, cluster)

    assert status == 1
    [value] = row(document, "answer")["values"]
    assert value["value"] == "no answer within 10 s"
    assert len(value["nodes"]) == 1
    assert row(document, "Ray")["values"][0]["nodes"]
