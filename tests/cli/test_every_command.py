# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Every command, with standard streams that are closed, full or odd, and signals at any moment.

The commands are those that click knows, so that a new one is tested without being named here.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from conftest import without_charts
from model_analyzer.cli.program import program as root
from model_analyzer.state.checkpoint import load
from model_analyzer.state.profile_state import ProfileState
from tests.sizes import small_and_full
from tests.unit.builders import measurement, trial, variant

Words = tuple[str, ...]


def commands(command: click.Command = root, path: Words = ()) -> Iterator[Words]:
    """The words of every command, groups included."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*path, name))


COMMANDS = tuple(commands())

# what a command is given, in the directory that `here` makes; nothing, unless it is named here
ARGUMENTS: dict[Words, Words] = {
    ("profile",): ("-f", "config.yaml", "--dry-run"),
    ("report",): ("-n", "m_config_default", "-e", "reports"),
    ("analyze",): ("--analysis-models", "m", "-e", "analysis"),
    ("doctor",): ("-f", "config.yaml", "--no-models"),
    ("cluster", "manifest"): ("-f", "config.yaml", "--kind", "job"),
    ("cluster", "check"): ("-f", "config.yaml", "--ray-address", "127.0.0.1:1"),  # nobody listens
    ("capacity",): ("--rate", "100"),
    ("compare",): ("checkpoints", "checkpoints"),
    ("init",): ("start",),
    ("config", "show"): ("config.yaml",),
    ("config", "validate"): ("config.yaml",),
    ("checkpoint", "metadata", "set"): ("key", "value"),
    ("checkpoint", "export"): ("-o", "exported"),
    ("checkpoint", "merge"): ("0", "1", "-o", "merged"),
    ("completion",): ("bash",),
    ("runtime", "install"): ("--python", "/nowhere/python"),  # it must not fetch anything
}


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    output: bytes
    errors: str


@dataclass(frozen=True)
class Here:
    """A directory with a checkpoint and a configuration, in which commands are run."""

    directory: Path
    program: str
    environment: dict[str, str]

    def run(
        self,
        words: Sequence[str],
        redirections: str = "",
        *,
        stdout: int = subprocess.PIPE,
        **variables: str,
    ) -> Done:
        """Runs a command, its streams redirected by a shell."""
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {redirections}', "sh", self.program, *words],
            cwd=self.directory,
            env={**self.environment, **variables},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.PIPE,
            timeout=300,
            check=False,
        )
        return Done(done.returncode, done.stdout or b"", done.stderr.decode())


@pytest.fixture
def here(tmp_path: Path, program: str, pretend, make_model) -> Here:
    for name in ("m_config_default", "m_config_0"):
        with ProfileState(tmp_path / "checkpoints") as state:
            state.record(trial(variant(name, max_batch_size=len(name))), measurement(100.0, 5.0))
            state.save()
    (tmp_path / "config.yaml").write_text(
        f"model_repository: {make_model('m')}\n"
        "profile_models: {m: {cpu_only: true}}\n"
        f"triton_server_path: {pretend.tritonserver()}\n"
        f"perf_analyzer_path: {pretend.perf_analyzer()}\n"
        "run_config_search_max_instance_count: 1\n"
        "run_config_search_max_model_batch_size: 1\n"
        "run_config_search_max_concurrency: 1\n"
        "skip_detailed_reports: true\n"
    )
    environment = without_charts({**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")})
    return Here(tmp_path, program, environment)


def plain(here: Here, words: Sequence[str], redirections: str) -> Done:
    return here.run(words, redirections)


def gone_reader(here: Here, words: Sequence[str], _: str) -> Done:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return here.run(words, stdout=writer)
    finally:
        os.close(writer)


def ascii_only(here: Here, words: Sequence[str], _: str) -> Done:
    return here.run(words, LC_ALL="C", PYTHONIOENCODING="ascii")


def unable_locale(here: Here, words: Sequence[str], _: str) -> Done:
    return here.run(words, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")


def non_blocking(here: Here, words: Sequence[str], _: str) -> Done:
    """Both streams go to a pipe of a page that takes what fits, and is read slowly."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
    os.set_blocking(writer, False)
    process = subprocess.Popen(
        [here.program, *words],
        cwd=here.directory, env=here.environment, stdout=writer, stderr=subprocess.PIPE,
    )  # fmt: skip
    os.close(writer)
    with process, os.fdopen(reader, "rb", buffering=0) as pipe:
        output = b"".join(iter(lambda: pipe.read(512), b""))
        assert process.stderr is not None
        errors = process.stderr.read().decode()
        return Done(process.wait(300), output, errors)


