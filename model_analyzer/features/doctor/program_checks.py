# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""tritonserver and perf_analyzer: whether they are installed and start, and what is missing; also
packages that Python models import; and the addresses of the server in the options; and the
Docker engine, if there is one.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.domain.foreign_json import parse_json
from model_analyzer.domain.models import ModelFacts
from model_analyzer.domain.settings import LaunchMode, ServerSettings
from model_analyzer.errors import ConfigError, ModelAnalyzerError, RuntimeNotFound
from model_analyzer.features.doctor.findings import Finding, Level, ok, problem, warning
from model_analyzer.reading.untrusted import read_regular
from model_analyzer.runner.install import isolated
from model_analyzer.runner.process import run
from model_analyzer.runner.runtime import (
    INSTALL,
    InstalledRuntime,
    Program,
    check_models_python,
    command_for,
    describe_packages,
    find_perf_analyzer,
    find_server_library,
    find_tritonserver,
    installed_runtime,
    why_server_fails,
)
from model_analyzer.runner.server.docker import Engine, look_at_engine
from model_analyzer.runner.server.endpoints import (
    each_server,
    given_addresses,
    listener,
    remote_endpoints,
    why_not_free,
)
from model_analyzer.runner.server.log import package_of

_LOOK_S = 20.0

# How to install libraries that may be missing.
_PACKAGES = (
    (r"libb64\.", "`apt install libb64-0d`"),
    (r"lib(ssl|crypto)\.so\.3", "`apt install libssl3`"),
    (
        r"libcudart\.",
        "`pip install nvidia-cuda-runtime-cu12`, and add its lib directory to LD_LIBRARY_PATH",
    ),
    (r"libnvidia-ml|libcuda\.", "the NVIDIA driver; in a container `docker run --gpus all`"),
    (r"libdcgm", "`apt install datacenter-gpu-manager`"),
    (r"libre2\.", "`apt install libre2-9`, or the libre2 of this system"),
    (r"libarchive\.", "`apt install libarchive13`"),
)
_NO_LIBRARY = re.compile(r"^\s*(\S+) => not found|(\S+): cannot open shared object", re.MULTILINE)

_ASK_S = 30.0
_MOST_SOURCE_BYTES = 4 * 2**20

# Modules that the backend provides.
_GIVEN = frozenset({"triton_python_backend_utils", "c_python_backend_utils"})

# The parameter of models with their own Python.
_OWN_PYTHON = "EXECUTION_ENV_PATH"

_PROBE = """
import importlib.util, json, sys
def is_there(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False
print(json.dumps([name for name in json.loads(sys.argv[1]) if not is_there(name)]))
"""


def check_server(
    settings: ServerSettings, environment: Mapping[str, str], work: Path
) -> tuple[Finding, Program | None]:
    """The server that a run would start; None if it starts none, or cannot."""
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
        return _absent(name, without_advice(error), environment), None
    reason = why_server_fails(server)
    if reason:
        return _absent(name, reason, server.environment, server.path), None
    version = server_version(server)
    return ok(name, f"{f'{version}, ' if version else ''}{server.origin}: {server.path}"), server


def server_version(server: Program) -> str:
    """The version of the installed runtime, or that from the file in NVIDIA's images; "" if only a
    started server knows it.
    """
    if server.version:
        return server.version
    try:
        directory = Path(os.path.realpath(server.path)).parents[1]
        return (directory / "TRITON_VERSION").read_text().strip()
    except OSError:
        return ""


def _library(settings: ServerSettings, environment: Mapping[str, str], work: Path) -> Finding:
    name = "libtritonserver.so"
    try:
        library = find_server_library(settings.install_path, environment, work)
    except ModelAnalyzerError as error:
        return problem(
            name,
            without_advice(error),
            f"`{_install(environment)}`, or choose another with --triton-install-path",
        )
    return ok(name, f"{library.version}, {library.origin}")


def check_load_generator(
    option: str | None, environment: Mapping[str, str]
) -> tuple[Finding, Program | None]:
    """perf_analyzer, from the `option` if set; None if none starts."""
    name = "perf_analyzer"
    try:
        program = find_perf_analyzer(option, environment)
    except ModelAnalyzerError as error:
        path = Path(os.path.expanduser(option)) if option is not None else None
        return _absent(name, without_advice(error), environment, path), None
    return ok(name, f"{program.version}, {program.origin}: {program.path}"), program


