# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A slot builds its runner from an order and measures with it: pretend programs, no Ray."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from model_analyzer.app.bench.devices import server_setups
from model_analyzer.app.bench.job import Job
from model_analyzer.app.bench.models import fetched
from model_analyzer.app.bench.searched_subjects import searched_subjects
from model_analyzer.config.given_options import GivenOptions
from model_analyzer.domain.hardware import Device, Machine
from model_analyzer.domain.measurements import Measurement, Outcome
from model_analyzer.domain.models import VariantNames
from model_analyzer.domain.trials import ServerSetup, Trial
from model_analyzer.errors import ClusterError, ConfigError, Problem, ServerError
from model_analyzer.features.cluster.slot_bench import slot_order
from model_analyzer.features.cluster.slot_worker import (
    BuiltRunner,
    HostLock,
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
    facts = sent(slot.prepare(order))
    trial = first_trial(job, facts)
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
        machine=Machine(host=host),
        process=1,
        server="2.51.0",
        perf_analyzer="2.51.0",
        facts={},
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
