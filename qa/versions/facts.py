# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""Asks servers of several versions how they behave, without the program.

python -m qa.versions.facts            every installed runtime
python -m qa.versions.facts 2.36 2.44  these versions
"""

from __future__ import annotations

import http.client
import json
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model_analyzer.runner.runtime import installed_runtime, with_runtime
from model_analyzer.runner.versions import PYTHONS, UNKNOWN_BACKEND

PROGRAM = str(Path(sys.executable).with_name("model-analyzer"))
READY_S = 120

MODEL = """
import triton_python_backend_utils as pb
class TritonPythonModel:
    def execute(self, requests):
        def answer(request):
            value = pb.get_input_tensor_by_name(request, "IN").as_numpy()
            if (value < 0).any():
                return pb.InferenceResponse(error=pb.TritonError("no"))
            return pb.InferenceResponse([pb.Tensor("OUT", value)])
        return [answer(request) for request in requests]
"""
TENSORS = {
    "input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": [1]}],
    "output": [{"name": "OUT", "data_type": "TYPE_FP32", "dims": [1]}],
}
STEP = {"model_name": "m", "model_version": -1, "input_map": {"IN": "IN"}}


def config(name: str, instances: int | None = 1, **more: Any) -> dict[str, Any]:
    groups = [{"count": instances, "kind": "KIND_CPU"}]
    placed = {} if instances is None else {"instance_group": groups}
    return {"name": name, "backend": "python", **TENSORS, **placed, **more}


ENSEMBLE = {
    "name": "e",
    "platform": "ensemble",
    **TENSORS,
    "ensemble_scheduling": {"step": [{**STEP, "output_map": {"OUT": "OUT"}}]},
}


@dataclass(frozen=True)
class Server:
    http: int
    grpc: int
    metrics: int

    def call(self, path: str, content: Any = None, port: int = 0) -> tuple[int, str]:
        """Status and text of an answer."""
        body = None if content is None else json.dumps(content)
        address = "127.0.0.1", port or self.http
        with closing(http.client.HTTPConnection(*address, timeout=60)) as connection:
            connection.request("GET" if content is None else "POST", path, body)
            answer = connection.getresponse()
            return answer.status, answer.read().decode(errors="replace")

    def load(self, name: str, override: Mapping[str, Any] | None = None) -> tuple[int, str]:
        given = {} if override is None else {"parameters": {"config": json.dumps(override)}}
        return self.call(f"/v2/repository/models/{name}/load", given)

    def infer(self, value: float, model: str = "m") -> int:
        tensor = {"name": "IN", "shape": [1], "datatype": "FP32", "data": [value]}
        return self.call(f"/v2/models/{model}/infer", {"inputs": [tensor]})[0]

    def loaded(self) -> list[str]:
        """The models that are loaded."""
        index = json.loads(self.call("/v2/repository/index", {})[1])
        return sorted(entry["name"] for entry in index if entry.get("state") == "READY")

    def instances(self) -> int:
        groups = json.loads(self.call("/v2/models/m/config")[1])["instance_group"]
        return int(groups[0]["count"])

    def inferences(self) -> int:
        stats = json.loads(self.call("/v2/models/m/stats")[1])["model_stats"]
        return int(stats[0]["inference_count"])


@contextmanager
def server_of(version: str) -> Iterator[Server]:
    """A server of this version over two models, of which none is loaded."""
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        sockets = [stack.enter_context(socket.socket()) for _ in range(3)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        ports = [each.getsockname()[1] for each in sockets]
        for each in sockets:
            each.close()
        for name, content in {
            "m": config("m"),
            "bare": config("bare", None),
            "e": ENSEMBLE,
        }.items():
            place = directory / "models" / name / "1"
            place.mkdir(parents=True)
            (place / "model.py").write_text(MODEL)
            # protobuf's text format reads JSON only through an override
            (place.parent / "config.pbtxt").write_text(_pbtxt(content))
        log = stack.enter_context(open(directory / "log", "w"))
        command = [
            PROGRAM, "runtime", "run", "--triton", version, "tritonserver",
            "--model-repository", str(directory / "models"), "--model-control-mode", "explicit",
            "--http-address", "127.0.0.1", "--http-port", str(ports[0]),
            "--grpc-address", "127.0.0.1", "--grpc-port", str(ports[1]),
            "--metrics-port", str(ports[2]), "--disable-auto-complete-config",
            "--exit-timeout-secs", "5",
        ]  # fmt: skip
        process = subprocess.Popen(command, stdout=log, stderr=log)
        stack.callback(_end, process)
        server = Server(*ports)
        deadline = time.monotonic() + READY_S
        while True:
            try:
                if server.call("/v2/health/ready")[0] == 200:
                    break
            except OSError:
                pass
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError((directory / "log").read_text()[-2000:])
            time.sleep(0.1)
        yield server


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _pbtxt(content: Mapping[str, Any]) -> str:
    from model_analyzer.domain.protobuf import from_json
    from model_analyzer.runner.model_config import to_text

    return to_text(from_json(content))


def facts(version: str) -> dict[str, Any]:
    """How a server of this version behaves."""
    with server_of(version) as server:
        found: dict[str, Any] = {"no instance_group": server.load("bare")[0] == 200}
        assert server.load("m")[0] == 200
        assert server.infer(1.0) == 200
        found["error in execute"] = server.infer(-1.0)
        found["unknown model"] = server.infer(1.0, "none")
        found["refused load"] = server.load("none")[0]
        metrics = server.call("/metrics", port=server.metrics)[1]
        found["pending requests"] = "nv_inference_pending_request_count" in metrics
        series = [line for line in metrics.splitlines() if 'model="m"' in line]
        found["reasons of failures"] = (
            sum("nv_inference_request_failure{" in line for line in series) > 1
        )
        server.load("m", config("m", 1))  # from 2.44 on, the first override is another model
        assert server.infer(1.0) == 200
        server.load("m", config("m", 2))
        found["in place"] = server.inferences() > 0
        server.load("m")
        found["override stays"] = server.instances() == 2
        server.load("m", config("m", 2))
        server.load("e")
        found["ensemble resets its parts"] = server.instances() == 1
        refusal = server.load("bare", config("bare") | {"backend": "nothing"})[1]
        found["unknown backend is recognised"] = bool(re.search(UNKNOWN_BACKEND, refusal))
    return found


def main() -> None:
    installed = [
        version for version in PYTHONS if installed_runtime(with_runtime({}, version)).exists
    ]
    for version in sys.argv[1:] or installed:
        print(json.dumps({"version": version, **facts(version)}), flush=True)


if __name__ == "__main__":
    main()