def _absent(
    name: str, reason: str, environment: Mapping[str, str], path: Path | None = None
) -> Finding:
    """The finding for a program that is missing or does not start."""
    output = ""
    if path is not None and os.path.isfile(path):
        _, output = run(["ldd", str(path)], environment=environment, timeout_s=_LOOK_S)
    libraries = missing_libraries(f"{output}\n{reason}")
    return judge_absent(name, reason, libraries, _install(environment))


def _install(environment: Mapping[str, str]) -> str:
    """The command that installs the runtime that a run would use."""
    return command_for(installed_runtime(environment))


def without_advice(error: ModelAnalyzerError) -> str:
    """The message of an error, without what to do: the finding says that."""
    if isinstance(error, ConfigError):
        return "; ".join(f"{problem.where}: {problem.message}" for problem in error.problems)
    return error.message if isinstance(error, RuntimeNotFound) else str(error)


def to_be_installed(finding: Finding) -> Finding:
    """The finding, for a run that installs what is missing."""
    if finding.level is Level.OK:
        return finding
    return ok(finding.check, f"{finding.found}: the run installs it (runtime_install)")


def missing_libraries(output: str) -> Sequence[str]:
    """The shared libraries that `ldd` or the loader did not find."""
    return tuple(dict.fromkeys(match[0] or match[1] for match in _NO_LIBRARY.findall(output)))


def judge_absent(name: str, reason: str, libraries: Sequence[str], command: str) -> Finding:
    """`command` installs the runtime, which has it."""
    option = (
        f"--{name.replace('_', '-')}-path" if name == "perf_analyzer" else "--triton-server-path"
    )
    install = f"`{command}`, or choose another with {option}"
    if not libraries:
        return problem(name, reason, install)
    packages = [
        package
        for library in libraries
        for pattern, package in _PACKAGES
        if re.match(pattern, library)
    ]
    return problem(
        name,
        f"{reason.partition(': ')[0]}: {', '.join(libraries)} missing",
        "; ".join([*dict.fromkeys(packages), install]),
    )


def check_models_interpreter(
    server: Program, runtime: InstalledRuntime, environment: Mapping[str, str]
) -> Finding | None:
    """The Python of the models, if it belongs to the installed runtime."""
    if server.path != runtime.server:
        return None
    name = "Python of the models"
    try:
        check_models_python(server, environment)
    except ModelAnalyzerError as error:
        return problem(name, without_advice(error), f"`{command_for(runtime)}`")
    # If the stub cannot start, every load hangs. Without arguments, it only prints an error.
    _, output = run([str(runtime.stub)], environment=server.environment, timeout_s=_LOOK_S)
    if "arguments" not in output:
        reason = output.strip().splitlines()[-1:] or ["no output"]
        return problem(
            name,
            f"the model process does not start: {reason[0]}",
            f"`{command_for(runtime, 'remove')}`, then `{command_for(runtime)}`",
        )
    packages = describe_packages(runtime)
    return ok(name, f"{runtime.python}, numpy {runtime.numpy_version}; packages {packages}")


