# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Child processes and their guard; the server inside perf_analyzer: what is laid out for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from model_analyzer.domain.models import ModelVariant, VariantNames
from model_analyzer.domain.settings import LaunchMode, Protocol, ServerRestart, ServerSettings
from model_analyzer.domain.trials import ServerSetup
from model_analyzer.runner.model_config import parse_text
from model_analyzer.runner.process import Guard, Process, ReadyGuard, describe_status, run
from model_analyzer.runner.repository import ModelRepository
from model_analyzer.runner.runtime import Program
from model_analyzer.runner.server.local import EmbeddedServer

# a child that ignores SIGTERM, with a child of its own that does so too
STUBBORN = "trap '' TERM; sleep 300 & sleep 300"


def start(tmp_path: Path, script: str, mark, **options) -> Process:
    return Process(
        ["/bin/sh", "-c", script],
        environment=mark.environment,
        output=tmp_path / "output.txt",
        **options,
    )


def wait_for(mark, count: int) -> None:
    deadline = time.monotonic() + 60
    while len(mark.processes()) < count:
        assert time.monotonic() < deadline, "they did not start"
        time.sleep(0.01)


@pytest.mark.parametrize(("script", "status"), [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137)])
def test_the_exit_status_is_that_of_the_child(tmp_path: Path, mark, script, status) -> None:
    with start(tmp_path, script, mark) as process:
        assert process.wait(60) == status
        assert not process.is_running
        assert process.status == status


def test_a_guard_that_is_ready_runs_a_child_as_a_new_one_does(tmp_path: Path, mark) -> None:
    place = tmp_path / "place"
    place.mkdir()
    with ReadyGuard() as guards:
        guards.prepare()
        guard = guards.take()
        assert guard is not None
        script = "pwd; echo error >&2; exit 3"
        with start(tmp_path, script, mark, directory=place, guard=guard) as process:
            assert process.wait(60) == 3
        assert (tmp_path / "output.txt").read_text() == f"{place}\nerror\n"
    assert mark.gone()


def test_what_a_ready_guard_runs_is_killed_with_its_children(tmp_path: Path, mark) -> None:
    with start(tmp_path, STUBBORN, mark, guard=Guard()) as process:
        wait_for(mark, 3)
        process.kill()
    assert mark.gone()


def test_a_guard_is_ready_only_inside_the_block(tmp_path: Path) -> None:
    guards = ReadyGuard()
    guards.prepare()
    assert guards.take() is None
    with guards:
        assert guards.take() is None
        guards.prepare()
        guards.prepare()
        first = guards.take()
        assert first is not None
        assert guards.take() is None
        first.close()
        guards.prepare()
    assert guards.take() is None


def test_a_ready_guard_that_was_killed_is_not_used() -> None:
    others = set(psutil.Process().children())
    with ReadyGuard() as guards:
        guards.prepare()
        # not by its command line, which the kernel may show only after the start has returned
        (guard,) = set(psutil.Process().children()) - others
        guard.kill()
        os.waitid(os.P_PID, guard.pid, os.WEXITED | os.WNOWAIT)
        assert guards.take() is None


def test_a_guard_without_a_place_for_its_output_ends(tmp_path: Path, mark) -> None:
    guard = Guard()
    with pytest.raises(FileNotFoundError):
        Process(["true"], environment={}, output=tmp_path / "none" / "output", guard=guard)
    assert not guard.is_ready

    with start(tmp_path, "exit 0", mark, directory=tmp_path / "none", guard=Guard()) as process:
        assert process.wait(60) == 127


def test_waiting_ends_with_the_time_given(tmp_path: Path, mark) -> None:
    with start(tmp_path, "sleep 300", mark) as process:
        began = time.monotonic()
        assert process.wait(0.2) is None
        assert time.monotonic() - began < 60
        assert process.is_running


def test_a_child_with_something_to_put_away_is_given_time_for_it(tmp_path: Path, mark) -> None:
    script = f"trap 'sleep 0.3; echo tidy > {tmp_path}/done; exit 7' HUP; echo up; sleep 300 & wait"
    with start(tmp_path, script, mark, farewell_s=200) as process:
        while "up" not in (tmp_path / "output.txt").read_text():
            time.sleep(0.01)
        began = time.monotonic()
        process.kill()
        assert 0.2 < time.monotonic() - began < 60
    assert (tmp_path / "done").exists()
    assert process.status == 7
    assert mark.gone()


