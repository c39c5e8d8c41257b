# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A slot builds its runner from an order and measures with it: pretend programs, no Ray. It ends
with its node: tried with real processes, the node being a plain one. Two runs never measure on one
host; slots of one run do.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from model_analyzer.app.bench.devices import Job, server_setups
from model_analyzer.app.bench.searched_subjects import fetched, searched_subjects
from model_analyzer.config.given_options import GivenOptions
from model_analyzer.domain.hardware import Device, Machine
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.errors import ClusterError, ConfigError, Problem, ServerError
from model_analyzer.features.cluster.cluster_bench import slot_order
from model_analyzer.features.cluster.slot_worker import (
    BuiltRunner,
    HostLock,
    ParentWatch,
    SlotFacts,
    SlotOrder,
    SlotWorker,
    change,
    disagreement,
    processors_remark,
)
from model_analyzer.search.choose import choose
from model_analyzer.state.contents import read_journal
from model_analyzer.state.format.layout import Layout
from tests.cli.worlds import World
from tests.unit.builders import failure
from tests.unit.builders import trial as any_trial
from tests.waiting import until

HOST = os.uname().nodename


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    return tmp_path / "locks"


@pytest.fixture
def make(locks: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., SlotWorker]]:
    """Makes slots in this process; they enter the directory of their order."""
    monkeypatch.chdir(Path.cwd())  # which is entered again at the end
    made: list[SlotWorker] = []

    def build(gpus: tuple[str, ...] | None = ()) -> SlotWorker:
        made.append(SlotWorker(gpus, lock_directory=locks))
        return made[-1]

    yield build
    for slot in made:
        slot.end()
        slot._watch.__exit__(None, None, None)


class Notes:
    """A journal that only notes what is stored; `problem` is what it then says."""

    def __init__(self, problem: str = "") -> None:
        self.notes: list[tuple[object, ...]] = []
        self._problem = problem

    def begin(self, node: str) -> None:
        self.notes.append((node,))

    def keep(self, trial: Trial, outcome: Outcome) -> str:
        self.notes.append((trial, outcome))
        return self._problem


class Recorder:
    """A runner that only remembers what it was asked."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []

    def run(self, trial: Trial) -> Outcome:
        self.trials.append(trial)
        return failure()


def built(runner: Any, *gpus: str, journal: Notes | None = None) -> BuiltRunner:
    devices = tuple(Device(uuid=uuid, name="H100", memory=1.0) for uuid in gpus)
    facts = ready(HOST, machine=Machine(host=HOST, devices=devices))
    notes: Any = journal or Notes()
    return BuiltRunner(runner=runner, journal=notes, facts=facts)


def order(build: Callable[[Mapping[str, str], ExitStack], BuiltRunner], run="run") -> SlotOrder:
    return SlotOrder(run=run, environment={"PATH": "/bin"}, directory=Path.cwd(), build=build)


# -- with the real bench ---------------------------------------------------------------------------


@pytest.fixture
def job(tmp_path: Path, mark, monkeypatch: pytest.MonkeyPatch) -> Job:
    """A job of the driver, in its directory, with pretend programs."""
    world = World.make(tmp_path)
    monkeypatch.chdir(world.directory)
    variables = {**world.environment, **mark.environment}
    resolved = GivenOptions.of_file(Path("config.yaml"), {}, Path.cwd()).profile()
    return Job.of(resolved, variables)


def first_trial(job: Job, slot: SlotFacts) -> Trial:
    [subject] = searched_subjects(job.settings, slot.facts)
    setup = replace(server_setups(job.settings, (), {})["m"], version=slot.server)
    trial = choose(replace(subject, setup=setup), job.settings.search, VariantNames()).ask()
    assert trial is not None
    return trial


def test_a_slot_measures_as_a_run_without_a_cluster_does(job: Job, make, mark) -> None:
    slot = make()
    before = sorted(Path.cwd().iterdir())

    facts = slot.prepare(slot_order(job, "run"))
    answer = slot.run(first_trial(job, facts))

    assert isinstance(answer.outcome, Measurement)
    assert not answer.remark
    assert facts.host == HOST
    assert facts.process == os.getpid()
    assert facts.machine.niceness == os.getpriority(os.PRIO_PROCESS, 0)
    assert facts.machine.threads == job.environment.get("OMP_NUM_THREADS", "")
    assert answer.outcome.machine == facts.machine
    assert sorted(facts.facts) == ["m"]
    slot.end()
    assert mark.gone()
    written = {path.name for path in Path.cwd().iterdir()} - {path.name for path in before}
    assert not written & {"output_model_repository", "out", "measured", "checkpoints"}


def test_relative_paths_start_at_the_directory_of_the_user(
    job: Job, make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = slot_order(job, "run")
    monkeypatch.chdir(tmp_path)

    make().prepare(sent)

    assert Path.cwd() == sent.directory


def test_a_repository_that_the_node_does_not_see_is_named_with_the_host(
    job: Job, make, tmp_path: Path
) -> None:
    sent = slot_order(job, "run")
    (tmp_path / "world" / "models").rename(tmp_path / "elsewhere")

    with pytest.raises(ClusterError) as raised:
        make().prepare(sent)

    assert str(raised.value) == (
        f"model repository {tmp_path}/world/models is not visible on node {HOST}: put it on a"
        " shared disk, or give a URL, which each node fetches"
    )


@pytest.fixture
def remote_job(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Job]:
    """The same job with its models in a store, which the driver has fetched."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    url = f"file://{tmp_path}/world/models"
    repository = replace(job.settings.repository, source=url)
    with ExitStack() as stack:
        yield fetched(
            replace(
                job,
                settings=replace(job.settings, repository=repository),
                environment={**job.environment, "XDG_CACHE_HOME": str(tmp_path / "cache")},
            ),
            stack,
        )


