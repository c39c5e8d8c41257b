# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""An agent on the real programs: from the check to an answer with intervals, and a client that
leaves.
"""

from __future__ import annotations

from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client


def test_an_agent_measures_and_asks(scene) -> None:
    config = {
        "model_repository": str(scene.models),
        "profile_models": {"add_sub": {"cpu_only": True}},
        "search": "adaptive",
        "run_config_search_max_instance_count": 2,
        "run_config_search_max_model_batch_size": 4,
    }
    server = StdioServerParameters(
        command=scene.program,
        args=["mcp", "--root", str(scene.directory), "--budget", "2m"],
        env=scene.environment,
        cwd=scene.directory,
    )
    asked: dict[str, Any] = {}

    async def talk() -> None:
        async with Client(stdio_client(server)) as client:

            async def call(name: str, **arguments: Any) -> dict[str, Any]:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, result.content
                asked[name] = result.structured_content
                return asked[name]

            assert (await call("doctor", no_models=True))["works"]
            assert (await call("plan", config=config))["subjects"][0]["mode"] == "adaptive"
            await call("start", config=config, duration="12s")
            while not asked.get("status", {}).get("best_so_far"):
                await call("status", wait_s=1)
            for best in asked["status"]["best_so_far"]:
                assert {"perf_throughput_infer_per_s"} <= best["intervals"].keys()
            while asked["status"]["state"] != "ended":
                await call("status", wait_s=60)
            for best in asked["status"]["answers"]:
                assert {"perf_throughput_infer_per_s"} <= best["intervals"].keys()
            for answer in (await call("answer"), await call("what_if", latency_budget=1000)):
                low, high = answer["models"][0]["recommended"]["intervals"][
                    "perf_latency_p99"
                ].values()
                assert 0 < low < high
            (explained,) = (await call("explain"))["hardware"]
            assert explained["metrics"].keys() & explained["intervals"].keys()
            measured = asked["status"]["trials_done"]
            await call("start", config={**config, "retry_failed": True}, duration="60s")
            while (await call("status", wait_s=1))["trials_done"] <= measured:
                pass

    anyio.run(talk)
    assert scene.mark.gone(), "processes were left behind"
    assert (scene.directory / "checkpoints" / "0.ckpt").exists()
