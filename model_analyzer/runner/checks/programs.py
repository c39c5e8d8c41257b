# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""tritonserver and perf_analyzer: are they here, do they start, and if not, what is missing."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from model_analyzer.domain.settings import LaunchMode, ServerSettings
from model_analyzer.errors import ModelAnalyzerError
from model_analyzer.runner.checks.finding import Finding, ok, problem
from model_analyzer.runner.process import run
from model_analyzer.runner.runtime import (
    INSTALL,
    VERSION,
    InstalledRuntime,
    Program,
    check_models_python,
    describe_packages,
    find_perf_analyzer,
    find_server_library,
    find_tritonserver,
    why_server_fails,
)

_LOOK_S = 20.0

# What brings a library that may be missing.
_PACKAGES = (
    (r"libb64\.", "`apt install libb64-0d`"),
    (r"lib(ssl|crypto)\.so\.3", "`apt install libssl3`"),
    (r"libcudart\.", "`pip install nvidia-cuda-runtime-cu12`, and its lib on LD_LIBRARY_PATH"),
    (r"libnvidia-ml|libcuda\.", "the NVIDIA driver; in a container `docker run --gpus all`"),
    (r"libdcgm", "`apt install datacenter-gpu-manager`"),
    (r"libre2\.", "`apt install libre2-9`, or the libre2 of this system"),
    (r"libarchive\.", "`apt install libarchive13`"),
)
_NO_LIBRARY = re.compile(r"^\s*(\S+) => not found|(\S+): cannot open shared object", re.MULTILINE)


def check_server(
    settings: ServerSettings, environment: Mapping[str, str], work: Path
) -> tuple[Finding, Program | None]:
    """The server that a run would start, None where it starts none of its own, or cannot."""
    name = "tritonserver"
    if settings.launch is LaunchMode.REMOTE:
        return ok(name, "the remote server is used (launch mode remote)"), None
    if settings.launch is LaunchMode.DOCKER:
        return ok(name, "in a container (launch mode docker)"), None
    if settings.launch is LaunchMode.C_API:
        return _library(settings, environment, work), None
    try:
        server = find_tritonserver(settings.path, environment)
    except ModelAnalyzerError as error:
        return _absent(name, str(error), environment), None
    reason = why_server_fails(server)
    if reason:
        return _absent(name, reason, server.environment, server.path), None
    return ok(name, f"{_version(server)}{server.origin}: {server.path}"), server


def _version(server: Program) -> str:
    """The version that lies beside it in NVIDIA's images, or that of the installed runtime."""
    if server.origin == "installed runtime":
        return f"{VERSION}, "
    try:
        directory = Path(os.path.realpath(server.path)).parents[1]
        return f"{(directory / 'TRITON_VERSION').read_text().strip()}, "
    except OSError:
        return ""


def _library(settings: ServerSettings, environment: Mapping[str, str], work: Path) -> Finding:
    name = "libtritonserver.so"
    try:
        library = find_server_library(settings.install_path, environment, work)
    except ModelAnalyzerError as error:
        return problem(name, str(error), f"`{INSTALL}`, or --triton-install-path")
    return ok(name, f"{library.version}, {library.origin}")


def check_load_generator(
    given: str | None, environment: Mapping[str, str]
) -> tuple[Finding, Program | None]:
    """perf_analyzer, None where there is none that starts."""
    name = "perf_analyzer"
    try:
        found = find_perf_analyzer(given, environment)
    except ModelAnalyzerError as error:
        path = Path(os.path.expanduser(given)) if given is not None else None
        return _absent(name, str(error), environment, path), None
    return ok(name, f"{found.version}, {found.origin}: {found.path}"), found


def _absent(
    name: str, reason: str, environment: Mapping[str, str], path: Path | None = None
) -> Finding:
    """What is wrong with a program that is not there, or does not start."""
    output = ""
    if path is not None and os.path.isfile(path):
        _, output = run(["ldd", str(path)], environment=environment, timeout_s=_LOOK_S)
    return judge_absent(name, reason, missing_libraries(f"{output}\n{reason}"))


def missing_libraries(output: str) -> Sequence[str]:
    """The shared libraries that `ldd`, or the loader itself, did not find."""
    return tuple(dict.fromkeys(found[0] or found[1] for found in _NO_LIBRARY.findall(output)))


def judge_absent(name: str, reason: str, libraries: Sequence[str]) -> Finding:
    option = (
        f"--{name.replace('_', '-')}-path" if name == "perf_analyzer" else "--triton-server-path"
    )
    install = f"`{INSTALL}`, or choose another with {option}"
    if not libraries:
        return problem(name, re.sub(rf"[;:] run `{INSTALL}`$", "", reason), install)
    brings = [
        package
        for library in libraries
        for pattern, package in _PACKAGES
        if re.match(pattern, library)
    ]
    return problem(
        name,
        f"{reason.partition(': ')[0]}: there is no {', '.join(libraries)}",
        "; ".join([*dict.fromkeys(brings), install]),
    )


def check_models_interpreter(
    server: Program, runtime: InstalledRuntime, environment: Mapping[str, str]
) -> Finding | None:
    """The Python of the models, where it is that of the installed runtime."""
    if server.path != runtime.server:
        return None
    name = "Python of the models"
    try:
        check_models_python(server, environment)
    except ModelAnalyzerError as error:
        return problem(name, str(error), f"`{INSTALL}`")
    # A stub that cannot start would make every load hang; without arguments it only complains.
    _, output = run([str(runtime.stub)], environment=server.environment, timeout_s=_LOOK_S)
    if "arguments" not in output:
        reason = output.strip().splitlines()[-1:] or ["it says nothing"]
        return problem(
            name,
            f"the model process does not start: {reason[0]}",
            f"`model-analyzer runtime remove`, then `{INSTALL}`",
        )
    packages = describe_packages(runtime)
    return ok(name, f"{runtime.python}, numpy {runtime.numpy_version}; packages {packages}")
