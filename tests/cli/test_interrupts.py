# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Interrupts, signals and sudden death, on pretend programs."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from model_analyzer.state.checkpoint import load
from tests.phrases import died_during
from tests.sizes import small_and_full


def recorded(directory: Path) -> int:
    return len(load(directory / "checkpoints").records)


def hold(setting, pretend, number: int) -> Path:
    """Launch `number` and those after it measure until the file that is given here exists."""
    go: Path = setting.directory / "go"
    steps = [*[{}] * (number - 1), {"until": str(go)}]
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer(*steps))
    return go


@small_and_full("count", 1, 2)
def test_the_first_interrupts_let_the_running_trial_finish(setting, pretend, count: int) -> None:
    go = hold(setting, pretend, 2)
    process = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 2)

    output = setting.interrupt(process, count)
    go.touch()
    output += process.communicate(timeout=180)[0]

    assert process.returncode == 1, output
    assert f"Received SIGINT {count}/3. Will attempt to exit after current measurement." in output
    assert len(pretend.launches) == 2
    assert len(setting.rows) == 2  # the running one was kept
    assert setting.checkpoints == ["0.ckpt"]
    assert "Profile interrupted. Profiled 1 configurations for models: ['m']" in output
    assert "Profile complete" not in output
    report = setting.directory / "reports" / "summaries" / "m" / "result_summary.html"
    assert "The run ended before the search was complete" in report.read_text()


def test_an_interrupted_run_goes_on_where_it_stopped(setting, pretend) -> None:
    go = hold(setting, pretend, 3)
    process = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 3)
    setting.interrupt(process, 1)
    go.touch()
    process.communicate(timeout=180)

    output = setting.succeeds()

    assert output.count("Existing measurement found") == 3
    assert len(pretend.launches) == 10
    assert setting.checkpoints == ["0.ckpt", "1.ckpt"]


def test_the_third_interrupt_leaves_at_once(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({"hang": True, "deaf": True}))
    setting.config["triton_server_path"] = str(pretend.tritonserver(deaf=True))
    process = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 1)

    output = setting.interrupt(process, 3)
    began = time.monotonic()
    output += process.communicate(timeout=180)[0]

    assert time.monotonic() - began < 30  # two seconds on a machine at rest; else ten minutes
    assert process.returncode == 1
    assert "Received SIGINT 3/3." in output
    assert "Received SIGINT maximum number of times" in output
    assert "Traceback" not in output


def test_the_third_interrupt_saves_what_was_measured(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({}, {}, {"hang": True}))
    process = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 3)

    setting.interrupt(process, 3)
    process.communicate(timeout=180)

    assert setting.checkpoints == ["0.ckpt"]
    assert recorded(setting.directory) == 2


def test_the_third_interrupt_leaves_while_a_model_loads(setting, make_model, pretend) -> None:
    make_model("slow", fake="hang")
    process = setting.start(profile_models=["slow"])
    setting.wait_until(lambda: any(call.startswith("load") for call in pretend.server_calls))

    output = setting.interrupt(process, 3)
    began = time.monotonic()
    output += process.communicate(timeout=180)[0]

    assert time.monotonic() - began < 30
    assert process.returncode == 1
    assert "Traceback" not in output


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_other_signals_finish_the_trial_too(setting, pretend, number: signal.Signals) -> None:
    go = hold(setting, pretend, 2)
    process = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 2)

    output = setting.send(process, number, f"Received {number.name}")
    go.touch()
    output += process.communicate(timeout=180)[0]

    assert process.returncode == 1
    assert f"Received {number.name}" in output
    assert recorded(setting.directory) == 2
    assert setting.checkpoints == ["0.ckpt"]


def test_an_interrupt_while_the_server_starts_is_heard(setting, pretend) -> None:
    go = setting.directory / "go"
    setting.config["triton_server_path"] = str(pretend.tritonserver(until=str(go)))
    process = setting.start()
    setting.wait_until(lambda: bool(pretend.server_calls))

    output = setting.interrupt(process, 1)
    go.touch()
    output += process.communicate(timeout=180)[0]

    assert process.returncode == 1
    assert pretend.launches == []
    assert "Traceback" not in output


def test_two_runs_do_not_share_a_checkpoint_directory(setting, pretend) -> None:
    go = hold(setting, pretend, 1)
    first = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 1)

    output = setting.fails(1, "--output-model-repository-path", "other")

    assert "in use by another run (process " in output
    assert str(first.pid) in output
    setting.interrupt(first, 1)
    go.touch()
    first.communicate(timeout=180)
    assert first.returncode == 1


@small_and_full("kills", 3, 8)
def test_killing_us_loses_no_finished_measurement_and_leaves_no_process(
    setting, pretend, kills: int
) -> None:
    """At random moments while it measures, again and again."""
    moments = random.Random(7)
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({"sleep_s": 0.05}))
    kept = 0
    for _ in range(kills):
        launches = len(pretend.launches)
        process = setting.start(run_config_search_max_instance_count=5)
        setting.wait_until(
            lambda before=launches, running=process: (
                len(pretend.launches) > before or running.poll() is not None
            )
        )
        time.sleep(moments.uniform(0, 0.7))
        process.kill()
        output, _ = process.communicate()
        # what was announced as measured was on disk before
        announced = output.count("(measurement ")
        now = recorded(setting.directory)
        assert now >= kept + announced
        assert setting.mark.gone(), "processes were left behind"
        kept = now

    output = setting.succeeds(run_config_search_max_instance_count=5)

    assert output.count("Existing measurement found") == kept
    assert len(setting.rows) == 22


