# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""`watch` beside a real Triton under load, and beside a real Prometheus that reads it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml

from model_analyzer.runner.runtime import find_perf_analyzer
from qa.conftest import STARTER, Remote
from qa.test_monitoring import PROMETHEUS, prometheus, until


@pytest.fixture
def promised(scene) -> Any:
    """A scene whose checkpoint knows `sim_gpu` at two rates."""
    shutil.copytree(STARTER / "sim_gpu", scene.models / "sim_gpu", dirs_exist_ok=True)
    scene.config.pop("perf_analyzer_flags", None)
    load = {"arrivals": "poisson", "rate": [30, 60]}
    one = {"sim_gpu": {"cpu_only": True, "load": load}}
    status, output = scene.profile("--run-config-search-disable", profile_models=one)
    assert status == 0, output
    return scene


@contextmanager
def busy(scene, server: Remote) -> Iterator[None]:
    """Requests to the server, at a rate that was measured."""
    found = find_perf_analyzer(None, os.environ)
    process = subprocess.Popen(
        [
            str(found.path), "-m", "sim_gpu", "-u", f"127.0.0.1:{server.grpc}", "-i", "grpc",
            "--async", "--request-rate-range", "45", "--request-distribution", "poisson",
            "--measurement-interval", "120000", "--max-trials", "1",
        ],
        env={**scene.mark.environment, **found.environment}, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        # the first requests are under way
        scene.wait_until(
            lambda: (
                server.call("GET", "/v2/models/sim_gpu/stats")["model_stats"][0]["inference_count"]
                > 90
            )
        )
        yield
    finally:
        process.kill()
        process.wait()


def watched(scene, *arguments: str) -> tuple[int, Any]:
    """The exit status, and what is said of the model."""
    status, output = scene.run("watch", "--json", *arguments)
    (model,) = json.loads(output[output.index("{") : output.rindex("}") + 1])["models"]
    return status, model


def test_a_server_is_as_promised_until_its_configuration_changes(promised, remote) -> None:
    server = remote("explicit")
    server.load("sim_gpu")
    metrics = ("--metrics-url", f"http://127.0.0.1:{server.metrics}/metrics", "--for", "8s")
    places = (*metrics, "--server-url", f"127.0.0.1:{server.http}")
    with busy(promised, server):
        status, before = watched(promised, *places, "--write-load", "traffic.yaml")
        config = server.loaded["sim_gpu"]
        config["instance_group"][0]["count"] = 3
        body = {"parameters": {"config": json.dumps(config)}}
        server.call("POST", "/v2/repository/models/sim_gpu/load", body)
        after = watched(promised, *places)

    assert (status, before["verdict"]) == (0, "as promised")
    assert before["replicas"][0]["requests_per_s"]["value"] == pytest.approx(45, rel=0.3)
    assert (after[0], after[1]["verdict"]) == (3, "server differs")
    assert "instance_group.count is 3, measured was 1" in after[1]["sentence"]
    # the traffic that was seen is a load that profile accepts
    text = (promised.directory / "traffic.yaml").read_text()
    given = yaml.safe_load(text)
    given["profile_models"]["sim_gpu"]["cpu_only"] = True
    status, output = promised.profile("--dry-run", profile_models=given["profile_models"])
    assert status == 0, output


@pytest.mark.slow
@pytest.mark.skipif(PROMETHEUS is None, reason="make prometheus installs it")
def test_prometheus_knows_the_same(promised, remote) -> None:
    server = remote("explicit")
    server.load("sim_gpu")
    (promised.directory / "rules.yaml").write_text("groups: []\n")
    with busy(promised, server), prometheus(promised.directory, server.metrics) as port:
        query = "query?query=count_over_time(nv_inference_count[20s])>15"
        until(60, port, query.replace(">", "%3E"))
        url = f"http://127.0.0.1:{port}"
        asked = ("--prometheus", url, "--for", "20s", "--query-labels", "job=triton")
        status, model = watched(promised, *asked, "--replicas", "2")

    assert (status, model["verdict"]) == (3, "replica missing")
    (only,) = model["replicas"]
    assert only["requests_per_s"]["value"] == pytest.approx(45, rel=0.3)
    assert [each["kind"] for each in model["deviations"]] == ["replica missing"]
