# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Installs a real tritonserver and perf_analyzer into the cache directory, without root.

It unpacks only the binaries of two wheels. Python models get a separate environment with numpy 1:
with numpy 2, the Python backend of this server answers with empty tensors and reports no error.
Lock files verify everything except packages that the user accepts unverified.

pip, which refuses every file whose hash is not in a lock file, fetches the wheels. It reads the
user's configuration (index, mirror, proxy, certificates). This is safe: hashes verify files from
any source. Modules in the current directory or in PYTHON* variables cannot replace modules of pip.
"""

from __future__ import annotations

import fcntl
import os
import platform
import re
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from model_analyzer.domain.secrets import cache_directory
from model_analyzer.errors import RuntimeNotFound, wrong
from model_analyzer.runner.process import run
from model_analyzer.runner.runtime import InstalledRuntime, installed_runtime
from model_analyzer.runner.versions import PYTHONS, short
from model_analyzer.runner.workspace import boot_id, has_ended, this_process
from model_analyzer.writing import open_own

_LOCKS = Path(__file__).with_name("lock")

# Written by tools/lock_runtime.py. BUILD has the tools to compile numpy if it has no wheel.
MODELS, BUILD = (_LOCKS / name for name in ("models.txt", "build.txt"))

_WHEELS_ONLY = "--only-binary=:all:"
_SERVER_PLATFORMS = (
    "manylinux_2_35_x86_64",
    "manylinux_2_31_x86_64",
    "manylinux2014_x86_64",
    "manylinux1_x86_64",
)
_LONG_S = 900.0

_MISMATCH = re.compile(
    r"DO NOT MATCH THE HASHES.*?\bfrom (?P<url>\S+).*?\bGot\s+(?P<hash>[0-9a-f]+)", re.DOTALL
)


def server_lock(version: str) -> Path:
    """The lock file of this Triton (such as 2.51), with its perf_analyzer."""
    return _LOCKS / f"server-{version}.txt"


def isolated(python: str | Path, *arguments: str) -> list[str]:
    """A command of this Python that imports no modules from the current directory."""
    return [str(python), "-I", *arguments]


def without_python_variables(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The environment without PYTHON* variables: it isolates Pythons that a child starts, which do
    not inherit `-I`.
    """
    return {key: value for key, value in environment.items() if not key.startswith("PYTHON")}


@dataclass(frozen=True, slots=True)
class Pip:
    """pip of one Python environment."""

    python: Path
    environment: Mapping[str, str]

    def install(self, *locks: Path) -> None:
        """Installs wheels whose hashes are in these files."""
        self._run("install", _WHEELS_ONLY, *_verified_by(locks))

    def install_unverified(self, *requirements: str) -> None:
        """Installs packages and their dependencies without verifying hashes."""
        self._run("install", *requirements)

    def install_wheel(self, wheel: Path) -> None:
        self._run("install", "--no-index", "--no-deps", str(wheel))

    def fetch_server(self, lock: Path, directory: Path) -> Sequence[Path]:
        """Fetches the wheels with tritonserver and perf_analyzer, for any version of Python."""
        platforms = [word for name in _SERVER_PLATFORMS for word in ("--platform", name)]
        self._run(
            "download", "--no-deps", _WHEELS_ONLY, *platforms, *_verified_by([lock]),
            "--dest", str(directory),
        )  # fmt: skip
        return sorted(directory.glob("*.whl"))

    def compile(self, lock: Path, directory: Path) -> Sequence[Path]:
        """Builds wheels from the sources in `lock`, with the tools in this environment."""
        self._run(
            "wheel", "--no-deps", "--no-binary=:all:", "--no-build-isolation",
            *_verified_by([lock]), "--wheel-dir", str(directory),
        )  # fmt: skip
        return sorted(directory.glob("*.whl"))

    def _run(self, *arguments: str) -> None:
        path = os.pathsep.join([str(self.python.parent), self.environment.get("PATH", "")])
        succeed(
            f"pip {arguments[0]}",
            isolated(
                self.python, "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments
            ),
            environment={**self.environment, "PATH": path},
        )