def test_the_time_for_that_is_limited(tmp_path: Path, mark) -> None:
    with start(tmp_path, "trap '' HUP; echo up; sleep 300", mark, farewell_s=0.5) as process:
        while "up" not in (tmp_path / "output.txt").read_text():
            time.sleep(0.01)
        began = time.monotonic()
        process.kill()
        assert 0.4 < time.monotonic() - began < 60
    assert mark.gone()


def test_waiting_does_not_poll(tmp_path: Path, mark) -> None:
    with start(tmp_path, "sleep 1", mark) as process:
        used = time.process_time()
        assert process.wait(60) == 0
        assert time.process_time() - used < 0.5


def test_output_of_both_streams_is_appended(tmp_path: Path, mark) -> None:
    (tmp_path / "output.txt").write_text("before\n")
    with start(tmp_path, "echo out; echo err >&2", mark) as process:
        process.wait(60)
    assert (tmp_path / "output.txt").read_text() == "before\nout\nerr\n"


def test_arguments_and_variables_arrive_as_they_are(tmp_path: Path, mark) -> None:
    odd = ["a b", "x=y", "", "quote'\"", "new\nline", "ünï", "$HOME"]
    script = "import os, sys; print(sys.argv[1:], os.environ['ODD'])"
    with Process(
        [sys.executable, "-c", script, *odd],
        environment={**mark.environment, "ODD": "a=b c"},
        output=tmp_path / "output.txt",
    ) as process:
        assert process.wait(60) == 0
    assert (tmp_path / "output.txt").read_text() == f"{odd} a=b c\n"


def test_a_large_environment_works(tmp_path: Path, mark) -> None:
    big = {f"VARIABLE_{n}": "x" * 1000 for n in range(200)}
    with Process(
        ["/bin/sh", "-c", "echo ${#VARIABLE_199}"],
        environment={**mark.environment, **big},
        output=tmp_path / "output.txt",
    ) as process:
        assert process.wait(60) == 0
    assert (tmp_path / "output.txt").read_text() == "1000\n"


def test_a_command_that_cannot_start_says_why(tmp_path: Path, mark) -> None:
    with Process(
        ["/no/such/program"], environment=mark.environment, output=tmp_path / "output.txt"
    ) as process:
        assert process.wait(60) == 127
    assert "No such file" in (tmp_path / "output.txt").read_text()


def test_stopping_asks_first(tmp_path: Path, mark) -> None:
    script = "trap 'echo asked; exit 0' TERM; echo ready; while :; do sleep 0.05; done"
    with start(tmp_path, script, mark) as process:
        while "ready" not in (tmp_path / "output.txt").read_text():
            process.wait(0.01)
        assert process.stop(60) == 0
    assert "asked" in (tmp_path / "output.txt").read_text()


def test_stopping_kills_the_whole_group_when_asking_does_not_help(tmp_path: Path, mark) -> None:
    with start(tmp_path, STUBBORN, mark) as process:
        wait_for(mark, 3)
        assert process.stop(0.2) == 137
        assert mark.gone()


def test_leaving_the_block_leaves_nothing_behind(tmp_path: Path, mark) -> None:
    with start(tmp_path, STUBBORN, mark):
        wait_for(mark, 3)
        assert len(mark.processes()) == 3
    assert mark.gone()


def test_remaining_processes_of_a_dead_childs_group_are_killed(tmp_path: Path, mark) -> None:
    with start(tmp_path, "sleep 300 & sleep 300 & exit 1", mark) as process:
        assert process.wait(60) == 1
        assert mark.gone()


def test_a_stopped_guard_does_not_block_us(tmp_path: Path, mark) -> None:
    with start(tmp_path, STUBBORN, mark) as process:
        wait_for(mark, 3)
        os.kill(process._guard.pid, signal.SIGSTOP)
        process.stop(0)
    assert mark.gone()


def test_killing_twice_works(tmp_path: Path, mark) -> None:
    process = start(tmp_path, "sleep 300", mark)
    process.kill()
    process.kill()
    assert mark.gone()


