# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Installs a real tritonserver and perf_analyzer into the cache directory, without root.

Two pinned wheels are fetched by pip, which checks their hashes, and only their binaries are
unpacked. Models of the Python backend get an environment of their own with numpy 1: with
numpy 2 this server's Python backend answers with empty tensors and reports no error.
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
from model_analyzer.writing import open_own

Say = Callable[[str], None]

_WHEELS = (
    "nvidia-pytriton==0.7.0"
    " --hash=sha256:21f063ff93bb426d0c06b7a55e7eb9efcfe62c0dddd9a908e9877e18710128df",
    "tritonclient==2.51.0"
    " --hash=sha256:c485bb0123bdf310f90bc8b03d3489b28df2ffed55b30c7eee0b795b48113d52",
)
_PLATFORMS = ("manylinux_2_35_x86_64", "manylinux1_x86_64")

# Debian's libb64 and NVIDIA's CUDA runtime are in the wheel under names of their own.
_SHORT_NAMES = {"libb64-": "libb64.so.0d", "libcudart-": "libcudart.so.12"}

# Newest first, but for 3.13: there numpy 1 must be compiled.
_PYTHONS = ("3.12", "3.11", "3.10", "3.9", "3.8", "3.13")

_LIBRARY_PLACES = (
    "/usr/lib/x86_64-linux-gnu",
    "/lib/x86_64-linux-gnu",
    "/usr/lib64",
    "/usr/local/lib",
)

_NUMPY = "numpy<2"
_LONG_S = 900.0

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
    environment: Mapping[str, str], *, python: str | None, packages: Sequence[str], say: Say
) -> InstalledRuntime:
    """Installs what is missing, and `packages` for the models. Safe when run twice at once."""
    _check_machine()
    runtime = installed_runtime(environment)
    with _locked(cache_directory(environment)):
        if runtime.exists and python is None:
            say(f"The runtime is installed in {runtime.root}.")
        else:
            _install_anew(runtime, python, environment, say)
        if packages or not runtime.numpy_version.startswith("1"):
            say(f"Installing for the models: {', '.join((_NUMPY, *packages))}")
            _pip(runtime.python, "install", _NUMPY, *packages)
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
        _make_environment(new, interpreter)
        say("Fetching tritonserver and perf_analyzer (about 70 MB)")
        for wheel in _fetch(new, Path(temporary, "wheels")):
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
            f"the runtime needs glibc 2.34 or newer (Debian 12, Ubuntu 22.04), found"
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
    status, output = run([executable, "-c", _PROBE], environment=environment, timeout_s=20)
    lines = output.splitlines()
    if status != 0:
        if "ensurepip" in output:
            return "cannot make environments (package python3-venv is missing)"
        return (lines or [f"exit status {status}"])[-1]
    version, directory = lines[0], lines[1]
    if version not in _PYTHONS:
        return f"is Python {version}; this server's models run on 3.8 to 3.13"
    if version == "3.13":
        return Interpreter(executable, version)
    library = f"libpython{version}.so.1.0"
    for place in (directory, *_LIBRARY_PLACES):
        if Path(place, library).exists():
            return Interpreter(executable, version, Path(place, library))
    if shutil.which("apt-get") and shutil.which("dpkg-deb"):
        return Interpreter(executable, version, package=f"libpython{version}")
    return f"its shared library {library} is missing (package libpython{version})"


def _make_environment(runtime: InstalledRuntime, interpreter: Interpreter) -> None:
    environment = runtime.python.parent.parent
    _succeed("make an environment", [interpreter.executable, "-m", "venv", str(environment)])
    _pip(runtime.python, "install", _NUMPY)
    runtime.libpython.mkdir()
    library = interpreter.library
    if interpreter.package:
        library = _library_from_package(runtime, interpreter)
    if library is not None:
        (runtime.libpython / library.name).symlink_to(library)


def _library_from_package(runtime: InstalledRuntime, interpreter: Interpreter) -> Path:
    """Takes libpython out of its Debian package, which needs no root."""
    package = interpreter.package
    unpacked = runtime.root / package
    unpacked.mkdir()
    mend = f"install it with: sudo apt-get install {package}"
    _succeed(f"fetch {package} ({mend})", ["apt-get", "download", package], directory=unpacked)
    for file in unpacked.glob("*.deb"):
        _succeed(f"unpack {file.name}", ["dpkg-deb", "-x", str(file), str(unpacked)])
        file.unlink()
    for library in unpacked.rglob(f"libpython{interpreter.version}.so.1.0"):
        return Path("..", library.relative_to(runtime.root))
    raise RuntimeNotFound(f"package {package} holds no shared library; {mend}")


def _fetch(runtime: InstalledRuntime, directory: Path) -> Sequence[Path]:
    """The pinned wheels, with hashes checked by pip."""
    directory.mkdir()
    requirements = directory / "requirements.txt"
    requirements.write_text("\n".join(_WHEELS) + "\n")
    platforms = [word for name in _PLATFORMS for word in ("--platform", name)]
    _pip(
        runtime.python, "download", "--no-deps", "--only-binary=:all:", *platforms,
        "--require-hashes", "--requirement", str(requirements), "--dest", str(directory),
    )  # fmt: skip
    return sorted(directory.glob("*.whl"))


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


def _pip(python: Path, *arguments: str) -> None:
    command = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", *arguments]
    _succeed(f"pip {arguments[0]}", command)


def _succeed(what: str, command: Sequence[str], *, directory: Path | None = None) -> None:
    status, output = run(command, timeout_s=_LONG_S, directory=directory)
    if status != 0:
        lines = [line.strip() for line in output.splitlines() if line.strip()]
        errors = [line for line in lines if line.lower().startswith(("error", "e:"))]
        reason = (errors or lines or [f"exit status {status}"])[-1]
        raise RuntimeNotFound(f"cannot {what}: {reason}")