def test_a_node_fetches_the_models_of_a_url_once(remote_job: Job, make, tmp_path: Path) -> None:
    sent = slot_order(remote_job, "run")
    (tmp_path / "cache").rename(tmp_path / "cache of the driver")

    facts = make().prepare(sent).facts
    (tmp_path / "world" / "models").rename(tmp_path / "elsewhere")  # nothing is fetched again

    assert make().prepare(sent).facts == facts
    assert sorted(facts) == ["m"]


def test_a_node_that_sees_other_models_at_a_url_is_named(
    remote_job: Job, make, tmp_path: Path
) -> None:
    sent = slot_order(remote_job, "run")
    (tmp_path / "cache").rename(tmp_path / "cache of the driver")
    (tmp_path / "world" / "models" / "m" / "1" / "more").touch()

    with pytest.raises(ClusterError) as raised:
        make().prepare(sent)

    assert str(raised.value).startswith(f"{HOST}: file://{tmp_path}/world/models: its files here ")


def test_a_node_without_a_runtime_is_named_with_what_to_do(job: Job, make, tmp_path: Path) -> None:
    load = replace(job.settings.load_generator, path=None)
    environment = {**job.environment, "PATH": "/bin", "XDG_CACHE_HOME": str(tmp_path / "none")}
    settings = replace(job.settings, load_generator=load)
    sent = slot_order(replace(job, settings=settings, environment=environment), "run")

    with pytest.raises(ClusterError) as raised:
        make().prepare(sent)

    assert str(raised.value) == (
        f"no runtime on node {HOST}: no perf_analyzer on the PATH, and no runtime is installed; run"
        " `model-analyzer runtime install`, or give --runtime-install"
    )


def test_what_travels_between_driver_and_slot_arrives_unchanged(job: Job, make) -> None:
    ray = pytest.importorskip("ray", reason="Ray is not installed")

    def sent(value: Any) -> Any:
        return ray.cloudpickle.loads(ray.cloudpickle.dumps(value))

    order = sent(slot_order(job, "run"))
    slot = make()
    trial = first_trial(job, sent(slot.prepare(order)))
    outcome = slot.run(sent(trial)).outcome

    assert order == slot_order(job, "run")
    assert sent(trial).key == trial.key
    assert sent(outcome) == outcome


def test_a_slot_stores_its_outcome_before_it_answers(job: Job, make) -> None:
    slot = make()
    trial = first_trial(job, slot.prepare(slot_order(job, "run")))
    directory = Path.cwd() / job.settings.checkpoint.directory
    directory.mkdir(exist_ok=True)
    journal = Layout(directory, job.settings.checkpoint.prefix).journal("gpu1")

    answer = slot.run(trial, "gpu1")

    (record,) = read_journal(journal).records
    assert (record.outcome, record.node) == (answer.outcome, "gpu1")
    assert read_journal(journal).records.of_trial(trial.key) == record
    slot.end()
    assert not (directory / "lock-gpu1").exists()


# -- with a pretend bench --------------------------------------------------------------------------


