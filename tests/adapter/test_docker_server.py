# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""The server in a container: a pretend tritonserver in a stand-in for the Docker engine.

The stand-in speaks the engine's HTTP API and really runs what it is given, but as a process of
this machine: see tests/fakes/docker_engine.py.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psutil
import pytest

from model_analyzer.domain.models import ModelFacts, ModelVariant, VariantNames
from model_analyzer.domain.settings import (
    DockerSettings,
    LaunchMode,
    Protocol,
    ServerRestart,
    ServerSettings,
)
from model_analyzer.domain.trials import Failure, FailureReason, ServerSetup
from model_analyzer.errors import RuntimeNotFound, ServerError
from model_analyzer.runner.server.docker import OWNER_LABEL, ContainerLauncher, connect
from model_analyzer.runner.server.log import ServerLog
from model_analyzer.runner.server.triton import TritonServer
from model_analyzer.runner.timings import Timings
from model_analyzer.runner.workspace import this_process
from tests.waiting import until

IMAGE = "tritonserver:test"
MODEL = ModelFacts(
    name="m",
    config={
        "name": "m",
        "backend": "python",
        "max_batch_size": 8,
        "input": ({"name": "IN", "data_type": "TYPE_FP32", "dims": (4,)},),
        "output": ({"name": "OUT", "data_type": "TYPE_FP32", "dims": (4,)},),
    },
    files="f",
)

# a busy machine is no reason to give up
PATIENT = Timings(grace_s=60, dying_s=60)

Make = Callable[..., TritonServer]


def variant(fake: str = "") -> ModelVariant:
    parameters = {"parameters": {"fake": {"string_value": fake}}} if fake else {}
    return VariantNames().variant(MODEL, parameters)


def setup(docker: DockerSettings | None = None, **fields: Any) -> ServerSetup:
    own = fields.pop("own", {})
    return ServerSetup(launch="docker", container=(docker or settings()).container(own), **fields)


def settings(**fields: Any) -> DockerSettings:
    return DockerSettings(
        **{"image": IMAGE, "mounts": (), "shm_size": None, "labels": {}, **fields}
    )


@pytest.fixture(autouse=True)
def images(engine, pretend, mark, monkeypatch) -> None:
    """The engine has one image, in which the pretend tritonserver is."""
    monkeypatch.setenv("DOCKER_HOST", engine.host)
    monkeypatch.setenv("MODEL_ANALYZER_TEST", mark.value)
    pretend.tritonserver()
    engine.plan(images={IMAGE: image(pretend, mark)})


@pytest.fixture(autouse=True)
def nothing_stays(images, mark) -> Iterator[None]:
    yield
    assert mark.gone(), "processes were left behind"


def image(pretend, mark, **variables: str) -> dict[str, Any]:
    path = f"{pretend.directory}:{os.defpath}"
    inside = {"PATH": path, "MODEL_ANALYZER_TEST": mark.value, **variables}
    return {"Env": [f"{name}={value}" for name, value in inside.items()]}


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    (tmp_path / "models" / "m" / "1").mkdir(parents=True)
    with ExitStack() as stack:

        def build(
            docker: DockerSettings | None = None,
            *,
            gpus: Sequence[str] = (),
            shares_memory: bool = False,
            timings: Timings = PATIENT,
            **changes: Any,
        ) -> TritonServer:
            chosen = ServerSettings(
                **{
                    "launch": LaunchMode.DOCKER,
                    "path": "/nonsense",
                    "install_path": Path("/nonsense"),
                    "reload_disable": False,
                    "protocol": Protocol.GRPC,
                    "http_endpoints": (),
                    "grpc_endpoints": (),
                    "metrics_urls": (),
                    "log": None,
                    "ready_timeout_s": 120,
                    "load_timeout_s": 120,
                    "restart": ServerRestart.AUTO,
                    **changes,
                }
            )
            client = connect()
            stack.callback(client.close)
            launcher = ContainerLauncher(
                client,
                docker or settings(),
                chosen,
                tmp_path / "models",
                gpus,
                shares_memory=shares_memory,
            )
            log = ServerLog(tmp_path / "server.log")
            server = TritonServer(launcher, chosen, log, settles=False, timings=timings)
            return stack.enter_context(server)

        yield build


# ------------------------------------------------------------------------- what is asked for