def test_shared_memory_of_the_prefix_is_removed_and_no_other(tmp_path: Path, mark) -> None:
    prefix = f"ma_test_{mark.value}_"
    ours, other = Path("/dev/shm", f"{prefix}region"), Path("/dev/shm", f"other_{mark.value}")
    try:
        with start(tmp_path, f"echo > {ours}; echo > {other}", mark, shm_prefix=prefix) as process:
            process.wait(60)
        assert not ours.exists()
        assert other.exists()
    finally:
        ours.unlink(missing_ok=True)
        other.unlink(missing_ok=True)


PARENT = """
import sys, time
from pathlib import Path
import os
from model_analyzer.runner.process import Process
process = Process(["/bin/sh", "-c", {script!r}], environment=dict(os.environ),
                  output=Path({output!r}), shm_prefix={prefix!r})
print("started", flush=True)
time.sleep(300)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV])
def test_nothing_outlives_us_whatever_kills_us(tmp_path: Path, mark, number) -> None:
    prefix = f"ma_test_{mark.value}_"
    region = Path("/dev/shm", f"{prefix}region")
    source = PARENT.format(
        script=f"echo > {region}; {STUBBORN}", output=str(tmp_path / "output.txt"), prefix=prefix
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", source], env=mark.environment, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    parent.stdout.readline()
    wait_for(mark, 5)
    parent.send_signal(number)
    parent.wait()
    parent.stdout.close()
    assert mark.gone()
    assert not region.exists()


def test_a_child_is_never_left_alone_however_early_we_die(tmp_path: Path, mark) -> None:
    for delay in (0, 0.01, 0.02, 0.03, 0.05, 0.08):
        source = PARENT.format(script="sleep 300", output=str(tmp_path / "o"), prefix="")
        parent = subprocess.Popen(
            [sys.executable, "-c", source], env=mark.environment, stdout=subprocess.DEVNULL
        )
        time.sleep(0.08 + delay)
        parent.kill()
        parent.wait()
    assert mark.gone()


def test_the_tree_is_the_child_and_what_it_started(tmp_path: Path, mark) -> None:
    with start(tmp_path, "sleep 300 & sleep 300", mark) as process:
        wait_for(mark, 3)
        assert len(process.tree()) == 3
        assert os.getpid() not in [member.pid for member in process.tree()]


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (0, "exit status 0"),
        (99, "exit status 99"),
        (137, "killed by SIGKILL"),
        (200, "exit status 200"),
    ],
)
def test_a_status_is_described(status: int, words: str) -> None:
    assert describe_status(status) == words


def test_a_short_command_gives_status_and_text() -> None:
    assert run(["/bin/sh", "-c", "echo a; echo b >&2; exit 4"], timeout_s=60) == (4, "a\nb\n")


def test_a_short_command_that_is_missing_or_slow_gives_127_and_why() -> None:
    status, text = run(["/no/such"], timeout_s=60)
    assert (status, "No such file" in text) == (127, True)
    status, text = run(["/bin/sleep", "60"], timeout_s=0.1)
    assert (status, "still running" in text) == (127, True)


MAP_AND_DIE = """
import mmap, os, sys, time
for name in sys.argv[1:]:
    file = open(f"/dev/shm/{name}", "wb+")
    file.truncate(4096)
    file.close()
with open(f"/dev/shm/{sys.argv[1]}", "rb+") as file:
    kept = mmap.mmap(file.fileno(), 4096)
if os.fork() == 0:
    time.sleep(300)
os.kill(os.getpid(), 9)
"""


def test_shared_memory_that_the_python_backend_leaves_mapped_is_removed(
    tmp_path: Path, mark
) -> None:
    """A server inside perf_analyzer names its regions itself; another's must stay."""
    prefix = "triton_python_backend_shm_region_test-"
    mapped, another = f"{prefix}{mark.value}", f"{prefix}{mark.value}-another"
    try:
        with Process(
            [sys.executable, "-c", MAP_AND_DIE, mapped, another],
            environment=mark.environment,
            output=tmp_path / "output.txt",
        ) as process:
            assert process.wait(60) == 137
        assert not Path("/dev/shm", mapped).exists()
        assert Path("/dev/shm", another).exists()
    finally:
        Path("/dev/shm", another).unlink(missing_ok=True)


