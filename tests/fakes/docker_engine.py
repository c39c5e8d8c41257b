# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the Docker engine: its HTTP API on a unix socket, and processes of this machine
instead of containers.

    python docker_engine.py SOCKET PLAN LOG

What it does like the engine: images and pulls, the life of a container, environment, labels,
names, logs, exit status, signals, and that everything in a container ends with its first process.
What it cannot do: other file systems and networks. So mounts must be at the same path on both
sides, and a published port is the port that the server listens at by itself.

PLAN is a JSON file, read at each request: `images` (name to {"Env": […]}), `registry` (the same,
for those that can be pulled), `pull_error`, `create_s` and `inspect_s` (so long that takes),
`start_error`, `no_log` (the log driver does not give anything back), `oom` (whoever dies by SIGKILL
died for lack of memory). LOG receives a line of JSON for each request.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import psutil

SOCKET, PLAN, LOG = sys.argv[1:4]
API = "1.47"


class Refusal(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def plan() -> dict[str, Any]:
    return json.loads(Path(PLAN).read_text())


@dataclass
class Container:
    """A process that is called a container."""

    id: str
    name: str
    image: str
    config: dict[str, Any]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    status: str = "created"
    exit_code: int = 0
    is_removed: bool = False
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> dict[str, Any]:
        return self.config.get("HostConfig") or {}

    def environment(self) -> dict[str, str]:
        variables = {"PATH": os.defpath, "HOME": "/root", "HOSTNAME": self.id[:12]}
        for text in (*plan()["images"][self.image].get("Env", ()), *(self.config.get("Env") or ())):
            name, equals, value = text.partition("=")
            if equals:
                variables[name] = value
            else:
                variables.pop(name, None)
        return variables

    def start(self) -> None:
        if "start_error" in plan():
            raise Refusal(500, plan()["start_error"])
        for ports in (self.host.get("PortBindings") or {}).values():
            for port in ports:
                self.check_free(port["HostIp"], int(port["HostPort"]))
        environment = self.environment()
        command = [*(self.config.get("Entrypoint") or ()), *(self.config.get("Cmd") or ())]
        program = shutil.which(command[0], path=environment["PATH"])
        if program is None:
            raise Refusal(
                400,
                "failed to create task for container: OCI runtime create failed: exec:"
                f' "{command[0]}": executable file not found in $PATH: unknown',
            )
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                [program, *command[1:]],
                env=environment,
                cwd=self.config.get("WorkingDir") or "/",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.status = "running"
        threading.Thread(target=self.watch, daemon=True).start()

    def check_free(self, address: str, port: int) -> None:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, port))
            except OSError:
                raise Refusal(
                    500,
                    f"driver failed programming external connectivity on endpoint {self.name}:"
                    f" Bind for {address}:{port} failed: port is already allocated",
                ) from None

    def watch(self) -> None:
        assert self.process is not None
        code = self.process.wait()
        self.exit_code = code if code >= 0 else 128 - code
        self.signal_all(signal.SIGKILL)
        self.status = "exited"
        self.ended.set()

    def signal(self, number: int) -> None:
        if self.status != "running":
            raise Refusal(409, f"cannot kill container: {self.id}: it is not running")
        assert self.process is not None
        os.kill(self.process.pid, number)

    def signal_all(self, number: int) -> None:
        assert self.process is not None
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def output(self, follow: bool) -> Iterator[bytes]:
        with open(self.log, "rb") as file:
            while True:
                over = self.ended.is_set() or not follow
                if data := file.read(65536):
                    yield data
                elif over or self.is_removed:
                    return
                else:
                    time.sleep(0.01)

    def inspect(self) -> dict[str, Any]:
        time.sleep(plan().get("inspect_s", 0))
        killed = self.exit_code == 137 and plan().get("oom", False)
        return {
            "Id": self.id,
            "Name": f"/{self.name}",
            "Image": f"sha256:{self.image}",
            "Config": {"Labels": {}, **self.config, "Image": self.image},
            "HostConfig": {"LogConfig": {"Type": "json-file"}, **self.host},
            "State": {
                "Status": self.status,
                "Running": self.status == "running",
                "ExitCode": self.exit_code,
                "OOMKilled": killed,
                "Pid": self.process.pid if self.process else 0,
            },
        }

    def remove(self) -> None:
        if self.process is not None:
            self.signal_all(signal.SIGKILL)
            self.ended.wait(5)
        self.is_removed = True
        self.log.unlink(missing_ok=True)