def _verified_by(locks: Sequence[Path]) -> Sequence[str]:
    files = [word for lock in locks for word in ("--requirement", str(lock))]
    return ["--require-hashes", *files]


def succeed(
    action: str,
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    directory: Path | None = None,
) -> None:
    """Runs a command of the installation. Raises RuntimeNotFound with one line if it fails."""
    status, output = run(command, environment=environment, timeout_s=_LONG_S, directory=directory)
    if status != 0:
        raise RuntimeNotFound(f"cannot {action}: {reason_in(output) or f'exit status {status}'}")


def reason_in(output: str) -> str:
    """Why pip, apt-get or dpkg-deb failed, in one line; "" if their output is empty."""
    if match := _MISMATCH.search(output):
        url = match["url"].partition("#")[0]
        return (
            f"{PurePosixPath(url).name} has sha256 {match['hash']}, which is not in the"
            " lock file: it was changed or rebuilt (`pip config list` shows which index pip uses)"
        )
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.lower().startswith(("error", "e:"))]
    telling = [line for line in errors if "ResolutionImpossible" not in line]
    return (telling or errors or lines or [""])[-1]


Say = Callable[[str], None]

# Debian's libb64 and NVIDIA's CUDA runtime have different names in the wheel.
_SHORT_NAMES = {"libb64-": "libb64.so.0d", "libcudart-": "libcudart.so.12"}

# There is no wheel of numpy 1 for it.
_COMPILES_NUMPY = "3.13"

_LIBRARY_PLACES = (
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
)

_NUMPY = "numpy<2"

_INSTALLING, _OWNER = ".installing-", "owner"
_LONGEST_S = 2 * 3600

# Of the system on which the programs of the runtime were built.
_LEAST_GLIBC = (2, 34)

_PROBE = """
import sys, sysconfig
print("%d.%d" % sys.version_info[:2])
print(sysconfig.get_config_var("LIBDIR") or "")
import venv, ensurepip
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python for the models.

    `library` is its shared library. None means that the runtime has one (3.13), or that it must be
    unpacked from the Debian package `package`.
    """

    executable: str
    version: str
    library: Path | None = None
    package: str = ""


def install(
    environment: Mapping[str, str],
    *,
    python: str | None,
    locks: Sequence[Path],
    unverified: Sequence[str],
    say: Say,
) -> InstalledRuntime:
    """Installs missing parts, and packages for the models. Two processes may run it at once.

    `locks` are requirements files with hashes; `unverified` are packages without hashes. Raises
    RuntimeNotFound.
    """
    _check_machine()
    runtime = installed_runtime(environment)
    environment = without_python_variables(environment)
    pip = Pip(runtime.python, environment)
    cache = cache_directory(environment)
    with _locked(cache):
        remove_leftovers(cache)
        if runtime.exists and python is None:
            say(f"The runtime is installed in {runtime.root}.")
        else:
            _install_anew(runtime, python, environment, say)
        if not runtime.numpy_version.startswith("1"):
            _install_numpy(runtime, environment, say)
        if locks:
            say(f"Installing for the models, verified: {', '.join(map(str, locks))}")
            with _recording(runtime):
                pip.install(MODELS, *locks)
        if unverified:
            say(f"Installing for the models, not verified: {', '.join(unverified)}")
            runtime.record_verified(())
            pip.install_unverified(_NUMPY, *unverified)
        remove_leftovers(cache)  # again: programs of a killed installation may have written on
    return runtime


def remove(environment: Mapping[str, str], say: Say) -> None:
    """Removes the runtime, if there is one."""
    runtime = installed_runtime(environment)
    if not runtime.root.exists():
        say(f"No runtime in {runtime.root}.")
        return
    with _locked(cache_directory(environment)):
        doomed = runtime.root.with_name(f".{runtime.root.name}.removed.{os.getpid()}")
        runtime.root.rename(doomed)
        shutil.rmtree(doomed)
    say(f"Removed {runtime.root}.")