def test_the_runner_gets_the_environment_of_the_user_and_the_gpus_of_the_slot(make) -> None:
    environments: list[Mapping[str, str]] = []

    def build(environment: Mapping[str, str], stack: ExitStack) -> BuiltRunner:
        environments.append(environment)
        return built(Recorder())

    make(gpus=("3",)).prepare(
        replace(order(build), environment={"OMP_NUM_THREADS": "8", "HOSTNAME": "laptop"})
    )

    assert environments[0]["OMP_NUM_THREADS"] == "8"
    assert environments[0]["CUDA_VISIBLE_DEVICES"] == "3"
    assert environments[0].get("HOSTNAME") == os.environ.get("HOSTNAME")


def test_the_gpus_that_ray_assigned_count_and_not_those_of_the_user(make) -> None:
    runner, slot = Recorder(), make(gpus=("3", "2"))
    slot.prepare(order(lambda *_: built(runner, "GPU-b", "GPU-a")))
    setup = ServerSetup(
        devices=("H100", "H100"), environment={"CUDA_VISIBLE_DEVICES": "0", "TF_FLAG": "1"}
    )

    slot.run(replace(any_trial(), setup=setup))

    [trial] = runner.trials
    assert trial.setup.devices == ("H100", "H100")
    assert trial.setup.environment == {"TF_FLAG": "1"}


def test_a_node_stores_the_trial_that_the_driver_knows(make) -> None:
    notes, slot = Notes(), make(gpus=("3",))
    slot.prepare(order(lambda *_: built(Recorder(), "GPU-a", journal=notes)))

    slot.run(any_trial())
    assert notes.notes == []
    slot.run(any_trial(), "gpu1")

    assert notes.notes == [("gpu1",), (any_trial(), failure())]


def test_what_a_node_cannot_store_is_a_remark_beside_the_outcome(make) -> None:
    slot = make()
    slot.prepare(order(lambda *_: built(Recorder(), journal=Notes("journal-gpu1: disk full"))))

    answer = slot.run(any_trial(), "gpu1")

    assert answer.outcome == failure()
    assert answer.remark == f"{HOST}: journal-gpu1: disk full"


def test_a_slot_goes_on_after_a_question_that_hangs(make) -> None:
    slot, asked, answers = make(), Event(), Event()
    slot.prepare(order(lambda *_: built(Recorder())))

    slot.ask(asked.set, 60)
    slot.ask(lambda: answers.wait(60), 0.01)

    assert asked.is_set()
    assert slot.run(any_trial()).outcome == failure()
    answers.set()


def test_the_host_is_held_until_the_end(make, locks: Path) -> None:
    slot = make()
    slot.prepare(order(lambda *_: built(Recorder())))

    with (
        pytest.raises(ClusterError, match="in use by another run"),
        HostLock("other", directories=[locks], wait_s=0),
    ):
        pass
    slot.end()
    slot.end()
    with HostLock("other", directories=[locks], wait_s=0):
        pass


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (ServerError("the server did not start"), f"{HOST}: the server did not start"),
        (
            ConfigError(Problem(where="a", message="b"), Problem(where="c", message="d")),
            f"{HOST}: a: b; c: d",
        ),
        (ClusterError("as it is"), "as it is"),
    ],
)
def test_what_fails_is_named_with_the_host_and_undone(
    make, locks: Path, error: Exception, message: str
) -> None:
    ended: list[int] = []

    def build(environment: Mapping[str, str], stack: ExitStack) -> BuiltRunner:
        stack.callback(ended.append, 1)
        raise error

    with pytest.raises(ClusterError) as raised:
        make().prepare(order(build))

    assert str(raised.value) == message
    assert ended
    with HostLock("other", directories=[locks], wait_s=0):
        pass


def test_preparing_again_ends_what_was_prepared(make) -> None:
    events: list[str] = []

    def build(environment: Mapping[str, str], stack: ExitStack) -> BuiltRunner:
        events.append("built")
        stack.callback(events.append, "ended")
        return built(Recorder())

    slot = make()
    slot.prepare(order(build))
    slot.prepare(order(build, run="another"))

    assert events == ["built", "ended", "built"]


# -- several slots ---------------------------------------------------------------------------------


def ready(host: str, **changes: Any) -> SlotFacts:
    same = SlotFacts(
        machine=Machine(host=host), process=1, server="2.51.0", perf_analyzer="2.51.0", facts={}
    )
    return replace(same, **changes)


def place(host: str, *gpus: str, processor: str = "EPYC", cores: int = 64) -> Machine:
    devices = tuple(Device(uuid=f"GPU-{host}", name=name, memory=1.0) for name in gpus)
    return Machine(host=host, devices=devices, processor=processor, cores=cores)


