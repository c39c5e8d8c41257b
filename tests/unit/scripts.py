# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Scripts in place of tritonserver and perf_analyzer, and the installed runtime made of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from model_analyzer.runner.runtime import InstalledRuntime, installed_runtime

GOOD_SERVER = "echo 'Usage: --model-repository'; exit 1"
GOOD_PERF_ANALYZER = "echo 'Perf Analyzer Version 2.51.0 (commit x)'"
BROKEN = "echo 'x: error while loading shared libraries: libb64.so.0d: cannot open' >&2; exit 127"


def program(path: Path, script: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def make_runtime(environment: Mapping[str, str]) -> InstalledRuntime:
    """An installed runtime of scripts."""
    runtime = installed_runtime(environment)
    program(runtime.server, GOOD_SERVER)
    program(runtime.perf_analyzer, GOOD_PERF_ANALYZER)
    program(runtime.python, "exit 0")
    site = runtime.root / "python" / "lib" / "python3.11" / "site-packages"
    (site / "numpy-1.26.4.dist-info").mkdir(parents=True)
    runtime.backends.mkdir()
    return runtime