def _install_anew(
    runtime: InstalledRuntime, python: str | None, environment: Mapping[str, str], say: Say
) -> None:
    interpreter = _find_interpreter(python, PYTHONS[short(runtime.version)], environment)
    say(f"Python of the models: {interpreter.executable} ({interpreter.version})")
    with tempfile.TemporaryDirectory(
        dir=cache_directory(environment), prefix=_INSTALLING
    ) as temporary:
        Path(temporary, _OWNER).write_text(this_process())
        new = InstalledRuntime(Path(temporary, "runtime"), runtime.version)
        new.root.mkdir()
        _make_environment(new, interpreter, environment, say)
        say(f"Fetching tritonserver {new.version} and perf_analyzer (about 70 MB)")
        pip, lock = Pip(new.python, environment), server_lock(short(new.version))
        for wheel in pip.fetch_server(lock, Path(temporary, "wheels")):
            unpack(wheel, new.root, interpreter.version)
        _finish(new, interpreter)
        if runtime.root.exists():
            runtime.root.rename(Path(temporary, "old"))
        new.root.rename(runtime.root)
    say(f"Installed in {runtime.root}.")


def remove_leftovers(cache: Path) -> None:
    """Removes what killed installations left. Only whoever holds the lock may call it: but machines
    that share the directory may not share locks.
    """
    for path in cache.glob(f"{_INSTALLING}*"):
        if _is_left(path):
            shutil.rmtree(path, ignore_errors=True)


def _is_left(directory: Path) -> bool:
    """Whether nobody installs there: its process has ended, or no installation takes so long."""
    try:
        owner = (directory / _OWNER).read_text("utf-8", "replace")
        age_s = time.time() - (directory / _OWNER).stat().st_mtime
    except OSError:
        return True
    is_of_here = owner.split()[:1] == [boot_id()]
    return (is_of_here and has_ended(owner)) or age_s > _LONGEST_S


@dataclass(frozen=True, slots=True)
class Platform:
    """What decides whether the programs of the runtime start: the system (`linux`), its processor,
    and its C library with its version, "" if unknown.
    """

    system: str
    machine: str
    library: str
    version: str

    @classmethod
    def of_here(cls) -> Platform:
        library, version = platform.libc_ver()
        if not library and any(Path("/lib").glob("ld-musl-*")):
            library = "musl"
        return cls(sys.platform, platform.machine(), library, version)

    def __str__(self) -> str:
        library = f"{self.library or 'an unknown C library'} {self.version}".strip()
        return f"{self.system} on {self.machine}, {library}"

    @property
    def unfit(self) -> tuple[str, str] | None:
        """Why the runtime does not start here, and what to do; None if it does."""
        if self.system != "linux" or self.machine != "x86_64":
            return (
                f"there is no runtime for {self.system} on {self.machine}, only for Linux on"
                " x86_64",
                "measure from such a machine (triton_launch_mode: remote), or give the paths of"
                " programs built for this one, such as those of NVIDIA's images"
                " (--perf-analyzer-path, --triton-server-path)",
            )
        numbers = tuple(int(part) for part in self.version.split(".")[:2] if part.isdecimal())
        if self.library == "glibc" and numbers >= _LEAST_GLIBC:
            return None
        found = f"{self.library or 'another C library'} {self.version}".strip()
        return (
            f"the runtime needs glibc 2.34 or newer (Debian 12, Ubuntu 22.04), found {found}",
            "use such a system, or a container of it",
        )


def _check_machine() -> None:
    if unfit := Platform.of_here().unfit:
        raise RuntimeNotFound(*unfit)


