# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Finds tritonserver and perf_analyzer, and checks that they start."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from model_analyzer.domain.secrets import cache_directory
from model_analyzer.errors import ModelAnalyzerError, RuntimeNotFound, wrong
from model_analyzer.runner.process import run
from model_analyzer.runner.versions import DEFAULT, EXPORT, PYTHONS, WARM_UP, short

INSTALL = "model-analyzer runtime install"

# The Triton that was chosen among the installed ones, such as 2.36; the variable of an option.
CHOSEN = "MODEL_ANALYZER_RUNTIME_VERSION"

_CONTAINER_SERVER = Path("/opt/tritonserver/bin/tritonserver")
_LIBRARY = Path("lib", "libtritonserver.so")
_CHECK_S = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """An executable, its required flags and variables, and how it was found. `warms_up` tells of a
    perf_analyzer whether it can send warm-up requests.
    """

    path: Path
    origin: str
    flags: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str]
    version: str = ""
    warms_up: bool = True


@dataclass(frozen=True, slots=True)
class InstalledRuntime:
    """The runtime that `model-analyzer runtime install` writes into the cache directory, with this
    version of Triton.
    """

    root: Path
    version: str = f"{DEFAULT}.0"

    @property
    def server(self) -> Path:
        return self.root / "pytriton" / "tritonserver" / "bin" / "tritonserver"

    @property
    def backends(self) -> Path:
        return self.root / "pytriton" / "tritonserver" / "backends"

    @property
    def stub(self) -> Path:
        return self.backends / "python" / "triton_python_backend_stub"

    @property
    def libraries(self) -> Path:
        return self.root / "nvidia_pytriton.libs"

    @property
    def perf_analyzer(self) -> Path:
        return self.root / "bin" / "perf_analyzer"

    @property
    def python(self) -> Path:
        """The interpreter of the models, in a separate environment."""
        return self.root / "python" / "bin" / "python3"

    @property
    def libpython(self) -> Path:
        """The directory (or a link to it) of the models' shared libpython."""
        return self.root / "libpython"

    @property
    def exists(self) -> bool:
        # an unreadable directory counts as missing
        return all(map(os.path.exists, (self.server, self.perf_analyzer, self.python)))

    @property
    def python_version(self) -> str:
        """The version of the models' interpreter, such as 3.11; "" if there is none."""
        return next((path.name.removeprefix("python") for path in self._python_libraries()), "")

    @property
    def packages(self) -> frozenset[str]:
        """The packages that the models can import, as NAME-VERSION."""
        return frozenset(
            path.name.removesuffix(".dist-info")
            for library in self._python_libraries()
            for path in library.glob("site-packages/*.dist-info")
        )

    @property
    def numpy_version(self) -> str:
        """The version of the models' numpy, or "" if they have none."""
        versions = (
            name.removeprefix("numpy-") for name in self.packages if name.startswith("numpy-")
        )
        return next(versions, "")

    @property
    def unverified(self) -> Sequence[str]:
        """Packages whose hashes were not verified at installation, as NAME-VERSION."""
        return sorted(self.packages - self._verified)

    def record_verified(self, packages: Iterable[str]) -> None:
        """Records `packages` as verified, and removes records of packages that do not exist any
        more.
        """
        names = sorted((self._verified | frozenset(packages)) & self.packages)
        self._record.write_text("".join(f"{name}\n" for name in names))

    @property
    def _verified(self) -> frozenset[str]:
        try:
            return frozenset(self._record.read_text().splitlines())
        except OSError:
            return frozenset()  # the version that installed it had no record

    @property
    def _record(self) -> Path:
        return self.root / "verified.txt"

    def _python_libraries(self) -> Iterator[Path]:
        return (self.root / "python" / "lib").glob("python3*")

    def server_environment(self, base: Mapping[str, str]) -> Mapping[str, str]:
        """`base`, with a PATH whose first python3 is the interpreter of the models."""
        path = _joined(self.python.parent, behind=base.get("PATH", ""))
        return {**base, "PATH": path, **_library_path(base, self.libpython)}

    def shell_environment(self, base: Mapping[str, str]) -> Mapping[str, str]:
        """`PATH` and `LD_LIBRARY_PATH` with which all programs of the runtime start, the
        Python of the models first; behind them what `base` has.
        """
        own = (self.python.parent, self.perf_analyzer.parent, self.server.parent)
        return {
            "PATH": _joined(*own, behind=base.get("PATH", "")),
            "LD_LIBRARY_PATH": _joined(
                self.libpython, self.libraries, behind=base.get("LD_LIBRARY_PATH", "")
            ),
        }

    def lay_out_library(self, directory: Path) -> Path:
        """Creates links to the server's library and backends in `directory`, laid out as in a
        container; returns that directory.
        """
        (library,) = self.libraries.glob("libtritonserver-*.so")
        place = directory / _LIBRARY
        place.parent.mkdir(parents=True)
        place.symlink_to(library)
        (directory / "backends").symlink_to(self.backends)
        return directory

    def load_generator(self, base: Mapping[str, str]) -> Program:
        """perf_analyzer, with a library path in `base` for its libraries."""
        return Program(
            path=self.perf_analyzer,
            origin="installed runtime",
            environment={**base, **_library_path(base, self.libraries)},
        )


