# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Time that a brute run spends outside perf_analyzer, compared with upstream, in pairs.

    python benchmarks/orchestration.py --upstream /tmp/upstream

Both programs profile add_sub on the same tritonserver with the same perf_analyzer, the same flags
and short windows: five variants, fifteen measurements. A pair is one run of each, one after the
other. It uses the installed runtime (`model-analyzer runtime install`). With `--before PROGRAM`,
the other one is a model-analyzer of another version.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.common import parser, show, timed, upstream_command, wrap_programs, write_config

STARTER = Path(__file__).parents[1] / "model_analyzer" / "starter" / "model_repository"
MEASUREMENTS = 15


def run(tool: Path, directory: Path, programs: tuple[Path, Path], port: int) -> tuple[float, float]:
    """Wall seconds of the run, and seconds inside perf_analyzer."""
    directory.mkdir()
    log = directory / "perf_analyzer.jsonl"
    triton, perf_analyzer = programs
    config = write_config(
        directory / "config.yaml",
        {
            "model_repository": str(STARTER),
            "output_model_repository_path": str(directory / "variants"),
            "checkpoint_directory": str(directory / "checkpoints"),
            "export_path": str(directory / "results"),
            "triton_server_path": str(triton),
            "triton_output_path": str(directory / "server.log"),
            "perf_analyzer_path": str(perf_analyzer),
            "perf_analyzer_cpu_util": 100000,
            "triton_http_endpoint": f"localhost:{port}",
            "triton_grpc_endpoint": f"localhost:{port + 1}",
            "triton_metrics_url": f"http://localhost:{port + 2}/metrics",
            "run_config_search_max_instance_count": 2,
            "run_config_search_max_model_batch_size": 2,
            "run_config_search_max_concurrency": 4,
            "profile_models": {
                "add_sub": {
                    "cpu_only": True,
                    # from two instances, so that no variant equals the default
                    "perf_analyzer_flags": {"stability-percentage": 999},
                }
            },
        },
    )
    (directory / "results").mkdir()
    wall = timed(
        [str(tool), "profile", "-f", str(config)],
        cwd=directory, log=directory / "output.txt", PERF_ANALYZER_LOG=str(log),
    )  # fmt: skip
    runs = [json.loads(line) for line in log.read_text().splitlines()]
    measured = [entry for entry in runs if "-m add_sub" in entry["arguments"]]
    if len(measured) != MEASUREMENTS:
        raise SystemExit(f"{tool}: {len(measured)} measurements instead of {MEASUREMENTS}")
    return wall, sum(launch["end"] - launch["start"] for launch in measured)


def main() -> None:
    arguments = parser(__doc__.splitlines()[0], needs_upstream=False)
    arguments.add_argument("--before", type=Path, help="model-analyzer program of another version")
    options = arguments.parse_args()
    if options.before is None and options.upstream is None:
        arguments.error("give --upstream or --before")
    name = "upstream" if options.before is None else "before"
    other = options.before or upstream_command(options.upstream)
    tools = {"ours": options.ours.resolve(), name: other.resolve()}
    walls: dict[str, list[float]] = {name: [] for name in tools}
    outside: dict[str, list[float]] = {name: [] for name in tools}
    with tempfile.TemporaryDirectory(prefix="orchestration-") as temporary:
        programs = wrap_programs(Path(temporary))
        for pair in range(options.n):
            for side, tool in tools.items():
                wall, inside = run(tool, Path(temporary, f"{side}-{pair}"), programs, 28400)
                walls[side].append(wall)
                outside[side].append((wall - inside) / MEASUREMENTS)
                print(
                    f"{side:9} {wall:7.2f} s wall, {inside:6.2f} s inside perf_analyzer", flush=True
                )
    show("outside perf_analyzer, per measurement", outside["ours"], outside[name], other=name)
    show("wall time of the run", walls["ours"], walls[name], other=name)


if __name__ == "__main__":
    main()