def test_the_container_is_created_with_what_a_run_needs(engine, make: Make, tmp_path: Path) -> None:
    server = make()

    assert server.serve([variant()], setup(flags={"log-verbose": "1"})) is None

    (body,) = engine.created
    host = body["HostConfig"]
    models = str(tmp_path / "models")
    assert server._endpoints is not None
    ports = {name: server._endpoints.for_protocol(kind).port for name, kind in
             (("http", Protocol.HTTP), ("grpc", Protocol.GRPC))}  # fmt: skip
    metrics = server._endpoints.metrics.port
    assert body["Image"] == IMAGE
    assert body["Cmd"][0] == "tritonserver"
    assert {
        f"--model-repository={models}", "--model-control-mode=explicit", "--log-verbose=1",
        "--http-address=0.0.0.0", "--grpc-address=0.0.0.0", f"--http-port={ports['http']}",
        f"--grpc-port={ports['grpc']}", f"--metrics-port={metrics}",
    } <= set(body["Cmd"])  # fmt: skip
    assert host["PortBindings"] == {
        f"{port}/tcp": [{"HostIp": "127.0.0.1", "HostPort": str(port)}]
        for port in (*ports.values(), metrics)
    }
    assert set(body["ExposedPorts"]) == set(host["PortBindings"])
    assert host["Mounts"] == [
        {"Type": "bind", "Source": models, "Target": models, "ReadOnly": True}
    ]
    assert host["Init"] is True
    assert (body["Tty"], body["OpenStdin"]) == (False, False)
    assert body["Labels"] == {OWNER_LABEL: this_process()}
    assert "CUDA_VISIBLE_DEVICES=" in body["Env"]
    assert "DeviceRequests" not in host
    assert "Binds" not in host


@pytest.mark.parametrize(
    ("version", "asks", "allows"),
    [("2.68.0", True, True), ("2.68.0", False, False), ("2.51.0", True, False), ("", True, False)],
)
def test_a_server_allows_shared_memory_if_its_version_has_to_be_asked(
    engine, make: Make, pretend, mark, version: str, asks: bool, allows: bool
) -> None:
    engine.plan(images={IMAGE: image(pretend, mark, TRITON_SERVER_VERSION=version)})
    assert make(shares_memory=asks).serve([variant()], setup()) is None

    (body,) = engine.created
    assert ("--allow-client-shm=true" in body["Cmd"]) is allows


def test_the_users_settings_are_merged_with_what_a_run_needs(
    engine, make: Make, tmp_path: Path, pretend, mark
) -> None:
    (tmp_path / "plugins").mkdir()
    engine.plan(images={"other:1": image(pretend, mark)})
    docker = settings(
        mounts=(f"{tmp_path}/plugins:/plugins:ro",), shm_size="1G", labels={"team": "a", "x": "1"}
    )
    own = {
        "image": "other:1",
        "volumes": ("/tmp:/scratch:rw",),
        "labels": ("x=2", "bare"),
        "environment": ("LEVEL=3", "PLUGIN=own"),
        "mem_limit": "2g",
        "cpuset_cpus": "0-1",
        "cap_add": ("SYS_NICE",),
        "shm_size": "2G",
        "init": False,
        "name": "my-triton",
        "network": "bridge",
        "detach": False,
        "auto_remove": True,
        "remove": False,
        "stream": True,
        "stdout": False,
        "stderr": False,
        "version": "1.30",
    }

    server = make(docker)
    assert server.serve([variant()], setup(docker, own=own, environment={"PLUGIN": "p"})) is None

    (body,) = engine.created
    host = body["HostConfig"]
    assert body["Image"] == "other:1"
    assert host["Binds"] == [f"{tmp_path}/plugins:/plugins:ro", "/tmp:/scratch:rw"]
    assert body["Labels"] == {
        "team": "a", "x": "2", "bare": "", OWNER_LABEL: this_process(),
    }  # fmt: skip
    assert {"LEVEL=3", "PLUGIN=p"} <= set(body["Env"])
    assert (host["Memory"], host["ShmSize"]) == (2 * 2**30, 2 * 2**30)
    assert (host["CpusetCpus"], host["CapAdd"]) == ("0-1", ["SYS_NICE"])
    assert host["Init"] is False
    assert "AutoRemove" not in host
    assert [container.name for container in engine.containers] == ["my-triton"]


