# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares an agent that knows nothing with one adaptive search of the same time.

    python benchmarks/agents.py --seeds 0 1 2 --seconds 50

The agent has only the tools of `model-analyzer mcp`, and does what docs/agents.md says. What that
leaves open is drawn at random, from the seed: whether it takes a short first look and how long, and
what else it asks. It uses up its budget, which is the time that the other run took, with its start
and its files; both have the ranges of the same user. Both recommendations for sim_gpu are then
measured again, in turn, unless they are the same. Prints the throughput of the agent's in percent
of the other one's.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, stdio_client

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import write_config
from model_analyzer.domain.foreign_json import parse_json

STARTER = Path(__file__).parents[1] / "model_analyzer" / "starter" / "model_repository"
LIMIT_MS = 80
FIELDS = ("instance_group", "max_batch_size", "dynamic_batching")

# A shorter run than this is not worth its start.
LEAST_S = 8.0
# The times of a first look, as shares of the budget.
LOOK = 0.2, 0.4
ROUNDS = 3


def question(**options: Any) -> dict[str, Any]:
    return {
        "model_repository": str(STARTER),
        "profile_models": {"sim_gpu": {"cpu_only": True}},
        "constraints": {"perf_latency_p99": {"max": LIMIT_MS}},
        "run_config_search_max_instance_count": 5,
        "run_config_search_max_model_batch_size": 32,
        "run_config_search_max_concurrency": 128,
        "search": "adaptive",
        "skip_detailed_reports": True,
        **options,
    }


async def agent(tool: Path, directory: Path, seconds: float, chance: random.Random) -> str:
    """Lets the agent measure below the directory; what it did."""
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

        config = question()
        look = chance.choice([None, chance.uniform(*LOOK) * seconds])
        did: list[str] = []
        left = seconds
        while left >= LEAST_S:
            await call("plan", config=config)
            duration = left if look is None or did else look
            did.append(f"{duration:.0f} s")
            await call("start", config=config, duration=duration)
            while (status := await call("status", wait_s=60))["state"] != "ended":
                pass
            left = status["budget_left_s"]
            await call("answer")
            await call("what_if", latency_budget=chance.choice([40, 60, LIMIT_MS]))
    return ", ".join(did)


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


def deployed(model: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """The recommended configuration, and its concurrency."""
    recommended = model["recommended"]
    (variant,) = [each for each in model["variants"] if each["variant"] == recommended["variant"]]
    fields = variant["models"][0]["configuration"]
    chosen = {name: fields[name] for name in FIELDS if name in fields}
    return chosen, recommended["loads"][0]["value"]


def again(tool: Path, directory: Path, found: tuple[dict[str, Any], int]) -> float:
    """The throughput of a configuration at its concurrency, measured alone."""
    fields, concurrency = found
    config = question(search="brute", run_config_search_disable=True)
    config["perf_analyzer_flags"] = {
        "measurement-mode": "time_windows",
        "measurement-interval": 1000,
        "stability-percentage": 50,
    }
    config["profile_models"]["sim_gpu"] |= {
        "model_config_parameters": fields,
        "parameters": {"concurrency": concurrency},
    }
    profile(tool, directory, config, "--skip-summary-reports")
    variants = answer(tool, directory)["variants"]
    (*_, last) = sorted(variants, key=lambda each: not each["is_default"])
    return float(last["measurements"][0]["metrics"]["perf_throughput"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[*range(10)])
    parser.add_argument("--seconds", type=float, default=50)
    chosen = parser.parse_args()
    tool = Path(sys.executable).with_name("model-analyzer")
    for seed in chosen.seeds:
        with tempfile.TemporaryDirectory() as place:
            by_agent, by_search = Path(place, "agent"), Path(place, "search")
            by_agent.mkdir()
            chance = random.Random(seed)
            began = time.monotonic()
            profile(tool, by_search, question(), "--budget", f"{chosen.seconds}s")
            took = round(time.monotonic() - began, 1)
            did = anyio.run(agent, tool, by_agent, took, chance)
            models = [answer(tool, each) for each in (by_agent, by_search)]
            found = [deployed(model) for model in models]
            rates: list[list[float]] = [[1.0], [1.0]]  # the same is as fast
            if found[0] != found[1]:
                rates = [
                    [again(tool, Path(place, f"{side}-{turn}"), each) for turn in range(ROUNDS)]
                    for side, each in enumerate(found)
                ]
            mine, other = map(fmean, rates)
            print(
                f"seed {seed}: {100 * mine / other:.1f} % ({mine:.0f} and {other:.0f}/s):"
                f" the agent {found[0]} after {did}; the search {found[1]} after {took:.0f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