class Engine:
    def __init__(self) -> None:
        self.containers: dict[str, Container] = {}
        self.logs = Path(tempfile.mkdtemp(prefix="stand-in-engine-"))

    def find(self, name: str) -> Container:
        for container in self.containers.values():
            if name in (container.id, container.name) or (
                len(name) >= 12 and container.id.startswith(name)
            ):
                return container
        raise Refusal(404, f"No such container: {name}")

    def image(self, name: str) -> dict[str, Any]:
        if name not in plan()["images"]:
            raise Refusal(404, f"No such image: {name}")
        return {"Id": f"sha256:{name}", "RepoTags": [name], "Config": plan()["images"][name]}

    def pull(self, name: str) -> list[dict[str, Any]]:
        now = plan()
        if "pull_error" in now:
            return [{"status": "Pulling"}, {"error": now["pull_error"]}]
        if name not in now["registry"]:
            raise Refusal(
                404,
                f"pull access denied for {name}, repository does not exist or may require"
                " 'docker login'",
            )
        now["images"][name] = now["registry"][name]
        Path(PLAN).write_text(json.dumps(now))
        return [{"status": "Pulling"}, {"status": "Download complete"}]

    def create(self, name: str, config: dict[str, Any]) -> Container:
        self.image(config["Image"])
        if any(container.name == name for container in self.containers.values()):
            raise Refusal(409, f'Conflict. The container name "/{name}" is already in use')
        host = config.get("HostConfig") or {}
        targets = [mount["Target"] for mount in host.get("Mounts") or ()]
        targets += [bind.split(":")[1] for bind in host.get("Binds") or ()]
        for target in targets:
            if targets.count(target) > 1:
                raise Refusal(400, f"Duplicate mount point: {target}")
        for mount in host.get("Mounts") or ():
            if not os.path.exists(mount["Source"]):
                raise Refusal(
                    400,
                    'invalid mount config for type "bind": bind source path does not exist:'
                    f" {mount['Source']}",
                )
        time.sleep(plan().get("create_s", 0))
        made = Container(
            id=secrets.token_hex(32),
            name=name or secrets.token_hex(4),
            image=config["Image"],
            config=config,
            log=self.logs / secrets.token_hex(8),
        )
        self.containers[made.id] = made
        return made

    def list(self, query: dict[str, str]) -> list[dict[str, Any]]:
        wanted = json.loads(query.get("filters", "{}")).get("label", [])
        chosen = []
        for container in self.containers.values():
            labels = container.config.get("Labels") or {}
            texts = {*labels, *(f"{name}={value}" for name, value in labels.items())}
            if set(wanted) <= texts and (
                container.status == "running" or query.get("all") in ("1", "true")
            ):
                chosen.append(
                    {
                        "Id": container.id, "Names": [f"/{container.name}"],
                        "Image": container.image, "ImageID": f"sha256:{container.image}",
                        "Command": "", "Created": 0, "Ports": [], "Labels": labels,
                        "State": container.status, "Status": container.status,
                    }
                )  # fmt: skip
        return chosen

    def remove(self, container: Container, force: bool) -> None:
        if container.status == "running" and not force:
            raise Refusal(409, "cannot remove a running container: stop it, or force")
        container.remove()
        self.containers.pop(container.id, None)

    def close(self) -> None:
        for container in list(self.containers.values()):
            container.remove()
        shutil.rmtree(self.logs, ignore_errors=True)


