# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Installs a real tritonserver and perf_analyzer into the cache directory, without root.

Of two wheels only the binaries are unpacked. Models of the Python backend get an environment of
their own with numpy 1: with numpy 2 this server's Python backend answers with empty tensors and
reports no error. Everything is verified by lock files (wheels.py) but for packages that the user
accepts unverified.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from model_analyzer.domain.places import cache_directory
from model_analyzer.errors import RuntimeNotFound
from model_analyzer.runner.process import run
from model_analyzer.runner.runtime import InstalledRuntime, installed_runtime
from model_analyzer.runner.wheels import (
    BUILD,
    MODELS,
    Pip,
    isolated,
    succeed,
    without_python_variables,
)
from model_analyzer.writing import open_own

Say = Callable[[str], None]

# Debian's libb64 and NVIDIA's CUDA runtime are in the wheel under names of their own.
_SHORT_NAMES = {"libb64-": "libb64.so.0d", "libcudart-": "libcudart.so.12"}

# Newest first, but for 3.13: there numpy 1 must be compiled.
_COMPILES_NUMPY = "3.13"
_PYTHONS = ("3.12", "3.11", "3.10", "3.9", "3.8", _COMPILES_NUMPY)

_LIBRARY_PLACES = (
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
)

_NUMPY = "numpy<2"

_PROBE = """
import sys, sysconfig
print("%d.%d" % sys.version_info[:2])
print(sysconfig.get_config_var("LIBDIR") or "")
import venv, ensurepip
"""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python for the models.

    `library` is its shared library, or None where the runtime brings one (3.13) or where it is
    still to be taken out of the Debian package `package`.
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
    """Installs what is missing, and packages for the models. Safe when run twice at once.

    `locks` are requirements files with hashes, `unverified` packages that need not have any.
    """
    _check_machine()
    runtime = installed_runtime(environment)
    environment = without_python_variables(environment)
    pip = Pip(runtime.python, environment)
    with _locked(cache_directory(environment)):
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
    interpreter = _find_interpreter(python, environment)
    say(f"Python of the models: {interpreter.executable} ({interpreter.version})")
    with tempfile.TemporaryDirectory(
        dir=cache_directory(environment), prefix=".installing-"
    ) as temporary:
        new = InstalledRuntime(Path(temporary, "runtime"))
        new.root.mkdir()
        _make_environment(new, interpreter, environment, say)
        say("Fetching tritonserver and perf_analyzer (about 70 MB)")
        for wheel in Pip(new.python, environment).fetch_server(Path(temporary, "wheels")):
            _unpack(wheel, new.root, interpreter.version)
        _finish(new, interpreter)
        if runtime.root.exists():
            runtime.root.rename(Path(temporary, "old"))
        new.root.rename(runtime.root)
    say(f"Installed in {runtime.root}.")


def _check_machine() -> None:
    machine, system = os.uname().machine, sys.platform
    if system != "linux" or machine != "x86_64":
        raise RuntimeNotFound(
            f"there is no runtime for {system} on {machine}, only for Linux on x86_64: install"
            " tritonserver and perf_analyzer another way and give their paths"
        )
    name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if name != "glibc" or numbers < (2, 34):
        raise RuntimeNotFound(
            "the runtime needs glibc 2.34 or newer (Debian 12, Ubuntu 22.04), found"
            f" {name or 'another C library'} {version}"
        )


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


def _find_interpreter(wanted: str | None, environment: Mapping[str, str]) -> Interpreter:
    """The first interpreter that can run models, `wanted` (a path, a name or 3.X) if given."""
    if wanted is not None:
        found = _probe(f"python{wanted}" if wanted[:1].isdigit() else wanted, environment)
        if isinstance(found, str):
            raise RuntimeNotFound(f"--python {wanted}: {found}")
        return found
    own = f"{sys.version_info[0]}.{sys.version_info[1]}"
    order = [own, *_PYTHONS] if own in _PYTHONS[:-1] else list(_PYTHONS)
    second_choice = None
    reasons = []
    for version in dict.fromkeys(order):
        name = sys.executable if version == own else f"python{version}"
        found = _probe(name, environment)
        if isinstance(found, str):
            reasons.append(f"{Path(name).name}: {found}")
        elif not found.package:
            return found
        else:
            second_choice = second_choice or found
    if second_choice is not None:
        return second_choice
    raise RuntimeNotFound(
        f"no Python for the models: {'; '.join(reasons)}; install Python 3.12 or older with its"
        " shared library (packages python3-venv and libpython3), or give --python"
    )


def _probe(name: str, environment: Mapping[str, str]) -> Interpreter | str:
    """The interpreter called `name`, or why it cannot run models."""
    executable = shutil.which(name, path=environment.get("PATH"))
    if executable is None:
        return "not found"
    status, output = run(isolated(executable, "-c", _PROBE), environment=environment, timeout_s=20)
    lines = output.splitlines()
    if status != 0:
        if "ensurepip" in output:
            return "cannot make environments (package python3-venv is missing)"
        return (lines or [f"exit status {status}"])[-1]
    version, directory = lines[0], lines[1]
    if version not in _PYTHONS:
        return f"is Python {version}; this server's models run on 3.8 to 3.13"
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
    succeed("make an environment", command, environment=environment)


def _install_numpy(runtime: InstalledRuntime, environment: Mapping[str, str], say: Say) -> None:
    """numpy of the lock: a wheel, or for Python 3.13 compiled from its source."""
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
    """Records as verified what is installed in here."""
    before = runtime.packages
    yield
    runtime.record_verified(runtime.packages - before)


def _library_from_package(
    runtime: InstalledRuntime, interpreter: Interpreter, environment: Mapping[str, str]
) -> Path:
    """Takes libpython out of its Debian package, which needs no root."""
    package = interpreter.package
    unpacked = runtime.root / package
    unpacked.mkdir()
    mend = f"install it with: sudo apt-get install {package}"
    fetch = ["apt-get", "download", package]
    succeed(f"fetch {package} ({mend})", fetch, environment=environment, directory=unpacked)
    for file in unpacked.glob("*.deb"):
        unpack = ["dpkg-deb", "-x", str(file), str(unpacked)]
        succeed(f"unpack {file.name}", unpack, environment=environment)
        file.unlink()
    for library in unpacked.rglob(f"libpython{interpreter.version}.so.1.0"):
        return Path("..", library.relative_to(runtime.root))
    raise RuntimeNotFound(f"package {package} holds no shared library; {mend}")


def _unpack(wheel: Path, root: Path, python: str) -> None:
    """Takes the binaries and licences out of a wheel, writable for the owner alone."""
    wanted = (
        "nvidia_pytriton.libs/",
        "pytriton/tritonserver/bin/",
        "pytriton/tritonserver/backends/",
        "pytriton/tritonserver/caches/",
        f"pytriton/tritonserver/python_backend_stubs/{python}/",
    )
    with zipfile.ZipFile(wheel) as archive:
        for item in archive.infolist():
            name = Path(item.filename)
            if item.is_dir() or "__pycache__" in name.parts or ".." in name.parts:
                continue
            if item.filename.startswith(wanted):
                target = root / name
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
    """Puts the stub and the libraries where the server looks for them."""
    stubs = runtime.server.parent.parent / "python_backend_stubs"
    (stubs / interpreter.version / runtime.stub.name).rename(runtime.stub)
    shutil.rmtree(stubs)
    for start, short in _SHORT_NAMES.items():
        for library in runtime.libraries.glob(f"{start}*"):
            (runtime.libraries / short).symlink_to(library.name)