def narrow_terminal(here: Here, words: Sequence[str], _: str) -> Done:
    """All three streams are a terminal with one column."""
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 1, 1, 0, 0))
    process = subprocess.Popen(
        [here.program, *words],
        cwd=here.directory, env={**here.environment, "TERM": "xterm"},
        stdin=terminal, stdout=terminal, stderr=terminal, start_new_session=True,
    )  # fmt: skip
    os.close(terminal)
    shown = b""
    while True:
        try:
            shown += os.read(main, 65536)
        except OSError:  # all have closed it
            break
    os.close(main)
    # what is one line elsewhere takes many here
    text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\s", "", shown.decode())
    return Done(process.wait(300), shown, text)


# a name -> (how the command is run, the redirections, whether standard output cannot be written to)
STREAMS: dict[str, tuple[Callable[[Here, Sequence[str], str], Done], str, bool]] = {
    "stdin closed": (plain, "<&-", False),
    "stdout closed": (plain, ">&-", True),
    "stderr closed": (plain, "2>&-", False),
    "all closed": (plain, "<&- >&- 2>&-", True),
    "stdout full": (plain, ">/dev/full", True),
    "stderr full": (plain, "2>/dev/full", False),
    "both full": (plain, ">/dev/full 2>&1", True),
    "reader gone": (gone_reader, "", False),
    "ascii": (ascii_only, "", False),
    "C locale": (unable_locale, "", False),
    "non-blocking": (non_blocking, "", False),
    "narrow terminal": (narrow_terminal, "", False),
}
FAULTS = ("Traceback", "Exception ignored", "lost sys.stderr", "Fatal Python", "Error in sys")


def check(here: Here, words: Words, name: str, usual: Done) -> None:
    run, redirections, is_output_lost = STREAMS[name]

    done = run(here, words, redirections)

    for fault in FAULTS:
        assert fault.replace(" ", "") not in re.sub(r"\s", "", done.errors), done.errors
    lost = is_output_lost and bool(usual.output)
    assert done.status == (usual.status or int(lost)), done.errors
    if run is narrow_terminal:
        return
    added = set(done.errors.splitlines()) - set(usual.errors.splitlines())
    if lost and "2>" not in redirections:
        (line,) = added
        assert line.startswith("model-analyzer: cannot write to standard output: ")
    else:
        assert not added


def usual_end(here: Here, words: Words) -> Done:
    """What it writes is there from the second time on."""
    before = files(here.directory)
    done = here.run(words)
    return done if files(here.directory) == before else here.run(words)


def files(directory: Path) -> Mapping[Path, int]:
    """Everything in it, and when it was written."""
    return {path: path.lstat().st_mtime_ns for path in directory.rglob("*")}


@pytest.mark.parametrize(
    ("words", "name"),
    [
        pytest.param(words, name, id=f"{' '.join(words)}: {name}")
        for number, words in enumerate(COMMANDS)
        for name in [list(STREAMS)[number % len(STREAMS)]]
    ],
)
def test_a_command_bears_a_stream(here: Here, words: Words, name: str) -> None:
    """Each command with one of the streams; with all of them in the slow tests."""
    given = (*words, *ARGUMENTS.get(words, ()))
    check(here, given, name, usual_end(here, given))


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_bears_every_stream(here: Here, words: Words) -> None:
    for given in ((*words, *ARGUMENTS.get(words, ())), (*words, "--help"), (*words, "--nonsense")):
        usual = usual_end(here, given)
        for name in STREAMS:
            check(here, given, name, usual)


@pytest.mark.parametrize("words", [("--help",), ("checkpoint", "trials"), ("--nonsense",)], ids=str)
def test_every_stream_is_borne(here: Here, words: Words) -> None:
    usual = usual_end(here, words)
    for name in STREAMS:
        check(here, words, name, usual)