def test_every_argument_that_a_user_may_give_is_accepted(engine, make: Make) -> None:
    from model_analyzer.config.model_options import DOCKER_ARGUMENTS

    numbers = {"blkio_weight": 100, "pids_limit": 100, "nano_cpus": 10**9, "cpu_shares": 512}
    given = {
        **numbers, "image": IMAGE, "command": "tritonserver --allow-sagemaker=false",
        "cgroup_parent": "/x", "cgroupns": "private", "cpuset_cpus": "0", "cpuset_mems": "0",
        "domainname": "d", "hostname": "h", "ipc_mode": "private",
        "isolation": "default", "kernel_memory": "1g", "mac_address": "02:00:00:00:00:01",
        "mem_limit": "1g", "mem_reservation": "1g", "memswap_limit": "2g", "name": "n",
        "network_mode": "bridge", "pid_mode": "host", "platform": "linux/amd64",
        "runtime": "runc", "shm_size": "1g", "stop_signal": "SIGTERM", "user": "1000",
        "userns_mode": "host", "uts_mode": "host", "version": "1", "volume_driver": "local",
        "working_dir": "/", "auto_remove": False, "detach": True, "init": True,
        "network_disabled": False, "oom_kill_disable": False, "privileged": False,
        "publish_all_ports": False, "remove": False, "stdin_open": False, "stdout": True,
        "stderr": True, "stream": False, "tty": False, "use_config_proxy": False,
        "cpu_count": 1, "cpu_percent": 50, "cpu_period": 1000, "cpu_quota": 1000,
        "cpu_rt_period": 1000, "oom_score_adj": 1, "blkio_weight_device": (),
        "cap_add": (), "cap_drop": (), "environment": (), "labels": (), "volumes": (),
    }  # fmt: skip
    # a network excludes its mode, and today's engines know no init_path
    assert set(DOCKER_ARGUMENTS._kinds) - set(given) == {"entrypoint", "network", "init_path"}

    assert make().serve([variant()], setup(own=given)) is None

    (body,) = engine.created
    assert body["Cmd"][:2] == ["tritonserver", "--allow-sagemaker=false"]
    assert any(word.startswith("--model-repository=") for word in body["Cmd"])


def test_gpus_are_asked_for_by_uuid(engine, make: Make) -> None:
    gpus = ("GPU-a", "MIG-b")

    make(gpus=gpus).serve([variant()], setup(devices=("A100", "A100 MIG 1g.5gb")))

    (body,) = engine.created
    (request,) = body["HostConfig"]["DeviceRequests"]
    assert request["DeviceIDs"] == list(gpus)
    assert request["Capabilities"] == [["gpu"]]
    assert "CUDA_VISIBLE_DEVICES=GPU-a,MIG-b" in body["Env"]


def test_variables_are_expanded_as_inside_the_image_and_no_shell_sees_them(
    engine, make: Make, pretend, mark
) -> None:
    engine.plan(images={IMAGE: image(pretend, mark, LD_LIBRARY_PATH="/opt/lib")})
    odd = {"LD_LIBRARY_PATH": "$LD_LIBRARY_PATH:/x", "ODD": "a 'b\" ; $(id) & ü", "HOME2": "$NOT"}

    make().serve([variant()], setup(environment=odd))

    (body,) = engine.created
    assert {"LD_LIBRARY_PATH=/opt/lib:/x", f"ODD={odd['ODD']}", "HOME2=$NOT"} <= set(body["Env"])
    assert not any("/x" in word for word in body["Cmd"])


def test_given_endpoints_are_published_where_they_say(engine, make: Make) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = make(grpc_endpoints=(f"0.0.0.0:{port}",))

    server.serve([variant()], setup())

    published = engine.created[0]["HostConfig"]["PortBindings"][f"{port}/tcp"]
    assert published == [{"HostIp": "0.0.0.0", "HostPort": str(port)}]
    assert server.route(variant(), Protocol.GRPC).flags["url"] == f"127.0.0.1:{port}"


def test_with_the_hosts_network_nothing_is_published_and_the_server_stays_on_loopback(
    engine, make: Make
) -> None:
    make().serve([variant()], setup(own={"network_mode": "host"}))

    (body,) = engine.created
    assert not body["HostConfig"].get("PortBindings")
    assert {"--http-address=127.0.0.1", "--grpc-address=127.0.0.1"} <= set(body["Cmd"])


