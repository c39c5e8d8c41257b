# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Alert rules on a real Prometheus that reads a real Triton."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

PROMETHEUS = shutil.which("prometheus")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROMETHEUS is None, reason="make prometheus installs it"),
]


def ask(port: int, path: str) -> Any:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/{path}", timeout=10) as answer:
        return json.load(answer)["data"]


@contextmanager
def prometheus(directory: Path, metrics: int) -> Iterator[int]:
    """The port of a Prometheus that reads a server each second, with the rules of the directory."""
    job = {"job_name": "triton", "static_configs": [{"targets": [f"127.0.0.1:{metrics}"]}]}
    every = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    settings = {"global": every, "rule_files": ["rules.yaml"], "scrape_configs": [job]}
    (directory / "prometheus.yaml").write_text(yaml.safe_dump(settings))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with open(directory / "prometheus.log", "wb") as log:
        process = subprocess.Popen(
            [
                str(PROMETHEUS), "--config.file=prometheus.yaml", "--storage.tsdb.path=data",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            cwd=directory, stdout=log, stderr=log,
        )  # fmt: skip
    try:
        yield port
    finally:
        process.terminate()
        process.wait(30)


def until(deadline_s: float, port: int, path: str) -> Any:
    """What Prometheus answers, once that is not empty."""
    end = time.monotonic() + deadline_s
    while time.monotonic() < end:
        try:
            found = ask(port, path)
        except urllib.error.URLError:
            found = None
        if found and any(found.values()) and found.get("result") != []:
            return found
        time.sleep(0.5)
    raise AssertionError(f"no answer to {path}")


def test_each_rule_asks_for_what_the_server_counts(scene, remote) -> None:
    server = remote("explicit")
    server.load("add_sub")
    one = {"add_sub": {"parameters": {"concurrency": [2]}}}
    reached = server.reached()
    assert scene.profile("--run-config-search-disable", **reached, profile_models=one)[0] == 0
    status, rules = scene.run("best", "--format", "prometheus-rules")
    assert status == 0, rules
    # the explanation goes to standard error, which comes first
    text = rules[rules.index("# add_sub") :]
    (scene.directory / "rules.yaml").write_text(text)
    server.load("add_sub")

    with prometheus(scene.directory, server.metrics) as port:
        until(60, port, f"query?query={urllib.parse.quote('nv_inference_request_success')}")
        # requests while it reads
        scene.profile(
            "--run-config-search-disable", **reached, profile_models=one,
            checkpoint_directory="others", export_path="other_results",
        )  # fmt: skip
        (group,) = until(30, port, "rules")["groups"]
        assert {rule["name"]: rule["health"] for rule in group["rules"]} == {
            f"TritonModel{kind}": "ok" for kind in ("Missing", "Failing", "NearCapacity", "Slow")
        }
        for rule in yaml.safe_load(text)["groups"][0]["rules"]:
            question, _, _ = rule["expr"].partition(" > ")
            if not question.startswith("absent"):
                assert until(30, port, f"query?query={urllib.parse.quote(question)}")["result"]


def test_a_run_is_followed_while_it_measures(scene) -> None:
    (scene.directory / "rules.yaml").write_text("groups: []\n")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        figures = listener.getsockname()[1]

    with prometheus(scene.directory, figures) as port:
        two = {"add_sub": {"parameters": {"concurrency": [1, 2, 4, 8, 16]}}}
        run = scene.start(
            "--run-config-search-disable", f"--prometheus-port={figures}",
            "--otlp=127.0.0.1:9", profile_models=two,
        )  # fmt: skip
        rate = 'model_analyzer_best{metric="perf_throughput_infer_per_s"}'
        (best,) = until(60, port, f"query?query={urllib.parse.quote(rate)}")["result"]
        output, _ = run.communicate(timeout=300)

    assert run.returncode == 0, output
    assert best["metric"]["model"] == "add_sub"
    assert float(best["value"][1]) > 0
    assert output.count("--otlp: 127.0.0.1:9 does not get all figures") == 1