def test_a_command_that_prints_without_end_is_ended_with_a_reason() -> None:
    assert run(["yes"], timeout_s=60) == (127, "yes: prints more than 16 MiB")


SETTINGS = ServerSettings(
    launch=LaunchMode.C_API, path=None, install_path=None, reload_disable=False,
    protocol=Protocol.GRPC, http_endpoints=(), grpc_endpoints=(), metrics_urls=(), log=None,
    ready_timeout_s=10, load_timeout_s=7, restart=ServerRestart.AUTO,
)  # fmt: skip


@pytest.fixture
def repository(make_model) -> ModelRepository:
    make_model("other")
    return ModelRepository(make_model("m"))


@pytest.fixture
def server(repository, tmp_path: Path) -> EmbeddedServer:
    library = Program(
        path=Path("/opt/triton"), origin="test", environment={"LD_LIBRARY_PATH": "/libs"}
    )
    return EmbeddedServer(library, SETTINGS, repository, tmp_path / "served")


def variant(repository: ModelRepository, count: int = 2) -> ModelVariant:
    group = [{"count": count, "kind": "KIND_CPU"}]
    return VariantNames().variant(repository.facts("m"), {"instance_group": group})


def test_a_variant_is_alone_in_its_repository_under_its_models_own_name(server, repository) -> None:
    model = variant(repository)

    assert server.serve([model], ServerSetup()) is None

    flags = server.route(model, Protocol.GRPC).flags
    assert flags["service-kind"] == "triton_c_api"
    assert flags["triton-server-directory"] == "/opt/triton"
    served = Path(flags["model-repository"])
    assert [path.name for path in served.iterdir()] == ["m"]
    config = parse_text((served / "m" / "config.pbtxt").read_text(), "served")
    assert config["name"] == "m"
    assert config["instance_group"][0]["count"] == 2
    assert (served / "m" / "1" / "model.py").read_text() == "# never run\n"
    # the user's own file is not written through a link
    assert repository.facts("m").config["instance_group"][0]["count"] == 1


def test_a_model_is_measured_without_its_response_cache(server, repository) -> None:
    plain = variant(repository)
    model = replace(plain, config={**plain.config, "response_cache": {"enable": True}})

    configs = []
    for setup in (ServerSetup(uncached=True), ServerSetup()):
        server.serve([model], setup)
        served = Path(server.route(model, Protocol.GRPC).flags["model-repository"])
        configs.append(parse_text((served / "m" / "config.pbtxt").read_text(), "served"))

    assert ["response_cache" in config for config in configs] == [False, True]


def test_composing_models_lie_beside_the_one_that_calls_them(server, repository) -> None:
    part = VariantNames().default(repository.facts("other"))
    whole = replace(variant(repository), composing=(part,))

    server.serve([whole], ServerSetup())

    served = Path(server.route(whole, Protocol.GRPC).flags["model-repository"])
    assert sorted(path.name for path in served.iterdir()) == ["m", "other"]


def test_two_variants_have_separate_repositories_and_serving_twice_works(
    server, repository
) -> None:
    first, second = variant(repository, 1), variant(repository, 2)
    for served in ([first, second], [first], [second]):
        server.serve(served, ServerSetup())

    places = {
        server.route(each, Protocol.GRPC).flags["model-repository"] for each in (first, second)
    }

    assert len(places) == 2


def test_the_users_variables_reach_perf_analyzer_expanded(server, repository) -> None:
    served = variant(repository)
    setup = ServerSetup(environment={"LD_LIBRARY_PATH": "/mine:$LD_LIBRARY_PATH", "OPS": "1"})

    server.serve([served], setup)

    route = server.route(served, Protocol.GRPC)
    assert route.environment == {"LD_LIBRARY_PATH": "/mine:/libs", "OPS": "1"}
    assert route.load_timeout_s == 7


def test_nothing_runs_between_trials(server) -> None:
    server.discard()
    server.begin_stop()
    server.stop()
    assert server.is_alive
    assert server.log_tail() == ()
