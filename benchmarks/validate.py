# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Validating a configuration of a thousand lines, from the start of the process to its end.

python benchmarks/validate.py
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import timed

HEAD = """\
model_repository: models
override_output_model_repository: true
perf_analyzer_flags:
  percentile: 95
profile_models:
"""
MODEL = """\
  model_{index}:
    objectives:
      perf_latency_p99: 2
      perf_throughput: 1
    constraints:
      perf_latency_p99: {{max: 40}}
      perf_throughput:
        min: 50
    parameters:
      batch_sizes: [1, 2, 4]
      concurrency: {{start: 1, stop: 8}}
    model_config_parameters:
      max_batch_size: [4, 8]
      instance_group:
        - kind: KIND_CPU
          count: [1, 2]
      dynamic_batching:
        preferred_batch_size: [[4], [4, 8]]
        max_queue_delay_microseconds: [0, 500]
    perf_analyzer_flags:
      measurement-mode: time_windows
      measurement-interval: 200
"""
LINES = 1000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("-n", type=int, default=21, help="runs")
    program = Path(sys.executable).with_name("model-analyzer")
    options.add_argument("--ours", type=Path, default=program, help="our model-analyzer")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        text = HEAD
        while text.count("\n") < LINES:
            text += MODEL.format(index=text.count("\n"))
        (here / "good.yaml").write_text(text)
        for name, arguments in {
            f"config validate, {text.count(chr(10))} lines": ["config", "validate", "good.yaml"],
            "config schema": ["config", "schema"],
            "--version": ["--version"],
        }.items():
            command = [str(given.ours), *arguments]
            taken = sorted(timed(command, cwd=here, log=here / "log") for _ in range(given.n + 1))
            print(f"{name:32} median {taken[len(taken) // 2]:.3f} s   longest {taken[-1]:.3f} s")


if __name__ == "__main__":
    main()
