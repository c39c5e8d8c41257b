# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Compares our measurements with perf_analyzer run by hand.

    python benchmarks/agreement.py

Profiles one variant of sim_gpu (it sleeps, so its numbers repeat well) and of add_sub. Then it runs
the perf_analyzer command in the checkpoint on a server started by hand, several times each, in
turn. Prints the difference of the medians, and the spread of the runs by hand.
"""

from __future__ import annotations

import argparse
import csv
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import write_config
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.settings import LaunchMode, Protocol, ServerRestart, ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.repository import ModelRepository, stage
from model_analyzer.runner.runtime import find_perf_analyzer, find_tritonserver
from model_analyzer.runner.server.local import LocalLauncher
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.state.checkpoint import load

STARTER = Path(__file__).parents[1] / "model_analyzer" / "starter" / "model_repository"
FLAGS = {
    "measurement-mode": "time_windows",
    "measurement-interval": 1000,
    "stability-percentage": 50,
}


def ours(tool: Path, directory: Path, model: str, concurrency: int) -> tuple[float, float, str]:
    """Throughput, p99 latency and the perf_analyzer command of a run of model-analyzer."""
    directory.mkdir()
    config = write_config(
        directory / "config.yaml",
        {
            "model_repository": str(STARTER),
            "profile_models": [model],
            "run_config_search_disable": True,
            "concurrency": concurrency,
            "perf_analyzer_flags": FLAGS,
        },
    )
    subprocess.run(
        [str(tool), "profile", "-q", "-f", str(config)], cwd=directory, check=True, timeout=300
    )
    (item,) = load(directory / "checkpoints").profile.measured
    throughput = item.measurement.value("perf_throughput")
    latency = item.measurement.value("perf_latency_p99")
    assert throughput is not None
    assert latency is not None
    return throughput, latency, item.measurement.commands[0]


def by_hand(command: str, directory: Path, model: str) -> tuple[float, float]:
    """Throughput and p99 latency of the same command on a new server."""
    environment = dict(os.environ)
    settings = ServerSettings(
        launch=LaunchMode.LOCAL, path=None, install_path=None,
        reload_disable=False, protocol=Protocol.GRPC, http_endpoints=(), grpc_endpoints=(),
        metrics_urls=(), log=None, ready_timeout_s=30, load_timeout_s=30,
        restart=ServerRestart.AUTO,
    )  # fmt: skip
    directory.mkdir()
    repository = ModelRepository(STARTER)
    facts = repository.facts(model)
    launcher = LocalLauncher(
        find_tritonserver(None, environment),
        settings,
        stage(repository, [facts], directory / "models"),
    )
    log = ServerLog(directory / "server.log")
    with TritonServer(launcher, settings, log, settles=False) as server:
        variant = VariantNames().default(facts)
        server.serve([variant], ServerSetup())
        words = shlex.split(command)
        words[words.index("-u") + 1] = server.route(variant, Protocol.GRPC).flags["url"]
        load_program = find_perf_analyzer(None, environment)
        subprocess.run(
            words, cwd=directory, env=dict(load_program.environment), check=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    row = next(csv.DictReader((directory / "results.csv").read_text().splitlines()))
    return float(row["Inferences/Second"]), float(row["p99 latency"]) / 1000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("-n", type=int, default=5, help="runs of each")
    given = options.parse_args()
    tool = Path(sys.executable).with_name("model-analyzer")
    with tempfile.TemporaryDirectory(prefix="agreement-") as temporary:
        for model, concurrency in (("sim_gpu", 4), ("add_sub", 2)):
            mine, theirs = [], []
            for turn in range(given.n):
                throughput, latency, command = ours(
                    tool, Path(temporary, f"{model}-ours-{turn}"), model, concurrency
                )
                mine.append((throughput, latency))
                theirs.append(by_hand(command, Path(temporary, f"{model}-hand-{turn}"), model))
                time.sleep(0.5)
            for index, name in enumerate(("throughput", "p99 latency")):
                a, b = [x[index] for x in mine], [x[index] for x in theirs]
                middle = statistics.median(b)
                print(
                    f"{model:8} {name:12} ours {statistics.median(a):9.3f}   by hand {middle:9.3f}"
                    f"   difference {(statistics.median(a) / middle - 1) * 100:+.1f} %"
                    f"   spread by hand ±{(max(b) - min(b)) / 2 / middle * 100:.1f} %"
                )


if __name__ == "__main__":
    main()