def test_a_killed_server_is_replaced_and_the_run_goes_on(setting, pretend) -> None:
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({}, {"sleep_s": 300}, {}))
    process = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 2)

    import psutil

    servers = [
        child
        for child in psutil.Process(process.pid).children(recursive=True)
        if any("tritonserver.py" in word for word in child.cmdline())
    ]
    for server in servers:
        server.kill()
    output, _ = process.communicate(timeout=180)

    assert process.returncode == 0, output
    assert died_during("m_config_default") in output
    assert "trying once more" in output
    assert len(setting.rows) == 10


def test_a_request_to_end_counts_after_an_interrupt_too(setting, pretend) -> None:
    """The time limit of SIGTERM holds although SIGINT was counted before."""
    setting.config["perf_analyzer_path"] = str(pretend.perf_analyzer({"hang": True}))
    process = setting.start()
    setting.wait_until(lambda: len(pretend.launches) == 1)

    setting.interrupt(process, 1)
    setting.send(process, signal.SIGTERM, "Received SIGTERM")
    process.send_signal(signal.SIGALRM)  # what arrives 30 s later
    output, _ = process.communicate(timeout=180)

    assert "Time is up" in output


def test_a_terminal_that_goes_away_costs_no_measurement(setting, pretend) -> None:
    go = hold(setting, pretend, 1)
    process = setting.start()
    assert process.stdout is not None
    setting.wait_until(lambda: len(pretend.launches) == 1)

    process.stdout.close()  # from now on, whatever is written fails
    go.touch()
    assert process.wait(timeout=180) == 0

    assert recorded(setting.directory) == 10
    assert (setting.directory / "results" / "metrics-model-inference.csv").exists()


SWALLOWED = """
import os, signal, time
from model_analyzer.cli.signals import SignalInterrupts
from model_analyzer.errors import Interrupted

class Careless:
    def __del__(self):
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.1)

interrupts = SignalInterrupts(lambda text: None)
interrupts.install()
try:
    with interrupts.interruptible():
        Careless()
        time.sleep(100)
except Interrupted:
    print("left")
time.sleep(1)
print("in peace")
"""


def test_an_interrupt_that_python_drops_is_not_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SWALLOWED], capture_output=True, text=True, timeout=300, check=False
    )

    assert done.stdout.split("\n") == ["left", "in peace", ""]


DROPPED = """
import os, signal, sys
from model_analyzer.cli.uninterrupted import hear_interrupts

class Interrupted:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

hear_interrupts()
try:
    Interrupted()
    print("goes on")
except KeyboardInterrupt:
    print("raised")
"""


def test_an_interrupt_in_a_destructor_of_any_command_is_raised_after_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", DROPPED], capture_output=True, text=True, timeout=300, check=False
    )

    assert (done.stdout, done.stderr) == ("raised\n", "")


INTERRUPTED_IMPORT = """
import os, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == os.environ["INTERRUPTED_IMPORT"]:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
"""


def ignoring(*numbers: signal.Signals) -> Callable[[], None]:
    """Makes a process ignore these signals before it becomes another program."""

    def ignore() -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)

    return ignore


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_in_the_background_of_a_script_can_be_stopped(
    setting, pretend, number: signal.Signals
) -> None:
    go = hold(setting, pretend, 2)
    process = setting.start(preexec_fn=ignoring(signal.SIGINT, signal.SIGTERM))
    setting.wait_until(lambda: len(pretend.launches) == 2)

    output = setting.send(process, number, f"Received {number.name}")
    go.touch()
    output += process.communicate(timeout=180)[0]

    assert process.returncode == 1, output
    assert recorded(setting.directory) == 2


def test_nohup_keeps_a_run_alive(setting, pretend) -> None:
    go = hold(setting, pretend, 2)
    process = setting.start(preexec_fn=ignoring(signal.SIGHUP))
    setting.wait_until(lambda: len(pretend.launches) == 2)

    process.send_signal(signal.SIGHUP)
    go.touch()
    output, _ = process.communicate(timeout=180)

    assert process.returncode == 0, output
    assert "Received SIGHUP" not in output
    assert recorded(setting.directory) == 10


PROFILE = ("profile", "-m", ".", "--profile-models", "m", "--run-config-search-mode", "adaptive")


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("click", PROFILE),
        ("model_analyzer.config.options", PROFILE),
        ("psutil", PROFILE),
        ("orjson", ("best",)),
        ("orjson", ("checkpoint", "best")),
        ("model_analyzer.state.find", ("compare", "checkpoints", "checkpoints")),
        ("orjson", ("checkpoint", "list")),
        ("yaml", ("config", "validate", "config.yaml")),
        ("model_analyzer.reports.document", ("config", "schema")),
        ("model_analyzer.runner.runtime", ("runtime", "show")),
        ("model_analyzer.runner.install", ("runtime", "remove")),
    ],
)
@small_and_full("kind", "script", "module", "script in the background")
def test_an_interrupt_while_the_program_is_imported_takes_one_line(
    program: str, tmp_path: Path, kind: str, module: str, arguments: Sequence[str]
) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTED_IMPORT)
    path = f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"

    done = subprocess.run(
        [
            *([sys.executable, "-m", "model_analyzer"] if kind == "module" else [program]),
            *arguments,
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": path, "INTERRUPTED_IMPORT": module},
        capture_output=True, text=True, timeout=300, check=False,
        preexec_fn=ignoring(signal.SIGINT) if "background" in kind else None,
    )  # fmt: skip

    assert done.stderr.strip() == "model-analyzer: interrupted"
    assert done.stdout == ""
    assert done.returncode == 1