def imported(source: str) -> frozenset[str]:
    """The top-level modules that this source needs. Empty if it cannot be parsed.

    It does not need modules that it imports inside functions or in a `try`.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return frozenset()
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return frozenset(names)


def check_packages(
    repository: Path, models: Sequence[ModelFacts], server: Program
) -> Iterator[Finding]:
    """Whether the modules that Python models import are installed."""
    python = shutil.which("python3", path=server.environment.get("PATH"))
    needed = {facts.name: _needed(repository / facts.name, facts) for facts in models}
    names = frozenset[str]().union(*needed.values())
    if python is None or not names:
        return
    missing = _missing(python, names, server.environment)
    yield from judge_packages(needed, missing, python)


def _needed(directory: Path, facts: ModelFacts) -> frozenset[str]:
    if facts.config.get("backend") != "python" or _OWN_PYTHON in facts.config.get("parameters", {}):
        return frozenset()
    file = facts.config.get("default_model_filename") or "model.py"
    names: frozenset[str] = frozenset()
    for path in sorted(directory.glob(f"[0-9]*/{file}")):
        entries = path.parent.iterdir()
        beside = {entry.stem if entry.is_file() else entry.name for entry in entries}
        try:
            source = read_regular(path, most_bytes=_MOST_SOURCE_BYTES).decode("utf-8")
            names |= imported(source) - beside - _GIVEN
        except (OSError, UnicodeDecodeError):
            continue  # the check of the repository reports unreadable files
    return names


def _missing(
    python: str, names: frozenset[str], environment: Mapping[str, str]
) -> frozenset[str] | None:
    """The modules that this Python does not have; None if it does not start."""
    # isolated like the Python of the models: without PYTHONPATH and the user's packages
    command = isolated(python, "-c", _PROBE, json.dumps(sorted(names)))
    status, output = run(command, environment=environment, timeout_s=_ASK_S)
    try:
        return frozenset(parse_json(output.splitlines()[-1])) if status == 0 else None
    except (ValueError, TypeError, IndexError):
        return None


def judge_packages(
    needed: Mapping[str, frozenset[str]], missing: frozenset[str] | None, python: str
) -> Iterator[Finding]:
    """`needed` are the modules of each model; `missing` are those that are not installed."""
    if missing is None:
        yield problem(
            "packages of the models",
            f"{python} does not start",
            f"`{python} -V` says why; `{INSTALL}` installs another Python for the models",
        )
        return
    lacking = {model: names & missing for model, names in needed.items() if names & missing}
    for model, names in lacking.items():
        packages = sorted(map(package_of, names))
        flags = " ".join(f"--with {name}" for name in packages)
        yield problem(
            "packages of the models",
            f"model {model} needs {', '.join(sorted(names))}, which {python} does not have",
            f"`model-analyzer runtime install {flags} --unverified`, or install it for that Python",
        )
    if not lacking:
        count = len(frozenset[str]().union(*needed.values()))
        yield ok("packages of the models", f"all {count} imported modules are installed")


_SOCKET = Path("/var/run/docker.sock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Port:
    """An address for our server from `option`. `reason` says why the server cannot listen there, or
    is "". `user` is the process that listens there, if known.
    """

    option: str
    address: str
    reason: str
    user: str = ""


def read_ports(settings: ServerSettings) -> Iterator[Port]:
    for option, address in given_addresses(settings).items():
        reason = why_not_free(address)
        yield Port(
            option=option,
            address=f"{address.bind}:{address.port}",
            reason=reason,
            user=listener(address.port) if reason else "",
        )


def judge_port(port: Port) -> Finding:
    if not port.reason:
        return ok("port", f"{port.address} is free ({port.option})")
    user = f" by {port.user}" if port.user else ""
    return problem(
        "port",
        f"{port.address} ({port.option}) cannot be used: {port.reason}{user}",
        f"stop the program that uses it, or remove {port.option} to use a free port",
    )


def check_ports(settings: ServerSettings) -> Iterator[Finding]:
    """The ports of our own server, or of the remote ones."""
    if settings.launch is LaunchMode.REMOTE:
        yield from map(_remote, each_server(settings))
    elif settings.launch in (LaunchMode.LOCAL, LaunchMode.DOCKER):
        findings = [judge_port(port) for port in read_ports(settings)]
        yield from findings
        if len(findings) < 3:
            yield ok("ports", "the server will use free ports on the loopback interface")


def _remote(settings: ServerSettings) -> Finding:
    endpoints = remote_endpoints(settings)
    address = endpoints.for_protocol(settings.protocol)
    protocol = settings.protocol.value
    if address.accepts:
        return ok("remote server", f"{address} accepts connections ({protocol})")
    return problem(
        "remote server",
        f"no server listens on {address} ({protocol})",
        f"start the server, or give its address with --triton-{protocol}-endpoint",
    )


def check_docker(
    environment: Mapping[str, str], *, image: str, is_needed: bool, socket: Path = _SOCKET
) -> Finding:
    has_engine = "DOCKER_HOST" in environment or socket.exists()
    if not is_needed and not has_engine:
        return ok("Docker", "none, and only launch mode docker needs it")
    try:
        return judge_engine(look_at_engine(image), image=image, is_needed=is_needed)
    except RuntimeNotFound as error:
        return judge_silence(str(error), is_needed=is_needed)


def judge_engine(engine: Engine, *, image: str, is_needed: bool) -> Finding:
    state = f"{engine.version} answers"
    if not is_needed:
        return ok("Docker", state)
    if engine.has_image:
        return ok("Docker", f"{state} and has {image}")
    return warning(
        "Docker",
        f"{state} but does not have the image {image}: the run will pull it first",
        f"`docker pull {image}`",
    )


def judge_silence(reason: str, *, is_needed: bool) -> Finding:
    if not is_needed:
        return ok("Docker", f"cannot be used ({reason}), and only launch mode docker needs it")
    if "ermission denied" in reason:
        return problem(
            "Docker",
            reason,
            "`sudo usermod -aG docker $USER`, then log in again; or set DOCKER_HOST to an engine"
            " that you may use",
        )
    return problem("Docker", reason, "`systemctl start docker`, or fix the error that it reports")
