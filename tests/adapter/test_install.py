# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""An installation that is killed, and wheels with names that lead elsewhere."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import psutil
import pytest

from model_analyzer.runner.install import remove_leftovers, unpack
from model_analyzer.runner.owner import boot_id, this_process

# As an interpreter for the models: it answers the question about itself, and makes environments
# for ever.
PYTHON = """#!/bin/sh
case "$*" in *sysconfig*) printf '3.13\\n\\n'; exit 0;; esac
echo $$ > "{pid}.new"; mv "{pid}.new" "{pid}"
sleep 600 & wait
"""


def wait_for(condition, what: str) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


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
    wait_for(pid.exists, "the environment is not made")
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
