# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares an agent that knows nothing with one adaptive search of the same time.

    python benchmarks/agents.py try tries.jsonl --seeds 0 1 2 --seconds 40
    python benchmarks/agents.py measure tries.jsonl

The agent has only the tools of `model-analyzer mcp`, and does what docs/agents.md says. What that
leaves open is drawn at random, from the seed: whether it takes a short first look and how long, and
what else it asks. It uses up its budget, which is the time that the other run took, with its start
and its files; both have the ranges of the same user. `try` adds both recommendations for sim_gpu to
a file. `measure` measures each of them again, in turn, and prints for each try the throughput of
the agent's in percent of the other one's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
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
# How often it takes a first look, and how long, as a share of the budget.
OFTEN, LOOK = 0.25, (0.2, 0.4)
ROUNDS = 2


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


async def agent(tool: Path, directory: Path, seconds: float, chance: random.Random) -> list[str]:
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
        look = chance.uniform(*LOOK) * seconds if chance.random() < OFTEN else None
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
    return did


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


def deployed(model: dict[str, Any]) -> list[Any]:
    """The recommended configuration, and its concurrency."""
    recommended = model["recommended"]
    (variant,) = [each for each in model["variants"] if each["variant"] == recommended["variant"]]
    fields = variant["models"][0]["configuration"]
    chosen = {name: fields[name] for name in FIELDS if name in fields}
    return [chosen, recommended["loads"][0]["value"]]


def again(
    tool: Path, directory: Path, fields: dict[str, Any], concurrencies: Sequence[int]
) -> Iterator[tuple[int, float, float]]:
    """A configuration, measured alone: throughput and p99 at each concurrency."""
    config = question(search="brute", run_config_search_disable=True)
    config["perf_analyzer_flags"] = {
        "measurement-mode": "time_windows",
        "measurement-interval": 1000,
        "stability-percentage": 50,
    }
    config["profile_models"]["sim_gpu"] |= {
        "model_config_parameters": fields,
        "parameters": {"concurrency": [*concurrencies]},
    }
    profile(tool, directory, config, "--skip-summary-reports")
    variants = answer(tool, directory)["variants"]
    (*_, last) = sorted(variants, key=lambda each: not each["is_default"])
    for each in last["measurements"]:
        found = each["metrics"]
        yield each["loads"][0]["value"], found["perf_throughput"], found["perf_latency_p99"]


def tried(tool: Path, place: Path, seed: int, seconds: float) -> dict[str, Any]:
    """What both recommend after the same time."""
    by_agent, by_search = place / "agent", place / "search"
    by_agent.mkdir()
    began = time.monotonic()
    profile(tool, by_search, question(), "--budget", f"{seconds}s")
    took = round(time.monotonic() - began, 1)
    did = anyio.run(agent, tool, by_agent, took, random.Random(seed))
    agent_found, search_found = (deployed(answer(tool, each)) for each in (by_agent, by_search))
    return {
        "seed": seed, "agent": agent_found, "search": search_found, "runs": did, "seconds": took,
    }  # fmt: skip


def measured(tool: Path, tries: list[dict[str, Any]]) -> None:
    """Prints each try, with the means of all measurements of what was recommended."""
    loads: dict[str, set[int]] = {}
    for fields, concurrency in (each[side] for each in tries for side in ("agent", "search")):
        loads.setdefault(json.dumps(fields), set()).add(concurrency)
    rates: dict[tuple[str, int], list[float]] = {}
    for _ in range(ROUNDS):
        for name, values in loads.items():
            with tempfile.TemporaryDirectory() as place:
                for load, rate, p99 in again(
                    tool, Path(place, "again"), parse_json(name.encode()), sorted(values)
                ):
                    rates.setdefault((name, load), []).append(rate)
                    print(f"{name} at {load}: {rate:.0f}/s, p99 {p99:.0f} ms", flush=True)
    for each in tries:
        mine, other = (
            fmean(rates[json.dumps(each[side][0]), each[side][1]]) for side in ("agent", "search")
        )
        print(
            f"seed {each['seed']}: {100 * mine / other:.1f} % ({mine:.0f} and {other:.0f}/s), the"
            f" agent after {' and '.join(each['runs'])}, the search after {each['seconds']} s"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["try", "measure"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[*range(10)])
    parser.add_argument("--seconds", type=float, default=40)
    chosen = parser.parse_args()
    tool = Path(sys.executable).with_name("model-analyzer")
    if chosen.what == "measure":
        measured(tool, [parse_json(line) for line in chosen.file.read_bytes().splitlines()])
        return
    for seed in chosen.seeds:
        with tempfile.TemporaryDirectory() as place, open(chosen.file, "a") as file:
            file.write(json.dumps(tried(tool, Path(place), seed, chosen.seconds)) + "\n")


if __name__ == "__main__":
    main()