def _library_path(base: Mapping[str, str], directory: Path) -> Mapping[str, str]:
    return {"LD_LIBRARY_PATH": _joined(directory, behind=base.get("LD_LIBRARY_PATH", ""))}


def _joined(*directories: Path, behind: str) -> str:
    """A search path: the directories, then another search path, which may be empty."""
    return os.pathsep.join(filter(None, (*map(str, directories), behind)))


def installed_runtime(environment: Mapping[str, str]) -> InstalledRuntime:
    """The installed runtime that was chosen, or that of the default version. It need not exist.
    Raises ConfigError if there is none of the chosen version.
    """
    version = short(environment.get(CHOSEN) or DEFAULT)
    if version not in PYTHONS:
        raise wrong(
            f"runtime {version}",
            "no such Triton can be installed",
            f"choose one of {', '.join(PYTHONS)}",
        )
    return InstalledRuntime(cache_directory(environment) / f"runtime-{version}.0", f"{version}.0")


def command_for(runtime: InstalledRuntime, verb: str = "install") -> str:
    """The command that installs this runtime, or does something else with it."""
    triton = short(runtime.version)
    return f"model-analyzer runtime {verb}" + ("" if triton == DEFAULT else f" --triton {triton}")


def with_runtime(environment: Mapping[str, str], version: str | None) -> Mapping[str, str]:
    """The environment in which this version is chosen, if it is not None. Raises ConfigError, as
    `installed_runtime` does.
    """
    chosen = dict(environment) if version is None else {**environment, CHOSEN: version}
    installed_runtime(chosen)
    return chosen


def describe_packages(runtime: InstalledRuntime) -> str:
    """A text that says which packages of the models were verified at installation."""
    if runtime.unverified:
        return f"not verified by hashes: {', '.join(runtime.unverified)}"
    return "all verified by hashes"


def find_tritonserver(name: str | None, environment: Mapping[str, str]) -> Program:
    """The server with this `name` or path; if None, the first that starts: on the PATH, in
    /opt/tritonserver/bin, or in the installed runtime. Raises ConfigError or RuntimeNotFound.
    """
    if name is not None:
        path = executable("triton_server_path", name, environment)
        return _server(path, "--triton-server-path", environment)
    reasons: list[str] = []
    for program in _server_candidates(environment):
        reason = why_server_fails(program)
        if not reason:
            return program
        reasons.append(reason)
    raise _not_found("tritonserver", "on the PATH, /opt/tritonserver/bin", reasons, environment)


def find_perf_analyzer(name: str | None, environment: Mapping[str, str]) -> Program:
    """The load generator with this `name` or path, and its version; if None, the first that starts:
    on the PATH or in the installed runtime. Raises ConfigError or RuntimeNotFound.
    """
    if name is not None:
        path = executable("perf_analyzer_path", name, environment)
        program = Program(path=path, origin="--perf-analyzer-path", environment=environment)
        runtime = installed_runtime(environment)
        if os.path.realpath(path) == os.path.realpath(runtime.perf_analyzer):
            program = runtime.load_generator(environment)
        program, reason = examined(program)
        if reason:
            raise RuntimeNotFound(
                reason, f"check --perf-analyzer-path; `ldd {path}` shows missing libraries"
            )
        return program
    reasons: list[str] = []
    for program in _perf_analyzer_candidates(environment):
        program, reason = examined(program)
        if not reason:
            return program
        reasons.append(reason)
    raise _not_found("perf_analyzer", "on the PATH", reasons, environment)