def test_a_gone_reader_does_not_hide_a_regression(here: Here) -> None:
    words = ("compare", "checkpoints", "checkpoints", "--fail-on", "perf_throughput<1000%")
    usual = here.run(words)

    assert gone_reader(here, words, "") == Done(usual.status, b"", usual.errors)
    assert usual.status == 3


@small_and_full("json", False, True)
@small_and_full(
    "stream",
    ("all closed", 1),
    ("stdin closed", 0),
    ("stdout closed", 1),
    ("stderr closed", 0),
    ("stdout full", 1),
    ("stderr full", 0),
    ("reader gone", 0),
    ("narrow terminal", 0),
)
def test_no_stream_costs_a_measurement(here: Here, stream: tuple[str, int], json: bool) -> None:
    """With closed streams, the journal and the lock must not become one of them."""
    name, status = stream
    run, redirections, _ = STREAMS[name]
    words = ["profile", "-f", "config.yaml", "--checkpoint-directory", "new"]

    done = run(here, [*words, *(["--progress", "json"] if json else [])], redirections)

    assert done.status == status, done.errors
    assert not any(fault in done.errors for fault in FAULTS)
    checkpoint = load(here.directory / "new")
    assert checkpoint.damage == ()
    assert len(checkpoint.records) > 0
    assert (here.directory / "results" / "metrics-model-inference.csv").exists()
    stated = "cannot write to standard output" in done.errors
    assert stated == (name in ("stdout closed", "stdout full"))


def test_what_a_command_starts_inherits_no_file_as_a_stream(here: Here) -> None:
    """perf_analyzer tells what its first descriptors are."""
    spy = here.directory / "programs" / "spy"
    seen = here.directory / "seen"
    real = here.directory / "programs" / "perf_analyzer"
    spy.write_text(f'#!/bin/sh\nls -l /proc/$$/fd >> {seen}\nexec {real} "$@"\n')
    spy.chmod(0o755)
    words = ("profile", "-f", "config.yaml", "--checkpoint-directory", "new")

    here.run([*words, "--perf-analyzer-path", str(spy)], "<&- >&- 2>&-")

    targets = re.findall(r" \d+ -> (\S+)", seen.read_text())
    assert targets
    assert not [path for path in targets if "/new" in path or "results" in path]


ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
STARTED = re.compile(r'cli/main\.py", line \d+, in (main|_run)')


def check_signal(here: Here, words: Words, number: signal.Signals, after_s: float) -> None:
    process = subprocess.Popen(
        [here.program, *words],
        cwd=here.directory, env=here.environment, text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    time.sleep(after_s)
    process.send_signal(number)
    errors = process.communicate(timeout=300)[1]

    is_python = number is signal.SIGINT and "KeyboardInterrupt" in errors
    if is_python:  # docs/troubleshooting.md: it had not come to our program yet
        assert not STARTED.search(errors), errors
        return
    assert not any(fault in errors for fault in FAULTS), errors
    if "model-analyzer: interrupted" in errors:
        assert process.returncode == 1
        assert number is signal.SIGINT
    else:
        assert process.returncode in (-number, 0, 1, 2), errors


@pytest.mark.parametrize("number", ENDING)
@small_and_full("words", ("compare",), ("config", "validate"), ("runtime", "show"))
def test_a_signal_at_any_moment_takes_one_line(
    here: Here, words: Words, number: signal.Signals
) -> None:
    """Some moments; many of them in the slow tests."""
    for after_s in (0.03, 0.1, 0.2):
        check_signal(here, (*words, *ARGUMENTS.get(words, ())), number, after_s)


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_signal_at_any_moment_of_any_command_takes_one_line(here: Here, words: Words) -> None:
    """Together, the commands cover every millisecond."""
    given = (*words, *ARGUMENTS.get(words, ()))
    for count, milliseconds in enumerate(range(COMMANDS.index(words) % 20, 600, 20)):
        number = ENDING[max(count % 6 - 3, 0)]  # every third is another than SIGINT
        check_signal(here, given, number, milliseconds / 1000)
