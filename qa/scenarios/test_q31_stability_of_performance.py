# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Q31: the program measures what perf_analyzer alone measures.

The model sleeps, so that what else the machine does matters little, and the best of three is taken,
measured in turns: what disturbs only ever makes it worse.
"""

import csv
import subprocess
from pathlib import Path

import pytest

SLEEPER = """
import time
import triton_python_backend_utils as pb

class TritonPythonModel:
    def execute(self, requests):
        time.sleep(0.004 * len(requests))
        return [
            pb.InferenceResponse([
                pb.Tensor("OUTPUT", pb.get_input_tensor_by_name(request, "INPUT").as_numpy())
            ])
            for request in requests
        ]
"""
FLAGS = {"measurement-mode": "count_windows", "measurement-request-count": 500}


@pytest.mark.slow
def test_as_good_as_perf_analyzer_alone(scenario, remote) -> None:
    scenario.scene.model("sleeper", SLEEPER)
    server = remote("explicit")
    ours, plain = [], []
    for index in range(3):
        process = scenario.start(
            "profile",
            run_config_search_disable=True,
            concurrency=[1],
            profile_models={"sleeper": {"cpu_only": True}},
            perf_analyzer_flags=FLAGS,
            checkpoint_directory=f"checkpoints-{index}",
            **server.reached(),
        )
        scenario.scene.wait_until(lambda: scenario.scene.measuring)
        (generator,) = scenario.scene.measuring
        command, environment = generator.cmdline(), generator.environ()
        run = scenario.finish(process)
        assert run.status == 0, run.output
        (row,) = scenario.rows()
        ours.append((float(row[7]), float(row[8])))

        server.load("sleeper")
        plain.append(alone(command, environment, scenario.directory))

    rates, latencies = zip(*ours, strict=True)
    wanted_rates, wanted_latencies = zip(*plain, strict=True)
    assert max(rates) >= 0.95 * max(wanted_rates)
    spread = max(wanted_latencies) / min(wanted_latencies) - 1
    if spread > 0.05:
        pytest.skip(f"this machine is busy: p99 of perf_analyzer alone differs by {spread:.0%}")
    assert min(latencies) <= 1.05 * min(wanted_latencies)


def alone(command: list[str], environment: dict[str, str], directory: Path) -> tuple[float, float]:
    """Throughput and p99 in ms of perf_analyzer, called the same way by hand."""
    subprocess.run(command, env=environment, cwd=directory, check=True, timeout=120)
    table = directory / command[command.index("-f") + 1]
    (row,) = csv.DictReader(table.read_text().splitlines())
    return float(row["Inferences/Second"]), float(row["p99 latency"]) / 1000