@pytest.mark.parametrize(
    "slots",
    [
        [place("a", "L4"), place("b", "H100", processor="Xeon"), place("c", processor="ARM")],
        [Machine(host="a"), place("b", "L4")],
    ],
)
def test_slots_with_gpus_may_have_any_processor(slots: list[Machine]) -> None:
    assert disagreement([ready(each.host, machine=each) for each in slots]) == ""


@pytest.mark.parametrize("other", [{"processor": "Xeon"}, {"cores": 8}])
def test_slots_without_gpus_need_the_same_processor(other: Any) -> None:
    slots = [ready("a", machine=place("a")), ready("b", machine=place("b", **other))]

    message = disagreement(slots)

    assert message.startswith("processors of slots without GPUs differ (choose nodes with")
    assert "EPYC, 64 cores on a;" in message


def test_equal_gpus_with_different_processors_are_told() -> None:
    machines = [place("a", "L4"), place("b", "L4", processor="Xeon"), place("c", "H100")]

    assert processors_remark(machines) == (
        "machines with the same GPUs have different processors (1 x L4: EPYC, 64 cores; Xeon, 64"
        " cores): measurements are ranked together, although these may matter"
    )
    assert processors_remark([place("a", "L4"), place("b", "H100", processor="Xeon")]) == ""


def test_a_slot_that_comes_back_with_other_gpus_has_changed() -> None:
    then = ready("a", machine=place("a", "L4"))

    assert change(then, ready("a", machine=place("a", "L4"), process=7)) == ""
    assert change(then, ready("a", machine=place("a"))) == "its GPUs were 1 x L4, and are no GPU"
    assert "2.50.0" in change(then, replace(then, server="2.50.0"))


@pytest.mark.parametrize("program", ["server", "perf_analyzer"])
def test_a_disagreement_names_the_hosts(program: str) -> None:
    slots = [ready("a"), ready("b", **{program: "2.50.0"}), ready("c")]
    name = "tritonserver" if program == "server" else program

    assert disagreement(slots) == f"versions of {name} differ: 2.51.0 on a, c; 2.50.0 on b"


def test_models_with_other_files_are_a_disagreement(job: Job, make) -> None:
    here = make().prepare(slot_order(job, "run")).facts
    there = {"m": replace(here["m"], files="changed")}

    text = disagreement([ready("a", facts=here), ready("b", facts=there)])

    assert text.startswith("the model m differs: ")
    assert text.endswith(" on b")


# a slot with a server behind a guard: it says who it is, and then computes without a pause
SLOT = """
import os, sys
from pathlib import Path
from model_analyzer.features.cluster.slot_worker import ParentWatch
from model_analyzer.runner.workspace import shm_prefix
from model_analyzer.runner.process import Process
if sys.argv[2] == "without pidfd":
    def refuse(pid): raise OSError("not implemented")
    os.pidfd_open = refuse
prefix = shm_prefix("0123abcf")
server = Process(["/bin/sh", "-c", "trap '' TERM; echo > /dev/shm/" + prefix + "x; sleep 300 & wait"],
                 environment=dict(os.environ), output=Path(sys.argv[1]), shm_prefix=prefix)
while not Path("/dev/shm", prefix + "x").exists():
    pass
with ParentWatch():
    print(os.getpid(), "/dev/shm/" + prefix + "x", flush=True)
    while True:
        pass
"""  # noqa: E501

NODE = """
import subprocess, sys
subprocess.run([sys.executable, "-c", *sys.argv[1:]])
"""