@contextmanager
def _locked(cache: Path) -> Iterator[None]:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock = os.fdopen(open_own(cache / "runtime.lock", os.O_WRONLY), "w")
    except OSError as error:
        raise RuntimeNotFound(f"{cache}: cannot be written: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _find_interpreter(
    requested: str | None, suitable: Sequence[str], environment: Mapping[str, str]
) -> Interpreter:
    """The `requested` interpreter (a path, a name or 3.X), or the first that can run models, of
    these `suitable` versions.
    """
    if requested is not None:
        name = f"python{requested}" if requested[:1].isdigit() else requested
        interpreter = _probe(name, suitable, environment)
        if isinstance(interpreter, str):
            raise wrong(f"--python {requested}", interpreter)
        return interpreter
    current = f"{sys.version_info[0]}.{sys.version_info[1]}"
    is_good = current in suitable and current != _COMPILES_NUMPY
    order = [current, *suitable] if is_good else list(suitable)
    second_choice = None
    reasons = []
    for version in dict.fromkeys(order):
        name = sys.executable if version == current else f"python{version}"
        interpreter = _probe(name, suitable, environment)
        if isinstance(interpreter, str):
            reasons.append(f"{Path(name).name}: {interpreter}")
        elif not interpreter.package:
            return interpreter
        else:
            second_choice = second_choice or interpreter
    if second_choice is not None:
        return second_choice
    raise RuntimeNotFound(
        f"no Python for the models: {'; '.join(reasons)}; install Python {_range(suitable)} with"
        " its shared library (packages python3-venv and libpython3), or give --python"
    )


def _range(pythons: Sequence[str]) -> str:
    """The versions in words: 3.8, or 3.8 to 3.11."""
    ordered = sorted(pythons, key=lambda version: int(version.partition(".")[2]))
    return ordered[0] if len(ordered) == 1 else f"{ordered[0]} to {ordered[-1]}"


def _probe(name: str, suitable: Sequence[str], environment: Mapping[str, str]) -> Interpreter | str:
    """The interpreter called `name`, or why it cannot run models."""
    executable = shutil.which(name, path=environment.get("PATH"))
    if executable is None:
        return "not found"
    status, output = run(isolated(executable, "-c", _PROBE), environment=environment, timeout_s=20)
    lines = output.splitlines()
    if status != 0:
        if "ensurepip" in output:
            return "cannot create environments (package python3-venv is missing)"
        told = [line for line in lines if line.strip()] or [f"exit status {status}"]
        return told[-1] if "Traceback" in output else told[0]
    version, directory = lines[0], lines[1]
    if version not in suitable:
        return f"is Python {version}; models of this server need {_range(suitable)}"
    if version == _COMPILES_NUMPY:  # the runtime brings its shared library
        return Interpreter(executable, version)
    library = f"libpython{version}.so.1.0"
    for place in (directory, *_LIBRARY_PLACES):
        if Path(place, library).exists():
            return Interpreter(executable, version, Path(place, library))
    if shutil.which("apt-get") and shutil.which("dpkg-deb"):
        return Interpreter(executable, version, package=f"libpython{version}")
    return f"its shared library {library} is missing (package libpython{version})"


def _make_environment(
    runtime: InstalledRuntime,
    interpreter: Interpreter,
    environment: Mapping[str, str],
    say: Say,
) -> None:
    _make_venv(interpreter.executable, runtime.python.parent.parent, environment)
    runtime.record_verified(runtime.packages)  # pip itself comes with the interpreter
    _install_numpy(runtime, environment, say)
    runtime.libpython.mkdir()
    library = interpreter.library
    if interpreter.package:
        library = _library_from_package(runtime, interpreter, environment)
    if library is not None:
        (runtime.libpython / library.name).symlink_to(library)


def _make_venv(python: str, directory: Path, environment: Mapping[str, str]) -> None:
    command = isolated(python, "-m", "venv", str(directory))
    succeed("create an environment", command, environment=environment)


