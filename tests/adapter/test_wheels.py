# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""pip, in an environment of its own and with packages of our own: nothing comes from outside; an
installation that is killed, and wheels with names that lead elsewhere.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import psutil
import pytest

from model_analyzer.errors import RuntimeNotFound
from model_analyzer.runner.install import (
    Pip,
    isolated,
    remove_leftovers,
    succeed,
    unpack,
    without_python_variables,
)
from model_analyzer.runner.workspace import boot_id, this_process
from tests.waiting import until


def write_wheel(directory: Path, name: str) -> str:
    """A wheel with one module, and a line of a lock file for it."""
    info = f"{name}-1.0.dist-info"
    files = {
        f"{name}.py": "",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    hashes = {
        file: base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).decode().rstrip("=")
        for file, text in files.items()
    }
    record = "".join(f"{file},sha256={digest},\n" for file, digest in hashes.items())
    directory.mkdir(exist_ok=True)
    path = directory / f"{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in {**files, f"{info}/RECORD": f"{record}{info}/RECORD,,\n"}.items():
            wheel.writestr(file, text)
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


BACKEND = """
import pathlib, shutil
def build_wheel(directory, *_):
    open({trace!r}, "w").close()
    return shutil.copy({wheel!r}, directory).rpartition("/")[2]
"""