def test_links_out_of_the_repository_lead_somewhere_inside_too(
    engine, make: Make, tmp_path: Path
) -> None:
    server = make()
    (tmp_path / "store" / "weights").mkdir(parents=True)
    (tmp_path / "store" / "weights" / "part").symlink_to("../shared")
    (tmp_path / "store" / "shared").write_text("x")
    (tmp_path / "one.onnx").write_text("x")
    (tmp_path / "alias.onnx").symlink_to("one.onnx")
    version = tmp_path / "models" / "m" / "1"
    (version / "model.onnx").symlink_to("../../../alias.onnx")
    (version / "weights").symlink_to(tmp_path / "store" / "weights")
    (version / "inside").symlink_to("../config.pbtxt")
    (version / "nowhere").symlink_to("/does/not/exist")

    server.serve([variant()], setup())

    mounts = engine.created[0]["HostConfig"]["Mounts"]
    assert {mount["Target"]: mount["Source"] for mount in mounts} == {
        str(tmp_path / "models"): str(tmp_path / "models"),
        str(tmp_path / "alias.onnx"): str(tmp_path / "one.onnx"),
        str(tmp_path / "store" / "weights"): str(tmp_path / "store" / "weights"),
        str(tmp_path / "store" / "shared"): str(tmp_path / "store" / "shared"),
    }
    assert all(mount["ReadOnly"] for mount in mounts)


def test_a_mount_of_the_user_is_not_mounted_twice(engine, make: Make, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "one.onnx").write_text("x")
    docker = settings(
        mounts=(f"{tmp_path}/models:{tmp_path}/models:rw", f"/tmp:{tmp_path}/store:ro")
    )
    server = make(docker)
    (tmp_path / "models" / "m" / "1" / "x").symlink_to(tmp_path / "store" / "one.onnx")

    assert server.serve([variant()], setup(docker)) is None

    (body,) = engine.created
    assert body["HostConfig"]["Binds"] == list(docker.mounts)
    assert not body["HostConfig"].get("Mounts")


# ------------------------------------------------------------------------- its life


def test_one_container_serves_variant_after_variant(engine, make: Make, pretend) -> None:
    server = make()
    names = VariantNames()

    for count in (1, 2, 3):
        changed = names.variant(MODEL, {"instance_group": [{"count": count, "kind": "KIND_CPU"}]})
        assert server.serve([changed], setup()) is None

    assert pretend.starts == len(engine.created) == 1


def test_different_container_arguments_need_a_new_container(engine, make: Make, pretend) -> None:
    server = make()

    server.serve([variant()], setup())
    server.serve([variant()], setup(own={"mem_limit": "1g"}))
    server.serve([variant()], setup(own={"mem_limit": "1g"}))

    assert len(engine.created) == 2
    assert len(engine.containers) == 1


def test_an_orderly_stop_asks_and_removes(engine, make: Make, pretend) -> None:
    pretend.tritonserver(stop_s=0.5)
    server = make()
    server.serve([variant()], setup())

    server.begin_stop()
    server.stop()

    assert pretend.server_calls[-1] == "stop"
    assert engine.containers == []


def test_the_images_own_stop_signal_is_used(engine, make: Make) -> None:
    server = make()
    server.serve([variant()], setup(own={"stop_signal": "SIGINT"}))

    server.stop()

    (kill,) = engine.requests("POST", "/kill")
    assert kill["query"] == {"signal": "SIGINT"}


def test_a_server_that_does_not_stop_is_removed_by_force(engine, make: Make, pretend) -> None:
    pretend.tritonserver(deaf=True)
    server = make(timings=Timings(grace_s=0.5))
    server.serve([variant()], setup())

    server.stop()

    assert engine.containers == []


def test_discarding_is_quick_and_can_be_repeated(engine, make: Make, pretend) -> None:
    pretend.tritonserver(deaf=True)
    server = make(timings=Timings(grace_s=300))  # not used
    server.serve([variant()], setup())
    began = time.monotonic()

    server.discard()
    server.discard()

    assert time.monotonic() - began < 60
    assert engine.containers == []
    assert server.serve([variant()], setup()) is None


def test_the_end_of_a_container_is_noticed_at_once(engine, make: Make, pretend) -> None:
    server = make()
    server.serve([variant()], setup())
    (container,) = engine.containers

    os.kill(container.attrs["State"]["Pid"], signal.SIGKILL)
    until(lambda: not server.is_alive)

    assert engine.containers == []
    assert server.serve([variant()], setup()) is None


