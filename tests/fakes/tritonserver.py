# SPDX-FileCopyrightText: 2026 The model-analyzer authors
# SPDX-License-Identifier: Apache-2.0
"""A pretend tritonserver: real gRPC, no models.

FAKE_TRITON is a JSON object that may have: `log` (a file: each start, load and inference appends
a line), `start_s` (until it listens), `die` (a line to say at the start before ending with 1),
`never_ready`, `deaf` (ignores SIGTERM), `stop_s` (takes so long to end), `version`, `completes`
(model to configuration: what a load without one makes of a model, if auto-completion is on).

What a load does is told by the model configuration's parameter `fake`: `fail`, `refuse` (as for
a configuration that is not valid), `hang`, `die` (the server ends), `empty` (answers without
values), `crowded` (fails unless it is the first load of this server).
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from concurrent import futures

import grpc
from google.protobuf import json_format
from tritonclient.grpc import service_pb2, service_pb2_grpc

PLAN = json.loads(os.environ.get("FAKE_TRITON", "{}"))


def flag(name: str, default: str) -> str:
    found = [word.partition("=")[2] for word in sys.argv if word.startswith(f"--{name}=")]
    return found[-1] if found else default


def note(*words: str) -> None:
    if "log" in PLAN:
        with open(PLAN["log"], "a") as file:
            file.write(" ".join(words) + "\n")


class Service(service_pb2_grpc.GRPCInferenceServiceServicer):
    def __init__(self) -> None:
        self.loads = 0
        self.configs: dict[str, dict] = {}

    def ServerMetadata(self, request, context):
        return service_pb2.ServerMetadataResponse(
            name="triton", version=PLAN.get("version", "9.99.0")
        )

    def RepositoryModelLoad(self, request, context):
        name = request.model_name
        config = self.own_config(name)
        if "config" in request.parameters:
            config = json.loads(request.parameters["config"].string_param)
        self.loads += 1
        count = config.get("instance_group", [{}])[0].get("count", 1)
        note("load", name, f"count={count}", f"max_batch_size={config.get('max_batch_size', 0)}")
        fake = config.get("parameters", {}).get("fake", {}).get("string_value", "")
        if fake == "die":
            print("E1121 00:00:00.000000 1 backend.cc:1] segmentation fault, as asked", flush=True)
            os._exit(139)
        if fake == "hang":
            time.sleep(600)
        if fake == "refuse":
            print(
                "E1121 00:00:00.000000 1 model.cc:1] Invalid config override: as asked", flush=True
            )
            context.abort(
                grpc.StatusCode.INTERNAL,
                f"failed to load '{name}', failed to poll from model repository",
            )
        if fake == "fail" or (fake == "crowded" and self.loads > 1):
            context.abort(
                grpc.StatusCode.INVALID_ARGUMENT,
                f"load failed for model '{name}': version 1 is at UNAVAILABLE state: Internal:"
                " ModuleNotFoundError: No module named 'nosuch'\n\nAt:\n  model.py(1): <module>;",
            )
        self.configs[name] = config
        return service_pb2.RepositoryModelLoadResponse()

    def own_config(self, name: str) -> dict:
        if "--disable-auto-complete-config" in sys.argv:
            return {}
        return PLAN.get("completes", {}).get(name, {})

    def ModelConfig(self, request, context):
        response = service_pb2.ModelConfigResponse()
        json_format.ParseDict(self.configs[request.name], response.config)
        return response

    def ModelInfer(self, request, context):
        note("infer", request.model_name)
        config = self.configs[request.model_name]
        empty = config.get("parameters", {}).get("fake", {}).get("string_value") == "empty"
        response = service_pb2.ModelInferResponse(model_name=request.model_name)
        for tensor in config["output"]:
            size = 0 if empty else 4
            output = response.outputs.add(name=tensor["name"], datatype="FP32", shape=[size])
            del output
            response.raw_output_contents.append(b"\0\0\0\0" * size)
        return response


def listen(port: str) -> socket.socket:
    one = socket.socket()
    one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        one.bind(("127.0.0.1", int(port)))
    except OSError:
        print(
            f"error: failed to start HTTP service: Unavailable - Socket '127.0.0.1:{port}'"
            " already in use",
            flush=True,
        )
        os._exit(1)
    one.listen(50)
    return one


def main() -> int:
    if "--help" in sys.argv:
        print("Usage: tritonserver [options]\n  --model-repository <string>")
        return 1
    note("start", *sys.argv[1:])
    if PLAN.get("deaf"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        signal.signal(signal.SIGTERM, lambda *_: end())
    if "die" in PLAN:
        print(PLAN["die"], flush=True)
        return 1
    time.sleep(PLAN.get("start_s", 0))
    if PLAN.get("never_ready"):
        time.sleep(600)
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=8))
    service_pb2_grpc.add_GRPCInferenceServiceServicer_to_server(Service(), server)
    server.add_insecure_port(f"127.0.0.1:{flag('grpc-port', '8001')}")
    server.start()
    sockets = [listen(flag("http-port", "8000")), listen(flag("metrics-port", "8002"))]
    while sockets:
        for one in sockets:
            one.settimeout(0.05)
            try:
                one.accept()[0].close()
            except TimeoutError:
                pass
    return 0


def end() -> None:
    note("stop")
    time.sleep(PLAN.get("stop_s", 0))
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