ENGINE = Engine()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_one(self) -> None:
        url = urlsplit(self.path)
        path = re.sub(r"^/v\d+\.\d+", "", unquote(url.path))
        query = dict(parse_qsl(url.query, keep_blank_values=True))
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size) or "null") if size else None
        with open(LOG, "a") as log:
            entry = {"method": self.command, "path": path, "query": query, "body": body}
            log.write(json.dumps(entry) + "\n")
        try:
            for method, pattern, answer in ROUTES:
                match = re.fullmatch(pattern, path)
                if method == self.command and match:
                    answer(self, *match.groups(), query=query, body=body)
                    return
            raise Refusal(404, f"page not found: {self.command} {path}")
        except Refusal as refusal:
            self.answer({"message": str(refusal)}, refusal.status)
        except BrokenPipeError:
            self.close_connection = True

    do_GET = do_POST = do_DELETE = do_HEAD = handle_one

    def answer(self, value: Any, status: int = 200) -> None:
        body = b"" if value is None or self.command == "HEAD" else json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Api-Version", API)
        self.send_header("Ostype", "linux")
        self.send_header("Content-Type", "application/json")
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, parts: Iterator[bytes], kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in parts:
            self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def address_string(self) -> str:
        return "client"

    def log_message(self, *_: Any) -> None:
        pass

    # -- the API ------------------------------------------------------------------------------

    def ping(self, **_: Any) -> None:
        self.answer("OK")

    def version(self, **_: Any) -> None:
        self.answer(
            {"Version": "stand-in", "ApiVersion": API, "MinAPIVersion": "1.24", "Os": "linux"}
        )

    def info(self, **_: Any) -> None:
        self.answer({"ID": "stand-in", "Name": "stand-in", "ServerVersion": "stand-in"})

    def image(self, name: str, **_: Any) -> None:
        self.answer(ENGINE.image(name))

    def pull(self, *, query: dict[str, str], **_: Any) -> None:
        tag = query.get("tag", "latest")
        name = query["fromImage"].removeprefix("docker.io/library/")
        events = ENGINE.pull(f"{name}{'@' if ':' in tag else ':'}{tag}")
        self.stream((json.dumps(e).encode() + b"\r\n" for e in events), "application/json")

    def create(self, *, query: dict[str, str], body: dict[str, Any], **_: Any) -> None:
        made = ENGINE.create(query.get("name", ""), body)
        self.answer({"Id": made.id, "Warnings": []}, 201)

    def list(self, *, query: dict[str, str], **_: Any) -> None:
        self.answer(ENGINE.list(query))

    def inspect(self, name: str, **_: Any) -> None:
        self.answer(ENGINE.find(name).inspect())

    def start(self, name: str, **_: Any) -> None:
        ENGINE.find(name).start()
        self.answer(None, 204)

    def logs(self, name: str, *, query: dict[str, str], **_: Any) -> None:
        container = ENGINE.find(name)
        parts = container.output(follow=query.get("follow") in ("1", "true"))
        if plan().get("no_log"):
            raise Refusal(501, "configured logging driver does not support reading")
        frames = (struct.pack(">BxxxL", 1, len(data)) + data for data in parts)
        self.stream(frames, "application/vnd.docker.multiplexed-stream")

    def wait(self, name: str, **_: Any) -> None:
        container = ENGINE.find(name)
        container.ended.wait()
        self.answer({"StatusCode": container.exit_code})

    def top(self, name: str, *, query: dict[str, str], **_: Any) -> None:
        container = ENGINE.find(name)
        if container.status != "running" or container.process is None:
            raise Refusal(409, f"container {container.id} is not running")
        assert query["ps_args"] == "-eo pid,comm", "the only form that is played here"
        first = psutil.Process(container.process.pid)
        rows = []
        for process in (first, *first.children(recursive=True)):
            comm = Path("/proc", str(process.pid), "comm").read_text().strip()
            rows.append([str(process.pid), comm])
        self.answer({"Titles": ["PID", "COMMAND"], "Processes": rows})

    def kill(self, name: str, *, query: dict[str, str], **_: Any) -> None:
        ENGINE.find(name).signal(signal.Signals[query.get("signal", "SIGKILL")])
        self.answer(None, 204)

    def stop(self, name: str, *, query: dict[str, str], **_: Any) -> None:
        container = ENGINE.find(name)
        container.signal(signal.SIGTERM)
        if not container.ended.wait(float(query.get("t", 10))):
            container.signal(signal.SIGKILL)
        self.answer(None, 204)

    def remove(self, name: str, *, query: dict[str, str], **_: Any) -> None:
        ENGINE.remove(ENGINE.find(name), query.get("force") in ("1", "true", "True"))
        self.answer(None, 204)


ROUTES: list[tuple[str, str, Callable[..., None]]] = [
    ("GET", "/_ping", Handler.ping),
    ("HEAD", "/_ping", Handler.ping),
    ("GET", "/version", Handler.version),
    ("GET", "/info", Handler.info),
    ("GET", "/images/(.+)/json", Handler.image),
    ("POST", "/images/create", Handler.pull),
    ("POST", "/containers/create", Handler.create),
    ("GET", "/containers/json", Handler.list),
    ("GET", "/containers/([^/]+)/json", Handler.inspect),
    ("POST", "/containers/([^/]+)/start", Handler.start),
    ("GET", "/containers/([^/]+)/logs", Handler.logs),
    ("POST", "/containers/([^/]+)/wait", Handler.wait),
    ("GET", "/containers/([^/]+)/top", Handler.top),
    ("POST", "/containers/([^/]+)/kill", Handler.kill),
    ("POST", "/containers/([^/]+)/stop", Handler.stop),
    ("DELETE", "/containers/([^/]+)", Handler.remove),
]


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True
    request_queue_size = 64


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        with Server(SOCKET, Handler) as server:
            server.serve_forever(poll_interval=0.05)
    finally:
        ENGINE.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