def test_discarding_what_has_just_ended_does_not_disturb_its_removal(engine, make: Make) -> None:
    server = make()
    server.serve([variant()], setup())
    (container,) = engine.containers
    engine.plan(inspect_s=0.3)

    os.kill(container.attrs["State"]["Pid"], signal.SIGKILL)
    time.sleep(0.5)  # the end has been seen: inspected once more, then looked for to be removed
    server.discard()

    assert engine.containers == []


def test_its_processes_are_found(engine, make: Make) -> None:
    server = make()
    assert server.processes() == []

    server.serve([variant()], setup())

    (container,) = engine.containers
    assert [process.pid for process in server.processes()] == [container.attrs["State"]["Pid"]]
    assert server.processes()[0].memory_full_info().uss > 0


def test_a_port_that_accepts_before_the_server_does_is_waited_for(make: Make, pretend) -> None:
    """Docker's proxy listens on a published port from the start and hangs up."""
    pretend.tritonserver(proxied_s=1)

    assert make().serve([variant()], setup()) is None


# ------------------------------------------------------------------------- what goes wrong


def test_an_image_that_is_not_here_is_pulled(engine, make: Make, pretend, mark, caplog) -> None:
    engine.plan(images={}, registry={IMAGE: image(pretend, mark)})

    with caplog.at_level("INFO"):
        assert make().serve([variant()], setup()) is None

    assert f"Pulling the image {IMAGE}" in caplog.text
    assert engine.requests("POST", "/images/create")[0]["query"] == {
        "fromImage": "tritonserver", "tag": "test",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ({"registry": {}}, "pull access denied for tritonserver:test"),
        ({"pull_error": "toomanyrequests: rate limit"}, "toomanyrequests: rate limit"),
    ],
)
def test_an_image_that_cannot_be_pulled_says_why(engine, make: Make, plan, words) -> None:
    engine.plan(images={}, **plan)

    with pytest.raises(
        ServerError, match=f"image {IMAGE} .*cannot be pulled: {words}.*docker_image"
    ):
        make().serve([variant()], setup())

    assert engine.created == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("host", ["unix:///nonexistent.sock", "tcp://127.0.0.1:9"])
