# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Anything in the place of any path that a command takes, and what must hold.

Shared by the tests, which try a few, and tools/fuzz.py, which tries as many as it is told.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import socket
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp

from hypothesis import strategies as st

from tests.cli.worlds import COMMANDS, World, assert_that_it_says_why, run, tree

_LIBC = ctypes.CDLL(None)
_PR_CAPBSET_DROP = 24
_READ_ANYTHING = (1, 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH

# Commands with the path that they take; "{}" is what is tried. A place that is not in the
# arguments is a file or directory of the world.
INPUTS: Mapping[str, tuple[str, ...]] = {
    "profile -f": ("profile", "-f", "{}", "--dry-run"),
    "report -f": ("report", "-f", "{}", "-n", "m_config_default"),
    "best -f": ("best", "-f", "{}"),
    "capacity -f": ("capacity", "-f", "{}", "--rate", "100"),
    "explain -f": ("explain", "-f", "{}"),
    "capacity --trace": ("capacity", "--trace", "{}"),
    "doctor -f": ("doctor", "-f", "{}", "--no-models"),
    "validate": ("config", "validate", "{}"),
    "validate alone": ("config", "validate", "--file-only", "{}"),
    "config show": ("config", "show", "{}"),
    "repository": ("profile", "-f", "config.yaml", "--dry-run", "-m", "{}"),
    "doctor -m": ("doctor", "-m", "{}", "--no-models"),
    "server": ("doctor", "-f", "config.yaml", "--no-models", "--triton-server-path", "{}"),
    "perf_analyzer": ("doctor", "-f", "config.yaml", "--no-models", "--perf-analyzer-path", "{}"),
    "profile's server": ("profile", "-f", "config.yaml", "--triton-server-path", "{}"),
    "profile's load": ("profile", "-f", "config.yaml", "--perf-analyzer-path", "{}"),
    "list -s": ("checkpoint", "list", "-s", "{}"),
    "show -s": ("checkpoint", "show", "-s", "{}"),
    "trials -s": ("checkpoint", "trials", "-s", "{}"),
    "verify -s": ("checkpoint", "verify", "-s", "{}"),
    "stats -s": ("checkpoint", "stats", "-s", "{}"),
    "get -s": ("checkpoint", "metadata", "get", "-s", "{}"),
    "export -s": ("checkpoint", "export", "--format", "json", "-s", "{}"),
    "best -s": ("best", "-s", "{}"),
    "report -s": ("report", "-s", "{}", "-n", "m_config_default"),
    "show": ("checkpoint", "show", "{}"),
    "verify": ("checkpoint", "verify", "{}"),
    "trials": ("checkpoint", "trials", "{}"),
    "compare": ("compare", "{}", "checkpoints"),
    "compare with": ("compare", "checkpoints", "{}"),
    "merge": ("checkpoint", "merge", "{}", "checkpoints", "--output-dir", "out"),
    "import": ("checkpoint", "import", "{}", "-s", "out"),
    "report's file": ("report", "--checkpoint-load-file", "{}", "-n", "m_config_default"),
    "download": ("checkpoint", "download", "--from", "{}", "--output-dir", "out"),
}
OUTPUTS: Mapping[str, tuple[str, ...]] = {
    "compare -o": ("compare", "checkpoints", "checkpoints", "-o", "{}"),
    "trials -o": ("checkpoint", "trials", "--format", "csv", "-o", "{}"),
    "export -o": ("checkpoint", "export", "--format", "json", "-o", "{}"),
    "capacity -o": ("capacity", "--rate", "100", "-o", "{}"),
    "best --output-dir": ("best", "--output-dir", "{}"),
    "checkpoint best --output-dir": ("checkpoint", "best", "--output-dir", "{}"),
    "merge --output-dir": (
        "checkpoint", "merge", "checkpoints", "checkpoints", "--output-dir", "{}",
    ),
    "import -s": ("checkpoint", "import", "checkpoints/0.ckpt", "-s", "{}"),
    "set -s": ("checkpoint", "metadata", "set", "a", "b", "-s", "{}"),
    "upload --to": ("checkpoint", "upload", "--to", "{}"),
    "download --output-dir": (
        "checkpoint", "download", "--from", "checkpoints", "--output-dir", "{}",
    ),
    "init": ("init", "{}"),
    "report -e": ("report", "-n", "m_config_default", "-e", "{}"),
    "analyze -e": ("analyze", "--profile-models", "m", "-e", "{}"),
    "profile -e": ("profile", "-f", "config.yaml", "-e", "{}"),
    "profile -s": ("profile", "-f", "config.yaml", "-s", "{}"),
    "profile's variants": (
        "profile", "-f", "config.yaml", "--output-model-repository-path", "{}",
    ),
    "profile's load output": ("profile", "-f", "config.yaml", "--perf-output-path", "{}"),
    "profile's server output": ("profile", "-f", "config.yaml", "--triton-output-path", "{}"),
}  # fmt: skip
# Places in the world, each with a command that meets it.
PLACES: Mapping[str, tuple[str, str]] = {
    "models/m": ("models/m", "dry run"),
    "models/other": ("models/other", "dry run"),
    "models/m/1": ("models/m/1", "dry run"),
    "models/m/config.pbtxt": ("models/m/config.pbtxt", "dry run"),
    "validated config.pbtxt": ("models/m/config.pbtxt", "validate"),
    "profiled models/other": ("models/other", "profile"),
    "profiled models/m/other": ("models/m/other", "profile"),
    "profiled models/m/1/model.py": ("models/m/1/model.py", "profile"),
    "profiled models/m/1/other": ("models/m/1/other", "profile"),
    "profiled config.pbtxt": ("models/m/config.pbtxt", "profile"),
    "0.ckpt": ("checkpoints/0.ckpt", "list"),
    "shown 0.ckpt": ("checkpoints/0.ckpt", "show"),
    "verified 0.ckpt": ("checkpoints/0.ckpt", "verify"),
    "1.ckpt": ("checkpoints/1.ckpt", "set"),
    "journal": ("checkpoints/journal", "show"),
    "written journal": ("checkpoints/journal", "set"),
    "lock": ("checkpoints/lock", "set"),
    "profile's journal": ("measured/journal", "profile"),
    "profile's 0.ckpt": ("measured/0.ckpt", "profile"),
    "out/results": ("out/results", "profile"),
    "out/results/metrics-model-inference.csv": (
        "out/results/metrics-model-inference.csv", "profile",
    ),
    "out/results.json": ("out/results.json", "profile"),
    "out/best": ("out/best", "profile"),
    "out/reports": ("out/reports", "report"),
    "output_model_repository": ("output_model_repository", "profile"),
    "variant": ("output_model_repository/m_config_default", "profile"),
    "cache": ("cache", "runtime show"),
    "removed cache": ("cache", "runtime remove"),
    "cache of profile": ("cache", "profile"),
    "runtime": ("cache/model-analyzer", "runtime show"),
}  # fmt: skip
TAKERS = [*INPUTS, *OUTPUTS, *PLACES]

# What stands at the path. "endless" would be read for ever, "fifo" and "socket" waited for.
THINGS = (
    "nothing", "empty", "text", "bytes", "directory", "fifo", "socket", "null", "full", "endless",
    "loop", "dangling link", "link to mine", "link to a directory of mine", "link to endless",
    "link to fifo", "link to itself as a directory", "unreadable", "unreadable directory",
    "below a file", "in nothing", "checkpoints", "executable", "copy", "unknown home",
)  # fmt: skip
NAMES = (
    "x",
    "x y",
    "x\udcff",
    "-x",
    "x\ny",
    "\x1b[2J",
    "ü",
    "~",
    "x" * 255,
    "x" * 256,
    "$HOME",
    "%s",
)

PATHS = st.fixed_dictionaries(
    {
        "taker": st.sampled_from(TAKERS),
        "thing": st.sampled_from(THINGS),
        "name": st.one_of(st.just("x"), st.sampled_from(NAMES)),
    }
)


def is_used_or_refused(example: Mapping[str, str]) -> None:
    """The command uses what is there, or says in a line why not; in time, in bounds of memory, and
    without a change to what is mine.
    """
    parent = Path(mkdtemp())
    try:
        world = World.make(parent)
        taker, thing = example["taker"], example["thing"]
        if taker in PLACES:
            place, name = PLACES[taker]
            path, arguments = world.directory / place, COMMANDS[name]
        else:
            path = world.directory / "given" / example["name"]
            command = {**INPUTS, **OUTPUTS}[taker]
            arguments = ()
        path = put(thing, path, world)
        arguments = arguments or [word.replace("{}", str(path)) for word in command]
        before = tree(world.mine)
        is_written = taker in OUTPUTS
        with _reader(world.directory / "fifo", path, is_written=is_written):
            ended = run(
                world,
                [os.fsencode(word) for word in arguments],
                prepare=_give_up_rights if thing.startswith("unreadable") else None,
            )
        assert_that_it_says_why(ended)
        _assert_that_mine_is_as_it_was(before, tree(world.mine), thing, is_written=is_written)
        for device in ("/dev/null", "/dev/zero", "/dev/full"):
            assert stat.S_ISCHR(os.lstat(device).st_mode)
    finally:
        _remove(parent)


def _assert_that_mine_is_as_it_was(
    before: Mapping[str, tuple[int, int, bytes]],
    after: Mapping[str, tuple[int, int, bytes]],
    thing: str,
    *,
    is_written: bool,
) -> None:
    """Whoever names a link as an output means the file or directory behind it."""
    if is_written and thing == "link to mine":
        before = {path: entry for path, entry in before.items() if not path.endswith("mine/file")}
    if is_written:
        after = {path: after[path] for path in before if path in after}
    assert before == after


def put(thing: str, path: Path, world: World) -> Path:
    """Puts it there in place of what may be there; the path by which it is found."""
    fifo = world.directory / "fifo"
    os.mkfifo(fifo)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if thing == "copy":
            return path  # as it is
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
        return _make(thing, path, world, fifo)
    except OSError:
        return path  # a name that no file can have: nothing is there


def _make(thing: str, path: Path, world: World, fifo: Path) -> Path:
    links: Mapping[str, str | Path] = {
        "loop": path.name,
        "dangling link": world.mine / "nowhere",
        "link to mine": world.mine / "file",
        "link to a directory of mine": world.mine / "inner",
        "link to endless": "/dev/zero",
        "link to fifo": fifo,
        "checkpoints": world.directory / "checkpoints",
    }
    contents = {"empty": b"", "text": b"a: 1\n", "bytes": b"\xff\0\x1b[2J\n"}
    if thing in links:
        path.symlink_to(links[thing])
    elif thing in contents:
        path.write_bytes(contents[thing])
    else:
        return _make_special(thing, path)
    return path


def _make_special(thing: str, path: Path) -> Path:
    """What is neither a plain link nor a file with contents; where it is found."""
    match thing:
        case "directory":
            path.mkdir()
        case "fifo":
            os.mkfifo(path)
        case "socket":
            _bind(path)
        case "null" | "full":
            return Path("/dev", thing)
        case "endless":
            return Path("/dev/zero")
        case "link to itself as a directory":
            path.mkdir()
            (path / "again").symlink_to(path)
        case "unreadable":
            path.write_text("secret\n")
            path.chmod(0)
        case "unreadable directory":
            path.mkdir(mode=0)
        case "below a file":
            path.write_text("file\n")
            return path / "below"
        case "in nothing":
            return path / "nowhere" / "x"
        case "unknown home":
            return Path("~nobody-here/x")
        case "executable":
            path.write_text("#!/bin/sh\necho hello; exit 3\n")
            path.chmod(0o755)
    return path


def _bind(path: Path) -> None:
    """A socket there, also where the path is too long for one."""
    before = os.open(".", os.O_RDONLY)
    try:
        os.chdir(path.parent)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(path.name)
    finally:
        os.fchdir(before)
        os.close(before)


@contextmanager
def _reader(*paths: Path, is_written: bool) -> Iterator[None]:
    """Inside, somebody reads pipes that are outputs: it is right to wait for one otherwise."""
    files = [
        os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        for path in paths
        if is_written and _is_fifo(path)
    ]
    try:
        yield
    finally:
        for file in files:
            os.close(file)


def _is_fifo(path: Path) -> bool:
    try:
        return stat.S_ISFIFO(path.lstat().st_mode)
    except OSError:
        return False


def _give_up_rights() -> None:
    """What is to be executed cannot read what nobody may, also where that is root."""
    for capability in _READ_ANYTHING:
        _LIBC.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def _remove(directory: Path) -> None:
    subprocess.run(["chmod", "-R", "u+rwx", directory], check=False, stderr=subprocess.DEVNULL)
    shutil.rmtree(directory, ignore_errors=True)
