# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs of recommendations on the real programs."""

from __future__ import annotations

import json
import os
import re
import time
from typing import Any

from qa.prepared_models import Served


def test_a_plain_server_with_the_written_files_serves_what_was_recommended(scene: Any) -> None:
    status, output = scene.profile("--verify", run_config_search_disable=True, concurrency=[2])

    document = json.loads((scene.directory / "results" / "results.json").read_text())
    (proof,) = document["models"][0]["proofs"]
    # a busy machine may be slower than it was, or too noisy to tell
    known = [(0, "passed"), (1, "failed"), (0, "unknown")]
    assert (status, proof["verdict"]) in known, output
    assert proof["numbers"]["perf_throughput_verified"] > 0
    assert {"ready_s", "first_request_ms", "memory_mb"} <= set(proof["numbers"])
    assert re.search(
        r"(Proven|Failed|Not checked): .*a plain server with the written files", output
    )
    assert not scene.processes("tritonserver")


def test_a_leak_is_found_by_a_run_that_was_killed_in_between(scene: Any) -> None:
    Served(does={"sleep_ms": 5, "leak_kb": 100}).write(scene.models / "leaky")
    scene.config["profile_models"] = {"leaky": {"cpu_only": True}}
    more = {"run_config_search_disable": True, "concurrency": [2]}
    process = scene.start("--endurance", "36s", **more)
    deadline = time.monotonic() + 300
    while not any(lines_of(path) >= 6 for path in journals(scene)):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.2)
    process.kill()
    process.wait()

    status, output = scene.profile("--endurance", "36s", **more)

    assert status == 1, output
    assert re.search(r"Failed: .*memory of the server and its stubs grows", output)
    assert re.search(r" at this limit, a reload restores it", output)
    (journal,) = journals(scene)
    samples = [json.loads(line)["sample"] for line in journal.read_text().splitlines()]
    assert {sample["run"] for sample in samples} == {0, 1}
    assert 34 < sum(seconds for sample in samples for seconds, _ in sample["ticks"]) < 50
    document = json.loads((scene.directory / "results" / "results.json").read_text())
    (proof,) = document["models"][0]["proofs"]
    assert (proof["kind"], proof["verdict"]) == ("endurance", "failed")
    assert proof["numbers"]["memory_mb_last"] > proof["numbers"]["memory_mb_first"]
    # it is known now: nothing is measured again
    before = os.stat(journal)
    assert scene.profile("--endurance", "36s", **more)[0] == 1
    assert os.stat(journal).st_mtime_ns == before.st_mtime_ns


def journals(scene: Any) -> list[Any]:
    return [*(scene.directory / "checkpoints").glob("endurance-*.jsonl")]


def lines_of(path: Any) -> int:
    return path.read_bytes().count(b"\n")