def _install_numpy(runtime: InstalledRuntime, environment: Mapping[str, str], say: Say) -> None:
    """Installs numpy from the lock file: a wheel, or for Python 3.13 compiled from source."""
    pip = Pip(runtime.python, environment)
    with _recording(runtime):
        if runtime.python_version != _COMPILES_NUMPY:
            pip.install(MODELS)
            return
        say("Compiling numpy 1 (some minutes; an older Python has a wheel)")
        with tempfile.TemporaryDirectory() as temporary:
            _make_venv(str(runtime.python), Path(temporary, "tools"), environment)
            tools = Pip(Path(temporary, "tools", "bin", "python3"), environment)
            tools.install(BUILD)
            for wheel in tools.compile(MODELS, Path(temporary, "wheels")):
                pip.install_wheel(wheel)


@contextmanager
def _recording(runtime: InstalledRuntime) -> Iterator[None]:
    """A block that records the packages installed in it as verified."""
    earlier = runtime.packages
    yield
    runtime.record_verified(runtime.packages - earlier)


def _library_from_package(
    runtime: InstalledRuntime, interpreter: Interpreter, environment: Mapping[str, str]
) -> Path:
    """Unpacks libpython from its Debian package, without root."""
    package = interpreter.package
    unpacked = runtime.root / package
    unpacked.mkdir()
    fix = f"install it with: sudo apt-get install {package}"
    fetch = ["apt-get", "download", package]
    succeed(f"fetch {package} ({fix})", fetch, environment=environment, directory=unpacked)
    for file in unpacked.glob("*.deb"):
        unpack = ["dpkg-deb", "-x", str(file), str(unpacked)]
        succeed(f"unpack {file.name}", unpack, environment=environment)
        file.unlink()
    for library in unpacked.rglob(f"libpython{interpreter.version}.so.1.0"):
        return Path("..", library.relative_to(runtime.root))
    raise RuntimeNotFound(f"package {package} has no shared library; {fix}")


def unpack(wheel: Path, root: Path, python: str) -> None:
    """Unpacks the binaries and licences of a wheel, writable only for the owner."""
    wanted = (
        "nvidia_pytriton.libs/",
        "pytriton/tritonserver/bin/",
        "pytriton/tritonserver/backends/",
        "pytriton/tritonserver/caches/",
        f"pytriton/tritonserver/python_backend_stubs/{python}/",
    )
    cuda = "nvidia/cuda_runtime/lib/"
    with zipfile.ZipFile(wheel) as archive:
        for item in archive.infolist():
            name = Path(item.filename)
            leads_out = name.is_absolute() or ".." in name.parts
            if item.is_dir() or leads_out or "__pycache__" in name.parts:
                continue
            if item.filename.startswith(wanted):
                target = root / name
            elif item.filename.startswith(cuda) and name.name.startswith("libcudart.so"):
                target = root / "nvidia_pytriton.libs" / name.name
            elif item.filename.endswith("/data/bin/perf_analyzer"):
                target = root / "bin" / "perf_analyzer"
            elif name.name.startswith("LICENSE"):
                target = root / "licenses" / name.parts[0] / name.name
            else:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(item) as source, open(target, "wb") as copy:
                shutil.copyfileobj(source, copy, 2**20)
            is_program = (item.external_attr >> 16) & 0o100 or target.parent.name == "bin"
            target.chmod(0o755 if is_program else 0o644)


def _finish(runtime: InstalledRuntime, interpreter: Interpreter) -> None:
    """Moves the stub and the libraries to the places where the server looks for them."""
    stubs = runtime.server.parent.parent / "python_backend_stubs"
    if stubs.exists():  # the oldest servers have one stub, in its place
        (stubs / interpreter.version / runtime.stub.name).rename(runtime.stub)
        shutil.rmtree(stubs)
    for start, name in _SHORT_NAMES.items():
        for library in runtime.libraries.glob(f"{start}*"):
            if not (runtime.libraries / name).exists():  # from a wheel of its own
                (runtime.libraries / name).symlink_to(library.name)
