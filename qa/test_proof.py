# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs of recommendations on the real programs."""

from __future__ import annotations

import json
import re
from typing import Any


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
