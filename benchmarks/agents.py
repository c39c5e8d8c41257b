# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares an agent that knows nothing with one adaptive search of the same time.

    python benchmarks/agents.py --seeds 0 1 2 --seconds 40

The agent has only the tools of `model-analyzer mcp`. It draws ranges at random, plans, and starts a
run of a duration drawn at random. It asks for the answer and for another limit, then continues with
the same ranges, as docs/agents.md says; in one of four runs it draws others, and the search mode,
too. It ends when its budget is used up. With --restless, it draws everything for each run. Both
recommendations for sim_gpu are then measured again, one after the other. Prints the throughput of
the agent's in percent of the other one's.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import write_config
from model_analyzer.domain.foreign_json import parse_json

STARTER = Path(__file__).parents[1] / "model_analyzer" / "starter" / "model_repository"
LEAST_S, MOST_S = 10.0, 20.0
LIMIT_MS = 80
FIELDS = ("instance_group", "max_batch_size", "dynamic_batching")


def question(instances: int, batch: int, concurrency: int, search: str) -> dict[str, Any]:
    return {
        "model_repository": str(STARTER),
        "profile_models": {"sim_gpu": {"cpu_only": True}},
        "constraints": {"perf_latency_p99": {"max": LIMIT_MS}},
        "run_config_search_max_instance_count": instances,
        "run_config_search_max_model_batch_size": batch,
        "run_config_search_max_concurrency": concurrency,
        "search": search,
        "skip_detailed_reports": True,
    }


def drawn(chance: random.Random, *searches: str) -> dict[str, Any]:
    return question(
        chance.choice([2, 3, 4, 5]),
        chance.choice([8, 16, 32]),
        chance.choice([32, 64, 128]),
        chance.choice(searches),
    )


async def agent(
    tool: Path, directory: Path, seconds: float, chance: random.Random, restless: float
) -> int:
    """Lets the agent measure below the directory; the number of its runs."""
    server = StdioServerParameters(
        command=str(tool),
        args=["mcp", "--root", str(directory), "--root", str(STARTER), "--budget", f"{seconds}s"],
        env=dict(os.environ),
    )
    async with Client(stdio_client(server)) as client:

        async def call(name: str, **arguments: Any) -> dict[str, Any]:
            result = await client.call_tool(name, arguments)
            if result.is_error:
                raise RuntimeError(f"{name}: {result.content}")
            document: dict[str, Any] = result.structured_content
            return document

        runs, left, config = 0, seconds, drawn(chance, "adaptive")
        while left >= LEAST_S or not runs:
            if runs and chance.random() < restless:
                config = drawn(chance, "adaptive", "adaptive", "quick", "random")
            await call("plan", config=config)
            # what would be too short for another run is not left over
            duration_s = left if left < LEAST_S + MOST_S else chance.uniform(LEAST_S, MOST_S)
            await call("start", config=config, duration=duration_s)
            runs += 1
            while (status := await call("status", wait_s=60))["state"] != "ended":
                pass
            left = status["budget_left_s"]
            await call("answer")
            await call("what_if", latency_budget=chance.choice([40, 60, LIMIT_MS]))
    return runs


def profile(tool: Path, directory: Path, config: dict[str, Any], *flags: str) -> None:
    directory.mkdir(exist_ok=True)
    path = write_config(directory / "config.yaml", config)
    command = [str(tool), "profile", "-q", "-f", str(path), *flags]
    subprocess.run(command, cwd=directory, check=True, stdout=subprocess.DEVNULL)


def answer(tool: Path, directory: Path) -> dict[str, Any]:
    """What the checkpoints of a directory recommend."""
    done = subprocess.run(
        [str(tool), "best", "--format", "json"], cwd=directory, capture_output=True, check=False
    )
    (model,) = parse_json(done.stdout)["models"]
    found: dict[str, Any] = model
    return found


def again(tool: Path, directory: Path, model: dict[str, Any]) -> float:
    """The throughput of a recommendation, measured alone."""
    recommended = model["recommended"]
    (variant,) = [each for each in model["variants"] if each["variant"] == recommended["variant"]]
    fields = variant["models"][0]["configuration"]
    config = question(1, 1, 1, "brute") | {"run_config_search_disable": True}
    config["perf_analyzer_flags"] = {
        "measurement-mode": "time_windows",
        "measurement-interval": 2000,
        "stability-percentage": 50,
    }
    config["profile_models"]["sim_gpu"] |= {
        "model_config_parameters": {name: fields[name] for name in FIELDS if name in fields},
        "parameters": {"concurrency": recommended["loads"][0]["value"]},
    }
    profile(tool, directory, config, "--skip-summary-reports")
    variants = answer(tool, directory)["variants"]
    (*_, found) = sorted(variants, key=lambda each: not each["is_default"])
    return float(found["measurements"][0]["metrics"]["perf_throughput"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--seconds", type=float, default=40)
    parser.add_argument("--restless", action="store_true")
    chosen = parser.parse_args()
    restless = 1.0 if chosen.restless else 0.25
    tool = Path(sys.executable).with_name("model-analyzer")
    for seed in chosen.seeds:
        with tempfile.TemporaryDirectory() as place:
            by_agent, by_search = Path(place, "agent"), Path(place, "search")
            by_agent.mkdir()
            chance = random.Random(seed)
            runs = anyio.run(agent, tool, by_agent, chosen.seconds, chance, restless)
            profile(
                tool, by_search, question(5, 32, 128, "adaptive"), "--budget", f"{chosen.seconds}s"
            )
            models = [answer(tool, each) for each in (by_agent, by_search)]
            one, other = (
                again(tool, Path(place, f"again-{number}"), model)
                for number, model in enumerate(models)
            )
            loads = [model["recommended"]["loads"][0]["value"] for model in models]
            print(
                f"seed {seed}: {runs} runs of an agent {one:.0f}/s at {loads[0]}, one search"
                f" {other:.0f}/s at {loads[1]}: {100 * one / other:.1f} %",
                flush=True,
            )


if __name__ == "__main__":
    main()
