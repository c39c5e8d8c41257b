# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Whether replicas carry what `capacity` promises: one server measured, then three together.

    python benchmarks/capacity.py [--seconds 60]

The model sleeps (the starter's sim_gpu, slower, with dynamic batching), so several servers fit on
one machine. `capacity --measure` says what one server carries with a p99 below the limit. Then
three servers behind a round-robin proxy get Poisson arrivals at shares of three times that rate.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import timed, write_config
from model_analyzer.runner.runtime import find_perf_analyzer, find_tritonserver

ROOT = Path(__file__).parents[1]
SIM_GPU = ROOT / "model_analyzer" / "starter" / "model_repository" / "sim_gpu"

LIMIT_MS = 400
REPLICAS = 3
SHARES = (0.9, 1.0, 1.05, 1.1, 1.15)

# a batch of 8 takes 100 ms: at most 80 requests/s
_SLOWER = {"base_ms": "60", "item_ms": "5", "over_ms": "2.5"}


def main() -> None:
    assert __doc__ is not None
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=60, help="of each measurement")
    seconds = options.parse_args().seconds
    with tempfile.TemporaryDirectory() as name:
        config = profiled(Path(name))
        run("capacity", config, "--rate", "1", "--measure")
        document = answer(config)
        for point in document["replica"]["measured"]:
            print(
                f"  measured: {point['requests_per_s']:g} requests/s, p99"
                f" {point['metrics']['perf_latency_p99']:.0f} ms ({point['requests']} requests)"
            )
        carries = document["replica"]["carries"]
        rate = carries["requests_per_s"]
        print(f"  interval: {carries['low']} to {carries['high']}")
        print(f"one server: {rate:.1f} requests/s with a p99 of at most {LIMIT_MS} ms")
        with balanced(Path(name), REPLICAS) as address:
            for share in SHARES:
                answered, p99 = under_load(address, share * REPLICAS * rate, seconds, Path(name))
                kept = "kept" if p99 <= LIMIT_MS else "BROKEN"
                print(
                    f"{REPLICAS} servers at {share:.2f} of the promise: {answered:.1f} of"
                    f" {share * REPLICAS * rate:.1f} requests/s, p99 {p99:.0f} ms: {kept}",
                    flush=True,
                )


def profiled(directory: Path) -> Path:
    """A profile of one server in a closed loop; the configuration of the run."""
    config = write_config(
        directory / "config.yaml",
        {
            "model_repository": str(slow_repository(directory)),
            "override_output_model_repository": True,
            "profile_models": {
                "sim_gpu": {"cpu_only": True, "parameters": {"concurrency": [1, 32]}}
            },
            "run_config_search_disable": True,
            "skip_summary_reports": True,
            "latency_budget": LIMIT_MS,
        },
    )
    run("profile", config)
    return config


def run(command: str, config: Path, *arguments: str) -> None:
    """A command that must succeed."""
    tool = str(Path(sys.executable).with_name("model-analyzer"))
    log = config.with_name(f"{command}.log")
    timed([tool, command, "-f", str(config), *arguments], cwd=config.parent, log=log)


def answer(config: Path) -> Any:
    """What `capacity` says, whether it knows an answer or not."""
    tool = str(Path(sys.executable).with_name("model-analyzer"))
    command = [tool, "capacity", "-f", str(config), "--rate", "1", "--format", "json"]
    done = subprocess.run(command, cwd=config.parent, stdout=subprocess.PIPE, check=False)
    (hardware,) = json.loads(done.stdout)["hardware"]
    return hardware


def slow_repository(directory: Path) -> Path:
    """The model repository with sim_gpu, slower, and with dynamic batches of up to 8."""
    model = directory / "models" / "sim_gpu"
    shutil.copytree(SIM_GPU, model)
    lines = []
    for line in (model / "config.pbtxt").read_text().splitlines():
        for key, value in _SLOWER.items():
            if f'"{key}"' in line:
                line = f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}'
        lines.append("max_batch_size: 8" if line.startswith("max_batch_size") else line)
    (model / "config.pbtxt").write_text("\n".join([*lines, "dynamic_batching {}", ""]))
    return model.parent


@contextmanager
def balanced(directory: Path, count: int) -> Iterator[str]:
    """So many servers behind a round-robin proxy; yields its address."""
    triton = find_tritonserver(None, os.environ)
    with ExitStack() as stack:
        servers = []
        for number in range(count):
            http, grpc, metrics = _free_ports(3)
            log = stack.enter_context(open(directory / f"server-{number}.log", "wb"))
            process = subprocess.Popen(
                [
                    str(triton.path), f"--model-repository={directory / 'models'}",
                    "--http-address=127.0.0.1", "--grpc-address=127.0.0.1",
                    f"--http-port={http}", f"--grpc-port={grpc}", f"--metrics-port={metrics}",
                    *(f"--{name}={value}" for name, value in triton.flags.items()),
                ],
                env={**os.environ, **triton.environment}, stdout=log, stderr=subprocess.STDOUT,
            )  # fmt: skip
            stack.callback(process.wait, 60)
            stack.callback(process.terminate)
            servers.append(f"127.0.0.1:{grpc}")
        for server in servers:
            _wait_for(server)
        proxy = subprocess.Popen(
            [sys.executable, str(ROOT / "qa" / "round_robin.py"), *servers],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        stack.callback(proxy.communicate, "", 60)
        assert proxy.stdout is not None
        yield f"127.0.0.1:{proxy.stdout.readline().strip()}"


def under_load(address: str, rate: float, seconds: float, directory: Path) -> tuple[float, float]:
    """Answered requests per second and p99 in ms, under Poisson arrivals."""
    load = find_perf_analyzer(None, os.environ)
    table = directory / "table.csv"
    table.unlink(missing_ok=True)
    interval_ms = round(1000 * seconds / 3.6)
    subprocess.run(
        [
            str(load.path), "-m", "sim_gpu", "-u", address, "-i", "grpc", "--async",
            "--request-rate-range", f"{rate:.2f}", "--request-distribution", "poisson",
            "--measurement-mode", "time_windows", "-p", str(interval_ms), "-s", "999",
            "-f", str(table),
        ],
        env={**os.environ, **load.environment}, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (row,) = csv.DictReader(table.read_text().splitlines())
    return float(row["Inferences/Second"]), float(row["p99 latency"]) / 1000


def _free_ports(count: int) -> Sequence[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def _wait_for(address: str, within_s: float = 120) -> None:
    host, _, port = address.partition(":")
    deadline = time.monotonic() + within_s
    while True:
        try:
            socket.create_connection((host, int(port)), timeout=1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


if __name__ == "__main__":
    main()