def test_a_missing_engine_is_reported(host, monkeypatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", host)

    with pytest.raises(RuntimeNotFound, match=rf"no Docker engine answers at {host} \([NC]o"):
        connect()
    gc.collect()  # the SDK leaves the socket open that it could not connect


def test_a_missing_sdk_is_reported_with_its_installation(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)

    with pytest.raises(RuntimeNotFound, match="pip install .docker>="):
        connect()


def test_a_server_that_ends_at_once_says_why(engine, make: Make, pretend) -> None:
    pretend.tritonserver(die="error: creating server: Internal - failed to stat file")
    began = time.monotonic()

    with pytest.raises(ServerError, match=f"{IMAGE} did not start: .*failed to stat file"):
        make().serve([variant()], setup())

    assert time.monotonic() - began < 60  # it is not waited for as for one that starts
    assert engine.containers == []


def test_an_image_without_a_server_is_reported(engine, make: Make, pretend) -> None:
    (pretend.directory / "tritonserver").unlink()

    with pytest.raises(
        ServerError, match="the image has no such program: check triton_docker_image"
    ):
        make().serve([variant()], setup())


def test_a_given_port_in_use_is_named_with_its_option(engine, make: Make) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server = make(http_endpoints=(f"localhost:{taken.getsockname()[1]}",))

        with pytest.raises(ServerError, match="cannot listen on .* triton_http_endpoint"):
            server.serve([variant()], setup())

    assert engine.created == []


def test_a_port_that_the_engine_refuses_is_tried_again_with_another(engine, make: Make) -> None:
    engine.plan(start_error="Bind for 127.0.0.1:8000 failed: port is already allocated")

    with pytest.raises(ServerError, match="a port is already in use: .*triton_grpc_endpoint"):
        make().serve([variant()], setup())

    assert len(engine.created) == 5


def test_missing_support_for_gpus_is_explained(engine, make: Make) -> None:
    engine.plan(start_error='could not select device driver "" with capabilities: [[gpu]]')

    with pytest.raises(ServerError, match="install the NVIDIA Container Toolkit"):
        make(gpus=("GPU-a",)).serve([variant()], setup(devices=("A100",)))


def test_an_engine_that_sees_other_files_is_explained(engine, make: Make, tmp_path: Path) -> None:
    server = make()
    (tmp_path / "models").rename(tmp_path / "moved")

    with pytest.raises(ServerError, match="the engine does not see the same files"):
        server.serve([variant()], setup())


def test_arguments_that_the_sdk_refuses_are_reported_with_its_message(make: Make) -> None:
    with pytest.raises(ServerError, match=r"did not start: error: .*much"):
        make().serve([variant()], setup(own={"mem_limit": "much"}))


def test_a_foreign_container_with_that_name_is_left_unchanged(engine, make: Make) -> None:
    import docker

    client = docker.DockerClient(base_url=engine.host)
    theirs = client.containers.create(IMAGE, name="mine")

    with pytest.raises(ServerError, match="already in use"):
        make().serve([variant()], setup(own={"name": "mine"}))

    assert [container.name for container in engine.containers] == ["mine"]
    theirs.remove()
    client.close()


def test_a_container_that_dies_while_loading_is_distinguished(engine, make: Make) -> None:
    failure = make().serve([variant("die")], setup())

    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.SERVER_DIED
    assert any("segmentation fault" in line for line in failure.log)
    assert engine.containers == []


def test_a_container_out_of_memory_is_reported(engine, make: Make, tmp_path: Path) -> None:
    engine.plan(oom=True)
    server = make()
    server.serve([variant()], setup())

    os.kill(engine.containers[0].attrs["State"]["Pid"], signal.SIGKILL)
    until(lambda: not server.is_alive)

    assert server.log_tail()[-1] == (
        "error: the container ran out of memory: see mem_limit in triton_docker_args"
    )


def test_a_load_that_hangs_is_ended_by_its_deadline(engine, make: Make) -> None:
    failure = make(load_timeout_s=1).serve([variant("hang")], setup())

    assert isinstance(failure, Failure)
    assert failure.reason is FailureReason.LOAD_TIMEOUT
    assert engine.containers == []


def test_an_unreadable_log_does_not_matter(engine, make: Make, tmp_path: Path) -> None:
    engine.plan(no_log=True)

    assert make().serve([variant()], setup()) is None

    assert "log cannot be read: configured logging driver" in (tmp_path / "server.log").read_text()


# ------------------------------------------------------------------------- what killed runs leave


def ended_process() -> str:
    """The owner text of a process that is over."""
    script = "from model_analyzer.runner.workspace import this_process; print(this_process())"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_containers_of_processes_that_have_ended_are_removed_at_the_next_start(engine) -> None:
    import docker

    client = docker.DockerClient(base_url=engine.host)
    boot, namespace, pid, start = this_process().split()
    owners = {
        "ended": ended_process(),
        "number-used-again": f"{boot} {namespace} {pid} {int(start) - 5}",
        "before-the-boot": f"another-boot {namespace} {pid} {start}",
        "alive": this_process(),
        "of-another-namespace": f"{boot} pid:[1] {pid} {int(start) - 5}",
        "odd": "whatever",
    }
    for name, owner in owners.items():
        client.containers.create(IMAGE, "sleep 60", name=name, labels={OWNER_LABEL: owner}).start()
    client.containers.create(IMAGE, "sleep 60", name="of-somebody-else")

    connect().close()

    left = {container.name for container in engine.containers}
    assert left == {"alive", "of-another-namespace", "odd", "of-somebody-else"}
    for container in engine.containers:
        client.api.remove_container(container.id, force=True)
    client.close()


def test_a_container_goes_with_the_process_that_runs_it_or_at_the_next_start(
    engine, make: Make
) -> None:
    """Guard and keeper killed at once: then only the label is left."""
    server = make()
    server.serve([variant()], setup())
    keepers = [
        process
        for process in psutil.Process().children(recursive=True)
        if any("server.container" in word or "guard.py" in word for word in process.cmdline())
    ]
    assert len(keepers) == 2

    for process in keepers:
        process.kill()
    until(lambda: not server.is_alive)
    (container,) = engine.containers
    connect().close()

    assert [remaining.id for remaining in engine.containers] == [container.id]  # we are still alive
    import docker

    client = docker.DockerClient(base_url=engine.host)
    client.api.remove_container(container.id, force=True)
    client.close()