def find_server_library(path: Path | None, environment: Mapping[str, str], work: Path) -> Program:
    """The directory from which perf_analyzer loads the server: `path`; if None, /opt/tritonserver
    or the installed runtime, laid out in `work`. Raises ConfigError or RuntimeNotFound.
    """
    if path is not None:
        reason = _why_no_library(path)
        if reason:
            raise wrong(
                "triton_install_path",
                f"{path} {reason}",
                f"correct it, or remove it and run `{INSTALL}`",
            )
        return _library(path, "--triton-install-path", environment)
    container = _CONTAINER_SERVER.parent.parent
    if CHOSEN not in environment and not _why_no_library(container):
        return _library(container, str(container), environment)
    runtime = installed_runtime(environment)
    if not runtime.exists:
        raise _not_found("libtritonserver.so", f"in {container}", [], environment)
    library = runtime.lay_out_library(work)
    variables = runtime.server_environment(runtime.load_generator(environment).environment)
    return replace(_library(library, "installed runtime", variables), version=runtime.version)


def _library(path: Path, origin: str, environment: Mapping[str, str]) -> Program:
    try:
        version = (path / "TRITON_VERSION").read_text().strip()
    except OSError:
        version = "of unknown version"
    return Program(path=path, origin=origin, environment=environment, version=version)


def _why_no_library(path: Path) -> str:
    if not path.is_dir():
        return "is not a directory" if path.exists() else "does not exist"
    return "" if (path / _LIBRARY).exists() else f"does not contain {_LIBRARY}"


def find_genai_perf(perf_analyzer: Program) -> Program | None:
    """genai-perf on the PATH, set up to run this perf_analyzer; None if it is not installed."""
    environment = perf_analyzer.environment
    executable = shutil.which("genai-perf", path=environment.get("PATH"))
    if executable is None:
        return None
    places = filter(None, (str(perf_analyzer.path.parent), environment.get("PATH", "")))
    return Program(
        path=Path(executable).absolute(),
        origin="PATH",
        environment={**environment, "PATH": os.pathsep.join(places)},
    )


def why_server_fails(program: Program) -> str:
    """Why this tritonserver does not start, or "" if it does."""
    status, output = run(
        [str(program.path), "--help"], environment=program.environment, timeout_s=_CHECK_S
    )
    if "--model-repository" in output:
        return ""
    return f"{program.path} does not start: {_reason(status, output)}"


def knows_flag(server: Program, flag: str) -> bool:
    """Whether this tritonserver has the flag: its version may not be known before it runs."""
    command = [str(server.path), "--help"]
    _, output = run(command, environment=server.environment, timeout_s=_CHECK_S)
    return f"--{flag}" in output


def examined(program: Program) -> tuple[Program, str]:
    """This perf_analyzer with its version and what it can do, and the reason why it cannot be used
    or "". It is asked by flags: their list in its help is not complete.
    """
    for flags in ((EXPORT, WARM_UP), (EXPORT,), ()):
        asked = [f"--{flag}=1" for flag in flags]
        status, output = run(
            [str(program.path), *asked, "--version"],
            environment=program.environment,
            timeout_s=_CHECK_S,
        )
        if "unrecognized option" not in output:
            break
    match = re.search(r"[Pp]erf.?[Aa]nalyzer.*\b[Vv]ersion\s+(\S+)", output)
    if (status == 0 and match and not flags) or "--measurement-interval" in output:
        reason = f"is too old: it does not know --{EXPORT}, which perf_analyzer has from 2.39 on"
    elif status == 0 and match:
        # that of 2.50 does not say it
        version = match[1] if match[1][0].isdigit() else "of unknown version"
        return replace(program, version=version, warms_up=WARM_UP in flags), ""
    elif status == 0 and output.strip():
        reason = f"is not perf_analyzer: --version gives {_reason(status, output)!r}"
    else:
        reason = f"does not start: {_reason(status, output)}"
    return program, f"{program.path} {reason}"


