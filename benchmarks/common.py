# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Helpers of the benchmarks: the installed runtime for both programs, timing, medians."""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from model_analyzer.runner.runtime import find_perf_analyzer, find_tritonserver

# The number of last output lines of a failed command to show.
_LAST_LINES = 20

UPSTREAM = ("triton-model-analyzer==1.58.0", "tritonclient[all]==2.51.0", "numpy<2")


def parser(description: str, *, needs_upstream: bool = True) -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=description)
    options.add_argument(
        "--ours", type=Path, default=Path(sys.executable).with_name("model-analyzer"),
        help="model-analyzer program (default: from this environment)",
    )  # fmt: skip
    options.add_argument(
        "--upstream", type=Path, required=needs_upstream,
        help="directory with an environment for upstream; created if it does not exist",
    )  # fmt: skip
    options.add_argument("-n", type=int, default=3, help="pairs of runs")
    return options


def upstream_command(directory: Path) -> Path:
    """Upstream's command; installs it into `directory` (about 630 MB) if it is missing."""
    command = directory / "bin" / "model-analyzer"
    if not command.exists():
        subprocess.run([sys.executable, "-m", "venv", str(directory)], check=True)
        pip = [str(directory / "bin" / "python"), "-m", "pip", "install", "-q", *UPSTREAM]
        subprocess.run(pip, check=True)
    return command


def wrap_programs(directory: Path) -> tuple[Path, Path]:
    """Creates executables of the installed server and perf_analyzer that need no variables.

    Each perf_analyzer run appends its start, end and arguments to $PERF_ANALYZER_LOG, each server
    its start to $SERVER_STARTS.
    """
    environment = dict(os.environ)
    server = find_tritonserver(None, environment)
    load = find_perf_analyzer(None, environment)
    flags = " ".join(f"--{name}='{value}'" for name, value in server.flags.items())
    triton = _script(
        directory / "tritonserver",
        _exports(server.environment) + 'date +%s.%N >>"${SERVER_STARTS:-/dev/null}"\n'
        f"exec '{server.path}' {flags} \"$@\"\n",
    )
    perf_analyzer = _script(
        directory / "perf_analyzer",
        _exports(load.environment) + "start=$(date +%s.%N)\n"
        f"'{load.path}' \"$@\"\nstatus=$?\n"
        'printf \'{"start": %s, "end": %s, "arguments": "%s"}\\n\''
        ' "$start" "$(date +%s.%N)" "$*" >>"$PERF_ANALYZER_LOG"\nexit $status\n',
    )
    return triton, perf_analyzer


def timed(command: Sequence[str], *, cwd: Path, log: Path, **variables: str) -> float:
    """Wall seconds of a command that must succeed; its output goes to `log`."""
    began = time.perf_counter()
    with open(log, "wb") as output:
        done = subprocess.run(
            command, cwd=cwd, env={**os.environ, **variables}, stdin=subprocess.DEVNULL,
            stdout=output, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    took = time.perf_counter() - began
    if done.returncode != 0:
        # the log is in a temporary directory
        last = log.read_text(errors="replace").splitlines()[-_LAST_LINES:]
        sys.exit("\n".join([f"{command[0]} ended with {done.returncode}:", *last]))
    return took


def show(
    name: str,
    ours: Sequence[float],
    theirs: Sequence[float],
    unit: str = "s",
    *,
    other: str = "upstream",
) -> None:
    """One line: both medians, and the median of the ratios pair by pair."""
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    print(
        f"{name:44} ours {statistics.median(ours):8.3f} {unit}   "
        f"{other} {statistics.median(theirs):8.3f} {unit}   ratio {ratio:.3f}"
    )


def write_config(path: Path, config: Mapping[str, object]) -> Path:
    path.write_text(json.dumps(config, indent=1))  # JSON is YAML
    return path


def _exports(environment: Mapping[str, str]) -> str:
    wanted = {
        name: environment[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in environment
    }
    return "".join(f"export {name}='{value}'\n" for name, value in wanted.items())


def _script(path: Path, body: str) -> Path:
    path.write_text(f"#!/bin/bash\n{body}")
    path.chmod(0o755)
    return path