def write_source(index: Path, name: str, trace: Path) -> str:
    """A source distribution that builds itself and leaves a trace; a line of a lock file for it.

    What it wants for building is nowhere to be had.
    """
    write_wheel(index.parent / "built", name)
    wheel = index.parent / "built" / f"{name}-1.0-py3-none-any.whl"
    project = '[build-system]\nrequires = ["no-such-tool"]\n'
    files = {
        "pyproject.toml": f'{project}build-backend = "backend"\nbackend-path = ["."]\n',
        "backend.py": BACKEND.format(trace=str(trace), wheel=str(wheel)),
        "PKG-INFO": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
    }
    path = index / f"{name}-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for file, text in files.items():
            entry = tarfile.TarInfo(f"{name}-1.0/{file}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return f"{name}==1.0 --hash=sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}\n"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("environment")
    environment = without_python_variables(os.environ)
    succeed(
        "make an environment",
        isolated(sys.executable, "-m", "venv", str(directory)),
        environment=environment,
    )
    return directory / "bin" / "python3"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A directory of wheels: the only place where pip looks."""
    directory = tmp_path / "index"
    directory.mkdir()
    return directory


@pytest.fixture
def pip(python: Path, tmp_path: Path, index: Path) -> Pip:
    """pip with a configuration file as of a site with packages of its own."""
    configuration = tmp_path / "pip.conf"
    configuration.write_text(f"[global]\nno-index = true\nfind-links = {index}\n")
    own = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
    return Pip(python, {**without_python_variables(own), "PIP_CONFIG_FILE": str(configuration)})


def is_installed(pip: Pip, name: str) -> bool:
    library = pip.python.parent.parent / "lib"
    return any(library.glob(f"python3*/site-packages/{name}.py"))


def test_a_wheel_of_the_lock_comes_from_the_index_of_the_users_pip(pip, tmp_path, index) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(write_wheel(index, "ma_good"))

    pip.install(lock)

    assert is_installed(pip, "ma_good")


def test_a_changed_wheel_is_refused_in_one_line_that_names_it(pip, tmp_path, index) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(write_wheel(index, "ma_changed"))
    with zipfile.ZipFile(index / "ma_changed-1.0-py3-none-any.whl", "a") as wheel:
        wheel.writestr("more.py", "")

    with pytest.raises(
        RuntimeNotFound, match=r"ma_changed-1.0-py3-none-any.whl has sha256"
    ) as refusal:
        pip.install(lock)

    assert "\n" not in str(refusal.value)
    assert not is_installed(pip, "ma_changed")


@pytest.mark.parametrize("entry", ["ma_loose", "ma_loose==1.0"])
def test_a_file_without_a_hash_is_refused(pip, tmp_path, index, entry: str) -> None:
    lock = tmp_path / "lock.txt"
    write_wheel(index, "ma_loose")
    lock.write_text(f"{entry}\n")

    with pytest.raises(RuntimeNotFound, match=r"(?i)hash"):
        pip.install(lock)

    assert not is_installed(pip, "ma_loose")


def test_a_package_that_the_user_accepts_needs_no_hash(pip, index) -> None:
    write_wheel(index, "ma_accepted")

    pip.install_unverified("ma_accepted")

    assert is_installed(pip, "ma_accepted")


def test_modules_of_the_current_directory_do_not_replace_modules_of_pip(
    pip, tmp_path, index, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(write_wheel(index, "ma_isolated"))
    for name in ("pip", "json", "zipfile"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')\n")
    monkeypatch.chdir(tmp_path)

    pip.install(lock)

    assert is_installed(pip, "ma_isolated")


def test_a_verified_source_is_compiled_with_installed_tools(pip, tmp_path, index) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(write_source(index, "ma_source", tmp_path / "trace"))

    (wheel,) = pip.compile(lock, tmp_path / "wheels")
    pip.install_wheel(wheel)

    assert is_installed(pip, "ma_source")


def test_code_of_a_changed_source_is_not_run(pip, tmp_path, index) -> None:
    lock = tmp_path / "lock.txt"
    lock.write_text(write_source(index, "ma_forged", tmp_path / "trace"))
    with open(index / "ma_forged-1.0.tar.gz", "ab") as source:
        source.write(b"more")

    with pytest.raises(RuntimeNotFound, match=r"ma_forged-1.0.tar.gz has sha256"):
        pip.compile(lock, tmp_path / "wheels")

    assert not (tmp_path / "trace").exists()


# As an interpreter for the models: it answers the question about itself, and makes environments
# for ever.
PYTHON = """#!/bin/sh
case "$*" in *sysconfig*) printf '3.13\\n\\n'; exit 0;; esac
echo $$ > "{pid}.new"; mv "{pid}.new" "{pid}"
sleep 600 & wait
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_a_killed_installation_leaves_no_process(
    tmp_path: Path, mark, number: signal.Signals
) -> None:
    pid, python = tmp_path / "pid", tmp_path / "python"
    python.write_text(PYTHON.format(pid=pid))
    python.chmod(0o755)
    process = subprocess.Popen(
        [sys.executable, "-m", "model_analyzer", "runtime", "install", "--python", str(python)],
        env={**mark.environment, "XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    until(pid.exists, "the environment is not made")
    maker = psutil.Process(int(pid.read_text()))
    processes = [maker, *maker.children(recursive=True)]

    process.send_signal(number)
    _, error = process.communicate(timeout=60)

    assert process.returncode != 0
    assert psutil.wait_procs(processes, timeout=30)[1] == []
    if number is not signal.SIGKILL:
        assert error.strip() == "model-analyzer: interrupted"
        assert not [*tmp_path.rglob(".installing-*")]


OF_ANOTHER_MACHINE = "another-boot pid:[1] 1 1"


@pytest.mark.parametrize(
    ("owner", "hours", "stays"),
    [
        ("", 0, False),
        (f"{boot_id()} pid:[1] 1 1", 0, True),  # of a container, whose processes are unknown
        (this_process(), 0, True),
        (f"{this_process()}0", 0, False),
        (OF_ANOTHER_MACHINE, 0, True),
        (OF_ANOTHER_MACHINE, 3, False),
    ],
    ids=["nobody", "a container", "alive", "ended", "another machine", "another machine, old"],
)
def test_an_installation_is_removed_once_its_process_has_ended(
    tmp_path: Path, owner: str, hours: float, stays: bool
) -> None:
    directory = tmp_path / ".installing-x"
    directory.mkdir()
    if owner:
        (directory / "owner").write_text(owner)
        then = time.time() - 3600 * hours
        os.utime(directory / "owner", (then, then))

    remove_leftovers(tmp_path)

    assert directory.exists() is stays


@pytest.mark.parametrize("name", ["/{}", "/a/{}", "//{}", "a/../../{}"])
def test_no_name_in_a_wheel_leads_out_of_the_runtime(tmp_path: Path, mark, name: str) -> None:
    root, licence = tmp_path / "in" / "root", f"LICENSE-{mark.value}"
    with zipfile.ZipFile(tmp_path / "a.whl", "w") as wheel:
        wheel.writestr(name.format(licence), "theirs")
        wheel.writestr("a/LICENSE", "ours")

    unpack(tmp_path / "a.whl", root, "3.11")

    try:
        assert not Path("/", licence).exists()
        assert [*tmp_path.rglob("LICENSE*")] == [root / "licenses" / "a" / "LICENSE"]
    finally:
        Path("/", licence).unlink(missing_ok=True)