def check_models_python(program: Program, environment: Mapping[str, str]) -> None:
    """Raises RuntimeNotFound if models of the runtime would answer with empty tensors."""
    runtime = installed_runtime(environment)
    python = shutil.which("python3", path=program.environment.get("PATH"))
    version = runtime.numpy_version if python == str(runtime.python) else "1"
    if not version.startswith("1"):
        have = f"numpy {version}" if version else "no numpy"
        raise RuntimeNotFound(
            f"the Python of the models ({runtime.python}) has {have}, but this server needs"
            " numpy 1: with other versions, models answer with empty tensors",
            f"run `{command_for(runtime)}`",
        )


def _server_candidates(environment: Mapping[str, str]) -> Iterator[Program]:
    is_chosen = CHOSEN in environment
    on_path = shutil.which("tritonserver", path=environment.get("PATH"))
    if on_path and not is_chosen:
        yield _server(Path(on_path).absolute(), "PATH", environment)
    if _CONTAINER_SERVER.exists() and not is_chosen:
        yield _server(_CONTAINER_SERVER, str(_CONTAINER_SERVER.parent), environment)
    runtime = installed_runtime(environment)
    if runtime.exists:
        yield _server(runtime.server, "installed runtime", environment)


def _server(path: Path, origin: str, environment: Mapping[str, str]) -> Program:
    """The server at `path`, with flags for the backends and caches beside it: without the flags, it
    looks for them in /opt/tritonserver.
    """
    runtime, version = installed_runtime(environment), ""
    if os.path.realpath(path) == os.path.realpath(runtime.server):
        environment, version = runtime.server_environment(environment), runtime.version
    home = Path(os.path.realpath(path)).parent.parent
    flags = {
        flag: str(home / name)
        for name, flag in {"backends": "backend-directory", "caches": "cache-directory"}.items()
        if (home / name).is_dir()
    }
    return Program(path=path, origin=origin, flags=flags, environment=environment, version=version)


def _perf_analyzer_candidates(environment: Mapping[str, str]) -> Iterator[Program]:
    on_path = shutil.which("perf_analyzer", path=environment.get("PATH"))
    if on_path and CHOSEN not in environment:
        yield Program(path=Path(on_path).absolute(), origin="PATH", environment=environment)
    runtime = installed_runtime(environment)
    if runtime.exists:
        yield runtime.load_generator(environment)


def executable(option: str, name: str, environment: Mapping[str, str]) -> Path:
    """The executable with this path, or with this name on the PATH. Raises ConfigError for a value
    of the `option` that is none.
    """
    name = os.path.expanduser(name)
    executable = shutil.which(name, path=environment.get("PATH"))
    if executable:
        return Path(executable).absolute()
    if not os.path.exists(name):
        reason = f"{name} does not exist" if "/" in name else f"no {name!r} on the PATH"
    elif os.path.isdir(name):
        reason = f"{name} is a directory"
    else:
        reason = f"{name} is not executable"
    hint = f"correct it, or remove it and run `{INSTALL}`"
    raise wrong(option, reason, hint)


def _not_found(
    name: str, places: str, reasons: list[str], environment: Mapping[str, str]
) -> ModelAnalyzerError:
    runtime = installed_runtime(environment)
    hint = f"run `{command_for(runtime)}`, or give --runtime-install"
    if reasons:
        return RuntimeNotFound(f"no {name} starts: {'; '.join(reasons)}", hint)
    if CHOSEN in environment:
        return RuntimeNotFound(f"no runtime of Triton {short(runtime.version)} is installed", hint)
    return RuntimeNotFound(f"no {name} {places}, and no runtime is installed", hint)


def _reason(status: int, output: str) -> str:
    """The line of a program's output with the reason why it did not start."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if "error" in line.lower() or "not found" in line.lower()]
    return (telling or lines or [f"exit status {status}"])[0][:300]