@pytest.mark.parametrize("kernel", ["with pidfd", "without pidfd"])
def test_a_slot_ends_with_its_servers_when_its_node_is_killed(
    tmp_path: Path, mark, kernel: str
) -> None:
    node = subprocess.Popen(
        [sys.executable, "-c", NODE, SLOT, str(tmp_path / "output"), kernel],
        env=mark.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert node.stdout is not None
    slot, region = node.stdout.readline().split()
    assert int(slot) in mark.processes()
    assert Path(region).exists()

    node.send_signal(signal.SIGKILL)
    node.communicate()

    assert mark.gone()
    until(lambda: not Path(region).exists())


def test_nothing_happens_while_the_parent_lives() -> None:
    ended: list[int] = []
    descriptors = len(os.listdir("/proc/self/fd"))

    with ParentWatch(lambda: ended.append(1)):
        assert len(os.listdir("/proc/self/fd")) > descriptors

    assert not ended
    assert len(os.listdir("/proc/self/fd")) == descriptors


HOLDER = """
import sys
from pathlib import Path
from model_analyzer.errors import ClusterError
from model_analyzer.features.cluster.slot_worker import HostLock
run, directory, wait_s = sys.argv[1:]
try:
    with HostLock(run, directories=[Path(directory)], wait_s=float(wait_s)):
        print("held", flush=True)
        sys.stdin.read()
except ClusterError as error:
    print(error, flush=True)
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    return tmp_path / "locks"


@pytest.fixture
def start(directory: Path) -> Iterator[Start]:
    """Starts a process that takes the lock for a run and keeps it until its input ends."""
    processes = []

    def start(run: str, wait_s: float = 60) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, run, str(directory), str(wait_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def answer(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_another_run_is_refused_and_told_who_measures(directory: Path, start: Start) -> None:
    holder = start("one")
    assert answer(holder) == "held"

    with pytest.raises(ClusterError) as raised, HostLock("two", directories=[directory], wait_s=0):
        pass

    assert str(raised.value) == (
        f"{os.uname().nodename}: in use by another run, process {holder.pid}; wait for it, or"
        " leave this host out with --slot-label"
    )


def test_slots_of_the_same_run_share_the_host(directory: Path, start: Start) -> None:
    first, second = start("one"), start("one")
    assert answer(first) == answer(second) == "held"
    first.kill()
    first.wait()

    with pytest.raises(ClusterError), HostLock("two", directories=[directory], wait_s=0):
        pass


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_death_of_the_last_slot_frees_the_host(
    directory: Path, start: Start, number: signal.Signals
) -> None:
    holders = [start("one"), start("one")]
    assert [answer(holder) for holder in holders] == ["held", "held"]
    other = start("two")
    for holder in holders:
        holder.send_signal(number)

    assert answer(other) == "held"


def test_a_child_of_a_slot_does_not_keep_the_lock(directory: Path, tmp_path: Path) -> None:
    with HostLock("one", directories=[directory]):
        child = subprocess.Popen(["sleep", "300"], close_fds=False)
    try:
        with HostLock("two", directories=[directory], wait_s=0):
            assert child.poll() is None
    finally:
        child.kill()
        child.wait()


def test_of_many_runs_at_once_one_holds_the_host_at_a_time(directory: Path, start: Start) -> None:
    waiting = {name: start(name) for name in "abcdef"}
    order: list[str] = []
    while waiting:
        time.sleep(0.2)  # so that several wait together
        held = [name for name, process in waiting.items() if _has_answered(process)]
        assert len(held) <= 1
        for name in held:
            process = waiting.pop(name)
            assert answer(process) == "held"
            process.communicate("")
            order.append(name)
    assert sorted(order) == list("abcdef")


def _has_answered(process: subprocess.Popen[str]) -> bool:
    assert process.stdout is not None
    return bool(select.select([process.stdout], [], [], 0)[0])


def test_releasing_twice_is_fine(directory: Path) -> None:
    lock = HostLock("one", directories=[directory])
    with lock:
        lock.release()
    lock.release()


def test_a_removed_lock_file_is_made_again(directory: Path) -> None:
    with HostLock("one", directories=[directory]):
        pass
    [file] = directory.iterdir()
    file.unlink()
    with HostLock("two", directories=[directory]):
        assert [path.name for path in directory.iterdir()] == [file.name]


def test_a_directory_that_is_not_ours_is_refused(directory: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    directory.symlink_to(tmp_path / "elsewhere")

    with (
        pytest.raises(ClusterError, match="is not a directory of this user"),
        HostLock("one", directories=[directory]),
    ):
        pass


def test_a_name_that_somebody_has_taken_does_not_stop_runs(directory: Path, tmp_path: Path) -> None:
    """Each of them goes to the same other place."""
    taken = tmp_path / "taken"
    taken.symlink_to(tmp_path)
    places = [taken, directory]

    with (
        HostLock("one", directories=places),
        pytest.raises(ClusterError, match="in use by another run"),
        HostLock("two", directories=places, wait_s=0),
    ):
        pass


def test_a_lock_file_that_is_a_link_is_refused(directory: Path, tmp_path: Path) -> None:
    with HostLock("one", directories=[directory]):
        pass
    [file] = directory.iterdir()
    file.unlink()
    file.symlink_to(tmp_path / "victim")

    with (
        pytest.raises(ClusterError, match="cannot be opened: Is a symbolic link"),
        HostLock("one", directories=[directory]),
    ):
        pass
    assert not (tmp_path / "victim").exists()
